/* SPDX-License-Identifier: MIT */
/* By libseccomp, which knows the numbers of every machine and the order of their arguments. */
#include "tracing/confine/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

/* Whatever their arguments are. Of the file system there is only the metadata of what is open: newfstatat is how fstat
 * is called today. */
static const int allowed[] = {
	SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(pread64), SCMP_SYS(pwrite64),
	SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
	SCMP_SYS(brk), SCMP_SYS(futex), SCMP_SYS(sched_yield), SCMP_SYS(membarrier), SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigpending), SCMP_SYS(sigaltstack),
	SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday),
	SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getrandom), SCMP_SYS(set_robust_list), SCMP_SYS(rseq),
	SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(restart_syscall),
};

/* -1 with errno. */
static int add_rules(scmp_filter_ctx filter)
{
	const struct { int call; struct scmp_arg_cmp arg; } conditions[] = {
		{ SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0) },
		{ SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0) },
		{ SCMP_SYS(newfstatat), SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH) },
		{ SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()) }, /* abort */
		{ SCMP_SYS(kill), SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()) },
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(allowed) / sizeof(*allowed); i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	for (size_t i = 0; rc == 0 && i < sizeof(conditions) / sizeof(*conditions); i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, conditions[i].call, 1, conditions[i].arg);
	return rc;
}

static void enter_root(int root)
{
	if (fchdir(root) == 0 && chroot(".") != 0)
		errno = 0; /* the right to it is not to be had on every machine */
	close(root);
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return (int)syscall(SYS_capset, &head, none);
}

int gus_confine_calls(int root, struct gus_error *err)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int rc = filter ? seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) : -ENOMEM;

	enter_root(root);
	if (rc == 0)
		rc = drop_capabilities() == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : -errno;
	if (rc == 0)
		rc = add_rules(filter);
	if (rc == 0)
		rc = seccomp_load(filter);
	if (filter)
		seccomp_release(filter);
	return rc == 0 ? 0 : gus_fail_errno(err, -rc, "cannot forbid system calls to what is replayed, "
					    "so it is not begun");
}
