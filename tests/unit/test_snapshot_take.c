/* SPDX-License-Identifier: MIT */
/* collector/snapshot: what is copied is what was there, the target goes on, and targets that cannot be copied are
 * refused with a reason and left as they were. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collector/host/procfs.h"
#include "collector/snapshot/late.h"
#include "collector/snapshot/snapshot.h"
#include "proto/snapshot.h"

#if defined(__has_feature)
#define HAS_ASAN __has_feature(address_sanitizer)
#else
#define HAS_ASAN 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_ASAN
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#define PATTERN (1u << 20)
#define NOBODY 65534
#define PATIENCE_MS 300

/* Between the target and this program. */
static struct shared { volatile uint64_t turns; volatile int ready; } *shared;
static uint8_t *pattern;        /* private memory, at the same address in both */

static void __attribute__((noreturn)) spin(void)
{
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_RELAXED); /* several threads come here at once */
	for (;;)
		shared->turns++;
}

static void fill(void)
{
	for (unsigned i = 0; i < PATTERN; i++)
		pattern[i] = (uint8_t)(i * 2654435761u >> 11);
}

static void spinning(void)
{
	fill();
	spin();
}

static void sleeping(void)
{
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_RELAXED); /* several threads come here at once */
	for (;;)
		pause();
}

static void *spin_thread(void *context)
{
	(void)context;
	spin();
}

static void spinning_threads(void)
{
	pthread_t t;

	fill();
	for (int i = 0; i < 2; i++)
		pthread_create(&t, NULL, spin_thread, NULL);
	spin();
}

/* Threads without end, each of which ends at once. */
static void *end_thread(void *context)
{
	return context;
}

static void breeding(void)
{
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_RELAXED); /* several threads come here at once */
	for (;;) {
		pthread_t t;

		if (pthread_create(&t, NULL, end_thread, NULL) == 0)
			pthread_join(t, NULL);
	}
}

static void traced(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	spinning();
}

static pid_t begin(void (*what)(void), int ready)
{
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* some never end by themselves */
		prctl(PR_SET_PTRACER, getppid(), 0, 0, 0); /* Yama: who holds it is a child of its parent */
		what();
		_exit(1);
	}
	while (shared->ready < ready && waitpid(pid, NULL, WNOHANG) == 0)
		usleep(200);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int take(pid_t pid, struct gus_snapshot *s, struct gus_error *err)
{
	struct gus_snapshot_wish w = { .pid = pid, .tid = pid, .patience_ms = PATIENCE_MS };

	memset(err, 0, sizeof(*err));
	return gus_snapshot_take(&w, s, err);
}

static char state_of(pid_t pid)
{
	struct gus_task t;

	return gus_task_read(pid, &t) ? t.state : '\0';
}

static void assert_goes_on(void)
{
	uint64_t before = shared->turns;

	for (int i = 0; i < 1000 && shared->turns == before; i++)
		usleep(1000);
	assert_true(shared->turns != before);
}

/* The memory at an address, up to the end of its run; NULL if no run has it. */
static const uint8_t *memory_at(const struct gus_snapshot *s, uint64_t address, size_t *size)
{
	*size = 0;
	for (size_t i = 0; i < s->runs.n; i++) {
		const struct gus_snapshot_run *run = &s->runs.v[i];

		*size = run->address + run->size - address;
		if (address >= run->address && address < run->address + run->size)
			return s->bytes + run->at + (address - run->address);
	}
	return NULL;
}

/* The pattern, piece by piece, as runs have it. */
static void assert_pattern(const struct gus_snapshot *s)
{
	for (size_t done = 0, left; done < PATTERN; done += left) {
		const uint8_t *at = memory_at(s, (uintptr_t)pattern + done, &left);

		assert_non_null(at);
		left = left < PATTERN - done ? left : PATTERN - done;
		for (size_t i = 0; i < left; i++)
			if (at[i] != (uint8_t)((uint32_t)(done + i) * 2654435761u >> 11))
				fail_msg("byte %zu is another one", done + i);
	}
}

/* Among the registers of a snapshot. */
#if defined(__aarch64__)
#define PC_AT 32
#else
#define PC_AT 16
#endif

