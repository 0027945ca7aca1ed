/* SPDX-License-Identifier: MIT */
/* gusprof uarch: the tables of CPUs. What there is, what one says, whether a text is a good table, and which row an
 * instruction gets and why. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hex.h"
#include "cli/common/calibrated.h"
#include "cli/common/filter.h"
#include "cli/common/option_table.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/common/uarch_load.h"
#include "cli/uarch/import.h"
#include "cli/uarch/json.h"
#include "cli/verbs.h"
#include "model/tables/builtin.h"
#include "symbolizer/insn/insn.h"

struct uarch_options {
	int action;                   /* the input */
	const char *uarch, *arch, *name;
	int format;                   /* enum format */
	bool plain, forms;
};

enum format { TEXT, JSON };

enum { LIST, SHOW, CHECK, EXPLAIN, IMPORT };
static const struct gus_input inputs[] = {
	[LIST] = { "list", .word = "list" }, [SHOW] = { "show", .word = "show" }, [CHECK] = { "check",
											      .word = "check" },
	[EXPLAIN] = { "explain", .word = "explain" }, [IMPORT] = { "import", .word = "import", .needs = "arch" }, { 0 },
};

#define AT(field) offsetof(struct uarch_options, field)
static const struct gus_option options[] = {
	{ 0, "uarch", "NAME|FILE|host|nominal", GUS_UARCH_OPTION_HELP, GUS_OPTION_STRING, AT(uarch),
	  .fit = { 1 << SHOW | 1 << EXPLAIN | 1 << IMPORT } },
	{ 0, "plain", NULL, "Leave out the overlays: show what the tables' sources say.", GUS_OPTION_FLAG,
	  AT(plain) },
	{ 0, "forms", NULL, "With show: the instruction forms too; the output is then a table that can be loaded.",
	  GUS_OPTION_FLAG, AT(forms), .fit = { 1 << SHOW } },
	{ 0, "format", "FORMAT", "With show: text (the default), which is a table, or json.", GUS_OPTION_CHOICE,
	  AT(format), .choices = "text json", .fit = { 1 << SHOW } },
	{ 0, "arch", "ARCH", "With import: the CPU as the measurements call it (SKL, ZEN3).", GUS_OPTION_STRING,
	  AT(arch), .fit = { 1 << IMPORT } },
	{ 0, "name", "NAME", "With import: the name of the new table.", GUS_OPTION_STRING, AT(name),
	  .fit = { 1 << IMPORT } },
	{ 0 },
};

/* Cycles as the grammar writes them. */
static const char *cycles(uint32_t centi, char out[16])
{
	uint32_t rest = centi % GUS_UARCH_CENTI;

	if (!rest)
		snprintf(out, 16, "%" PRIu32, centi / GUS_UARCH_CENTI);
	else
		snprintf(out, 16, "%" PRIu32 ".%02" PRIu32, centi / GUS_UARCH_CENTI, rest);
	return out;
}

/* show: a table in its own grammar, everything that it is like or includes being in place. */

static void print_params(const struct gus_uarch *u)
{
	for (uint32_t i = 0; i < u->params_n; i++) {
		const struct gus_uarch_param *p = &u->params[i];
		const struct gus_uarch_param_kind *kind = &gus_uarch_params[p->kind];

		if (p->word)
			gus_print("param %s %s", kind->name, p->word);
		else
			gus_print("param %s %g", kind->name, p->value);
		gus_print(" %s %s # %s\n", gus_uarch_unit_name(kind->unit), u->sources[p->source].id, kind->help);
	}
}

static void print_groups(const struct gus_uarch *u)
{
	for (uint32_t i = 0; i < u->ports_n; i++)
		gus_print("port %s %s\n", u->groups[i].name, u->sources[u->groups[i].source].id);
	for (uint32_t i = u->ports_n; i < u->groups_n; i++) {
		char between = ' ';

		gus_print("group %s =", u->groups[i].name);
		for (uint32_t p = 0; p < u->ports_n; p++)
			if (u->groups[i].ports >> p & 1) {
				gus_print("%c%s", between, u->groups[p].name);
				between = '+';
			}
		putchar('\n');
	}
}

static void print_uses(const struct gus_uarch *u, const char *word, uint32_t first, uint32_t n, bool units)
{
	char text[16];

	if (n)
		gus_print(" %s", word);
	for (uint32_t i = first; i < first + n; i++)
		gus_print(" %s:%s", units ? u->units[u->uses[i].group] : u->groups[u->uses[i].group].name,
			  cycles(u->uses[i].cycles, text));
}

