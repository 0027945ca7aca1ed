/* SPDX-License-Identifier: MIT */
#include "cli/common/naming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attribution/profile/profile.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/index.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/common/debuginfod.h"
#include "symbolizer/symbols/fetch.h"

struct gus_naming {
	char *cache;
	const struct gus_log *log;
	struct gus_debuginfod *server; /* NULL: nobody is asked */
	struct gus_fetch fetch;
	struct gus_strings hot;        /* build ids of modules that are worth it, */
	uint32_t hot_n;                /* which have smaller numbers than this */
	uint64_t left_ns;              /* of the time that it may take */
	bool shown;                    /* progress stands on the terminal */
};

/* The value of a variable that is a path from the root on; relative ones are to be ignored, as the XDG base directory
 * specification has it. */
static const char *whole_path(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value == '/' ? value : NULL;
}

static char *cache_folder(const struct gus_naming_options *options)
{
	const char *own = getenv("GUSPROF_CACHE"), *folder;

	if (!options->cache)
		return NULL;
	if (own)
		return *own ? gus_strdup(own) : NULL;
	folder = whole_path("XDG_CACHE_HOME");
	if (folder)
		return gus_format("%s/gusprof", folder);
	folder = whole_path("HOME");
	return folder ? gus_format("%s/.cache/gusprof", folder) : NULL;
}

char *gus_naming_build_ids(const char *option)
{
	const char *home = whole_path("HOME");

	if (option)
		return gus_strdup(option);
	return home ? gus_format("%s/.debug", home) : NULL;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* One fetch. */
struct fetching {
	struct gus_naming *n;
	const char *path;
	uint64_t until_ns;
};

/* Called all the time while it lasts. Whether to go on. */
static bool wait_on(long done, long all, void *context)
{
	struct fetching *f = context;

	if (isatty(STDERR_FILENO)) {
		gus_text_print(stderr, "\rdebug information of %s", f->path);
		fprintf(stderr, all > 0 ? ": %ld of %ld kB\033[K" : ": %ld kB\033[K", done / 1000, all / 1000);
		fflush(stderr);
		f->n->shown = true;
	}
	return now_ns() < f->until_ns;
}

static char *fetch(const char *module, const uint8_t *build_id, size_t size, void *context)
{
	struct gus_naming *n = context;
	uint64_t begun = now_ns(), taken;
	struct fetching f = { n, module, begun + n->left_ns };
	struct gus_error err = { 0 };
	char *path;

	if (!n->left_ns || gus_strings_add_n(&n->hot, (const char *)build_id, size) >= n->hot_n)
		return NULL;
	path = gus_debuginfod_find(n->server, build_id, size, wait_on, &f, &err);
	if (n->shown)
		fprintf(stderr, "\r\033[K");
	n->shown = false;
	taken = now_ns() - begun;
	n->left_ns = taken < n->left_ns ? n->left_ns - taken : 0;
	if (!path && !n->left_ns)
		gus_log(n->log, GUS_WARN, "debuginfod took all of the time that it may (--debuginfod-time): no debug "
			"information of %s, nor of modules behind it", module);
	else if (!path)
		gus_log(n->log, GUS_NOTE, "no debug information of %s from debuginfod: %s", module, err.text);
	return path;
}

struct gus_naming *gus_naming_begin(const struct gus_naming_options *options, const struct gus_log *log,
				    struct gus_error *err)
{
	struct gus_naming *n = gus_zalloc(sizeof(*n));

	gus_strings_init(&n->hot);
	n->log = log;
	n->cache = cache_folder(options);
	n->left_ns = options->patience_s * 1000000000;
	n->fetch = (struct gus_fetch){ fetch, n };
	if (options->debuginfod && !(n->server = gus_debuginfod_begin(err))) {
		gus_naming_end(n);
		return NULL;
	}
	return n;
}

void gus_naming_end(struct gus_naming *n)
{
	if (!n)
		return;
	gus_debuginfod_end(n->server);
	gus_strings_free(&n->hot);
	free(n->cache);
	free(n);
}

const char *gus_naming_cache(const struct gus_naming *n)
{
	return n->cache;
}

const struct gus_fetch *gus_naming_fetch(const struct gus_naming *n)
{
	return n->server ? &n->fetch : NULL;
}

void gus_naming_weigh(struct gus_naming *n, const struct gus_space *space, const uint64_t *weights, size_t modules,
		      uint64_t all)
{
	for (uint32_t i = 0; i < modules; i++) {
		const struct gus_module *module = gus_space_module(space, i);

		if (weights[i] && weights[i] >= all / 100 && module->build_id_size)
			gus_strings_add_n(&n->hot, (const char *)module->build_id, module->build_id_size);
	}
	n->hot_n = n->hot.n;
}

void gus_naming_weigh_profile(struct gus_naming *n, const struct gus_profile *profile)
{
	struct gus_vec(uint64_t) weights = { 0 };

	for (size_t i = 0; i < profile->cells.n; i++) {
		const struct gus_cell *cell = &profile->cells.v[i];

		while (weights.n <= cell->place.module)
			gus_vec_push(&weights, 0);
		weights.v[cell->place.module] += cell->weight;
	}
	gus_naming_weigh(n, profile->space, weights.v, weights.n, profile->weight);
	gus_vec_free(&weights);
}
