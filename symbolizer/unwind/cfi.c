/* SPDX-License-Identifier: MIT */
#include "symbolizer/unwind/cfi.h"

#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/elf/encoded.h"

#define REMEMBERED 16     /* states that a program may have put aside at once; compilers nest to 3 */
#define REMEMBER_STEPS 16 /* of putting one aside: half a kilobyte here, and two system calls in libunwind */
#define ENTRY_BYTES (2 * sizeof(struct gus_cfi_entry)) /* as arrays grow by doubling */

/* What entries of functions have in common. */
struct gus_cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	unsigned ra;
	uint8_t encoding;         /* of addresses, DW_EH_PE_* */
	bool lengths;             /* entries say how long their augmentation is */
	bool signal;
	bool good;
	uint32_t program, end;    /* in the section */
};

/* Reading. */

/* An address in that encoding. Only what code addresses are written in: as they are, or from their own place. */
static bool read_address(const struct gus_cfi *c, struct gus_cursor *in, unsigned encoding, uint64_t *value)
{
	uint64_t place = c->address + (uint64_t)(in->at - c->bytes);

	if (!gus_encoded_read(in, encoding, true, value))
		return false;
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		*value += place;
	return true;
}

static bool is_code_encoding(unsigned encoding)
{
	return encoding == DW_EH_PE_omit || !(encoding & 0xf0 & ~DW_EH_PE_pcrel);
}

/* What the letters of an augmentation say, in their order; what comes with letters that we do not know is passed over
 * with the rest, since the whole has a length. */
static bool read_augmentation(const struct gus_cfi *c, struct gus_cursor *in, const char *letters, size_t n,
			      struct gus_cfi_cie *cie)
{
	uint64_t size = gus_cursor_varint(in), ignored;
	const uint8_t *at = size <= gus_cursor_left(in) ? gus_cursor_take(in, (size_t)size) : NULL;
	struct gus_cursor data = gus_cursor(at, at ? (size_t)size : 0);
	unsigned encoding;

	for (size_t i = 1; at && i < n; i++) {
		if (letters[i] == 'R') {
			cie->encoding = gus_cursor_u8(&data);
		} else if (letters[i] == 'L') {
			gus_cursor_u8(&data);
		} else if (letters[i] == 'P') {
			encoding = gus_cursor_u8(&data);
			if (!read_address(c, &data, encoding & 0x0f, &ignored))
				return false;
		} else if (letters[i] == 'S') {
			cie->signal = true;
		} else if (letters[i] != 'B' && letters[i] != 'G') { /* arm64: how return addresses are signed */
			break;
		}
	}
	return at && !data.bad;
}

/* The common part that lies in `in`, behind its identifier. */
static bool read_cie(const struct gus_cfi *c, struct gus_cursor *in, struct gus_cfi_cie *cie)
{
	uint8_t version = gus_cursor_u8(in);
	const char *letters = (const char *)in->at;
	const uint8_t *end = memchr(in->at, 0, gus_cursor_left(in));
	size_t n = end ? (size_t)(end - in->at) : 0;
	uint64_t ra;

	if (!end || !gus_cursor_take(in, n + 1) || (version != 1 && version != 3 && version != 4))
		return false;
	if (version == 4 && (gus_cursor_u8(in) != 8 || gus_cursor_u8(in) != 0)) /* bytes of addresses, of segments */
		return false;
	cie->code_align = gus_cursor_varint(in);
	cie->data_align = gus_leb_signed(in);
	ra = version == 1 ? gus_cursor_u8(in) : gus_cursor_varint(in);
	cie->ra = (unsigned)ra;
	cie->encoding = DW_EH_PE_absptr;
	cie->lengths = n && letters[0] == 'z';
	if (n && !cie->lengths) /* of compilers of the last century; what it adds has no length */
		return false;
	if (cie->lengths && !read_augmentation(c, in, letters, n, cie))
		return false;
	cie->program = (uint32_t)(in->at - c->bytes);
	cie->end = (uint32_t)(in->end - c->bytes);
	return !in->bad && ra < GUS_CFI_REGS && is_code_encoding(cie->encoding) && cie->encoding != DW_EH_PE_omit;
}

