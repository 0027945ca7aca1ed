/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/spe.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "collector/perfdata/put.h"
#include "collector/perfdata/record.h"
#include "model/machine/options.h"
#include "tests/accuracy/golden/file.h"
#include "tests/accuracy/golden/claims.h"
#include "tests/accuracy/golden/words.h"
#include "tests/words/spe_words.h"

enum { PIECE = 256 << 10, COUNTER_MOST = 4095 };
enum { AUXTRACE_ARM_SPE = 4, COLLISION = 8 };
/* Of the events' packet. */
enum { RETIRED = 1 << 1, L1D_ACCESS = 1 << 2, L1D_REFILL = 1 << 3, TLB_ACCESS = 1 << 4, TLB_WALK = 1 << 5,
	NOT_TAKEN = 1 << 6, MISPREDICTED = 1 << 7, LLC_ACCESS = 1 << 8, LLC_MISS = 1 << 9 };
enum { OTHER, LOAD_STORE, BRANCH };
/* Of the operation's packet, by class; bit 1 of a load or store: an atomic one, if bit 2 is set as well. */
enum { STORE = 1 << 0, EXTENDED_ATOMIC = 1 << 1 | 1 << 2, CONDITIONAL = 1 << 0, INDIRECT = 1 << 1 };
/* log2 of bytes. */
enum { BYTE, HALF, WORD, DOUBLE };

static void put_record(struct golden_file *f, uint32_t type, const uint64_t *words, unsigned n)
{
	gus_put_u32(&f->bytes, type);
	gus_put_u16(&f->bytes, 0);
	gus_put_u16(&f->bytes, (uint16_t)(8 * (1 + n)));
	for (unsigned i = 0; i < n; i++)
		gus_put_u64(&f->bytes, words[i]);
}

/* The PMU's type, and that there is a buffer for each CPU: perf's first version of it, which all of its readers know.
 * Which core it is says the file's CPUID. The counter of Armv8.6 has a tick each nanosecond; shift and multiplier say
 * so. */
void golden_spe_begin(struct golden_spe *spe, uint32_t pid, struct golden_file *f)
{
	static const uint64_t info[] = { AUXTRACE_ARM_SPE, GOLDEN_TYPE_SPE, 1 };
	static const uint64_t clock[] = { 20, 1 << 20, 0, 0, UINT64_MAX, 1 };

	*spe = (struct golden_spe){ .pid = pid };
	put_record(f, GUS_PERFDATA_TIME_CONV, clock, sizeof(clock) / sizeof(*clock)); /* which perf looks at in what */
	put_record(f, GUS_PERFDATA_AUXTRACE_INFO, info, sizeof(info) / sizeof(*info)); /* comes next */
}

static uint64_t access_events(const struct golden_sample *s)
{
	return L1D_ACCESS | TLB_ACCESS | (s->level > GUS_HIT_L1 ? L1D_REFILL : 0) |
		(s->level > GUS_HIT_L2 ? LLC_ACCESS : 0) | (s->level > GUS_HIT_L3 ? LLC_MISS : 0) |
		(s->tlb == GUS_TLB_WALK ? TLB_WALK : 0);
}

static uint64_t branch_events(const struct golden_sample *s)
{
	return (s->taken ? 0 : NOT_TAKEN) | (s->mispredicted ? MISPREDICTED : 0);
}

static unsigned class_of(const struct golden_sample *s)
{
	return s->load || s->store ? LOAD_STORE : s->branch ? BRANCH : OTHER;
}

static uint64_t operation_of(const struct golden_sample *s)
{
	static const uint64_t accesses[2][2] = { { 0, STORE }, { 0, EXTENDED_ATOMIC } };
	uint64_t branch = (s->call || s->returns ? 0 : CONDITIONAL) | (s->returns ? INDIRECT : 0);

	return class_of(s) == LOAD_STORE ? accesses[s->load][s->store] : class_of(s) == BRANCH ? branch : 0;
}

static void put_counter(struct words_bytes *b, unsigned number, uint32_t cycles)
{
	words_spe_put(b, "counter", number, HALF, cycles < COUNTER_MOST ? cycles : COUNTER_MOST);
}

/* An address of EL0, non-secure. */
static uint64_t code(uint64_t address)
{
	return (address & UINT64_MAX >> 8) | UINT64_C(1) << 63;
}

static void put_access(struct words_bytes *b, const struct golden_sample *s)
{
	static const uint64_t sources[GUS_HITS] = { [GUS_HIT_L1] = 0x0, [GUS_HIT_L2] = 0x8, [GUS_HIT_L3] = 0xa,
		[GUS_HIT_MEMORY] = 0xe };

	words_spe_put(b, "address", 2, DOUBLE, s->address & UINT64_MAX >> 8);
	put_counter(b, 2, s->translation);
	if (s->load)
		words_spe_put(b, "source", 0, BYTE, sources[s->level]);
}

static void put_operation(struct words_bytes *b, const struct golden_sample *s, uint64_t time)
{
	unsigned class = class_of(s);

	words_spe_put(b, "address", 0, DOUBLE, code(s->ip));
	words_spe_put(b, "context", 0, WORD, s->tid);
	words_spe_put(b, "operation", class, BYTE, operation_of(s));
	words_spe_put(b, "events", 0, HALF, RETIRED | (class == LOAD_STORE ? access_events(s) : 0) |
		      (s->branch ? branch_events(s) : 0));
	put_counter(b, 1, s->tag_to_issue);
	put_counter(b, 0, s->tag_to_complete);
	if (class == LOAD_STORE)
		put_access(b, s);
	if (class == BRANCH && s->taken)
		words_spe_put(b, "address", 1, DOUBLE, code(s->target));
	words_spe_put(b, "timestamp", 0, DOUBLE, time);
}

/* A piece of the buffer: the kernel says that it is full, perf writes what is in it, in whole words. */
static void end_piece(struct golden_spe *spe, uint64_t time, uint64_t flags, struct golden_file *f)
{
	gus_put_padding(&spe->bytes, 0, 8);
	golden_file_put(f, PERF_RECORD_AUX, 0, (uint64_t[]){ spe->offset, spe->bytes.n, flags }, 3, spe->pid, spe->pid,
			time);
	golden_file_put_beside(f, spe->offset, spe->pid, &spe->bytes);
	spe->offset += spe->bytes.n;
	spe->bytes.n = 0;
}

void golden_spe_put(struct golden_spe *spe, const struct golden_sample *s, uint64_t time, struct golden_file *f)
{
	spe->record.n = 0;
	put_operation(&spe->record, s, time);
	gus_vec_append(&spe->bytes, spe->record.v, spe->record.n);
	if (spe->bytes.n >= PIECE)
		end_piece(spe, time, 0, f);
}

void golden_spe_end(struct golden_spe *spe, uint64_t time, bool collided, struct golden_file *f)
{
	if (spe->bytes.n || collided)
		end_piece(spe, time, collided ? COLLISION : 0, f);
	gus_vec_free(&spe->bytes);
}
