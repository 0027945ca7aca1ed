/* SPDX-License-Identifier: MIT */
/* Linux manuals: seccomp(2), capabilities(7), prctl(2). */
#include "collector/timing/forbid.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "collector/host/procfs.h"
#include "collector/host/text.h"

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#else
#define MACHINE AUDIT_ARCH_AARCH64
#endif

/* From what a filter sees: the call's number is at 0, the machine at 4, then the place, then arguments of 8 bytes. */
#define NUMBER 0
#define MACHINE_AT 4
#define ARGUMENT(i) (16 + 8 * (i)) /* the low half, as both machines are little-endian */
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define IS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define HAS(bits, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, yes, no)
#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Calls on files are those on the files that are kept, which stand behind it. */
static const struct sock_filter filter[] = {
	LOAD(MACHINE_AT), IS(MACHINE, 1, 0), KILL, /* calls of 32 bits have other numbers */
	LOAD(NUMBER),
	IS(SYS_sysinfo, 11, 0), /* glibc's qsort asks how much memory there is, of more than a KiB */
	IS(SYS_getrusage, 10, 0), IS(SYS_clock_gettime, 9, 0), IS(SYS_brk, 8, 0), IS(SYS_munmap, 7, 0),
	IS(SYS_mremap, 6, 0), IS(SYS_madvise, 5, 0), IS(SYS_exit_group, 4, 0),
	IS(SYS_mmap, 1, 0), IS(SYS_mprotect, 0, 3),
	LOAD(ARGUMENT(2)), HAS(PROT_EXEC, 4, 0),
	ALLOW,
	IS(SYS_read, 3, 0), IS(SYS_write, 2, 0), IS(SYS_lseek, 1, 0),
	KILL,
	LOAD(ARGUMENT(0)),
};

enum { FILTER = sizeof(filter) / sizeof(*filter), FILES_MOST = 8 };

/* 0, or errno. */
static int filter_calls(const int *keep, size_t n)
{
	struct sock_filter all[FILTER + FILES_MOST + 2];
	struct sock_fprog program = { (unsigned short)(FILTER + n + 2), all };

	if (n > FILES_MOST)
		return E2BIG;
	memcpy(all, filter, sizeof(filter));
	for (size_t i = 0; i < n; i++)
		all[FILTER + i] = (struct sock_filter)IS((uint32_t)keep[i], (uint8_t)(n - i), 0);
	all[FILTER + n] = (struct sock_filter)KILL;
	all[FILTER + n + 1] = (struct sock_filter)ALLOW;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 ? 0 : errno;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return (int)syscall(SYS_capset, &head, none);
}

static bool is_kept(int fd, const int *keep, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (keep[i] == fd)
			return true;
	return false;
}

static int close_others(const int *keep, size_t n)
{
	struct gus_tids open_files = { 0 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || !gus_numbers_in("/proc/self/fd", &open_files))
		return -1;
	for (size_t i = 0; i < open_files.n; i++)
		if (open_files.v[i] > STDERR_FILENO && open_files.v[i] != null && !is_kept(open_files.v[i], keep, n))
			close(open_files.v[i]);
	gus_vec_free(&open_files);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (dup2(null, fd) < 0)
			return -1;
	if (null > STDERR_FILENO)
		close(null);
	return 0;
}

/* Where memory is short it is the first to go. */
static void volunteer(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) != 4)
		errno = 0; /* it may be forbidden, and then all are equal */
	close(fd);
}

static int limit(int what, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(what, &now) != 0)
		return -1;
	if (now.rlim_max != RLIM_INFINITY && now.rlim_max < most)
		most = now.rlim_max;
	return setrlimit(what, &(struct rlimit){ most, most });
}

static uint64_t mapped(void)
{
	char text[64];

	return gus_read_text("/proc/self/statm", text, sizeof(text)) ?
		strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

int gus_timing_forbid(const int *keep, size_t n, size_t memory)
{
	setsid();
	volunteer();
	if (close_others(keep, n) != 0 || limit(RLIMIT_CORE, 0) != 0 || limit(RLIMIT_FSIZE, 0) != 0 ||
	    limit(RLIMIT_AS, mapped() + memory) != 0 || drop_capabilities() != 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return errno ? errno : EPERM;
	return filter_calls(keep, n);
}
