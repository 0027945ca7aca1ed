/* SPDX-License-Identifier: MIT */
/* The native replica of a snapshot that somebody made to be hard to end, and what such a replica has of ours. */
#include <libgen.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/made_snapshot.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <pthread.h>
#include <sys/user.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/helper.h"
#include "tracing/replay/replay.h"

#define CODE 0x10000000ull
#define ROOM 0x20000000ull      /* for what the code reads: 256 MiB of zeros */
#define ROOM_PAGES 65536
#define DESCRIPTORS 32

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* About to execute that; its stack is in the room. Its state is of this CPU's size. */
static struct gus_snapshot at(const char *code, size_t length, uint64_t rcx)
{
	const struct user_regs_struct registers = { .rip = CODE, .rsi = ROOM, .rdi = ROOM, .rcx = rcx, .cs = 0x33,
		.ss = 0x2b, .eflags = 0x202, .rsp = ROOM + 4096, .rax = 42 };
	struct gus_snapshot s = made_snapshot(7);
	unsigned eax, size, ecx, edx;

	if (__get_cpuid_count(0xd, 0, &eax, &size, &ecx, &edx)) {
		free(s.about->state.data);
		s.about->state.data = gus_zalloc(s.about->state.len = size);
	}
	memcpy(s.about->registers.data, &registers, sizeof(registers));
	made_snapshot_map(&s, CODE, 1, "");
	s.about->mappings[0]->protection = PROT_READ | PROT_EXEC;
	made_snapshot_map(&s, ROOM, ROOM_PAGES, "");
	made_snapshot_run(&s, CODE, 1);
	memcpy(s.bytes, code, length);
	return s;
}

/* `rep lodsb`, with more turns to go than anybody has time for. */
static struct gus_snapshot endless(void)
{
	return at("\xf3\xac", 2, UINT64_MAX);
}

/* What the only child of the thread that replays has open, looked at while it runs. */
struct seen {
	pid_t replayer;
	char names[DESCRIPTORS][64];
};

/* The loader, once it is that: before, it is a copy of us. 0: there is none that we may look at. */
static int loader_of(pid_t replayer)
{
	char path[64], exe[PATH_MAX];

	for (int i = 0; i < 1000; i++) {
		int child = 0;
		ssize_t n;
		FILE *f;

		usleep(1000);
		snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)replayer);
		f = fopen(path, "re");
		if (!f)
			return 0;
		if (fscanf(f, "%d", &child) != 1)
			child = 0;
		fclose(f);
		snprintf(path, sizeof(path), "/proc/%d/exe", child);
		n = child ? readlink(path, exe, sizeof(exe) - 1) : 0;
		exe[n > 0 ? n : 0] = '\0';
		if (strstr(exe, "gusprof-replay"))
			return child;
	}
	return 0;
}

static void *look(void *context)
{
	struct seen *seen = context;
	int child = loader_of(seen->replayer);
	char path[64];

	for (int i = 0; child && i < DESCRIPTORS; i++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", child, i);
		if (readlink(path, seen->names[i], sizeof(*seen->names) - 1) < 0)
			*seen->names[i] = '\0';
	}
	return NULL;
}

/* In the build tree, in which this test lies two folders deep. */
static char *find_loader(void)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(n > 0);
	self[n] = '\0';
	return gus_format("%s/../../tracing/replay/gusprof-replay", dirname(self));
}

/* Of the whole replay; *seconds is what it took. */
static struct gus_replayed replay_of(struct gus_snapshot s, uint64_t window, double *seconds)
{
	struct gus_replay_wish wish = { .window = window, .seconds = 20 };
	struct gus_replayed done = { 0 };
	struct gus_error err = { 0 };
	int out = gus_scratch_open("trace", &err), rc;

	assert_true(out >= 0);
	wish.tools.loader = find_loader();
	*seconds = now();
	rc = gus_replay_by_steps(&s, &wish, out, &done, &err);
	*seconds = now() - *seconds;
	assert_string_equal(err.text, "");
	assert_int_equal(rc, 0);
	free(wish.tools.loader);
	gus_snapshot_free(&s);
	close(out);
	return done;
}

