/* SPDX-License-Identifier: MIT */
/* Rows are the hard part. What was measured of a form is at most a latency, a time from one to the next, and ports; a
 * row says more (uops in front and at the end, latencies by operand, a divider that is busy), and all of that stays as
 * the nearest table has it:
 *
 *	latency     replaces the row's where the row's is outside the interval. Latencies by operand that lead to a
 *	            register are longer or shorter by as much, since what takes longer is what computes.
 *	ports       replace the row's uses. What the row counts of uops in front and at the end differs by as much. The
 *	            same form with its last register in memory follows, if it was not measured itself.
 *	throughput  is what ports give; where a row has a unit that is busy besides, a divider, and the ports alone are
 *	            faster than what was measured, that unit is busy for as long as was measured. Otherwise no row could
 *	            say it, and it remains in the `fit`. */
#include "model/calibration/written.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/calibration/fitted.h"
#include "model/tables/uarch.h"

#define USES_MAX 16
#define MOST 999999999.0        /* that a `fit` can say */

struct writer {
	const struct gus_uarch *nearest;
	struct gus_vec(char) out;
	struct gus_vec(const char *) siblings;  /* that have a row already: two forms may have the same one */
};

/* A row while it is corrected. */
struct corrected {
	const struct gus_uarch_row *row;        /* the nearest table's; NULL: it has none */
	int64_t latency, loadlat;               /* hundredths */
	int64_t latency_more, loadlat_more;     /* what they are more than the row's */
	struct gus_uarch_use uses[USES_MAX];
	size_t uses_n;
	int64_t uops_more;
	uint32_t unit, busy;                    /* which of the row's units is busy how long; NONE: as they are */
	unsigned changed;                       /* enum gus_calibration_part: in what it differs from the row */
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

/* A text in quotes: the grammar has no escapes and no text that is empty. */
static void put_quoted(struct writer *w, const char *text)
{
	say(w, "\"");
	for (const char *at = *text ? text : "unknown"; *at; at++) {
		unsigned char c = (unsigned char)*at;

		gus_vec_push(&w->out, c == '"' ? '\'' : c < ' ' || c == 127 ? ' ' : *at);
	}
	say(w, "\"");
}

/* A word where the grammar wants a name. */
static void put_name(struct writer *w, const char *text)
{
	for (const char *at = text && *text ? text : "none"; *at; at++) {
		if (*at == '/')
			say(w, "_per_");
		else
			gus_vec_push(&w->out, strchr("_.-+", *at) || (*at >= '0' && *at <= '9') ||
				     ((*at | 32) >= 'a' && (*at | 32) <= 'z') ? *at : '_');
	}
}

/* As many decimals as tell something, six at most. */
static void put_number(struct writer *w, double value)
{
	char text[40];
	size_t n = (size_t)snprintf(text, sizeof(text), "%.*f", value < 0.1 ? 6 : 4, value);

	while (n && text[n - 1] == '0')
		n--;
	n -= n && text[n - 1] == '.';
	say(w, "%.*s", (int)n, text);
}

static void put_centi(struct writer *w, int64_t centi)
{
	say(w, "%" PRId64, centi / GUS_UARCH_CENTI);
	if (centi % GUS_UARCH_CENTI)
		say(w, ".%02" PRId64, centi % GUS_UARCH_CENTI);
}

/* Fits. */

static bool can_be_said(double value)
{
	return isfinite(value) && value >= 0 && value <= MOST;
}

/* "VALUE LOW..HIGH", or none. */
static void put_found(struct writer *w, double value, double low, double high)
{
	if (!can_be_said(value)) {
		say(w, " none");
		return;
	}
	low = can_be_said(low) && low < value ? low : value;
	high = can_be_said(high) && high > value ? high : value;
	say(w, " ");
	put_number(w, value);
	say(w, " ");
	put_number(w, low);
	say(w, "..");
	put_number(w, high);
}

static void put_sureness(struct writer *w, double residual, enum gus_confidence confidence, const char *why)
{
	const char *word = gus_confidence_name(confidence);

	if (can_be_said(residual)) {
		say(w, " residual ");
		put_number(w, residual);
	}
	say(w, " confidence %s ", word ? word : "none");
	put_quoted(w, *why ? why : "it is not said");
	say(w, "\n");
}

static const struct gus_uarch_param_kind *kind_of(const char *name)
{
	for (const struct gus_uarch_param_kind *kind = gus_uarch_params; kind->name; kind++)
		if (strcmp(kind->name, name) == 0)
			return kind;
	return NULL;
}

static void put_param_fit(struct writer *w, const struct gus_fit_param *p)
{
	const struct gus_uarch_param_kind *kind = kind_of(p->name);

	say(w, "fit ");
	put_name(w, p->name);
	put_found(w, p->confidence == GUS_CONFIDENCE_NONE ? NAN : p->value, p->low, p->high);
	say(w, " %s", kind ? gus_uarch_unit_name(kind->unit) : "none");
	put_sureness(w, p->residual, p->confidence, p->why);
}

static void put_fact_fit(struct writer *w, const struct gus_fit_fact *f)
{
	say(w, "fit ");
	put_name(w, f->name);
	put_found(w, f->value, f->low, f->high);
	say(w, " ");
	put_name(w, f->unit);
	say(w, " ");
	put_quoted(w, *f->why ? f->why : "it is not said");
	say(w, "\n");
}

static void put_form_fit(struct writer *w, const struct gus_fit_form *f)
{
	const struct { const char *name; double value, low, high; enum gus_confidence confidence; } figures[] = {
		{ "latency", f->latency, f->latency_low, f->latency_high, f->latency_confidence },
		{ "loadlat", f->load_latency, f->load_latency, f->load_latency, f->latency_confidence },
		{ "throughput", f->throughput, f->throughput, f->throughput, f->confidence },
	};
	bool any = false;

	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		if (!can_be_said(figures[i].value))
			continue;
		say(w, "fit \"%s\" %s", f->form, figures[i].name);
		put_found(w, figures[i].value, figures[i].low, figures[i].high);
		say(w, " cycles");
		put_sureness(w, f->residual, figures[i].confidence, f->why);
		any = true;
	}
	if (*f->uses || !any) {
		say(w, "fit \"%s\" uses ", f->form);
		if (*f->uses)
			put_quoted(w, f->uses);
		else
			say(w, "none");
		say(w, " uops");
		put_sureness(w, f->residual, f->confidence, f->why);
	}
}

