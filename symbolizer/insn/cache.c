/* SPDX-License-Identifier: MIT */
/* The memory of analyses. Instructions are seldom new: what most differ in is a displacement and an immediate, and
 * all code of a C library has but some 16,000 shapes when these are left out. So what is kept is shapes, by the
 * bytes before the displacement (and, of immediates of one byte, whether they are values that something depends
 * on); the two numbers are put into a shape's info each time. An instruction whose immediate is more than a number
 * is kept by all its bytes, and so is a word of arm64. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbolizer/insn/insn.h"
#include "symbolizer/insn/private.h"
#include "symbolizer/insn/x86.h"

enum { FIRST_ROOM = 1024, DEFAULT_LIMIT = 1 << 18, ROOM = 32 };

/* Up to 15 bytes; in the last byte what tells keys with the same bytes apart: in its low half how many they are, in
 * its high half the class of the immediate, or WHOLE. */
struct key {
	uint64_t low, high;
};

#define WHOLE 15u

/* All that a hit needs is in the first 64 bytes, a line of the cache: the key, and of the info what comes before the
 * second half of its memory operand. */
struct shape {
	struct key key;
	struct gus_insn_info info;
	uint8_t scale;          /* what the displacement is multiplied by: not 1 in EVEX code; 0: all is in the key */
	bool is_signed;         /* the immediate is extended by its sign */
	uint8_t unused[6];
};

enum { LINE = 64 };
_Static_assert(sizeof(struct shape) % LINE == 0, "shapes do not begin at lines of the cache");

struct gus_insn_decoder {
	enum gus_isa isa;
	ZydisDecoder zydis;
	size_t limit;
	uint32_t n, room;
	uint32_t slots_room;    /* a power of two, at least twice n */
	uint32_t *slots;        /* number of the shape + 1, or 0 */
	void *block;            /* what shapes is in */
	struct shape *shapes;
	struct gus_insn_info other;     /* what is not kept */
};

struct gus_insn_decoder *gus_insn_decoder_new(enum gus_isa isa, size_t limit)
{
	struct gus_insn_decoder *d = gus_zalloc(sizeof(*d));

	d->isa = isa;
	d->limit = !limit ? DEFAULT_LIMIT : limit < 1u << 28 ? limit : 1u << 28;
	d->slots_room = 2 * FIRST_ROOM;
	d->slots = gus_zalloc(d->slots_room * sizeof(*d->slots));
	gus_x86_decoder_init(&d->zydis, isa == GUS_ISA_X86_64);
	return d;
}

void gus_insn_decoder_free(struct gus_insn_decoder *d)
{
	if (!d)
		return;
	free(d->slots);
	free(d->block);
	free(d);
}

static inline uint64_t low_bytes(uint64_t value, unsigned count)
{
	return count >= 8 ? value : value & (((uint64_t)1 << 8 * count) - 1);
}

/* The key of the first count bytes; 16 are readable. */
static inline struct key key_of(const uint8_t *bytes, unsigned count, unsigned class)
{
	struct key key;

	memcpy(&key.low, bytes, 8);
	memcpy(&key.high, bytes + 8, 8);
	key.low = low_bytes(key.low, count);
	key.high = low_bytes(key.high, count < 8 ? 0 : count - 8) | (uint64_t)(class << 4 | count) << 56;
	return key;
}

static inline uint32_t hash_of(const struct key *key)
{
	/* The upper half depends on all bits of both; two products at once are quicker than better mixing. */
	return (uint32_t)((key->low * 0x9e3779b97f4a7c15u ^ key->high * 0xd6e8feb86659fd93u) >> 32);
}

static inline uint32_t *slot_of(const struct gus_insn_decoder *d, const struct key *key)
{
	uint32_t mask = d->slots_room - 1, at = hash_of(key) & mask;

	for (; d->slots[at]; at = (at + 1) & mask) {
		const struct key *found = &d->shapes[d->slots[at] - 1].key;

		if (found->low == key->low && found->high == key->high)
			break;
	}
	return &d->slots[at];
}

