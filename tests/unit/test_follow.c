/* SPDX-License-Identifier: MIT */
/* tracing/plugin/follow without an emulator: what is executed in place of a program. This program is emulator and
 * program at once: it executes itself with an emulator's command line, prepares what follows out of its own memory,
 * executes that, and what is then executed says with which words, variables and ignored signals. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracing/plugin/follow.h"

#if defined(__aarch64__)
#define OURS GUS_TRANSLATED_ARM64
#define OTHERS GUS_TRANSLATED_X86_64
#else
#define OURS GUS_TRANSLATED_X86_64
#define OTHERS GUS_TRANSLATED_ARM64
#endif

extern char **environ;
static char folder[] = "/tmp/gus-follow-XXXXXX", self[4096];

static uint64_t at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* Each word in brackets. */
static void say(char *out, size_t size, char *const *words)
{
	size_t n = strlen(out);

	for (; *words && n < size; words++)
		n += (size_t)snprintf(out + n, size - n, "[%s]", *words);
}

/* As the emulator: 'argv[0] -L / -0 old -E LD_OLD=1 -plugin ... program'. Which program is called how, `how` says. */
static int emulate(const char *how)
{
	char *argv[] = { (char *)"zero", (char *)"one", (char *)"", (char *)"-three", NULL };
	char *envp[] = { (char *)"A=1", (char *)"LDA=1", (char *)"LD_PRELOAD=/x", (char *)"LD_COMMA=a,b",
			 (char *)"B=", NULL };
	struct gus_follow_call call = { AT_FDCWD, 0, at("./program"), at(argv), at(envp) };
	struct gus_follow f;
	const char *why;
	enum gus_translated_isa isa = OURS;
	char text[700] = "";

	if (strcmp(how, "beside") == 0) {
		call.folder = open(".", O_PATH | O_DIRECTORY);
		call.path = at("program");
	} else if (strcmp(how, "descriptor") == 0) {
		call.folder = open("program", O_PATH);
		call.flags = AT_EMPTY_PATH;
		call.path = at("");
	} else if (strcmp(how, "self") == 0) {
		call.path = at("/proc/self/exe");
	} else if (strcmp(how, "number") == 0) {
		snprintf(text, sizeof(text), "/proc/%d/exe", (int)getpid());
		call.path = at(text);
	} else if (strcmp(how, "long") == 0) {
		memset(text, 'l', sizeof(text) - 1);
		argv[1] = text;
	} else if (strcmp(how, "bare") == 0) {
		call.argv = call.envp = 0;
	} else if (strcmp(how, "option") == 0) {
		call.path = at("-program");
	} else if (strcmp(how, "none") == 0) {
		call.path = at("");
	} else if (strcmp(how, "deleted") == 0) {
		call.folder = open("deleted", O_PATH);
		call.flags = AT_EMPTY_PATH;
		call.path = at("");
		unlink("deleted");
	} else if (strcmp(how, "wild") == 0) {
		call.argv = 8;
	} else if (strcmp(how, "other") == 0) {
		isa = OTHERS;
	} else if (strcmp(how, "x86_32") == 0) {
		isa = GUS_TRANSLATED_X86_32;
	}
	why = gus_follow_prepare(&f, &call, 0, "./program", isa, 7);
	if (why) {
		printf("no: %s", why);
	} else {
		fflush(stdout);
		gus_follow_execute(&f, UINT64_C(1) << (SIGUSR1 - 1) | UINT64_C(1) << (64 - 1));
		printf("execve: %s", strerror(errno));
	}
	gus_follow_free(&f);
	return 0;
}

/* What the emulator is executed with the second time. */
static int tell(char **argv)
{
	char text[4096] = "";
	uint64_t ignored = gus_follow_ignored();

	say(text, sizeof(text), argv);
	strcat(text, " ");
	say(text, sizeof(text), environ);
	printf("%s %d %d %d", text, (int)(ignored >> (SIGUSR1 - 1) & 1), (int)(ignored >> 63), (int)(ignored & 1));
	return 0;
}

