/* SPDX-License-Identifier: MIT */
#include "tracing/emulator/emulate.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/helper.h"
#include "base/text.h"
#include "config.h"

/* Where in the build tree the parts lie that an installation has beside each other. */
static const struct { const char *part, *folder; } built[] = {
	{ "gusprof-qemu.so", "tracing/plugin" },
	{ "gusprof-replay", "tracing/replay" },
};

static const struct { unsigned machine; const char *target; } targets[] = {
	{ EM_X86_64, "x86_64" },
	{ EM_AARCH64, "aarch64" },
};

/* Where a program is that has no slash in its name; NULL if nowhere. */
static char *search_path(const char *name, bool relative)
{
	const char *path = getenv("PATH");

	for (const char *at = path ? path : "/usr/bin:/bin"; ; at++) {
		size_t length = strcspn(at, ":");
		char *whole = gus_format("%.*s/%s", length ? (int)length : 1, length ? at : ".", name);

		if ((relative || *whole == '/') && access(whole, X_OK) == 0)
			return whole;
		free(whole);
		at += length;
		if (!*at)
			return NULL;
	}
}

/* Where a command is, as a shell would find it. */
static char *find_command(const char *name)
{
	if (!*name)
		return NULL; /* else it would be the first folder of PATH */
	return strchr(name, '/') ? gus_strdup(name) : search_path(name, true);
}

char *gus_find_tool(const char *name)
{
	if (!*name)
		return NULL;
	return strchr(name, '/') ? gus_strdup(name) : search_path(name, false);
}

/* Which machine's program it is. */
static const char *target_of(const char *path, struct gus_error *err)
{
	uint8_t head[EI_NIDENT + 4] = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n;

	if (fd < 0) {
		gus_fail_errno(err, errno, "cannot start '%s'", path);
		return NULL;
	}
	n = read(fd, head, sizeof(head));
	close(fd);
	if (n >= 2 && head[0] == '#' && head[1] == '!') {
		gus_fail(err, GUS_E_UNSUPPORTED,
			 "cannot trace '%s': it is a script; name the program that interprets it before it", path);
		return NULL;
	}
	if (n < (ssize_t)sizeof(head) || memcmp(head, ELFMAG, SELFMAG) != 0) {
		gus_fail(err, GUS_E_UNSUPPORTED, "cannot trace '%s': it is no ELF program", path);
		return NULL;
	}
	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		if (head[EI_DATA] == ELFDATA2LSB &&
		    targets[i].machine == (head[EI_NIDENT + 2] | (unsigned)head[EI_NIDENT + 3] << 8))
			return targets[i].target;
	gus_fail(err, GUS_E_UNSUPPORTED,
		 "cannot trace '%s': it is for a machine that has no tables here (x86-64 and arm64 have)", path);
	return NULL;
}

const char *gus_command_target(const char *name, struct gus_error *err)
{
	char *path = find_command(name);
	const char *target = path ? target_of(path, err) : NULL;

	if (!path)
		gus_fail_errno(err, ENOENT, "cannot start '%s'", name);
	free(path);
	return target;
}

