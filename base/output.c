/* SPDX-License-Identifier: MIT */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

/* What has the name already: nothing, something that is kept as .old, or something that is not ours to rename. */
static int look(const struct gus_output *o, bool *keep, struct gus_error *err)
{
	struct stat st;

	*keep = lstat(o->path, &st) == 0;
	/* A link that leads nowhere is only a link; one to a device stands for the device. */
	if (*keep && S_ISLNK(st.st_mode) && stat(o->path, &st) != 0)
		return 0;
	if (*keep && !S_ISREG(st.st_mode))
		return gus_fail(err, GUS_E_USAGE, "cannot write the %s %s: it exists and is not a regular file",
				o->what, o->path);
	return 0;
}

static void forget(struct gus_output *o)
{
	free(o->path);
	free(o->hidden);
	o->path = o->hidden = NULL;
}

/* By which name linkat(2) can be told of a file that has none: AT_EMPTY_PATH, which needs no /proc, is for the
 * privileged. */
static const char *by_number(int fd, char text[32])
{
	snprintf(text, 32, "/proc/self/fd/%d", fd);
	return text;
}

/* A file in the folder that has no name at all: who is killed now leaves nothing. -1 where that is not to be had. */
static int open_unnamed(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? gus_strndup(path, (size_t)(slash - path) + 1) : gus_strdup("."), by[32];
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	free(folder);
	if (fd >= 0 && access(by_number(fd, by), F_OK) != 0) { /* without /proc it would never get one */
		close(fd);
		fd = -1;
	}
	return fd;
}

int gus_output_create(struct gus_output *o, const char *path, const char *what, struct gus_error *err)
{
	bool keep;

	*o = (struct gus_output){ -1, gus_strdup(path), NULL, what };
	if (look(o, &keep, err) == 0) {
		o->fd = open_unnamed(path);
		if (o->fd >= 0)
			return 0;
		o->hidden = gus_format("%s.XXXXXX", path);
		o->fd = mkostemp(o->hidden, O_CLOEXEC);
		if (o->fd >= 0)
			return 0;
		gus_fail_errno(err, errno, "cannot create the %s %s", what, path);
	}
	forget(o);
	return -1;
}

static int keep_old(const struct gus_output *o, struct gus_error *err)
{
	char *old;
	bool keep;
	int rc = look(o, &keep, err);

	if (rc != 0 || !keep)
		return rc;
	old = gus_format("%s.old", o->path);
	if (rename(o->path, old) != 0)
		rc = gus_fail_errno(err, errno, "cannot keep the previous %s %s as %s", o->what, o->path, old);
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

	o->hidden = gus_format("%s.XXXXXX", o->path);
	fd = mkostemp(o->hidden, O_CLOEXEC);
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
	char by[32];

	if (!o->hidden && linkat(AT_FDCWD, by_number(o->fd, by), AT_FDCWD, o->path, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	return (o->hidden || hide_instead(o) == 0) && rename(o->hidden, o->path) == 0 ? 0 : -1;
}

int gus_output_name(struct gus_output *o, struct gus_error *err)
{
	int rc = keep_old(o, err);

	if (rc == 0 && give_name(o) != 0)
		rc = gus_fail_errno(err, errno, "cannot name the %s %s", o->what, o->path);
	if (rc != 0 && o->hidden)
		unlink(o->hidden);
	forget(o);
	return rc;
}

void gus_output_drop(struct gus_output *o)
{
	if (o->hidden)
		unlink(o->hidden);
	forget(o);
}
