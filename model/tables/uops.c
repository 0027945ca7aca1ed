/* SPDX-License-Identifier: MIT */
/* Reading uops.info's measurements and writing them as a table. Foreign text: every span is bounded, and what is
 * malformed is an error that names its line. */
#include "model/tables/uops.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/index.h"
#include "base/piece.h"

struct reader {
	const char *at, *end;
	size_t line;
	const char *arch;
	gus_uops_each *each;
	void *context;
	struct gus_error *err;
};

static int wrong(const struct reader *r, const char *what, struct gus_piece s)
{
	return gus_fail(r->err, GUS_E_CORRUPT, "cannot import the measurements, line %zu: %s '%.*s'", r->line, what,
			(int)(s.size < 80 ? s.size : 80), s.text ? s.text : "");
}

static bool begins(struct gus_piece s, const char *word)
{
	size_t n = strlen(word);

	return s.size >= n && memcmp(s.text, word, n) == 0;
}

/* A number in hundredths; what follows it is left. -1 without digits, or if it is absurd. */
static int64_t take_centi(struct gus_piece *s)
{
	int64_t value = 0, scale = GUS_UARCH_CENTI;
	size_t i = 0, digits = 0;

	if (!s->size)
		return -1; /* an attribute that is not there has no text either */
	for (; i < s->size && s->text[i] >= '0' && s->text[i] <= '9' && digits < 8; i++, digits++)
		value = value * 10 + (s->text[i] - '0');
	value *= GUS_UARCH_CENTI;
	if (i < s->size && s->text[i] == '.')
		for (i++; i < s->size && s->text[i] >= '0' && s->text[i] <= '9'; i++, digits++)
			if (scale > 1)
				value += (s->text[i] - '0') * (scale /= 10);
	s->text += i;
	s->size -= i;
	return digits && value <= GUS_UOPS_FIGURE_MAX ? value : -1;
}

/* The whole of s as a number in hundredths; -1 if it is empty or none. */
static int64_t centi(struct gus_piece s)
{
	int64_t value = take_centi(&s);

	return s.size ? -1 : value;
}

static int64_t whole(struct gus_piece s)
{
	int64_t value = centi(s);

	return value < 0 ? -1 : value / GUS_UARCH_CENTI;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void begin(struct gus_uops *one)
{
	*one = (struct gus_uops){ .uops = -1, .fused = -1, .decoded = -1, .microcoded = -1, .complex = -1,
		.latency = -1,
				  .loadlat = -1, .throughput = -1 };
}

/* "2*p06+1*p23" */
static int read_ports(struct reader *r, struct gus_piece s, struct gus_uops *one)
{
	while (s.size) {
		struct gus_piece term = gus_piece_cut(&s, '+'), name = term, count = gus_piece_cut(&name, '*');
		int64_t uops = whole(count);

		if (gus_piece_is(name, "pUNKNOWN")) {
			one->ports_n = 0;
			return 0;
		}
		if (uops <= 0 || uops > 10000000 || name.size < 2 || name.size > 20 || name.text[0] != 'p')
			return wrong(r, "not N*pPORTS:", term);
		if (one->ports_n == GUS_UOPS_PORTS)
			return wrong(r, "too many groups of ports, at", term);
		one->ports[one->ports_n++] = (struct gus_uops_port){ name.text, (uint32_t)name.size, (uint32_t)uops };
	}
	return 0;
}

static int set_form(struct reader *r, struct gus_piece s, struct gus_uops *one)
{
	bool good = s.size && s.size < sizeof(one->form);

	/* It is written out between quotes, to whom it may concern: a file, or a terminal. */
	for (size_t i = 0; good && i < s.size; i++)
		good = s.text[i] >= ' ' && s.text[i] <= '~' && s.text[i] != '"';
	if (!good)
		return wrong(r, "not the name of a form:", s);
	memcpy(one->form, s.text, s.size);
	one->form[s.size] = '\0';
	return 0;
}

/* A register, a memory operand or the address of one, and its number among those. */
struct operand {
	enum gus_uarch_operand kind;
	uint8_t number;
};

/* "REG0", "MEM0", "AGEN" (there is one at most); false if it is another, or its number is too large. */
static bool read_operand(struct gus_piece s, struct operand *o)
{
	static const struct { const char *word; enum gus_uarch_operand kind; } kinds[] = {
		{ "REG", GUS_UARCH_REGISTER }, { "MEM", GUS_UARCH_MEMORY }, { "AGEN", GUS_UARCH_ADDRESS },
	};
	int64_t number = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t size = strlen(kinds[i].word);

		if (!begins(s, kinds[i].word))
			continue;
		if (s.size > size)
			number = whole((struct gus_piece){ s.text + size, s.size - size });
		o->kind = kinds[i].kind;
		o->number = (uint8_t)number;
		return number >= 0 && number < GUS_UARCH_OPERANDS;
	}
	return false;
}