/* Parameters. */

static bool is_believed(enum gus_confidence c)
{
	return c >= GUS_CONFIDENCE_MEDIUM && c < GUS_CONFIDENCES;
}

/* The i-th word of words separated by blanks; 0 bytes if there are not as many. */
static const char *word_at(const char *words, unsigned i, size_t *size)
{
	while (*words && i--)
		words += strcspn(words, " "), words += *words == ' ';
	*size = strcspn(words, " ");
	return words;
}

const char *gus_calibration_word(const char *param, double value, size_t *size)
{
	const struct gus_uarch_param_kind *kind = kind_of(param);
	const char *words = !kind ? NULL : kind->unit == GUS_UNIT_FLAG ? "no yes" : kind->words;

	value = round(value);
	*size = 0;
	if (!words || !(value >= 0 && value <= GUS_UARCH_VALUE_MAX))
		return NULL;
	words = word_at(words, (unsigned)value, size);
	return *size ? words : NULL;
}

/* Engines count whole cycles and entries, so a parameter is the whole number next to what was measured. */
static void put_param(struct writer *w, const struct gus_fit_param *p)
{
	const struct gus_uarch_param_kind *kind = kind_of(p->name);
	const struct gus_uarch_param *was = gus_uarch_param(w->nearest, p->name);
	double value = round(p->value);
	const char *word;
	size_t size;

	if (!kind || !is_believed(p->confidence) || !(value >= 0 && value <= GUS_UARCH_VALUE_MAX))
		return;
	word = gus_calibration_word(p->name, value, &size);
	if (!word && (kind->words || kind->unit == GUS_UNIT_FLAG))
		return;
	if (word)
		say(w, "param %s %.*s", p->name, (int)size, word);
	else
		say(w, "param %s %.0f", p->name, value);
	say(w, " %s " GUS_CALIBRATION_SOURCE, gus_uarch_unit_name(kind->unit));
	if (was && was->word)
		say(w, " # %s: %s", w->nearest->name, was->word);
	else if (was)
		say(w, " # %s: %g", w->nearest->name, was->value);
	say(w, "\n");
}

/* Rows. */

/* Hundredths of a cycle. What is next to a whole cycle is that: cores have clocks, and what was timed has noise. */
static int64_t centi_of(double cycles)
{
	double whole = round(cycles);

	return (int64_t)round((fabs(cycles - whole) <= 0.1 + 1e-9 ? whole : cycles) * GUS_UARCH_CENTI);
}

