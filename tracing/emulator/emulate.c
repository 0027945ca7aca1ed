/* SPDX-License-Identifier: MIT */
#include "tracing/emulator/emulate.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/helper.h"
#include "base/text.h"
#include "config.h"
#include "tracing/emulator/find.h"
#include "tracing/program/program.h"

static const struct { unsigned machine; const char *target; } targets[] = {
	{ EM_X86_64, "x86_64" },
	{ EM_AARCH64, "aarch64" },
};

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

/* What a command executes in the end, as the kernel would find out: of a script what interprets it. Returns which
 * machine's program that is, or NULL with err. */
static const char *resolve(struct gus_executed *p, char *const *argv, struct gus_error *err)
{
	const char *why = NULL;

	*p = (struct gus_executed){ .path = gus_find_command(argv[0]) };
	if (!p->path) {
		gus_fail_errno(err, ENOENT, "cannot start '%s'", argv[0]);
		return NULL;
	}
	if (access(p->path, X_OK) != 0) {
		gus_fail_errno(err, errno, "cannot start '%s'", argv[0]);
		return NULL;
	}
	for (size_t i = 0; argv[i]; i++)
		gus_words_add(&p->argv, gus_strdup(argv[i]));
	why = gus_executed_interpret(p);
	if (!why)
		return target_of(p->path, err);
	gus_fail(err, GUS_E_UNSUPPORTED, "cannot trace '%s': %s %s", argv[0], p->path, why);
	return NULL;
}

const char *gus_command_target(char *const *argv, struct gus_error *err)
{
	struct gus_executed p;
	const char *target = resolve(&p, argv, err);

	gus_executed_free(&p);
	return target;
}

static char *find_plugin(struct gus_error *err)
{
	char *path = gus_find_part("gusprof-qemu.so");

	if (!path)
		gus_fail(err, GUS_E_UNSUPPORTED, "cannot trace: %s/gusprof-qemu.so, gusprof's own plugin of QEMU, is "
			 "missing or cannot be read; install gusprof again with it (make install, where configure "
			 "says 'qemu plugin yes')", PKGLIBDIR);
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

int gus_emulation_check(const char *target, const char *emulator, struct gus_error *err)
{
	char *qemu = find_emulator(emulator, target, err), *plugin = qemu ? find_plugin(err) : NULL;
	int rc = plugin ? 0 : -1;

	free(qemu);
	free(plugin);
	return rc;
}

/* A word that nobody else's command line has. */
static char *own_word(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return gus_format("GUSPROF_%d_%lld_%ld", (int)getpid(), (long long)t.tv_sec, t.tv_nsec);
}

/* The emulator's command line: emulator, plugin, then the command. By -U QEMU takes a variable out of the command's
 * environment: here one that is not there, so that the word does nothing but stand there. tracing/plugin/follow.c takes
 * this apart: each option has one value, and the plugin's is the last. */
static char **command_line(const struct gus_executed *p, const char *emulator, const char *plugin, const char *word)
{
	size_t n = p->argv.n - 1, k = 0; /* NULL stands behind the last */
	char **words;

	words = gus_zalloc((n + 12) * sizeof(*words));
	words[k++] = gus_strdup(emulator);
	words[k++] = gus_strdup("-cpu");
	words[k++] = gus_strdup("max");
	words[k++] = gus_strdup("-U");
	words[k++] = gus_strdup(word);
	words[k++] = gus_strdup("-0");
	words[k++] = gus_strdup(p->argv.v[0]);
	words[k++] = gus_strdup("-plugin");
	words[k++] = gus_strdup(plugin);
	words[k++] = gus_strdup(p->path);
	for (size_t i = 1; i < n; i++)
		words[k++] = gus_strdup(p->argv.v[i]);
	return words;
}

/* The plugin's word. */
static char *plugin_word(const struct gus_emulation *e, const char *plugin, int fd, const char *listener,
			 const char *options)
{
	return gus_format("%s,fd=%d,plain=on%s%s%s%s%s", plugin, fd, e->quiet ? ",quiet=on" : "",
			  listener ? ",follow=" : "", listener ? listener : "",
			  listener && e->children ? ",children=on" : "", options);
}

/* An abstract socket: it has no file that would be left behind, and a name that the kernel chooses. Returns that
 * without the byte 0 that it begins with, or NULL with err. */
static char *listen_for_traces(struct gus_emulation *e, struct gus_error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(address);

	e->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (e->listener >= 0 &&
	    bind(e->listener, (const struct sockaddr *)&address, sizeof(address.sun_family)) == 0 &&
	    listen(e->listener, SOMAXCONN) == 0 &&
	    getsockname(e->listener, (struct sockaddr *)&address, &size) == 0)
		return gus_strndup(address.sun_path + 1, size - offsetof(struct sockaddr_un, sun_path) - 1);
	gus_fail_errno(err, errno, "cannot create a socket for the traces of what the command executes");
	return NULL;
}

/* All on this machine know the name, and strangers may connect without an end. No more of them wait than the queue has
 * room for, so one of ours that stood in it at the beginning is found among so many. */
int gus_emulation_next(const struct gus_emulation *e)
{
	for (int i = 0; e->listener >= 0 && i <= SOMAXCONN; i++) {
		int fd = accept4(e->listener, NULL, NULL, SOCK_CLOEXEC);
		struct ucred peer;
		socklen_t size = sizeof(peer);

		if (fd < 0)
			break;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid())
			return fd;
		close(fd);
	}
	return -1;
}

