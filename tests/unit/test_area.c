/* SPDX-License-Identifier: MIT */
/* Areas that hardware writes into: how they are mapped, what is in them beyond their end, and whose and of when the
 * records in them are; and what a sample that brings registers becomes. */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/user.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "collector/counters/aux.h"
#include "collector/counters/ring.h"
#include "collector/events/event.h"
#include "collector/kernel/perf.h"
#include "collector/records/records.h"
#include "collector/session/area.h"
#include "collector/snapshot/registers.h"
#include "tests/words/ibs_words.h"
#include "tests/words/spe_words.h"

/* A kernel that gives no more than so many pages. */
static struct { size_t most, calls, unmapped; int refuses; } kernel;
static uint8_t memory[64 * 65536];

static void *map(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	(void)at;
	(void)protection;
	(void)flags;
	(void)fd;
	(void)offset;
	kernel.calls++;
	if (size > kernel.most) {
		errno = kernel.refuses;
		return MAP_FAILED;
	}
	return memory;
}

static int unmap(void *at, size_t size)
{
	assert_ptr_equal(at, memory);
	kernel.unmapped += size;
	return 0;
}

const struct gus_perf gus_perf = { .mmap = map, .munmap = unmap };

static void mapped(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const struct { size_t asked, most; int refuses; size_t got, calls; } cases[] = {
		{ 64 * page, 64 * page, EPERM, 64 * page, 1 }, { 64 * page, 63 * page, EPERM, 32 * page, 2 },
		{ 64 * page, 16 * page, EPERM, 16 * page, 3 }, { 64 * page, 15 * page, EPERM, 0, 3 },
		{ 16 * page, 15 * page, EPERM, 0, 1 }, { 64 * page, 32 * page, ENOMEM, 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct perf_event_mmap_page control = { .aux_offset = 1 };
		struct gus_ring ring = { .control = &control, .size = 8 * page, .cpu = 3 };
		struct gus_aux aux = { .room = 7 };
		struct gus_error err = { 0 };

		kernel.most = cases[i].most;
		kernel.refuses = cases[i].refuses;
		kernel.calls = kernel.unmapped = 0;
		assert_int_equal(gus_aux_map(&aux, &ring, 5, cases[i].asked, &err), cases[i].got ? 0 : -1);
		assert_int_equal(kernel.calls, cases[i].calls);
		assert_int_equal(control.aux_offset, 9 * page);
		if (cases[i].got) {
			assert_int_equal(aux.size, cases[i].got);
			assert_int_equal(control.aux_size, cases[i].got);
			assert_ptr_equal(aux.control, &control);
			assert_int_equal(aux.room, 0);
			gus_aux_unmap(&aux);
			assert_int_equal(kernel.unmapped, cases[i].got);
			assert_null(aux.control);
			gus_aux_unmap(&aux); /* nothing is left */
			assert_int_equal(kernel.unmapped, cases[i].got);
		} else {
			assert_non_null(strstr(err.text, "on cpu 3"));
		}
	}
}

/* Eight bytes, in whose numbers counting goes on without end. */
static void wrapped(void **state)
{
	struct perf_event_mmap_page control = { 0 };
	struct gus_aux aux = { .control = &control, .data = memory, .size = 8 };

	(void)state;
	memcpy(memory, "abcdefgh", 8);
	assert_memory_equal(gus_aux_bytes(&aux, 0, 8), "abcdefgh", 8);
	assert_ptr_equal(gus_aux_bytes(&aux, 803, 5), memory + 3); /* up to the end: in place */
	assert_null(aux.whole);
	assert_memory_equal(gus_aux_bytes(&aux, 803, 6), "defgha", 6);
	assert_non_null(aux.whole);
	assert_memory_equal(gus_aux_bytes(&aux, 807, 2), "ha", 2);
	assert_memory_equal(gus_aux_bytes(&aux, 807, 8), "habcdefg", 8);
	assert_null(gus_aux_bytes(&aux, 0, 9));
	gus_aux_pass(&aux, 808);
	assert_int_equal(control.aux_tail, 808);
	free(aux.whole);
	aux = (struct gus_aux){ .size = 8 };
	assert_null(gus_aux_bytes(&aux, 0, 1));
}

/* Records. */

struct taken { struct gus_sample s[4]; size_t n; };

static void take(struct gus_sample *s, void *context)
{
	struct taken *t = context;

	assert_true(t->n < 4);
	t->s[t->n++] = *s;
}

/* An operation that says whose it is and when, and one that says neither. */
static struct words_bytes two_records(void)
{
	struct words_bytes b = { .n = 0 };

	words_spe_put(&b, "address", 0, 3, UINT64_C(0x401000) | UINT64_C(1) << 63);
	words_spe_put(&b, "context", 0, 2, 77);
	words_spe_put(&b, "timestamp", 0, 3, 5000);
	words_spe_put(&b, "address", 0, 3, UINT64_C(0x402000) | UINT64_C(1) << 63);
	words_spe_put(&b, "end", 0, 0, 0);
	b.n--; /* an end has no payload */
	return b;
}

static void whose_and_when(void **state)
{
	/* Twice the counter, and 100: it is a line. */
	struct perf_event_mmap_page control = { .cap_user_time_zero = 1, .time_zero = 100, .time_mult = 2 };
	const struct gus_aux_piece piece = { .time = 9000, .event = 3, .pid = 40, .tid = 41, .cpu = 2 };
	const struct { bool task, clock; uint32_t pid[2], tid[2]; uint64_t time[2]; } cases[] = {
		{ true, true, { 40, 40 }, { 41, 41 }, { 10100, 9000 } },
		{ true, false, { 40, 40 }, { 41, 41 }, { 9000, 9000 } },
		{ false, true, { GUS_TASK_UNKNOWN, GUS_TASK_UNKNOWN }, { 77, GUS_TASK_UNKNOWN }, { 10100, 9000 } },
	};
	struct words_bytes b = two_records();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct gus_area area = { .piece = &piece, .control = cases[i].clock ? &control : NULL,
			.period = 65536, .task = cases[i].task };
		struct gus_spe_lost lost = { 0 };
		struct taken t = { .n = 0 };

		assert_int_equal(gus_area_samples(&area, b.v, b.n, take, &t, &lost), 2);
		assert_int_equal(t.n, 2);
		for (size_t k = 0; k < 2; k++) {
			assert_int_equal(t.s[k].ip, k ? 0x402000 : 0x401000);
			assert_int_equal(t.s[k].pid, cases[i].pid[k]);
			assert_int_equal(t.s[k].tid, cases[i].tid[k]);
			assert_int_equal(t.s[k].time, cases[i].time[k]);
			assert_int_equal(t.s[k].event, 3);
			assert_int_equal(t.s[k].cpu, 2);
			assert_int_equal(t.s[k].period, 65536);
		}
	}
}