static void copied_is_what_was_there(void **state)
{
	pid_t pid = begin(spinning, 1);
	struct gus_snapshot a, b;
	struct gus_error err = { 0 };
	struct gus_snapshot_wish w = { .pid = pid, .tid = pid, .pagemap_only = true };
	uint64_t pc;

	(void)state;
	if (take(pid, &a, &err) != 0)
		fail_msg("%s", err.text);
	assert_pattern(&a);
	memcpy(&pc, a.about->registers.data + 8 * PC_AT, sizeof(pc));
	assert_in_range(pc, (uintptr_t)spin, (uintptr_t)spin + 256);
	assert_true(a.about->pause_ns > 0);
	assert_int_equal(a.about->threads, 1);
	assert_goes_on();
	/* The older way to ask which pages there are. Some that only show zeros may come with it. A sanitizer's shadow
	 * is too large for it. */
	if (gus_snapshot_take(&w, &b, &err) == 0) {
		assert_pattern(&b);
		assert_true(b.about->bytes >= a.about->bytes);
		gus_snapshot_free(&b);
	} else if (!SANITIZED || err.code != GUS_E_FULL) {
		fail_msg("%s", err.text);
	}
	assert_goes_on();
	gus_snapshot_free(&a);
	end(pid);
}

static void reserving(void)
{
	if (mmap(NULL, 256ull << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) ==
	    MAP_FAILED)
		_exit(1);
	spinning();
}

/* 256 GiB of addresses, nearly all of them empty. To look at each page would take seconds, while the process stands
 * still. */
/* With little to be copied in the pause, the rest comes behind it, and all of it is what was there. */
static void large_memory_is_copied_late(void **state)
{
	pid_t pid = begin(spinning, 1);
	struct gus_snapshot_wish w = { .pid = pid, .tid = pid, .patience_ms = PATIENCE_MS, .pause_bytes = 65536,
		.max_bytes = GUS_SNAPSHOT_BYTES_MAX };
	struct gus_error err = { 0 };
	struct gus_snapshot s;

	(void)state;
	if (gus_snapshot_take(&w, &s, &err) != 0)
		fail_msg("%s", err.text);
	assert_pattern(&s);
	assert_true(s.about->late >= PATTERN);
	assert_true(s.about->bytes > s.about->late);
	assert_true(s.about->resident >= PATTERN);
	assert_goes_on();
	gus_snapshot_free(&s);
	end(pid);
}

/* The same, by who takes it page by page. */
static struct taken { uint8_t bytes[PATTERN]; uint64_t all, ours; } *taken;

static int take_pages(void *context, uint64_t address, const uint8_t *bytes, uint64_t size, struct gus_error *err)
{
	const uint64_t first = (uintptr_t)pattern, last = first + PATTERN;
	uint64_t from = address > first ? address : first, to = address + size < last ? address + size : last;

	(void)context;
	(void)err;
	taken->all += size;
	if (from >= to)
		return 0;
	memcpy(taken->bytes + (from - first), bytes + (from - address), to - from);
	taken->ours += to - from;
	return 0;
}

static int refuse_pages(void *context, uint64_t address, const uint8_t *bytes, uint64_t size, struct gus_error *err)
{
	(void)context, (void)address, (void)bytes, (void)size;
	return gus_fail(err, GUS_E_FULL, "no room");
}

static bool spare_pages(void *context, uint64_t address, uint64_t size, uint64_t *had)
{
	(void)context, (void)address;
	*had = size;
	return true;
}

static void pages_are_handed_over(void **state)
{
	const struct gus_pages_taker taker = { .take = take_pages }, refuser = { .take = refuse_pages },
		sparing = { .take = take_pages, .spare = spare_pages };
	pid_t pid = begin(spinning, 1);
	struct gus_snapshot_wish w = { .pid = pid, .tid = pid, .patience_ms = PATIENCE_MS, .pause_bytes = 65536,
		.max_bytes = GUS_SNAPSHOT_BYTES_MAX, .taker = &taker };
	struct gus_error err = { 0 };
	struct gus_snapshot s;

	(void)state;
	taken = gus_zalloc(sizeof(*taken));
	if (gus_snapshot_take(&w, &s, &err) != 0)
		fail_msg("%s", err.text);
	fill(); /* ours, as the target has filled its own */
	assert_int_equal(taken->ours, PATTERN);
	assert_memory_equal(taken->bytes, pattern, PATTERN);
	assert_int_equal(taken->all, s.about->bytes);
	assert_null(s.bytes);
	gus_snapshot_free(&s);
	taken->all = 0;
	w.taker = &sparing;
	assert_int_equal(gus_snapshot_take(&w, &s, &err), 0);
	assert_int_equal(s.about->late, 0);
	assert_true(s.about->old > 0);
	assert_int_equal(taken->all + s.about->old, s.about->bytes);
	gus_snapshot_free(&s);
	w.taker = &refuser;
	assert_int_equal(gus_snapshot_take(&w, &s, &err), -1);
	assert_string_equal(err.text, "no room");
	assert_goes_on();
	free(taken);
	end(pid);
}