static void print_pairs(const struct gus_uarch *u, const struct gus_uarch_row *row)
{
	char text[16];

	if (row->pairs_n)
		printf(" pairs");
	for (uint32_t i = row->pairs; i < row->pairs + row->pairs_n; i++) {
		const struct gus_uarch_pair *pair = &u->pairs[i];

		gus_print(" %s%u>%s%u:%s", gus_uarch_operand_prefix(pair->from_kind), pair->from,
			  gus_uarch_operand_prefix(pair->to_kind), pair->to, cycles(pair->cycles, text));
	}
}

static void print_figures(const struct gus_uarch *u, const struct gus_uarch_row *row)
{
	char text[16];

	gus_print("uops %" PRIu32 " latency %s", row->uops, cycles(row->latency, text));
	if (row->fused)
		printf(" fused %" PRIu32, row->fused);
	if (row->decoded)
		printf(" decoded %" PRIu32, row->decoded);
	if (row->microcoded)
		printf(" microcoded %" PRIu32, row->microcoded);
	if (row->complex)
		printf(" complex");
	if (row->loadlat)
		gus_print(" loadlat %s", cycles(row->loadlat, text));
	if (row->most) {
		gus_print(" range %s", cycles(row->least, text));
		gus_print("-%s", cycles(row->most, text));
	}
	print_uses(u, "uses", row->uses, row->uses_n, false);
	print_uses(u, "exclusive", row->units, row->units_n, true);
	print_pairs(u, row);
	gus_print("%s source %s", row->guessed ? " guessed" : "", u->sources[row->source].id);
}

static void print_classes(const struct gus_uarch *u)
{
	char lo[16], hi[16];

	for (uint32_t i = 0; i < u->classes_n; i++) {
		const struct gus_uarch_class *c = &u->classes[i];

		gus_print("class %s uops %" PRIu32 "-%" PRIu32 " latency %s-%s", c->name, c->uops_lo, c->uops_hi,
			  cycles(c->latency_lo, lo), cycles(c->latency_hi, hi));
		print_uses(u, "uses", c->uses, c->uses_n, false);
		gus_print(" source %s\n", u->sources[c->source].id);
	}
}

/* A row that one form has for itself has the form's text for an ID, which is no name. */
static bool has_name(const struct gus_uarch_row *row)
{
	return !strpbrk(row->id, " (");
}

static void print_forms(const struct gus_uarch *u)
{
	for (uint32_t i = 0; i < u->forms_n; i++) {
		const struct gus_uarch_form *form = &u->forms[i];

		if (form->row == GUS_UARCH_NONE)
			continue;
		gus_print("form \"%s\" ", form->text);
		if (has_name(&u->rows[form->row]))
			gus_print("%s\n", u->rows[form->row].id);
		else
			print_figures(u, &u->rows[form->row]), putchar('\n');
	}
}

/* What a calibration says beside its figures. */

static void print_number(double value)
{
	char text[40];
	size_t n = (size_t)snprintf(text, sizeof(text), "%.6f", value);

	while (text[n - 1] == '0')
		n--;
	n -= text[n - 1] == '.';
	gus_print("%.*s", (int)n, text);
}

static void print_fit(const struct gus_uarch_fit *f)
{
	printf("fit ");
	if (f->form)
		gus_print("\"%s\" ", f->form);
	gus_print("%s ", f->name);
	if (f->text) {
		gus_print("\"%s\"", f->text);
	} else if (isnan(f->value)) {
		printf("none");
	} else {
		print_number(f->value);
		printf(" ");
		print_number(f->low);
		printf("..");
		print_number(f->high);
	}
	gus_print(" %s", f->unit);
	if (!isnan(f->residual)) {
		printf(" residual ");
		print_number(f->residual);
	}
	if (f->confidence)
		gus_print(" confidence %s", f->confidence);
	gus_print(" \"%s\"\n", f->why);
}

static void print_calibration(const struct gus_uarch *u)
{
	for (uint32_t i = 0; i < u->valids_n; i++)
		gus_print("valid %s \"%s\"\n", u->valids[i].key, u->valids[i].value);
	for (uint32_t i = 0; i < u->fits_n; i++)
		print_fit(&u->fits[i]);
}

static const char *isa_name(enum gus_isa isa)
{
	return isa == GUS_ISA_ARM64 ? "arm64" : "x86-64";
}

static int show(const struct uarch_options *o, const struct gus_uarch *u)
{
	gus_print("uarch %s isa %s \"%s\"\n", u->name, isa_name(u->isa), u->title);
	if (u->aliases_n)
		printf("alias");
	for (uint32_t i = 0; i < u->aliases_n; i++)
		gus_print(" %s", u->aliases[i]);
	if (u->aliases_n)
		putchar('\n');
	for (uint32_t i = 0; i < u->likes_n; i++)
		gus_print("# like %s\n", u->likes[i]);
	for (uint32_t i = 0; i < u->sources_n; i++)
		gus_print("source %s \"%s\"\n", u->sources[i].id, u->sources[i].text);
	print_calibration(u);
	print_params(u);
	for (uint32_t i = 0; i < u->units_n; i++)
		gus_print("unit %s %s\n", u->units[i], u->sources[0].id);
	print_groups(u);
	print_classes(u);
	for (uint32_t i = 0; i < u->rows_n; i++) {
		if (!has_name(&u->rows[i]))
			continue;
		gus_print("row %s ", u->rows[i].id);
		print_figures(u, &u->rows[i]);
		putchar('\n');
	}
	if (o->forms)
		print_forms(u);
	if (u->valids_n)
		printf("end\n");
	return 0;
}

