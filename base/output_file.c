/* SPDX-License-Identifier: MIT */
/* A path is walked one name at a time, each from the open folder that the last one led to, so that what was looked at
 * is what is used, whatever others do meanwhile. */
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

#define LINKS_MAX 40 /* as the kernel's own walk */

struct walk {
	const char *path;               /* for messages */
	const char *doing;
	struct gus_error *err;
	uid_t root;                     /* owner of "/": root, or what a user namespace without root shows in its place */
	int folder;
	struct stat folder_stat;
	char *rest;                     /* of the path, from folder on */
	unsigned links;
};

static int fail(const struct walk *w, int why)
{
	return gus_fail_errno(w->err, why, "%s %s", w->doing, w->path);
}

static bool is_ours(const struct walk *w, uid_t owner)
{
	return owner == geteuid() || owner == 0 || owner == w->root;
}

/* All may write there, and only owners may delete. */
static bool is_sticky(const struct stat *folder)
{
	return (folder->st_mode & S_ISVTX) && (folder->st_mode & S_IWOTH);
}

static bool is_wary(const struct walk *w)
{
	return geteuid() == 0 || is_sticky(&w->folder_stat);
}

/* Takes folder, or the errno of why there is none. */
static int enter(struct walk *w, int folder)
{
	int why = errno;

	if (folder < 0)
		return fail(w, why);
	if (w->folder >= 0)
		close(w->folder);
	w->folder = folder;
	return fstat(folder, &w->folder_stat) == 0 ? 0 : fail(w, errno);
}

