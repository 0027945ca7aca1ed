/* SPDX-License-Identifier: MIT */
/* Layouts: perf_event_open(2) and linux/perf_event.h, enum perf_event_type; collector/records/records.c reads the same,
 * and the tables here stand in its order. */
#include "collector/perfdata/write.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include "collector/kernel/abi.h"
#include "collector/perfdata/put.h"
#include "collector/perfdata/record.h"
#include "collector/records/records.h"
#include "proto/sample.h"

/* What headers of older kernels do not have. */
#define BRANCH_HW_INDEX (1u << 17)
#define BRANCH_COUNTERS (1u << 19)
#define SAMPLE_CGROUP (UINT64_C(1) << 21)
#define SAMPLE_DATA_PAGE_SIZE (UINT64_C(1) << 22)
#define SAMPLE_CODE_PAGE_SIZE (UINT64_C(1) << 23)
#define FORMAT_LOST (1u << 4)
#define MISC_MMAP_DATA (1u << 13)
#define MISC_MMAP_BUILD_ID (1u << 14)

#define RECORD_MAX 65528 /* a size is 16 bits, and a multiple of eight */
#define BUILD_ID_MAX 20
#define FLAT (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD)

uint64_t gus_perfdata_id(uint32_t event, uint32_t which)
{
	return (uint64_t)which << 32 | (event + UINT64_C(1));
}

/* A record that is being written. */
static size_t begin(struct gus_bytes *out, uint32_t type, uint16_t misc)
{
	size_t at = out->n;

	gus_put_u32(out, type);
	gus_put_u16(out, misc);
	gus_put_u16(out, 0);
	return at;
}

/* Says how long it is. False: longer than can be said. */
static bool end(struct gus_bytes *out, size_t at)
{
	size_t size = out->n - at;

	out->v[at + 6] = (uint8_t)size;
	out->v[at + 7] = (uint8_t)(size >> 8);
	return size <= RECORD_MAX;
}

/* Samples. */

struct draft {
	struct gus_bytes *out;
	const struct gus_records_layout *layout;
	const struct gus_sample *s;
	uint64_t *unfit;
	uint32_t stack_n, chain_n, branches_n; /* as many as there is room for */
	bool extras;                           /* there is room for them */
};

/* What that kind brought along, as words; NULL: nothing, or no room for it. */
static const uint64_t *words_of(const struct draft *d, enum gus_extra kind, size_t *n, unsigned *detail)
{
	size_t bytes = 0;
	const void *found = d->extras ? gus_sample_extra(d->s, kind, &bytes, detail) : NULL;

	*n = bytes / sizeof(uint64_t);
	return found;
}

/* Stacks are most of a file that has them. */
static void put_words(struct gus_bytes *out, const uint64_t *words, size_t n)
{
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		gus_vec_append(out, (const uint8_t *)words, n * sizeof(*words));
	else
		for (size_t i = 0; i < n; i++)
			gus_put_u64(out, words[i]);
}

static void put_zeros(struct gus_bytes *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		gus_put_u64(out, 0);
}

/* What stands before addresses of that mode in a chain; 0: nothing. */
static uint64_t marker_of(unsigned mode)
{
	static const uint64_t markers[] = {
		[GUS_MODE_KERNEL] = PERF_CONTEXT_KERNEL, [GUS_MODE_USER] = PERF_CONTEXT_USER,
		[GUS_MODE_HYPERVISOR] = PERF_CONTEXT_HV, [GUS_MODE_GUEST_KERNEL] = PERF_CONTEXT_GUEST_KERNEL,
		[GUS_MODE_GUEST_USER] = PERF_CONTEXT_GUEST_USER,
	};

	return mode < sizeof(markers) / sizeof(*markers) ? markers[mode] : 0;
}

/* The kernel's chains begin with the address of the sample, behind the marker of its mode, which records.c leaves out:
 * it goes back to where it was. In a chain that has no such marker, the user's callers of a kernel sample, it was not;
 * nor in one that is to be unwound, of which perf's unwinder tells it first, or of which nothing is left: the kernel
 * was not to tell its own callers. */