static int launch(struct gus_emulation *e, char **words, int ends[2], struct gus_error *err)
{
	e->pid = gus_helper_fork();
	if (e->pid < 0)
		return gus_fail_errno(err, errno, "cannot create a process for '%s'", words[0]);
	if (e->pid == 0) {
		int null = e->silent ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;

		close(ends[0]);
		if (null >= 0 && !e->reads)
			dup2(null, 0);
		if (null >= 0)
			dup2(null, 1);
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

static void close_listener(struct gus_emulation *e)
{
	if (e->listener >= 0)
		close(e->listener);
	e->listener = -1;
}

int gus_emulation_start(struct gus_emulation *e, char *const *argv, const char *emulator, const char *options,
			struct gus_error *err)
{
	struct gus_executed p;
	char *qemu = NULL, *plugin = NULL, *listener = NULL, **words = NULL;
	int ends[2] = { -1, -1 }, rc = -1;

	e->pid = e->trace = e->listener = -1;
	e->target = resolve(&p, argv, err);
	qemu = e->target ? find_emulator(emulator, e->target, err) : NULL;
	plugin = qemu ? find_plugin(err) : NULL;
	if (plugin && e->follows)
		listener = listen_for_traces(e, err);
	if (plugin && (listener || !e->follows) && pipe(ends) != 0)
		gus_fail_errno(err, errno, "cannot create a pipe to '%s'", argv[0]);
	if (ends[0] >= 0) {
		char *word = own_word(), *whole = plugin_word(e, plugin, ends[1], listener, options);

		fcntl(ends[0], F_SETFD, FD_CLOEXEC);
		fcntl(ends[1], F_SETPIPE_SZ, 1 << 20); /* fewer switches; what it is if that is refused will do */
		words = command_line(&p, qemu, whole, word);
		gus_sweeper_start(&e->sweeper, word);
		rc = launch(e, words, ends, err);
		close(ends[1]);
		if (rc != 0) {
			close(ends[0]);
			gus_sweeper_end(&e->sweeper);
		}
		free(word);
		free(whole);
		e->trace = rc == 0 ? ends[0] : -1;
	}
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
	gus_executed_free(&p);
	free(qemu);
	free(plugin);
	free(listener);
	if (rc != 0)
		close_listener(e);
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
	close_listener(e);
	gus_sweeper_end(&e->sweeper);
}