static bool is_latency(double cycles)
{
	return isfinite(cycles) && cycles >= 0 && cycles <= GUS_UARCH_CYCLES_MAX;
}

/* Whether the table's figure may be what was measured. */
static bool agrees(uint32_t centi, double cycles, double low, double high)
{
	const double slack = 0.05;      /* cycles, for intervals that are too good to be true */
	double table = (double)centi / GUS_UARCH_CENTI;

	low = isfinite(low) && low < cycles ? low : cycles;
	high = isfinite(high) && high > cycles ? high : cycles;
	return centi == centi_of(cycles) || (table >= low - slack && table <= high + slack);
}

/* Of a division: some operands of those that the table knows of take that long. */
static bool is_in_range(const struct gus_uarch_row *row, double cycles)
{
	return row->most && cycles * GUS_UARCH_CENTI >= row->least && cycles * GUS_UARCH_CENTI <= row->most;
}

static void correct_latency(struct corrected *c, const struct gus_fit_form *f)
{
	const struct gus_uarch_row *row = c->row;

	c->latency = row ? row->latency : 0;
	c->loadlat = row ? row->loadlat : 0;
	if (!is_believed(f->latency_confidence))
		return;
	if (is_latency(f->latency) && !(row && agrees(row->latency, f->latency, f->latency_low, f->latency_high)) &&
	    !(row && is_in_range(row, f->latency)))
		c->latency = centi_of(f->latency);
	c->latency_more = row ? c->latency - row->latency : 0;
	c->changed |= c->latency_more ? GUS_CALIBRATION_LATENCY : 0;
	if (is_latency(f->load_latency) && (!row || row->loadlat)) {
		if (!row || !agrees(row->loadlat, f->load_latency, 0.97 * f->load_latency, 1.03 * f->load_latency))
			c->loadlat = centi_of(f->load_latency);
		c->changed |= row && c->loadlat != row->loadlat ? GUS_CALIBRATION_LOAD_LATENCY : 0;
	} else if (c->loadlat && c->loadlat + c->latency_more > 0) {
		c->loadlat += c->latency_more;
	}
	c->loadlat_more = row ? c->loadlat - row->loadlat : 0;
}

/* "p01:1 p23:1" in groups of the table; false if it has no such group, or the text is none. */
static bool read_uses(const struct gus_uarch *u, const char *text, struct corrected *c)
{
	char name[96];
	double cycles;
	int size;

	for (c->uses_n = 0; *text && c->uses_n < USES_MAX; c->uses_n++) {
		uint32_t group;

		if (sscanf(text, " %95[^: ]:%lf%n", name, &cycles, &size) != 2 || !(cycles > 0 && cycles < 1000))
			return false;
		group = gus_uarch_group(u, name);
		if (group == GUS_UARCH_NONE)
			return false;
		c->uses[c->uses_n] = (struct gus_uarch_use){ group, (uint32_t)round(cycles * GUS_UARCH_CENTI) };
		text += size;
		text += strspn(text, " ");
	}
	return !*text;
}

static int by_group(const void *left, const void *right)
{
	const struct gus_uarch_use *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return (a->cycles > b->cycles) - (a->cycles < b->cycles);
}

static int64_t uops_of(const struct gus_uarch_use *uses, size_t n)
{
	int64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += gus_uarch_use_uops(&uses[i], 0);
	return all;
}

static bool same_uses(const struct gus_uarch *u, const struct corrected *c)
{
	const struct gus_uarch_row *row = c->row;
	struct gus_uarch_use old[USES_MAX], new[USES_MAX];

	if (!row || row->uses_n != c->uses_n)
		return false;
	memcpy(old, u->uses + row->uses, row->uses_n * sizeof(*old));
	memcpy(new, c->uses, c->uses_n * sizeof(*new));
	qsort(old, row->uses_n, sizeof(*old), by_group);
	qsort(new, c->uses_n, sizeof(*new), by_group);
	for (size_t i = 0; i < c->uses_n; i++)
		if (by_group(&old[i], &new[i]) != 0)
			return false;
	return true;
}

static void correct_ports(const struct gus_uarch *u, struct corrected *c, const struct gus_fit_form *f)
{
	const struct gus_uarch_row *row = c->row;

	if (is_believed(f->confidence) && *f->uses && read_uses(u, f->uses, c) && c->uses_n && !same_uses(u, c)) {
		c->uops_more = uops_of(c->uses, c->uses_n) - (row ? uops_of(u->uses + row->uses, row->uses_n) : 0);
		c->changed |= GUS_CALIBRATION_PORTS;
		return;
	}
	c->uses_n = row && row->uses_n <= USES_MAX ? row->uses_n : 0;
	if (c->uses_n)
		memcpy(c->uses, u->uses + row->uses, c->uses_n * sizeof(*c->uses));
}

