/* SPDX-License-Identifier: MIT */
#include "tracing/plugin/steps.h"

#include <stdlib.h>
#include <string.h>

#include "tracing/plugin/origins.h"

/* How far back pieces of one access may lie: a string instruction reads and writes, or reads in two places, in
 * turns. */
#define PIECES_BACK 4

/* Steps in the first frame of a stream; each has twice as many, up to the most that one holds. A program that is killed
 * leaves half of what it did at least, and a reader beside it does not wait long. */
#define FIRST_STEPS 256

/* Where the opcode is: behind legacy prefixes and, in 64 bits, REX. */
static uint32_t opcode_at(const uint8_t *bytes, uint32_t size, bool rex, bool *repeated)
{
	uint32_t i = 0;

	*repeated = false;
	for (; i < size && bytes[i] && strchr("\xf2\xf3\x66\x67\x2e\x36\x3e\x26\x64\x65\xf0", bytes[i]); i++)
		*repeated |= bytes[i] == 0xf2 || bytes[i] == 0xf3;
	return rex && i < size && (bytes[i] & 0xf0) == 0x40 ? i + 1 : i;
}

static bool is_repeated_string(const uint8_t *bytes, uint32_t size, bool rex)
{
	bool repeated;
	uint32_t i = opcode_at(bytes, size, rex, &repeated);

	return repeated && i + 1 == size &&
		(bytes[i] >> 2 == 0x1b || bytes[i] >> 2 == 0x29 || (bytes[i] >= 0xaa && bytes[i] <= 0xaf));
}

/* Of x86: returns, calls and jumps, near ones. */
static uint8_t believe_x86(const uint8_t *bytes, uint32_t size, bool rex)
{
	bool repeated;
	uint32_t i = opcode_at(bytes, size, rex, &repeated);
	uint8_t opcode = i < size ? bytes[i] : 0, modrm = i + 1 < size ? bytes[i + 1] : 0;
	uint8_t loads = modrm >> 6 == 3 ? 0 : GUS_BELIEVE_READ;

	switch (opcode) {
	case 0xc2: case 0xc3:
		return GUS_BELIEVE_READ;
	case 0xe8:
		return GUS_BELIEVE_WRITE;
	case 0xe9: case 0xeb: case 0x70 ... 0x7f: case 0xe0 ... 0xe3:
		return 0;
	case 0xff:
		return (modrm >> 3 & 7) == 2 ? GUS_BELIEVE_WRITE | loads : (modrm >> 3 & 7) == 4 ? loads :
			GUS_BELIEVE_ALL;
	case 0x0f:
		return modrm >> 4 == 8 || modrm == 0x05 ? 0 : GUS_BELIEVE_ALL; /* jcc, syscall */
	default:
		return GUS_BELIEVE_ALL;
	}
}

/* Of arm64 no branch has one: b and bl, b.cond, cbz, tbz, and those to a register. */
static uint8_t believe_arm64(const uint8_t *bytes)
{
	uint32_t word = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;

	bool branch = (word >> 26 & 0x1f) == 0x05 || word >> 25 == 0x2a || (word >> 25 & 0x3e) == 0x1a ||
		word >> 25 == 0x6b;

	return branch ? 0 : GUS_BELIEVE_ALL;
}

uint8_t gus_believe_of(enum gus_translated_isa isa, const uint8_t *bytes, uint32_t size)
{
	switch (isa) {
	case GUS_TRANSLATED_X86_32: case GUS_TRANSLATED_X86_64:
		return believe_x86(bytes, size, isa == GUS_TRANSLATED_X86_64);
	case GUS_TRANSLATED_ARM64:
		return size == 4 ? believe_arm64(bytes) : GUS_BELIEVE_ALL;
	default:
		return GUS_BELIEVE_ALL;
	}
}

struct gus_translated *gus_translated_new(const struct gus_trace_block *block, enum gus_translated_isa isa)
{
	bool x86 = isa == GUS_TRANSLATED_X86_32 || isa == GUS_TRANSLATED_X86_64;
	size_t insns = block->insns * sizeof(struct gus_translated_insn);
	struct gus_translated *code = gus_zalloc(sizeof(*code) + insns + block->insns + block->size);
	uint8_t *lengths = (uint8_t *)code->insns + insns, *bytes = lengths + block->insns;
	uint32_t last = block->lengths[block->insns - 1];