/* list */

static uint32_t forms_with_row(const struct gus_uarch *u)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < u->forms_n; i++)
		n += u->forms[i].row != GUS_UARCH_NONE;
	return n;
}

static int list(const struct uarch_options *o)
{
	const char *host = gus_uarch_host(), *name, *file;
	struct gus_error none = { 0 };
	struct gus_uarch *own = gus_uarch_load(NULL, 0, &none);
	int status = 0;

	printf("  %-16s %-7s %5s %6s  %-40s %s\n", "name", "isa", "rows", "forms", "title", "other names");
	for (size_t i = 0; (name = gus_uarch_builtin_name(i)); i++) {
		struct gus_error err = { 0 };
		struct gus_uarch *u = gus_uarch_parse(name, NULL, 0, &gus_uarch_builtin, o->plain ? GUS_UARCH_PLAIN : 0,
						      &err);

		if (!u) {
			gus_complain(&err);
			status = GUS_EXIT_OWN_FAILURE;
			continue;
		}
		gus_print("%c %-16s %-7s %5" PRIu32 " %6" PRIu32 "  %-40s", host && strcmp(host, name) == 0 ? '*' : ' ',
			  u->name, isa_name(u->isa), u->rows_n, forms_with_row(u), u->title);
		for (uint32_t k = 0; k < u->aliases_n; k++)
			gus_print(" %s", u->aliases[k]);
		putchar('\n');
		gus_uarch_free(u);
	}
	if (host)
		printf("* this machine's CPU\n");
	if (!own && gus_error_is_transient(&none)) {
		gus_complain(&none);
		status = GUS_EXIT_OWN_FAILURE;
	}
	file = own ? gus_calibrated_file(own) : NULL;
	if (file)
		gus_print("+ this machine was calibrated: host is %s (%s) of %s\n", own->name, own->title, file);
	gus_uarch_free(own);
	return status;
}

/* check */

static int check(const struct uarch_options *o, char **files)
{
	int status = 0;

	for (; *files; files++) {
		struct gus_error err = { 0 };
		struct gus_uarch *u = gus_uarch_load(*files, o->plain ? GUS_UARCH_PLAIN : 0, &err);

		if (!u) {
			gus_print("! %s\n", err.text);
			status = 1;
			continue;
		}
		gus_print("%s: a good table of %s: %" PRIu32 " ports, %" PRIu32 " groups, %" PRIu32 " rows, %" PRIu32
			  " forms, %" PRIu32 " of them with a row\n", *files, u->title, u->ports_n,
			  u->groups_n - u->ports_n, u->rows_n, u->forms_n, forms_with_row(u));
		gus_uarch_free(u);
	}
	return status;
}

/* explain */

/* The bytes of words like "48 01 c8", "4801c8" or "0x48,0x01,0xc8"; NULL if they are none. */
static uint8_t *parse_hex(char **words, size_t *n)
{
	struct gus_vec(char) text = { 0 };
	uint8_t *bytes;

	for (; *words; words++) {
		gus_vec_append(&text, *words, strlen(*words));
		gus_vec_push(&text, ' ');
	}
	bytes = text.n ? gus_hex_parse(text.v, text.n, n) : NULL;
	gus_vec_free(&text);
	return bytes;
}

static void explain_class(const struct gus_uarch *u, const char *name)
{
	const struct gus_uarch_class *c = gus_uarch_class(u, name);
	char lo[16], hi[16];

	if (!c) {
		gus_print("  bounds   none: no form of the class %s has a row\n", name);
		return;
	}
	gus_print("  bounds   class %s: uops %" PRIu32 "-%" PRIu32 ", latency %s-%s cycles", name, c->uops_lo,
		  c->uops_hi, cycles(c->latency_lo, lo), cycles(c->latency_hi, hi));
	print_uses(u, "uses", c->uses, c->uses_n, false);
	gus_print("; source %s\n", u->sources[c->source].text);
}

