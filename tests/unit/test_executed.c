/* SPDX-License-Identifier: MIT */
/* What is executed in the end: first lines of scripts, held against what the kernel makes of the same file, and what an
 * emulator can or cannot be in its place. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracing/program/program.h"

#if defined(__aarch64__)
#define OURS EM_AARCH64
#define OTHERS EM_X86_64
#else
#define OURS EM_X86_64
#define OTHERS EM_AARCH64
#endif

static char folder[] = "/tmp/gus-executed-XXXXXX";

static void write_file(const char *name, const void *bytes, size_t n, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0700);

	assert_true(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && fchmod(fd, mode) == 0);
	close(fd);
}

/* What the interpreter of ./script prints: its words, each in brackets; "" if the kernel refuses. */
static void ask_kernel(char *out, size_t size)
{
	char *const argv[] = { (char *)"zero", (char *)"first", (char *)"second", NULL };
	size_t n = 0;
	int ends[2];
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], 1);
		close(2);
		execve("./script", argv, (char *const[]){ NULL });
		_exit(127);
	}
	close(ends[1]);
	while (n + 1 < size && (got = read(ends[0], out + n, size - 1 - n)) > 0)
		n += (size_t)got;
	out[n] = '\0';
	close(ends[0]);
	waitpid(pid, NULL, 0);
}

/* The same of ours: the words that the interpreter would have, each in brackets. */
static void ask_us(char *out, size_t size)
{
	struct gus_executed p = { .path = strdup("./script") };
	size_t n = 0;

	gus_words_add(&p.argv, strdup("zero"));
	gus_words_add(&p.argv, strdup("first"));
	gus_words_add(&p.argv, strdup("second"));
	*out = '\0';
	if (!gus_executed_interpret(&p))
		for (size_t i = 0; i + 1 < p.argv.n && n < size; i++)
			n += (size_t)snprintf(out + n, size - n, "[%s]", p.argv.v[i]);
	gus_executed_free(&p);
}

/* The interpreter is /proc/self/exe's twin: this program, as main sees by its name. */
static void test_scripts(void **state)
{
	static const char *const lines[] = {
		"#!./say\n", "#! ./say\n", "#!\t ./say \t\n", "#!./say one\n", "#!./say  one  two \t\n", "#!./say",
		"#!./say one", "#!./say\t-x\n#!./say\n", "#!\n", "#! \t\n", "#!", "#!./none\n", "#!./say \n", "#", "",
		"text\n", "#!./say\r\n",
	};
	char kernel[4096], ours[4096], text[4096];

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		write_file("script", lines[i], strlen(lines[i]), 0755);
		ask_kernel(kernel, sizeof(kernel));
		ask_us(ours, sizeof(ours));
		if (strncmp(ours, "[./script]", 10) == 0 || strcmp(ours, "[zero][first][second]") == 0)
			*ours = '\0'; /* no script: its words are its own, and the kernel executes no text */
		if (strcmp(kernel, ours) != 0)
			fail_msg("line %zu '%s': the kernel has '%s', we have '%s'", i, lines[i], kernel, ours);
	}
	for (size_t n = 230; n < 270; n++) { /* the kernel's buffer has 256 bytes */
		for (int argument = 0; argument < 2; argument++) {
			int length = snprintf(text, sizeof(text), argument ? "#!./say %0*d\n" : "#!./%0*dsay\n",
					      (int)n - 9, 7);

			write_file("script", text, (size_t)length, 0755);
			ask_kernel(kernel, sizeof(kernel));
			ask_us(ours, sizeof(ours));
			if (argument && strcmp(kernel, ours) != 0)
				fail_msg("%zu bytes: the kernel has '%s', we have '%s'", n, kernel, ours);
			if (!argument) /* there is no such interpreter */
				assert_true(!*kernel && !*ours);
		}
	}
}

