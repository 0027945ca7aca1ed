/* SPDX-License-Identifier: MIT */
/* Fuzz target of tables: uarch, overlay and forms as any text. An input is several files, each behind a line
 * `@@ NAME`, which may be like each other and include each other; the text before the first such line is the table.
 * What is a good table is asked everything, and a program is made with it and run: figures of a table are as foreign
 * as its words. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/analysis/modelled.h"
#include "model/code/program.h"
#include "model/core/core.h"
#include "model/tables/uarch.h"
#include "tests/fuzz/limit.h"

enum { FILES = 8, NAME = 24 };
/* A text may be read 64 times (likes and includes), and a table of any size be asked; the run is bounded by itself. */
enum { MS = 400, NS_A_BYTE = 100000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
	if (!truth)
		abort();
}

struct files {
	struct { char name[NAME]; const char *text; size_t size; } v[FILES];
	unsigned n;
	unsigned asked;
};

static const char *get(void *context, const char *name, size_t *size)
{
	struct files *f = context;

	demand(f->asked++ < 1000);
	for (unsigned i = 1; i < f->n; i++)
		if (strcmp(f->v[i].name, name) == 0) {
			*size = f->v[i].size;
			return f->v[i].text;
		}
	return NULL;
}

/* Cuts the input into files; the first has the name "own". */
static void cut(struct files *f, const char *text, size_t size)
{
	const char *at = text, *end = text + size;

	*f = (struct files){ .n = 1, .v[0] = { "own", text, size } };
	while (at < end && f->n < FILES) {
		const char *mark = memmem(at, (size_t)(end - at), "@@ ", 3), *line;

		if (!mark)
			return;
		line = memchr(mark, '\n', (size_t)(end - mark));
		f->v[f->n - 1].size = (size_t)(mark - f->v[f->n - 1].text);
		if (!line || line - mark - 3 >= NAME)
			return;
		memcpy(f->v[f->n].name, mark + 3, (size_t)(line - mark - 3));
		f->v[f->n].text = at = line + 1;
		f->v[f->n++].size = (size_t)(end - at);
	}
}

static void check_uses(const struct gus_uarch *u, uint32_t first, uint32_t n, uint32_t groups)
{
	demand(n <= u->uses_n && first <= u->uses_n - n);
	for (uint32_t i = first; i < first + n; i++)
		demand(u->uses[i].group < groups);
}

static void check_row(const struct gus_uarch *u, const struct gus_uarch_row *r)
{
	check_uses(u, r->uses, r->uses_n, u->groups_n);
	check_uses(u, r->units, r->units_n, u->units_n);
	demand(r->pairs_n <= u->pairs_n && r->pairs <= u->pairs_n - r->pairs_n);
	for (uint32_t i = r->pairs; i < r->pairs + r->pairs_n; i++)
		demand(u->pairs[i].from < GUS_UARCH_OPERANDS && u->pairs[i].to < GUS_UARCH_OPERANDS &&
		       u->pairs[i].to_kind != GUS_UARCH_ADDRESS && u->pairs[i].from_kind < GUS_UARCH_OPERAND_KINDS);
	demand(r->source < u->sources_n && r->file < u->files_n && r->line);
	demand(isfinite(gus_uarch_throughput(u, r)));
}

/* What a calibration says; it fits a host that has all its keys, and none that has none. */
static void check_fits(const struct gus_uarch *u)
{
	for (uint32_t i = 0; i < u->fits_n; i++) {
		const struct gus_uarch_fit *f = &u->fits[i];

		demand(f->name && f->unit && f->why);
		demand(f->text || isnan(f->value) || (f->low >= 0 && f->low <= f->value && f->value <= f->high));
		demand(isnan(f->residual) || f->residual >= 0);
	}
	for (uint32_t i = 0; i < u->valids_n; i++)
		demand(gus_uarch_valid_value(u, u->valids[i].key) == u->valids[i].value && u->valids[i].value[0]);
	demand(!gus_uarch_misfit(u, u->valids, u->valids_n));
	demand(!gus_uarch_misfit(u, NULL, 0) == !u->valids_n);
}

