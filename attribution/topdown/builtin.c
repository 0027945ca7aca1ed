/* SPDX-License-Identifier: MIT */
/* The files of tables/ as constants, by the assembler, as model/tables/builtin.c has its own. The list is made by
 * attribution/local.mk, sorted by name. */
#include "attribution/topdown/builtin.h"

#include <stdlib.h>

#define TEXT(symbol, file, path) \
	__asm__(".pushsection .rodata\n" \
		"gus_topdown_text_" #symbol ": .incbin \"" path "\"\n" \
		"gus_topdown_text_end_" #symbol ": .byte 0\n" \
		".popsection\n"); \
	extern const char gus_topdown_text_##symbol[] __asm__("gus_topdown_text_" #symbol); \
	extern const char gus_topdown_text_end_##symbol[] __asm__("gus_topdown_text_end_" #symbol);
#include "attribution/topdown/builtin_list.h"
#undef TEXT

static const struct {
	const char *name, *start, *end;
} texts[] = {
#define TEXT(symbol, file, path) { file, gus_topdown_text_##symbol, gus_topdown_text_end_##symbol },
#include "attribution/topdown/builtin_list.h"
#undef TEXT
};
#define TEXTS (sizeof(texts) / sizeof(*texts))

const char *gus_topdown_builtin(size_t i, const char **text, size_t *size)
{
	if (i >= TEXTS)
		return NULL;
	*text = texts[i].start;
	*size = (size_t)(texts[i].end - texts[i].start);
	return texts[i].name;
}

/* Those of which there is no PMU, where there is one of others. */
static void leave_out_absent(struct gus_topdown_tables *tables, size_t first)
{
	size_t kept = first;
	bool any = false;

	for (size_t i = first; i < tables->n; i++)
		any |= tables->v[i]->pmu != NULL;
	for (size_t i = first; any && i < tables->n; i++)
		if (tables->v[i]->pmu)
			tables->v[kept++] = tables->v[i];
		else
			gus_topdown_free(tables->v[i]);
	tables->n = any ? kept : tables->n;
}

int gus_topdown_find(struct gus_topdown_tables *tables, const struct gus_topdown_host *host, struct gus_error *err)
{
	size_t first = tables->n, size;
	const char *name, *text;

	for (size_t i = 0; (name = gus_topdown_builtin(i, &text, &size)); i++) {
		struct gus_topdown *t;

		if (gus_topdown_parse(&t, name, text, size, host, err) != 0)
			return -1;
		if (t)
			gus_vec_push(tables, t);
	}
	leave_out_absent(tables, first);
	return 0;
}

void gus_topdown_tables_free(struct gus_topdown_tables *tables)
{
	for (size_t i = 0; i < tables->n; i++)
		gus_topdown_free(tables->v[i]);
	gus_vec_free(tables);
}
