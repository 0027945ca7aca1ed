/* SPDX-License-Identifier: MIT */
#include "cli/common/option_rules.h"

#include <assert.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"

/* All that was said. */
struct asked {
	const struct gus_verb *verb;
	const struct gus_option_said *said;
	int words_n;
	char *const *words;
};

/* One word of needs, excludes or of a rule: NAME, NAME=PATTERN or "--". */
struct term {
	char name[32], pattern[32];
	bool valued;
	int option;           /* -1: the words that are no options */
};

void gus_option_label(const struct gus_option *option, bool by_letter, char out[64])
{
	if (by_letter || !*option->name)
		snprintf(out, 64, "-%c", option->letter);
	else
		snprintf(out, 64, "--%.60s", option->name);
}

static int find_option(const struct gus_verb *verb, const char *name)
{
	int i = 0;

	while (verb->options[i].name && strcmp(verb->options[i].name, name) != 0)
		i++;
	assert(verb->options[i].name);
	return i;
}

/* Reads the next term of text; returns what is behind it, or NULL if there is none. */
static const char *next_term(const struct gus_verb *verb, const char *text, struct term *t)
{
	size_t length, name;

	text += strspn(text, " ");
	length = strcspn(text, " ");
	name = strcspn(text, "= ");
	if (!length)
		return NULL;
	assert(name < sizeof(t->name) && length - name <= sizeof(t->pattern));
	*t = (struct term){ 0 };
	t->valued = text[name] == '=';
	snprintf(t->name, sizeof(t->name), "%.*s", (int)name, text);
	if (t->valued)
		snprintf(t->pattern, sizeof(t->pattern), "%.*s", (int)(length - name - 1), text + name + 1);
	t->option = strcmp(t->name, "--") == 0 ? -1 : find_option(verb, t->name);
	return text + length;
}

static bool is_number(const struct gus_option *o)
{
	return o->kind == GUS_OPTION_NUMBER || o->kind == GUS_OPTION_SIGNED;
}

static bool holds(const struct asked *a, const struct term *t)
{
	const struct gus_option_said *said = &a->said[t->option < 0 ? 0 : t->option];

	if (t->option < 0)
		return a->words_n > 0;
	if (!t->valued)
		return said->given;
	if (is_number(&a->verb->options[t->option]))
		return said->argument && said->number == (double)strtol(t->pattern, NULL, 10);
	return said->given && fnmatch(t->pattern, said->argument ? said->argument : "", FNM_CASEFOLD) == 0;
}

/* The term for a message: as it was said if it was, else as it might be. */
static void describe(const struct asked *a, const struct term *t, char out[128])
{
	const struct gus_option_said *said = &a->said[t->option < 0 ? 0 : t->option];
	const char *value = !t->valued ? NULL : holds(a, t) ? said->argument : t->pattern;
	const struct gus_verb *v = a->verb;
	char label[64];

	if (t->option < 0) {
		snprintf(out, 128, "%s", v->words_give ? v->inputs[__builtin_ctz(v->words_give)].name : v->word);
		return;
	}
	gus_option_label(&v->options[t->option], said->by_letter, label);
	snprintf(out, 128, "%s%s%.60s", label, value ? " " : "", value ? value : "");
}

/* "a, b or c" of the inputs in a mask. */
static void list_inputs(const struct gus_verb *verb, unsigned mask, char *out, size_t room)
{
	size_t used = 0;
	bool first = true;

	for (unsigned i = 0; verb->inputs[i].name && used < room; i++) {
		if (!(mask >> i & 1))
			continue;
		used += (size_t)snprintf(out + used, room - used, "%s%s", first ? "" : mask >> i >> 1 ? ", " : " or ",
					 verb->inputs[i].name);
		first = false;
	}
}

static int no_input(const struct asked *a, struct gus_error *err)
{
	const struct gus_verb *verb = a->verb;
	const char *words[32] = { NULL };
	unsigned all = 0;
	char list[400], meant[64];

	for (unsigned i = 0; verb->inputs[i].name; i++) {
		words[i] = verb->inputs[i].word;
		all |= 1u << i;
	}
	list_inputs(verb, all, list, sizeof(list));
	gus_suggest_format(a->words_n ? gus_suggest(a->words[0], words, 32) : NULL, meant, sizeof(meant));
	if (a->words_n)
		return gus_fail(err, GUS_E_USAGE, "%s takes %s, not '%s'%s", verb->name, list, a->words[0], meant);
	return gus_fail(err, GUS_E_USAGE, "no %s was given; %s takes %s", verb->input_word, verb->name, list);
}

