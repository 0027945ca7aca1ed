/* SPDX-License-Identifier: MIT */
/* Fuzz target of words of hardware: any bytes as what IBS brings of an op or of a fetch, as a buffer of SPE, and as the
 * kernel's word of where data were; on silicon that the second byte chooses. What nobody vouches for must be nothing,
 * events are proved or excluded but not both, a sample says what its record does, and of a buffer of SPE no byte is
 * read twice. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/alloc.h"
#include "collector/records/hardware.h"
#include "collector/records/ibs.h"
#include "collector/records/psv.h"
#include "collector/records/spe.h"
#include "proto/data_source.h"
#include "proto/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void check_events(const struct gus_sample *s)
{
	uint64_t proved = s->events & UINT16_MAX, excluded = s->events >> 16;

	demand(!(proved & excluded) && (proved | excluded) <= GUS_PSV_ALL);
}

/* What a field has without the bit that vouches for it. */
static void check_word(uint64_t word)
{
	struct gus_data_source d = gus_data_source_of_kernel(word), again;

	demand(d.level < GUS_DATA_LEVELS && *gus_data_level_name((enum gus_data_level)d.level));
	again = gus_data_source_of_kernel(gus_data_source_word(&d));
	again = gus_data_source_of_kernel(gus_data_source_word(&again));
	demand(gus_data_source_word(&again) == gus_data_source_word(&d) || !d.does);
}

static void check_sample(const struct gus_sample *s)
{
	check_events(s);
	check_word(s->data_source);
	demand(s->branches_n <= 1);
	demand((s->told & GUS_TOLD_ADDRESS) || !s->address);
	demand((s->told & GUS_TOLD_WEIGHT) || !s->weight);
	demand((s->told & GUS_TOLD_TRANSLATION) || !s->translation_latency);
	demand((s->told & (GUS_TOLD_RETIRE | GUS_TOLD_COMPLETE)) || !s->retire_latency);
}

static void check_op(const uint8_t *data, size_t size, const struct gus_ibs_cpu *cpu)
{
	struct gus_sample s = { 0 };
	struct gus_branch room;
	struct gus_ibs_op o;

	if (!gus_ibs_op_parse(data, size, cpu, &o))
		return;
	demand((o.known & GUS_IBS_RIP) || !o.rip);
	demand((o.known & GUS_IBS_TARGET) || !o.target);
	demand((o.known & GUS_IBS_LINEAR) || !o.linear);
	demand((o.known & GUS_IBS_PHYSICAL) || !o.physical);
	demand((o.known & GUS_IBS_TLB) || (!o.l1_tlb_miss && !o.l2_tlb_miss));
	demand(!(o.known & GUS_IBS_PAGE) == !o.page_bytes);
	demand((o.known & GUS_IBS_CACHE) || !o.dc_miss);
	demand((o.known & GUS_IBS_L2) || (!o.l2_miss && !o.misses_open));
	demand((o.known & GUS_IBS_SOURCE) || (!o.remote_node && !o.remote_socket && !o.cache_owned));
	demand((o.known & GUS_IBS_DC_LATENCY) || !o.dc_latency);
	demand((o.known & GUS_IBS_TLB_LATENCY) || !o.tlb_latency);
	demand((o.known & GUS_IBS_NO_MAB) || !o.no_mab);
	demand(o.branch || (!o.taken && !o.mispredicted && !o.returns && !o.fused));
	demand(o.load || o.store || !o.bytes);
	gus_hardware_ibs_op(&o, &s, &room);
	check_sample(&s);
}

static void check_fetch(const uint8_t *data, size_t size, const struct gus_ibs_cpu *cpu)
{
	struct gus_sample s = { 0 };
	struct gus_ibs_fetch f;

	if (!gus_ibs_fetch_parse(data, size, cpu, &f))
		return;
	demand((f.known & GUS_IBS_FETCH_LINEAR) || !f.linear);
	demand((f.known & GUS_IBS_FETCH_PHYSICAL) || !f.physical);
	demand(!(f.known & GUS_IBS_FETCH_PAGE) == !f.page_bytes);
	demand((f.known & GUS_IBS_FETCH_CACHE) || !f.ic_miss);
	demand((f.known & GUS_IBS_FETCH_L2) || !f.l2_miss);
	demand((f.known & GUS_IBS_FETCH_L3) || (!f.oc_miss && !f.l3_miss));
	demand((f.known & GUS_IBS_FETCH_REFILL) || !f.itlb_latency);
	demand((f.known & GUS_IBS_FETCH_LATENCY) || !f.latency);
	demand((f.known & GUS_IBS_FETCH_TLB) || (!f.l1_tlb_miss && !f.l2_tlb_miss));
	gus_hardware_ibs_fetch(&f, &s);
	check_sample(&s);
}

static void check_spe(const uint8_t *data, size_t size, uint64_t midr)
{
	struct gus_cursor c = gus_cursor(data, size);
	struct gus_spe_lost lost = { 0 };
	struct gus_spe_record r;
	size_t before = 0, records = 0;

	while (gus_spe_record(&c, &r, &lost)) {
		struct gus_sample s = { 0 };
		struct gus_branch room;

		demand(gus_cursor_offset(&c) >= before + 2); /* something, and its end */
		before = gus_cursor_offset(&c);
		records++;
		demand(r.known & ~(uint32_t)GUS_SPE_HAS_TIMESTAMP);
		demand((r.known & GUS_SPE_HAS_TOTAL) || !r.total);
		demand((r.known & GUS_SPE_HAS_EVENTS) || (!r.events && !r.events_told));
		demand(!(r.events & ~r.events_told));
		demand((r.known & GUS_SPE_HAS_OPERATION) || (!r.operation && !r.vector_bits));
		gus_hardware_spe(&r, midr, &s, &room);
		check_sample(&s);
		demand(!s.branches_n || (r.operation & GUS_SPE_OP_BRANCH));
	}
	demand(!gus_cursor_left(&c));
	demand(lost.bytes <= size && lost.damaged <= size && lost.cut <= 1);
	demand(2 * records + lost.bytes <= size);
}

static void check_words(const uint8_t *data, size_t size)
{
	for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), data += sizeof(uint64_t)) {
		struct gus_sample s = { 0 };

		memcpy(&s.data_source, data, sizeof(s.data_source));
		check_word(s.data_source);
		gus_hardware_data(&s);
		check_events(&s);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct gus_ibs_cpu cpus[] = { { 0, 0 }, { 0x10, 4 }, { 0x15, 2 }, { 0x17, 0x31 }, { 0x19, 0x01 },
		{ 0x19, 0x21 }, { 0x19, 0x11 }, { 0x1a, 0x02 } };
	static const uint64_t cores[] = { 0, 0x413fd0c1, 0xc00fac41, 0x480fd061, 0x4e0f0101, 0x410fd0b0 };
	const struct gus_ibs_cpu *cpu;
	uint8_t *copy; /* of its own length, so that a read behind it is seen */

	if (size < 2)
		return 0;
	cpu = &cpus[data[1] % (sizeof(cpus) / sizeof(*cpus))];
	copy = gus_alloc(size - 1);
	memcpy(copy, data + 2, size - 2);
	if (data[0] % 4 == 0)
		check_op(copy, size - 2, cpu);
	else if (data[0] % 4 == 1)
		check_fetch(copy, size - 2, cpu);
	else if (data[0] % 4 == 2)
		check_spe(copy, size - 2, cores[data[1] % (sizeof(cores) / sizeof(*cores))]);
	else
		check_words(copy, size - 2);
	free(copy);
	return 0;
}
