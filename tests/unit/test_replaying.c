/* SPDX-License-Identifier: MIT */
/* tracing/plugin/replaying: which system call of a replay is the loader's, and which ends the window. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tracing/plugin/replaying.h"
#include "tracing/replay/image_format.h"

enum { WRITE = 64, SIGRETURN = 139 };   /* of arm64 */

struct step { int64_t number; uint64_t a1, a2; enum gus_replaying_next next; };

static void play(struct gus_replaying *r, const struct step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(gus_replaying_call(r, steps[i].number, steps[i].a1, steps[i].a2), steps[i].next);
}

/* On x86-64 the loader gets there without a call. */
static void first_call_ends(void **state)
{
	struct gus_replaying r = { 0 };

	(void)state;
	play(&r, (const struct step[]){ { WRITE, 1, 0, GUS_REPLAYING_LOADS },
		{ GUS_REPLAY_BEGIN, 0x400000, 0, GUS_REPLAYING_BEGINS }, { SIGRETURN, 0, 0, GUS_REPLAYING_ENDS } }, 3);
	assert_string_equal(r.ended_by, "syscall");
	assert_int_equal(r.number, SIGRETURN);
}

/* On arm64 by one that it has announced: only that one, and only once. */
static void jump_goes_on(void **state)
{
	const struct step begins = { GUS_REPLAY_BEGIN, 0x400000, SIGRETURN, GUS_REPLAYING_BEGINS };
	struct gus_replaying r = { 0 };

	(void)state;
	play(&r, (const struct step[]){ begins, { SIGRETURN, 0, 0, GUS_REPLAYING_LOADS },
		{ SIGRETURN, 0, 0, GUS_REPLAYING_ENDS } }, 3);
	assert_int_equal(r.number, SIGRETURN);
	r = (struct gus_replaying){ 0 };
	play(&r, (const struct step[]){ begins, { WRITE, 1, 0, GUS_REPLAYING_ENDS } }, 2);
	assert_int_equal(r.number, WRITE);
}

static void signal_tells_where(void **state)
{
	struct gus_replaying r = { 0 };

	(void)state;
	play(&r, (const struct step[]){ { GUS_REPLAY_BEGIN, 0x400000, SIGRETURN, GUS_REPLAYING_BEGINS },
		{ SIGRETURN, 0, 0, GUS_REPLAYING_LOADS }, { GUS_REPLAY_SIGNAL, 11, 0x400123, GUS_REPLAYING_ENDS } }, 3);
	assert_string_equal(r.ended_by, "signal");
	assert_int_equal(r.number, 11);
	assert_true(r.at == 0x400123);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_call_ends),
		cmocka_unit_test(jump_goes_on),
		cmocka_unit_test(signal_tells_where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
