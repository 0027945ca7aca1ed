/* SPDX-License-Identifier: MIT */
/* What the tracer is told: words of the form NAME=VALUE, as QEMU hands them on. */
#ifndef GUS_TRACING_PLUGIN_OPTIONS_H
#define GUS_TRACING_PLUGIN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "tracing/plugin/terms.h"

struct gus_error;

struct gus_tracer_options {
	const char *out;                /* a file, borrowed from the words; or NULL, and then */
	int fd;                         /* what is open as that; else -1 */
	bool plain;                     /* frames are not compressed */
	bool quiet;                     /* what the trace is not is said in it, and not on stderr as well */
	const char *follow;             /* where traces of what is executed next go: see follow.h; NULL: none */
	bool children;                  /* with follow: what is forked off is traced as well */
	struct gus_windows windows;
	uint64_t max_size;              /* bytes; 0: no end */
	bool replay;                    /* the program is gusprof-replay, which runs foreign code */
	int root;                       /* with replay: what is open as its root folder; else -1 */
	struct gus_vec(uint64_t) starts, ends; /* of ranges of addresses */
};

/* -1 with err. Freed with gus_tracer_options_free in any case. */
int gus_tracer_options_parse(struct gus_tracer_options *o, int n, char *const *words, struct gus_error *err);
void gus_tracer_options_free(struct gus_tracer_options *o);

#endif