/* A latency by operand; of several for the same two the longest counts. -1 cycles are none. */
static int add_pair(struct reader *r, struct gus_uops *one, enum gus_uarch_operand kind, uint8_t from,
		    struct operand to, int64_t cycles)
{
	struct gus_uarch_pair new = { (uint8_t)kind, from, (uint8_t)to.kind, to.number, (uint32_t)cycles };

	if (cycles < 0 || to.kind == GUS_UARCH_ADDRESS)
		return 0;
	for (uint32_t i = 0; i < one->pairs_n; i++) {
		struct gus_uarch_pair *old = &one->pairs[i];

		if (old->from_kind == new.from_kind && old->from == new.from && old->to_kind == new.to_kind &&
		    old->to == new.to) {
			old->cycles = old->cycles > new.cycles ? old->cycles : new.cycles;
			return 0;
		}
	}
	if (one->pairs_n == GUS_UOPS_PAIRS)
		return wrong(r, "too many latencies of a form", (struct gus_piece){ NULL, 0 });
	one->pairs[one->pairs_n++] = new;
	return 0;
}

/* Tab-separated values. */

/* The parts of a latency from memory or an address: "addr5/idx5/mem2". */
static int read_parts(struct reader *r, struct gus_piece s, struct operand from, struct operand to,
		      struct gus_uops *one)
{
	int64_t *which = from.kind == GUS_UARCH_ADDRESS ? &one->latency : &one->loadlat;

	while (s.size) {
		struct gus_piece part = gus_piece_cut(&s, '/');
		bool memory = begins(part, "mem");
		size_t skip = begins(part, "addr") ? 4 : begins(part, "idx") || memory ? 3 : 0;
		int64_t cycles;

		part.text += skip;
		part.size -= skip;
		cycles = skip ? centi(part) : -1;
		if (!memory && to.kind == GUS_UARCH_REGISTER)
			*which = larger(*which, cycles);
		if (add_pair(r, one, memory ? GUS_UARCH_MEMORY : GUS_UARCH_ADDRESS, from.number, to, cycles) != 0)
			return -1;
	}
	return 0;
}

/* "REG0>REG1:3/same0 MEM0>REG0:1/addr5/idx5/mem2 REG0>MEM0:4" */
static int read_latencies(struct reader *r, struct gus_piece s, struct gus_uops *one)
{
	while (s.size) {
		struct gus_piece item = gus_piece_cut(&s, ' '), rest = item;
		struct gus_piece from_word = gus_piece_cut(&rest, '>'), to_word = gus_piece_cut(&rest, ':');
		struct gus_piece value = gus_piece_cut(&rest, '/');
		int64_t cycles = centi(value);
		struct operand from, to;
		int status;

		if (!item.size)
			continue;
		if (!from_word.size || !to_word.size || cycles < 0)
			return wrong(r, "not FROM>TO:CYCLES:", item);
		if (!read_operand(from_word, &from) || !read_operand(to_word, &to))
			continue;
		if (from.kind == GUS_UARCH_REGISTER && to.kind == GUS_UARCH_REGISTER)
			one->latency = larger(one->latency, cycles);
		if (from.kind == GUS_UARCH_REGISTER)
			status = add_pair(r, one, from.kind, from.number, to, cycles);
		else
			status = read_parts(r, rest, from, to, one);
		if (status != 0)
			return -1;
	}
	return 0;
}

/* The columns from NEEDED on may be missing. */
enum column {
	STRING, UOPS, FUSED, THROUGHPUT, PORTS, DIVIDER, LATENCIES, NEEDED,
	DECODED = NEEDED, MICROCODED, FLAGS, COLUMNS
};
static const char *const column_names[COLUMNS] = {
	"string", "uops", "retire_slots", "TP", "ports", "div_cycles", "latencies", "uops_mite", "uops_ms", "flags",
};
enum { FLAG_COMPLEX = 1 << 2 };