static void reserves_are_large(void **state)
{
	pid_t pid = begin(reserving, 1);
	struct gus_snapshot_wish w = { .pid = pid, .tid = pid, .pagemap_only = true };
	struct gus_error err = { 0 };
	struct gus_snapshot s;

	(void)state;
	if (!shared->ready)
		skip(); /* this system does not let anybody have so much */
	assert_int_equal(gus_snapshot_take(&w, &s, &err), -1);
	assert_int_equal(err.code, GUS_E_FULL);
	assert_non_null(strstr(err.text, "more than 128 GiB of addresses"));
	w.pagemap_only = false;
	if (gus_snapshot_take(&w, &s, &err) == 0)
		gus_snapshot_free(&s);
	else
		assert_int_equal(err.code, GUS_E_FULL); /* by a kernel before 6.7 */
	assert_goes_on();
	end(pid);
}

static void each_thread_has_its_turn(void **state)
{
	pid_t pid = begin(spinning_threads, 3), seen[3] = { 0 };
	struct gus_turns turns = { 0 };
	struct gus_error err = { 0 };
	unsigned n = 0;

	(void)state;
	for (int i = 0; i < 30 && n < 3; i++) {
		struct gus_snapshot_wish w = { .pid = pid };
		struct gus_snapshot s;
		unsigned k = 0;

		if (gus_turns_next(&turns, pid, 1000, &w.tid, &err) != 0 || gus_snapshot_take(&w, &s, &err) != 0)
			fail_msg("%s", err.text);
		assert_int_equal(s.about->tid, w.tid);
		assert_int_equal(s.about->threads, 3);
		assert_pattern(&s);
		gus_snapshot_free(&s);
		while (k < n && seen[k] != w.tid)
			k++;
		if (k == n)
			seen[n++] = w.tid;
	}
	assert_int_equal(n, 3);
	gus_turns_free(&turns);
	end(pid);
}

/* What is refused before, or because nothing happens. */
static void refused(pid_t pid, enum gus_code code, const char *words)
{
	struct gus_snapshot s;
	struct gus_error err;

	assert_int_equal(take(pid, &s, &err), -1);
	if (err.code != code || !strstr(err.text, words))
		fail_msg("code %d: %s; wanted %d and '%s'", (int)err.code, err.text, (int)code, words);
	assert_null(s.about);
}

static void stopped_stays_stopped(void **state)
{
	pid_t pid = begin(spinning, 1);

	(void)state;
	kill(pid, SIGSTOP);
	waitpid(pid, NULL, WUNTRACED);
	refused(pid, GUS_E_UNSUPPORTED, "is stopped");
	assert_int_equal(state_of(pid), 'T');
	kill(pid, SIGCONT);
	assert_goes_on();
	end(pid);
}

static void asleep(void **state)
{
	pid_t pid = begin(sleeping, 1);

	(void)state;
	refused(pid, GUS_E_UNSUPPORTED, "did not compute");
	assert_int_equal(state_of(pid), 'S');
	end(pid);
}

static void zombie(void **state)
{
	pid_t pid = begin(sleeping, 1);

	(void)state;
	kill(pid, SIGKILL);
	while (state_of(pid) != 'Z')
		usleep(200);
	refused(pid, GUS_E_NOT_FOUND, "zombie");
	waitpid(pid, NULL, 0);
	refused(pid, GUS_E_NOT_FOUND, "does not exist");
}

static void already_traced(void **state)
{
	pid_t pid = begin(traced, 1);

	(void)state;
	refused(pid, GUS_E_UNSUPPORTED, "traces it already");
	assert_goes_on();
	end(pid);
}