/* What comes of it, where the emulator's own command line is that of words. */
static const char *outcome(const char *how, const char *const *words)
{
	static char out[4096];
	size_t n = 0;
	int ends[2];
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], 1);
		signal(SIGHUP, SIG_DFL); /* under nohup it is ignored */
		setenv("FOLLOW", how, 1);
		execv("/proc/self/exe", (char *const *)(uintptr_t)words);
		_exit(127);
	}
	close(ends[1]);
	while (n + 1 < sizeof(out) && (got = read(ends[0], out + n, sizeof(out) - 1 - n)) > 0)
		n += (size_t)got;
	out[n] = '\0';
	close(ends[0]);
	waitpid(pid, NULL, 0);
	return out;
}

static const char *const emulator[] = { "emulator", "-L", "/", "-0", "old", "-E", "LD_OLD=1", "-plugin",
					"/a/plugin.so,start=1,fd=3,length=5", "./old", "-x", NULL };
#define OPTIONS "[emulator][-L][/][-0][%s]%s[-plugin][/a/plugin.so,start=1,fd=7,length=5]"

static void comes_out(const char *how, const char *zero, const char *loader, const char *rest)
{
	const char *out = outcome(how, emulator);
	char expected[3072], head[512];

	snprintf(head, sizeof(head), OPTIONS, zero, loader);
	snprintf(expected, sizeof(expected), "%s%s 1 1 0", head, rest);
	assert_string_equal(out, expected);
}

static void the_emulator_is_executed_again(void **state)
{
	static const char loader[] = "[-E][LD_PRELOAD=/x]", rest[] = "[one][][-three] [A=1][LDA=1][LD_COMMA=a,b][B=]";
	char words[2048], text[700] = "";

	(void)state;
	snprintf(words, sizeof(words), "[./program]%s", rest);
	comes_out("plain", "zero", loader, words);
	comes_out("self", "zero", loader, words); /* of the program, not of the emulator */
	snprintf(words, sizeof(words), "[%s/program]%s", folder, rest);
	comes_out("beside", "zero", loader, words);
	comes_out("descriptor", "zero", loader, words);
	snprintf(words, sizeof(words), "[./-program]%s", rest);
	comes_out("option", "zero", loader, words);
	snprintf(words, sizeof(words), "[./program]%s", rest);
	comes_out("number", "zero", loader, words);
	memset(text, 'l', sizeof(text) - 1);
	snprintf(words, sizeof(words), "[./program][%s]%s", text, strchr(rest, ']') + 1);
	comes_out("long", "zero", loader, words);
	comes_out("bare", "", "", "[./program] "); /* the kernel makes empty lists of none */
}

static void what_cannot_be_is_said(void **state)
{
	static const struct { const char *how, *why; } cases[] = {
		{ "none", "no: has no name" }, { "deleted", "no: has no name" }, { "wild", "no: " },
		{ "other", "no: is of another machine" }, { "x86_32", "no: is of another machine" },
	};
	static const char *const foreign[] = { "emulator", "-L", "/", "./old", NULL };
	static const char *const cut[] = { "emulator", "-plugin", NULL };
	static const char *const no_fd[] = { "emulator", "-plugin", "/a/plugin.so", "./old", NULL };
	static const char *const last_fd[] = { "emulator", "-plugin", "/a/plugin.so,fd=12", "./old", NULL };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(outcome(cases[i].how, emulator), cases[i].why);
	assert_non_null(strstr(outcome("plain", foreign), "was not started by gusprof"));
	assert_non_null(strstr(outcome("plain", cut), "was not started by gusprof"));
	assert_non_null(strstr(outcome("plain", no_fd), "was not started by gusprof"));
	assert_non_null(strstr(outcome("plain", last_fd), "[-plugin][/a/plugin.so,fd=7][./program]"));
}

