/* SPDX-License-Identifier: MIT */
/* Registers are taken apart by (lowest bit, bits) as the manuals number them, and then each field is kept or left out
 * by what it is valid with. */
#include "collector/records/ibs.h"

#include "base/cursor.h"

enum { CTL, RIP, DATA, DATA2, DATA3, LINEAR, PHYSICAL, OP_REGISTERS };
enum { FETCH_CTL, FETCH_LINEAR, FETCH_PHYSICAL, FETCH_REGISTERS };

static uint64_t bits(uint64_t reg, unsigned lowest, unsigned n)
{
	return reg >> lowest & ((UINT64_C(1) << n) - 1);
}

static bool bit(uint64_t reg, unsigned which)
{
	return reg >> which & 1;
}

static bool is_model(const struct gus_ibs_cpu *cpu, uint32_t family, uint32_t first, uint32_t last)
{
	return !cpu->family || (cpu->family == family && cpu->model >= first && cpu->model <= last);
}

/* The first Zen 3: Milan, Chagall (revision guide for models 00h to 0Fh of family 19h). */
static bool is_milan(const struct gus_ibs_cpu *cpu)
{
	return is_model(cpu, 0x19, 0x00, 0x0f);
}

/* A period has no low four bits; its high ones came later and lie elsewhere. */
static void take_ctl(struct gus_ibs_op *op, uint64_t ctl)
{
	bool long_ones = op->caps & GUS_IBS_CAP_COUNT_27;

	op->period = bits(ctl, 0, 16) << 4 | (long_ones ? bits(ctl, 20, 7) << 20 : 0);
	if (op->caps & GUS_IBS_CAP_COUNT)
		op->count = (uint32_t)bits(ctl, 32, long_ones ? 27 : 20);
	op->valid = bit(ctl, 18);
	op->counts_ops = (op->caps & GUS_IBS_CAP_OPS) && bit(ctl, 19);
	op->l3_miss_only = (op->caps & GUS_IBS_CAP_ZEN4) && bit(ctl, 16);
	if ((op->caps & GUS_IBS_CAP_LOAD_LATENCY) && bit(ctl, 63))
		op->least_latency = 128 * ((uint32_t)bits(ctl, 59, 4) + 1);
}

/* What it says of a branch it says of nothing else. */
static void take_data(struct gus_ibs_op *op, uint64_t data)
{
	op->complete_to_retire = (uint16_t)bits(data, 0, 16);
	op->tag_to_retire = (uint16_t)bits(data, 16, 16);
	op->microcoded = bit(data, 40);
	if (!(op->caps & GUS_IBS_CAP_RIP_INVALID) || !bit(data, 38))
		op->known |= GUS_IBS_RIP;
	op->branch = bit(data, 37);
	op->known |= GUS_IBS_BRANCH;
	if (!op->branch)
		return;
	op->returns = bit(data, 34);
	op->taken = bit(data, 35);
	op->mispredicted = bit(data, 36);
	op->fused = (op->caps & GUS_IBS_CAP_BRANCH_FUSED) && bit(data, 39);
}

static void take_page(struct gus_ibs_op *op, uint64_t data3)
{
	static const uint64_t pages[4] = { UINT64_C(1) << 12, UINT64_C(1) << 21, UINT64_C(1) << 30, 0 };
	unsigned which;

	if (op->caps & GUS_IBS_CAP_PAGE_SIZE)
		which = (unsigned)bits(data3, 4, 2);
	else if (op->l2_tlb_miss)
		which = 3; /* neither TLB had it */
	else if (op->l1_tlb_miss)
		which = bit(data3, 19) ? 2 : bit(data3, 6);
	else
		which = bit(data3, 5) ? 2 : bit(data3, 4);
	op->page_bytes = pages[which];
	if (op->page_bytes)
		op->known |= GUS_IBS_PAGE;
}