	memcpy(lengths, block->lengths, block->insns);
	memcpy(bytes, block->bytes, block->size);
	code->block = *block;
	code->block.lengths = lengths;
	code->block.bytes = bytes;
	code->last = block->address + block->size - last;
	code->number = GUS_TRANSLATED_NEW;
	code->repeats = x86 && is_repeated_string(bytes + block->size - last, last, isa == GUS_TRANSLATED_X86_64);
	for (uint32_t i = 0; i < block->insns; bytes += lengths[i++])
		code->insns[i] = (struct gus_translated_insn){ code, (uint16_t)i,
			gus_believe_of(isa, bytes, lengths[i]) };
	return code;
}

void gus_steps_init(struct gus_steps *s, uint32_t number, const struct gus_windows *windows)
{
	*s = (struct gus_steps){ .number = number, .from = windows->start, .every = windows->every,
		.most = FIRST_STEPS };
	s->to = windows->length ? windows->start + windows->length : UINT64_MAX;
	gus_vec_reserve(&s->steps, GUS_TRACE_STEPS_MAX);
	gus_vec_reserve(&s->accesses, GUS_TRACE_ACCESSES_MAX);
}

void gus_steps_free(struct gus_steps *s)
{
	gus_vec_free(&s->steps);
	gus_vec_free(&s->accesses);
}

/* Another turn of the string instruction that the last step ended with. */
static bool is_again(const struct gus_steps *s, const struct gus_translated *code)
{
	const struct gus_translated *before = s->previous;

	return before && before->repeats && code->repeats && code->block.insns == 1 &&
		code->block.address == before->last;
}

/* As often as it may in a window. */
static bool has_turned(const struct gus_steps *s)
{
	return s->turns_most && s->turns >= s->turns_most;
}

bool gus_steps_due(const struct gus_steps *s, const struct gus_translated *code, enum gus_trace_next *last)
{
	const struct gus_trace_block *before;

	*last = GUS_TRACE_NEXT_UNKNOWN;
	if (!s->steps.n)
		return false;
	if (is_again(s, code))
		return has_turned(s);
	before = &s->steps.v[s->steps.n - 1].code->block;
	*last = before->address + before->size == code->block.address ? GUS_TRACE_NEXT_FALLS : GUS_TRACE_NEXT_TAKEN;
	if (s->seen >= s->to)
		*last = GUS_TRACE_NEXT_UNKNOWN;
	return s->seen >= s->to || s->steps.n >= s->most ||
	       s->accesses.n > GUS_TRACE_ACCESSES_MAX - GUS_TRACE_STEP_ACCESSES;
}

/* Opens and closes windows: whether the next instruction is in one. */
static bool is_in_window(struct gus_steps *s)
{
	while (s->seen >= s->to) {
		s->from = s->every ? s->from + s->every : UINT64_MAX;
		s->to = s->every ? s->to + s->every : UINT64_MAX;
		s->window++;
	}
	return s->seen >= s->from;
}

void gus_steps_execute(struct gus_steps *s, struct gus_translated *code)
{
	s->again = is_again(s, code);
	s->plain = false;
	if (s->again) {
		s->turns++;
		if (has_turned(s))
			s->to = s->seen;
		return;
	}
	s->previous = code;
	s->now = is_in_window(s) ? code : NULL;
	s->plain = s->now && !code->repeats;
	if (s->now) {
		if (!s->steps.n)
			s->at = s->seen;
		gus_vec_push(&s->steps, (struct gus_steps_step){ code, 0 });
	}
	s->seen += code->block.insns;
}

