/* SPDX-License-Identifier: MIT */
#include "tracing/program/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define HEAD 256        /* of a file: what the kernel looks at (BINPRM_BUF_SIZE) */
#define SCRIPTS 5       /* one behind the other, as in the kernel (bprm_execve) */

void gus_words_add(struct gus_words *words, char *word)
{
	if (!words->n)
		gus_vec_push(words, NULL);
	words->v[words->n - 1] = word;
	gus_vec_push(words, NULL);
}

void gus_words_free(struct gus_words *words)
{
	for (size_t i = 0; i < words->n; i++)
		free(words->v[i]);
	gus_vec_free(words);
}

void gus_executed_free(struct gus_executed *p)
{
	free(p->path);
	gus_words_free(&p->argv);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The interpreter and its one argument, which may have blanks in it, of the first line of a script, cut in place.
 * false if the kernel would not take it. */
static bool read_script(char *head, size_t n, char **interpreter, char **argument)
{
	char *at = head + 2, *end = memchr(head, '\n', n), *last;

	*argument = NULL;
	if (!end) /* what is longer is cut, but not in the interpreter's name */
		end = head + n;
	last = end;
	*end = '\0';
	while (is_blank(*at))
		at++;
	*interpreter = at;
	while (*at && !is_blank(*at))
		at++;
	if (at == *interpreter || (at == last && n == HEAD - 1 && last == head + n))
		return false;
	while (last > at && is_blank(last[-1]))
		*--last = '\0';
	if (!*at)
		return true;
	*at++ = '\0';
	while (is_blank(*at))
		at++;
	*argument = *at ? at : NULL;
	return true;
}

/* Its words are: interpreter, argument, script, and those behind the first. */
static void become_interpreter(struct gus_executed *p, const char *interpreter, const char *argument)
{
	struct gus_words words = { 0 };

	gus_words_add(&words, gus_strdup(interpreter));
	if (argument)
		gus_words_add(&words, gus_strdup(argument));
	gus_words_add(&words, p->path);
	for (size_t i = 1; i + 1 < p->argv.n; i++)
		gus_words_add(&words, gus_strdup(p->argv.v[i]));
	gus_words_free(&p->argv);
	p->argv.v = words.v;
	p->argv.n = words.n;
	p->argv.room = words.room;
	p->path = gus_strdup(interpreter);
}

/* Whether the kernel would give it other rights than we have. The emulator could not. */
static bool raises_rights(int fd, const struct stat *st)
{
	struct statvfs fs;
	uint8_t capabilities[64];

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 || (fstatvfs(fd, &fs) == 0 && fs.f_flag & ST_NOSUID))
		return false;
	return (st->st_mode & S_ISUID && st->st_uid != geteuid()) ||
		((st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st->st_gid != getegid()) ||
		(geteuid() != 0 && fgetxattr(fd, "security.capability", capabilities, sizeof(capabilities)) > 0);
}

/* The beginning of a file that may be executed, its size, and the file itself; NULL, or why there is none. */
static const char *read_head(const char *path, char head[HEAD], size_t *n, int *fd)
{
	struct stat st;
	ssize_t got;

	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? "does not exist" : "may not be read";
	if (fstat(*fd, &st) != 0 || !S_ISREG(st.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0)
		return "may not be executed";
	got = pread(*fd, head, HEAD - 1, 0);
	if (got < 0)
		return "may not be read";
	head[got] = '\0';
	*n = (size_t)got;
	return NULL;
}

/* Of one file; *again: it was a script, and p is its interpreter now. */
static const char *interpret_once(struct gus_executed *p, bool *again)
{
	char head[HEAD], *interpreter, *argument;
	size_t n;
	int fd;
	const char *why = read_head(p->path, head, &n, &fd);

	if (fd >= 0)
		close(fd);
	*again = !why && n > 2 && head[0] == '#' && head[1] == '!';
	if (!*again)
		return why;
	if (!read_script(head, n, &interpreter, &argument))
		return "is a script without an interpreter";
	become_interpreter(p, interpreter, argument);
	return NULL;
}

const char *gus_executed_interpret(struct gus_executed *p)
{
	const char *why = NULL;
	bool again = true;

	for (int i = 0; again && !why; i++) {
		if (i > SCRIPTS)
			return "is a script of a script of a script without an end";
		why = interpret_once(p, &again);
	}
	return why;
}

static const char *judge(int fd, const char *head, size_t n, unsigned machine)
{
	const uint8_t *elf = (const uint8_t *)head;
	struct stat st;

	if (n < sizeof(Elf64_Ehdr) || memcmp(elf, ELFMAG, SELFMAG) != 0)
		return "is neither a program nor a script";
	if (elf[EI_CLASS] != ELFCLASS64 || elf[EI_DATA] != ELFDATA2LSB ||
	    (elf[EI_NIDENT + 2] | (unsigned)elf[EI_NIDENT + 3] << 8) != machine)
		return "is of another machine";
	return fstat(fd, &st) != 0 || raises_rights(fd, &st) ? "has other rights than the program before it" : NULL;
}

const char *gus_executed_resolve(struct gus_executed *p, unsigned machine)
{
	const char *why = gus_executed_interpret(p);
	char head[HEAD];
	size_t n;
	int fd;

	if (why)
		return why;
	why = read_head(p->path, head, &n, &fd);
	if (!why)
		why = judge(fd, head, n, machine);
	if (fd >= 0)
		close(fd);
	return why;
}
