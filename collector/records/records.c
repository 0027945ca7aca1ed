/* SPDX-License-Identifier: MIT */
/* Records, as perf_event_open(2) and linux/perf_event.h (enum perf_event_type) lay them out.
 *
 *      header: type, misc, size | body, by type      | trailer, but not of samples
 *      8 bytes                  | multiples of eight | eight bytes a field
 *
 * The idea: a sample is flat fields in a fixed order, each there only if its bit of sample_type is set, and then a
 * chain, branches, registers and a stack, which say themselves how many they are. Every other record has a fixed body,
 * perhaps with a name to its end, and says when, where and of which task in a trailer (sample_id_all), found from the
 * end of the record backward. So the trailer is taken off first, and what is left is read forward.
 *
 * The invariant: everything is read through one cursor over the record's bytes. It never leaves them, a read beyond
 * them makes it bad for good, and what comes of a bad one is neither kept nor added to the side band: each taker of
 * a record looks at the cursor between its last read and what it adds. Numbers that say how many follow are held to
 * what is left before anything is made of that size. */
#include "collector/records/records.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/cursor.h"
#include "collector/kernel/abi.h"

#define BUILD_ID_MAX 20
/* PERF_SAMPLE_BRANCH_HW_INDEX and _COUNTERS, and what else headers of older kernels do not have. */
#define BRANCH_HW_INDEX (1u << 17)
#define BRANCH_COUNTERS (1u << 19)
#define SAMPLE_AUX (UINT64_C(1) << 20)
#define SAMPLE_CGROUP (UINT64_C(1) << 21)
#define SAMPLE_DATA_PAGE_SIZE (UINT64_C(1) << 22)
#define SAMPLE_CODE_PAGE_SIZE (UINT64_C(1) << 23)
#define FORMAT_LOST (1u << 4)
/* PERF_RECORD_MISC_MMAP_DATA: what is mapped is not executed. */
#define MISC_MMAP_DATA (1u << 13)

/* A record that is being taken apart: the bytes between its header and its trailer, and what the trailer says. */
struct body {
	struct gus_records *r;
	const struct gus_records_layout *layout;
	struct gus_sideband *sideband;
	struct gus_cursor c;
	uint32_t type;
	uint16_t misc;
	uint32_t pid, tid, cpu;
	bool cpu_told;
	uint64_t time, id, stream;
	struct gus_record *out;
};

void gus_records_init(struct gus_records *r, uint64_t sample_type, uint64_t branch_type, uint32_t events)
{
	*r = (struct gus_records){ .layout = { .sample_type = sample_type, .branch_type = branch_type },
				   .events = events, .last_slot = GUS_INDEX_NONE };
	gus_index_init(&r->ids, sizeof(uint64_t));
}

void gus_records_free(struct gus_records *r)
{
	gus_index_free(&r->ids);
	gus_vec_free(&r->event_of);
	gus_vec_free(&r->which_of);
	gus_vec_free(&r->ids_of);
	gus_vec_free(&r->chain);
	gus_vec_free(&r->branches);
	gus_vec_free(&r->regs);
	gus_vec_free(&r->stack);
	gus_vec_free(&r->words);
	gus_vec_free(&r->extras);
	gus_vec_free(&r->layouts);
}

uint32_t gus_records_add_id(struct gus_records *r, uint64_t id, uint32_t event)
{
	bool is_new;
	uint32_t slot = gus_index_add(&r->ids, &id, &is_new);

	while (is_new && r->ids_of.n <= event)
		gus_vec_push(&r->ids_of, 0);
	if (is_new) {
		gus_vec_push(&r->event_of, event);
		gus_vec_push(&r->which_of, r->ids_of.v[event]++);
	}
	r->last_slot = GUS_INDEX_NONE;
	return slot;
}

/* That an id is not known may change, so it is looked for each time. */
static uint32_t slot_of(struct gus_records *r, uint64_t id)
{
	if (r->last_slot == GUS_INDEX_NONE || r->last_id != id) {
		r->last_slot = gus_index_find(&r->ids, &id);
		r->last_id = id;
	}
	return r->last_slot;
}

static uint32_t event_of(struct gus_records *r, uint64_t id)
{
	uint32_t slot = slot_of(r, id);

	return slot == GUS_INDEX_NONE ? r->events : r->event_of.v[slot];
}

/* Copies the callers of a chain to r->chain. The kernel begins it with the interrupted address itself, behind the
 * marker of its context; that is no caller, so it is left out. Under exclude_callchain_kernel a kernel sample's chain
 * begins with the user's address, which is one. */
