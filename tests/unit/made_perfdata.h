/* SPDX-License-Identifier: MIT */
/* Files of perf's, byte by byte, from what tools/perf/Documentation/perf.data-file-format.txt says of them. */
#ifndef GUS_TESTS_UNIT_MADE_PERFDATA_H
#define GUS_TESTS_UNIT_MADE_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct made_bytes gus_vec(uint8_t);

/* A file that grows. big: the other byte order. Zeroed but for these two it is empty. */
struct made_perfdata {
	bool big, pipe;
	struct made_bytes attrs, data, features;
	uint64_t has[4];                /* features: bits */
	struct gus_vec(uint64_t) sizes; /* of features, in their order */
	unsigned attrs_n, attr_size;    /* bytes of an attribute as they are written; 0: 112 */
	struct made_bytes ids;
	struct gus_vec(uint64_t) ids_of; /* how many each event has */
	size_t record;                  /* where the one at hand begins in data */
	bool packing;                   /* records go to `packed` */
	struct made_bytes packed;
	struct made_bytes file;         /* once it is closed */
};

struct made_attr {
	uint32_t type;
	uint64_t config, period, sample_type, read_format, flags, config1, config2, branch, regs_user, regs_intr;
	uint32_t stack_user, clockid;
	uint64_t ids[4];
	unsigned ids_n;
};

/* A number of so many bytes, in the file's order. */
void made_put(struct made_perfdata *m, struct made_bytes *b, uint64_t value, unsigned size);
/* An event. In a pipe it stands among the records. */
void made_event(struct made_perfdata *m, const struct made_attr *a);
/* A record: begin, words and texts, end. */
void made_begin(struct made_perfdata *m, uint32_t type, uint16_t misc);
void made_word(struct made_perfdata *m, uint64_t value);
void made_half(struct made_perfdata *m, uint32_t value);
void made_text(struct made_perfdata *m, const char *text); /* filled up to eight bytes */
void made_raw(struct made_perfdata *m, const void *bytes, size_t size);
void made_end(struct made_perfdata *m);
/* A record of 64-bit words alone. */
void made_words(struct made_perfdata *m, uint32_t type, uint16_t misc, const uint64_t *words, size_t n);
/* A feature, in ascending order; in a pipe a record. Its bytes are as they stand in the file. */
void made_feature(struct made_perfdata *m, unsigned number, const struct made_bytes *bytes);
/* A feature that is a text. */
void made_feature_text(struct made_perfdata *m, unsigned number, const char *text);
void made_put_text(struct made_perfdata *m, struct made_bytes *b, const char *text);
/* All bytes of it; lives until it is freed. */
const struct made_bytes *made_close(struct made_perfdata *m);
/* The same as an open file without a name. */
int made_file(const struct made_bytes *bytes);
void made_free(struct made_perfdata *m);

#endif
