/* SPDX-License-Identifier: MIT */
#include "cli/script/columns.h"

#include <stdbool.h>
#include <string.h>

#include "cli/script/access.h"
#include "cli/script/fields.h"
#include "proto/sample.h"

#define WIDTH 16
#define COLUMN(name) offsetof(struct gus_sample, name), sizeof(((struct gus_sample *)NULL)->name)

enum form { HEX, DECIMAL, ACCESS, SIZE, SIGNATURE };

struct column { unsigned field; size_t at, size; uint64_t told; enum form form; };

/* In perf's order, and behind its latencies those that perf has not. That of the retirement may be counted from either
 * of two moments, which `gusprof dump` tells apart. */
static const struct column before[] = {
	{ GUS_FIELD_ADDR, COLUMN(address), GUS_TOLD_ADDRESS, HEX },
	{ GUS_FIELD_DATA_SRC, COLUMN(data_source), 0, ACCESS },
	{ GUS_FIELD_WEIGHT, COLUMN(weight), GUS_TOLD_WEIGHT, DECIMAL },
	{ GUS_FIELD_INS_LAT, COLUMN(instruction_latency), GUS_TOLD_INSTRUCTION, DECIMAL },
	{ GUS_FIELD_RETIRE_LAT, COLUMN(retire_latency), GUS_TOLD_RETIRE | GUS_TOLD_COMPLETE, DECIMAL },
	{ GUS_FIELD_ISSUE_LAT, COLUMN(issue_latency), GUS_TOLD_ISSUE, DECIMAL },
	{ GUS_FIELD_TRANSLATION_LAT, COLUMN(translation_latency), GUS_TOLD_TRANSLATION, DECIMAL },
	{ GUS_FIELD_PSV, COLUMN(events), 0, SIGNATURE },
	{ GUS_FIELD_TRANSACTION, COLUMN(transaction), 0, HEX },
	{ GUS_FIELD_CGROUP, COLUMN(cgroup), 0, DECIMAL },
};
static const struct column behind[] = {
	{ GUS_FIELD_PHYS_ADDR, COLUMN(physical), 0, HEX },
	{ GUS_FIELD_DATA_PAGE, COLUMN(data_page), 0, SIZE },
	{ GUS_FIELD_CODE_PAGE, COLUMN(code_page), 0, SIZE },
};

static uint64_t value_of(const struct column *c, const struct gus_sample *s)
{
	const void *at = (const char *)s + c->at;

	return c->size == sizeof(uint32_t) ? *(const uint32_t *)at : *(const uint64_t *)at;
}

/* Of a page: 4K, 2M, 1G. */
static void put_size(struct gus_lines *l, uint64_t bytes)
{
	unsigned unit = 0;

	while (unit < 3 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	gus_lines_number(l, bytes, 0, ' ');
	gus_lines_bytes(l, &"BKMG"[unit], unit != 0);
}

static unsigned put_column(struct gus_lines *l, const struct column *c, const struct gus_sample *s)
{
	uint64_t value = value_of(c, s);

	if (!value && !(s->told & c->told)) {
		gus_lines_text(l, "-", c->form == SIZE || c->form == SIGNATURE ? 0 : WIDTH);
		return 0;
	}
	if (c->form == SIZE)
		put_size(l, value);
	else if (c->form == SIGNATURE)
		gus_script_signature(l, value);
	else if (c->form == DECIMAL)
		gus_lines_number(l, value, WIDTH, ' ');
	else
		gus_lines_hex(l, value, WIDTH);
	if (c->form == ACCESS)
		gus_script_access(l, value);
	return c->field;
}

unsigned gus_script_columns_before(struct gus_lines *l, unsigned fields, const struct gus_sample *s)
{
	unsigned told = 0;

	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++)
		if (fields & before[i].field) {
			told |= put_column(l, &before[i], s);
			gus_lines_word(l, " ");
		}
	return told;
}

/* Registers by perf's names of their bits: enum perf_event_x86_regs, enum perf_event_arm_regs of linux'
 * asm/perf_regs.h. */
struct registers { const char *const *names; size_t n; uint64_t kept; }; /* kept: those of struct gus_sample */

