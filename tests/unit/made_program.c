/* SPDX-License-Identifier: MIT */
#include "made_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/code/uoptable.h"
#include "model/tables/builtin.h"
#include "reg_name.h"

static struct gus_uarch *table(const char *name, const char *text)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = gus_uarch_parse(name, text, text ? strlen(text) : 0, &gus_uarch_builtin, 0, &err);

	if (!u)
		fail_msg("%s", err.text);
	return u;
}

struct gus_uarch *made_table(const char *name)
{
	return table(name, NULL);
}

struct gus_uarch *made_table_of(const char *text)
{
	return table("made", text);
}

struct gus_program *made_program_at(const struct gus_uarch *u, const void *code, size_t size, uint64_t address)
{
	struct gus_error err = { 0 };
	struct gus_program *p = gus_program_new(u, code, size, address, 0, &err);

	if (!p)
		fail_msg("%s", err.text);
	return p;
}

struct gus_program *made_program(const struct gus_uarch *u, const void *code, size_t size)
{
	return made_program_at(u, code, size, 0);
}

struct gus_program *made_program_of_uops(const struct gus_uarch *u, const char *text)
{
	struct gus_error err = { 0 };
	struct gus_program *p = gus_uoptable_program(u, "loop", text, strlen(text), &err);

	if (!p)
		fail_msg("%s", err.text);
	return p;
}

struct line {
	char text[1000];
	size_t n;
};

static void __attribute__((format(printf, 2, 3))) say(struct line *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	l->n += (size_t)vsnprintf(l->text + l->n, sizeof(l->text) - l->n, format, args);
	va_end(args);
	assert_in_range(l->n, 0, sizeof(l->text) - 1);
}

static bool is_flag(const struct gus_program *p, unsigned reg)
{
	return p->isa != GUS_ISA_ARM64 && reg >= GUS_X86_CF && reg <= GUS_X86_SYSFLAGS;
}

/* plain: what is not said of the cycles. */
static void say_flows(struct line *l, const struct gus_program *p, uint32_t first, unsigned n, int plain, char mark)
{
	for (unsigned i = 0; i < n; i++) {
		const struct gus_flow *f = &p->flows[first + i];

		if (i && is_flag(p, f->reg) && is_flag(p, f[-1].reg) && f->cycles == f[-1].cycles)
			continue;
		say(l, "%s", i ? "," : "");
		if (f->reg >= GUS_TEMP)
			say(l, "t%d", f->reg - GUS_TEMP);
		else
			say(l, "%s", is_flag(p, f->reg) ? "flags" : reg_name(p->isa, f->reg));
		if (f->cycles != plain)
			say(l, "%c%d", mark, f->cycles);
	}
}

const char *made_text(const struct gus_program *p, uint32_t op)
{
	static const char *const kinds[] = { [GUS_UOP_NONE] = "none", [GUS_UOP_COMPUTE] = "compute",
		[GUS_UOP_LOAD] = "load", [GUS_UOP_STORE_ADDRESS] = "address", [GUS_UOP_STORE_DATA] = "data" };
	static struct line l;

	l = (struct line){ .n = 0 };
	for (unsigned i = 0; i < p->ops[op].uops_n; i++) {
		const struct gus_uop *u = &p->uops[p->ops[op].uop + i];

		if (i)
			say(&l, u->slot == u[-1].slot ? " + " : u->slot == u[-1].slot + 1 ? " / " : " ?? ");
		say(&l, "%s", kinds[u->kind]);
		for (unsigned port = 0; port < p->ports_n; port++)
			if (u->ports >> port & 1)
				say(&l, "%s%s", u->ports & ((1ull << port) - 1) ? "" : " p", p->port_names[port] + 1);
		if (u->port_cycles != (u->kind == GUS_UOP_NONE ? 0 : 1))
			say(&l, "x%d", u->port_cycles);
		say(&l, "=%d", u->latency);
		if (u->unit)
			say(&l, " !%d:%d", u->unit - 1, u->unit_cycles);
		say(&l, u->in_n ? " " : "");
		say_flows(&l, p, u->in, u->in_n, 0, '~');
		say(&l, u->out_n ? ">" : "");
		say_flows(&l, p, u->out, u->out_n, u->latency, ':');
	}
	return l.text;
}

const char *made_texts(const struct gus_program *p)
{
	static struct line l;

	l = (struct line){ .n = 0 };
	for (uint32_t i = 0; i < p->ops_n; i++)
		say(&l, "%s%s", i ? " ; " : "", made_text(p, i));
	return l.text;
}