/* Its turns are as many as there may be steps: it is one instruction, as far as it came. */
static void an_instruction_without_end_is_ended(void **state)
{
	struct gus_replayed done;
	double seconds;

	(void)state;
	done = replay_of(endless(), 1000, &seconds);
	assert_string_equal(done.ended_by, "window");
	assert_int_equal(done.instructions, 1);
	assert_int_equal(done.accesses, 1);
	assert_true(seconds < 10);
}

#define CODE_OF(bytes) bytes, sizeof(bytes) - 1

/* How windows end, and what is in them: instructions, accesses. */
static void windows_end_as_the_code_does(void **state)
{
	static const struct { const char *what, *code; size_t length; const char *ended_by; uint64_t number, at;
		uint64_t instructions, accesses; } cases[] = {
		{ "nop; syscall", CODE_OF("\x90\x0f\x05"), "syscall", 42, 0, 2, 0 },
		{ "int3", CODE_OF("\xcc"), "syscall", 42, 0, 1, 0 },
		{ "nop; ud2", CODE_OF("\x90\x0f\x0b"), "signal", 4, CODE + 1, 1, 0 },
		{ "mov 0, %rax", CODE_OF("\x48\x8b\x04\x25\0\0\0\0"), "signal", 11, CODE, 0, 0 },
		{ "div %edx", CODE_OF("\x31\xd2\xf7\xf2"), "signal", 8, CODE + 2, 1, 0 },
		/* It would end the stepping. */
		{ "pushf; popf; nop; syscall", CODE_OF("\x9c\x9d\x90\x0f\x05"), "syscall", 42, 0, 4, 2 },
		/* 100 turns are one instruction, with one access upwards. */
		{ "rep stosb; syscall", CODE_OF("\xf3\xaa\x0f\x05"), "syscall", 42, 0, 2, 1 },
		/* The last bytes of the page that it is in: what is behind is not there to be copied. */
		{ "jmp to the end of the page", CODE_OF("\xe9\xf9\x0f\0\0"), "signal", 11, CODE + 4096, 3, 0 },
		{ "jmp .", CODE_OF("\xeb\xfe"), "window", 0, 0, 1000, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_snapshot s = at(cases[i].code, cases[i].length, 100);
		struct gus_replayed done;
		double seconds;

		memset(s.bytes + 4094, 0x90, 2);
		print_message("%s\n", cases[i].what);
		done = replay_of(s, 1000, &seconds);
		assert_string_equal(done.ended_by, cases[i].ended_by);
		assert_int_equal(done.ended_number, cases[i].number);
		if (cases[i].at)
			assert_int_equal(done.ended_at, cases[i].at);
		assert_int_equal(done.instructions, cases[i].instructions);
		assert_int_equal(done.accesses, cases[i].accesses);
	}
}

/* Neither the terminal nor what we read from; only where it says why it cannot begin, its image,
 * and where it tells of its steps. */
static void a_replica_has_nothing_of_ours_open(void **state)
{
	struct seen seen = { .replayer = gettid() };
	pthread_t watcher;
	double seconds;
	int images = 0;

	(void)state;
	assert_int_equal(pthread_create(&watcher, NULL, look, &seen), 0);
	replay_of(endless(), 400000, &seconds);
	assert_int_equal(pthread_join(watcher, NULL), 0);
	if (!*seen.names[0] && !*seen.names[2])
		skip(); /* no list of children, or not for us to look at */
	assert_string_equal(seen.names[0], "/dev/null");
	assert_string_equal(seen.names[1], "/dev/null");
	for (int i = 3; i < DESCRIPTORS; i++) {
		if (strcmp(seen.names[i], "/memfd:gusprof-replay (deleted)") == 0 ||
		    strcmp(seen.names[i], "/memfd:gusprof-steps (deleted)") == 0)
			images++;
		else
			assert_string_equal(seen.names[i], "");
	}
	assert_int_equal(images, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_instruction_without_end_is_ended),
		cmocka_unit_test(windows_end_as_the_code_does),
		cmocka_unit_test(a_replica_has_nothing_of_ours_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	puts("snapshots are replayed on x86-64 only");
	return 77;
}

#endif
