/* SPDX-License-Identifier: MIT */
/* What a child that executes foreign code may not do any more, asked of the kernel in such a child. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "tracing/confine/calls.h"
#include "tracing/confine/confine.h"

/* Bytes. A sanitizer has terabytes mapped, and gets no more if that is already more than it may have. */
#if defined(__SANITIZE_ADDRESS__)
#define MEMORY (1ull << 60)
#else
#define MEMORY (1ull << 30)
#endif
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* What a child finds; line by line, so that what fails has a name. */
struct finding { const char *what; bool good; };

static int root;                /* an empty folder */
static int kept, dropped;       /* descriptors */
static pid_t parent;

/* Runs it in a child, which ends with the number of the finding that is not good, or 0. */
static int in_child(size_t (*find)(struct finding *f))
{
	struct finding f[32];
	int status;
	pid_t child;

	parent = getpid();
	child = fork();
	if (child == 0) {
		size_t n = find(f);

		for (size_t i = 0; i < n; i++)
			if (!f[i].good)
				_exit((int)i + 1);
		_exit(n ? 0 : 100);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int status_line(const char *name, unsigned base, unsigned long long *value)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");
	size_t n = strlen(name);
	int found = 0;

	while (f && !found && fgets(line, sizeof(line), f))
		if (strncmp(line, name, n) == 0) {
			*value = strtoull(line + n, NULL, (int)base);
			found = 1;
		}
	if (f)
		fclose(f);
	return found;
}

static bool is(const char *name, unsigned base, unsigned long long wanted)
{
	unsigned long long value = ~wanted;

	return status_line(name, base, &value) && value == wanted;
}

static bool limit_is(int what, rlim_t most)
{
	struct rlimit l;

	return getrlimit(what, &l) == 0 && l.rlim_max <= most && l.rlim_cur <= most;
}

static bool ends_with_parent(void)
{
	int signal = 0;

	return prctl(PR_GET_PDEATHSIG, &signal) == 0 && signal == SIGKILL;
}

/* The errno of opening that file, as nobody; 0: it is open. */
static int open_as_nobody(const char *path)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (setgroups(0, NULL) != 0 || setresgid(GUS_CONFINE_NOBODY, GUS_CONFINE_NOBODY, GUS_CONFINE_NOBODY) ||
		    setresuid(GUS_CONFINE_NOBODY, GUS_CONFINE_NOBODY, GUS_CONFINE_NOBODY) != 0)
			_exit(ENOSYS);
		_exit(open(path, O_RDONLY) >= 0 ? 0 : errno);
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

static size_t after_confine(struct finding *f)
{
	bool was_root = geteuid() == 0 && open_as_nobody("/dev/null") != ENOSYS; /* not of a namespace of one user */
	const struct gus_confinement c = { .parent = parent, .keep = &kept, .keep_n = 1, .root = root,
		.memory = MEMORY, .file = 4096, .seconds = 7 };
	int rc = gus_confine(&c);
	size_t n = 0;

	f[n++] = (struct finding){ "it can be confined", rc == 0 };
	f[n++] = (struct finding){ "no new privileges", is("NoNewPrivs:", 10, 1) };
	f[n++] = (struct finding){ "not root", !was_root || (geteuid() != 0 && getegid() != 0) };
	f[n++] = (struct finding){ "no group", !was_root || getgroups(0, NULL) == 0 };
	f[n++] = (struct finding){ "cannot be root again", geteuid() == 0 || setuid(0) != 0 };
	f[n++] = (struct finding){ "at most the right to change the root folder",
		is("CapEff:", 16, 0) || is("CapEff:", 16, 1ull << 18) };
	f[n++] = (struct finding){ "and no other to be had", is("CapPrm:", 16, 0) || is("CapPrm:", 16, 1ull << 18) };
	f[n++] = (struct finding){ "memory", limit_is(RLIMIT_DATA, MEMORY) };
	f[n++] = (struct finding){ "file", limit_is(RLIMIT_FSIZE, 4096) };
	f[n++] = (struct finding){ "time", limit_is(RLIMIT_CPU, 7) };
	f[n++] = (struct finding){ "no dump", limit_is(RLIMIT_CORE, 0) };
	f[n++] = (struct finding){ "what is named goes along", fcntl(kept, F_GETFD) == 0 };
	f[n++] = (struct finding){ "nothing else does", fcntl(dropped, F_GETFD) == FD_CLOEXEC };
	f[n++] = (struct finding){ "errors can be told", fcntl(2, F_GETFD) == 0 };
	f[n++] = (struct finding){ "it dies with us", ends_with_parent() };
	f[n++] = (struct finding){ "a session of its own", getsid(0) == getpid() };
	return n;
}

static void a_child_gives_up_its_rights(void **state)
{
	(void)state;
	assert_int_equal(in_child(after_confine), 0);
}

/* Natively there is nothing to open: the program is loaded already. */
static size_t after_entering(struct finding *f)
{
	const struct gus_confinement c = { .parent = parent, .root = root, .enter_root = true, .memory = MEMORY,
		.file = 1, .seconds = 7 };
	bool could = geteuid() == 0;
	int rc = gus_confine(&c);
	size_t n = 0;

	f[n++] = (struct finding){ "it can be confined", rc == 0 };
	f[n++] = (struct finding){ "no rights at all", is("CapPrm:", 16, 0) || access("/proc/self", F_OK) != 0 };
	f[n++] = (struct finding){ "no file has a name", !could || access("/etc/passwd", F_OK) != 0 };
	f[n++] = (struct finding){ "none can be made", !could || open("/x", O_CREAT | O_WRONLY, 0600) < 0 };
	return n;
}

static void it_may_enter_an_empty_folder(void **state)
{
	(void)state;
	assert_int_equal(in_child(after_entering), 0);
}

/* Tells when it is confined, as it is after exec, and waits for its end. */
static void __attribute__((noreturn)) be_confined(int told)
{
	const struct gus_confinement c = { .parent = getppid(), .keep = &kept, .keep_n = 1, .root = root,
		.enter_root = true, .memory = MEMORY, .seconds = 7 };

	(void)!write(told, gus_confine(&c) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0 ? "y" : "n", 1);
	pause();
	_exit(0);
}

static size_t beside_nobody(struct finding *f)
{
	char path[64], said = 'n';
	int ends[2];
	pid_t child;
	size_t n = 0;

	f[n++] = (struct finding){ "a pipe", pipe(ends) == 0 };
	child = fork();
	if (child == 0)
		be_confined(ends[1]);
	f[n++] = (struct finding){ "it can be confined", read(ends[0], &said, 1) == 1 && said == 'y' };
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)child);
	f[n++] = (struct finding){ "its memory", open_as_nobody(path) == EACCES };
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)child, kept);
	f[n++] = (struct finding){ "its files", open_as_nobody(path) == EACCES };
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return n;
}