static void grow(struct gus_insn_decoder *d)
{
	d->slots_room *= 4;
	free(d->slots);
	d->slots = gus_zalloc(d->slots_room * sizeof(*d->slots));
	for (uint32_t i = 0; i < d->n; i++)
		*slot_of(d, &d->shapes[i].key) = i + 1;
}

static void grow_shapes(struct gus_insn_decoder *d)
{
	void *old = d->block;
	const struct shape *from = d->shapes;

	d->room = d->room ? 2 * d->room : FIRST_ROOM;
	d->block = gus_alloc(d->room * sizeof(*d->shapes) + LINE);
	d->shapes = (void *)(((uintptr_t)d->block + LINE - 1) & ~(uintptr_t)(LINE - 1));
	if (d->n)
		memcpy(d->shapes, from, d->n * sizeof(*d->shapes));
	free(old);
}

static struct shape *add_shape(struct gus_insn_decoder *d, const struct shape *s)
{
	if (d->n >= d->limit) {
		memset(d->slots, 0, d->slots_room * sizeof(*d->slots));
		d->n = 0;
	}
	if (d->n == d->room)
		grow_shapes(d);
	if (2 * (d->n + 1) > d->slots_room)
		grow(d);
	*slot_of(d, &s->key) = d->n + 1;
	d->shapes[d->n] = *s;
	return &d->shapes[d->n++];
}

/* Forms, flags and idioms depend on these values of immediates, and on no others. */
static inline unsigned immediate_class(const uint8_t *bytes, const struct gus_x86_measure *m)
{
	uint8_t value = bytes[m->structure + m->displacement_size];

	if (m->immediate_size != 1)
		return 0;
	return (unsigned)!value | (unsigned)!(value & 31) << 1 | (unsigned)!(value & 63) << 2 |
	       (unsigned)(value == 255) << 3;
}

/* A number of so many bytes, 0 to 8; 8 are readable. */
static inline int64_t read_number(const uint8_t *at, unsigned size, bool is_signed)
{
	unsigned spare = 64 - 8 * size;
	uint64_t value;

	/* A shift of 64 is undefined, so it is made in two steps. */
	memcpy(&value, at, sizeof(value));
	value = value << spare / 2 << (spare - spare / 2);
	if (is_signed)
		return (int64_t)value >> spare / 2 >> (spare - spare / 2);
	return (int64_t)(value >> spare / 2 >> (spare - spare / 2));
}

static inline const struct gus_insn_info *with_numbers(struct shape *s, const uint8_t *bytes,
						       const struct gus_x86_measure *m)
{
	const uint8_t *at = bytes + m->structure;

	if (s->scale) {
		s->info.memory[0].displacement = read_number(at, m->displacement_size, true) * s->scale;
		s->info.immediate = read_number(at + m->displacement_size, m->immediate_size, s->is_signed);
	}
	return &s->info;
}

/* Whether another instruction with the same structure would be the same but for the two numbers; tells how they are
 * read. A register in the immediate makes it false, and an opcode behind it, and a scale that does not show. */
