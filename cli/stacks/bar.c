/* SPDX-License-Identifier: MIT */
#include "cli/stacks/bar.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const struct { enum gus_tea_event event; char letter; } letters[GUS_TEA_EVENTS] = {
	{ GUS_FL_MB, 'f' }, { GUS_FL_MO, 'o' }, { GUS_FL_EX, 'x' }, { GUS_ST_LLC, 'm' }, { GUS_ST_L1, 'l' },
	{ GUS_ST_TLB, 't' }, { GUS_DR_SQ, 'q' }, { GUS_DR_L1, 'c' }, { GUS_DR_TLB, 'i' },
};

char gus_bar_letter(struct gus_component what, enum gus_evidence evidence)
{
	char letter = 'b';

	if (what.unknown)
		return '?';
	for (size_t i = 0; i < GUS_TEA_EVENTS; i++) {
		if (what.events >> letters[i].event & 1) {
			letter = letters[i].letter;
			break;
		}
	}
	return evidence == GUS_OBSERVED || evidence == GUS_INFERRED ? (char)toupper(letter) : letter;
}

static int by_weight(const void *a, const void *b)
{
	const struct gus_stack_part *x = a, *y = b;

	return x->weight > y->weight ? -1 : x->weight < y->weight;
}

/* Each part ends at the cell that is nearest to where it does. */
void gus_bar(const struct gus_stack *stack, uint64_t weight, uint64_t most, char bar[GUS_BAR_CELLS + 1])
{
	size_t cells = most ? (size_t)lround((double)weight / (double)most * GUS_BAR_CELLS) : 0, n = 0;
	struct gus_stack parts = { 0 };
	uint64_t sum = 0;

	cells = weight && !cells ? 1 : cells;
	gus_vec_append(&parts, stack->v, stack->n);
	if (parts.n)
		qsort(parts.v, parts.n, sizeof(*parts.v), by_weight);
	for (size_t i = 0; i < parts.n; i++) {
		sum += parts.v[i].weight;
		while (n < cells && (double)n + 0.5 <= (double)sum / (double)weight * (double)cells)
			bar[n++] = gus_bar_letter(parts.v[i].what, parts.v[i].evidence);
	}
	bar[n] = '\0';
	gus_vec_free(&parts);
}

static const char *name_of(char letter)
{
	static const char *const names[][2] = { { "f", "FL-MB" }, { "o", "FL-MO" }, { "x", "FL-EX" }, { "m", "ST-LLC" },
		{ "l", "ST-L1" }, { "t", "ST-TLB" }, { "q", "DR-SQ" }, { "c", "DR-L1" }, { "i", "DR-TLB" },
		{ "b", "base" }, { "?", "unknown" } };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (*names[i][0] == letter)
			return names[i][1];
	return NULL;
}

char *gus_bar_legend(const char *shown)
{
	static const char order[] = "bmltfoxqci?";
	char *text = gus_strdup("");
	bool large = false, small = false;

	for (const char *c = order; *c; c++) {
		char *more;

		if (!strchr(shown, *c) && !strchr(shown, toupper(*c)))
			continue;
		large |= isalpha((unsigned char)*c) && strchr(shown, toupper(*c));
		small |= isalpha((unsigned char)*c) && strchr(shown, *c);
		more = gus_format("%s%s%c %s", text, *text ? ", " : "", *c, name_of(*c));
		free(text);
		text = more;
	}
	if (large || small) {
		char *more = gus_format("%s; %s%s%s", text, large ? "capitals: samples tell" : "", large && small ?
					", " : "", small ? "small letters: a model does" : "");

		free(text);
		text = more;
	}
	return text;
}
