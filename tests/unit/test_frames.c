/* SPDX-License-Identifier: MIT */
/* attribution/frames: a reader that says here what it is told to, since no file fails when a test wants it to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/profile/frames.h"
#include "base/error.h"

struct gus_reader { const enum gus_read *says; unsigned asked, rewound; };

void gus_reader_rewind(struct gus_reader *r)
{
	r->rewound++;
	r->asked = 0;
}

enum gus_read gus_reader_next_of(struct gus_reader *r, uint32_t types, struct gus_frame *frame, struct gus_error *err)
{
	enum gus_read says = r->says[r->asked++];

	assert_int_equal(types, 0x28);
	assert_int_equal(err->code, 0); /* what was said of a frame before is forgotten */
	if (says == GUS_READ_FRAME)
		frame->sequence = r->asked;
	else
		gus_fail(err, says == GUS_READ_CORRUPT ? GUS_E_CORRUPT : GUS_E_TRUNCATED, "at %u", r->asked);
	return says;
}

struct taken { uint64_t sequences[8]; size_t n; };

static void take(void *context, const struct gus_frame *frame)
{
	struct taken *taken = context;

	taken->sequences[taken->n++] = frame->sequence;
}

/* Frames are taken in their order and damage is passed over, until the end: that of a cut recording is one like
 * others. */
static void frames_are_taken_to_the_end(void **state)
{
	static const enum gus_read whole[] = { GUS_READ_FRAME, GUS_READ_CORRUPT, GUS_READ_CORRUPT, GUS_READ_FRAME,
					       GUS_READ_END };
	static const enum gus_read cut[] = { GUS_READ_FRAME, GUS_READ_CORRUPT, GUS_READ_FRAME, GUS_READ_FRAME,
					     GUS_READ_CUT };
	static const struct { const enum gus_read *says; size_t n; uint64_t last; } cases[] = {
		{ whole, 2, 4 }, { cut, 3, 4 },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct gus_reader r = { .says = cases[i].says, .asked = 3 };
		struct gus_error err = { 0 };
		struct taken taken = { .n = 0 };

		assert_int_equal(gus_frames_each(&r, 0x28, take, &taken, &err), 0);
		assert_int_equal(r.rewound, 1);
		assert_int_equal(r.asked, 5);
		assert_int_equal(taken.n, cases[i].n);
		assert_int_equal(taken.sequences[0], 1);
		assert_int_equal(taken.sequences[taken.n - 1], cases[i].last);
		assert_int_equal(err.code, 0);
	}
}

/* What was taken until then stays taken; the reason is the reader's, and nobody has to want it. */
static void a_file_that_fails_is_an_error(void **state)
{
	static const enum gus_read says[] = { GUS_READ_FRAME, GUS_READ_CORRUPT, GUS_READ_ERROR, GUS_READ_FRAME };
	struct gus_reader r = { .says = says };
	struct gus_error err = { 0 };
	struct taken taken = { .n = 0 };

	(void)state;
	assert_int_equal(gus_frames_each(&r, 0x28, take, &taken, &err), -1);
	assert_int_equal(r.asked, 3);
	assert_int_equal(taken.n, 1);
	assert_int_equal(err.code, GUS_E_TRUNCATED);
	assert_string_equal(err.text, "at 3");
	assert_int_equal(gus_frames_each(&r, 0x28, take, &taken, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_taken_to_the_end),
		cmocka_unit_test(a_file_that_fails_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
