/* SPDX-License-Identifier: MIT */
#include "base/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/output.h"

#define FOLDERS_MAX 128         /* on the way up to the root; paths have at most 2048 */
#define FILES_MAX 65536         /* that are counted; a folder of ours has some hundred */
#define UNFINISHED_S 3600       /* seconds after which a file that was never finished is nobody's */
#define USED_S 60               /* seconds in which a use is not written down again */
static const char unfinished[] = ".new-";

struct gus_store {
	int folder;
	char *path;
	const char *suffix;
	uint64_t limit;
	uid_t user;
};

/* Whether nobody but we and root can give the folder, or one above it, to somebody else. Where links led does not
 * matter: these are the folders that it really lies in. -1 with errno: that could not be found out. */
static int is_out_of_reach(int folder, uid_t user)
{
	struct stat st, above, root;
	int at = openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int safe = at >= 0 && stat("/", &root) == 0 ? 1 : -1, why = errno;
	bool top = false;

	for (int i = 0; safe > 0 && !top; i++) {
		int up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (up < 0 || fstat(at, &st) != 0 || fstat(up, &above) != 0) {
			safe = -1;
			why = errno;
		} else {
			safe = i < FOLDERS_MAX && (st.st_uid == user || st.st_uid == 0 || st.st_uid == root.st_uid) &&
				(!(st.st_mode & (user ? S_IWOTH : S_IWOTH | S_IWGRP)) || (st.st_mode & S_ISVTX));
			top = st.st_dev == above.st_dev && st.st_ino == above.st_ino;
		}
		close(at);
		at = up;
	}
	if (at >= 0)
		close(at);
	errno = why;
	return safe;
}

static int refuse(struct gus_error *err, const char *path, const char *why)
{
	return gus_fail(err, GUS_E_PERMISSION, "cannot keep files in %s: %s", path, why);
}

static int check_reach(int folder, uid_t user, const char *path, struct gus_error *err)
{
	int safe = is_out_of_reach(folder, user);

	if (safe < 0)
		return gus_fail_errno(err, errno, "cannot find out who may rename %s", path);
	return safe ? 0 : refuse(err, path, "others may rename a folder above it");
}

static int open_folder(const char *path, uid_t user, struct gus_error *err);

/* Makes the folder in the one above, which is made as well if need be: as the XDG rules have it, mode 0700. */
static int make_folder(const char *path, uid_t user, struct gus_error *err)
{
	char *above = gus_strdup(path), *name;
	const char *in = above;
	int parent, folder = -1;

	while (*above && above[strlen(above) - 1] == '/')
		above[strlen(above) - 1] = '\0';
	name = strrchr(above, '/');
	if (!name || name == above)
		in = name ? "/" : ".";
	if (name)
		*name++ = '\0';
	else
		name = above;
	if (!*name) {
		free(above);
		return gus_fail_errno(err, ENOENT, "cannot keep files in '%s'", path);
	}
	parent = open_folder(in, user, err);
	if (parent >= 0 && check_reach(parent, user, path, err) == 0) {
		if (mkdirat(parent, name, 0700) == 0 || errno == EEXIST)
			folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (folder < 0)
			gus_fail_errno(err, errno, "cannot make the folder %s", path);
	}
	if (parent >= 0)
		close(parent);
	free(above);
	return folder;
}

static int open_folder(const char *path, uid_t user, struct gus_error *err)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0 && errno == ENOENT)
		return make_folder(path, user, err);
	return folder >= 0 ? folder : gus_fail_errno(err, errno, "cannot keep files in %s", path);
}

static int check_folder(int folder, uid_t user, const char *path, struct gus_error *err)
{
	struct stat st;

	if (fstat(folder, &st) != 0 || st.st_uid != user)
		return refuse(err, path, "the folder belongs to another user");
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return refuse(err, path, "others may write to the folder");
	return check_reach(folder, user, path, err);
}

struct gus_store *gus_store_open(const char *path, const char *suffix, uint64_t limit, struct gus_error *err)
{
	uid_t user = geteuid();
	int folder = open_folder(path, user, err);
	struct gus_store *s;

	if (folder < 0)
		return NULL;
	if (check_folder(folder, user, path, err) != 0) {
		close(folder);
		return NULL;
	}
	s = gus_alloc(sizeof(*s));
	*s = (struct gus_store){ .folder = folder, .path = gus_strdup(path), .suffix = suffix, .limit = limit,
				  .user = user };
	return s;
}

void gus_store_close(struct gus_store *s)
{
	if (!s)
		return;
	close(s->folder);
	free(s->path);
	free(s);
}

static bool read_all(int fd, uint8_t *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = read(fd, bytes + done, size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			errno = got ? errno : EIO;
			return false;
		}
		done += (size_t)got;
	}
	return true;
}

static int objection_to_file(int fd, uid_t user, size_t max, struct stat *st)
{
	if (fstat(fd, st) != 0)
		return errno;
	if (!S_ISREG(st->st_mode) || st->st_uid != user || (st->st_mode & (S_IWGRP | S_IWOTH)))
		return EPERM;
	return (uint64_t)st->st_size <= max ? 0 : EFBIG;
}