/* The input that the words name, as a bit. */
static unsigned given_by_words(const struct asked *a)
{
	const struct gus_verb *v = a->verb;

	if (!v->inputs[0].word)
		return a->words_n ? v->words_give : 0;
	if (!a->words_n)
		return 1;
	for (unsigned i = 0; v->inputs[i].name; i++)
		if (strcmp(v->inputs[i].word, a->words[0]) == 0)
			return 1u << i;
	return 0;
}

/* The one that was given; those that yield count only if there is no other. */
static int choose_input(const struct asked *a, int *input, struct gus_error *err)
{
	const struct gus_verb *v = a->verb;
	unsigned given = given_by_words(a);
	int yielding = -1;

	*input = -1;
	for (int i = 0; v->options[i].name; i++)
		if (a->said[i].given)
			given |= v->options[i].gives;
	for (int i = 0; v->inputs[i].name; i++) {
		if (!(given >> i & 1))
			continue;
		if (v->inputs[i].yields)
			yielding = yielding < 0 ? i : yielding;
		else if (*input >= 0)
			return gus_fail(err, GUS_E_USAGE, "%s and %s exclude each other: %s takes one %s",
					v->inputs[*input].name, v->inputs[i].name, v->name, v->input_word);
		else
			*input = i;
	}
	if (*input < 0)
		*input = yielding < 0 && v->first_by_default && !a->words_n ? 0 : yielding;
	return *input < 0 ? no_input(a, err) : 0;
}

static bool has_any(const struct asked *a, const char *terms)
{
	struct term term;

	while ((terms = next_term(a->verb, terms, &term)))
		if (holds(a, &term))
			return true;
	return false;
}

/* Whether what is given as that term has the company that it wants. */
static int check_fit(const struct asked *a, const struct term *t, const struct gus_option_fit *fit, int input,
		     struct gus_error *err)
{
	const char *colon = fit->why ? ": " : "", *why = fit->why ? fit->why : "", *at;
	char self[128], other[128], list[400];
	struct term term;

	describe(a, t, self);
	if (fit->inputs && !(fit->inputs >> input & 1)) {
		list_inputs(a->verb, fit->inputs, list, sizeof(list));
		return gus_fail(err, GUS_E_USAGE, "%s is for %s; here the %s is %s%s%s", self, list,
				a->verb->input_word, a->verb->inputs[input].name, colon, why);
	}
	if (fit->needs && !has_any(a, fit->needs)) {
		next_term(a->verb, fit->needs, &term);
		describe(a, &term, other);
		return gus_fail(err, GUS_E_USAGE, "%s needs %s%s%s", self, other, colon, why);
	}
	for (at = fit->excludes; at && (at = next_term(a->verb, at, &term));) {
		if (!holds(a, &term))
			continue;
		describe(a, &term, other);
		return gus_fail(err, GUS_E_USAGE, "%s and %s exclude each other%s%s", self, other, colon, why);
	}
	return 0;
}

static int check_input(const struct asked *a, int input, struct gus_error *err)
{
	const struct gus_input *in = &a->verb->inputs[input];
	char other[128];
	struct term term;

	if (!in->needs || !next_term(a->verb, in->needs, &term) || holds(a, &term))
		return 0;
	describe(a, &term, other);
	return gus_fail(err, GUS_E_USAGE, "%s needs %s", in->name, other);
}

static int check_words(const struct gus_verb *v, int n, char *const *words, struct gus_error *err)
{
	if (n > 0 && !v->word)
		return gus_fail(err, GUS_E_USAGE, "%s takes no argument, but there is '%s'", v->name, words[0]);
	if (n > 1 && !v->many_words)
		return gus_fail(err, GUS_E_USAGE, "%s takes one %s, not '%s' too", v->name, v->word, words[1]);
	return 0;
}

int gus_option_rules_check(const struct gus_verb *verb, const struct gus_option_said *said, int n, char *const *words,
			   int *input, struct gus_error *err)
{
	struct asked a = { verb, said, n, words };
	struct term t;

	*input = 0;
	if (check_words(verb, n, words, err) != 0)
		return -1;
	if (verb->inputs && (choose_input(&a, input, err) != 0 || check_input(&a, *input, err) != 0))
		return -1;
	for (int i = 0; verb->options[i].name; i++) {
		t = (struct term){ .option = i };
		if (said[i].given && check_fit(&a, &t, &verb->options[i].fit, *input, err) != 0)
			return -1;
	}
	for (const struct gus_option_rule *r = verb->rules; r && r->option; r++)
		if (next_term(verb, r->option, &t) && holds(&a, &t) && check_fit(&a, &t, &r->fit, *input, err) != 0)
			return -1;
	return 0;
}