/* Beside the program as it was built, or where it was installed. */
char *gus_find_part(const char *name)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *path = NULL, *slash;

	if (n > 0) {
		self[n] = '\0';
		slash = strrchr(self, '/');
		for (size_t i = 0; slash && i < sizeof(built) / sizeof(*built); i++) {
			if (strcmp(built[i].part, name) != 0)
				continue;
			path = gus_format("%.*s/%s/%s", (int)(slash - self), self, built[i].folder, name);
			if (access(path, R_OK) == 0)
				return path;
			free(path);
		}
	}
	path = gus_format("%s/%s", PKGLIBDIR, name);
	if (access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static char *find_plugin(struct gus_error *err)
{
	char *path = gus_find_part("gusprof-qemu.so");

	if (!path)
		gus_fail(err, GUS_E_NOT_FOUND,
			 "cannot trace: there is no %s/gusprof-qemu.so, the plugin of QEMU that is built and installed "
			"with "
			 "this program", PKGLIBDIR);
	return path;
}

static char *find_emulator(const char *asked, const char *target, struct gus_error *err)
{
	char *name = gus_format("qemu-%s", target), *path = gus_find_tool(asked ? asked : name);

	if (path && access(path, X_OK) == 0) {
		free(name);
		return path;
	}
	gus_fail(err, GUS_E_UNSUPPORTED,
		 "cannot trace a program of %s: there is no %s; install QEMU's user-mode emulators (Debian: qemu-user)",
		 target, asked ? asked : name);
	free(name);
	free(path);
	return NULL;
}

/* A word that nobody else's command line has. */
static char *own_word(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return gus_format("GUSPROF_%d_%lld_%ld", (int)getpid(), (long long)t.tv_sec, t.tv_nsec);
}

/* The emulator's command line: emulator, plugin, then the command. By -U QEMU takes a variable out of the command's
 * environment: here one that is not there, so that the word does nothing but stand there. */
static char **command_line(char *const *argv, const char *path, const char *emulator, const char *plugin, int fd,
			   const char *options, const char *word)
{
	size_t n = 0, k = 0;
	char **words;

	while (argv[n])
		n++;
	words = gus_zalloc((n + 10) * sizeof(*words));
	words[k++] = gus_strdup(emulator);
	words[k++] = gus_strdup("-cpu");
	words[k++] = gus_strdup("max");
	words[k++] = gus_strdup("-U");
	words[k++] = gus_strdup(word);
	words[k++] = gus_strdup("-plugin");
	words[k++] = gus_format("%s,fd=%d,plain=on%s", plugin, fd, options);
	words[k++] = gus_strdup(path);
	for (size_t i = 1; i < n; i++)
		words[k++] = gus_strdup(argv[i]);
	return words;
}

static int launch(struct gus_emulation *e, char **words, int ends[2], struct gus_error *err)
{
	e->pid = gus_helper_fork();
	if (e->pid < 0)
		return gus_fail_errno(err, errno, "cannot create a process for '%s'", words[0]);
	if (e->pid == 0) {
		int null = e->silent ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;

		close(ends[0]);
		if (null >= 0) {
			dup2(null, 0);
			dup2(null, 1);
		}
		if (e->out_is_err)
			dup2(2, 1);
		if (e->signals)
			gus_signals_restore(e->signals);
		execv(words[0], words);
		gus_text_print(stderr, "gusprof: cannot start '%s': %s\n", words[0], strerror(errno));
		_exit(127);
	}
	return 0;
}

int gus_emulation_start(struct gus_emulation *e, char *const *argv, const char *emulator, const char *options,
			struct gus_error *err)
{
	char *path = find_command(argv[0]), *qemu = NULL, *plugin = NULL, **words = NULL;
	int ends[2] = { -1, -1 }, rc = -1;

	*e = (struct gus_emulation){ .pid = -1, .trace = -1, .silent = e->silent, .out_is_err = e->out_is_err,
		.signals = e->signals };
	if (!path)
		gus_fail_errno(err, ENOENT, "cannot start '%s'", argv[0]);
	e->target = path ? target_of(path, err) : NULL;
	qemu = e->target ? find_emulator(emulator, e->target, err) : NULL;
	plugin = qemu ? find_plugin(err) : NULL;
	if (plugin && pipe(ends) != 0)
		gus_fail_errno(err, errno, "cannot create a pipe to '%s'", argv[0]);
	if (ends[0] >= 0) {
		char *word = own_word();

		fcntl(ends[0], F_SETFD, FD_CLOEXEC);
		fcntl(ends[1], F_SETPIPE_SZ, 1 << 20); /* fewer switches; what it is if that is refused will do */
		words = command_line(argv, path, qemu, plugin, ends[1], options, word);
		gus_sweeper_start(&e->sweeper, word);
		rc = launch(e, words, ends, err);
		close(ends[1]);
		if (rc != 0) {
			close(ends[0]);
			gus_sweeper_end(&e->sweeper);
		}
		free(word);
		e->trace = rc == 0 ? ends[0] : -1;
	}
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
	free(path);
	free(qemu);
	free(plugin);
	return rc;
}

void gus_emulation_wait(const struct gus_emulation *e)
{
	siginfo_t info;

	while (e->pid > 0 && waitid(P_PID, (id_t)e->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
}

void gus_emulation_end(struct gus_emulation *e)
{
	pid_t got;

	if (e->pid <= 0)
		return;
	do
		got = waitpid(e->pid, &e->status, 0);
	while (got < 0 && errno == EINTR);
	e->pid = -1;
	gus_sweeper_end(&e->sweeper);
}
