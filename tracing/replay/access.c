/* SPDX-License-Identifier: MIT */
#include "tracing/replay/access.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <string.h>

/* Parts of an XSAVE area; where the later ones are is up to the CPU. */
enum { PART_YMM = 2, PART_MASKS = 5, PART_ZMM_HIGH = 6, PART_ZMM_LATE = 7 };
#define XMM_AT 160
#define COMPONENTS_AT 512
#define DOWN_MAX (GUS_REPLAY_ACCESSES / 2)
#define PIECE_MAX (1ull << 31)  /* of an access, which has 32 bits for its size */

struct list {
	struct gus_trace_access *v;
	size_t n;
};

static void add(struct list *l, uint64_t address, uint64_t size, bool store)
{
	if (l->n < GUS_REPLAY_ACCESSES && size)
		l->v[l->n++] = (struct gus_trace_access){ .address = address, .size = (uint32_t)size, .store = store };
}

/* Vector and mask registers. */

/* Where a part is; false if this CPU has none. */
static bool find_part(unsigned part, unsigned *at)
{
#if defined(__x86_64__)
	unsigned length, c, d;

	return __get_cpuid_count(0xd, part, &length, at, &c, &d) != 0;
#else
	(void)part, (void)at;
	return false;
#endif
}

/* size bytes of a part at an offset; zeros where the part is in its initial state. */
static void read_part(const struct gus_replay_registers *r, unsigned part, size_t offset, void *to, size_t size)
{
	uint64_t there;
	unsigned at;

	memset(to, 0, size);
	memcpy(&there, r->state + COMPONENTS_AT, sizeof(there));
	if (!(there >> part & 1) || !find_part(part, &at))
		return;
	if (at + offset + size <= r->state_size)
		memcpy(to, r->state + at + offset, size);
}

static void read_vector(const struct gus_replay_registers *r, unsigned number, uint8_t to[64])
{
	memset(to, 0, 64);
	if (number >= 16) {
		read_part(r, PART_ZMM_LATE, 64 * (number - 16), to, 64);
		return;
	}
	memcpy(to, r->state + XMM_AT + 16 * number, 16);
	read_part(r, PART_YMM, 16 * number, to + 16, 16);
	read_part(r, PART_ZMM_HIGH, 32 * number, to + 32, 32);
}

static uint64_t read_mask(const struct gus_replay_registers *r, unsigned number)
{
	uint64_t mask;

	read_part(r, PART_MASKS, 8 * number, &mask, 8);
	return mask;
}

/* Addresses. */

static unsigned address_bits(const struct gus_insn_info *info, unsigned reg)
{
	for (unsigned i = 0; i < info->access_count; i++)
		if (info->access[i].reg == reg && info->access[i].use & GUS_ACCESS_ADDRESS)
			return info->access[i].bits;
	return 64;
}

static uint64_t general(const struct gus_insn_info *info, const struct gus_replay_registers *r, unsigned reg)
{
	unsigned bits = address_bits(info, reg);
	uint64_t value = reg >= GUS_X86_RAX && reg <= GUS_X86_R15 ? r->general[reg - GUS_X86_RAX] : 0;

	return bits >= 64 ? value : value & ((1ull << bits) - 1);
}

static bool is_narrow(const struct gus_insn_info *info, const struct gus_insn_memory *m)
{
	return (m->base && m->base != GUS_X86_RIP && address_bits(info, m->base) == 32) ||
	       (m->index && m->index <= GUS_X86_R15 && address_bits(info, m->index) == 32);
}

/* The address without a vector index. */
static uint64_t address_of(const struct gus_insn_info *info, const struct gus_insn_memory *m,
			   const struct gus_replay_registers *r)
{
	uint64_t address = (uint64_t)m->displacement;

	if (m->base == GUS_X86_RIP)
		address += r->rip + info->length;
	else if (m->base)
		address += general(info, r, m->base);
	if (m->index && !(m->use & GUS_ACCESS_GATHER))
		address += general(info, r, m->index) * m->scale;
	if (is_narrow(info, m))
		address = (uint32_t)address;
	return address + (m->segment == GUS_X86_FS ? r->fs_base : m->segment == GUS_X86_GS ? r->gs_base : 0);
}

/* The stack's slots: what is pushed lies below where the pointer was, and an address with the pointer in a pop is
 * formed after the pop. */