static void put_chain(struct draft *d)
{
	const struct gus_sample *s = d->s;
	uint64_t own = marker_of(s->mode);
	bool unwound = s->regs_n && (s->mode == GUS_MODE_USER || !s->chain_n), marked = false, told = unwound;
	size_t at = d->out->n;
	uint32_t i;

	gus_put_u64(d->out, 0);
	/* To perf, addresses without a marker are the user's. */
	if (!d->chain_n && !unwound && s->mode != GUS_MODE_USER && own)
		gus_put_u64(d->out, own);
	for (i = 0; i < d->chain_n && s->chain[i] >= PERF_CONTEXT_MAX; i++) {
		marked = true;
		gus_put_u64(d->out, s->chain[i]);
		if (!told && s->chain[i] == own)
			gus_put_u64(d->out, s->ip);
		told |= s->chain[i] == own;
	}
	if (!told && !marked)
		gus_put_u64(d->out, s->ip);
	if (i < d->chain_n)
		put_words(d->out, s->chain + i, d->chain_n - i);
	for (uint64_t b = 0, n = (d->out->n - at) / sizeof(n) - 1; b < sizeof(n); b++)
		d->out->v[at + b] = (uint8_t)(n >> 8 * b);
}

static void put_branches(struct draft *d)
{
	size_t n;
	unsigned detail;
	const uint64_t *counts = words_of(d, GUS_EXTRA_BRANCH_COUNTS, &n, &detail);

	gus_put_u64(d->out, d->branches_n);
	if (d->layout->branch_type & BRANCH_HW_INDEX)
		gus_put_u64(d->out, d->s->branch_index - 1); /* -1: not known */
	for (uint32_t i = 0; i < d->branches_n; i++) {
		const struct gus_branch *b = &d->s->branches[i];

		gus_put_u64(d->out, b->from);
		gus_put_u64(d->out, b->to);
		gus_put_u64(d->out, (b->flags & 15) | (uint64_t)(b->cycles & UINT16_MAX) << 4 |
			    (uint64_t)(b->flags >> GUS_BRANCH_TYPE_SHIFT) << 20);
	}
	if (!(d->layout->branch_type & BRANCH_COUNTERS))
		return;
	n = n < d->branches_n ? n : d->branches_n;
	put_words(d->out, counts, counts ? n : 0);
	put_zeros(d->out, d->branches_n - (counts ? n : 0));
}

/* Its own words for the kernel's: of each counter its id. Group: how many there are, times, then each; else one, and
 * behind it the times. */
struct counts {
	size_t times, each, n;
	size_t first_id;        /* where the first id stands; 0: there are none */
};

static struct counts counts_of(uint64_t format, size_t words)
{
	bool group = format & PERF_FORMAT_GROUP, id = format & PERF_FORMAT_ID;
	struct counts c = { .times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			    !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING), .each = 1 + id + !!(format & FORMAT_LOST) };

	c.n = words < c.times ? 0 : (words - c.times) / c.each;
	c.first_id = id ? c.times + 1 : 0; /* behind the times and its value, in either order */
	if (words != c.times + c.n * c.each || (!group && c.n != 1))
		c.n = 0;
	return c;
}

void gus_perfdata_counters(const struct gus_sample *s, uint64_t read_format,
			   void (*take)(void *context, uint64_t counter), void *context)
{
	size_t bytes = 0;
	unsigned detail;
	const uint64_t *words = gus_sample_extra(s, GUS_EXTRA_COUNTS, &bytes, &detail);
	struct counts c = counts_of(read_format, bytes / sizeof(*words));

	for (size_t i = 0; words && c.first_id && i < c.n; i++)
		take(context, words[c.first_id + i * c.each]);
}

static void put_counts(struct draft *d)
{
	size_t n = 0;
	unsigned detail;
	const uint64_t *words = words_of(d, GUS_EXTRA_COUNTS, &n, &detail);
	uint64_t format = d->layout->read_format;
	struct counts c = counts_of(format, n);

	if (format & PERF_FORMAT_GROUP)
		gus_put_u64(d->out, words ? c.n : 0);
	if (!words || !c.n) {
		d->unfit[GUS_PERFDATA_UNFIT_EXTRAS]++;
		put_zeros(d->out, c.times + (format & PERF_FORMAT_GROUP ? 0 : c.each));
		return;
	}
	for (size_t i = 0; i < n; i++) {
		bool id = c.first_id && i >= c.first_id && (i - c.first_id) % c.each == 0;

		gus_put_u64(d->out, id ? gus_perfdata_id((uint32_t)words[i], (uint32_t)(words[i] >> 32)) : words[i]);
	}
}

