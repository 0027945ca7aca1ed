/* SPDX-License-Identifier: MIT */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

/* What has the name already: nothing, something that is kept as .old, or something that is not ours to rename. */
static int look(const struct gus_output *o, bool *keep, struct gus_error *err)
{
	const struct gus_output_place *p = &o->place;
	struct stat st;
	bool is_open;

	*keep = fstatat(p->folder, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	is_open = *keep && S_ISLNK(st.st_mode) && gus_output_is_open(o->path);

	/* A link that leads nowhere is only a link; one to a device stands for the device, and one into /proc, as
	 * /dev/stdout is, for whatever is open there, be it a file: to rename it takes it from everyone. */
	if (*keep && S_ISLNK(st.st_mode) && fstatat(p->folder, p->name, &st, 0) != 0)
		return 0;
	if (*keep && (is_open || !S_ISREG(st.st_mode)))
		return gus_fail(err, GUS_E_USAGE, "cannot write the %s %s: it exists and is not a regular file",
				o->what, o->path);
	return 0;
}

static void forget(struct gus_output *o)
{
	if (o->place.name)
		gus_output_close(&o->place);
	free(o->path);
	free(o->hidden);
	*o = (struct gus_output){ .fd = o->fd };
}

/* By which name linkat(2) can be told of a file that has none: AT_EMPTY_PATH, which needs no /proc, is for the
 * privileged. */
static const char *by_number(int fd, char text[32])
{
	snprintf(text, 32, "/proc/self/fd/%d", fd);
	return text;
}

/* A file in the folder that has no name at all: who is killed now leaves nothing. -1 where that is not to be had. */
static int open_unnamed(const struct gus_output *o)
{
	int fd = openat(o->place.folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char by[32];

	if (fd >= 0 && access(by_number(fd, by), F_OK) != 0) { /* without /proc it would never get one */
		close(fd);
		fd = -1;
	}
	return fd;
}

/* A new file beside the place, for its owner alone. */
static int open_hidden(struct gus_output *o)
{
	uint32_t number;
	int fd;

	do {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -1;
		free(o->hidden);
		o->hidden = gus_format("%s.%08x", o->place.name, (unsigned)number);
		fd = openat(o->place.folder, o->hidden, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	} while (fd < 0 && errno == EEXIST);
	return fd;
}

int gus_output_create(struct gus_output *o, const char *path, const char *what, struct gus_error *err)
{
	char *doing = gus_format("cannot create the %s", what);
	bool keep;

	*o = (struct gus_output){ .fd = -1, .path = gus_strdup(path), .what = what };
	if (gus_output_find(&o->place, path, doing, err) == 0 && look(o, &keep, err) == 0) {
		o->fd = open_unnamed(o);
		if (o->fd < 0)
			o->fd = open_hidden(o);
		if (o->fd < 0)
			gus_fail_errno(err, errno, "%s %s", doing, path);
	}
	free(doing);
	if (o->fd < 0)
		forget(o);
	return o->fd < 0 ? -1 : 0;
}

static void drop_hidden(const struct gus_output *o)
{
	if (o->hidden)
		unlinkat(o->place.folder, o->hidden, 0);
}

static int keep_old(const struct gus_output *o, struct gus_error *err)
{
	char *old;
	bool keep;
	int rc = look(o, &keep, err);

	if (rc != 0 || !keep)
		return rc;
	old = gus_format("%s.old", o->place.name);
	if (renameat(o->place.folder, o->place.name, o->place.folder, old) != 0)
		rc = gus_fail_errno(err, errno, "cannot keep the previous %s %s as %s.old", o->what, o->path, o->path);
	free(old);
	return rc;
}

/* Some file systems have files without names and give them none later: then a hidden one takes the place of the
 * descriptor, with what has been written so far. -1 with errno. */
static int hide_instead(struct gus_output *o)
{
	char bytes[4096];
	off_t at = 0;
	ssize_t n;
	int fd;

	fd = open_hidden(o);
	if (fd < 0)
		return -1;
	while ((n = pread(o->fd, bytes, sizeof(bytes), at)) > 0 && write(fd, bytes, (size_t)n) == n)
		at += n;
	if (n == 0 && dup3(fd, o->fd, O_CLOEXEC) >= 0)
		return close(fd);
	close(fd);
	return -1;
}

static int give_name(struct gus_output *o)
{
	const struct gus_output_place *p = &o->place;
	char by[32];

	if (!o->hidden && linkat(AT_FDCWD, by_number(o->fd, by), p->folder, p->name, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	return (o->hidden || hide_instead(o) == 0) && renameat(p->folder, o->hidden, p->folder, p->name) == 0 ? 0 : -1;
}

int gus_output_name(struct gus_output *o, struct gus_error *err)
{
	int rc = keep_old(o, err);

	if (rc == 0 && give_name(o) != 0)
		rc = gus_fail_errno(err, errno, "cannot name the %s %s", o->what, o->path);
	if (rc != 0)
		drop_hidden(o);
	forget(o);
	return rc;
}

void gus_output_drop(struct gus_output *o)
{
	drop_hidden(o);
	forget(o);
}

int gus_output_write(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t put = write(fd, at, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0) {
			errno = put ? errno : ENOSPC;
			return -1;
		}
		at += put;
		size -= (size_t)put;
	}
	return 0;
}
