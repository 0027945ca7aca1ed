/* SPDX-License-Identifier: MIT */
#include "symbolizer/unwind/rule.h"

#include <elf.h>
#include <string.h>

static bool fits(const struct gus_cfi_place *p)
{
	if (p->how == GUS_CFI_AT_EXPRESSION || p->how == GUS_CFI_VALUE_EXPRESSION)
		return p->value >= 0 && p->value <= UINT32_MAX;
	return p->value >= INT32_MIN && p->value <= INT32_MAX;
}

static void add_slot(struct gus_rule *rule, unsigned reg, const struct gus_cfi_place *p)
{
	rule->slot[rule->slots++] = (struct gus_rule_slot){ (int32_t)p->value, (uint8_t)reg, (uint8_t)p->how, 0 };
}

void gus_rule_make(struct gus_rule *rule, const struct gus_cfi_row *row, unsigned table)
{
	*rule = (struct gus_rule){ .kind = GUS_RULE_BAD };
	if (row->cfa.how == GUS_CFI_UNDEFINED && row->registers[row->ra].how != GUS_CFI_UNDEFINED)
		return;
	if (!fits(&row->cfa))
		return;
	rule->cfa = (int32_t)row->cfa.value;
	rule->cfa_how = (uint8_t)row->cfa.how;
	rule->cfa_register = (uint8_t)row->cfa_register;
	rule->ra = (uint8_t)row->ra;
	rule->table = (uint8_t)table;
	rule->signal = row->signal;
	for (unsigned reg = 0; reg < GUS_CFI_REGS; reg++) {
		if (row->registers[reg].how == GUS_CFI_SAME)
			continue;
		if (!fits(&row->registers[reg]))
			return;
		add_slot(rule, reg, &row->registers[reg]);
	}
	rule->kind = GUS_RULE_STEP;
}

/* Code. */

/* A place in a stub, by the bytes around it: those from `before` bytes before the address on. A dot is any byte. */
struct stub {
	uint8_t before, n;
	int32_t cfa;              /* of x86-64: above the stack pointer; the return address lies 8 below it */
	uint8_t bytes[12];
	uint16_t any;             /* a bit for each byte that may be any */
};

#define ANY4(at) (0xf << (at))

/* jmp *n(%rip), with endbr64 and bnd before it as linkers like, is a whole entry of a table that is bound at once, and
 * the beginning of one that is bound late, whose rest pushes a number and jumps to the first entry. That one pushes
 * once more, and then jumps in the same way, so it stands before the others. */
static const struct stub x86_stubs[] = {
	{ 6, 8, 24, { 0xff, 0x35, 0, 0, 0, 0, 0xff, 0x25 }, ANY4(2) },
	{ 6, 9, 24, { 0xff, 0x35, 0, 0, 0, 0, 0xf2, 0xff, 0x25 }, ANY4(2) },
	{ 0, 6, 8, { 0xff, 0x25 }, ANY4(2) },
	{ 0, 7, 8, { 0xf2, 0xff, 0x25 }, ANY4(3) },
	{ 0, 10, 8, { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25 }, ANY4(6) },
	{ 0, 11, 8, { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25 }, ANY4(7) },
	{ 0, 10, 8, { 0x68, 0, 0, 0, 0, 0xe9 }, ANY4(1) | ANY4(6) },
	{ 0, 11, 8, { 0x68, 0, 0, 0, 0, 0xf2, 0xe9 }, ANY4(1) | ANY4(7) },
	{ 5, 10, 16, { 0x68, 0, 0, 0, 0, 0xe9 }, ANY4(1) | ANY4(6) },
	{ 5, 11, 16, { 0x68, 0, 0, 0, 0, 0xf2, 0xe9 }, ANY4(1) | ANY4(7) },
	{ 0, 8, 16, { 0xff, 0x35, 0, 0, 0, 0, 0xff, 0x25 }, ANY4(2) },
	{ 0, 9, 16, { 0xff, 0x35, 0, 0, 0, 0, 0xf2, 0xff, 0x25 }, ANY4(2) },
};

