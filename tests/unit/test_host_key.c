/* SPDX-License-Identifier: MIT */
/* What this machine is known by: the same each time, and printable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collector/host/key.h"

static void the_same_each_time(void **state)
{
	struct gus_host_key key, again;

	(void)state;
	gus_host_key_read(&key);
	gus_host_key_read(&again);
	assert_memory_equal(&key, &again, sizeof(key));
	assert_true(*key.part[GUS_HOST_KERNEL]);
	assert_true(*key.part[GUS_HOST_VENDOR]);
}

/* Nothing that a terminal would act on. */
static void words_for_people(void **state)
{
	struct gus_host_key key;

	(void)state;
	gus_host_key_read(&key);
	for (int i = 0; i < GUS_HOST_PARTS; i++) {
		assert_true(strlen(key.part[i]) < sizeof(key.part[i]));
		for (const char *c = key.part[i]; *c; c++)
			assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
	}
	assert_string_equal(gus_host_part_name(GUS_HOST_VENDOR), "vendor");
	assert_string_equal(gus_host_part_name(GUS_HOST_MICROCODE), "microcode");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_same_each_time), cmocka_unit_test(words_for_people) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