/* As many as the kernel follows, and one more. */
static void test_depth(void **state)
{
	char kernel[4096], ours[4096], name[32], line[64];

	(void)state;
	for (int depth = 1; depth <= 8; depth++) {
		for (int i = 0; i < depth; i++) {
			snprintf(name, sizeof(name), i ? "script%d" : "script", i);
			snprintf(line, sizeof(line), i + 1 < depth ? "#!./script%d\n" : "#!./say\n", i + 1);
			write_file(name, line, strlen(line), 0755);
		}
		ask_kernel(kernel, sizeof(kernel));
		ask_us(ours, sizeof(ours));
		if (strcmp(kernel, ours) != 0)
			fail_msg("%d scripts: the kernel has '%s', we have '%s'", depth, kernel, ours);
	}
}

static const char *judge(const char *path, unsigned machine)
{
	struct gus_executed p = { .path = strdup(path) };
	const char *why = gus_executed_resolve(&p, machine);

	gus_executed_free(&p);
	return why ? why : "";
}

static void test_programs(void **state)
{
	uint8_t head[64] = ELFMAG;
	FILE *f = fopen("say", "rb");

	(void)state;
	assert_true(f && fread(head, 1, sizeof(head), f) == sizeof(head));
	fclose(f);
	assert_string_equal(judge("./say", OURS), "");
	assert_string_equal(judge("./say", OTHERS), "is of another machine");
	assert_string_equal(judge("./say", EM_NONE), "is of another machine");
	assert_string_equal(judge("./none", OURS), "does not exist");
	assert_string_equal(judge(".", OURS), "may not be executed");
	write_file("program", head, sizeof(head) - 1, 0755);
	assert_string_equal(judge("./program", OURS), "is neither a program nor a script");
	write_file("program", head, sizeof(head), 0644);
	assert_string_equal(judge("./program", OURS), "may not be executed");
	write_file("program", head, sizeof(head), 0755);
	assert_string_equal(judge("./program", OURS), "");
	head[EI_CLASS] = ELFCLASS32;
	write_file("program", head, sizeof(head), 0755);
	assert_string_equal(judge("./program", OURS), "is of another machine");
	head[EI_CLASS] = ELFCLASS64;
	head[EI_DATA] = ELFDATA2MSB;
	write_file("program", head, sizeof(head), 0755);
	assert_string_equal(judge("./program", OURS), "is of another machine");
	head[EI_DATA] = ELFDATA2LSB;
	write_file("program", head, sizeof(head), 04755);
	assert_string_equal(judge("./program", OURS), ""); /* ours already */
	if (geteuid() != 0)
		return;
	assert_int_equal(chown("program", 1, 1), 0);
	assert_int_equal(chmod("program", 04755), 0);
	assert_string_equal(judge("./program", OURS), "has other rights than the program before it");
	assert_int_equal(chmod("program", 02755), 0);
	assert_string_equal(judge("./program", OURS), "has other rights than the program before it");
	assert_int_equal(chmod("program", 02745), 0); /* that is mandatory locking, and no right */
	assert_string_equal(judge("./program", OURS), "");
	write_file("script", "#!./say\n", 8, 0755);
	assert_int_equal(chown("script", 1, 1), 0);
	assert_int_equal(chmod("script", 04755), 0);
	assert_string_equal(judge("./script", OURS), ""); /* the kernel gives scripts nothing */
}

static int begin(void **state)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	if (n <= 0 || !mkdtemp(folder) || chdir(folder) != 0)
		return -1;
	self[n] = '\0';
	return symlink(self, "say");
}

static int end(void **state)
{
	(void)state;
	return chdir("/") != 0 || execlp("rm", "rm", "-rf", folder, NULL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scripts), cmocka_unit_test(test_depth), cmocka_unit_test(test_programs),
	};
	const char *name = strrchr(argv[0], '/');
	int failed;

	if (name && strcmp(name, "/say") == 0) { /* an interpreter */
		for (int i = 0; i < argc; i++)
			printf("[%s]", argv[i]);
		return 0;
	}
	failed = cmocka_run_group_tests(tests, begin, NULL);
	if (fork() == 0)
		end(NULL);
	wait(NULL);
	return failed;
}
