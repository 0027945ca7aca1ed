/* SPDX-License-Identifier: MIT */
#include "model/calibration/loads.h"

#include "model/calibration/emit.h"

enum { PAGE = 4096, LINE = 64, WORD = 8, WIDE = 32 };

static struct gus_micro_access fixed(int64_t offset)
{
	return (struct gus_micro_access){ .way = GUS_MICRO_FIXED, .offset = offset };
}

/* A list of one place that holds its own address, from there on. */
static struct gus_micro_access itself(struct gus_micro *m)
{
	(void)m;
	return (struct gus_micro_access){ .way = GUS_MICRO_CHASE, .list = 0, .step = true };
}

static struct gus_micro *begin(enum gus_isa isa, const char *name, uint64_t place)
{
	struct gus_micro *m = gus_micro_new(isa, "%s", name);

	m->arena = 4 * PAGE;
	gus_vec_push(&m->lists, (struct gus_micro_list){ .start = place, .places = 1, .distance = LINE,
		.in_order = true });
	gus_vec_push(&m->patterns, (struct gus_micro_pattern){ .start = 3 * PAGE, .bytes = LINE,
		.bits = GUS_MICRO_ZEROS });
	gus_emit_begin(m);
	gus_emit_address(m, 0, (int64_t)place);
	gus_emit_address(m, 1, 2 * PAGE);
	gus_emit_address(m, 2, (int64_t)place);
	return m;
}

static void link_load(struct gus_micro *m)
{
	gus_emit_load(m, 0, 0, 0, itself(m));
}

static void link_load_added(struct gus_micro *m)
{
	gus_emit_load(m, 0, 0, 0, itself(m));
	gus_emit_add(m, 0, 11);
}

static void link_indexed(struct gus_micro *m)
{
	gus_emit_load_indexed(m, 4, 5, 4, fixed(3 * PAGE)); /* R5: begin_of */
}

static void link_vector(struct gus_micro *m)
{
	gus_emit_load_vector(m, 0, WORD, 0, 0, itself(m));
	gus_emit_to_general(m, 0, 0);
}

static void link_transfers(struct gus_micro *m)
{
	gus_emit_to_vector(m, 0, 0);
	gus_emit_to_general(m, 0, 0);
}

static void link_apart(struct gus_micro *m)
{
	gus_emit_store(m, 11, GUS_EMIT_ARENA, PAGE + 5 * LINE, fixed(PAGE + 5 * LINE));
	link_load(m);
}

static void link_alias(struct gus_micro *m)
{
	gus_emit_store(m, 11, GUS_EMIT_ARENA, PAGE, fixed(PAGE));
	link_load(m);
}

