/* SPDX-License-Identifier: MIT */
#include "collector/session/kept.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collector/host/build_id.h"
#include "collector/host/mapped.h"
#include "collector/host/procfs.h"

#define TRIES 4         /* the process of the first mapping may have been gone when we read of it */

struct key {
	uint8_t id[GUS_BUILD_ID_MAX];
	uint32_t id_size, major, minor;
	uint64_t inode;
};

/* False if it is not known which file it is. */
static bool key_of(struct key *key, const uint8_t *build_id, size_t size, uint64_t inode, uint32_t major,
		   uint32_t minor)
{
	memset(key, 0, sizeof(*key));
	if (size > sizeof(key->id) || (!size && !inode))
		return false;
	if (size) {
		memcpy(key->id, build_id, size);
		key->id_size = (uint32_t)size;
	} else {
		key->inode = inode;
		key->major = major;
		key->minor = minor;
	}
	return true;
}

void gus_kept_init(struct gus_kept *k)
{
	struct rlimit limit = { 0 };
	struct gus_tids open_now = { 0 };

	*k = (struct gus_kept){ 0 };
	gus_index_init(&k->keys, sizeof(struct key));
	gus_numbers_in("/proc/self/fd", &open_now);
	/* The soft limit is a default and ours to raise; counters that are opened later need their part. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > open_now.n)
		k->most = (size_t)(limit.rlim_cur - open_now.n) / 2; /* no limit at all is the largest number */
	if (k->most > GUS_KEPT_MOST)
		k->most = GUS_KEPT_MOST;
	gus_vec_free(&open_now);
}

void gus_kept_free(struct gus_kept *k)
{
	for (size_t i = 0; i < k->files.n; i++)
		if (k->files.v[i].fd >= 0)
			close(k->files.v[i].fd);
	gus_vec_free(&k->files);
	gus_index_free(&k->keys);
	*k = (struct gus_kept){ 0 };
}

/* The file of that key, added if there is room; NULL if not. */
static struct gus_kept_file *file_of(struct gus_kept *k, const struct key *key)
{
	uint32_t number = gus_index_find(&k->keys, key);

	if (number == GUS_INDEX_NONE && k->keys.n >= GUS_KEPT_FILES) {
		k->left_out++;
		return NULL;
	}
	if (number == GUS_INDEX_NONE) {
		number = gus_index_add(&k->keys, key, NULL);
		gus_vec_push(&k->files, (struct gus_kept_file){ .fd = -1 });
	}
	return &k->files.v[number];
}

static bool wants(const struct gus_kept_file *f)
{
	return f && f->fd < 0 && f->tries < TRIES;
}

/* fd is of the file now, or closed. */
static void keep(struct gus_kept *k, struct gus_kept_file *f, int fd)
{
	if (!wants(f)) {
		close(fd);
		return;
	}
	if (k->n >= k->most) {
		f->tries = TRIES;
		k->left_out++;
		close(fd);
		return;
	}
	f->fd = fd;
	k->n++;
}

void gus_kept_give(struct gus_kept *k, int fd, const uint8_t *build_id, size_t build_id_size, uint64_t inode,
		   uint32_t major, uint32_t minor)
{
	struct key key;

	if (key_of(&key, build_id, build_id_size, inode, major, minor))
		keep(k, file_of(k, &key), fd);
	else
		close(fd);
}

void gus_kept_note(struct gus_kept *k, const Gusprof__Mmap *m)
{
	const struct gus_mapped mapped = { .start = m->start, .end = m->start + m->length, .path = m->path,
					   .path_length = strlen(m->path), .build_id = m->build_id.data,
					   .build_id_size = m->build_id.len,
					   .identity = { m->inode, m->major, m->minor } };
	struct gus_kept_file *f;
	struct key key;
	int fd;

	if (m->kernel || *m->path != '/' ||
	    !key_of(&key, m->build_id.data, m->build_id.len, m->inode, m->major, m->minor))
		return;
	f = file_of(k, &key);
	if (!wants(f))
		return;
	f->tries++;
	fd = gus_mapped_open((pid_t)m->pid, &mapped);
	if (fd >= 0) {
		f->tries = 0;
		keep(k, f, fd);
	}
}

int gus_kept_open(const struct gus_kept *k, const uint8_t *build_id, size_t build_id_size, uint64_t inode,
		  uint32_t major, uint32_t minor)
{
	struct key key;
	uint32_t number;

	if (!key_of(&key, build_id, build_id_size, inode, major, minor))
		return -1;
	number = gus_index_find(&k->keys, &key);
	if (number == GUS_INDEX_NONE || k->files.v[number].fd < 0)
		return -1;
	return fcntl(k->files.v[number].fd, F_DUPFD_CLOEXEC, 0);
}
