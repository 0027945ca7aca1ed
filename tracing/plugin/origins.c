/* SPDX-License-Identifier: MIT */
#include "tracing/plugin/origins.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/error.h"
#include "collector/host/build_id.h"
#include "collector/host/procfs.h"
#include "collector/records/sideband.h"

#define COMM_MAX 15     /* as the kernel has it */

struct gus_origin {
	struct gus_mapping map; /* its path is ours, and terminated */
	uint64_t distance;      /* from the program's addresses to ours */
	bool told;              /* and nothing else since of any of its addresses */
};

void gus_origins_init(struct gus_origins *o, uint32_t pid)
{
	*o = (struct gus_origins){ .pid = pid };
}

void gus_origins_free(struct gus_origins *o)
{
	for (size_t i = 0; i < o->all.n; i++) {
		free((char *)o->all.v[i]->map.path);
		free(o->all.v[i]);
	}
	gus_vec_free(&o->all);
	gus_vec_free(&o->now);
}

void gus_origins_begin(struct gus_origins *o, uint32_t pid)
{
	o->pid = pid;
	o->full = o->named = false;
	for (size_t i = 0; i < o->all.n; i++)
		o->all.v[i]->told = false;
}

static bool is_same(const struct gus_mapping *a, const struct gus_mapping *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset && a->inode == b->inode &&
		a->major == b->major &&
	       a->minor == b->minor && a->path_length == b->path_length && memcmp(a->path, b->path,
		       a->path_length) == 0;
}

/* Both lists are in order of address. */
static struct gus_origin *known(const struct gus_origin *const *before, size_t n, size_t *at,
				const struct gus_mapping *map)
{
	while (*at < n && before[*at]->map.start < map->start)
		++*at;
	return *at < n && is_same(&before[*at]->map, map) ? (struct gus_origin *)before[*at] : NULL;
}

void gus_origins_update(struct gus_origins *o, const char *maps)
{
	struct gus_vec(struct gus_origin *) now = { 0 };
	struct gus_mapping map;
	size_t at = 0;

	while (gus_mapping_next(&maps, &map)) {
		struct gus_origin *origin = known((const struct gus_origin *const *)o->now.v, o->now.n, &at, &map);

		if (!origin) {
			origin = gus_zalloc(sizeof(*origin));
			origin->map = map;
			origin->map.path = gus_strndup(map.path, map.path_length);
			gus_vec_push(&o->all, origin);
		}
		gus_vec_push(&now, origin);
	}
	free(o->now.v);
	o->now.v = now.v;
	o->now.n = now.n;
	o->now.room = now.room;
}

struct gus_origin *gus_origins_find(struct gus_origins *o, uint64_t host, uint64_t address)
{
	size_t low = 0, high = o->now.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct gus_origin *origin = o->now.v[middle];

		if (host >= origin->map.start && host < origin->map.end) {
			origin->distance = host - address;
			return origin;
		}
		if (host < origin->map.start)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* Of the file that is mapped, if it still has its name. */
static size_t build_id_of(const struct gus_mapping *map, uint8_t *id)
{
	int fd = *map->path == '/' ? open(map->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	struct stat st;
	size_t size = 0;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == map->inode && major(st.st_dev) == map->major &&
	    minor(st.st_dev) == map->minor)
		size = gus_file_build_id(fd, id);
	close(fd);
	return size;
}

static int write_one(struct gus_origins *o, struct gus_sideband *s, struct gus_trace_writer *w, struct gus_error *err)
{
	Gusprof__Sideband message = gus_sideband_message(s);
	int rc = o->full ? 0 : gus_trace_writer_records(w, &message, err);

	gus_sideband_free(s);
	return rc;
}

/* Nothing else holds now where it is. */
static void take_place(struct gus_origins *o, struct gus_origin *origin)
{
	for (size_t i = 0; i < o->all.n; i++)
		if (o->all.v[i]->map.start < origin->map.end && origin->map.start < o->all.v[i]->map.end)
			o->all.v[i]->told = false;
	origin->told = true;
}

int gus_origins_tell(struct gus_origins *o, struct gus_origin *origin, struct gus_trace_writer *w,
		     struct gus_error *err)
{
	const char *path = *origin->map.path ? origin->map.path : "//anon"; /* the kernel's own word in its records */
	uint8_t id[GUS_BUILD_ID_MAX];
	size_t length = strlen(path), size;
	struct gus_sideband s = { 0 };
	struct gus_error why = { 0 };
	Gusprof__Mmap *m;
	int rc;

	if (origin->told)
		return 0;
	take_place(o, origin);
	size = build_id_of(&origin->map, id);
	m = gus_sideband_add(&s, GUSPROF__RECORD__KIND_MMAP, length + 1 + GUS_BUILD_ID_MAX + 1)->mmap;
	*m = (Gusprof__Mmap){ .base = m->base, .pid = o->pid, .tid = o->pid, .time = gus_trace_writer_blocks(w),
			      .start = origin->map.start - origin->distance, .length = origin->map.end -
				      origin->map.start,
			      .offset = origin->map.offset, .major = origin->map.major, .minor = origin->map.minor,
			      .inode = origin->map.inode, .protection = PROT_READ | PROT_EXEC,
				      .flags = origin->map.flags,
			      .path = gus_sideband_text(&s, path, length) };
	m->build_id.len = size;
	m->build_id.data = (uint8_t *)gus_sideband_text(&s, id, size);
	rc = write_one(o, &s, w, &why);
	if (rc != 0 && why.code == GUS_E_FULL) {
		o->full = true;
		return 0;
	}
	if (rc != 0 && err)
		*err = why;
	return rc;
}

int gus_origins_name(struct gus_origins *o, const char *path, struct gus_trace_writer *w, struct gus_error *err)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct gus_sideband s = { 0 };
	Gusprof__Comm *m;

	if (o->named)
		return 0;
	o->named = true;
	m = gus_sideband_add(&s, GUSPROF__RECORD__KIND_COMM, COMM_MAX + 1)->comm;
	*m = (Gusprof__Comm){ .base = m->base, .pid = o->pid, .tid = o->pid,
			      .name = gus_sideband_text(&s, name, strnlen(name, COMM_MAX)) };
	return write_one(o, &s, w, err);
}