static void take_chain(struct gus_records *r, struct gus_cursor *c, struct gus_sample *s)
{
	uint64_t n = gus_cursor_u64(c), marker = 0;
	bool leads = true;

	r->chain.n = 0;
	if (n > gus_cursor_left(c) / sizeof(uint64_t)) {
		gus_cursor_take(c, SIZE_MAX); /* the whole record is bad */
		return;
	}
	gus_vec_reserve(&r->chain, (size_t)n);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t address = gus_cursor_u64(c);

		if (address >= PERF_CONTEXT_MAX) {
			marker = address;
		} else if (leads) {
			leads = false;
			if (address == s->ip ||
			    (s->exact && (marker == PERF_CONTEXT_USER) == (s->mode == GUS_MODE_USER)))
				continue;
		}
		r->chain.v[r->chain.n++] = address;
	}
	s->chain = r->chain.v;
	s->chain_n = (uint32_t)r->chain.n;
}

/* What struct perf_branch_entry has in its third word: four flags, 16 bits of cycles, then kinds. Where bit fields
 * begin at the highest bit they stand the other way round. */
static uint64_t branch_word(struct gus_cursor *c)
{
	static const uint8_t widths[] = { 1, 1, 1, 1, 16, 4, 2, 4, 3 };
	uint64_t word = gus_cursor_u64(c), turned = 0;
	unsigned from = 0;

	for (size_t i = 0; c->big_endian && i < sizeof(widths); i++) {
		turned |= (word << from >> (64 - widths[i])) << from;
		from += widths[i];
	}
	return c->big_endian ? turned : word;
}

static struct gus_branch take_branch(struct gus_cursor *c)
{
	struct gus_branch b = { .from = gus_cursor_u64(c), .to = gus_cursor_u64(c) };
	uint64_t word = branch_word(c);

	b.flags = (uint32_t)((word & 15) | word >> 20 << GUS_BRANCH_TYPE_SHIFT) & GUS_BRANCH_FLAGS;
	b.cycles = word >> 4 & UINT16_MAX;
	return b;
}

static void take_branch_counts(struct body *b, uint64_t n)
{
	if (n > gus_cursor_left(&b->c) / sizeof(uint64_t)) {
		gus_cursor_take(&b->c, SIZE_MAX);
		return;
	}
	gus_vec_reserve(&b->r->words, (size_t)n);
	for (uint64_t i = 0; i < n; i++)
		b->r->words.v[i] = gus_cursor_u64(&b->c);
	gus_extras_add(&b->r->extras, GUS_EXTRA_BRANCH_COUNTS, 0, b->r->words.v, (size_t)n * sizeof(uint64_t));
}

/* Copies the branches to r->branches. Where fewer were taken than the hardware has room for, some kernels fill up with
 * zeroes; they are left off. */
static void take_branches(struct body *b)
{
	struct gus_records *r = b->r;
	struct gus_cursor *c = &b->c;
	uint64_t n = gus_cursor_u64(c);
	struct gus_sample *s = &b->out->sample;

	/* The place in the hardware's ring stands before the entries; -1 says that the hardware does not tell. */
	s->branch_index = b->layout->branch_type & BRANCH_HW_INDEX ? gus_cursor_u64(c) + 1 : 0;
	r->branches.n = 0;
	if (n > gus_cursor_left(c) / (3 * sizeof(uint64_t))) {
		gus_cursor_take(c, SIZE_MAX);
		return;
	}
	gus_vec_reserve(&r->branches, (size_t)n);
	for (uint64_t i = 0; i < n; i++)
		r->branches.v[r->branches.n++] = take_branch(c);
	if (b->layout->branch_type & BRANCH_COUNTERS)
		take_branch_counts(b, n);
	while (r->branches.n && !r->branches.v[r->branches.n - 1].from && !r->branches.v[r->branches.n - 1].to)
		r->branches.n--;
	s->branches = r->branches.v;
	s->branches_n = (uint32_t)r->branches.n;
}

/* Registers in the order of their bits. Of a thread of the kernel's there are none. Those of a task of 32 bits come as
 * well, and mean other registers: nobody here unwinds such code. Returns the ABI of the task. */
static uint64_t read_regs(struct gus_cursor *c, uint64_t mask, uint64_t **v, unsigned *taken)
{
	uint64_t abi = gus_cursor_u64(c);
	unsigned n = abi == PERF_SAMPLE_REGS_ABI_NONE ? 0 : (unsigned)__builtin_popcountll(mask);

	for (unsigned i = 0; i < n; i++)
		(*v)[i] = gus_cursor_u64(c);
	*taken = n;
	return abi;
}