static void link_forward(struct gus_micro *m)
{
	gus_emit_store(m, 4, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_load(m, 4, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

static void link_forward_other(struct gus_micro *m)
{
	gus_emit_store(m, 4, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_load(m, 4, 1, 0, fixed(2 * PAGE));
}

/* Memory that an addition reads is not renamed everywhere where loads are: add rax, [rsi + 2 * PAGE] (R0 is rax). */
static void link_forward_add(struct gus_micro *m)
{
	static const uint8_t add[] = { 0x48, 0x03, 0x86, 0x00, 0x20, 0x00, 0x00 };

	if (m->isa != GUS_ISA_X86_64) {
		link_forward(m);
		gus_emit_add(m, 4, 11);
		return;
	}
	gus_emit_store(m, 0, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_bytes(m, add, sizeof(add));
	gus_vec_push(&m->accesses, fixed(2 * PAGE));
}

static void link_forward_byte(struct gus_micro *m)
{
	gus_emit_store_byte(m, 4, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_load_byte(m, 4, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

/* Words of two bytes no CPU renames: mov [rsi + 2 * PAGE], ax; movzx eax, word [rsi + 2 * PAGE] (R0 is rax). */
static void link_forward_short(struct gus_micro *m)
{
	static const uint8_t store[] = { 0x66, 0x89, 0x86, 0x00, 0x20, 0x00, 0x00 };
	static const uint8_t load[] = { 0x0f, 0xb7, 0x86, 0x00, 0x20, 0x00, 0x00 };

	if (m->isa != GUS_ISA_X86_64) {
		link_forward_byte(m);
		return;
	}
	gus_emit_bytes(m, store, sizeof(store));
	gus_vec_push(&m->accesses, fixed(2 * PAGE));
	gus_emit_bytes(m, load, sizeof(load));
	gus_vec_push(&m->accesses, fixed(2 * PAGE));
}

static void link_forward_computed(struct gus_micro *m)
{
	link_forward(m);
	gus_emit_add(m, 4, 11);
}

static void link_forward_vector(struct gus_micro *m)
{
	gus_emit_store_vector(m, 0, 2 * WORD, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_load_vector(m, 0, 2 * WORD, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

static void link_forward_word(struct gus_micro *m)
{
	gus_emit_store_vector(m, 0, WORD, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_load_vector(m, 0, WORD, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

static void link_forward_part(struct gus_micro *m)
{
	gus_emit_store_vector(m, 0, 2 * WORD, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_load_vector(m, 0, WORD, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

static void link_forward_wide(struct gus_micro *m)
{
	gus_emit_store_vector(m, 0, WIDE, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_load_vector(m, 0, WIDE, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

/* The address of the store waits for the load before; what it stores, the address itself, does not. */
static void link_forward_address(struct gus_micro *m)
{
	gus_emit_store(m, 2, 0, 0, itself(m));
	gus_emit_load(m, 0, 0, 0, itself(m));
}

static void link_wider(struct gus_micro *m)
{
	gus_emit_store_byte(m, 4, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_load(m, 4, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

static void link_blocked(struct gus_micro *m)
{
	gus_emit_store_byte(m, 4, GUS_EMIT_ARENA, 2 * PAGE + 2, fixed(2 * PAGE + 2));
	gus_emit_load(m, 4, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

/* All of what is loaded is in flight, but in two stores. */
static void link_blocked_pair(struct gus_micro *m)
{
	for (int half = 0; half < 2; half++) {
		int32_t offset = 2 * PAGE + half * WORD / 2;

		gus_emit_store_half(m, 0, GUS_EMIT_ARENA, offset, fixed(offset));
	}
	gus_emit_load(m, 0, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

static void link_blocked_vector(struct gus_micro *m)
{
	gus_emit_store_vector(m, 0, WORD, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_store_vector(m, 0, WORD, GUS_EMIT_ARENA, 2 * PAGE + WORD, fixed(2 * PAGE + WORD));
	gus_emit_load_vector(m, 0, 2 * WORD, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

/* No chain: nothing waits for them but the next ones, for L1. */
static void link_stores(struct gus_micro *m)
{
	for (int i = 0; i < 2; i++)
		gus_emit_store(m, 11, GUS_EMIT_ARENA, 2 * PAGE + i * WORD, fixed(2 * PAGE + i * WORD));
}

static void link_stores_vector(struct gus_micro *m)
{
	for (int i = 0; i < 2; i++)
		gus_emit_store_vector(m, 1, WORD, GUS_EMIT_ARENA, 2 * PAGE + i * WORD, fixed(2 * PAGE + i * WORD));
}

static const struct link {
	const char *name;
	void (*put)(struct gus_micro *m);
	uint64_t place;         /* of the list */
	bool quick;
} links[GUS_LOADS] = {
	[GUS_LOADS_PLAIN] = { "load", link_load, 0, true },
	[GUS_LOADS_ADDED] = { "load and addition", link_load_added, 0, false },
	[GUS_LOADS_INDEXED] = { "load with an index", link_indexed, 0, false },
	[GUS_LOADS_VECTOR] = { "load of a vector", link_vector, 0, false },
	[GUS_LOADS_TRANSFERS] = { "to a vector and back", link_transfers, 0, false },
	[GUS_LOADS_LINE] = { "load across lines", link_load, LINE - 4, false },
	[GUS_LOADS_PAGE] = { "load across pages", link_load, PAGE - 4, false },
	[GUS_LOADS_APART] = { "load behind a store", link_apart, 0, false },
	[GUS_LOADS_ALIAS] = { "load behind a store a page away", link_alias, 0, false },
	[GUS_LOADS_FORWARD] = { "store and load", link_forward, 0, true },
	[GUS_LOADS_FORWARD_OTHER] = { "store and load by another register", link_forward_other, 0, false },
	[GUS_LOADS_FORWARD_ADD] = { "store and addition of memory", link_forward_add, 0, true },
	[GUS_LOADS_FORWARD_BYTE] = { "store and load of a byte", link_forward_byte, 0, false },
	[GUS_LOADS_FORWARD_SHORT] = { "store and load of two bytes", link_forward_short, 0, true },
	[GUS_LOADS_FORWARD_COMPUTED] = { "store, load and addition", link_forward_computed, 0, false },
	[GUS_LOADS_FORWARD_VECTOR] = { "store and load of a vector", link_forward_vector, 0, true },
	[GUS_LOADS_FORWARD_WORD] = { "store and load of a word of a vector", link_forward_word, 0, true },
	[GUS_LOADS_FORWARD_PART] = { "store of a vector and load of its half", link_forward_part, 0, true },
	[GUS_LOADS_FORWARD_WIDE] = { "store and load of a wide vector", link_forward_wide, 0, true },
	[GUS_LOADS_FORWARD_ADDRESS] = { "store to what was loaded", link_forward_address, 0, false },
	[GUS_LOADS_WIDER] = { "load wider than the store", link_wider, 0, false },
	[GUS_LOADS_BLOCKED] = { "load around a store", link_blocked, 0, true },
	[GUS_LOADS_BLOCKED_PAIR] = { "load of two stores", link_blocked_pair, 0, true },
	[GUS_LOADS_BLOCKED_VECTOR] = { "load of a vector of two stores", link_blocked_vector, 0, true },
	[GUS_LOADS_STORES] = { "two stores", link_stores, 0, true },
	[GUS_LOADS_STORES_VECTOR] = { "two stores of vectors", link_stores_vector, 0, true },
};

const char *gus_loads_name(enum gus_loads chain)
{
	return links[chain].name;
}

bool gus_loads_are_quick(enum gus_loads chain)
{
	return links[chain].quick;
}

struct gus_micro *gus_loads_micro(enum gus_isa isa, enum gus_loads chain)
{
	const struct link *link = &links[chain];
	struct gus_micro *m = begin(isa, link->name, link->place);

	gus_emit_address(m, 5, 3 * PAGE);
	gus_emit_loop(m);
	for (unsigned i = 0; i < GUS_LOADS_LINKS; i++)
		link->put(m);
	gus_emit_end(m);
	return m;
}