/* mov $15, %rax (or %eax); syscall: rt_sigreturn, at either instruction. */
static const struct stub x86_returns[] = {
	{ 0, 9, 0, { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 }, 0 },
	{ 7, 9, 0, { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 }, 0 },
	{ 0, 7, 0, { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 }, 0 },
	{ 5, 7, 0, { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 }, 0 },
};

/* mov x8, #139; svc #0, at either. */
static const struct stub arm64_returns[] = {
	{ 0, 8, 0, { 0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 }, 0 },
	{ 4, 8, 0, { 0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 }, 0 },
};

static bool is_stub(const struct stub *s, const uint8_t *code, size_t before, size_t after)
{
	if (s->before > before || (size_t)(s->n - s->before) > after)
		return false;
	for (unsigned i = 0; i < s->n; i++)
		if (!(s->any >> i & 1) && (code - s->before)[i] != s->bytes[i])
			return false;
	return true;
}

static const struct stub *find_stub(const struct stub *stubs, size_t n, const uint8_t *code, size_t before,
				    size_t after)
{
	for (size_t i = 0; i < n; i++)
		if (is_stub(&stubs[i], code, before, after))
			return &stubs[i];
	return NULL;
}

/* adrp x16, ..; ldr x17, [x16, ..]; add x16, x16, ..; br x17: with or without bti c before it, at any of them. */
static bool is_arm64_stub(const uint8_t *code, size_t before, size_t after)
{
	for (size_t back = 0; back <= 12 && back <= before; back += 4) {
		uint32_t words[4];

		if (after + back < sizeof(words))
			continue;
		memcpy(words, code - back, sizeof(words));
		if ((words[0] & 0x9f00001f) == 0x90000010 && (words[1] & 0xffc003ff) == 0xf9400211 &&
		    (words[2] & 0xff8003ff) == 0x91000210 && words[3] == 0xd61f0220)
			return true;
	}
	return false;
}

/* The kernel's frame of a signal: where it keeps each register, above the stack pointer at the system call. x86-64:
 * ucontext (uc_mcontext at 40), by the DWARF numbers of its registers; arm64: siginfo (128), ucontext (regs at 184). */
static const uint8_t x86_context[] = { 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16 };

static void make_signal(struct gus_rule *rule, unsigned machine)
{
	bool x86 = machine == EM_X86_64;
	int64_t at = x86 ? 40 : 128 + 184;
	unsigned n = x86 ? sizeof(x86_context) : GUS_CFI_REGS, sp = x86 ? 7 : 31;

	*rule = (struct gus_rule){ .cfa_how = GUS_CFI_AT_SP, .cfa_register = (uint8_t)sp, .signal = true,
				   .ra = x86 ? 16 : 32 };
	for (unsigned i = 0; i < n; i++) {
		struct gus_cfi_place place = { GUS_CFI_AT_SP, at + 8 * (int64_t)i };
		unsigned reg = x86 ? x86_context[i] : i;

		if (reg == sp)
			rule->cfa = (int32_t)place.value;
		add_slot(rule, reg, &place);
	}
}

static void make_stub(struct gus_rule *rule, unsigned sp, unsigned ra, int32_t cfa)
{
	*rule = (struct gus_rule){ .cfa_how = GUS_CFI_VALUE, .cfa_register = (uint8_t)sp, .ra = (uint8_t)ra,
				   .cfa = cfa };
}

bool gus_rule_recognise(struct gus_rule *rule, unsigned machine, const uint8_t *code, size_t before, size_t after)
{
	bool x86 = machine == EM_X86_64;
	const struct stub *returns = x86 ? x86_returns : arm64_returns, *stub;
	size_t n = x86 ? sizeof(x86_returns) / sizeof(*x86_returns) : sizeof(arm64_returns) / sizeof(*arm64_returns);

	if (find_stub(returns, n, code, before, after)) {
		make_signal(rule, machine);
		return true;
	}
	if (!x86) {
		make_stub(rule, 31, 30, 0);
		return is_arm64_stub(code, before, after);
	}
	stub = find_stub(x86_stubs, sizeof(x86_stubs) / sizeof(*x86_stubs), code, before, after);
	make_stub(rule, 7, 16, stub ? stub->cfa : 0);
	add_slot(rule, 16, &(struct gus_cfi_place){ GUS_CFI_AT, -8 });
	return stub != NULL;
}

