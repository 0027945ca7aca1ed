/* SPDX-License-Identifier: MIT */
/* What this machine is known by: the same each time, and printable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collector/host/host.h"
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

/* A recording is of another machine as soon as one thing of it is another. */
static void whether_a_recording_is_of_here(void **state)
{
	Gusprof__Host *host = gus_host_describe("/sys");
	char *kernel = host->kernel, *microcode = host->microcode;

	(void)state;
	assert_true(gus_host_key_is_here(host));
	host->kernel = (char *)(uintptr_t)"2.6.40";
	assert_false(gus_host_key_is_here(host));
	host->kernel = kernel;
	host->microcode = (char *)(uintptr_t)"0xold";
	assert_false(gus_host_key_is_here(host));
	host->microcode = microcode;
	host->cpu_stepping++;
	assert_false(gus_host_key_is_here(host));
	gusprof__host__free_unpacked(host, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_each_time),
		cmocka_unit_test(words_for_people),
		cmocka_unit_test(whether_a_recording_is_of_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
