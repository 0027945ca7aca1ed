/* SPDX-License-Identifier: MIT */
#include "cli/common/debuginfod.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

static const char library[] = "libdebuginfod.so.1";

typedef struct debuginfod_client client;

/* What is used of the library, as its manual page debuginfod_find_debuginfo(3) has it. */
struct gus_debuginfod {
	void *library;
	client *client;
	client *(*begin)(void);
	void (*end)(client *c);
	void (*set_progress)(client *c, int (*progress)(client *c, long done, long all));
	int (*find)(client *c, const unsigned char *build_id, int size, char **path);
};

static const struct { const char *name; size_t at; } functions[] = {
	{ "debuginfod_begin", offsetof(struct gus_debuginfod, begin) },
	{ "debuginfod_end", offsetof(struct gus_debuginfod, end) },
	{ "debuginfod_set_progressfn", offsetof(struct gus_debuginfod, set_progress) },
	{ "debuginfod_find_debuginfo", offsetof(struct gus_debuginfod, find) },
};

static bool load(struct gus_debuginfod *d)
{
	d->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; d->library && i < sizeof(functions) / sizeof(*functions); i++) {
		void *found = dlsym(d->library, functions[i].name);

		if (!found)
			return false;
		memcpy((char *)d + functions[i].at, &found, sizeof(found));
	}
	return d->library && (d->client = d->begin());
}

struct gus_debuginfod *gus_debuginfod_begin(struct gus_error *err)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	struct gus_debuginfod *d;

	if (!servers || !servers[strspn(servers, " ")]) {
		gus_fail(err, GUS_E_USAGE, "--debuginfod has no server to ask: DEBUGINFOD_URLS is to name one, such as "
			 "https://debuginfod.elfutils.org");
		return NULL;
	}
	d = gus_zalloc(sizeof(*d));
	if (load(d))
		return d;
	gus_fail(err, GUS_E_NOT_FOUND, "--debuginfod needs %s, which is not installed; packages call it libdebuginfod",
		 library);
	gus_debuginfod_end(d);
	return NULL;
}

void gus_debuginfod_end(struct gus_debuginfod *d)
{
	if (!d)
		return;
	if (d->client)
		d->end(d->client);
	/* The library stays: what it started may still refer to it. */
	free(d);
}

/* Whom the library's callback is for, while it is asked. */
static struct {
	bool (*wait)(long done, long all, void *context);
	void *context;
} waiting;

static int progress(client *c, long done, long all)
{
	(void)c;
	return !waiting.wait(done, all, waiting.context);
}

char *gus_debuginfod_find(struct gus_debuginfod *d, const uint8_t *build_id, size_t size,
			  bool (*wait)(long done, long all, void *context), void *context, struct gus_error *err)
{
	char *path = NULL;
	int fd;

	waiting.wait = wait;
	waiting.context = context;
	d->set_progress(d->client, progress);
	fd = d->find(d->client, build_id, (int)size, &path);
	if (fd >= 0) {
		close(fd);
		return path;
	}
	gus_fail_errno(err, -fd, "no server has it");
	return NULL;
}