/* Much on a machine runs as nobody, and what is replayed may be root's memory. */
static void nobody_else_looks_into_it(void **state)
{
	(void)state;
	if (open_as_nobody("/dev/null") == ENOSYS)
		skip(); /* not for us to be */
	assert_int_equal(in_child(beside_nobody), 0);
}

static size_t of_another_parent(struct finding *f)
{
	const struct gus_confinement c = { .parent = parent + 1, .root = root, .memory = MEMORY, .seconds = 7 };
	int status;
	pid_t child = fork();

	if (child == 0) {
		gus_confine(&c);
		_exit(0);
	}
	waitpid(child, &status, 0);
	f[0] = (struct finding){ "who lost its parent ends", WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL };
	return 1;
}

static void an_orphan_ends(void **state)
{
	(void)state;
	assert_int_equal(in_child(of_another_parent), 0);
}

/* What it should enter is no folder: it must not go on where it is. */
static size_t with_a_bad_root(struct finding *f)
{
	const struct gus_confinement c = { .parent = parent, .root = kept, .enter_root = true, .memory = MEMORY,
		.seconds = 7 };

	f[0] = (struct finding){ "it says so", gus_confine(&c) == -1 && errno == ENOTDIR };
	return 1;
}

static void a_root_that_is_none_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(in_child(with_a_bad_root), 0);
}

static ino_t user_namespace(void)
{
	struct stat st = { 0 };

	stat("/proc/self/ns/user", &st);
	return st.st_ino;
}

/* Who is not root has only a user namespace to leave the network by; whether there can be one a child finds out. */
static bool can_leave_user_namespace(void)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(unshare(CLONE_NEWUSER) != 0);
	return waitpid(child, &status, 0) == child && status == 0;
}

static size_t as_ordinary_user(struct finding *f)
{
	const struct gus_confinement c = { .parent = parent, .root = root, .memory = MEMORY, .file = 1,
		.seconds = 7 };
	bool dropped_user = geteuid() != 0 || (setgroups(0, NULL) == 0 && setresgid(12345, 12345, 12345) == 0 &&
					      setresuid(12345, 12345, 12345) == 0);
	bool can, was_dumpable = prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0; /* as a program that was begun so is */
	ino_t before = user_namespace();
	uid_t user = geteuid();
	int rc;

	can = dropped_user && was_dumpable && can_leave_user_namespace();
	rc = gus_confine(&c);
	f[0] = (struct finding){ "it can be confined", !dropped_user || rc == 0 };
	f[1] = (struct finding){ "in a namespace of its own", !can || user_namespace() != before };
	f[2] = (struct finding){ "as the same user", !dropped_user || geteuid() == user };
	f[3] = (struct finding){ "without rights in it", is("CapPrm:", 16, 0) || is("CapPrm:", 16, 1ull << 18) };
	return 4;
}