/* A text may end where memory ends, and one without an end is none. */
static void text_is_read_to_its_end(void **state)
{
	long page = sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, (size_t)(2 * page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char text[8];

	(void)state;
	assert_true(memory != MAP_FAILED && munmap(memory + page, (size_t)page) == 0);
	memset(memory, 'a', (size_t)page);
	memcpy(memory + page - 4, "end", 4);
	assert_true(gus_follow_read_text(0, at(memory + page - 4), text, sizeof(text)));
	assert_string_equal(text, "end");
	assert_true(gus_follow_read_text(page, at(memory - 4), text, sizeof(text))); /* as far off as it is said */
	assert_true(gus_follow_read_text(0, at(memory + page - 8), text, sizeof(text)));
	assert_false(gus_follow_read_text(0, at(memory + page - 9), text, sizeof(text)));
	assert_false(gus_follow_read_text(0, at(memory + page), text, sizeof(text)));
	memory[page - 1] = 'a';
	assert_false(gus_follow_read_text(0, at(memory + page - 4), text, sizeof(text)));
	munmap(memory, (size_t)page);
}

static void ignored_signals_are_followed(void **state)
{
	const uint64_t ignore[4] = { 1 }, handle[4] = { 0x1000 }, standard[4] = { 0 };

	(void)state;
	assert_int_equal(gus_follow_heed(0, 1, at(ignore), 0), 1);
	assert_int_equal(gus_follow_heed(0, 64, at(ignore), 0), UINT64_C(1) << 63);
	assert_int_equal(gus_follow_heed(4, 2, at(ignore), 0), 6);
	assert_int_equal(gus_follow_heed(6, 2, at(handle), 0), 4);
	assert_int_equal(gus_follow_heed(6, 3, at(standard), 0), 2);
	assert_int_equal(gus_follow_heed(6, 2, 0, 0), 6);  /* only asked for */
	assert_int_equal(gus_follow_heed(6, 2, 8, 0), 6);  /* the kernel will refuse it */
	assert_int_equal(gus_follow_heed(6, 0, at(ignore), 0), 6);
	assert_int_equal(gus_follow_heed(6, 65, at(ignore), 0), 6);
	assert_int_equal(gus_follow_heed(0, 5, at(ignore) - 4096, 4096), 16);
	signal(SIGUSR2, SIG_IGN);
	assert_int_equal(gus_follow_ignored() >> (SIGUSR2 - 1) & 1, 1);
	signal(SIGUSR2, SIG_DFL);
	assert_int_equal(gus_follow_ignored() >> (SIGUSR2 - 1) & 1, 0);
}

static void a_listener_is_found_by_its_name(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char name[sizeof(address.sun_path) + 1];
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fd, other;

	(void)state;
	memset(name, 'n', sizeof(name));
	snprintf(name, 32, "gusprof-test-%d", (int)getpid());
	name[strlen(name)] = '-';
	name[sizeof(address.sun_path) - 1] = '\0'; /* as long as it gets */
	memcpy(address.sun_path + 1, name, sizeof(address.sun_path) - 1);
	assert_int_equal(gus_follow_connect(name), -1);
	assert_int_equal(errno, ECONNREFUSED);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	fd = gus_follow_connect(name);
	assert_true(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
	other = accept(listener, NULL, NULL);
	assert_true(other >= 0);
	close(fd);
	close(other);
	close(listener);
	name[sizeof(address.sun_path) - 1] = 'n';
	name[sizeof(address.sun_path)] = '\0';
	assert_int_equal(gus_follow_connect(name), -1);
	assert_int_equal(errno, ENAMETOOLONG);
}

static int begin(void **state)
{
	static const char *const names[] = { "program", "-program", "deleted" };
	char command[8192];

	(void)state;
	if (!mkdtemp(folder) || chdir(folder) != 0)
		return -1;
	for (size_t i = 0; i < 3; i++) {
		snprintf(command, sizeof(command), "cp '%s' ./%s", self, names[i]);
		if (system(command) != 0)
			return -1;
	}
	return 0;
}

static int end(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return chdir("/") == 0 ? system(command) : -1;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_emulator_is_executed_again), cmocka_unit_test(what_cannot_be_is_said),
		cmocka_unit_test(text_is_read_to_its_end), cmocka_unit_test(ignored_signals_are_followed),
		cmocka_unit_test(a_listener_is_found_by_its_name),
	};
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (argc > 0 && strcmp(argv[0], "emulator") == 0)
		return getenv("FOLLOW") ? emulate(getenv("FOLLOW")) : tell(argv);
	return n > 0 ? cmocka_run_group_tests(tests, begin, end) : 1;
}