/* A divider and its like. */
static void correct_unit(const struct gus_uarch *u, struct corrected *c, const struct gus_fit_form *f)
{
	const struct gus_uarch_row *row = c->row;
	struct gus_uarch_bound bound = gus_uarch_bound_conjunctive(u, c->uses, c->uses_n);
	double by_ports = (double)bound.centi / bound.ports / GUS_UARCH_CENTI, was;

	c->unit = GUS_UARCH_NONE;
	if (!row || !row->units_n || !is_believed(f->confidence) || !is_latency(f->throughput))
		return;
	c->unit = row->units;
	for (uint32_t i = row->units; i < row->units + row->units_n; i++)
		if (u->uses[i].cycles > u->uses[c->unit].cycles)
			c->unit = i;
	was = (double)u->uses[c->unit].cycles / GUS_UARCH_CENTI;
	if (fabs(f->throughput - was) <= 0.05 * was || (f->throughput <= by_ports && was <= by_ports)) {
		c->unit = GUS_UARCH_NONE;
		return;
	}
	c->busy = (uint32_t)centi_of(f->throughput);
	c->changed |= GUS_CALIBRATION_THROUGHPUT;
}

/* False: the table's row is right, or there is too little to make one. */
static bool correct(const struct gus_uarch *u, const struct gus_fit_form *f, struct corrected *c)
{
	const struct gus_uarch_form *form = gus_uarch_form_by_text(u, f->form);

	*c = (struct corrected){ .row = form && form->row != GUS_UARCH_NONE ? &u->rows[form->row] : NULL };
	if (!*f->form || strlen(f->form) >= GUS_INSN_FORM_MAX || strchr(f->form, '"'))
		return false;
	correct_latency(c, f);
	correct_ports(u, c, f);
	correct_unit(u, c, f);
	if (c->row)
		return c->changed != 0;
	if (!c->uses_n || !is_latency(f->latency) || !is_believed(f->latency_confidence))
		return false;
	c->changed |= GUS_CALIBRATION_LATENCY | (c->loadlat > 0 ? GUS_CALIBRATION_LOAD_LATENCY : 0);
	return true;
}

unsigned gus_calibration_corrects(const struct gus_uarch *nearest, const struct gus_fit_form *form)
{
	struct corrected c;

	return correct(nearest, form, &c) ? c.changed : 0;
}

const char *gus_calibration_part_name(enum gus_calibration_part part)
{
	switch (part) {
	case GUS_CALIBRATION_LATENCY:
		return "latency";
	case GUS_CALIBRATION_LOAD_LATENCY:
		return "load latency";
	case GUS_CALIBRATION_PORTS:
		return "ports";
	case GUS_CALIBRATION_THROUGHPUT:
		return "throughput";
	}
	return NULL;
}

static void put_count(struct writer *w, const char *word, int64_t count, int64_t more)
{
	if (count)
		say(w, " %s %" PRId64, word, count + more > 1 ? count + more : 1);
}

static void put_uses(struct writer *w, const struct corrected *c)
{
	const struct gus_uarch *u = w->nearest;
	const struct gus_uarch_row *row = c->row;

	for (size_t i = 0; i < c->uses_n; i++) {
		say(w, "%s %s:", i ? "" : " uses", u->groups[c->uses[i].group].name);
		put_centi(w, c->uses[i].cycles);
	}
	for (uint32_t i = row ? row->units : 0; row && i < row->units + row->units_n; i++) {
		say(w, "%s %s:", i == row->units ? " exclusive" : "", u->units[u->uses[i].group]);
		put_centi(w, i == c->unit ? c->busy : u->uses[i].cycles);
	}
}

static void put_pairs(struct writer *w, const struct corrected *c)
{
	for (uint32_t i = 0; c->row && i < c->row->pairs_n; i++) {
		const struct gus_uarch_pair *pair = &w->nearest->pairs[c->row->pairs + i];
		int64_t more = pair->to_kind != GUS_UARCH_REGISTER ? 0 :
			pair->from_kind == GUS_UARCH_ADDRESS ? c->loadlat_more : c->latency_more;
		int64_t cycles = pair->cycles + more;

		say(w, "%s %s%u>%s%u:", i ? "" : " pairs", gus_uarch_operand_prefix(pair->from_kind), pair->from,
		    gus_uarch_operand_prefix(pair->to_kind), pair->to);
		put_centi(w, cycles < 0 ? 0 : cycles);
	}
}