/* With its own size, so many bytes that both come to whole words. */
static void put_raw(struct draft *d)
{
	size_t n = 0, at;
	unsigned detail;
	const uint8_t *raw = d->extras ? gus_sample_extra(d->s, GUS_EXTRA_RAW, &n, &detail) : NULL;

	at = d->out->n;
	gus_put_u32(d->out, (uint32_t)((n + sizeof(uint32_t) + 7) / 8 * 8 - sizeof(uint32_t)));
	gus_vec_append(d->out, raw, raw ? n : 0);
	gus_put_padding(d->out, at, 8);
}

/* A word for each bit of the mask, if that is what there is. */
static void put_registers(struct draft *d, const uint64_t *words, size_t n, unsigned abi, uint64_t mask)
{
	bool fit = words && n == (size_t)__builtin_popcountll(mask) && abi != PERF_SAMPLE_REGS_ABI_NONE;

	d->unfit[GUS_PERFDATA_UNFIT_EXTRAS] += words && !fit;
	gus_put_u64(d->out, fit ? abi : PERF_SAMPLE_REGS_ABI_NONE);
	put_words(d->out, words, fit ? n : 0);
}

/* Those that stacks are unwound by, or others. */
static void put_regs(struct draft *d)
{
	size_t n = d->s->regs_n;
	unsigned abi = PERF_SAMPLE_REGS_ABI_64;
	const uint64_t *words = n ? d->s->regs : words_of(d, GUS_EXTRA_USER_REGS, &n, &abi);

	put_registers(d, words, n, abi, d->layout->regs_mask);
}

static void put_interrupted(struct draft *d)
{
	size_t n = 0;
	unsigned abi = PERF_SAMPLE_REGS_ABI_NONE;
	const uint64_t *words = words_of(d, GUS_EXTRA_REGS, &n, &abi);

	put_registers(d, words, n, abi, d->layout->intr_mask);
}

/* Behind it how much of it there is, which here is all. */
static void put_stack(struct draft *d)
{
	uint64_t bytes = (uint64_t)d->stack_n * sizeof(uint64_t);

	gus_put_u64(d->out, bytes);
	put_words(d->out, d->s->stack, d->stack_n);
	if (bytes)
		gus_put_u64(d->out, bytes);
}

static uint64_t at_most(struct draft *d, uint64_t value, uint64_t most)
{
	d->unfit[GUS_PERFDATA_UNFIT_LARGE] += value > most;
	return value > most ? most : value;
}

static void put_weights(struct draft *d)
{
	const struct gus_sample *s = d->s;
	uint64_t retire = s->told & GUS_TOLD_COMPLETE ? 0 : s->retire_latency;

	gus_put_u64(d->out, at_most(d, s->weight, UINT32_MAX) | at_most(d, s->instruction_latency, UINT16_MAX) << 32 |
		    at_most(d, retire, UINT16_MAX) << 48);
}

static void put_identifier(struct draft *d) { gus_put_u64(d->out, gus_perfdata_id(d->s->event, 0)); }
static void put_ip(struct draft *d) { gus_put_u64(d->out, d->s->ip); }
static void put_thread(struct draft *d) { gus_put_u64(d->out, d->s->pid | (uint64_t)d->s->tid << 32); }
static void put_time(struct draft *d) { gus_put_u64(d->out, d->s->time); }
static void put_address(struct draft *d) { gus_put_u64(d->out, d->s->address); }
static void put_cpu(struct draft *d) { gus_put_u64(d->out, d->s->cpu); }
static void put_period(struct draft *d) { gus_put_u64(d->out, d->s->period); }
static void put_weight(struct draft *d) { gus_put_u64(d->out, d->s->weight); }
static void put_data_source(struct draft *d) { gus_put_u64(d->out, d->s->data_source); }
static void put_transaction(struct draft *d) { gus_put_u64(d->out, d->s->transaction); }
static void put_physical(struct draft *d) { gus_put_u64(d->out, d->s->physical); }
static void put_cgroup(struct draft *d) { gus_put_u64(d->out, d->s->cgroup); }
static void put_data_page(struct draft *d) { gus_put_u64(d->out, d->s->data_page); }
static void put_code_page(struct draft *d) { gus_put_u64(d->out, d->s->code_page); }

