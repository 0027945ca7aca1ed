/* SPDX-License-Identifier: MIT */
/* Holds tables against measured figures: for every instruction form that occurs in some code, throughput by ports,
 * latency and uops, each form counted once. Forms with neither row nor measurement are no evidence and are counted
 * apart.
 *
 *	tables_against_uops [--list N | --names N] [--half A|B] [--code ELF-FILE]... [--blocks CSV]... CPU=TSV...
 *
 * For each CPU one line without and one with its overlay: throughput right within 0.25 cycle, latency within one cycle
 * (of a form that has both, from registers and from the address), uops equal. --list shows the N worst forms of each
 * kind.
 *
 * So that tables are not fitted to what they are judged by, forms fall into two halves by a bit of their hash. Who
 * corrects a table may look at the names (--names, without what was measured) of half A; half B is for judging
 * alone. */
#include <elf.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/index.h"
#include "model/tables/builtin.h"
#include "model/tables/uops.h"

struct forms {
	struct gus_index ix;    /* by hash of the form */
	struct gus_vec(uint32_t) uses;
};

enum kind { THROUGHPUT, LATENCY, UOPS, KINDS };
static const char *const kind_names[KINDS] = { "throughput", "latency", "uops" };

/* What is asked for. */
struct wanted {
	char half;              /* 'A', 'B' or 0 for both */
	bool names;             /* list without what was measured */
	size_t most;            /* so many of each kind */
};

/* How far off a form is. */
struct miss { char form[GUS_INSN_FORM_MAX]; double table, measured; uint32_t uses; };

struct judge {
	const struct forms *forms;
	const struct gus_uarch *u;
	const struct wanted *wanted;
	struct gus_index seen;
	size_t judged[KINDS], right[KINDS], without_row;
	struct gus_vec(struct miss) misses[KINDS];
};

static void die(const char *what, const char *name)
{
	fprintf(stderr, "tables_against_uops: %s: %s\n", what, name);
	exit(99);
}

static char *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "re");
	struct gus_vec(char) bytes = { 0 };
	size_t got;

	if (!f)
		die(strerror(errno), path);
	do {
		gus_vec_reserve(&bytes, bytes.n + (1 << 20));
		got = fread(bytes.v + bytes.n, 1, 1 << 20, f);
		bytes.n += got;
	} while (got);
	fclose(f);
	*size = bytes.n;
	return bytes.v;
}

/* The text of a file that may be compressed. */
static char *read_text(const char *path, size_t *size)
{
	char *bytes = read_file(path, size), *text;
	unsigned long long whole;
	size_t length = strlen(path);

	if (length < 4 || strcmp(path + length - 4, ".zst") != 0)
		return bytes;
	whole = ZSTD_getFrameContentSize(bytes, *size);
	if (whole == ZSTD_CONTENTSIZE_ERROR || whole > 1u << 30)
		whole = 64u << 20;
	text = gus_alloc(whole);
	*size = ZSTD_decompress(text, whole, bytes, *size);
	free(bytes);
	if (ZSTD_isError(*size))
		die("cannot decompress", path);
	return text;
}

/* Code. */

static void add_code(struct forms *forms, const uint8_t *bytes, size_t size)
{
	struct gus_insn_info info;

	for (size_t at = 0, n; at < size; at += n) {
		uint32_t number;
		bool fresh;

		n = gus_insn_analyse(GUS_ISA_X86_64, bytes + at, size - at, &info);
		if (!n)
			break;
		if (!info.form)
			continue;
		number = gus_index_add(&forms->ix, &info.form, &fresh);
		if (fresh)
			gus_vec_push(&forms->uses, 0);
		forms->uses.v[number]++;
	}
}

static void add_elf(struct forms *forms, const char *path)
{
	size_t size;
	char *bytes = read_file(path, &size);
	Elf64_Ehdr head;

	if (size < sizeof(head))
		die("not an ELF file", path);
	memcpy(&head, bytes, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_shentsize != sizeof(Elf64_Shdr))
		die("not an ELF file", path);
	for (unsigned i = 0; i < head.e_shnum; i++) {
		Elf64_Shdr section;

		if (head.e_shoff + (i + 1) * sizeof(section) > size)
			break;
		memcpy(&section, bytes + head.e_shoff + i * sizeof(section), sizeof(section));
		if ((section.sh_flags & SHF_EXECINSTR) && section.sh_type == SHT_PROGBITS &&
		    section.sh_offset <= size &&
		    section.sh_size <= size - section.sh_offset)
			add_code(forms, (const uint8_t *)bytes + section.sh_offset, section.sh_size);
	}
	free(bytes);
}

static void add_blocks(struct forms *forms, const char *path)
{
	size_t size;
	char *text = read_text(path, &size), *end = text + size;

	for (char *at = text; at < end;) {
		uint8_t block[4096];
		size_t n = 0;
		unsigned byte;

		while (end - at > 1 && at[1] != ',' && n < sizeof(block) &&
		       sscanf((char[]){ at[0], at[1], 0 }, "%2x", &byte) == 1) {
			block[n++] = (uint8_t)byte;
			at += 2;
		}
		if (at < end && *at == ',')
			add_code(forms, block, n);
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : end;
	}
	free(text);
}