static bool is_shape(const struct gus_x86 *x, const uint8_t *bytes, const struct gus_x86_measure *m, struct shape *s)
{
	int64_t displacement = s->info.memory[0].displacement, immediate = s->info.immediate;
	bool same;

	if (x->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_3DNOW || (m->displacement_size && !s->info.memory_count) ||
	    (m->immediate_size && !s->info.immediate_bits))
		return false;
	for (unsigned i = 0; i < x->insn.operand_count; i++) {
		if (x->operands[i].encoding == ZYDIS_OPERAND_ENCODING_IS4)
			return false;
		if (x->operands[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			s->is_signed = x->operands[i].imm.is_signed;
	}
	s->scale = 1;
	if (m->displacement_size == 1 && x->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
		s->scale = x->insn.raw.disp.value ? (uint8_t)(displacement / x->insn.raw.disp.value) : 0;
	same = with_numbers(s, bytes, m)->immediate == immediate && s->info.memory[0].displacement == displacement;
	s->info.immediate = immediate;
	s->info.memory[0].displacement = displacement;
	return same && s->scale;
}

static bool is_measured(const ZydisDecodedInstruction *insn, const struct gus_x86_measure *m)
{
	return insn->raw.disp.size == 8 * m->displacement_size && insn->raw.imm[0].size == 8 * m->immediate_size &&
	       !insn->raw.imm[1].size && insn->length == m->structure + m->displacement_size + m->immediate_size;
}

/* Zydis' answer, kept if what we measured is what it saw. */
static const struct gus_insn_info *first_sight(struct gus_insn_decoder *d, const uint8_t *bytes, size_t size,
					       const struct gus_x86_measure *m, const struct key *key)
{
	struct shape s = { .key = *key };
	struct gus_x86 x;
	int length = gus_x86_decode(&d->zydis, bytes, size, &x);

	if (!length)
		return NULL;
	if (length < 0) {
		gus_insn_bad_info(&d->other, 1);
		return &d->other;
	}
	gus_x86_analyse(&x, &s.info);
	if (!m || !is_measured(&x.insn, m)) {
		d->other = s.info;
		return &d->other;
	}
	if (!is_shape(&x, bytes, m, &s)) {
		s.scale = 0;
		s.key = key_of(bytes, s.info.length, WHOLE);
	}
	return &add_shape(d, &s)->info;
}

static const struct gus_insn_info *get_x86(struct gus_insn_decoder *d, const uint8_t *bytes, size_t size)
{
	uint8_t padded[ROOM];
	const uint8_t *from = bytes;
	struct gus_x86_measure m;
	struct key key = { 0, 0 }, whole;
	uint32_t slot;

	/* Near the end, a copy: what follows looks at fixed numbers of bytes. */
	if (size < ROOM) {
		memset(padded, 0, sizeof(padded));
		memcpy(padded, bytes, size);
		from = padded;
	}
	if (d->isa != GUS_ISA_X86_64 || !gus_x86_measure(from, &m) ||
	    (size_t)(m.structure + m.displacement_size + m.immediate_size) > size)
		return first_sight(d, bytes, size, NULL, &key);
	key = key_of(from, m.structure, immediate_class(from, &m));
	slot = *slot_of(d, &key);
	if (slot)
		return with_numbers(&d->shapes[slot - 1], from, &m);
	whole = key_of(from, m.structure + m.displacement_size + m.immediate_size, WHOLE);
	slot = *slot_of(d, &whole);
	return slot ? &d->shapes[slot - 1].info : first_sight(d, from, size < ROOM ? size : ROOM, &m, &key);
}

static const struct gus_insn_info *get_arm64(struct gus_insn_decoder *d, const uint8_t *bytes, size_t size)
{
	struct shape s = { .key = { .high = (uint64_t)WHOLE << 60 } };
	uint32_t slot;

	if (size < 4)
		return NULL;
	memcpy(&s.key.low, bytes, 4);
	slot = *slot_of(d, &s.key);
	if (slot)
		return &d->shapes[slot - 1].info;
	gus_insn_arm64_analyse(bytes, size, &s.info);
	return &add_shape(d, &s)->info;
}

const struct gus_insn_info *gus_insn_decoder_get(struct gus_insn_decoder *d, const void *bytes, size_t size)
{
	if (d->isa == GUS_ISA_X86_64 || d->isa == GUS_ISA_X86_32)
		return get_x86(d, bytes, size);
	if (d->isa == GUS_ISA_ARM64)
		return get_arm64(d, bytes, size);
	return gus_insn_analyse(d->isa, bytes, size, &d->other) ? &d->other : NULL;
}