/* An entry of either kind: what is behind its identifier. */
struct head {
	struct gus_cursor in;
	bool is_cie;
	uint64_t cie;             /* where the common part of a function's entry begins */
	size_t next;
};

static bool read_head(const struct gus_cfi *c, size_t at, struct head *h)
{
	struct gus_cursor in = gus_cursor(c->bytes + at, c->size - at);
	uint64_t length = gus_cursor_u32(&in), id, here;
	bool wide = length == UINT32_MAX;

	if (wide)
		length = gus_cursor_u64(&in);
	if (in.bad || length > gus_cursor_left(&in))
		return false;
	here = (uint64_t)(in.at - c->bytes);
	h->next = (size_t)(here + length);
	h->in = gus_cursor(in.at, (size_t)length);
	h->is_cie = false;
	if (!length) /* what ends a list, and stands where an object's own list ended */
		return true;
	wide &= c->debug;
	id = wide ? gus_cursor_u64(&h->in) : gus_cursor_u32(&h->in);
	h->is_cie = c->debug ? id == (wide ? UINT64_MAX : UINT32_MAX) : !id;
	h->cie = c->debug ? id : here - id;
	return !h->in.bad;
}

/* The number of the common part at that offset, which is read at the first time. */
static uint32_t number_of_cie(struct gus_cfi *c, uint64_t offset, struct gus_budget *made)
{
	struct gus_cfi_cie cie = { 0 };
	struct head h;
	bool is_new;
	uint32_t number;

	if (offset >= c->size)
		return GUS_INDEX_NONE;
	number = gus_index_find(&c->cie_offsets, &offset);
	if (number != GUS_INDEX_NONE)
		return number;
	if (!gus_budget_charge(made, 4 * sizeof(cie)))
		return GUS_INDEX_NONE;
	number = gus_index_add(&c->cie_offsets, &offset, &is_new);
	cie.good = read_head(c, (size_t)offset, &h) && h.is_cie && read_cie(c, &h.in, &cie);
	gus_vec_push(&c->cies, cie);
	return number;
}

static bool read_range(const struct gus_cfi *c, const struct gus_cfi_cie *cie, struct gus_cursor *in, uint64_t *low,
		       uint64_t *size)
{
	return read_address(c, in, cie->encoding, low) && read_address(c, in, cie->encoding & 0x0f, size);
}