uint8_t *gus_store_read(struct gus_store *s, const char *name, size_t max, size_t *size)
{
	char *full = gus_format("%s%s", name, s->suffix);
	int fd = openat(s->folder, full, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), why = errno;
	uint8_t *bytes = NULL;
	struct stat st;

	free(full);
	if (fd >= 0)
		why = objection_to_file(fd, s->user, max, &st);
	if (fd >= 0 && !why) {
		*size = (size_t)st.st_size;
		bytes = gus_alloc(*size ? *size : 1);
		if (!read_all(fd, bytes, *size)) {
			why = errno;
			free(bytes);
			bytes = NULL;
		} else if (time(NULL) - st.st_mtim.tv_sec >= USED_S) {
			futimens(fd, NULL);
		}
	}
	if (fd >= 0)
		close(fd);
	errno = why;
	return bytes;
}

struct kept {
	char *name;
	uint64_t size;
	struct timespec used;
};

struct kept_list gus_vec(struct kept);

static int by_use(const void *left, const void *right)
{
	const struct kept *a = left, *b = right;

	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
	if (a->used.tv_nsec != b->used.tv_nsec)
		return a->used.tv_nsec < b->used.tv_nsec ? -1 : 1;
	return strcmp(a->name, b->name);
}

static bool ends_in(const char *name, const char *suffix)
{
	size_t length = strlen(name), end = strlen(suffix);

	return length > end && strcmp(name + length - end, suffix) == 0;
}

static bool is_unfinished(const char *name)
{
	return strncmp(name, unfinished, strlen(unfinished)) == 0;
}

/* What is ours in the folder; what was never finished and is old goes at once. */
static uint64_t list_files(struct gus_store *s, struct kept_list *list)
{
	int folder = openat(s->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = folder >= 0 ? fdopendir(folder) : NULL;
	time_t now = time(NULL);
	struct dirent *entry;
	uint64_t total = 0;
	struct stat st;

	if (!dir && folder >= 0)
		close(folder);
	while (dir && list->n < FILES_MAX && (entry = readdir(dir))) {
		if (!ends_in(entry->d_name, s->suffix) ||
		    fstatat(s->folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
			continue;
		if (is_unfinished(entry->d_name) && now - st.st_mtim.tv_sec > UNFINISHED_S) {
			unlinkat(s->folder, entry->d_name, 0);
			continue;
		}
		total += (uint64_t)st.st_size;
		gus_vec_push(list, (struct kept){ gus_strdup(entry->d_name), (uint64_t)st.st_size, st.st_mtim });
	}
	if (dir)
		closedir(dir);
	return total;
}

static void trim(struct gus_store *s)
{
	struct kept_list list = { 0 };
	uint64_t total = list_files(s, &list);

	if (total > s->limit)
		qsort(list.v, list.n, sizeof(*list.v), by_use);
	for (size_t i = 0; i < list.n; i++) {
		if (total > s->limit && !is_unfinished(list.v[i].name) &&
		    unlinkat(s->folder, list.v[i].name, 0) == 0)
			total -= list.v[i].size;
		free(list.v[i].name);
	}
	gus_vec_free(&list);
}

/* Writes a new file; 0, or the errno of why not. */
static int make_file(const struct gus_store *s, const char *name, const void *bytes, size_t size)
{
	int fd = openat(s->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), why = 0;

	if (fd < 0)
		return errno;
	if (gus_output_write(fd, bytes, size) != 0)
		why = errno;
	if (close(fd) != 0 && !why)
		why = errno;
	return why;
}

int gus_store_check(struct gus_store *s, struct gus_error *err)
{
	if (faccessat(s->folder, ".", W_OK | X_OK, AT_EACCESS) == 0)
		return 0;
	return gus_fail_errno(err, errno, "cannot write a file to %s", s->path);
}

int gus_store_write(struct gus_store *s, const char *name, const void *bytes, size_t size, struct gus_error *err)
{
	uint64_t number = (uint64_t)getpid();
	char *temporary, *full;
	int why;

	getrandom(&number, sizeof(number), GRND_NONBLOCK);
	temporary = gus_format("%s%016llx%s", unfinished, (unsigned long long)number, s->suffix);
	full = gus_format("%s%s", name, s->suffix);
	why = make_file(s, temporary, bytes, size);
	if (!why && renameat(s->folder, temporary, s->folder, full) != 0)
		why = errno;
	if (why && why != EEXIST)
		unlinkat(s->folder, temporary, 0);
	free(temporary);
	free(full);
	if (why)
		return gus_fail_errno(err, why, "cannot write a file to %s", s->path);
	trim(s);
	return 0;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

char **gus_store_names(struct gus_store *s)
{
	size_t end = strlen(s->suffix);
	struct kept_list list = { 0 };
	struct gus_vec(char *) names = { 0 };

	list_files(s, &list);
	for (size_t i = 0; i < list.n; i++) {
		if (!is_unfinished(list.v[i].name))
			gus_vec_push(&names, gus_strndup(list.v[i].name, strlen(list.v[i].name) - end));
		free(list.v[i].name);
	}
	gus_vec_free(&list);
	if (names.n)
		qsort(names.v, names.n, sizeof(*names.v), by_name);
	gus_vec_push(&names, NULL);
	return names.v;
}

void gus_store_names_free(char **names)
{
	for (char **name = names; *name; name++)
		free(*name);
	free(names);
}

int gus_store_remove(struct gus_store *s, const char *name, struct gus_error *err)
{
	char *full = gus_format("%s%s", name, s->suffix);
	int why = unlinkat(s->folder, full, 0) == 0 ? 0 : errno;

	if (why && why != ENOENT)
		gus_fail_errno(err, why, "cannot remove %s/%s", s->path, full);
	free(full);
	return !why ? 1 : why == ENOENT ? 0 : -1;
}