static int enter_start(struct walk *w)
{
	return enter(w, open(*w->rest == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

static int start(struct walk *w, const char *path, const char *doing, struct gus_error *err)
{
	struct stat root;

	*w = (struct walk){ .path = path, .doing = doing, .err = err, .folder = -1, .rest = gus_strdup(path) };
	w->root = stat("/", &root) == 0 ? root.st_uid : 0;
	return enter_start(w);
}

static void end(struct walk *w)
{
	if (w->folder >= 0)
		close(w->folder);
	free(w->rest);
}

/* The path goes on with where the link leads. Takes nothing of name. */
static int follow(struct walk *w, int link, const struct stat *st, const char *rest)
{
	char target[PATH_MAX];
	ssize_t n;
	char *longer;

	if (!is_ours(w, st->st_uid) && is_wary(w))
		return gus_fail(w->err, GUS_E_PERMISSION, "%s %s: a symbolic link on the way belongs to user %u and "
				"might lead anywhere; name the place that it leads to", w->doing, w->path,
				(unsigned)st->st_uid);
	if (++w->links > LINKS_MAX)
		return fail(w, ELOOP);
	n = readlinkat(link, "", target, sizeof(target) - 1);
	if (n <= 0)
		return fail(w, n < 0 ? errno : ENOENT);
	target[n] = '\0';
	longer = gus_format("%s%s%s", target, *rest ? "/" : "", rest);
	free(w->rest);
	w->rest = longer;
	return *target == '/' ? enter_start(w) : 0;
}

/* Over one folder, or a link to one; *rest is what stands behind its name. */
static int step(struct walk *w, char *name, const char *rest)
{
	struct stat st;
	int at = openat(w->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), rc;
	char *left;

	if (at < 0)
		return fail(w, errno);
	if (fstat(at, &st) != 0)
		rc = fail(w, errno);
	else if (S_ISLNK(st.st_mode))
		rc = follow(w, at, &st, rest);
	else if (!S_ISDIR(st.st_mode))
		rc = fail(w, ENOTDIR);
	else {
		left = gus_strdup(rest);
		free(w->rest);
		w->rest = left;
		return enter(w, at);
	}
	close(at);
	return rc;
}

/* Until rest is the last name; that one is not looked at. */
static int walk_to_last(struct walk *w)
{
	for (;;) {
		char *name = w->rest + strspn(w->rest, "/");
		size_t length = strcspn(name, "/"), behind = strspn(name + length, "/");

		if (!length)
			return fail(w, *w->path ? EISDIR : ENOENT);
		if (!name[length]) {
			memmove(w->rest, name, length + 1);
			return 0;
		}
		name[length] = '\0';
		if (step(w, name, name + length + behind) != 0)
			return -1;
	}
}

int gus_output_find(struct gus_output_place *place, const char *path, const char *doing, struct gus_error *err)
{
	struct walk w;
	int rc = start(&w, path, doing, err) == 0 && walk_to_last(&w) == 0 ? 0 : -1;

	if (rc != 0) {
		end(&w);
		return -1;
	}
	*place = (struct gus_output_place){ w.folder, w.rest };
	return 0;
}

void gus_output_close(struct gus_output_place *place)
{
	close(place->folder);
	free(place->name);
}

/* What has the last name, links followed: a descriptor of O_PATH, or -1 with err; *st is of it. Where nothing has the
 * name, -1 and st_nlink 0. Links of /proc lead to what is open, and not to a name: they are left as they are. */
static int find_last(struct walk *w, struct stat *st)
{
	struct statfs fs;

	for (;;) {
		int at = walk_to_last(w) == 0 ? openat(w->folder, w->rest, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -2, rc;

		st->st_nlink = 0;
		if (at < 0)
			return at == -2 ? -2 : errno == ENOENT ? -1 : (fail(w, errno), -2);
		if (fstat(at, st) != 0 || !S_ISLNK(st->st_mode) ||
		    (fstatfs(at, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC))
			return at;
		rc = follow(w, at, st, "");
		close(at);
		if (rc != 0)
			return -2;
	}
}

/* The file behind a descriptor of O_PATH. */
static int open_again(const struct walk *w, int at, const struct stat *st, int flags)
{
	char name[32];
	int fd;

	if (S_ISLNK(st->st_mode)) /* one of /proc */
		return openat(w->folder, w->rest, flags | O_CLOEXEC | O_NOCTTY);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", at);
	fd = open(name, flags | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	return openat(w->folder, w->rest, flags | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW); /* there is no /proc */
}

static int create(const struct walk *w)
{
	int fd = openat(w->folder, w->rest, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

	return fd >= 0 ? fd : fail(w, errno);
}

static int refuse_fifo(const struct walk *w, const struct stat *st)
{
	return gus_fail(w->err, GUS_E_PERMISSION, "%s %s: this FIFO in a folder of all users belongs to user %u; use "
			"one of your own", w->doing, w->path, (unsigned)st->st_uid);
}

static bool is_planted_fifo(const struct walk *w, const struct stat *st)
{
	return S_ISFIFO(st->st_mode) && is_sticky(&w->folder_stat) && !is_ours(w, st->st_uid);
}

static int open_last(struct walk *w)
{
	struct stat st;
	int at = find_last(w, &st), fd;

	if (at < 0)
		return at == -1 ? create(w) : -1;
	if (is_planted_fifo(w, &st)) {
		fd = refuse_fifo(w, &st);
	} else if (S_ISREG(st.st_mode) && is_wary(w) && (st.st_uid != geteuid() || st.st_nlink > 1)) {
		fd = unlinkat(w->folder, w->rest, 0) == 0 ? create(w) : fail(w, errno);
	} else {
		fd = open_again(w, at, &st, O_WRONLY | (S_ISFIFO(st.st_mode) ? 0 : O_TRUNC));
		if (fd < 0)
			fail(w, errno);
	}
	close(at);
	return fd;
}

int gus_output_open(const char *path, const char *doing, struct gus_error *err)
{
	struct walk w;
	int fd = start(&w, path, doing, err) == 0 ? open_last(&w) : -1;

	end(&w);
	return fd;
}

bool gus_output_is_open(const char *path)
{
	struct walk w;
	struct stat st;
	int at = start(&w, path, "", NULL) == 0 ? find_last(&w, &st) : -1;

	end(&w);
	if (at < 0)
		return false;
	close(at);
	return S_ISLNK(st.st_mode);
}

static int open_last_fifo(struct walk *w)
{
	struct stat st;
	int at = find_last(w, &st), fd;

	if (at == -1)
		return gus_fail(w->err, GUS_E_NOT_FOUND, "%s %s: there is none; mkfifo makes one", w->doing, w->path);
	if (at < 0)
		return -1;
	if (!S_ISFIFO(st.st_mode))
		fd = gus_fail(w->err, GUS_E_USAGE, "%s is no FIFO; mkfifo makes one", w->path);
	else if (is_planted_fifo(w, &st))
		fd = refuse_fifo(w, &st);
	else if ((fd = open_again(w, at, &st, O_RDWR | O_NONBLOCK)) < 0)
		fail(w, errno);
	close(at);
	return fd;
}

int gus_output_open_fifo(const char *path, const char *doing, struct gus_error *err)
{
	struct walk w;
	int fd = start(&w, path, doing, err) == 0 ? open_last_fifo(&w) : -1;

	end(&w);
	return fd;
}