static int by_address(const void *a, const void *b)
{
	const struct gus_cfi_entry *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void add_entry(struct gus_cfi *c, size_t at, struct head *h, struct gus_budget *made)
{
	uint32_t number = number_of_cie(c, h->cie, made);
	uint64_t low, size;

	if (number == GUS_INDEX_NONE || !c->cies.v[number].good ||
	    !read_range(c, &c->cies.v[number], &h->in, &low, &size))
		return;
	/* Functions that the linker left out are at address 0, or have no size. */
	if (!low || !size || size > UINT32_MAX || low + size < low)
		return;
	if (gus_budget_charge(made, ENTRY_BYTES))
		gus_vec_push(&c->entries, (struct gus_cfi_entry){ low, (uint32_t)size, (uint32_t)at });
	else
		c->cut = true;
}

void gus_cfi_open(struct gus_cfi *c, const void *bytes, size_t size, uint64_t address, bool debug, unsigned machine,
		  struct gus_budget *work, struct gus_budget *made)
{
	bool sorted = true;
	struct head h;

	*c = (struct gus_cfi){ .bytes = bytes, .size = size, .address = address, .debug = debug, .machine = machine };
	gus_index_init(&c->cie_offsets, sizeof(uint64_t));
	if (size > UINT32_MAX || !gus_budget_charge(work, size)) {
		c->cut = true;
		return;
	}
	for (size_t at = 0; at < size && !c->cut && read_head(c, at, &h); at = h.next) {
		if (h.is_cie || !gus_cursor_left(&h.in))
			continue;
		add_entry(c, at, &h, made);
		if (c->entries.n > 1 && c->entries.v[c->entries.n - 1].low < c->entries.v[c->entries.n - 2].low)
			sorted = false;
	}
	if (!sorted)
		qsort(c->entries.v, c->entries.n, sizeof(*c->entries.v), by_address);
}

void gus_cfi_close(struct gus_cfi *c)
{
	gus_vec_free(&c->entries);
	gus_vec_free(&c->cies);
	gus_index_free(&c->cie_offsets);
}

/* Programs. */

struct state {
	unsigned cfa_register;
	struct gus_cfi_place cfa, registers[GUS_CFI_REGS];
};

struct run {
	const struct gus_cfi *c;
	const struct gus_cfi_cie *cie;
	const struct state *initial;      /* as the common part left it; NULL while that runs */
	struct state now;
	struct state *remembered;         /* REMEMBERED of them */
	unsigned remembered_n;
	uint64_t address, low, high;      /* which is asked about; of the row */
	bool done, bad;
};

/* Kinds of operands, and what becomes of them before the act sees them. */
enum operand {
	NOTHING,
	NUMBER,           /* unsigned, as it is */
	SCALED,           /* unsigned, times the data alignment */
	NEGATIVE,         /* the same, with the other sign */
	SIGNED_SCALED,
	REGISTER,
	ADDRESS,
	DELTA1, DELTA2, DELTA4, DELTA8, /* fixed size, times the code alignment */
	BLOCK,            /* an expression: where it begins in the section, with its length before it */
};

static void advance_to(struct run *r, uint64_t to)
{
	if (to < r->low) {
		r->bad = true;
	} else if (to > r->address) {
		r->high = to;
		r->done = true;
	} else {
		r->low = to;
	}
}

static void act_advance(struct run *r, int64_t delta, int64_t unused, enum gus_cfi_how how)
{
	(void)unused, (void)how;
	advance_to(r, r->low + (uint64_t)delta);
}

static void act_set_location(struct run *r, int64_t to, int64_t unused, enum gus_cfi_how how)
{
	(void)unused, (void)how;
	advance_to(r, (uint64_t)to);
}

static void act_cfa(struct run *r, int64_t reg, int64_t value, enum gus_cfi_how how)
{
	r->bad |= reg >= GUS_CFI_REGS;
	r->now.cfa_register = (unsigned)reg;
	r->now.cfa = (struct gus_cfi_place){ how, value };
}

static void act_cfa_register(struct run *r, int64_t reg, int64_t unused, enum gus_cfi_how how)
{
	(void)unused, (void)how;
	r->bad |= reg >= GUS_CFI_REGS || r->now.cfa.how != GUS_CFI_VALUE;
	r->now.cfa_register = (unsigned)reg;
}

static void act_cfa_offset(struct run *r, int64_t value, int64_t unused, enum gus_cfi_how how)
{
	(void)unused, (void)how;
	r->bad |= r->now.cfa.how != GUS_CFI_VALUE;
	r->now.cfa.value = value;
}

static void act_cfa_expression(struct run *r, int64_t block, int64_t unused, enum gus_cfi_how how)
{
	(void)unused;
	r->now.cfa = (struct gus_cfi_place){ how, block };
}

/* Registers beyond those that are followed (vectors, flags) have rules, too. */
static void act_place(struct run *r, int64_t reg, int64_t value, enum gus_cfi_how how)
{
	if (how == GUS_CFI_REGISTER && (uint64_t)value >= GUS_CFI_REGS)
		how = GUS_CFI_UNDEFINED;
	if (reg < GUS_CFI_REGS)
		r->now.registers[reg] = (struct gus_cfi_place){ how, value };
}

static void act_restore(struct run *r, int64_t reg, int64_t unused, enum gus_cfi_how how)
{
	(void)unused, (void)how;
	if (!r->initial)
		r->bad = true;
	else if (reg < GUS_CFI_REGS)
		r->now.registers[reg] = r->initial->registers[reg];
}

static void act_remember(struct run *r, int64_t unused, int64_t unused2, enum gus_cfi_how how)
{
	(void)unused, (void)unused2, (void)how;
	if (r->remembered_n == REMEMBERED)
		r->bad = true;
	else
		r->remembered[r->remembered_n++] = r->now;
}

/* The CFA comes back with the registers: so all compilers mean it, though DWARF speaks of registers only. */
static void act_recall(struct run *r, int64_t unused, int64_t unused2, enum gus_cfi_how how)
{
	(void)unused, (void)unused2, (void)how;
	if (r->remembered_n)
		r->now = r->remembered[--r->remembered_n];
	else
		r->bad = true;
}

static void act_nothing(struct run *r, int64_t unused, int64_t unused2, enum gus_cfi_how how)
{
	(void)r, (void)unused, (void)unused2, (void)how;
}

/* Two encodings of arm64's that older dwarf.h do not have: the return address is signed from here on, or no more.
 * Signed or not, the bits that a signature takes are not looked at. */
enum { NEGATE_RA_STATE_WITH_PC = 0x2c, NEGATE_RA_STATE = 0x2d };

static const struct op {
	void (*act)(struct run *r, int64_t first, int64_t second, enum gus_cfi_how how);
	enum operand first, second;
	enum gus_cfi_how how;
} ops[0x40] = {
	[DW_CFA_nop] = { act_nothing, NOTHING, NOTHING, 0 },
	[DW_CFA_set_loc] = { act_set_location, ADDRESS, NOTHING, 0 },
	[DW_CFA_advance_loc1] = { act_advance, DELTA1, NOTHING, 0 },
	[DW_CFA_advance_loc2] = { act_advance, DELTA2, NOTHING, 0 },
	[DW_CFA_advance_loc4] = { act_advance, DELTA4, NOTHING, 0 },
	[DW_CFA_MIPS_advance_loc8] = { act_advance, DELTA8, NOTHING, 0 },
	[DW_CFA_offset_extended] = { act_place, REGISTER, SCALED, GUS_CFI_AT },
	[DW_CFA_offset_extended_sf] = { act_place, REGISTER, SIGNED_SCALED, GUS_CFI_AT },
	[DW_CFA_GNU_negative_offset_extended] = { act_place, REGISTER, NEGATIVE, GUS_CFI_AT },
	[DW_CFA_val_offset] = { act_place, REGISTER, SCALED, GUS_CFI_VALUE },
	[DW_CFA_val_offset_sf] = { act_place, REGISTER, SIGNED_SCALED, GUS_CFI_VALUE },
	[DW_CFA_restore_extended] = { act_restore, REGISTER, NOTHING, 0 },
	[DW_CFA_undefined] = { act_place, REGISTER, NOTHING, GUS_CFI_UNDEFINED },
	[DW_CFA_same_value] = { act_place, REGISTER, NOTHING, GUS_CFI_SAME },
	[DW_CFA_register] = { act_place, REGISTER, REGISTER, GUS_CFI_REGISTER },
	[DW_CFA_expression] = { act_place, REGISTER, BLOCK, GUS_CFI_AT_EXPRESSION },
	[DW_CFA_val_expression] = { act_place, REGISTER, BLOCK, GUS_CFI_VALUE_EXPRESSION },
	[DW_CFA_remember_state] = { act_remember, NOTHING, NOTHING, 0 },
	[DW_CFA_restore_state] = { act_recall, NOTHING, NOTHING, 0 },
	[DW_CFA_def_cfa] = { act_cfa, REGISTER, NUMBER, GUS_CFI_VALUE },
	[DW_CFA_def_cfa_sf] = { act_cfa, REGISTER, SIGNED_SCALED, GUS_CFI_VALUE },
	[DW_CFA_def_cfa_register] = { act_cfa_register, REGISTER, NOTHING, 0 },
	[DW_CFA_def_cfa_offset] = { act_cfa_offset, NUMBER, NOTHING, 0 },
	[DW_CFA_def_cfa_offset_sf] = { act_cfa_offset, SIGNED_SCALED, NOTHING, 0 },
	[DW_CFA_def_cfa_expression] = { act_cfa_expression, BLOCK, NOTHING, GUS_CFI_VALUE_EXPRESSION },
	[DW_CFA_GNU_args_size] = { act_nothing, NUMBER, NOTHING, 0 },
	[NEGATE_RA_STATE] = { act_nothing, NOTHING, NOTHING, 0 },
	[NEGATE_RA_STATE_WITH_PC] = { act_nothing, NOTHING, NOTHING, 0 },
};

static int64_t scaled(uint64_t n, uint64_t by)
{
	return (int64_t)(n * by);
}

static int64_t read_block(const struct gus_cfi *c, struct gus_cursor *in)
{
	int64_t at = in->at - c->bytes;
	uint64_t size = gus_cursor_varint(in);

	if (size > gus_cursor_left(in))
		in->bad = true;
	else
		gus_cursor_take(in, (size_t)size);
	return at;
}

static int64_t read_operand(struct run *r, struct gus_cursor *in, enum operand kind)
{
	uint64_t code = r->cie->code_align, data = (uint64_t)r->cie->data_align, value = 0;

	switch (kind) {
	case NOTHING:
		return 0;
	case NUMBER:
		return (int64_t)gus_cursor_varint(in);
	case REGISTER:
		value = gus_cursor_varint(in);
		return value < INT32_MAX ? (int64_t)value : INT32_MAX;
	case SCALED:
		return scaled(gus_cursor_varint(in), data);
	case NEGATIVE:
		return scaled(gus_cursor_varint(in), -data);
	case SIGNED_SCALED:
		return scaled((uint64_t)gus_leb_signed(in), data);
	case ADDRESS:
		in->bad |= !read_address(r->c, in, r->cie->encoding, &value);
		return (int64_t)value;
	case DELTA1:
		return scaled(gus_cursor_u8(in), code);
	case DELTA2:
		return scaled(gus_cursor_u16(in), code);
	case DELTA4:
		return scaled(gus_cursor_u32(in), code);
	case DELTA8:
		return scaled(gus_cursor_u64(in), code);
	case BLOCK:
		break;
	}
	return read_block(r->c, in);
}

/* The three instructions that have an operand in their own byte. */
static void run_short(struct run *r, struct gus_cursor *in, unsigned op)
{
	unsigned low = op & 0x3f;

	if (op >> 6 == DW_CFA_advance_loc >> 6)
		advance_to(r, r->low + low * r->cie->code_align);
	else if (op >> 6 == DW_CFA_offset >> 6)
		act_place(r, low, read_operand(r, in, SCALED), GUS_CFI_AT);
	else
		act_restore(r, low, 0, 0);
}

static void run_long(struct run *r, struct gus_cursor *in, unsigned op)
{
	const struct op *o = &ops[op];
	int64_t first, second;

	if (!o->act) {
		r->bad = true;
		return;
	}
	first = read_operand(r, in, o->first);
	second = read_operand(r, in, o->second);
	if (!in->bad)
		o->act(r, first, second, o->how);
}

/* Up to the address that is asked about. False if the budget ends first. */
static bool run_program(struct run *r, struct gus_cursor in, struct gus_budget *steps)
{
	while (gus_cursor_left(&in) && !r->done && !r->bad) {
		unsigned op = gus_cursor_u8(&in);

		if (!gus_budget_charge(steps, op == DW_CFA_remember_state ? REMEMBER_STEPS : 1))
			return false;
		if (op >> 6)
			run_short(r, &in, op);
		else
			run_long(r, &in, op);
		r->bad |= in.bad;
	}
	return true;
}

static enum gus_cfi_found run_entry(struct run *r, struct gus_cursor in, struct gus_budget *steps)
{
	const struct gus_cfi *c = r->c;
	struct gus_cursor common = gus_cursor(c->bytes + r->cie->program, r->cie->end - r->cie->program);
	struct state initial;

	/* An advance in the common part would be about no function. */
	if (!run_program(r, common, steps))
		return GUS_CFI_WORK;
	if (r->done)
		return GUS_CFI_BAD;
	initial = r->now;
	r->initial = &initial;
	if (!r->bad && !run_program(r, in, steps))
		return GUS_CFI_WORK;
	return r->bad ? GUS_CFI_BAD : GUS_CFI_FOUND;
}

/* The entry that begins last at or before the address, and whether it reaches to it. */
static const struct gus_cfi_entry *find_entry(const struct gus_cfi *c, uint64_t address)
{
	size_t low = 0, high = c->entries.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->entries.v[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address - c->entries.v[low - 1].low < c->entries.v[low - 1].size ? &c->entries.v[low - 1] : NULL;
}

bool gus_cfi_has(const struct gus_cfi *c, uint64_t address)
{
	return find_entry(c, address) != NULL;
}

/* The entry's own program, in *in, and what it has in common with others. */
static enum gus_cfi_found find_program(const struct gus_cfi *c, const struct gus_cfi_entry *entry,
				       struct gus_cursor *in, const struct gus_cfi_cie **cie)
{
	uint64_t ignored, low, size;
	struct head h;

	/* Both parts were read when the list was. */
	if (!entry || !read_head(c, entry->at, &h))
		return GUS_CFI_NONE;
	*cie = &c->cies.v[gus_index_find(&c->cie_offsets, &h.cie)];
	read_range(c, *cie, &h.in, &low, &size);
	if ((*cie)->lengths && ((ignored = gus_cursor_varint(&h.in)) > gus_cursor_left(&h.in) ||
				!gus_cursor_take(&h.in, (size_t)ignored)))
		return GUS_CFI_BAD;
	*in = gus_cursor(h.in.at, gus_cursor_left(&h.in));
	return GUS_CFI_FOUND;
}

bool gus_cfi_text(const struct gus_cfi *c, uint64_t address, struct gus_cfi_text *text)
{
	const struct gus_cfi_entry *entry = find_entry(c, address);
	const struct gus_cfi_cie *cie;
	struct gus_cursor in;

	if (find_program(c, entry, &in, &cie) != GUS_CFI_FOUND)
		return false;
	*text = (struct gus_cfi_text){ .low = entry->low, .high = entry->low + entry->size,
		.code_align = cie->code_align, .data_align = cie->data_align, .ra = cie->ra, .signal = cie->signal,
		.initial = c->bytes + cie->program, .initial_n = cie->end - cie->program,
		.program = in.at, .program_n = gus_cursor_left(&in) };
	return true;
}

enum gus_cfi_found gus_cfi_row(const struct gus_cfi *c, uint64_t address, struct gus_budget *steps,
			       struct gus_cfi_row *row)
{
	const struct gus_cfi_entry *entry = find_entry(c, address);
	struct state remembered[REMEMBERED];
	struct run r = { .c = c, .address = address, .remembered = remembered };
	enum gus_cfi_found found;
	struct gus_cursor in;

	found = find_program(c, entry, &in, &r.cie);
	if (found != GUS_CFI_FOUND)
		return found;
	r.low = entry->low;
	r.high = entry->low + entry->size;
	r.now.cfa.how = GUS_CFI_UNDEFINED;
	found = run_entry(&r, in, steps);
	*row = (struct gus_cfi_row){ .low = r.low, .high = r.high, .cfa_register = r.now.cfa_register,
		.cfa = r.now.cfa, .ra = r.cie->ra, .signal = r.cie->signal };
	memcpy(row->registers, r.now.registers, sizeof(row->registers));
	return found;
}