static uint64_t stack_shift(const struct gus_insn_info *info, const struct gus_insn_memory *m)
{
	bool slot = m->base == GUS_X86_RSP && m->use & GUS_ACCESS_IMPLICIT;

	if (slot)
		return m->use & GUS_ACCESS_WRITE ? -(uint64_t)(m->bits / 8) : 0;
	return info->flags & GUS_INSN_STACK && m->base == GUS_X86_RSP && m->use & GUS_ACCESS_WRITE ? m->bits / 8 : 0;
}

/* Elements. */

/* The size of an element by the end of the mnemonic, as the decoder has none: 8, 16, 32, 64, b, w, d, q, ps, pd, ss,
 * sd. */
static unsigned element_size(const char *name, size_t length)
{
	static const struct { const char *end; unsigned size; } ends[] = {
		{ "16", 2 }, { "32", 4 }, { "64", 8 }, { "8", 1 }, { "pd", 8 }, { "sd", 8 }, { "ps", 4 }, { "ss", 4 },
			{ "ph", 2 }, { "sh", 2 },
		{ "b", 1 }, { "w", 2 }, { "d", 4 }, { "q", 8 },
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t n = strlen(ends[i].end);

		if (length > n && strncmp(name + length - n, ends[i].end, n) == 0)
			return ends[i].size;
	}
	return 0;
}

/* The last vector register that is an operand (its mask, of VEX gathers), or the first that is only read (of
 * vmaskmov). */
static unsigned vector_operand(const struct gus_insn_info *info, bool last)
{
	unsigned found = 0;

	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];

		if (a->reg < GUS_X86_V0 || a->reg >= GUS_X86_V0 + 32 || a->use & GUS_ACCESS_ADDRESS)
			continue;
		if (!last && a->use & GUS_ACCESS_WRITE)
			continue;
		found = a->reg;
		if (!last)
			break;
	}
	return found ? found - GUS_X86_V0 : 0;
}

static unsigned mask_operand(const struct gus_insn_info *info)
{
	for (unsigned i = 0; i < info->access_count; i++)
		if (info->access[i].reg > GUS_X86_K0 && info->access[i].reg < GUS_X86_K0 + 8 &&
		    info->access[i].use & GUS_ACCESS_READ &&
		    info->access[i].bits)
			return info->access[i].reg - GUS_X86_K0;
	return 0;
}

/* One bit an element that is active. */
static uint64_t active(const struct gus_insn_info *info, const struct gus_replay_registers *r, unsigned elements,
		       unsigned size, bool gather)
{
	uint64_t bits = 0;
	uint8_t vector[64];

	if (info->flags & GUS_INSN_EVEX)
		return read_mask(r, mask_operand(info)) & (elements == 64 ? ~0ull : (1ull << elements) - 1);
	read_vector(r, vector_operand(info, gather), vector);
	for (unsigned i = 0; i < elements; i++)
		bits |= (uint64_t)(vector[(i + 1) * size - 1] >> 7) << i;
	return bits;
}

static void add_gather(const struct gus_insn_info *info, const struct gus_insn_memory *m, const char *name,
		       const struct gus_replay_registers *r, struct list *l)
{
	const char *letter = strstr(name, "gather");
	unsigned size = m->elements ? m->bits / 8 / m->elements : 0;
	uint64_t base = address_of(info, m, r), bits;
	uint8_t index[64];

	letter = letter ? letter + strlen("gather") : strstr(name, "scatter") ? strstr(name, "scatter") +
		strlen("scatter") : NULL;
	if (!letter || !size)
		return;
	bits = active(info, r, m->elements, size, true);
	read_vector(r, m->index - GUS_X86_V0, index);
	for (unsigned i = 0; i < m->elements; i++) {
		int64_t wide;
		int32_t narrow;

		memcpy(&wide, index + (*letter == 'q' ? 8 * i : 0), sizeof(wide));
		memcpy(&narrow, index + 4 * i, sizeof(narrow));
		if (bits >> i & 1)
			add(l, base + (uint64_t)(*letter == 'q' ? wide : narrow) * m->scale, size,
			    m->use & GUS_ACCESS_WRITE);
	}
}

/* Under a mask: active elements that lie together are one access. */
static void add_masked(const struct gus_insn_info *info, const struct gus_insn_memory *m, const char *name,
		       size_t length, const struct gus_replay_registers *r, struct list *l)
{
	unsigned size = element_size(name, length), elements = size ? m->bits / 8 / size : 0;
	uint64_t address = address_of(info, m, r), bits;

	if (!elements || elements > 64 || info->flags & GUS_INSN_BROADCAST) {
		add(l, address, m->bits / 8, m->use & GUS_ACCESS_WRITE);
		return;
	}
	bits = active(info, r, elements, size, false);
	for (unsigned i = 0, n; i < elements; i += n ? n : 1) {
		for (n = 0; i + n < elements && bits >> (i + n) & 1;)
			n++;
		add(l, address + (uint64_t)i * size, (uint64_t)n * size, m->use & GUS_ACCESS_WRITE);
	}
}