static struct gus_piece take_line(struct reader *r)
{
	struct gus_piece rest = { r->at, (size_t)(r->end - r->at) }, line = gus_piece_cut(&rest, '\n');

	r->at = rest.text;
	r->line++;
	if (line.size && line.text[line.size - 1] == '\r')
		line.size--;
	return line;
}

static int read_header(struct reader *r, int at[COLUMNS])
{
	struct gus_piece line = take_line(r);

	for (int i = 0; i < COLUMNS; i++)
		at[i] = -1;
	for (int n = 0; line.size; n++) {
		struct gus_piece word = gus_piece_cut(&line, '\t');

		for (int i = 0; i < COLUMNS; i++)
			if (gus_piece_is(word, column_names[i]))
				at[i] = n;
	}
	for (int i = 0; i < NEEDED; i++)
		if (at[i] < 0)
			return gus_fail(r->err, GUS_E_CORRUPT,
					"cannot import the measurements: the first line names no "
					"column %s", column_names[i]);
	return 0;
}

static int read_values(struct reader *r)
{
	int at[COLUMNS];

	if (read_header(r, at) != 0)
		return -1;
	while (r->at < r->end) {
		struct gus_piece line = take_line(r), cells[COLUMNS] = { 0 };
		struct gus_uops one;
		int64_t flags;
		int status;

		if (!line.size)
			continue;
		for (int n = 0; line.size; n++) {
			struct gus_piece cell = gus_piece_cut(&line, '\t');

			for (int i = 0; i < COLUMNS; i++)
				if (at[i] == n)
					cells[i] = cell;
		}
		begin(&one);
		if (set_form(r, cells[STRING], &one) != 0 || read_ports(r, cells[PORTS], &one) != 0 ||
		    read_latencies(r, cells[LATENCIES], &one) != 0)
			return -1;
		one.uops = whole(cells[UOPS]);
		one.fused = whole(cells[FUSED]);
		one.decoded = whole(cells[DECODED]);
		one.microcoded = whole(cells[MICROCODED]);
		flags = whole(cells[FLAGS]);
		one.complex = flags < 0 ? -1 : (flags & FLAG_COMPLEX) != 0;
		one.throughput = centi(cells[THROUGHPUT]);
		one.divider = larger(0, centi(cells[DIVIDER]));
		status = r->each(r->context, &one, r->err);
		if (status)
			return status;
	}
	return 0;
}

/* XML: as much as that one file needs. Tags with attributes; text between tags, comments and declarations are
 * passed. */

struct tag {
	struct gus_piece name, attributes;
	bool closing, empty;    /* </name>; <name/> */
};

static int next_tag(struct reader *r, struct tag *t)
{
	struct gus_piece rest = { r->at, (size_t)(r->end - r->at) }, between, all;
	const char *at;

	between = gus_piece_cut(&rest, '<');
	for (at = between.text; at < between.text + between.size; at++)
		r->line += *at == '\n';
	if (!rest.size)
		return 1;
	r->at = rest.text;
	if (!memchr(rest.text, '>', rest.size))
		return wrong(r, "a tag without its end:", rest);
	all = gus_piece_cut(&rest, '>');
	r->at = rest.text;
	t->closing = all.size && all.text[0] == '/';
	t->empty = all.size && all.text[all.size - 1] == '/';
	if (t->closing)
		gus_piece_cut(&all, '/');
	else if (t->empty)
		all.size--;
	t->attributes = all;
	t->name = gus_piece_cut(&t->attributes, ' ');
	return 0;
}

static struct gus_piece attribute(const struct tag *t, const char *name)
{
	struct gus_piece rest = t->attributes;

	while (rest.size) {
		struct gus_piece key = gus_piece_cut(&rest, '='), value;

		while (key.size && (*key.text == ' ' || *key.text == '\n' || *key.text == '\t'))
			key.text++, key.size--;
		if (!rest.size || *rest.text != '"')
			break;
		gus_piece_cut(&rest, '"');
		value = gus_piece_cut(&rest, '"');
		if (gus_piece_is(key, name))
			return value;
	}
	return (struct gus_piece){ NULL, 0 };
}

#define OPERANDS 32

/* The instruction that is being read. */
struct instruction {
	struct gus_piece string;
	struct operand operands[OPERANDS]; /* by their idx */
	bool known[OPERANDS];              /* others are immediates, or have no idx that counts */
	uint8_t seen[GUS_UARCH_OPERAND_KINDS];
	bool here;                  /* inside the architecture that is asked for */
	bool measured;
	struct gus_uops one;
};