/* Those without a stack are no beginning of unwinding: they are kept as they are. */
static void take_regs(struct body *b)
{
	bool unwinds = b->layout->sample_type & PERF_SAMPLE_STACK_USER;
	struct gus_sample *s = &b->out->sample;
	uint64_t abi;
	unsigned n;

	gus_vec_reserve(&b->r->regs, 64);
	abi = read_regs(&b->c, b->layout->regs_mask, &b->r->regs.v, &n);
	if (!unwinds && n)
		gus_extras_add(&b->r->extras, GUS_EXTRA_USER_REGS, (unsigned)abi, b->r->regs.v, n * sizeof(uint64_t));
	if (!unwinds)
		return;
	if (abi == PERF_SAMPLE_REGS_ABI_64) {
		s->regs = b->r->regs.v;
		s->regs_n = n;
	} else {
		s->callers = abi == PERF_SAMPLE_REGS_ABI_NONE ? GUS_CALLERS_WHOLE : GUS_CALLERS_ABI;
	}
}

static void take_interrupted(struct body *b)
{
	uint64_t abi;
	unsigned n;

	gus_vec_reserve(&b->r->words, 64);
	abi = read_regs(&b->c, b->layout->intr_mask, &b->r->words.v, &n);
	if (n)
		gus_extras_add(&b->r->extras, GUS_EXTRA_REGS, (unsigned)abi, b->r->words.v, n * sizeof(uint64_t));
}

/* The piece of the stack: as many bytes as were asked for, or what a record has room for, and behind them how many of
 * these the kernel could read. It is not copied where it lies as an array of words does. */
static void take_stack(struct body *b)
{
	struct gus_sample *s = &b->out->sample;
	uint64_t size = gus_cursor_u64(&b->c), read;
	const uint8_t *bytes = gus_cursor_take(&b->c, size);

	read = size ? gus_cursor_u64(&b->c) : 0;
	if (b->c.bad || read > size) {
		gus_cursor_take(&b->c, SIZE_MAX); /* the whole record is bad */
		return;
	}
	s->stack_n = (uint32_t)(read / sizeof(uint64_t));
	s->stack = (const void *)bytes;
	if (!s->stack_n || ((uintptr_t)bytes % sizeof(uint64_t) == 0 && !b->c.big_endian))
		return;
	gus_vec_reserve(&b->r->stack, s->stack_n);
	memcpy(b->r->stack.v, bytes, s->stack_n * sizeof(uint64_t));
	for (uint32_t i = 0; i < s->stack_n && b->c.big_endian; i++)
		b->r->stack.v[i] = __builtin_bswap64(b->r->stack.v[i]);
	s->stack = b->r->stack.v;
}

/* The kernel's id of a counter is that of a file that was open; what it says is which event's it is, and which of its
 * counters. */
static uint64_t counter_of(struct gus_records *r, uint64_t id)
{
	uint32_t slot = slot_of(r, id);

	return slot == GUS_INDEX_NONE ? r->events | (uint64_t)UINT32_MAX << 32 :
		r->event_of.v[slot] | (uint64_t)r->which_of.v[slot] << 32;
}

/* One counter, or those of a group, as words: how long it wanted to count and did, and the values with their ids. */
static void take_counts(struct body *b)
{
	uint64_t format = b->layout->read_format, n = format & PERF_FORMAT_GROUP ? gus_cursor_u64(&b->c) : 1;
	uint64_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & FORMAT_LOST);
	uint64_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING),
		words;

	if (n > gus_cursor_left(&b->c) / (each * sizeof(uint64_t))) {
		gus_cursor_take(&b->c, SIZE_MAX);
		return;
	}
	words = times + n * each;
	gus_vec_reserve(&b->r->words, (size_t)words);
	for (uint64_t i = 0; i < words; i++)
		b->r->words.v[i] = gus_cursor_u64(&b->c);
	/* An id stands behind each value; the times before the first of a group, or behind that of one alone. */
	for (uint64_t i = times + 1; format & PERF_FORMAT_ID && i < words; i += each)
		b->r->words.v[i] = counter_of(b->r, b->r->words.v[i]);
	gus_extras_add(&b->r->extras, GUS_EXTRA_COUNTS, 0, b->r->words.v, (size_t)words * sizeof(uint64_t));
}

static void take_raw(struct body *b)
{
	uint32_t size = gus_cursor_u32(&b->c);
	const uint8_t *raw = gus_cursor_take(&b->c, size);

	if (raw)
		gus_extras_add(&b->r->extras, GUS_EXTRA_RAW, 0, raw, size);
}