/* As vmaskmovps and vpmaskmovd, the only VEX stores of two vector registers, the first of which is a mask. Their loads
 * read it all, as far as anybody can tell. */
static bool is_mask_store(const struct gus_insn_info *info, const struct gus_insn_memory *m)
{
	unsigned vectors = 0;

	for (unsigned i = 0; i < info->access_count; i++)
		vectors += info->access[i].reg >= GUS_X86_V0 && info->access[i].reg < GUS_X86_V0 + 32 &&
			info->access[i].use == GUS_ACCESS_READ;
	return info->flags & GUS_INSN_VEX && m->use == GUS_ACCESS_WRITE && vectors == 2;
}

bool gus_replay_needs_state(const struct gus_insn_info *info)
{
	for (unsigned i = 0; i < info->memory_count; i++)
		if (info->memory[i].use & GUS_ACCESS_GATHER || is_mask_store(info, &info->memory[i]))
			return true;
	return info->memory_count && info->flags & GUS_INSN_MASKED;
}

static void add_memory(const struct gus_insn_info *info, const struct gus_insn_memory *m, const char *name,
		       size_t length, const struct gus_replay_registers *r, struct list *l)
{
	uint64_t address = address_of(info, m, r) + stack_shift(info, m);

	if (m->use & GUS_ACCESS_GATHER) {
		add_gather(info, m, name, r, l);
	} else if (info->flags & GUS_INSN_MASKED || is_mask_store(info, m)) {
		add_masked(info, m, name, length, r, l);
	} else {
		if (m->use & GUS_ACCESS_READ)
			add(l, address, m->bits / 8, false);
		if (m->use & GUS_ACCESS_WRITE)
			add(l, address, m->bits / 8, true);
	}
}

/* Upwards all elements are one access; downwards each is one, as far as there is room. */
static void add_string(const struct gus_insn_info *info, const struct gus_insn_memory *m,
		       const struct gus_replay_registers *r,
		       uint64_t turns, bool down, struct list *l, uint64_t *omitted)
{
	uint64_t size = m->bits / 8, address = address_of(info, m, r);

	if (!down) {
		for (uint64_t left = turns * size; left; left -= left < PIECE_MAX ? left : PIECE_MAX)
			add(l, address + turns * size - left, left < PIECE_MAX ? left : PIECE_MAX,
			    m->use & GUS_ACCESS_WRITE);
		return;
	}
	for (uint64_t i = 0; i < turns && i < DOWN_MAX; i++)
		add(l, address - i * size, size, m->use & GUS_ACCESS_WRITE);
	*omitted += turns > DOWN_MAX ? turns - DOWN_MAX : 0;
}

static void loads_first(struct list *l)
{
	struct gus_trace_access sorted[GUS_REPLAY_ACCESSES];
	size_t n = 0;

	for (int store = 0; store < 2; store++)
		for (size_t i = 0; i < l->n; i++)
			if (l->v[i].store == store)
				sorted[n++] = l->v[i];
	if (n)
		memcpy(l->v, sorted, n * sizeof(*sorted));
}

size_t gus_replay_accesses(const struct gus_insn_info *info, const uint8_t *bytes, const struct gus_replay_registers *r,
			   uint64_t turns, bool down, struct gus_trace_access *accesses, uint64_t *omitted)
{
	struct list l = { accesses, 0 };
	struct gus_insn text = { 0 };
	size_t length;

	if (!info->memory_count || info->flags & GUS_INSN_PREFETCH || info->class == GUS_INSN_NOP)
		return 0;
	if (gus_replay_needs_state(info))
		gus_insn_decode(GUS_ISA_X86_64, bytes, info->length, 0, &text);
	length = strcspn(text.text, " ");
	for (unsigned i = 0; i < info->memory_count; i++) {
		const struct gus_insn_memory *m = &info->memory[i];

		if (!(m->use & (GUS_ACCESS_READ | GUS_ACCESS_WRITE)))
			continue;
		*omitted += !m->bits;
		if (info->flags & GUS_INSN_REP)
			add_string(info, m, r, turns, down, &l, omitted);
		else
			add_memory(info, m, text.text, length, r, &l);
	}
	loads_first(&l);
	return l.n;
}