/* An operand's number stands in its name ("REG1", also of the flags); where it has none, it is counted. */
static void see_operand(struct instruction *in, const struct tag *t)
{
	struct gus_piece type = attribute(t, "type");
	int64_t n = whole(attribute(t, "idx"));
	struct operand o;

	if (n < 0 || n >= OPERANDS)
		return;
	in->known[n] = gus_piece_is(type, "mem") || gus_piece_is(type, "agen") || gus_piece_is(type, "reg") ||
		       gus_piece_is(type, "flags");
	if (!in->known[n])
		return;
	o.kind = gus_piece_is(type, "mem") ? GUS_UARCH_MEMORY :
		 gus_piece_is(type, "agen") ? GUS_UARCH_ADDRESS : GUS_UARCH_REGISTER;
	in->operands[n] = (struct operand){ o.kind, in->seen[o.kind]++ % GUS_UARCH_OPERANDS };
	if (read_operand(attribute(t, "name"), &o) && o.kind == in->operands[n].kind)
		in->operands[n] = o;
}

/* The largest of some attributes, of which the last has an empty name; -1 if there are none. */
static int64_t largest(const struct tag *t, const char *const names[])
{
	int64_t value = -1;

	for (; **names; names++)
		value = larger(value, centi(attribute(t, *names)));
	return value;
}

static int see_latency(struct reader *r, struct instruction *in, const struct tag *t)
{
	static const char *const plain[] = { "cycles", "max_cycles", "" };
	static const char *const memory[] = { "cycles_mem", "max_cycles_mem", "" };
	static const char *const address[] = {
		"cycles_addr", "cycles_addr_index", "max_cycles_addr", "max_cycles_addr_index", "",
	};
	int64_t start = whole(attribute(t, "start_op")), target = whole(attribute(t, "target_op"));
	struct operand from, to;
	int64_t cycles, *which;

	if (start < 0 || start >= OPERANDS || target < 0 || target >= OPERANDS || !in->known[start] ||
	    !in->known[target])
		return 0;
	from = in->operands[start];
	to = in->operands[target];
	which = from.kind == GUS_UARCH_MEMORY ? &in->one.loadlat : &in->one.latency;
	cycles = largest(t, from.kind == GUS_UARCH_REGISTER ? plain : address);
	if (to.kind == GUS_UARCH_REGISTER)
		*which = larger(*which, cycles);
	if (from.kind == GUS_UARCH_MEMORY && add_pair(r, &in->one, from.kind, from.number, to, largest(t, memory)) != 0)
		return -1;
	return add_pair(r, &in->one, from.kind == GUS_UARCH_MEMORY ? GUS_UARCH_ADDRESS : from.kind, from.number, to,
			cycles);
}

static int see_measurement(struct reader *r, struct instruction *in, const struct tag *t)
{
	static const char *const times[] = { "TP_loop", "TP_unrolled", "TP" };
	int64_t complex;

	in->measured = true;
	in->one.uops = whole(attribute(t, "uops"));
	in->one.fused = whole(attribute(t, "uops_retire_slots"));
	in->one.decoded = whole(attribute(t, "uops_MITE"));
	in->one.microcoded = whole(attribute(t, "uops_MS"));
	complex = whole(attribute(t, "complex_decoder"));
	/* It is there only where it is 1; where decoders were measured at all, its absence says 0. */
	in->one.complex = complex >= 0 ? complex != 0 : in->one.decoded >= 0 ? 0 : -1;
	in->one.divider = larger(0, centi(attribute(t, "div_cycles")));
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		int64_t value = centi(attribute(t, times[i]));

		if (value >= 0 && (in->one.throughput < 0 || value < in->one.throughput))
			in->one.throughput = value;
	}
	return read_ports(r, attribute(t, "ports"), &in->one);
}

static int see_end(struct reader *r, struct instruction *in, const struct tag *t)
{
	if (gus_piece_is(t->name, "architecture"))
		in->here = false;
	if (!gus_piece_is(t->name, "instruction") || !in->measured)
		return 0;
	in->measured = false;
	return set_form(r, in->string, &in->one) != 0 ? -1 : r->each(r->context, &in->one, r->err);
}