/* Operands that suit a division may suit it better than those that the table knew. */
static void put_range(struct writer *w, const struct corrected *c)
{
	if (!c->row || !c->row->most || !c->latency)
		return;
	say(w, " range ");
	put_centi(w, c->latency < c->row->least ? c->latency : c->row->least);
	say(w, "-");
	put_centi(w, c->latency > c->row->most ? c->latency : c->row->most);
}

static void put_corrected(struct writer *w, const char *form, const struct corrected *c)
{
	const struct gus_uarch_row *row = c->row;
	int64_t uops = (row ? row->uops : 0) + c->uops_more;

	say(w, "form \"%s\" uops %" PRId64 " latency ", form, uops > 1 ? uops : 1);
	put_centi(w, c->latency);
	put_count(w, "fused", row ? row->fused : 0, c->uops_more);
	put_count(w, "decoded", row ? row->decoded : 0, c->uops_more);
	put_count(w, "microcoded", row ? row->microcoded : 0, c->uops_more);
	if (row && row->complex)
		say(w, " complex");
	if (c->loadlat > 0) {
		say(w, " loadlat ");
		put_centi(w, c->loadlat);
	}
	put_range(w, c);
	put_uses(w, c);
	put_pairs(w, c);
	say(w, " source " GUS_CALIBRATION_SOURCE);
	if (row)
		say(w, " # %s: latency %g, one every %.2f", w->nearest->name, (double)row->latency / GUS_UARCH_CENTI,
		    gus_uarch_throughput(w->nearest, row));
	say(w, "\n");
}

/* Whether a form is another one's with its last register in memory: "VMAXPD (YMM, YMM, M256)" of "VMAXPD (YMM, YMM,
 * YMM)". */
static bool is_in_memory(const char *memory, const char *plain)
{
	size_t same, size, other;
	const char *last = strrchr(plain, ' ');

	/* What stands behind the register, a constant, is in both. */
	while (last && last > plain && !strchr("RXYZ", last[1]))
		for (last--; last > plain && *last != ' '; last--)
			;
	if (!last || last == plain)
		return false;
	same = (size_t)(last + 1 - plain);
	if (strncmp(memory, plain, same) != 0 || memory[same] != 'M')
		return false;
	size = strcspn(plain + same, ",)");
	other = strcspn(memory + same, ",)");
	return strcmp(memory + same + other, plain + same + size) == 0;
}

/* Takes uses out of others; false if they are not all there. */
static bool take_out(struct corrected *c, const struct gus_uarch_use *uses, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < c->uses_n && by_group(&c->uses[k], &uses[i]) != 0)
			k++;
		if (k == c->uses_n)
			return false;
		c->uses[k] = c->uses[--c->uses_n];
	}
	return true;
}

/* What computes has its ports with a word in memory as well: forms that were not measured follow those that were. */
static void put_sibling(struct writer *w, const struct gus_uarch_form *form, const struct corrected *of)
{
	const struct gus_uarch_row *row = &w->nearest->rows[form->row];
	struct corrected c = { .row = row, .latency = row->latency, .loadlat = row->loadlat, .uses_n = row->uses_n,
		.uops_more = of->uops_more, .unit = GUS_UARCH_NONE };

	if (row->uses_n + of->uses_n > USES_MAX)
		return;
	memcpy(c.uses, w->nearest->uses + row->uses, row->uses_n * sizeof(*c.uses));
	if (!take_out(&c, w->nearest->uses + of->row->uses, of->row->uses_n))
		return;
	memcpy(c.uses + c.uses_n, of->uses, of->uses_n * sizeof(*c.uses));
	c.uses_n += of->uses_n;
	put_corrected(w, form->text, &c);
	gus_vec_push(&w->siblings, form->text);
}

static bool has_row(const struct writer *w, const struct gus_fit *s, const char *form)
{
	for (size_t i = 0; i < s->forms.n; i++)
		if (strcmp(s->forms.v[i].form, form) == 0)
			return true;
	for (size_t i = 0; i < w->siblings.n; i++)
		if (strcmp(w->siblings.v[i], form) == 0)
			return true;
	return false;
}