static void an_ordinary_user_leaves_its_namespace(void **state)
{
	(void)state;
	assert_int_equal(in_child(as_ordinary_user), 0);
}

/* A descriptor that is not open cannot go along: then nothing is begun. */
static size_t with_a_bad_descriptor(struct finding *f)
{
	const int bad = 999;
	const struct gus_confinement c = { .parent = parent, .keep = &bad, .keep_n = 1, .root = root,
		.memory = MEMORY, .seconds = 7 };

	f[0] = (struct finding){ "it says so", gus_confine(&c) == -1 && errno == EBADF };
	return 1;
}

static void what_cannot_be_kept_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(in_child(with_a_bad_descriptor), 0);
}

static bool refused(long rc)
{
	return rc < 0 && errno == EPERM;
}

static void *in_thread(void *result)
{
	*(bool *)result = refused(open("/dev/null", O_RDONLY));
	return NULL;
}

static pthread_barrier_t barrier;

static void *waiting_thread(void *result)
{
	pthread_barrier_wait(&barrier); /* the filter is put on */
	pthread_barrier_wait(&barrier);
	return in_thread(result);
}

static size_t after_calls(struct finding *f)
{
	bool other = false;
	pthread_t thread;
	void *memory;
	size_t n = 0;
	int rc;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, waiting_thread, &other);
	pthread_barrier_wait(&barrier);
	rc = gus_confine_calls(dup(root), NULL);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	f[n++] = (struct finding){ "calls can be forbidden", rc == 0 };
	f[n++] = (struct finding){ "for other threads, too", other };
	f[n++] = (struct finding){ "open", refused(open("/dev/null", O_RDONLY)) };
	f[n++] = (struct finding){ "a new file", refused(open("x", O_CREAT | O_RDWR, 0600)) };
	f[n++] = (struct finding){ "exec", refused(execl("/bin/true", "true", (char *)NULL)) };
	f[n++] = (struct finding){ "a socket", refused(socket(AF_UNIX, SOCK_STREAM, 0)) };
	f[n++] = (struct finding){ "a process", refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) };
	f[n++] = (struct finding){ "others' end", refused(kill(parent, 0)) };
	f[n++] = (struct finding){ "one's own", kill(getpid(), 0) == 0 };
	f[n++] = (struct finding){ "others' memory", refused(ptrace(PTRACE_SEIZE, parent, NULL, NULL)) };
	f[n++] = (struct finding){ "unlink", refused(unlink("x")) };
	f[n++] = (struct finding){ "a rule that is taken back", refused(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)) };
	f[n++] = (struct finding){ "memory", memory != MAP_FAILED };
	f[n++] = (struct finding){ "to be executed", refused(mprotect(memory, 4096, PROT_READ | PROT_EXEC)) };
	f[n++] = (struct finding){ "from the beginning",
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED };
	f[n++] = (struct finding){ "not to be executed", mprotect(memory, 4096, PROT_READ) == 0 };
	f[n++] = (struct finding){ "to write what is open", write(kept, "x", 1) == 1 };
	f[n++] = (struct finding){ "how large it is", fstat(kept, &(struct stat){ 0 }) == 0 };
	return n;
}

static void calls_that_do_something_elsewhere_are_forbidden(void **state)
{
	(void)state;
	assert_int_equal(in_child(after_calls), 0);
}

/* Nothing is left of it where it was made. */
static void an_empty_folder_has_no_name(void **state)
{
	struct gus_error err = { 0 };
	int fd = gus_confine_folder(&err);
	struct stat st;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISDIR(st.st_mode) && st.st_nlink == 0);
	assert_int_equal(openat(fd, "x", O_CREAT | O_WRONLY, 0600), -1);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	setenv("TMPDIR", "/nowhere", 1);
	fd = gus_confine_folder(&err);
	assert_true(fd >= 0 || err.code != GUS_OK); /* there may be no shared memory */
	if (fd >= 0)
		close(fd);
	unsetenv("TMPDIR");
}

static int open_all(void **state)
{
	(void)state;
	root = gus_confine_folder(NULL);
	kept = memfd_create("kept", 0);
	dropped = memfd_create("dropped", 0);
	return root >= 0 && kept >= 0 && dropped >= 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_gives_up_its_rights),
		cmocka_unit_test(it_may_enter_an_empty_folder),
		cmocka_unit_test(nobody_else_looks_into_it),
		cmocka_unit_test(an_orphan_ends),
		cmocka_unit_test(an_ordinary_user_leaves_its_namespace),
		cmocka_unit_test(a_root_that_is_none_is_an_error),
		cmocka_unit_test(what_cannot_be_kept_is_an_error),
		cmocka_unit_test(calls_that_do_something_elsewhere_are_forbidden),
		cmocka_unit_test(an_empty_folder_has_no_name),
	};

	return cmocka_run_group_tests(tests, open_all, NULL);
}