/* What one event counts by: of a load its latency, of a transaction its cycles. */
static void take_weight(struct body *b)
{
	b->out->sample.weight = gus_cursor_u64(&b->c);
	b->out->sample.told |= GUS_TOLD_WEIGHT;
}

/* Three of them. That the last one is there the kernel does not say: a core that does not tell it has 0 there. */
static void take_weights(struct body *b)
{
	struct gus_sample *s = &b->out->sample;
	uint64_t word = gus_cursor_u64(&b->c);

	s->weight = word & UINT32_MAX;
	s->instruction_latency = word >> 32 & UINT16_MAX;
	s->retire_latency = (uint32_t)(word >> 48);
	s->told |= GUS_TOLD_WEIGHT | (s->instruction_latency ? GUS_TOLD_INSTRUCTION : 0) |
		(s->retire_latency ? GUS_TOLD_RETIRE : 0);
}

static void take_identifier(struct body *b) { b->id = gus_cursor_u64(&b->c); }
static void take_ip(struct body *b) { b->out->sample.ip = gus_cursor_u64(&b->c); }
static void take_time(struct body *b) { b->out->sample.time = gus_cursor_u64(&b->c); }
static void take_stream(struct body *b) { b->stream = gus_cursor_u64(&b->c); }
static void take_data_source(struct body *b) { b->out->sample.data_source = gus_cursor_u64(&b->c); }
static void take_transaction(struct body *b) { b->out->sample.transaction = gus_cursor_u64(&b->c); }
static void take_physical(struct body *b) { b->out->sample.physical = gus_cursor_u64(&b->c); }
static void take_cgroup(struct body *b) { b->out->sample.cgroup = gus_cursor_u64(&b->c); }
static void take_data_page(struct body *b) { b->out->sample.data_page = gus_cursor_u64(&b->c); }
static void take_code_page(struct body *b) { b->out->sample.code_page = gus_cursor_u64(&b->c); }
static void take_callers(struct body *b) { take_chain(b->r, &b->c, &b->out->sample); }
static void take_aux(struct body *b) { gus_cursor_take(&b->c, gus_cursor_u64(&b->c)); }

static void take_thread(struct body *b)
{
	b->out->sample.pid = gus_cursor_u32(&b->c);
	b->out->sample.tid = gus_cursor_u32(&b->c);
}

static void take_address(struct body *b)
{
	b->out->sample.address = gus_cursor_u64(&b->c);
	b->out->sample.told |= GUS_TOLD_ADDRESS;
}

static void take_cpu(struct body *b)
{
	b->out->sample.cpu = gus_cursor_u32(&b->c);
	gus_cursor_u32(&b->c);
}

static void take_period(struct body *b)
{
	if (event_of(b->r, b->id) + 1 != b->r->unweighed)
		b->out->sample.period = gus_cursor_u64(&b->c);
}

/* Which fields a sample may have, in the ABI's fixed order. */
static const struct { uint64_t bit; void (*take)(struct body *); } fields[] = {
	{ PERF_SAMPLE_IDENTIFIER, take_identifier },
	{ PERF_SAMPLE_IP, take_ip },
	{ PERF_SAMPLE_TID, take_thread },
	{ PERF_SAMPLE_TIME, take_time },
	{ PERF_SAMPLE_ADDR, take_address },
	{ PERF_SAMPLE_ID, take_identifier },
	{ PERF_SAMPLE_STREAM_ID, take_stream },
	{ PERF_SAMPLE_CPU, take_cpu },
	{ PERF_SAMPLE_PERIOD, take_period },
	{ PERF_SAMPLE_READ, take_counts },
	{ PERF_SAMPLE_CALLCHAIN, take_callers },
	{ PERF_SAMPLE_RAW, take_raw },
	{ PERF_SAMPLE_BRANCH_STACK, take_branches },
	{ PERF_SAMPLE_REGS_USER, take_regs },
	{ PERF_SAMPLE_STACK_USER, take_stack },
	{ PERF_SAMPLE_WEIGHT, take_weight },
	{ GUS_PERF_WEIGHT_STRUCT, take_weights },
	{ PERF_SAMPLE_DATA_SRC, take_data_source },
	{ PERF_SAMPLE_TRANSACTION, take_transaction },
	{ PERF_SAMPLE_REGS_INTR, take_interrupted },
	{ PERF_SAMPLE_PHYS_ADDR, take_physical },
	{ SAMPLE_CGROUP, take_cgroup },
	{ SAMPLE_DATA_PAGE_SIZE, take_data_page },
	{ SAMPLE_CODE_PAGE_SIZE, take_code_page },
	{ SAMPLE_AUX, take_aux },
};

