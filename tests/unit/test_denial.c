/* SPDX-License-Identifier: MIT */
/* Why the kernel keeps us from a process: each reason from the two sides that it holds for, and no advice that the
 * reader has followed already. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/snapshot/denial.h"

#define BIT(n) (UINT64_C(1) << (n))
#define ALL (BIT(41) - 1)

static void check(struct gus_denial_side we, struct gus_denial_side it, int yama, const char *has,
		  const char *has_not)
{
	char why[256];

	gus_denial_tell(&we, &it, yama, why, sizeof(why));
	if (!strstr(why, has) || (has_not && strstr(why, has_not)))
		fail_msg("'%s', and not '%s'", why, has);
}

static void test_reasons(void **state)
{
	const struct gus_denial_side root = { 0, 0, ALL, ALL }, user = { 1000, 0, 0, 0 }, other = { 1001, 0, 0, 0 };
	const struct gus_denial_side raised = { 1000, 1, 0, 0 }, capable = { 1000, 0, BIT(CAP_NET_RAW), 0 };
	const struct gus_denial_side contained = { 0, 0, ALL & ~BIT(CAP_SYS_RESOURCE), ALL & ~BIT(CAP_SYS_RESOURCE) };
	const struct gus_denial_side unable = { 0, 0, 0, 0 };

	(void)state;
	check(user, root, 0, "belongs to another user (0)", NULL);
	check(user, other, 1, "belongs to another user (1001)", "yama");
	check(user, raised, 0, "raised rights: run as root", NULL);
	check(user, capable, 0, "capabilities that you have not (0x2000): run as root", NULL);
	check(user, user, 0, "is yours, but has forbidden", NULL);
	check(user, user, 1, "ptrace_scope is 1, which lets only a process's own parents: run as root", NULL);
	check(user, user, 2, "ptrace_scope is 2, which lets only administrators: run as root", NULL);
	check(root, user, 3, "keeps everybody", "root");
	check(root, user, 2, "CAP_SYS_PTRACE: a security module or the container", "run as root");
	check(contained, root, 0, "CAP_SYS_PTRACE, and it has capabilities that you have not (0x1000000): a security",
	      "run as root");
	check(unable, root, 0, "capabilities that you have not (0x1ffffffffff)", "another user");
}

static void test_processes(void **state)
{
	char why[256] = "";

	(void)state;
	gus_denial_of(getpid(), why, sizeof(why));
	assert_null(strstr(why, "cannot be read"));
	assert_null(strstr(why, "another user"));
	gus_denial_of(999999999, why, sizeof(why));
	assert_string_equal(why, "what it is cannot be read either");
}

/* User ids: real, effective, saved; and whether the capabilities that may be taken are kept. */
struct ids { uid_t v[3]; int keep; };

static pid_t become(const struct ids *ids)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0 && (prctl(PR_SET_KEEPCAPS, ids->keep) != 0 || setresuid(ids->v[0], ids->v[1], ids->v[2]) != 0))
		_exit(1);
	return pid;
}

/* What one with the ids of we is told of one with those of it. */
static void told(struct ids we, struct ids it, const char *has, const char *has_not)
{
	int ready[2], ends[2];
	char why[256] = "";
	pid_t target, looker;

	assert_true(pipe(ready) == 0 && pipe(ends) == 0);
	target = become(&it);
	if (target == 0) {
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], why, 1), 1);
	looker = become(&we);
	if (looker == 0) {
		gus_denial_of(target, why, sizeof(why));
		_exit(write(ends[1], why, sizeof(why)) != sizeof(why));
	}
	assert_int_equal(read(ends[0], why, sizeof(why)), sizeof(why));
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
	waitpid(looker, NULL, 0);
	for (int i = 0; i < 2; i++) {
		close(ready[i]);
		close(ends[i]);
	}
	if (!strstr(why, has) || (has_not && strstr(why, has_not)))
		fail_msg("'%s', and not '%s'", why, has);
}

/* As the kernel says it: whose it is, which of its three users count, and which capabilities of either. */
static void test_users(void **state)
{
	const struct ids root = { { 0, 0, 0 }, 0 }, one = { { 1, 1, 1 }, 0 }, able = { { 1, 1, 1 }, 1 };

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: only root becomes another user\n");
		skip();
	}
	told(one, root, "another user (0)", NULL);
	told(able, root, "another user (0)", "CAP_SYS_PTRACE"); /* which it may have, and has not */
	told(one, (struct ids){ { 1, 2, 1 }, 0 }, "another user (2)", NULL);
	told(one, (struct ids){ { 1, 1, 2 }, 0 }, "another user (1) or has raised rights", NULL);
	told(one, (struct ids){ { 2, 1, 1 }, 0 }, "another user (1) or has raised rights", NULL);
	told(one, able, "it has capabilities that you have not (0x", "another user");
	told(able, able, "run as root", "capabilities");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reasons), cmocka_unit_test(test_processes), cmocka_unit_test(test_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