static void check(const struct gus_uarch *u)
{
	demand(u->name && u->title && u->ports_n && u->ports_n <= GUS_UARCH_PORTS_MAX && u->rows_n);
	for (uint32_t i = 0; i < u->groups_n; i++)
		demand(u->groups[i].size == (uint32_t)__builtin_popcountll(u->groups[i].ports) && u->groups[i].size &&
		       gus_uarch_group(u, u->groups[i].name) <= i);
	for (uint32_t i = 0; i < u->rows_n; i++)
		check_row(u, &u->rows[i]);
	for (uint32_t i = 0; i < u->forms_n; i++) {
		demand(gus_uarch_form_by_text(u, u->forms[i].text) == &u->forms[i]);
		demand(u->forms[i].row == GUS_UARCH_NONE || u->forms[i].row < u->rows_n);
	}
	for (uint32_t i = 0; i < u->classes_n; i++) {
		demand(gus_uarch_class(u, u->classes[i].name) == &u->classes[i]);
		check_uses(u, u->classes[i].uses, u->classes[i].uses_n, u->groups_n);
	}
	check_fits(u);
	for (uint32_t i = 0; i < u->params_n; i++)
		demand(isfinite(u->params[i].value) && u->params[i].value >= 0);
}

/* Forms that seeds have, so that what they say of themselves is believed by an engine. */
static void run(const struct gus_uarch *u)
{
	static const uint8_t x86[] = { 0x48, 0x8b, 0x06, 0x48, 0x01, 0xd8, 0x48, 0x89, 0x07, 0x48, 0x0f, 0xaf, 0xc3,
		0x50, 0x58, 0x48, 0x01, 0x06, 0x48, 0xff, 0xc9, 0x75, 0xe9 };
	static const uint8_t arm64[] = { 0x20, 0x00, 0x02, 0x8b, 0x20, 0x00, 0x40, 0xf9, 0x20, 0x00, 0x00, 0xf9 };
	struct gus_modelled_settings s = { .uarch = u };
	struct gus_error err = { 0 };
	struct gus_program *p;
	double cycles = 0;

	gus_core_config_of(&s.config, u);
	gus_cache_config_of(&s.cache_config, u);
	p = u->isa == GUS_ISA_ARM64 ? gus_program_new(u, arm64, sizeof(arm64), 0, 0, &err) :
		gus_program_new(u, x86, sizeof(x86), 0, 0, &err);
	demand(p != NULL);
	s.options.iterations = 4;
	for (int stream = 0; stream < 2; stream++) {
		s.stream = stream;
		err = (struct gus_error){ 0 };
		demand(gus_modelled_cycles(p, &s, &cycles, &err) == 0 ? isfinite(cycles) && cycles >= 0 :
		       err.code != GUS_OK && err.text[0]);
	}
	gus_program_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = gus_alloc(size);
	struct limit begun = limit_begin();
	struct gus_uarch_texts texts;
	struct files files;

	if (size)
		memcpy(text, data, size);
	cut(&files, text, size);
	for (unsigned plain = 0; plain < 2; plain++) {
		struct gus_error err = { 0 };
		struct gus_uarch *u;

		files.asked = 0;
		texts = (struct gus_uarch_texts){ get, &files };
		u = gus_uarch_parse("own", files.v[0].text, files.v[0].size, &texts, plain ? GUS_UARCH_PLAIN : 0, &err);
		demand(u ? err.code == GUS_OK : err.code != GUS_OK && err.text[0]);
		if (u) {
			check(u);
			run(u);
		}
		gus_uarch_free(u);
	}
	limit_end(begun, size, MS, NS_A_BYTE);
	free(text);
	return 0;
}