/* Judging. */

static double bound(const struct gus_uarch *u, const struct gus_uops *one)
{
	double best = one->divider / 100.0;

	/* All unions of the groups: few enough to try each. */
	for (uint32_t set = 1; set < 1u << one->ports_n && one->ports_n <= 12; set++) {
		uint64_t mask = 0, inside = 0;

		for (uint32_t i = 0; i < one->ports_n; i++)
			if (set >> i & 1)
				mask |= gus_uops_mask(u, &one->ports[i]);
		for (uint32_t i = 0; i < one->ports_n; i++)
			if (!(gus_uops_mask(u, &one->ports[i]) & ~mask))
				inside += one->ports[i].uops;
		if (mask)
			best = fmax(best, (double)inside / __builtin_popcountll(mask));
	}
	return best;
}

static void note(struct judge *j, enum kind kind, const struct gus_uops *one, double table, double measured,
		 double limit)
{
	struct miss miss = { .table = table, .measured = measured };
	uint64_t hash = gus_insn_form_hash(one->form, strlen(one->form));

	j->judged[kind]++;
	if (fabs(table - measured) <= limit) {
		j->right[kind]++;
		return;
	}
	memcpy(miss.form, one->form, sizeof(miss.form));
	miss.uses = j->forms->uses.v[gus_index_find(&j->forms->ix, &hash)];
	gus_vec_push(&j->misses[kind], miss);
}

/* The row that a form was measured by: jumps were timed taken, for which a table may have a row of its own. */
static const struct gus_uarch_row *row_of(const struct gus_uarch *u, const struct gus_uops *one, uint64_t hash)
{
	if (one->form[0] == 'J' && strstr(one->form, "(Rel") && strncmp(one->form, "JMP", 3) != 0)
		for (uint32_t i = 0; i < u->rows_n; i++)
			if (strcmp(u->rows[i].id, "taken") == 0)
				return &u->rows[i];
	return gus_uarch_row(u, hash);
}

/* What waits by itself (a lock, the sequencer of microcode) keeps a unit of its own, for a time that is not in the
 * measured figures: they are what ports allow. */
static bool waits_by_itself(const struct gus_uarch *u, const struct gus_uarch_row *row)
{
	for (uint32_t i = 0; i < row->units_n; i++) {
		const char *unit = u->units[u->uses[row->units + i].group];

		if (strcmp(unit, "lock") == 0 || strcmp(unit, "microcode") == 0)
			return true;
	}
	return false;
}

/* What the table says of the ports that were measured: on AMD's CPUs nobody can count but those of the vector unit, so
 * that the pipes of addresses, loads and stores, and the microcode's time, have nothing to be held against. */
static double bound_of_table(const struct gus_uarch *u, const struct gus_uarch_row *row, bool vector_only)
{
	struct gus_vec(struct gus_uarch_use) uses = { 0 };
	struct gus_uarch_bound found;

	if (!vector_only && !waits_by_itself(u, row))
		return gus_uarch_throughput(u, row);
	if (!vector_only) {
		found = gus_uarch_bound_conjunctive(u, &u->uses[row->uses], row->uses_n);
		return (double)found.centi / found.ports / GUS_UARCH_CENTI;
	}
	for (uint32_t i = 0; i < row->uses_n; i++) {
		const struct gus_uarch_use *use = &u->uses[row->uses + i];
		unsigned port = (unsigned)__builtin_ctzll(u->groups[use->group].ports);

		if (strncmp(u->groups[port].name, "fp", 2) == 0)
			gus_vec_push(&uses, *use);
	}
	found = gus_uarch_bound_conjunctive(u, uses.v, uses.n);
	gus_vec_free(&uses);
	return (double)found.centi / found.ports / GUS_UARCH_CENTI;
}

/* Whether it divides or takes a root: then the ports say nothing unless the divider was measured too. */
static bool is_division(const struct gus_uops *one)
{
	return strstr(one->form, "DIV") || strstr(one->form, "SQRT");
}

/* The worse of the latency from registers and from the address. */
static void judge_latency(struct judge *j, const struct gus_uops *one, const struct gus_uarch_row *row)
{
	double by_register = one->latency >= 0 ? fabs((double)row->latency - (double)one->latency) : -1;
	double by_address = one->loadlat > 0 && row->loadlat ? fabs((double)row->loadlat - (double)one->loadlat) : -1;

	if (by_register < 0 && by_address < 0)
		return;
	if (by_address > by_register)
		note(j, LATENCY, one, row->loadlat / 100.0, one->loadlat / 100.0, 1);
	else
		note(j, LATENCY, one, row->latency / 100.0, one->latency / 100.0, 1);
}