/* Addresses and translation. */
static void take_addresses(struct gus_ibs_op *op, uint64_t data3, uint64_t linear, uint64_t physical)
{
	bool has_linear = bit(data3, 17), has_physical = bit(data3, 18);

	if (has_linear) {
		op->known |= GUS_IBS_LINEAR;
		op->linear = linear;
	}
	/* The kernel keeps it from who may not see it, as 0. */
	if (has_physical && physical && (has_linear || !(op->caps & GUS_IBS_CAP_ZEN4))) {
		op->known |= GUS_IBS_PHYSICAL;
		op->physical = physical;
	}
	if (!has_linear || ((op->caps & GUS_IBS_CAP_PAGE_SIZE) && !has_physical))
		return;
	op->known |= GUS_IBS_TLB;
	op->l1_tlb_miss = bit(data3, 2);
	op->l2_tlb_miss = bit(data3, 3);
	take_page(op, data3);
	if (op->l1_tlb_miss && (has_physical || !(op->caps & GUS_IBS_CAP_ZEN4))) {
		op->known |= GUS_IBS_TLB_LATENCY;
		op->tlb_latency = (uint16_t)bits(data3, 48, 16);
	}
}

/* On the first Zen 3 an op that is a prefetch, or whose line was on its way, says nothing true of what lies behind L1
 * (erratum 1293). */
static bool is_vague(const struct gus_ibs_op *op, const struct gus_ibs_cpu *cpu, uint64_t data3)
{
	return is_milan(cpu) && (op->software_prefetch || bit(data3, 16));
}

/* Numbers of Zen 4 and later, of those before it, and of those before Zen, whose number 1 is their L3. */
static enum gus_ibs_source source_of(const struct gus_ibs_op *op, const struct gus_ibs_cpu *cpu, unsigned number)
{
	enum { NONE = GUS_IBS_SOURCE_NONE, RESERVED = GUS_IBS_SOURCE_RESERVED, NEAR = GUS_IBS_SOURCE_NEAR_CACHE,
		LOCAL = GUS_IBS_SOURCE_LOCAL_CACHE, FAR = GUS_IBS_SOURCE_FAR_CACHE, DRAM = GUS_IBS_SOURCE_DRAM,
		IO = GUS_IBS_SOURCE_IO, PERSISTENT = GUS_IBS_SOURCE_PERSISTENT, PEER = GUS_IBS_SOURCE_PEER,
		EXTENSION = GUS_IBS_SOURCE_EXTENSION };
	static const uint8_t before[8] = { NONE, RESERVED, LOCAL, DRAM, FAR, RESERVED, RESERVED, IO };
	static const uint8_t zen4[13] = { NONE, LOCAL, NEAR, DRAM, RESERVED, FAR, PERSISTENT, IO, EXTENSION,
		RESERVED, RESERVED, RESERVED, PEER };

	if (op->caps & GUS_IBS_CAP_ZEN4)
		return (enum gus_ibs_source)(number < sizeof(zen4) ? zen4[number] : RESERVED);
	if (number == 1 && cpu->family && cpu->family < 0x17)
		return GUS_IBS_SOURCE_LOCAL_CACHE;
	return (enum gus_ibs_source)before[number & 7];
}

/* Which state the line was in is told of what a cache had, and wrongly by Zen 3. Before Zen 4 of number 2 alone. */
static bool tells_state(const struct gus_ibs_op *op, const struct gus_ibs_cpu *cpu)
{
	bool cache = op->source == GUS_IBS_SOURCE_LOCAL_CACHE || op->source == GUS_IBS_SOURCE_NEAR_CACHE ||
		op->source == GUS_IBS_SOURCE_FAR_CACHE;

	return cache && (op->source_number == 2 || (op->caps & GUS_IBS_CAP_ZEN4)) && !is_milan(cpu) &&
		!is_model(cpu, 0x19, 0x20, 0x5f);
}