static int read_xml(struct reader *r)
{
	struct instruction in = { 0 };
	struct tag t;
	int status;

	r->line = 1;
	while ((status = next_tag(r, &t)) == 0) {
		if (t.closing) {
			status = see_end(r, &in, &t);
		} else if (gus_piece_is(t.name, "instruction")) {
			in = (struct instruction){ .string = attribute(&t, "string") };
			begin(&in.one);
		} else if (gus_piece_is(t.name, "operand")) {
			see_operand(&in, &t);
		} else if (gus_piece_is(t.name, "architecture")) {
			in.here = !t.empty && gus_piece_is(attribute(&t, "name"), r->arch);
		} else if (gus_piece_is(t.name, "measurement") && in.here) {
			status = see_measurement(r, &in, &t);
		} else if (gus_piece_is(t.name, "latency") && in.here) {
			status = see_latency(r, &in, &t);
		}
		if (status)
			return status;
	}
	return status < 0 ? status : 0;
}

int gus_uops_parse(const char *text, size_t size, const char *arch, gus_uops_each *each, void *context,
		   struct gus_error *err)
{
	struct reader r = { .at = text, .end = text + size, .arch = arch, .each = each, .context = context,
		.err = err };
	size_t i = 0;

	while (i < size && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t'))
		i++;
	if (i == size)
		return gus_fail(err, GUS_E_CORRUPT, "cannot import the measurements: the file is empty");
	if (text[i] != '<')
		return read_values(&r);
	if (!arch)
		return gus_fail(err, GUS_E_USAGE,
				"cannot import the measurements: the file has many CPUs; say which one");
	return read_xml(&r);
}

uint64_t gus_uops_mask(const struct gus_uarch *u, const struct gus_uops_port *port)
{
	bool vector = port->size > 3 && memcmp(port->name, "pFP", 3) == 0;
	uint64_t mask = 0;

	for (uint32_t i = vector ? 3 : 1; i < port->size; i++) {
		char name[8];
		uint32_t n;

		snprintf(name, sizeof(name), vector ? "fp%c" : "p%c", port->name[i]);
		n = gus_uarch_group(u, name);
		if (n == GUS_UARCH_NONE && port->name[i] >= 'A' && port->name[i] <= 'F') {
			snprintf(name, sizeof(name), "p%d", port->name[i] - 'A' + 10);
			n = gus_uarch_group(u, name);
		}
		if (n == GUS_UARCH_NONE || n >= u->ports_n)
			return 0;
		mask |= UINT64_C(1) << n;
	}
	return mask;
}

/* Writing a table. */

struct writer {
	const struct gus_uarch *base;
	struct gus_vec(char) out;
	struct gus_index masks;         /* of groups that were declared */
	size_t forms;
	const char *divider;
};

static void say(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct writer *w, const char *format, ...)
{
	char piece[512];
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(piece, sizeof(piece), format, list);
	va_end(list);
	gus_vec_append(&w->out, piece, (size_t)n < sizeof(piece) ? (size_t)n : sizeof(piece) - 1);
}

static void put_group_name(struct writer *w, uint64_t mask)
{
	for (uint32_t i = 0; i < w->base->groups_n; i++)
		if (w->base->groups[i].ports == mask) {
			say(w, "%s", w->base->groups[i].name);
			return;
		}
	say(w, "u%" PRIx64, mask);
}

/* -1 if there are more than a table may have: of 14 ports there are 16,000 groups that overlap. */
static int declare(struct writer *w, uint64_t mask, struct gus_error *err)
{
	const char *between = " ";
	bool fresh;

	gus_index_add(&w->masks, &mask, &fresh);
	if (!fresh)
		return 0;
	if (w->masks.n > GUS_UARCH_GROUPS_MAX)
		return gus_fail(err, GUS_E_FULL, "cannot import the measurements: with the unions of those that "
				"overlap there are more than %d groups of ports", GUS_UARCH_GROUPS_MAX);
	say(w, "group u%" PRIx64 " =", mask);
	for (uint32_t p = 0; p < w->base->ports_n; p++)
		if (mask >> p & 1) {
			say(w, "%s%s", between, w->base->groups[p].name);
			between = "+";
		}
	say(w, "\n");
	return 0;
}

/* First pass: groups that the base does not have. */
static int see_groups(void *context, const struct gus_uops *one, struct gus_error *err)
{
	struct writer *w = context;

	for (uint32_t i = 0; i < one->ports_n; i++) {
		uint64_t mask = gus_uops_mask(w->base, &one->ports[i]);

		if (!mask)
			return gus_fail(err, GUS_E_CORRUPT,
					"cannot import the measurements: the form %s uses %.*s, and "
					"%s has no such ports; is it the right CPU?", one->form,
						(int)one->ports[i].size,
					one->ports[i].name, w->base->name);
		if (declare(w, mask, err) != 0)
			return -1;
	}
	return 0;
}

static uint64_t mask_of(const struct writer *w, uint32_t number)
{
	return *(const uint64_t *)gus_index_key(&w->masks, number);
}

/* Groups that overlap need their union. */
static int close_groups(struct writer *w, struct gus_error *err)
{
	for (uint32_t i = 0; i < w->masks.n; i++)
		for (uint32_t k = 0; k < i; k++) {
			uint64_t a = mask_of(w, i), b = mask_of(w, k);

			if ((a & b) && declare(w, a | b, err) != 0)
				return -1;
		}
	return 0;
}

static void put_centi(struct writer *w, int64_t centi_cycles)
{
	say(w, "%" PRId64, centi_cycles / GUS_UARCH_CENTI);
	if (centi_cycles % GUS_UARCH_CENTI)
		say(w, ".%02" PRId64, centi_cycles % GUS_UARCH_CENTI);
}

static void put_cycles(struct writer *w, const char *word, int64_t centi_cycles)
{
	say(w, " %s ", word);
	put_centi(w, centi_cycles);
}

static void put_uses(struct writer *w, const struct gus_uops *one)
{
	for (uint32_t i = 0; i < one->ports_n; i++) {
		say(w, "%s ", i ? "" : " uses");
		put_group_name(w, gus_uops_mask(w->base, &one->ports[i]));
		say(w, ":%" PRIu32, one->ports[i].uops);
	}
}

static void put_old_uses(struct writer *w, const struct gus_uarch_row *row)
{
	for (uint32_t i = row->uses; i < row->uses + row->uses_n; i++) {
		const struct gus_uarch_use *use = &w->base->uses[i];

		say(w, "%s %s:", i == row->uses ? " uses" : "", w->base->groups[use->group].name);
		put_centi(w, use->cycles);
	}
}

/* What decoders and sequencer deliver; what was not measured is row's, if there is one. */
static void put_front(struct writer *w, int64_t decoded, int64_t microcoded, int64_t complex,
		      const struct gus_uarch_row *row)
{
	decoded = decoded < 0 && row ? row->decoded : decoded;
	microcoded = microcoded < 0 && row ? row->microcoded : microcoded;
	complex = complex < 0 && row ? row->complex : complex;
	if (decoded > 0)
		say(w, " decoded %" PRId64, decoded);
	if (microcoded > 0)
		say(w, " microcoded %" PRId64, microcoded);
	if (complex > 0)
		say(w, " complex");
}

/* Whether a pair is another figure than latency, of registers, or loadlat, of an address. What is from or to a word in
 * memory neither of them says. */
static bool says_more(const struct gus_uarch_pair *pair, int64_t latency, int64_t loadlat)
{
	if (pair->from_kind == GUS_UARCH_MEMORY || pair->to_kind == GUS_UARCH_MEMORY)
		return true;
	return pair->cycles != (pair->from_kind == GUS_UARCH_ADDRESS && loadlat > 0 ? loadlat : latency);
}

/* None at all where the plain latencies say the same: most forms have one result. */
static void put_pairs(struct writer *w, const struct gus_uarch_pair *pairs, uint32_t n, int64_t latency,
		      int64_t loadlat)
{
	bool more = false;

	for (uint32_t i = 0; i < n; i++)
		more |= says_more(&pairs[i], latency, loadlat);
	for (uint32_t i = 0; i < n && more; i++) {
		say(w, "%s %s%u>%s%u:", i ? "" : " pairs", gus_uarch_operand_prefix(pairs[i].from_kind), pairs[i].from,
		    gus_uarch_operand_prefix(pairs[i].to_kind), pairs[i].to);
		put_centi(w, pairs[i].cycles);
	}
}

/* What runs for ever (rep over memory, measured as one) is more than a table says of an instruction. */
static bool is_endless(const struct gus_uops *one)
{
	enum { LONGEST = GUS_UARCH_CYCLES_MAX * GUS_UARCH_CENTI, BUSY = GUS_UARCH_COUNT_MAX * GUS_UARCH_CENTI };
	bool endless = one->uops > GUS_UARCH_UOPS_MAX || one->fused > GUS_UARCH_UOPS_MAX ||
		one->latency > LONGEST || one->loadlat > LONGEST || one->divider > BUSY;

	for (uint32_t i = 0; i < one->pairs_n; i++)
		endless |= one->pairs[i].cycles > LONGEST;
	return endless;
}

static int put_form(void *context, const struct gus_uops *one, struct gus_error *err)
{
	struct writer *w = context;
	const struct gus_uarch_form *form = gus_uarch_form_by_text(w->base, one->form);
	const struct gus_uarch_row *row = form && form->row != GUS_UARCH_NONE ? &w->base->rows[form->row] : NULL;
	bool amd = gus_uarch_group(w->base, "p0") == GUS_UARCH_NONE;
	bool timed = one->latency >= 0 || one->loadlat >= 0 || one->pairs_n;
	int64_t latency = one->latency >= 0 ? one->latency : row ? row->latency : 0;
	int64_t loadlat = one->loadlat > 0 ? one->loadlat : row ? row->loadlat : 0;

	(void)err;
	if (one->uops < 0 || is_endless(one))
		return 0;
	say(w, "form \"%s\" uops %" PRId64, one->form, one->uops);
	put_cycles(w, "latency", latency);
	if (one->fused >= 0 && !amd)
		say(w, " fused %" PRId64, one->fused);
	/* Nobody counted what the decoders of AMD's CPUs deliver; tables may have a 1 there nevertheless. */
	put_front(w, amd ? -1 : one->decoded, amd ? -1 : one->microcoded, amd ? -1 : one->complex, row);
	if (loadlat > 0)
		put_cycles(w, "loadlat", loadlat);
	put_uses(w, one);
	/* AMD's integer ports were not found out, and no uops without ports are known from none at all only there. */
	if (!one->ports_n && amd && row)
		put_old_uses(w, row);
	if (one->divider > 0 && w->divider) {
		say(w, " exclusive %s:", w->divider);
		put_centi(w, one->divider);
	}
	if (timed)
		put_pairs(w, one->pairs, one->pairs_n, latency, loadlat);
	else if (row && row->pairs_n)
		put_pairs(w, &w->base->pairs[row->pairs], row->pairs_n, latency, loadlat);
	say(w, " source measured\n");
	w->forms++;
	return 0;
}

/* A form may be in the source twice (encodings that read the same): the first counts. */
struct once {
	struct gus_index seen;
	gus_uops_each *each;
	void *context;
};

static int only_once(void *context, const struct gus_uops *one, struct gus_error *err)
{
	struct once *o = context;
	uint64_t hash = gus_insn_form_hash(one->form, strlen(one->form));
	bool fresh;

	gus_index_add(&o->seen, &hash, &fresh);
	if (!fresh)
		return 0;
	return o->each(o->context, one, err);
}

char *gus_uops_table(const char *text, size_t size, const char *arch, const char *name, const struct gus_uarch *base,
		     struct gus_error *err)
{
	struct once once = { .each = put_form };
	struct writer w = { .base = base, .divider = base->units_n ? base->units[0] : NULL };
	bool fresh;
	int status;

	once.context = &w;
	gus_index_init(&once.seen, sizeof(uint64_t));
	gus_index_init(&w.masks, sizeof(uint64_t));
	for (uint32_t i = 0; i < base->groups_n; i++)
		gus_index_add(&w.masks, &base->groups[i].ports, &fresh);
	say(&w, "uarch %s isa x86-64 \"%s, measured\"\nlike %s\nsource measured \"uops.info's measurements of %s, "
		"imported\"\n", name, base->title, base->name, arch ? arch : name);
	status = gus_uops_parse(text, size, arch, see_groups, &w, err);
	if (status == 0)
		status = close_groups(&w, err);
	if (status == 0)
		status = gus_uops_parse(text, size, arch, only_once, &once, err);
	if (status == 0 && w.forms == 0)
		status = gus_fail(err, GUS_E_NOT_FOUND, "cannot import the measurements: there are none of %s",
				  arch ? arch : name);
	gus_index_free(&once.seen);
	gus_index_free(&w.masks);
	gus_vec_push(&w.out, '\0');
	if (status == 0)
		return w.out.v;
	gus_vec_free(&w.out);
	return NULL;
}