static const struct gus_records_layout *layout_of_event(const struct gus_records *r, uint32_t event)
{
	return event < r->layouts.n ? &r->layouts.v[event] : r->layouts.n ? &r->layouts.v[0] : &r->layout;
}

/* Whose record it is stands at the same place of all of a session: with an identifier first, else behind what the first
 * event has before its id (tools/perf, "id_pos"; perf refuses files of which that is not so). */
static uint64_t id_of_sample(const struct gus_records *r, struct gus_cursor c)
{
	const uint64_t before = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
	uint64_t type = layout_of_event(r, 0)->sample_type;

	if (!(type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)))
		return 0;
	if (!(type & PERF_SAMPLE_IDENTIFIER))
		gus_cursor_take(&c, (size_t)__builtin_popcountll(type & before) * 8);
	return gus_cursor_u64(&c);
}

/* Of events that have no ids, which then are one. */
static bool has_ids(const struct gus_records_layout *layout)
{
	return layout->sample_type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID);
}

/* Of a session whose events have layouts of their own, the event of the sample that begins at c. */
static uint32_t event_of_sample(struct gus_records *r, struct gus_cursor c)
{
	return has_ids(layout_of_event(r, 0)) ? event_of(r, id_of_sample(r, c)) : 0;
}

/* PERF_RECORD_SAMPLE. */
static void take_sample(struct body *b)
{
	struct gus_record *out = b->out;
	struct gus_sample *s = &out->sample;
	uint32_t event = b->r->layouts.n ? event_of_sample(b->r, b->c) : 0;
	uint64_t type;

	if (b->r->layouts.n)
		b->layout = layout_of_event(b->r, event);
	type = b->layout->sample_type;
	b->r->extras.n = 0;
	s->cpu = GUS_CPU_UNKNOWN;
	s->pid = s->tid = GUS_TASK_UNKNOWN;
	s->mode = b->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	s->exact = b->misc & PERF_RECORD_MISC_EXACT_IP;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (type & fields[i].bit)
			fields[i].take(b);
	s->event = b->r->layouts.n ? event : event_of(b->r, b->id);
	s->extras = b->r->extras.v;
	s->extras_n = (uint32_t)b->r->extras.n;
	if (!s->regs_n) /* nobody knows where it begins */
		s->stack_n = 0;
	/* Of a copy that a task has inherited, id is that of the event that we opened, and stream its own: in the
	 * kernel, primary_event_id() of kernel/events/core.c. */
	out->inherited = (type & PERF_SAMPLE_STREAM_ID) && b->stream != b->id;
	out->slot = slot_of(b->r, b->id);
	out->kind = GUS_RECORD_SAMPLE;
}

static Gusprof__Record *add(struct body *b, Gusprof__Record__KindCase kind, size_t room)
{
	b->out->kind = GUS_RECORD_SIDEBAND;
	b->out->sideband = gus_sideband_add(b->sideband, kind, room);
	return b->out->sideband;
}

/* The rest of the record is a name. */
static const char *take_name(struct body *b, size_t *length)
{
	const char *name = gus_cursor_string(&b->c, gus_cursor_left(&b->c), length);

	return name ? name : "";
}

/* Twenty-four bytes that are said to be a build id: how many count, three that are zero, and the id, filled up with
 * zeros. The kernel has left the mark on records that hold device and inode, where one of two readers of the mappings
 * had asked for build ids; a device's number is no size that linkers give their ids. */
static bool is_build_id(const uint8_t *file)
{
	static const uint8_t zeros[BUILD_ID_MAX];
	unsigned size = file[0];

	return (size == 8 || size == 16 || size == BUILD_ID_MAX) && memcmp(file + 1, zeros, 3) == 0 &&
	       memcmp(file + 4 + size, zeros, BUILD_ID_MAX - size) == 0;
}