/* Fields in the ABI's order. */
static const struct { uint64_t bit; void (*put)(struct draft *); } fields[] = {
	{ PERF_SAMPLE_IDENTIFIER, put_identifier },
	{ PERF_SAMPLE_IP, put_ip },
	{ PERF_SAMPLE_TID, put_thread },
	{ PERF_SAMPLE_TIME, put_time },
	{ PERF_SAMPLE_ADDR, put_address },
	{ PERF_SAMPLE_CPU, put_cpu },
	{ PERF_SAMPLE_PERIOD, put_period },
	{ PERF_SAMPLE_READ, put_counts },
	{ PERF_SAMPLE_CALLCHAIN, put_chain },
	{ PERF_SAMPLE_RAW, put_raw },
	{ PERF_SAMPLE_BRANCH_STACK, put_branches },
	{ PERF_SAMPLE_REGS_USER, put_regs },
	{ PERF_SAMPLE_STACK_USER, put_stack },
	{ PERF_SAMPLE_WEIGHT, put_weight },
	{ GUS_PERF_WEIGHT_STRUCT, put_weights },
	{ PERF_SAMPLE_DATA_SRC, put_data_source },
	{ PERF_SAMPLE_TRANSACTION, put_transaction },
	{ PERF_SAMPLE_REGS_INTR, put_interrupted },
	{ PERF_SAMPLE_PHYS_ADDR, put_physical },
	{ SAMPLE_CGROUP, put_cgroup },
	{ SAMPLE_DATA_PAGE_SIZE, put_data_page },
	{ SAMPLE_CODE_PAGE_SIZE, put_code_page },
};