void gus_rule_make_first(struct gus_rule *rule, unsigned machine)
{
	*rule = (struct gus_rule){ .kind = GUS_RULE_STEP, .ra = machine == EM_X86_64 ? 16 : 30 };
	add_slot(rule, rule->ra, &(struct gus_cfi_place){ GUS_CFI_UNDEFINED, 0 });
}

/* As far as it may be behind: a test of what the call gave, jumps, and a return. */
#define BEHIND_CALL 16

int gus_rule_call_before(unsigned machine, const uint8_t *code, size_t before, size_t after)
{
	static const uint8_t x86_call[] = { 0x0f, 0x05 }, arm64_call[] = { 1, 0, 0, 0xd4 };
	const bool x86 = machine == EM_X86_64;
	const uint8_t *call = x86 ? x86_call : arm64_call;
	const size_t n = x86 ? sizeof(x86_call) : sizeof(arm64_call), step = x86 ? 1 : 4;

	for (size_t back = 0; back <= BEHIND_CALL && back <= before; back += step)
		if (back + after >= n && memcmp(code - back, call, n) == 0)
			return (int)back;
	return -1;
}

/* From the load of the stack pointer to what the call returns to: the bytes, and a bit for each instruction behind the
 * load, with the last byte of the call, where callers are looked up. systemstack up to Go 1.20 and after, asmcgocall,
 * and morestack, whose call is relative. */
static const struct {
	struct stub code;
	uint16_t places;
	bool is_last;             /* nothing returns from there: the goroutine waits for another time */
} go_changes[] = {
	{ { 0, 11, 0, { 0x48, 0x89, 0xdc, 0x48, 0x89, 0xfa, 0x48, 0x8b, 0x3f, 0xff, 0xd7 }, 0 },
	  1 << 3 | 1 << 6 | 1 << 9 | 3 << 10, false },
	{ { 0, 12, 0, { 0x48, 0x8b, 0x62, 0x38, 0x48, 0x89, 0xfa, 0x48, 0x8b, 0x3f, 0xff, 0xd7 }, 0 },
	  1 << 4 | 1 << 7 | 1 << 10 | 3 << 11, false },
	{ { 0, 8, 0, { 0x48, 0x89, 0xdf, 0x48, 0x89, 0xd9, 0xff, 0xd0 }, 0 }, 1 << 3 | 1 << 6 | 3 << 7, false },
	{ { 0, 9, 0, { 0x48, 0x8b, 0x63, 0x38, 0xe8 }, ANY4(5) }, 1 << 4 | 3 << 8, false },
	{ { 0, 12, 0, { 0x49, 0x8b, 0x66, 0x38, 0x50, 0x4c, 0x8b, 0x22, 0x41, 0xff, 0xd4, 0x58 }, 0 },
	  1 << 4 | 1 << 5 | 1 << 8 | 3 << 10, true }, /* mcall */
};

bool gus_rule_recognise_go(struct gus_rule *rule, const uint8_t *code, size_t before, size_t after)
{
	for (size_t i = 0; i < sizeof(go_changes) / sizeof(*go_changes); i++) {
		for (size_t place = 0; place < 16 && place <= before; place++) {
			if (!(go_changes[i].places >> place & 1) ||
			    !is_stub(&go_changes[i].code, code - place, 0, place + after))
				continue;
			*rule = (struct gus_rule){ .kind = GUS_RULE_ELSEWHERE };
			if (go_changes[i].is_last)
				gus_rule_make_first(rule, EM_X86_64);
			return true;
		}
	}
	return false;
}
