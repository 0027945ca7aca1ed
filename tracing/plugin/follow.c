/* SPDX-License-Identifier: MIT */
#include "tracing/plugin/follow.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "collector/host/procfs.h"

/* Of words and environment together: the kernel takes 6 MiB at most (exec.c: three quarters of _STK_LIM), and of one
 * 128 KiB (MAX_ARG_STRLEN). What is longer it shall refuse itself. */
#define ALL_MOST (6u << 20)
#define ONE_MOST (128u << 10)
#define SIGNALS 64

int gus_follow_connect(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t n = strlen(name);
	int fd;

	if (n + 1 > sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address.sun_path + 1, name, n);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	while (fd >= 0 && connect(fd, (const struct sockaddr *)&address,
				  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) != 0) {
		int sys = errno;

		if (sys == EINTR)
			continue;
		close(fd);
		errno = sys;
		return -1;
	}
	return fd;
}

/* The program's memory. */

struct memory {
	int fd;
	uint64_t distance;
	size_t left;            /* bytes that may still be read */
	bool bad;
};

static struct memory open_memory(uint64_t distance)
{
	struct memory m = { open("/proc/self/mem", O_RDONLY | O_CLOEXEC), distance, ALL_MOST, false };

	m.bad = m.fd < 0;
	return m;
}

static void close_memory(const struct memory *m)
{
	if (m->fd >= 0)
		close(m->fd);
}

static ssize_t read_at(const struct memory *m, uint64_t address, void *to, size_t size)
{
	return m->fd < 0 ? -1 : pread(m->fd, to, size, (off_t)(address + m->distance));
}

bool gus_follow_read_text(uint64_t distance, uint64_t address, char *text, size_t size)
{
	struct memory m = open_memory(distance);
	ssize_t n = read_at(&m, address, text, size);

	close_memory(&m);
	return n > 0 && memchr(text, 0, (size_t)n);
}

/* A text of any length, in pieces, as it may end just before memory that is not there. NULL: it has no end. */
static char *take_text(struct memory *m, uint64_t address)
{
	struct gus_vec(char) text = { 0 };
	char piece[256];

	while (text.n < ONE_MOST) {
		ssize_t n = read_at(m, address + text.n, piece, sizeof(piece));
		char *end = n > 0 ? memchr(piece, 0, (size_t)n) : NULL;
		size_t used = end ? (size_t)(end - piece) + 1 : n > 0 ? (size_t)n : 0;

		if (!used || used > m->left)
			break;
		m->left -= used;
		gus_vec_append(&text, piece, used);
		if (end)
			return text.v;
	}
	m->bad = true;
	gus_vec_free(&text);
	return NULL;
}

/* Texts whose addresses stand one behind the other, up to a zero. Of no list at all the kernel makes an empty one. */
static void take_texts(struct memory *m, uint64_t list, struct gus_words *words)
{
	for (uint64_t at; list && !m->bad; list += sizeof(at)) {
		char *text;

		if (m->left < sizeof(at) || read_at(m, list, &at, sizeof(at)) != sizeof(at)) {
			m->bad = true;
			return;
		}
		m->left -= sizeof(at);
		if (!at)
			return;
		text = take_text(m, at);
		if (text)
			gus_words_add(words, text);
	}
}

/* Names of the program that runs, which for the kernel are names of the emulator. */
static bool is_itself(const char *path)
{
	char own[64];

	snprintf(own, sizeof(own), "/proc/%d/exe", (int)getpid());
	return strcmp(path, "/proc/self/exe") == 0 || strcmp(path, "/proc/thread-self/exe") == 0 ||
		strcmp(path, own) == 0;
}

/* The path of what a descriptor is open for, with what is behind it; NULL if it has none. The emulator opens it
 * after the execve, when the descriptor may be closed. */
static char *path_of(int folder, const char *behind)
{
	char link[64], path[PATH_MAX];
	struct stat by_name, by_fd;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || *path != '/')
		return NULL;
	path[n] = '\0';
	if (fstat(folder, &by_fd) != 0 || stat(path, &by_name) != 0 || by_fd.st_dev != by_name.st_dev ||
	    by_fd.st_ino != by_name.st_ino)
		return NULL;
	return *behind ? gus_format("%s/%s", path, behind) : gus_strdup(path);
}

static char *path_of_call(struct memory *m, const struct gus_follow_call *call, const char *self)
{
	char *path = take_text(m, call->path), *whole = NULL;

	if (!path)
		return NULL;
	if (is_itself(path) && self)
		whole = gus_strdup(self);
	else if (*path == '/' || (*path && call->folder == AT_FDCWD))
		whole = gus_format("%s%s", *path == '-' ? "./" : "", path); /* else an option of the emulator's */
	else if (*path || call->flags & AT_EMPTY_PATH)
		whole = path_of(call->folder, path);
	free(path);
	return whole;
}

/* What the loader of the emulator itself would obey. QEMU's -E gives a variable to the program alone; it takes several,
 * separated by commas, so what has a comma is left where it is. */
static bool is_for_loader(const char *variable)
{
	return strncmp(variable, "LD_", 3) == 0 && !strchr(variable, ',');
}

