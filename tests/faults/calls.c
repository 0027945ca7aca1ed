/* SPDX-License-Identifier: MIT */
/* Calls that fail. Each function here has the name of one of the C library's, asks whether this call of it is to fail,
 * and otherwise makes it. What it would have given back is given back where it failed: a descriptor that cannot be
 * closed is closed, as Linux closes it. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/faults/faults.h"

/* The C library's function of that name. */
#define REAL(name) \
	({ \
		static __typeof__(&name) real_; \
		if (!real_) \
			*(void **)&real_ = dlsym(RTLD_NEXT, #name); \
		real_; \
	})

/* A function that fails with a value, and errno. */
#define CALL(kind, result, failed, name, parameters, arguments) \
	result name parameters \
	{ \
		int error_ = faults_meet(FAULT_##kind); \
		if (error_) { \
			errno = error_; \
			return failed; \
		} \
		return REAL(name) arguments; \
	}

/* The same, but done before it fails. */
#define CALL_DONE(kind, result, failed, name, parameters, arguments) \
	result name parameters \
	{ \
		int error_ = faults_meet(FAULT_##kind); \
		result done_ = REAL(name) arguments; \
		if (error_) { \
			errno = error_; \
			return failed; \
		} \
		return done_; \
	}

/* One that moves so many bytes, or fewer. */
#define CALL_BYTES(kind, name, parameters, arguments) \
	ssize_t name parameters \
	{ \
		int error_ = faults_meet(FAULT_##kind); \
		if (error_ > 0) { \
			errno = error_; \
			return -1; \
		} \
		if (error_ == FAULT_ONE_BYTE && size > 1) \
			size = 1; \
		if (error_ == FAULT_HALF && size > 1) \
			size /= 2; \
		return REAL(name) arguments; \
	}

/* What the C library has as macros or with attributes that would warn. */
#undef stat
#undef fstat
#undef lstat
#pragma GCC diagnostic ignored "-Wnonnull-compare"

CALL(access, int, -1, access, (const char *path, int mode), (path, mode))
CALL(chdir, int, -1, chdir, (const char *path), (path))
CALL(dup, int, -1, dup, (int fd), (fd))
CALL(dup2, int, -1, dup2, (int fd, int as), (fd, as))
CALL(fork, pid_t, -1, fork, (void), ())
CALL(fstat, int, -1, fstat, (int fd, struct stat *st), (fd, st))
CALL(ftruncate, int, -1, ftruncate, (int fd, off_t size), (fd, size))
CALL(getpwuid, struct passwd *, NULL, getpwuid, (uid_t uid), (uid))
CALL(kill, int, -1, kill, (pid_t pid, int sig), (pid, sig))
CALL(link, int, -1, link, (const char *from, const char *to), (from, to))
CALL(link, int, -1, linkat, (int at, const char *from, int to_at, const char *to, int flags),
     (at, from, to_at, to, flags))
CALL(lseek, off_t, -1, lseek, (int fd, off_t offset, int whence), (fd, offset, whence))
CALL(lstat, int, -1, lstat, (const char *path, struct stat *st), (path, st))
CALL(memfd_create, int, -1, memfd_create, (const char *name, unsigned flags), (name, flags))
CALL(mkdtemp, char *, NULL, mkdtemp, (char *name), (name))
CALL(mkostemp, int, -1, mkostemp, (char *name, int flags), (name, flags))
CALL(mkostemp, int, -1, mkstemp, (char *name), (name))
CALL(mmap, void *, MAP_FAILED, mmap, (void *at, size_t size, int prot, int flags, int fd, off_t offset),
     (at, size, prot, flags, fd, offset))
CALL(munmap, int, -1, munmap, (void *at, size_t size), (at, size))
CALL(nanosleep, int, -1, nanosleep, (const struct timespec *time, struct timespec *left), (time, left))
CALL(opendir, DIR *, NULL, opendir, (const char *path), (path))
CALL(pipe, int, -1, pipe, (int fds[2]), (fds))
CALL(pipe, int, -1, pipe2, (int fds[2], int flags), (fds, flags))
CALL(poll, int, -1, poll, (struct pollfd *fds, nfds_t n, int timeout), (fds, n, timeout))
CALL(poll, int, -1, ppoll, (struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask),
     (fds, n, timeout, mask))
CALL(process_vm_readv, ssize_t, -1, process_vm_readv,
     (pid_t pid, const struct iovec *to, unsigned long to_n, const struct iovec *from, unsigned long from_n,
      unsigned long flags), (pid, to, to_n, from, from_n, flags))
CALL(readdir, struct dirent *, NULL, readdir, (DIR *d), (d))
CALL(readlink, ssize_t, -1, readlink, (const char *path, char *to, size_t size), (path, to, size))
CALL(realpath, char *, NULL, realpath, (const char *path, char *to), (path, to))
CALL(rename, int, -1, rename, (const char *from, const char *to), (from, to))
CALL(rmdir, int, -1, rmdir, (const char *path), (path))
CALL(scandir, int, -1, scandir,
     (const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
      int (*order)(const struct dirent **, const struct dirent **)), (path, list, filter, order))
CALL(sched_getaffinity, int, -1, sched_getaffinity, (pid_t pid, size_t size, cpu_set_t *set), (pid, size, set))
CALL(sched_setaffinity, int, -1, sched_setaffinity, (pid_t pid, size_t size, const cpu_set_t *set), (pid, size, set))
CALL(sched_setscheduler, int, -1, sched_setscheduler, (pid_t pid, int policy, const struct sched_param *param),
     (pid, policy, param))
CALL(signalfd, int, -1, signalfd, (int fd, const sigset_t *mask, int flags), (fd, mask, flags))
CALL(sigtimedwait, int, -1, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *timeout),
     (set, info, timeout))
CALL(stat, int, -1, stat, (const char *path, struct stat *st), (path, st))
CALL(unlink, int, -1, unlink, (const char *path), (path))
CALL(waitid, int, -1, waitid, (idtype_t type, id_t id, siginfo_t *info, int options), (type, id, info, options))
CALL(waitpid, pid_t, -1, waitpid, (pid_t pid, int *status, int options), (pid, status, options))
CALL_DONE(close, int, -1, close, (int fd), (fd))
CALL_DONE(closedir, int, -1, closedir, (DIR *d), (d))
CALL_DONE(fclose, int, EOF, fclose, (FILE *f), (f))
CALL_BYTES(pread, pread, (int fd, void *to, size_t size, off_t offset), (fd, to, size, offset))
CALL_BYTES(pwrite, pwrite, (int fd, const void *from, size_t size, off_t offset), (fd, from, size, offset))
CALL_BYTES(read, read, (int fd, void *to, size_t size), (fd, to, size))
CALL_BYTES(write, write, (int fd, const void *from, size_t size), (fd, from, size))

/* glibc gives these two types of their own to their first argument. */
int getrlimit(__rlimit_resource_t what, struct rlimit *limit)
{
	errno = EINVAL;
	return faults_meet(FAULT_getrlimit) ? -1 : REAL(getrlimit)(what, limit);
}

int setrlimit(__rlimit_resource_t what, const struct rlimit *limit)
{
	if (faults_meet(FAULT_setrlimit)) {
		errno = EPERM;
		return -1;
	}
	return REAL(setrlimit)(what, limit);
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
	if (faults_meet(FAULT_getrusage)) {
		errno = EINVAL;
		return -1;
	}
	return REAL(getrusage)(who, usage);
}

int setpriority(__priority_which_t which, id_t who, int value)
{
	if (faults_meet(FAULT_setpriority)) {
		errno = EACCES;
		return -1;
	}
	return REAL(setpriority)(which, who, value);
}

/* What fails in the child between fork and exec is met there. */
int execvp(const char *file, char *const argv[])
{
	int error = faults_meet(FAULT_execvp);

	if (error) {
		errno = error;
		return -1;
	}
	return REAL(execvp)(file, argv);
}

/* A child that shares our memory would come back into a frame that is gone. */
pid_t vfork(void)
{
	return fork();
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	int error = faults_meet(FAULT_pthread_create);

	return error ? error : REAL(pthread_create)(thread, attributes, run, argument);
}

/* Those with arguments that may be missing; all are words, and one too many does no harm. */
int open(const char *path, int flags, ...)
{
	int error = faults_meet(FAULT_open);
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (error && !(error == ENOSPC && mode == 0)) { /* only a new file takes room */
		errno = error;
		return -1;
	}
	return REAL(open)(path, flags, mode);
}

int openat(int at, const char *path, int flags, ...)
{
	int error = faults_meet(FAULT_open);
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (error) {
		errno = error;
		return -1;
	}
	return REAL(openat)(at, path, flags, mode);
}

#define CALL_WORDS(kind, result, name, parameters, last, n, ...) \
	result name parameters \
	{ \
		int error_ = faults_meet(FAULT_##kind); \
		unsigned long w[n]; \
		va_list args; \
		va_start(args, last); \
		for (int i = 0; i < n; i++) \
			w[i] = va_arg(args, unsigned long); \
		va_end(args); \
		if (error_) { \
			errno = error_; \
			return -1; \
		} \
		return REAL(name)(__VA_ARGS__); \
	}

CALL_WORDS(fcntl, int, fcntl, (int fd, int command, ...), command, 1, fd, command, w[0])
CALL_WORDS(ioctl, int, ioctl, (int fd, unsigned long what, ...), what, 1, fd, what, w[0])
CALL_WORDS(prctl, int, prctl, (int what, ...), what, 4, what, w[0], w[1], w[2], w[3])
CALL_WORDS(ptrace, long, ptrace, (enum __ptrace_request what, ...), what, 3, what, w[0], w[1], w[2])
CALL_WORDS(syscall, long, syscall, (long number, ...), number, 6, number, w[0], w[1], w[2], w[3], w[4], w[5])

/* Streams whose bytes go through the functions above. */
static ssize_t cookie_read(void *cookie, char *to, size_t size)
{
	return read((int)(intptr_t)cookie, to, size);
}

/* To a stream, nothing written is an error; -1 is not allowed for. */
static ssize_t cookie_write(void *cookie, const char *from, size_t size)
{
	ssize_t n = write((int)(intptr_t)cookie, from, size);

	return n < 0 ? 0 : n;
}

static int cookie_close(void *cookie)
{
	return close((int)(intptr_t)cookie);
}

static FILE *stream(int fd, const char *mode)
{
	return fopencookie((void *)(intptr_t)fd, mode,
			   (cookie_io_functions_t){ cookie_read, cookie_write, NULL, cookie_close });
}

FILE *fopen(const char *path, const char *mode)
{
	int error = faults_meet(FAULT_fopen), flags = *mode == 'r' ? O_RDONLY : O_WRONLY | O_CREAT, fd;
	FILE *f;

	if (error) {
		errno = error;
		return NULL;
	}
	if (!faults || faults->call == FAULT_alloc)
		return REAL(fopen)(path, mode);
	flags |= (*mode == 'w' ? O_TRUNC : 0) | (*mode == 'a' ? O_APPEND : 0) | (strchr(mode, 'e') ? O_CLOEXEC : 0);
	fd = REAL(open)(path, flags, 0666);
	f = fd < 0 ? NULL : stream(fd, mode);
	if (!f && fd >= 0)
		REAL(close)(fd);
	return f;
}

void faults_take_stdout(void)
{
	FILE *f = stream(STDOUT_FILENO, "w");

	if (f)
		stdout = f;
}
