/* SPDX-License-Identifier: MIT */
/* Why the kernel keeps us from a process: each reason from the two sides that it holds for, and no advice that the
 * reader has followed already. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <linux/capability.h>
#include <string.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reasons), cmocka_unit_test(test_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