/* The plugin's word with another descriptor: ",fd=N" stands behind its path. */
static char *with_fd(const char *word, int fd)
{
	const char *at = strstr(word, ",fd="), *behind;

	if (!at)
		return NULL;
	behind = at + 1 + strcspn(at + 1, ",");
	return gus_format("%.*s,fd=%d%s", (int)(at - word), word, fd, behind);
}

/* The emulator's own words from our own command line, which tracing/emulator made: each option has one value, and
 * -plugin is the last. Those that are about one program are left out. Returns the plugin's word; NULL if there is
 * none, as nobody of ours began this. */
static const char *take_own_words(struct gus_words *words, const char *text, size_t size)
{
	size_t at = strlen(text) + 1;

	gus_words_add(words, gus_strdup(text));
	while (at < size && text[at] == '-') {
		const char *option = text + at, *value = option + strlen(option) + 1;

		if (value >= text + size)
			return NULL;
		if (strcmp(option, "-plugin") == 0)
			return value;
		at = (size_t)(value - text) + strlen(value) + 1;
		if (strcmp(option, "-0") == 0 || strcmp(option, "-E") == 0)
			continue;
		gus_words_add(words, gus_strdup(option));
		gus_words_add(words, gus_strdup(value));
	}
	return NULL;
}

static void add_option(struct gus_words *words, const char *option, const char *value)
{
	gus_words_add(words, gus_strdup(option));
	gus_words_add(words, gus_strdup(value));
}

static void divide_environment(struct gus_follow *f, const struct gus_words *environment)
{
	for (size_t i = 0; i + 1 < environment->n; i++) {
		const char *variable = environment->v[i];

		if (is_for_loader(variable))
			add_option(&f->words, "-E", variable);
		else
			gus_words_add(&f->environment, gus_strdup(variable));
	}
}

/* Emulator, its options, the program, its words. */
static bool make_words(struct gus_follow *f, const struct gus_executed *p, const struct gus_words *environment,
		       int fd)
{
	size_t size;
	char *text = gus_procfs_read("/proc/self/cmdline", &size);
	const char *word = text && size ? take_own_words(&f->words, text, size) : NULL;
	char *plugin = word ? with_fd(word, fd) : NULL;

	free(text);
	if (!plugin)
		return false;
	add_option(&f->words, "-0", p->argv.n ? p->argv.v[0] : "");
	divide_environment(f, environment);
	add_option(&f->words, "-plugin", plugin);
	free(plugin);
	gus_words_add(&f->words, gus_strdup(p->path));
	for (size_t i = 1; i + 1 < p->argv.n; i++)
		gus_words_add(&f->words, gus_strdup(p->argv.v[i]));
	return true;
}

/* 0, which no program is of, where execve's lists have words of another size. */
static unsigned machine_of(enum gus_translated_isa isa)
{
	static const unsigned machines[] = { [GUS_TRANSLATED_X86_64] = EM_X86_64, [GUS_TRANSLATED_ARM64] = EM_AARCH64 };

	return isa < sizeof(machines) / sizeof(*machines) ? machines[isa] : EM_NONE;
}

const char *gus_follow_prepare(struct gus_follow *f, const struct gus_follow_call *call, uint64_t distance,
			       const char *self, enum gus_translated_isa isa, int fd)
{
	struct memory m = open_memory(distance);
	struct gus_executed p = { .path = path_of_call(&m, call, self) };
	struct gus_words environment = { 0 };
	const char *why = "";

	*f = (struct gus_follow){ 0 };
	take_texts(&m, call->argv, &p.argv);
	take_texts(&m, call->envp, &environment);
	close_memory(&m);
	if (!p.path && !m.bad)
		why = "has no name";
	else if (!m.bad)
		why = gus_executed_resolve(&p, machine_of(isa));
	if (!why && !make_words(f, &p, &environment, fd))
		why = "cannot be started by an emulator that was not started by gusprof";
	gus_executed_free(&p);
	gus_words_free(&environment);
	return why;
}

uint64_t gus_follow_ignored(void)
{
	uint64_t ignored = 0;
	struct sigaction action;

	for (int i = 1; i <= SIGNALS; i++)
		if (sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			ignored |= UINT64_C(1) << (i - 1);
	return ignored;
}

/* The handler stands first in the kernel's structure, with 1 for SIG_IGN. */
uint64_t gus_follow_heed(uint64_t ignored, uint64_t signal, uint64_t action, uint64_t distance)
{
	struct memory m = open_memory(distance);
	uint64_t handler = 0, bit = signal >= 1 && signal <= SIGNALS ? UINT64_C(1) << (signal - 1) : 0;
	bool known = action && read_at(&m, action, &handler, sizeof(handler)) == sizeof(handler);

	close_memory(&m);
	if (!known)
		return ignored;
	return handler == 1 ? ignored | bit : ignored & ~bit;
}

void gus_follow_execute(const struct gus_follow *f, uint64_t ignored)
{
	static char *none;

	for (int i = 1; i <= SIGNALS; i++)
		if (ignored >> (i - 1) & 1)
			signal(i, SIG_IGN);
	execve("/proc/self/exe", f->words.v, f->environment.n ? f->environment.v : &none);
}

void gus_follow_free(struct gus_follow *f)
{
	gus_words_free(&f->words);
	gus_words_free(&f->environment);
}