static void explain_row(const struct gus_uarch *u, const struct gus_uarch_form *form)
{
	const struct gus_uarch_row *row = &u->rows[form->row];

	gus_print("  row      %s: ", has_name(row) ? row->id : "its own");
	print_figures(u, row);
	gus_print("\n  because  %s:%" PRIu32 " maps the form to %s%s", u->files[form->file], form->line,
		  form->opcode ? "opcode class " : "the row", form->opcode ? form->opcode : "");
	gus_print("; the row is at %s:%" PRIu32 "\n", u->files[row->file], row->line);
	gus_print("  source   %s%s\n", u->sources[row->source].text, row->guessed ? " (a placeholder there)" : "");
	printf("  ports    one every %.2f cycles by ports and units alone\n", gus_uarch_throughput(u, row));
}

static void explain_one(const struct gus_uarch *u, const uint8_t *bytes, size_t size, uint64_t address, size_t *length)
{
	struct gus_insn_info info;
	struct gus_insn insn;
	const struct gus_uarch_form *form;
	char text[GUS_INSN_FORM_MAX];

	*length = gus_insn_decode(u->isa, bytes, size, address, &insn);
	if (!*length) {
		*length = size;
		printf("(bytes are missing at the end)\n");
		return;
	}
	for (size_t i = 0; i < *length; i++)
		printf("%02x", bytes[i]);
	gus_print("  %s\n", insn.text);
	if (gus_insn_analyse(u->isa, bytes, size, &info) == 0 || !info.form ||
	    !gus_insn_form_text(u->isa, bytes, size, text, sizeof(text))) {
		printf("  form     none: no instruction\n");
		return;
	}
	form = gus_uarch_form(u, info.form);
	gus_print("  form     \"%s\", class %s\n", text, gus_insn_class_name(info.class));
	if (form && form->row != GUS_UARCH_NONE) {
		explain_row(u, form);
		return;
	}
	if (form)
		gus_print("  row      none: %s has no opcode class %s\n", u->name, form->opcode);
	else
		gus_print("  row      none: the table of %s does not know the form\n", u->name);
	explain_class(u, gus_insn_class_name(info.class));
}

static int explain(const struct gus_uarch *u, char **words)
{
	uint8_t *bytes;
	size_t n, length;

	bytes = parse_hex(words, &n);
	if (!bytes) {
		fprintf(stderr, "gusprof: uarch explain takes bytes as pairs of hexadecimal digits, such as 4801c8\n");
		return GUS_EXIT_USAGE;
	}
	gus_print("%s: %s\n", u->name, u->title);
	for (size_t at = 0; at < n; at += length)
		explain_one(u, bytes + at, n - at, at, &length);
	free(bytes);
	return 0;
}

static int with_table(const struct uarch_options *o, const char *what, char **words,
		      int (*act)(const struct gus_uarch *u, char **words))
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = gus_uarch_load(what, o->plain ? GUS_UARCH_PLAIN : 0, &err);
	int status;

	if (!u) {
		gus_complain(&err);
		return err.code == GUS_E_NOT_FOUND ? GUS_EXIT_USAGE : GUS_EXIT_OWN_FAILURE;
	}
	status = act ? act(u, words) : o->format == JSON ? gus_uarch_json(u, o->forms) : show(o, u);
	gus_uarch_free(u);
	return status;
}

static int run(int argc, char **argv)
{
	struct uarch_options o = { 0 };
	int status;

	if (gus_options_parse(&gus_verb_uarch, &o, &argc, &argv, &status) != 0)
		return status;
	if (o.action == LIST && argc <= 1)
		return list(&o);
	if (o.action == SHOW && argc <= 2)
		return with_table(&o, argc == 2 ? argv[1] : o.uarch, NULL, NULL);
	if (o.action == CHECK && argc >= 2)
		return check(&o, argv + 1);
	if (o.action == EXPLAIN && argc >= 2)
		return with_table(&o, o.uarch, argv + 1, explain);
	if (o.action == IMPORT && argc == 2)
		return gus_uarch_import(argv[1], o.arch, o.uarch, o.name, o.plain ? GUS_UARCH_PLAIN : 0);
	fprintf(stderr, "gusprof: uarch takes list, show [NAME], check FILE..., explain HEX... or import FILE\n");
	return GUS_EXIT_USAGE;
}

const struct gus_verb gus_verb_uarch = {
	.name = "uarch",
	.synopsis = "[OPTION...] list | show [NAME] | check FILE... | explain HEX... | import FILE",
	.summary = "Show and check the tables of CPUs.",
	.details = "list      the CPUs there are tables for; a star marks this machine's\n"
		   "show      a table, all it is derived from being in place\n"
		   "check     whether a file is a good table; the exit status is 1 if not\n"
		   "explain   the row that the instructions in HEX get, from where, and why\n"
		   "import    a table from the measurements in FILE, uops.info's instructions.xml\n"
		   "          or tab-separated values of one CPU; - is the standard input",
	.options = options,
	.run = run,
	.argument_choices = "list show check explain import",
	.inputs = inputs,
	.input_word = "action",
	.input_offset = AT(action),
	.word = "WORD",
	.many_words = true,
};