/* Only of loads that L1 did not have. */
static void take_source(struct gus_ibs_op *op, const struct gus_ibs_cpu *cpu, uint64_t data2)
{
	op->source_number = (uint8_t)bits(data2, 0, 3);
	if (op->caps & GUS_IBS_CAP_ZEN4)
		op->source_number = (uint8_t)(op->source_number | bits(data2, 6, 2) << 3);
	op->source = source_of(op, cpu, op->source_number);
	if (op->source == GUS_IBS_SOURCE_NONE)
		return;
	op->known |= GUS_IBS_SOURCE;
	op->remote_node = bit(data2, 4);
	op->remote_socket = (op->caps & GUS_IBS_CAP_STREAM) && bit(data2, 9);
	if (tells_state(op, cpu)) {
		op->known |= GUS_IBS_HIT_STATE;
		op->cache_owned = bit(data2, 5);
	}
}

static void take_caches(struct gus_ibs_op *op, const struct gus_ibs_cpu *cpu, uint64_t data2, uint64_t data3)
{
	op->known |= GUS_IBS_CACHE;
	op->dc_miss = bit(data3, 7);
	if (!op->dc_miss)
		return;
	if (!is_model(cpu, 0x15, 0x00, 0xff)) { /* erratum 717 */
		op->known |= GUS_IBS_NO_MAB;
		op->no_mab = bit(data3, 16);
	}
	if (op->load && !op->software_prefetch) {
		op->known |= GUS_IBS_DC_LATENCY;
		op->dc_latency = (uint16_t)bits(data3, 32, 16);
	}
	if (is_vague(op, cpu, data3))
		return;
	op->known |= GUS_IBS_L2 | GUS_IBS_MISSES_OPEN;
	op->l2_miss = bit(data3, 20);
	op->misses_open = (uint8_t)bits(data3, 26, 6);
	if (op->load)
		take_source(op, cpu, data2);
}

static void take_access(struct gus_ibs_op *op, const struct gus_ibs_cpu *cpu, const uint64_t *r)
{
	uint64_t data3 = r[DATA3];
	unsigned width = (unsigned)bits(data3, 22, 4);

	op->load = bit(data3, 0);
	op->store = bit(data3, 1);
	if (!op->load && !op->store)
		return;
	op->misaligned = bit(data3, 8);
	op->write_combining = bit(data3, 13);
	op->uncached = bit(data3, 14);
	op->locked = bit(data3, 15);
	op->software_prefetch = bit(data3, 21);
	op->bytes = width && width < 8 ? (uint8_t)(1u << (width - 1)) : 0;
	op->streaming_store = op->store && (op->caps & GUS_IBS_CAP_STREAM) && bit(r[DATA2], 8);
	take_addresses(op, data3, r[LINEAR], r[PHYSICAL]);
	if (!op->uncached)
		take_caches(op, cpu, r[DATA2], data3);
}

bool gus_ibs_op_parse(const void *raw, size_t size, const struct gus_ibs_cpu *cpu, struct gus_ibs_op *op)
{
	struct gus_cursor c = gus_cursor(raw, size);
	uint64_t r[OP_REGISTERS];

	*op = (struct gus_ibs_op){ .caps = gus_cursor_u32(&c) };
	for (unsigned i = 0; i < OP_REGISTERS; i++)
		r[i] = gus_cursor_u64(&c);
	if (c.bad)
		return false;
	take_ctl(op, r[CTL]);
	take_data(op, r[DATA]);
	op->rip = op->known & GUS_IBS_RIP ? r[RIP] : 0;
	take_access(op, cpu, r);
	if (op->caps & GUS_IBS_CAP_BRANCH_TARGET)
		op->target = gus_cursor_u64(&c);
	if (op->caps & GUS_IBS_CAP_DATA4)
		op->data4 = gus_cursor_u64(&c);
	/* 0 is none; and on family 15h it may be anything (erratum 717). */
	if (op->branch && op->target && !is_model(cpu, 0x15, 0x00, 0xff))
		op->known |= GUS_IBS_TARGET;
	else
		op->target = 0;
	return !c.bad;
}

