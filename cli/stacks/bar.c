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

/* A letter as a word of the legend; "" if none of the bars has it, in either size. */
static char *word_of(char letter, struct gus_component what, const char *shown, bool *large, bool *small)
{
	const char *capital = strchr(shown, toupper(letter)), *plain = strchr(shown, letter);
	char key[GUS_COMPONENT_KEY_MAX];

	if (!capital && !plain)
		return gus_strdup("");
	*large |= isalpha(letter) && capital;
	*small |= isalpha(letter) && plain;
	gus_component_key(what, key);
	return gus_format("%c %s", letter, key);
}

static char *joined(char *text, const char *between, char *more)
{
	char *both = gus_format("%s%s%s", text, *text && *more ? between : "", more);

	free(text);
	free(more);
	return both;
}

char *gus_bar_legend(const char *shown)
{
	bool large = false, small = false;
	char *text = word_of('b', (struct gus_component){ .events = 0 }, shown, &large, &small);

	for (size_t i = 0; i < GUS_TEA_EVENTS; i++)
		text = joined(text, ", ", word_of(letters[i].letter, (struct gus_component){
					      .events = (uint16_t)(1u << letters[i].event) }, shown, &large, &small));
	text = joined(text, ", ", word_of('?', (struct gus_component){ .unknown = true }, shown, &large, &small));
	text = joined(text, "; ", gus_strdup(large ? "capitals: samples tell" : ""));
	return joined(text, large ? ", " : "; ", gus_strdup(small ? "small letters: a model does" : ""));
}