static void take_mmap(struct body *b)
{
	uint32_t pid = gus_cursor_u32(&b->c), tid = gus_cursor_u32(&b->c);
	uint64_t start = gus_cursor_u64(&b->c), length = gus_cursor_u64(&b->c), offset = gus_cursor_u64(&b->c);
	bool two = b->type == PERF_RECORD_MMAP2, has_id = two && (b->misc & PERF_RECORD_MISC_MMAP_BUILD_ID);
	const uint8_t *file = two ? gus_cursor_take(&b->c, 24) : NULL; /* which it is: an inode, or a build id */
	uint32_t alone = b->misc & MISC_MMAP_DATA ? PROT_READ : PROT_EXEC; /* all that is told of it */
	uint32_t protection = two ? gus_cursor_u32(&b->c) : alone, flags = two ? gus_cursor_u32(&b->c) : 0;
	struct gus_cursor f = gus_cursor(file, file ? 24 : 0);
	const char *name;
	size_t name_length;
	Gusprof__Mmap *m;

	f.big_endian = b->c.big_endian;
	name = take_name(b, &name_length);
	if (b->c.bad)
		return;
	m = add(b, GUSPROF__RECORD__KIND_MMAP, name_length + 1 + BUILD_ID_MAX + 1)->mmap;
	*m = (Gusprof__Mmap){ .base = m->base, .pid = pid, .tid = tid, .time = b->time, .start = start,
			      .length = length, .offset = offset, .protection = protection, .flags = flags,
			      .path = gus_sideband_text(b->sideband, name, name_length),
			      .kernel = (b->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL };
	if (has_id && is_build_id(file)) {
		size_t size = gus_cursor_u8(&f);

		gus_cursor_take(&f, 3);
		m->build_id.len = size < BUILD_ID_MAX ? size : BUILD_ID_MAX;
		m->build_id.data = (uint8_t *)gus_sideband_text(b->sideband, f.at, m->build_id.len);
	} else if (two) {
		m->major = gus_cursor_u32(&f);
		m->minor = gus_cursor_u32(&f);
		m->inode = gus_cursor_u64(&f);
		m->generation = gus_cursor_u64(&f);
	}
}

/* contrib/gusprof-mark.h gives the thread a name that no thread has, for a moment: \1, the kind, the mark's name. */
static const char *mark_kind(const char *name, size_t length)
{
	if (length < 2 || name[0] != '\1')
		return NULL;
	return name[1] == 'p' ? "point" : name[1] == 'b' ? "begin" : name[1] == 'e' ? "end" : NULL;
}

static void take_mark(struct body *b, uint32_t pid, uint32_t tid, const char *kind, const char *name, size_t length)
{
	Gusprof__Mark *m = add(b, GUSPROF__RECORD__KIND_MARK, length + 1)->mark;

	*m = (Gusprof__Mark){ .base = m->base, .pid = pid, .tid = tid, .time = b->time, .kind = (char *)(uintptr_t)kind,
			      .name = gus_sideband_text(b->sideband, name, length) };
}

static void take_comm(struct body *b)
{
	uint32_t pid = gus_cursor_u32(&b->c), tid = gus_cursor_u32(&b->c);
	const char *name;
	size_t length;
	Gusprof__Comm *m;

	name = take_name(b, &length);
	if (b->c.bad)
		return;
	if (mark_kind(name, length)) {
		take_mark(b, pid, tid, mark_kind(name, length), name + 2, length - 2);
		return;
	}
	m = add(b, GUSPROF__RECORD__KIND_COMM, length + 1)->comm;
	*m = (Gusprof__Comm){ .base = m->base, .pid = pid, .tid = tid, .time = b->time,
			      .name = gus_sideband_text(b->sideband, name, length),
			      .exec = (b->misc & PERF_RECORD_MISC_COMM_EXEC) != 0 };
}

static void take_task(struct body *b)
{
	uint32_t pid = gus_cursor_u32(&b->c), ppid = gus_cursor_u32(&b->c);
	uint32_t tid = gus_cursor_u32(&b->c), ptid = gus_cursor_u32(&b->c);
	uint64_t time = gus_cursor_u64(&b->c);
	Gusprof__Task *m;

	if (b->c.bad)
		return;
	m = add(b, b->type == PERF_RECORD_FORK ? GUSPROF__RECORD__KIND_FORK : GUSPROF__RECORD__KIND_EXIT, 0)->fork;
	*m = (Gusprof__Task){ .base = m->base, .pid = pid, .ppid = ppid, .tid = tid, .ptid = ptid, .time = time };
}

static void take_ksymbol(struct body *b)
{
	uint64_t address = gus_cursor_u64(&b->c);
	uint32_t length = gus_cursor_u32(&b->c);
	uint16_t type = gus_cursor_u16(&b->c), flags = gus_cursor_u16(&b->c);
	const char *name;
	size_t name_length;
	Gusprof__Ksymbol *m;

	name = take_name(b, &name_length);
	if (b->c.bad)
		return;
	m = add(b, GUSPROF__RECORD__KIND_KSYMBOL, name_length + 1)->ksymbol;
	*m = (Gusprof__Ksymbol){ .base = m->base, .time = b->time, .address = address, .length = length, .type = type,
				 .unregister = (flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) != 0,
				 .name = gus_sideband_text(b->sideband, name, name_length) };
}

static uint32_t cpu_of(const struct body *b)
{
	return b->cpu_told ? b->cpu : GUS_CPU_UNKNOWN;
}

/* LOST says how many records found no room in the ring, by the event that then found some; LOST_SAMPLES how many
 * samples the hardware dropped. */
static void take_lost(struct body *b)
{
	uint64_t id = b->type == PERF_RECORD_LOST ? gus_cursor_u64(&b->c) : b->id;
	uint64_t count = gus_cursor_u64(&b->c);
	Gusprof__Lost *m;

	if (b->c.bad)
		return;
	m = add(b, GUSPROF__RECORD__KIND_LOST, 0)->lost;
	*m = (Gusprof__Lost){ .base = m->base, .time = b->time, .cpu = cpu_of(b), .event = event_of(b->r, id),
			      .count = count };
}

static void take_throttle(struct body *b)
{
	uint64_t time = gus_cursor_u64(&b->c), id = gus_cursor_u64(&b->c);
	Gusprof__Throttle *m;

	if (b->c.bad)
		return;
	m = add(b, GUSPROF__RECORD__KIND_THROTTLE, 0)->throttle;
	*m = (Gusprof__Throttle){ .base = m->base, .time = time, .cpu = cpu_of(b), .event = event_of(b->r, id),
				  .stop = b->type == PERF_RECORD_THROTTLE };
}

/* Who left or came is in the trailer, as the kernel writes it before it switches, or after. SWITCH_CPU_WIDE names in
 * its body the other one, too, which a record of its own tells. */
static void take_switch(struct body *b)
{
	bool out = b->misc & PERF_RECORD_MISC_SWITCH_OUT;

	b->out->kind = GUS_RECORD_SWITCH;
	b->out->sw = (struct gus_switch){ .time = b->time, .pid = b->pid, .tid = b->tid,
					  .cpu = cpu_of(b), .out = out,
					  .preempt = out && (b->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) };
}

static void take_piece(struct body *b)
{
	struct gus_aux_piece *a = &b->out->aux;

	*a = (struct gus_aux_piece){ .offset = gus_cursor_u64(&b->c), .size = gus_cursor_u64(&b->c) };
	a->flags = gus_cursor_u64(&b->c);
	a->time = b->time;
	a->event = event_of(b->r, b->id);
	a->pid = b->pid;
	a->tid = b->tid;
	a->cpu = cpu_of(b);
	b->out->slot = slot_of(b->r, b->id);
	b->out->kind = GUS_RECORD_AUX;
}

static void ignore(struct body *b)
{
	b->out->kind = GUS_RECORD_IGNORED;
}

/* By record type. Numbers that newer headers than ours may name stand as numbers. */
static void (*const takers[])(struct body *) = {
	[PERF_RECORD_MMAP] = take_mmap,
	[PERF_RECORD_LOST] = take_lost,
	[PERF_RECORD_COMM] = take_comm,
	[PERF_RECORD_EXIT] = take_task,
	[PERF_RECORD_THROTTLE] = take_throttle,
	[PERF_RECORD_UNTHROTTLE] = take_throttle,
	[PERF_RECORD_FORK] = take_task,
	[PERF_RECORD_READ] = ignore,
	[PERF_RECORD_SAMPLE] = take_sample,
	[PERF_RECORD_MMAP2] = take_mmap,
	[11] = take_piece, /* AUX */
	[12] = ignore, /* ITRACE_START */
	[PERF_RECORD_LOST_SAMPLES] = take_lost,
	[PERF_RECORD_SWITCH] = take_switch,
	[PERF_RECORD_SWITCH_CPU_WIDE] = take_switch,
	[16] = ignore, /* NAMESPACES */
	[PERF_RECORD_KSYMBOL] = take_ksymbol,
	[18] = ignore, /* BPF_EVENT */
	[19] = ignore, /* CGROUP */
	[20] = ignore, /* TEXT_POKE */
	[21] = ignore, /* AUX_OUTPUT_HW_ID */
};

/* Every record but a sample ends with a trailer, which sample_id_all asks for: the chosen ones of TID, TIME, ID,
 * STREAM_ID, CPU, IDENTIFIER, eight bytes each. Takes it off the end of the body. */
static void take_trailer_of(struct body *b, const struct gus_records_layout *layout)
{
	static const uint64_t places[] = { PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
					   PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER };
	uint64_t type = layout->no_trailer ? 0 : layout->sample_type;
	struct gus_cursor t = { 0 };
	size_t size = 0;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		size += type & places[i] ? 8 : 0;
	if (size > gus_cursor_left(&b->c)) {
		b->c.bad = true;
		b->c.at = b->c.end;
		return;
	}
	b->layout = layout;
	b->c.end -= size;
	t = gus_cursor(b->c.end, size);
	t.big_endian = b->c.big_endian;
	if (type & PERF_SAMPLE_TID) {
		b->pid = gus_cursor_u32(&t);
		b->tid = gus_cursor_u32(&t);
	}
	if (type & PERF_SAMPLE_TIME)
		b->time = gus_cursor_u64(&t);
	if (type & PERF_SAMPLE_ID)
		b->id = gus_cursor_u64(&t);
	if (type & PERF_SAMPLE_STREAM_ID)
		gus_cursor_u64(&t);
	if (type & PERF_SAMPLE_CPU) {
		b->cpu = gus_cursor_u32(&t);
		b->cpu_told = true;
		gus_cursor_u32(&t);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		b->id = gus_cursor_u64(&t);
}

/* Whose it is says the first event's trailer; if that one's is another, it is read as such. */
static void take_trailer(struct body *b)
{
	const struct gus_records_layout *first = layout_of_event(b->r, 0), *own;
	const uint8_t *end = b->c.end;

	take_trailer_of(b, first);
	own = layout_of_event(b->r, event_of(b->r, b->id));
	if (b->c.bad || (own->sample_type == first->sample_type && own->no_trailer == first->no_trailer))
		return;
	b->c.end = end;
	take_trailer_of(b, own);
}

/* Of a sample it stands behind what it may have of IDENTIFIER, IP and TID, eight bytes each. */
static uint64_t sample_time(struct gus_records *r, struct gus_cursor *c)
{
	const uint64_t before = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	uint64_t type = r->layouts.n ? layout_of_event(r, event_of(r, id_of_sample(r, *c)))->sample_type :
		r->layout.sample_type;

	gus_cursor_take(c, (size_t)__builtin_popcountll(type & before) * 8);
	return type & PERF_SAMPLE_TIME ? gus_cursor_u64(c) : 0;
}

uint64_t gus_records_time(struct gus_records *r, const void *bytes, size_t size)
{
	struct body b = { .r = r, .layout = &r->layout, .c = gus_cursor(bytes, size) };

	b.c.big_endian = r->big_endian;
	b.type = gus_cursor_u32(&b.c);
	gus_cursor_u32(&b.c);
	if (b.type == PERF_RECORD_SAMPLE)
		return sample_time(r, &b.c);
	take_trailer(&b);
	return b.c.bad ? 0 : b.time;
}

bool gus_records_trailer(struct gus_records *r, const void *bytes, size_t size, struct gus_records_trailer *trailer)
{
	struct body b = { .r = r, .layout = &r->layout, .c = gus_cursor(bytes, size) };

	b.c.big_endian = r->big_endian;
	gus_cursor_u64(&b.c);
	take_trailer(&b);
	*trailer = (struct gus_records_trailer){ b.time, b.pid, b.tid, cpu_of(&b),
						 size - (size_t)(b.c.end - b.c.start) };
	return !b.c.bad;
}

uint32_t gus_records_event(struct gus_records *r, const void *bytes, size_t size)
{
	struct gus_cursor c = gus_cursor(bytes, size);

	c.big_endian = r->big_endian;
	gus_cursor_u64(&c);
	return r->layouts.n ? event_of_sample(r, c) : event_of(r, id_of_sample(r, c));
}

struct gus_record gus_records_parse(struct gus_records *r, const void *bytes, size_t size,
				    struct gus_sideband *sideband)
{
	struct gus_record out = { .kind = GUS_RECORD_UNKNOWN, .slot = GUS_INDEX_NONE };
	struct body b = { .r = r, .layout = &r->layout, .sideband = sideband, .out = &out,
			  .c = gus_cursor(bytes, size) };

	b.c.big_endian = r->big_endian;
	b.type = gus_cursor_u32(&b.c);
	b.misc = gus_cursor_u16(&b.c);
	gus_cursor_u16(&b.c); /* the size, which our caller has followed to get here */
	if (b.c.bad) {
		out.kind = GUS_RECORD_BAD;
		return out;
	}
	if (b.type >= sizeof(takers) / sizeof(*takers) || !takers[b.type])
		return out;
	if (b.type != PERF_RECORD_SAMPLE)
		take_trailer(&b);
	if (!b.c.bad)
		takers[b.type](&b);
	if (b.c.bad)
		out.kind = GUS_RECORD_BAD;
	return out;
}