/* Page sizes of the first Zen 3 have a table of their own (erratum 1347). */
static void take_fetch_page(struct gus_ibs_fetch *f, const struct gus_ibs_cpu *cpu, uint64_t ctl)
{
	static const uint64_t pages[2][4] = {
		{ UINT64_C(1) << 12, UINT64_C(1) << 21, UINT64_C(1) << 30, 0 },
		{ UINT64_C(1) << 12, UINT64_C(1) << 14, UINT64_C(1) << 21, UINT64_C(1) << 30 },
	};

	f->page_bytes = cpu->family ? pages[is_milan(cpu)][bits(ctl, 53, 2)] : 0;
	if (f->page_bytes)
		f->known |= GUS_IBS_FETCH_PAGE;
}

static void take_fetch_caches(struct gus_ibs_fetch *f, const struct gus_ibs_cpu *cpu, uint64_t ctl)
{
	if (!is_milan(cpu)) { /* erratum 1238 */
		f->known |= GUS_IBS_FETCH_CACHE;
		f->ic_miss = bit(ctl, 51);
	}
	if (f->completed) {
		f->known |= GUS_IBS_FETCH_L2;
		f->l2_miss = bit(ctl, 58);
	}
	if (f->caps & GUS_IBS_CAP_ZEN4) {
		f->known |= GUS_IBS_FETCH_L3;
		f->oc_miss = bit(ctl, 60);
		f->l3_miss = bit(ctl, 61);
	}
}

static void take_fetch_way(struct gus_ibs_fetch *f, const struct gus_ibs_cpu *cpu, uint64_t ctl, uint64_t extended)
{
	f->known |= GUS_IBS_FETCH_LATENCY | GUS_IBS_FETCH_TLB;
	f->latency = (uint16_t)bits(ctl, 32, 16);
	f->l1_tlb_miss = bit(ctl, 55);
	f->l2_tlb_miss = bit(ctl, 56);
	take_fetch_caches(f, cpu, ctl);
	if (f->caps & GUS_IBS_CAP_FETCH_EXTENDED) {
		f->known |= GUS_IBS_FETCH_REFILL;
		f->itlb_latency = (uint16_t)bits(extended, 0, 16);
	}
}

bool gus_ibs_fetch_parse(const void *raw, size_t size, const struct gus_ibs_cpu *cpu, struct gus_ibs_fetch *f)
{
	struct gus_cursor c = gus_cursor(raw, size);
	uint64_t r[FETCH_REGISTERS], ctl, extended = 0;
	bool has_physical;

	*f = (struct gus_ibs_fetch){ .caps = gus_cursor_u32(&c) };
	for (unsigned i = 0; i < FETCH_REGISTERS; i++)
		r[i] = gus_cursor_u64(&c);
	if (f->caps & GUS_IBS_CAP_FETCH_EXTENDED)
		extended = gus_cursor_u64(&c);
	if (c.bad)
		return false;
	ctl = r[FETCH_CTL];
	f->period = bits(ctl, 0, 16) << 4;
	f->count = (uint32_t)bits(ctl, 16, 16) << 4;
	f->valid = bit(ctl, 49);
	f->completed = bit(ctl, 50);
	f->randomised = bit(ctl, 57);
	f->l3_miss_only = (f->caps & GUS_IBS_CAP_ZEN4) && bit(ctl, 59);
	has_physical = bit(ctl, 52);
	/* The first Zen 3 has fetches from address 0 that never were (erratum 1197). */
	if (r[FETCH_LINEAR] || !is_milan(cpu)) {
		f->known |= GUS_IBS_FETCH_LINEAR;
		f->linear = r[FETCH_LINEAR];
	}
	if (has_physical && r[FETCH_PHYSICAL]) {
		f->known |= GUS_IBS_FETCH_PHYSICAL;
		f->physical = r[FETCH_PHYSICAL];
	}
	if (has_physical)
		take_fetch_page(f, cpu, ctl);
	/* From family 1Ah on nothing holds of a fetch that was given up before it was translated. */
	if (has_physical || (cpu->family && cpu->family < 0x1a))
		take_fetch_way(f, cpu, ctl, extended);
	return true;
}
