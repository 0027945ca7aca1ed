/* SPDX-License-Identifier: MIT */
#include "model/tables/expected.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { WORDS = 16, TABLE = 1, ENGINE, SETTING, KIND, FIGURES };

struct line {
	const char *table, *engine, *setting;
	struct gus_expected_error error;
};
struct source { const char *id, *text; };

struct gus_expected {
	char *text;                     /* all words lie in it */
	struct gus_vec(struct line) lines;
	struct gus_vec(struct source) sources;
};

/* Ends the next word, or text in quotes, of a line, and returns it; NULL: there is none. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, " \t"), *end;

	if (!*word || *word == '#')
		return NULL;
	end = *word == '"' ? strchr(word + 1, '"') : word + strcspn(word, " \t");
	if (!end)
		return NULL;
	word += *word == '"';
	*at = end + (*end != '\0');
	*end = '\0';
	return word;
}

/* "12" or "12.3", in any locale; negative: it is neither. */
static double number(const char *word)
{
	size_t whole = strspn(word, "0123456789"), digits = 0;
	double value = 0, scale = 1;

	for (size_t i = 0; i < whole; i++)
		value = value * 10 + (word[i] - '0');
	if (word[whole] == '.')
		digits = strspn(word + whole + 1, "0123456789");
	for (size_t i = 0; i < digits; i++)
		value += (word[whole + 1 + i] - '0') * (scale /= 10);
	return whole && whole < 9 && !word[whole + (word[whole] == '.') + digits] ? value : -1;
}

static const char *source_text(const struct gus_expected *e, const char *id)
{
	for (size_t i = 0; i < e->sources.n; i++)
		if (strcmp(e->sources.v[i].id, id) == 0)
			return e->sources.v[i].text;
	return NULL;
}

/* "median 2.0 p90 8.1 n 120 source S", or with a mean alone: pairs of a word and what it is. */
static bool read_figures(const struct gus_expected *e, char *const *words, size_t n, struct gus_expected_error *out)
{
	double count = -1;

	for (size_t i = 0; i + 1 < n; i += 2) {
		double *const into = strcmp(words[i], "median") == 0 ? &out->median :
			strcmp(words[i], "p90") == 0 ? &out->p90 : strcmp(words[i], "mean") == 0 ? &out->mean :
			strcmp(words[i], "n") == 0 ? &count : NULL;

		if (into && (*into >= 0 || (*into = number(words[i + 1])) < 0))
			return false;
		if (!into && (strcmp(words[i], "source") != 0 || !(out->source = source_text(e, words[i + 1]))))
			return false;
	}
	out->n = count > 0 ? (uint32_t)count : 0;
	return n % 2 == 0 && out->n && out->source && (out->mean >= 0) != (out->median >= 0 && out->p90 >= out->median);
}

static bool read_line(struct gus_expected *e, char *text)
{
	char *words[WORDS], *word;
	size_t n = 0;

	while ((word = next_word(&text))) {
		if (n == WORDS)
			return false;
		words[n++] = word;
	}
	if (!n)
		return text[strspn(text, " \t")] != '"'; /* else it has no end */
	if (strcmp(words[0], "source") == 0 && n == 3) {
		gus_vec_push(&e->sources, (struct source){ words[1], words[2] });
		return true;
	}
	if (strcmp(words[0], "error") == 0 && n > FIGURES) {
		struct line one = { words[TABLE], words[ENGINE], words[SETTING],
			{ .median = -1, .p90 = -1, .mean = -1, .kind = words[KIND] } };

		if (!read_figures(e, words + FIGURES, n - FIGURES, &one.error))
			return false;
		gus_vec_push(&e->lines, one);
		return true;
	}
	return false;
}

struct gus_expected *gus_expected_parse(const char *text, size_t size, struct gus_error *err)
{
	struct gus_expected *e = gus_zalloc(sizeof(*e));
	unsigned number_of_line = 1;

	e->text = gus_strndup(text, size);
	for (char *at = e->text, *end; at; at = end, number_of_line++) {
		end = strchr(at, '\n');
		if (end)
			*end++ = '\0';
		if (!read_line(e, at)) {
			gus_fail(err, GUS_E_CORRUPT, "cannot read the expected errors, line %u: it is neither a source "
				 "nor an error with its figures", number_of_line);
			gus_expected_free(e);
			return NULL;
		}
	}
	return e;
}

void gus_expected_free(struct gus_expected *e)
{
	if (!e)
		return;
	gus_vec_free(&e->lines);
	gus_vec_free(&e->sources);
	free(e->text);
	free(e);
}

static const struct gus_expected_error *find(const struct gus_expected *e, const char *const key[3], const char *kind)
{
	for (size_t i = 0; i < e->lines.n; i++) {
		const struct line *l = &e->lines.v[i];

		if (strcmp(l->table, key[0]) == 0 && strcmp(l->engine, key[1]) == 0 &&
		    strcmp(l->setting, key[2]) == 0 && strcmp(l->error.kind, kind) == 0)
			return &l->error;
	}
	return NULL;
}

const struct gus_expected_error *gus_expected_find(const struct gus_expected *e, const char *table, const char *engine,
						   const char *setting, const char *kind)
{
	const char *const key[] = { table, engine, setting };
	const struct gus_expected_error *found = find(e, key, kind);

	return found ? found : find(e, key, "all");
}