/* Samples that bring registers along: of the event's kind alone are they taken apart, and left off then. */
static void registers_of_samples(void **state)
{
	const struct { enum gus_event_words words; bool op, apart; } cases[] = {
		{ GUS_WORDS_NONE, true, false }, { GUS_WORDS_DATA, true, false }, { GUS_WORDS_IBS_OP, true, true },
		{ GUS_WORDS_IBS_FETCH, false, true }, { GUS_WORDS_IBS_OP, false, false },
	};
	const struct gus_area_cpus cpus = { .ibs = { 0x19, 0x11 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct words_ibs w = { .fields = cases[i].op ? words_ibs_op : words_ibs_fetch, .caps = 0x1bff,
			.family = 0x19, .model = 0x11 };
		struct gus_event event = { .words = cases[i].words };
		struct words_bytes raw = { .n = 0 };
		struct gus_extras extras = { 0 };
		struct gus_branch branch;
		struct gus_sample s = { 0 };

		if (cases[i].op)
			words_ibs_set(&w, "TagToRetCtr", 20);
		words_ibs_bytes(&w, &raw);
		gus_extras_add(&extras, GUS_EXTRA_RAW, 0, raw.v, raw.n);
		s.extras = extras.v;
		s.extras_n = (uint32_t)extras.n;
		gus_area_decode(&cpus, &event, &s, &branch);
		if ((s.extras_n == 0) != cases[i].apart)
			fail_msg("case %zu: %u words are left", i, s.extras_n);
		gus_vec_free(&extras);
	}
}

/* The kernel's word of where data were is evidence of events for those that have it, and for no others. */
static void words_of_data(void **state)
{
	const union perf_mem_data_src far = { .mem_op = PERF_MEM_OP_LOAD, .mem_lvl = PERF_MEM_LVL_LOC_RAM |
		PERF_MEM_LVL_HIT, .mem_lvl_num = PERF_MEM_LVLNUM_RAM };
	const struct gus_area_cpus cpus = { .ibs = { 0x19, 0x11 } };

	(void)state;
	for (unsigned has = 0; has < 2; has++) {
		struct gus_event event = { .words = has ? GUS_WORDS_DATA : GUS_WORDS_NONE };
		struct gus_sample s = { .data_source = far.val };
		struct gus_branch branch;

		gus_area_decode(&cpus, &event, &s, &branch);
		assert_true((s.events != 0) == has);
	}
}

#if defined(__x86_64__)
/* A call that is broken off has one of the kernel's own errors, 512 to 516, for its result. */
static void calls(void **state)
{
	const struct { long long call, result; bool inside; } cases[] = {
		{ 0, -512, true }, { 1, -512, true }, { 0, -516, true }, { 0, -511, false }, { 0, -517, false },
		{ 0, -514, true }, { -1, -512, false }, { 0, 0, false }, { 0, 512, false }, { 300, -4, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct user_regs_struct regs = { .orig_rax = (unsigned long long)cases[i].call,
			.rax = (unsigned long long)cases[i].result, .rsp = 0x7ff0 };
		Gusprof__Snapshot a = GUSPROF__SNAPSHOT__INIT;

		a.registers = (ProtobufCBinaryData){ sizeof(regs), (uint8_t *)&regs };
		if (gus_registers_in_kernel(0, &a) != cases[i].inside)
			fail_msg("call %lld, result %lld", cases[i].call, cases[i].result);
		assert_int_equal(gus_registers_stack(&a), 0x7ff0);
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mapped), cmocka_unit_test(wrapped), cmocka_unit_test(whose_and_when),
		cmocka_unit_test(registers_of_samples), cmocka_unit_test(words_of_data),
#if defined(__x86_64__)
		cmocka_unit_test(calls),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