static int judge_one(void *context, const struct gus_uops *one, struct gus_error *err)
{
	struct judge *j = context;
	uint64_t hash = gus_insn_form_hash(one->form, strlen(one->form));
	const struct gus_uarch_row *row = row_of(j->u, one, hash);
	bool intel = gus_uarch_group(j->u, "p0") != GUS_UARCH_NONE, fresh;

	(void)err;
	if (gus_index_find(&j->forms->ix, &hash) == GUS_INDEX_NONE || one->uops < 0)
		return 0;
	if (j->wanted->half && j->wanted->half != (hash >> 17 & 1 ? 'B' : 'A'))
		return 0;
	gus_index_add(&j->seen, &hash, &fresh);
	if (!fresh)
		return 0;
	if (!row) {
		j->without_row++;
		return 0;
	}
	/* Of integer instructions of AMD's CPUs nobody knows the ports; elsewhere only what is not executed has
	 * none. */
	if ((one->ports_n || one->divider > 0 || (intel && one->uops == 0)) && (one->divider > 0 || !is_division(one)))
		note(j, THROUGHPUT, one, bound_of_table(j->u, row, !intel && one->divider <= 0), bound(j->u, one),
		     0.25);
	judge_latency(j, one, row);
	note(j, UOPS, one, row->uops, (double)one->uops, 0);
	return 0;
}

static int by_miss(const void *a, const void *b)
{
	const struct miss *x = a, *y = b;
	double dx = fabs(x->table - x->measured), dy = fabs(y->table - y->measured);

	return dx > dy ? -1 : dx < dy ? 1 : strcmp(x->form, y->form);
}

static void print_misses(struct judge *j, size_t most, bool names)
{
	for (int k = 0; k < KINDS; k++) {
		qsort(j->misses[k].v, j->misses[k].n, sizeof(*j->misses[k].v), by_miss);
		for (size_t i = 0; i < j->misses[k].n && i < most; i++) {
			const struct miss *m = &j->misses[k].v[i];
			const struct gus_uarch_form *form = gus_uarch_form_by_text(j->u, m->form);

			printf("    %-10s %-40s table %7.2f", kind_names[k], m->form, m->table);
			if (!names)
				printf(" measured %7.2f", m->measured);
			printf("  used %u  %s\n", m->uses, form && form->opcode ? form->opcode : "");
		}
	}
}

static void judge_cpu(const struct forms *forms, const char *name, const char *text, size_t size, unsigned flags,
		      const struct wanted *wanted)
{
	const char *table = gus_uarch_builtin_find(name);
	struct gus_error err = { 0 };
	struct judge j = { .forms = forms, .wanted = wanted };

	if (!table)
		die("there is no table", name);
	j.u = gus_uarch_parse(table, NULL, 0, &gus_uarch_builtin, flags, &err);
	if (!j.u)
		die(err.text, name);
	gus_index_init(&j.seen, sizeof(uint64_t));
	if (gus_uops_parse(text, size, NULL, judge_one, &j, &err) != 0)
		die(err.text, name);
	printf("%-16s %-8s", table, flags & GUS_UARCH_PLAIN ? "before" : "after");
	for (int k = 0; k < KINDS; k++)
		printf("  %6.2f %% of %4zu", j.judged[k] ? 100.0 * (double)j.right[k] / (double)j.judged[k] : 0,
		       j.judged[k]);
	printf("  without a row %zu\n", j.without_row);
	print_misses(&j, flags & GUS_UARCH_PLAIN ? 0 : wanted->most, wanted->names);
	for (int k = 0; k < KINDS; k++)
		gus_vec_free(&j.misses[k]);
	gus_index_free(&j.seen);
	gus_uarch_free((struct gus_uarch *)j.u);
}

int main(int argc, char **argv)
{
	struct forms forms = { 0 };
	struct wanted wanted = { 0 };

	gus_index_init(&forms.ix, sizeof(uint64_t));
	for (int i = 1; i < argc; i++) {
		char *equals = strchr(argv[i], '=');

		if ((strcmp(argv[i], "--list") == 0 || strcmp(argv[i], "--names") == 0) && i + 1 < argc) {
			wanted.names = argv[i][2] == 'n';
			wanted.most = (size_t)atoi(argv[++i]);
		} else if (strcmp(argv[i], "--half") == 0 && i + 1 < argc) {
			wanted.half = argv[++i][0];
		} else if (strcmp(argv[i], "--code") == 0 && i + 1 < argc) {
			add_elf(&forms, argv[++i]);
		} else if (strcmp(argv[i], "--blocks") == 0 && i + 1 < argc) {
			add_blocks(&forms, argv[++i]);
		} else if (equals) {
			size_t size;
			char *text = read_text(equals + 1, &size);

			*equals = '\0';
			judge_cpu(&forms, argv[i], text, size, GUS_UARCH_PLAIN, &wanted);
			judge_cpu(&forms, argv[i], text, size, 0, &wanted);
			free(text);
		} else {
			die("usage: tables_against_uops [--list N | --names N] [--half A|B] [--code FILE] [--blocks "
			    "CSV] CPU=TSV...", argv[i]);
		}
	}
	gus_index_free(&forms.ix);
	gus_vec_free(&forms.uses);
	return 0;
}
