/* SPDX-License-Identifier: MIT */
#include "symbolizer/symbols/source.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/foreign_file.h"
#include "base/index.h"
#include "base/limits.h"
#include "base/log.h"
#include "symbolizer/symbols/symbols.h"

#define TAB 8

struct file {
	struct gus_vec(char) text;     /* its lines, each with a NUL */
	struct gus_vec(size_t) lines;  /* where they begin */
	time_t changed;
};

/* Files that something is wrong with: how many, and the first of them. */
struct wrong {
	size_t n;
	const char *first;
	int why;                       /* errno */
	bool limited;                  /* and it was tried with other rights than ours */
};

struct gus_sources {
	const char *symfs;
	const struct gus_rights *rights;
	const struct gus_log *log;
	struct gus_strings names;
	struct gus_strings asked;          /* files are told apart by name and by whose program names them */
	struct gus_vec(struct file) files; /* by the number in asked; 0 is not used */
	struct gus_vec(uint8_t) is_young;  /* by the same */
	struct wrong missing, young;
};

struct gus_sources *gus_sources_new(const char *symfs, const struct gus_rights *rights, const struct gus_log *log)
{
	struct gus_sources *s = gus_zalloc(sizeof(*s));

	s->symfs = symfs ? symfs : "";
	s->rights = rights;
	s->log = log;
	gus_strings_init(&s->names);
	gus_strings_init(&s->asked);
	gus_vec_push(&s->files, (struct file){ .changed = 0 });
	gus_vec_push(&s->is_young, 0);
	return s;
}

void gus_sources_free(struct gus_sources *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->files.n; i++) {
		gus_vec_free(&s->files.v[i].text);
		gus_vec_free(&s->files.v[i].lines);
	}
	gus_vec_free(&s->files);
	gus_vec_free(&s->is_young);
	gus_strings_free(&s->names);
	gus_strings_free(&s->asked);
	free(s);
}

/* A regular file of at most GUS_LIMIT_SOURCE_FILE bytes; -1 with errno. */
static int open_file(const char *path, const struct gus_rights *rights, struct stat *st)
{
	int fd = gus_foreign_open(path, rights, st, NULL);

	if (fd < 0 || st->st_size <= GUS_LIMIT_SOURCE_FILE)
		return fd;
	close(fd);
	errno = EFBIG;
	return -1;
}

static bool read_all(int fd, char *text, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = read(fd, text + done, size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return false;
		if (!got)
			break;
		done += (size_t)got;
	}
	memset(text + done, '\n', size - done); /* it was cut short while we read */
	return true;
}

static void split(struct file *f, const char *text, size_t size)
{
	size_t column = 0;

	gus_vec_push(&f->lines, 0);
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\n') {
			gus_vec_push(&f->text, '\0');
			gus_vec_push(&f->lines, f->text.n);
			column = 0;
		} else if (text[i] == '\t') {
			do
				gus_vec_push(&f->text, ' ');
			while (++column % TAB);
		} else if (text[i] && text[i] != '\r') {
			gus_vec_push(&f->text, text[i]);
			column++;
		}
	}
	gus_vec_push(&f->text, '\0');
}

static void note(struct wrong *w, const char *name, int why, bool limited)
{
	if (!w->n++)
		*w = (struct wrong){ 1, name, why, limited };
}

/* Whoever made the program chose the names of its sources; so did, in a way, whoever made the recording. */
static struct gus_rights rights_for(const struct gus_sources *s, const struct gus_provenance *origin)
{
	struct gus_rights owner = { 0 };

	if (origin->known)
		gus_rights_of_user(&owner, origin->owner, "the program's owner");
	return gus_rights_common(s->rights, &owner);
}

static void read_file(struct gus_sources *s, const char *name, const struct gus_provenance *origin, struct file *f)
{
	struct gus_rights rights = rights_for(s, origin);
	char *path = gus_format("%s%s", s->symfs, name), *text = NULL;
	struct stat st;
	int fd = open_file(path, &rights, &st);
	bool good;

	if (fd < 0 && *s->symfs)
		fd = open_file(name, &rights, &st);
	free(path);
	if (fd >= 0) {
		text = gus_alloc((size_t)st.st_size + 1);
		good = read_all(fd, text, (size_t)st.st_size);
		if (good) {
			f->changed = st.st_mtime;
			split(f, text, (size_t)st.st_size);
		}
		close(fd);
		free(text);
		if (good)
			return;
	}
	note(&s->missing, name, errno, rights.limited);
}

static uint32_t number_of(struct gus_sources *s, const char *name, const struct gus_provenance *origin)
{
	char *key = gus_format("%lld %s", origin->known ? (long long)origin->owner : -1, name);
	uint32_t number = gus_strings_add(&s->asked, key);

	free(key);
	return number;
}

const char *gus_sources_line(struct gus_sources *s, const char *name, uint32_t line,
			     const struct gus_provenance *origin)
{
	uint32_t number;
	struct file *f;

	if (!*name)
		return NULL;
	number = number_of(s, name, origin);
	name = gus_strings_get(&s->names, gus_strings_add(&s->names, name));
	if (s->files.n <= number) {
		struct file new = { .changed = 0 };

		read_file(s, name, origin, &new);
		gus_vec_push(&s->files, new); /* they are numbered as they come */
		gus_vec_push(&s->is_young, 0);
	}
	f = &s->files.v[number];
	if (!f->lines.n || !line || line > f->lines.n)
		return NULL;
	if (origin->known && f->changed > origin->made && !s->is_young.v[number]) {
		s->is_young.v[number] = 1;
		note(&s->young, name, 0, false);
	}
	return f->text.v + f->lines.v[line - 1];
}

/* "", or " and 3 more". */
static const char *others(const struct wrong *w, char *room, size_t size)
{
	room[0] = '\0';
	if (w->n > 1)
		snprintf(room, size, " and %zu more", w->n - 1);
	return room;
}

static const char *reason(const struct wrong *w)
{
	if (w->limited && w->why == EACCES)
		return "not readable by the recording's owner and the program's, whose rights count here";
	return w->why == EINVAL ? "it is no regular file" : strerror(w->why);
}

void gus_sources_tell(const struct gus_sources *s)
{
	char more[40];

	if (s->missing.n)
		gus_log(s->log, GUS_NOTE, "cannot read the source %s%s: %s; lines are shown without their text",
			s->missing.first,
			others(&s->missing, more, sizeof(more)), reason(&s->missing));
	if (s->young.n)
		gus_log(s->log, GUS_WARN,
			"the source %s%s was changed after the program was made: its lines may be others than "
			"those that were compiled", s->young.first, others(&s->young, more, sizeof(more)));
}