/* Whether the address lies right behind an access of the same instruction, which then has it. */
static bool lengthen(struct gus_steps *s, const struct gus_steps_step *step, const struct gus_trace_access *piece)
{
	for (size_t i = 1; i <= PIECES_BACK && i <= step->accesses_n; i++) {
		struct gus_trace_access *a = &s->accesses.v[s->accesses.n - i];

		if (a->insn != piece->insn)
			break;
		if (a->store == piece->store && a->address + a->size == piece->address &&
		    a->size <= UINT32_MAX - piece->size) {
			a->size += piece->size;
			return true;
		}
	}
	return false;
}

static bool is_believed(const struct gus_steps *s, const struct gus_steps_step *step,
			const struct gus_translated_insn *insn, bool store)
{
	if (insn->believe & GUS_BELIEVE_ALL)
		return true;
	for (size_t i = 1; i <= step->accesses_n && s->accesses.v[s->accesses.n - i].insn == insn->number; i++)
		if (s->accesses.v[s->accesses.n - i].store == store)
			return false;
	return insn->believe & (store ? GUS_BELIEVE_WRITE : GUS_BELIEVE_READ);
}

void gus_steps_access(struct gus_steps *s, const struct gus_translated_insn *insn, uint64_t address, uint32_t size,
		      bool store)
{
	struct gus_trace_access access = { address, size, insn->number, store };
	struct gus_steps_step *step;

	if (!s->now || (insn->code != s->now && !s->again))
		return;
	step = &s->steps.v[s->steps.n - 1];
	if (s->again)
		access.insn = (uint16_t)(step->code->block.insns - 1);
	if (!is_believed(s, step, insn, store) || lengthen(s, step, &access))
		return;
	if (step->accesses_n == GUS_TRACE_STEP_ACCESSES) {
		s->omitted++;
		return;
	}
	gus_vec_push(&s->accesses, access);
	step->accesses_n++;
}

void gus_steps_cut(struct gus_steps *s, uint64_t address, enum gus_translated_isa isa)
{
	struct gus_steps_step *step = s->steps.n ? &s->steps.v[s->steps.n - 1] : NULL;
	struct gus_trace_block b;
	uint32_t n = 0, size = 0;

	if (!step)
		return;
	b = step->code->block;
	while (n < b.insns && b.address + size != address)
		size += b.lengths[n++];
	if (n == b.insns)
		return;
	s->seen -= b.insns - n;
	while (step->accesses_n && s->accesses.v[s->accesses.n - 1].insn >= n) {
		s->accesses.n--;
		step->accesses_n--;
	}
	b.insns = n;
	b.size = size;
	if (n) {
		struct gus_translated *part = gus_translated_new(&b, isa); /* stays until the end, as all do */

		part->origin = step->code->origin;
		step->code = part;
	} else {
		s->steps.n--;
	}
	s->now = NULL;
	s->plain = false;
}

/* A block that was never written, and before it where it is from. */
static int introduce(struct gus_translated *code, struct gus_trace_writer *w, struct gus_origins *origins,
		     struct gus_error *err)
{
	if (code->origin && gus_origins_tell(origins, code->origin, w, err) != 0)
		return -1;
	return gus_trace_writer_block(w, &code->block, &code->number, err);
}

int gus_steps_write(struct gus_steps *s, struct gus_trace_writer *w, struct gus_origins *origins,
		    enum gus_trace_next last, struct gus_error *err)
{
	struct gus_trace_raw *raw = gus_resize(NULL, s->steps.n, sizeof(*raw));
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->steps.n; i++) {
		struct gus_translated *code = s->steps.v[i].code;

		if (code->number == GUS_TRANSLATED_NEW)
			rc = introduce(code, w, origins, err);
		raw[i] = (struct gus_trace_raw){ code->number, s->steps.v[i].accesses_n };
	}
	if (rc == 0)
		rc = gus_trace_writer_steps(w,
					    &(struct gus_trace_run){ s->number, s->window, s->at, raw, s->accesses.v,
			s->steps.n, last },
					    err);
	s->most = s->most < GUS_TRACE_STEPS_MAX ? 2 * s->most : GUS_TRACE_STEPS_MAX;
	s->steps.n = s->accesses.n = 0;
	s->now = NULL;
	s->plain = false;
	s->again = false;
	free(raw);
	return rc;
}
