/* SPDX-License-Identifier: MIT */
#include "cli/report/by.h"

#include <stdlib.h>
#include <string.h>

#include "attribution/profile/by.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/suggest.h"

/* Words, and what perf's --sort calls the same. */
static const struct { const char *word, *perf; enum gus_by by; } words[] = {
	{ "function", "sym", GUS_BY_FUNCTION }, { "module", "dso", GUS_BY_MODULE }, { "line", "srcline", GUS_BY_LINE },
	{ "instruction", NULL, GUS_BY_INSTRUCTION }, { "thread", "tid", GUS_BY_THREAD },
	{ "process", "pid", GUS_BY_PROCESS }, { "comm", "comm", GUS_BY_COMM },
	{ "data-source", "mem", GUS_BY_DATA_SOURCE }, { "snoop", "snoop", GUS_BY_SNOOP },
	{ "tlb", "tlb", GUS_BY_TLB }, { "access", NULL, GUS_BY_ACCESS }, { "locked", "locked", GUS_BY_LOCKED },
	{ "data-page", NULL, GUS_BY_DATA_PAGE }, { "data-line", "dcacheline", GUS_BY_DATA_LINE },
	{ "data-module", "dso_daddr", GUS_BY_DATA_MODULE }, { "data-symbol", "symbol_daddr", GUS_BY_DATA_SYMBOL },
	{ "block", NULL, GUS_BY_BLOCK }, { "loop", NULL, GUS_BY_LOOP }, { "time", "time", GUS_BY_TIME },
};
#define WORDS (sizeof(words) / sizeof(*words))

const char *gus_report_by_of_perf(const char *word)
{
	if (strcmp(word, "symbol") == 0)
		word = "sym";
	for (size_t i = 0; i < WORDS; i++)
		if (words[i].perf && strcmp(words[i].perf, word) == 0)
			return words[i].word;
	return NULL;
}

char *gus_report_by_name(unsigned by)
{
	char *name = gus_strdup("");

	for (size_t i = 0; i < WORDS; i++) {
		char *more;

		if (!(by & words[i].by))
			continue;
		more = gus_format("%s%s%s", name, *name ? "," : "", words[i].word);
		free(name);
		name = more;
	}
	return name;
}

static int unknown(const char *word, struct gus_error *err)
{
	const char *meant = gus_report_by_of_perf(word);
	char nearest[64], text[96];

	gus_suggest_among(word, GUS_BY_WORDS, nearest, sizeof(nearest));
	if (meant)
		return gus_fail(err, GUS_E_USAGE, "perf's '%s' is '%s' here", word, meant);
	gus_suggest_format(nearest, text, sizeof(text));
	return gus_fail(err, GUS_E_USAGE, "--by takes " GUS_BY_WORDS ", not '%s'%s", word, text);
}

int gus_report_by_parse(unsigned *by, const char *text, struct gus_error *err)
{
	int rc = 0;

	*by = 0;
	do {
		size_t length = strcspn(text, ","), i = 0;
		char *word = gus_strndup(text, length);

		while (i < WORDS && strcasecmp(words[i].word, word) != 0)
			i++;
		if (i < WORDS)
			*by |= words[i].by;
		else
			rc = unknown(word, err);
		free(word);
		text += length;
	} while (rc == 0 && *text++ == ',');
	return rc;
}