/* None has a name of a machine that is not known. */
static struct registers registers_of(const Gusprof__Header *header)
{
	static const char *const x86[] = { "AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS", "CS", "SS",
					   "DS", "ES", "FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13", "R14",
					   "R15" };
	static const char *const arm64[] = { "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
					     "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
					     "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "lr", "sp", "pc" };

	static const struct { const char *machine; struct registers registers; } known[] = {
		{ "x86_64", { x86, sizeof(x86) / sizeof(*x86), 0xff01ff } },
		{ "i686", { x86, sizeof(x86) / sizeof(*x86), 0 } },
		{ "aarch64", { arm64, sizeof(arm64) / sizeof(*arm64), 0x1ffffffff } },
		{ "arm64", { arm64, sizeof(arm64) / sizeof(*arm64), 0x1ffffffff } },
	};

	for (size_t i = 0; header->host && i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(header->host->machine, known[i].machine) == 0)
			return known[i].registers;
	return (struct registers){ 0 };
}

/* A value for each bit of the mask, from the lowest on. */
static void put_registers(struct gus_lines *l, const struct registers *r, unsigned abi, uint64_t mask,
			  const uint64_t *v, size_t n)
{
	gus_lines_word(l, " ABI:");
	gus_lines_number(l, abi, 0, ' ');
	for (unsigned bit = 0; n && bit < 64; bit++) {
		const char *name = bit < r->n ? r->names[bit] : NULL;

		if (!(mask >> bit & 1))
			continue;
		gus_lines_word(l, " ");
		if (name) {
			gus_lines_text(l, name, 5);
		} else {
			gus_lines_word(l, "reg");
			gus_lines_number(l, bit, 2, '0');
		}
		gus_lines_word(l, ":0x");
		gus_lines_hex(l, *v++, 0);
		n--;
	}
}

#define ABI_64 2

/* Those that a sample brought along beside what stacks are unwound by. */
static bool put_extra(struct gus_lines *l, const struct gus_sample *s, const struct registers *r, enum gus_extra kind,
		      uint64_t mask)
{
	size_t bytes;
	unsigned abi;
	const void *v = gus_sample_extra(s, kind, &bytes, &abi);

	if (v)
		put_registers(l, r, abi, mask, v, bytes / sizeof(uint64_t));
	return v;
}

static unsigned put_user(struct gus_lines *l, const struct gus_sample *s, const Gusprof__Header *header)
{
	struct registers r = registers_of(header);

	if (s->regs_n)
		put_registers(l, &r, ABI_64, r.kept ? r.kept : UINT64_MAX, s->regs, s->regs_n);
	else if (s->event >= header->n_events ||
		 !put_extra(l, s, &r, GUS_EXTRA_USER_REGS, header->events[s->event]->regs_user))
		return 0;
	return GUS_FIELD_UREGS;
}

static unsigned put_interrupted(struct gus_lines *l, const struct gus_sample *s, const Gusprof__Header *header)
{
	struct registers r = registers_of(header);

	if (s->event >= header->n_events ||
	    !put_extra(l, s, &r, GUS_EXTRA_REGS, header->events[s->event]->regs_intr))
		return 0;
	return GUS_FIELD_IREGS;
}

/* In the order of memory, two digits a byte. */
static unsigned put_raw(struct gus_lines *l, const struct gus_sample *s, const Gusprof__Header *header)
{
	size_t bytes;
	const uint8_t *at = gus_sample_extra(s, GUS_EXTRA_RAW, &bytes, NULL);

	(void)header;
	if (!at)
		return 0;
	gus_lines_word(l, " RAW:");
	for (size_t i = 0; i < bytes; i++) {
		const char digits[2] = { "0123456789abcdef"[at[i] >> 4], "0123456789abcdef"[at[i] & 15] };

		gus_lines_bytes(l, digits, sizeof(digits));
	}
	return GUS_FIELD_RAW;
}

unsigned gus_script_columns_behind(struct gus_lines *l, unsigned fields, const struct gus_sample *s,
				   const Gusprof__Header *header)
{
	static const struct {
		unsigned field;
		unsigned (*put)(struct gus_lines *l, const struct gus_sample *s, const Gusprof__Header *header);
	} parts[] = { { GUS_FIELD_IREGS, put_interrupted }, { GUS_FIELD_UREGS, put_user }, { GUS_FIELD_RAW, put_raw } };
	unsigned told = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (fields & parts[i].field)
			told |= parts[i].put(l, s, header);
	for (size_t i = 0; i < sizeof(behind) / sizeof(*behind); i++)
		if (fields & behind[i].field) {
			gus_lines_word(l, " ");
			told |= put_column(l, &behind[i], s);
		}
	return told;
}