static void too_much_memory(void **state)
{
	pid_t pid = begin(spinning, 1);
	struct gus_snapshot_wish w = { .pid = pid, .tid = pid, .max_bytes = PATTERN };
	struct gus_snapshot s;
	struct gus_error err = { 0 };
	const char *what;
	unsigned long needed;

	(void)state;
	assert_int_equal(gus_snapshot_take(&w, &s, &err), -1);
	assert_int_equal(err.code, GUS_E_FULL);
	what = strstr(err.text, "--max-memory ");
	assert_non_null(what);
	assert_int_equal(sscanf(what, "--max-memory %luM", &needed), 1);
	w.max_bytes = needed << 20; /* what it says is enough */
	assert_int_equal(gus_snapshot_take(&w, &s, &err), 0);
	gus_snapshot_free(&s);
	w.max_bytes = PATTERN;
	w.by_cost = true; /* of a recording, which has no such option */
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_snapshot_take(&w, &s, &err), -1);
	assert_null(strstr(err.text, "--max-memory"));
	assert_goes_on();
	end(pid);
}

static void another_ones_thread(void **state)
{
	pid_t pid = begin(spinning, 1);
	struct gus_snapshot_wish w = { .pid = getpid(), .tid = pid };
	struct gus_snapshot s;
	struct gus_error err = { 0 };

	(void)state;
	assert_int_equal(gus_snapshot_take(&w, &s, &err), -1);
	assert_int_equal(err.code, GUS_E_USAGE);
	end(pid);
}

/* In a child, which gives its rights away: 0 if that is refused in the right way. */
static int try_as_nobody(pid_t target)
{
	struct gus_error err;
	struct gus_snapshot s;

	if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
		return 2;
	return take(target, &s, &err) == -1 && err.code == GUS_E_PERMISSION ? 0 : 1;
}