static uint64_t needs_of_extras(const struct gus_sample *s)
{
	static const struct { enum gus_extra kind; uint64_t bit; } kinds[] = {
		{ GUS_EXTRA_RAW, PERF_SAMPLE_RAW }, { GUS_EXTRA_REGS, PERF_SAMPLE_REGS_INTR },
		{ GUS_EXTRA_COUNTS, PERF_SAMPLE_READ }, { GUS_EXTRA_BRANCH_COUNTS, PERF_SAMPLE_BRANCH_STACK },
		{ GUS_EXTRA_USER_REGS, PERF_SAMPLE_REGS_USER },
	};
	uint64_t needs = 0;
	unsigned detail;
	size_t bytes;

	for (size_t i = 0; s->extras_n && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (gus_sample_extra(s, kinds[i].kind, &bytes, &detail))
			needs |= kinds[i].bit;
	return needs;
}

static uint64_t needs_of(const struct gus_sample *s)
{
	bool retires = s->retire_latency && !(s->told & GUS_TOLD_COMPLETE);
	const struct { bool needed; uint64_t bits; } which[] = {
		{ s->address || s->told & GUS_TOLD_ADDRESS, PERF_SAMPLE_ADDR },
		{ s->chain_n, PERF_SAMPLE_CALLCHAIN },
		{ s->branches_n, PERF_SAMPLE_BRANCH_STACK },
		/* Without a stack they would be no beginning of unwinding; one may be empty. */
		{ s->regs_n, PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER },
		{ s->stack_n, PERF_SAMPLE_STACK_USER },
		{ s->weight || s->told & GUS_TOLD_WEIGHT, PERF_SAMPLE_WEIGHT },
		{ s->instruction_latency || retires, GUS_PERF_WEIGHT_STRUCT },
		{ s->data_source, PERF_SAMPLE_DATA_SRC },
		{ s->transaction, PERF_SAMPLE_TRANSACTION },
		{ s->physical, PERF_SAMPLE_PHYS_ADDR },
		{ s->cgroup, SAMPLE_CGROUP },
		{ s->data_page, SAMPLE_DATA_PAGE_SIZE },
		{ s->code_page, SAMPLE_CODE_PAGE_SIZE },
	};
	uint64_t needs = 0;

	for (size_t i = 0; i < sizeof(which) / sizeof(*which); i++)
		needs |= which[i].needed ? which[i].bits : 0;
	return needs | needs_of_extras(s);
}

/* Counts of events beside branches only where a sample has some: to perf before 6.8 they would be what comes next.
 * Times that are numbers of records are no times: they give the order, in which the records are written. */
struct gus_records_layout gus_perfdata_layout(const Gusprof__Header *header, uint32_t event)
{
	const Gusprof__Event *e = header->events[event];
	bool timeless = header->clock && strcmp(header->clock->name, "records") == 0;

	return (struct gus_records_layout){ .sample_type = FLAT | (timeless ? 0 : PERF_SAMPLE_TIME),
		.read_format = e->read_format, .intr_mask = e->regs_intr, .regs_mask = e->regs_user,
		.branch_type = (e->branch_type ? e->branch_type : header->branch_type) & ~(uint64_t)BRANCH_COUNTERS };
}

/* Which registers struct gus_sample has. x86-64: AX to IP, without flags and segments, then R8 to R15. arm64: X0 to
 * X29, LR, SP, PC. 0: nobody knows. */
static uint64_t registers_of(const char *machine, uint32_t regs_n)
{
	static const struct { const char *machine; uint64_t mask; } known[] = {
		{ "x86_64", UINT64_C(0xff01ff) }, { "aarch64", UINT64_C(0x1ffffffff) },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(machine, known[i].machine) == 0 &&
		    (uint32_t)__builtin_popcountll(known[i].mask) == regs_n)
			return known[i].mask;
	return 0;
}

void gus_perfdata_fit(struct gus_records_layout *layout, const struct gus_sample *s, const char *machine)
{
	size_t bytes;

	layout->sample_type |= needs_of(s);
	gus_perfdata_fit_cpu(layout, s->cpu);
	layout->branch_type |= s->branch_index ? BRANCH_HW_INDEX : 0;
	if (s->extras_n && gus_sample_extra(s, GUS_EXTRA_BRANCH_COUNTS, &bytes, NULL))
		layout->branch_type |= BRANCH_COUNTERS;
	if (s->regs_n)
		layout->regs_mask = registers_of(machine, s->regs_n);
}

void gus_perfdata_fit_cpu(struct gus_records_layout *layout, uint32_t cpu)
{
	layout->sample_type |= cpu != UINT32_MAX ? PERF_SAMPLE_CPU : 0;
}

void gus_perfdata_settle(struct gus_records_layout *layout)
{
	if (layout->sample_type & GUS_PERF_WEIGHT_STRUCT) /* it has the weight as well */
		layout->sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT;
	if (!(layout->sample_type & PERF_SAMPLE_BRANCH_STACK))
		layout->branch_type = 0;
	if (!(layout->sample_type & PERF_SAMPLE_READ))
		layout->read_format = 0;
	if (!(layout->sample_type & PERF_SAMPLE_REGS_INTR))
		layout->intr_mask = 0;
	if (!(layout->sample_type & PERF_SAMPLE_REGS_USER))
		layout->regs_mask = 0;
	if (!layout->regs_mask) /* without them nobody could tell where a stack lies */
		layout->sample_type &= ~(uint64_t)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	if (layout->sample_type & PERF_SAMPLE_STACK_USER) /* perf unwinds for events with chains alone */
		layout->sample_type |= PERF_SAMPLE_CALLCHAIN;
}

/* What reading it again will say was told. */
static uint64_t told_by(const struct draft *d)
{
	uint64_t type = d->layout->sample_type;
	bool retires = d->s->retire_latency && !(d->s->told & GUS_TOLD_COMPLETE);

	return (type & PERF_SAMPLE_ADDR ? GUS_TOLD_ADDRESS : 0) |
		(type & (PERF_SAMPLE_WEIGHT | GUS_PERF_WEIGHT_STRUCT) ? GUS_TOLD_WEIGHT : 0) |
		(type & GUS_PERF_WEIGHT_STRUCT && d->s->instruction_latency ? GUS_TOLD_INSTRUCTION : 0) |
		(type & GUS_PERF_WEIGHT_STRUCT && retires ? GUS_TOLD_RETIRE : 0);
}

static bool has_user_regs(const struct gus_sample *s)
{
	size_t bytes;

	return s->regs_n || (s->extras_n && gus_sample_extra(s, GUS_EXTRA_USER_REGS, &bytes, NULL));
}

static void count_unfit(const struct draft *d)
{
	const struct gus_sample *s = d->s;
	const uint64_t elsewhere = GUS_TOLD_ISSUE | GUS_TOLD_TRANSLATION | GUS_TOLD_COMPLETE;

	d->unfit[GUS_PERFDATA_UNFIT_CALLERS] += s->callers != 0;
	d->unfit[GUS_PERFDATA_UNFIT_PSV] += s->events != 0;
	d->unfit[GUS_PERFDATA_UNFIT_LATENCIES] += s->issue_latency || s->translation_latency || s->told & elsewhere;
	d->unfit[GUS_PERFDATA_UNFIT_EXTRAS] += !(d->layout->sample_type & PERF_SAMPLE_REGS_USER) && has_user_regs(s);
	d->unfit[GUS_PERFDATA_UNFIT_TOLD] += (s->told & ~elsewhere) != told_by(d);
}

/* Of n entries of a size as many as make up for so many bytes, or all. False: there are none. */
static bool drop(uint32_t *n, size_t size, size_t over)
{
	size_t less = (over + size - 1) / size;

	if (!*n)
		return false;
	*n -= less < *n ? (uint32_t)less : *n;
	return true;
}

/* Takes away what the record is too long by, the least of it first. False: nothing is left to take away. */
static bool shorten(struct draft *d, size_t over)
{
	size_t branch = (3 + !!(d->layout->branch_type & BRANCH_COUNTERS)) * sizeof(uint64_t);

	if (!d->stack_n && d->extras && d->s->extras_n) {
		d->extras = false;
		d->unfit[GUS_PERFDATA_UNFIT_EXTRAS]++;
		return true;
	}
	if (drop(&d->stack_n, sizeof(uint64_t), over))
		d->unfit[GUS_PERFDATA_UNFIT_STACK]++;
	else if (drop(&d->branches_n, branch, over))
		d->unfit[GUS_PERFDATA_UNFIT_BRANCHES]++;
	else if (drop(&d->chain_n, sizeof(uint64_t), over))
		d->unfit[GUS_PERFDATA_UNFIT_CHAIN]++;
	else
		return false;
	return true;
}

void gus_perfdata_put_sample(struct gus_bytes *out, const struct gus_records_layout *layout, const struct gus_sample *s,
			     uint64_t unfit[GUS_PERFDATA_UNFITS])
{
	struct draft d = { out, layout, s, unfit, s->stack_n, s->chain_n, s->branches_n, true };
	uint16_t misc = (uint16_t)((s->mode & PERF_RECORD_MISC_CPUMODE_MASK) |
				   (s->exact ? PERF_RECORD_MISC_EXACT_IP : 0));
	size_t at;

	count_unfit(&d);
	for (;;) {
		at = begin(out, PERF_RECORD_SAMPLE, misc);
		for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
			if (layout->sample_type & fields[i].bit)
				fields[i].put(&d);
		if (end(out, at) || !shorten(&d, out->n - at - RECORD_MAX))
			return;
		out->n = at;
	}
}

/* Other records: a body, and who, when and where behind it. The first event is the one that brings them along. */

struct trailer { uint32_t pid, tid, cpu; uint64_t time; };

static bool end_with(struct gus_bytes *out, size_t at, const struct gus_records_layout *layout, struct trailer t)
{
	const struct { uint64_t bit, value; } words[] = {
		{ PERF_SAMPLE_TID, t.pid | (uint64_t)t.tid << 32 }, { PERF_SAMPLE_TIME, t.time },
		{ PERF_SAMPLE_CPU, t.cpu }, { PERF_SAMPLE_IDENTIFIER, gus_perfdata_id(0, 0) },
	};

	gus_put_padding(out, at, 8);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (layout->sample_type & words[i].bit)
			gus_put_u64(out, words[i].value);
	if (end(out, at))
		return true;
	out->n = at;
	return false;
}

void gus_perfdata_put_switch(struct gus_bytes *out, const struct gus_records_layout *layout,
			     const struct gus_switch *sw)
{
	uint16_t misc = (sw->out ? PERF_RECORD_MISC_SWITCH_OUT : 0) |
		(sw->preempt ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0);
	size_t at = begin(out, PERF_RECORD_SWITCH, misc);

	end_with(out, at, layout, (struct trailer){ sw->pid, sw->tid, sw->cpu, sw->time });
}

/* In a body, where there is room for a time whether or not there is one. */
static uint64_t told_time(const struct gus_records_layout *layout, uint64_t time)
{
	return layout->sample_type & PERF_SAMPLE_TIME ? time : 0;
}

/* Which event's it is; 0: nobody knows. */
static uint64_t id_of(uint32_t event, uint32_t events)
{
	return event < events ? gus_perfdata_id(event, 0) : 0;
}

/* Which file it is says its build id, or its inode: there is room for one of them. */
static void put_file(struct gus_bytes *out, const Gusprof__Mmap *m)
{
	size_t n = m->build_id.len < BUILD_ID_MAX ? m->build_id.len : BUILD_ID_MAX, at = out->n;

	if (n) {
		gus_put_u32(out, (uint32_t)n); /* a byte, and three that mean nothing */
		gus_vec_append(out, m->build_id.data, n);
		gus_put_padding(out, at, 24);
		return;
	}
	gus_put_u32(out, m->major);
	gus_put_u32(out, m->minor);
	gus_put_u64(out, m->inode);
	gus_put_u64(out, m->generation);
}

static bool put_mmap(struct gus_bytes *out, const struct gus_records_layout *layout, const Gusprof__Record *record,
		     uint32_t events)
{
	const Gusprof__Mmap *m = record->mmap;
	unsigned mode = m->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	size_t at = begin(out, PERF_RECORD_MMAP2, (uint16_t)(mode | (m->protection & PROT_EXEC ? 0 : MISC_MMAP_DATA) |
							     (m->build_id.len ? MISC_MMAP_BUILD_ID : 0)));

	(void)events;
	gus_put_u32(out, m->pid);
	gus_put_u32(out, m->tid);
	gus_put_u64(out, m->start);
	gus_put_u64(out, m->length);
	gus_put_u64(out, m->offset);
	put_file(out, m);
	gus_put_u32(out, m->protection);
	gus_put_u32(out, m->flags);
	gus_put_text(out, m->path);
	return end_with(out, at, layout, (struct trailer){ .pid = m->pid, .tid = m->tid, .time = m->time });
}

static bool put_comm(struct gus_bytes *out, const struct gus_records_layout *layout, const Gusprof__Record *record,
		     uint32_t events)
{
	const Gusprof__Comm *c = record->comm;
	size_t at = begin(out, PERF_RECORD_COMM, c->exec ? PERF_RECORD_MISC_COMM_EXEC : 0);

	(void)events;
	gus_put_u32(out, c->pid);
	gus_put_u32(out, c->tid);
	gus_put_text(out, c->name);
	return end_with(out, at, layout, (struct trailer){ .pid = c->pid, .tid = c->tid, .time = c->time });
}

static bool put_task(struct gus_bytes *out, const struct gus_records_layout *layout, const Gusprof__Record *record,
		     uint32_t events)
{
	bool fork = record->kind_case == GUSPROF__RECORD__KIND_FORK;
	const Gusprof__Task *t = fork ? record->fork : record->exit;
	size_t at = begin(out, fork ? PERF_RECORD_FORK : PERF_RECORD_EXIT, 0);

	(void)events;
	gus_put_u32(out, t->pid);
	gus_put_u32(out, t->ppid);
	gus_put_u32(out, t->tid);
	gus_put_u32(out, t->ptid);
	gus_put_u64(out, told_time(layout, t->time));
	return end_with(out, at, layout, (struct trailer){ .pid = t->pid, .tid = t->tid, .time = t->time });
}

static bool put_ksymbol(struct gus_bytes *out, const struct gus_records_layout *layout, const Gusprof__Record *record,
			uint32_t events)
{
	const Gusprof__Ksymbol *k = record->ksymbol;
	size_t at = begin(out, PERF_RECORD_KSYMBOL, 0);

	(void)events;
	gus_put_u64(out, k->address);
	gus_put_u32(out, k->length);
	gus_put_u16(out, (uint16_t)k->type);
	gus_put_u16(out, k->unregister ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0);
	gus_put_text(out, k->name);
	return end_with(out, at, layout, (struct trailer){ .time = k->time });
}

static bool put_lost(struct gus_bytes *out, const struct gus_records_layout *layout, const Gusprof__Record *record,
		     uint32_t events)
{
	const Gusprof__Lost *l = record->lost;
	size_t at = begin(out, PERF_RECORD_LOST, 0);

	gus_put_u64(out, id_of(l->event, events));
	gus_put_u64(out, l->count);
	return end_with(out, at, layout, (struct trailer){ .cpu = l->cpu, .time = l->time });
}

static bool put_throttle(struct gus_bytes *out, const struct gus_records_layout *layout, const Gusprof__Record *record,
			 uint32_t events)
{
	const Gusprof__Throttle *t = record->throttle;
	uint64_t id = id_of(t->event, events);
	size_t at = begin(out, t->stop ? PERF_RECORD_THROTTLE : PERF_RECORD_UNTHROTTLE, 0);

	gus_put_u64(out, told_time(layout, t->time));
	gus_put_u64(out, id);
	gus_put_u64(out, id); /* of the stream, which here is the event */
	return end_with(out, at, layout, (struct trailer){ .cpu = t->cpu, .time = t->time });
}

/* As it came, but for whose it was: then its id would be of the file that it is from. Not what tells of counters by
 * their ids, nor what perf itself adds to a file and refers to what lies elsewhere in it. */
static bool put_kept(struct gus_bytes *out, const struct gus_records_layout *layout, const Gusprof__Record *record,
		     uint32_t events)
{
	static const uint8_t kinds[] = { [16] = 1 /* NAMESPACES */, [18] = 1 /* BPF_EVENT */, [19] = 1 /* CGROUP */,
					 [20] = 1 /* TEXT_POKE */ };
	const Gusprof__Kept *k = record->kept;
	size_t at;

	(void)events;
	if (k->type >= sizeof(kinds) || !kinds[k->type] || k->body.len > RECORD_MAX)
		return false;
	at = begin(out, k->type, (uint16_t)k->misc);
	gus_vec_append(out, k->body.data, k->body.len);
	return end_with(out, at, layout, (struct trailer){ .pid = k->pid, .tid = k->tid, .cpu = k->cpu,
							   .time = k->time });
}

bool gus_perfdata_put_record(struct gus_bytes *out, const struct gus_records_layout *layout,
			     const Gusprof__Record *record, uint32_t events)
{
	static bool (*const puts[])(struct gus_bytes *, const struct gus_records_layout *, const Gusprof__Record *,
				    uint32_t) = {
		[GUSPROF__RECORD__KIND_MMAP] = put_mmap, [GUSPROF__RECORD__KIND_COMM] = put_comm,
		[GUSPROF__RECORD__KIND_FORK] = put_task, [GUSPROF__RECORD__KIND_EXIT] = put_task,
		[GUSPROF__RECORD__KIND_KSYMBOL] = put_ksymbol, [GUSPROF__RECORD__KIND_LOST] = put_lost,
		[GUSPROF__RECORD__KIND_THROTTLE] = put_throttle, [GUSPROF__RECORD__KIND_KEPT] = put_kept,
	};
	size_t kind = record->kind_case;

	return kind < sizeof(puts) / sizeof(*puts) && puts[kind] && puts[kind](out, layout, record, events);
}

void gus_perfdata_put_round(struct gus_bytes *out)
{
	end(out, begin(out, GUS_PERFDATA_ROUND, 0));
}