static void put_form(struct writer *w, const struct gus_fit *s, const struct gus_fit_form *f)
{
	struct corrected c;

	if (!correct(w->nearest, f, &c))
		return;
	put_corrected(w, f->form, &c);
	if (!c.row || same_uses(w->nearest, &c))
		return;
	for (uint32_t i = 0; i < w->nearest->forms_n; i++) {
		const struct gus_uarch_form *form = &w->nearest->forms[i];

		if (form->row != GUS_UARCH_NONE && is_in_memory(form->text, f->form) && !has_row(w, s, form->text))
			put_sibling(w, form, &c);
	}
}

/* The whole. */

static int by_param(const void *left, const void *right)
{
	return strcmp(((const struct gus_fit_param *)left)->name, ((const struct gus_fit_param *)right)->name);
}

static int by_fact(const void *left, const void *right)
{
	return strcmp(((const struct gus_fit_fact *)left)->name, ((const struct gus_fit_fact *)right)->name);
}

/* The surer of two that are of the same form comes first, and is the one that counts. */
static int by_form(const void *left, const void *right)
{
	const struct gus_fit_form *a = left, *b = right;
	int order = strcmp(a->form, b->form);

	return order ? order : (int)b->confidence - (int)a->confidence;
}

/* `valid` says that this is a calibration, which is to end with `end`, and stands in front of `like`, without which
 * there is no table: so nothing that is cut is one. */
static void put_head(struct writer *w, const struct gus_calibration_about *about)
{
	char *title = gus_format("%s as calibrated on %s", w->nearest->title, about->host);
	char *source = gus_format("timed by %s on %s", about->how, about->host);

	say(w, "# What one host is, as timed there; gusprof-uarch(5) says how to read it.\n");
	say(w, "uarch %s-calibrated isa %s ", w->nearest->name, w->nearest->isa == GUS_ISA_ARM64 ? "arm64" : "x86-64");
	put_quoted(w, title);
	say(w, "\n");
	for (size_t i = 0; i < about->key_n; i++) {
		say(w, "valid ");
		put_name(w, about->key[i].key);
		say(w, " ");
		put_quoted(w, about->key[i].value);
		say(w, "\n");
	}
	say(w, "like %s\nsource " GUS_CALIBRATION_SOURCE " ", w->nearest->name);
	put_quoted(w, source);
	say(w, "\n");
	free(title);
	free(source);
}

/* A sorted copy without what comes twice: the lists stay as the fits left them. */
#define SORTED(copy, list, order) \
	do { \
		gus_vec_append(&(copy), (list).v, (list).n); \
		if ((copy).n) \
			qsort((copy).v, (copy).n, sizeof(*(copy).v), (order)); \
	} while (0)

char *gus_calibration_text(const struct gus_calibration_about *about, const struct gus_fit *f, size_t *size)
{
	struct writer w = { .nearest = about->nearest };
	struct gus_fit s = { 0 };

	SORTED(s.params, f->params, by_param);
	SORTED(s.facts, f->facts, by_fact);
	SORTED(s.forms, f->forms, by_form);
	put_head(&w, about);
	for (size_t i = 0; i < s.params.n; i++)
		if (!i || by_param(&s.params.v[i - 1], &s.params.v[i]) != 0)
			put_param(&w, &s.params.v[i]);
	for (size_t i = 0; i < s.forms.n; i++)
		if (!i || strcmp(s.forms.v[i - 1].form, s.forms.v[i].form) != 0)
			put_form(&w, &s, &s.forms.v[i]);
	for (size_t i = 0; i < s.facts.n; i++)
		if ((!i || by_fact(&s.facts.v[i - 1], &s.facts.v[i]) != 0) && !gus_fit_get(f, s.facts.v[i].name))
			put_fact_fit(&w, &s.facts.v[i]);
	for (size_t i = 0; i < s.params.n; i++)
		if (!i || by_param(&s.params.v[i - 1], &s.params.v[i]) != 0)
			put_param_fit(&w, &s.params.v[i]);
	for (size_t i = 0; i < s.forms.n; i++)
		if (*s.forms.v[i].form && !strchr(s.forms.v[i].form, '"') &&
		    (!i || strcmp(s.forms.v[i - 1].form, s.forms.v[i].form) != 0))
			put_form_fit(&w, &s.forms.v[i]);
	say(&w, "end\n");
	gus_fit_free(&s);
	gus_vec_free(&w.siblings);
	*size = w.out.n;
	gus_vec_push(&w.out, '\0');
	return w.out.v;
}
