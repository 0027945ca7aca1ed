/* SPDX-License-Identifier: MIT */
/* Which of the words that there are somebody meant who typed another one: "reprot", "--persent-limit", "cpu-clok". */
#ifndef GUS_BASE_SUGGEST_H
#define GUS_BASE_SUGGEST_H

#include <stddef.h>

/* The nearest of n words, or NULL if none is near enough to be worth a line: at most one mistake in each three letters
 * of the word, case apart. A mistake is a letter too many, one too few, another one, or two neighbours in each other's
 * place. Of several that are as near it is the first. A NULL among the words is passed over. */
const char *gus_suggest(const char *word, const char *const *list, size_t n);

/* The same of words separated by blanks, as the table of options has them; the answer is put into out, "" if there is
 * none. */
void gus_suggest_among(const char *word, const char *words, char *out, size_t room);

/* For messages: "; did you mean 'WORD'?", or "" if word is NULL or "". */
void gus_suggest_format(const char *word, char *out, size_t room);

#endif
