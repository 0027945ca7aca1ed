/* SPDX-License-Identifier: MIT */
/* Faults at will: a library that is preloaded into a program and lets one allocation or one call fail, chosen by its
 * number, in one process. alloc.c and calls.c stand before the functions of the C library and ask faults_meet() of each
 * call; run.c runs the program again and again, once for each fault, and judges how it took it.
 *
 * What is not met: calls that the C library makes for itself (the dynamic linker's, those inside of getpwuid or
 * popen), and what other libraries ask of the kernel without a function of the C library. Streams are met where they
 * are opened with fopen, and stdout: their reads and writes are made by functions of ours (calls.c). */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* In place of an errno: the call does a part of what was asked for. */
enum { FAULT_ONE_BYTE = -1, FAULT_HALF = -2 };

/* Each function that may fail, and how: the errors that it is tried with. ALLOC stands for all that allocate. */
#define FAULT_CALLS(X) \
	X(alloc, ENOMEM) \
	X(access, EACCES, EIO) \
	X(chdir, EACCES) \
	X(close, EINTR, EIO, ENOSPC) \
	X(closedir, EIO) \
	X(dup, EMFILE) \
	X(dup2, EMFILE, EBUSY, EINTR) \
	X(execvp, EACCES, ENOMEM) \
	X(fclose, EIO, ENOSPC) \
	X(fcntl, EAGAIN, EINVAL, EMFILE) \
	X(fopen, EACCES, EIO, EMFILE, ENOMEM, EINTR) \
	X(fork, EAGAIN, ENOMEM) \
	X(fstat, EIO, ENOMEM) \
	X(ftruncate, EINTR, EIO, ENOSPC) \
	X(getpwuid, EIO, ENOMEM) \
	X(getrlimit, EINVAL) \
	X(getrusage, EINVAL) \
	X(ioctl, EINTR, EIO, EACCES, ENOMEM) \
	X(kill, EPERM) \
	X(link, EACCES, EIO) \
	X(lseek, EINVAL) \
	X(lstat, EACCES, EIO) \
	X(memfd_create, EMFILE, ENOMEM) \
	X(mkdtemp, EACCES, ENOSPC) \
	X(mkostemp, EACCES, EINTR, EMFILE, ENOSPC) \
	X(mmap, EACCES, EAGAIN, ENOMEM) \
	X(munmap, ENOMEM) \
	X(nanosleep, EINTR) \
	X(open, EACCES, EINTR, EIO, EMFILE, ENOMEM, ENOSPC) \
	X(opendir, EACCES, EMFILE, ENOMEM) \
	X(pipe, EMFILE) \
	X(poll, EINTR, EAGAIN, ENOMEM) \
	X(pread, EINTR, EIO, ENOMEM, FAULT_ONE_BYTE, FAULT_HALF) \
	X(prctl, EPERM) \
	X(process_vm_readv, EPERM, EFAULT, ENOMEM) \
	X(pthread_create, EAGAIN) \
	X(ptrace, EPERM, EIO, ESRCH) \
	X(pwrite, EINTR, EIO, ENOSPC, FAULT_ONE_BYTE, FAULT_HALF) \
	X(read, EINTR, EAGAIN, EIO, FAULT_ONE_BYTE, FAULT_HALF) \
	X(readdir, EIO, ENOMEM) \
	X(readlink, EACCES, EIO, ENOMEM) \
	X(realpath, EACCES, EIO, ENOMEM) \
	X(rename, EACCES, EIO, ENOSPC) \
	X(rmdir, EACCES, EIO) \
	X(scandir, EACCES, EMFILE, ENOMEM) \
	X(sched_getaffinity, EINVAL) \
	X(sched_setaffinity, EINVAL) \
	X(sched_setscheduler, EPERM) \
	X(setpriority, EACCES) \
	X(setrlimit, EPERM) \
	X(signalfd, EMFILE, ENOMEM) \
	X(sigtimedwait, EINTR, EAGAIN) \
	X(stat, EACCES, EIO, ENOMEM) \
	X(syscall, EACCES, EBUSY, EINTR, EMFILE, ENOMEM, ENOSPC) \
	X(unlink, EACCES, EIO) \
	X(waitid, EINTR, ECHILD) \
	X(waitpid, EINTR, ECHILD) \
	X(write, EINTR, EAGAIN, EIO, ENOSPC, FAULT_ONE_BYTE, FAULT_HALF)

enum fault_call {
#define X(name, ...) FAULT_##name,
	FAULT_CALLS(X)
#undef X
	FAULT_KINDS
};

/* A place: who called, and who called that. */
#define FAULT_DEPTH 10
#define FAULT_PLACES 16384
struct fault_place {
	uint64_t chain;                /* hash of the addresses and of the kind; 0 if this entry is free */
	enum fault_call call;
	unsigned long first;           /* the number of the first call from here */
	void *frames[FAULT_DEPTH];
};

/* Memory that the processes share: what is to fail, and what was met. */
struct faults {
	pid_t pid;                     /* whom it is about */
	bool recording;                /* places are noted */
	enum fault_call call;          /* what fails: ... */
	unsigned long at;              /* ... the at-th of it, from 1; none if 0 */
	int error;
	bool met;                      /* it has failed */
	unsigned long count[FAULT_KINDS];
	unsigned long places_n;
	struct fault_place places[FAULT_PLACES];
};

/* NULL until run.c has begun: all calls are let through. */
extern struct faults *faults;

/* To be asked before a call is made: 0, or the error that it is to have. errno stays as it is. */
int faults_meet(enum fault_call call);

/* From now on what is written to stdout goes through write() as this library has it, and so may fail. */
void faults_take_stdout(void);

#endif