static void no_permission(void **state)
{
	pid_t pid, other;
	int status;

	(void)state;
	if (geteuid() != 0)
		skip();
	pid = begin(spinning, 1);
	other = fork();
	if (other == 0)
		_exit(try_as_nobody(pid));
	waitpid(other, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_goes_on();
	end(pid);
}

/* Either a good snapshot or a reason: targets that change while they are stopped. */

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* One that is in the kernel when it is stopped is tried again, as long as there is patience. */
static void breeds_threads(void **state)
{
	pid_t pid = begin(breeding, 1);
	unsigned good = 0;

	(void)state;
	for (int i = 0; i < 20; i++) {
		uint64_t start = now_ms();
		struct gus_snapshot s;
		struct gus_error err;

		if (take(pid, &s, &err) == 0) {
			good++;
			gus_snapshot_free(&s);
		} else {
			assert_int_equal(err.code, GUS_E_UNSUPPORTED);
			assert_true(now_ms() - start >= PATIENCE_MS);
		}
	}
	assert_true(strchr("RSD", state_of(pid)) != NULL);
	print_message("%u of 20 snapshots of a process that is mostly in the kernel\n", good);
	end(pid);
}

static void exits_while_seized(void **state)
{
	unsigned ended = 0;

	(void)state;
	for (int i = 0; i < 60; i++) {
		pid_t pid = fork();
		struct gus_snapshot s;
		struct gus_error err;
		int status;

		if (pid == 0) {
			for (volatile int k = 0; k < 40000 * (i % 20); k++)
				;
			_exit(7);
		}
		if (take(pid, &s, &err) == 0) {
			gus_snapshot_free(&s);
		} else {
			if (err.code != GUS_E_NOT_FOUND && err.code != GUS_E_UNSUPPORTED)
				fail_msg("code %d: %s", (int)err.code, err.text);
			ended++;
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	}
	assert_true(ended > 0);
}

/* A shell that turns into another one, and again, 50 times, and then ends with 5. */
static void execs_while_seized(void **state)
{
	static const char script[] = "i=${1:-0}; [ $i -ge 50 ] && exit 5; exec /bin/sh -c \"$0\" \"$0\" $((i + 1))";
	unsigned tried = 0;
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", script, script, "0", (char *)NULL);
		_exit(1);
	}
	for (; waitpid(pid, &status, WNOHANG) == 0; tried++) {
		struct gus_snapshot s;
		struct gus_error err;

		if (take(pid, &s, &err) == 0)
			gus_snapshot_free(&s);
		else if (err.code != GUS_E_NOT_FOUND && err.code != GUS_E_UNSUPPORTED)
			fail_msg("code %d: %s", (int)err.code, err.text);
	}
	assert_true(tried > 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 5);
}

static void signals_arrive(void **state)
{
	pid_t pid = begin(spinning, 1);
	struct gus_snapshot s;
	struct gus_error err;
	int status;

	(void)state;
	for (int i = 0; i < 10; i++) {
		if (take(pid, &s, &err) != 0)
			fail_msg("%s", err.text);
		gus_snapshot_free(&s);
	}
	kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

/* Who takes the snapshot gets a signal while the target is held, as do all of its process group. */
static int in_the_pause;

ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long to_n, const struct iovec *from,
			 unsigned long from_n, unsigned long flags)
{
	int number = in_the_pause;

	in_the_pause = 0;
	if (number)
		kill(-getppid(), number);
	if (number == SIGKILL)
		sleep(60); /* the pause would last, if it did not end by that */
	return syscall(SYS_process_vm_readv, pid, to, to_n, from, from_n, flags);
}

/* The process that takes the snapshot, with that signal in the middle of it. Its status is 0 if all went well. */
static pid_t take_with(int number, pid_t target)
{
	pid_t pid = fork();
	struct gus_snapshot s;
	struct gus_error err;

	if (pid)
		return pid;
	setpgid(0, 0);
	in_the_pause = number;
	if (take(target, &s, &err) != 0)
		_exit(1);
	assert_pattern(&s);
	_exit(in_the_pause == 0 ? 0 : 2);
}

static void who_is_stopped_lets_go(void **state)
{
	pid_t target = begin(spinning, 1), taker = take_with(SIGSTOP, target);
	int status;

	(void)state;
	assert_int_equal(waitpid(taker, &status, WUNTRACED), taker);
	assert_true(WIFSTOPPED(status));
	for (int i = 0; i < 20000 && state_of(target) == 't'; i++)
		usleep(1000);
	assert_goes_on();
	assert_int_equal(state_of(taker), 'T');
	kill(taker, SIGCONT);
	assert_int_equal(waitpid(taker, &status, 0), taker);
	assert_int_equal(status, 0);
	end(target);
}

static void who_is_killed_lets_go(void **state)
{
	pid_t target = begin(spinning, 1), taker = take_with(SIGKILL, target);
	int status;

	(void)state;
	assert_int_equal(waitpid(taker, &status, 0), taker);
	assert_true(WIFSIGNALED(status));
	for (int i = 0; i < 20000 && state_of(target) == 't'; i++)
		usleep(1000);
	assert_goes_on();
	end(target);
}

static int setup(void **state)
{
	(void)state;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pattern = mmap(NULL, PATTERN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED || pattern == MAP_FAILED ? -1 : 0;
}

/* Whether this program may trace its own children at all: some containers forbid it. */
static bool may_trace(void)
{
	pid_t pid = fork();
	struct gus_snapshot_wish w = { .pid = pid, .tid = pid };
	struct gus_snapshot s = { 0 };
	struct gus_error err = { 0 };

	if (pid == 0) {
		prctl(PR_SET_PTRACER, getppid(), 0, 0, 0);
		for (;;)
			;
	}
	if (gus_snapshot_take(&w, &s, &err) == 0)
		gus_snapshot_free(&s);
	end(pid);
	if (err.code == GUS_E_PERMISSION)
		printf("skipped: processes cannot be traced here: %s\n", err.text);
	return err.code != GUS_E_PERMISSION;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copied_is_what_was_there),
		cmocka_unit_test(large_memory_is_copied_late),
		cmocka_unit_test(pages_are_handed_over),
		cmocka_unit_test(reserves_are_large),
		cmocka_unit_test(each_thread_has_its_turn),
		cmocka_unit_test(stopped_stays_stopped),
		cmocka_unit_test(asleep),
		cmocka_unit_test(zombie),
		cmocka_unit_test(already_traced),
		cmocka_unit_test(too_much_memory),
		cmocka_unit_test(another_ones_thread),
		cmocka_unit_test(no_permission),
		cmocka_unit_test(breeds_threads),
		cmocka_unit_test(exits_while_seized),
		cmocka_unit_test(execs_while_seized),
		cmocka_unit_test(signals_arrive),
		cmocka_unit_test(who_is_stopped_lets_go),
		cmocka_unit_test(who_is_killed_lets_go),
	};

#if !defined(__x86_64__) && !defined(__aarch64__)
	printf("skipped: snapshots are taken on x86-64 and arm64 only\n");
	return 77;
#endif
	if (!may_trace())
		return 77;
	return cmocka_run_group_tests(tests, setup, NULL);
}
