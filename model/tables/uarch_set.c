/* SPDX-License-Identifier: MIT */
/* A parameter of a table that has been read gets another value: what a user asks for with --set. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/index.h"
#include "model/tables/uarch.h"
#include "model/tables/uarch_private.h"

/* What tables say and nothing that is modelled depends on. */
static const char *const unasked[] = {
	"branches", "bypass_vector", "decode_clusters", "divider_pipelined", "flag_registers", "l1d_banks",
	"l1d_load_width", "l1d_loads", "l1d_loads_vector", "l2_misses",
	"rs_load", "rs_store", "rs_store_data", "rs_vector_wait", "smt_threads", "taken_branches",
	"uop_cache_ways", "vector_width",
};

enum { MOST = 1000000 };

static uint32_t kind_of(const char *name)
{
	uint32_t kind = 0;

	while (gus_uarch_params[kind].name && strcmp(gus_uarch_params[kind].name, name) != 0)
		kind++;
	return kind;
}

bool gus_uarch_param_is_asked(const char *name)
{
	for (size_t i = 0; i < sizeof(unasked) / sizeof(*unasked); i++)
		if (strcmp(unasked[i], name) == 0)
			return false;
	return true;
}

/* Digits and nothing else: what is modelled by sizes, widths and cycles takes whole ones, and half a uop a cycle would
 * become none. */
static bool read_number(const char *text, double *value)
{
	*value = 0;
	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9' && *value <= MOST; text++)
		*value = *value * 10 + (*text - '0');
	return !*text && *value <= MOST;
}

/* A word of some, or its number from 0; its size. NULL: it is neither. */
static const char *find_word(const char *words, const char *text, double *number, size_t *size)
{
	double wanted;

	if (!read_number(text, &wanted))
		wanted = -1;
	for (*number = 0;; (*number)++) {
		*size = strcspn(words, " ");
		if ((strlen(text) == *size && memcmp(words, text, *size) == 0) ||
		    (wanted >= *number && wanted <= *number))
			return words;
		if (!words[*size])
			return NULL;
		words += *size + 1;
	}
}

static int read_value(struct gus_uarch *u, const struct gus_uarch_param_kind *kind, const char *text,
		      struct gus_uarch_param *one, struct gus_error *err)
{
	const char *words = kind->unit == GUS_UNIT_FLAG ? "no yes" : kind->words, *word;
	size_t size;

	if (words) {
		word = find_word(words, text, &one->value, &size);
		if (!word)
			return gus_fail(err, GUS_E_USAGE, "cannot set %s to %s: it is one of %s", kind->name, text,
					words);
		one->word = gus_strings_get(&u->own->strings, gus_strings_add_n(&u->own->strings, word, size));
		return 0;
	}
	if (!read_number(text, &one->value))
		return gus_fail(err, GUS_E_USAGE, "cannot set %s to %s: give a whole number of %s up to %d", kind->name,
				text, gus_uarch_unit_name(kind->unit), MOST);
	return 0;
}

int gus_uarch_set(struct gus_uarch *u, const char *name, const char *value, struct gus_error *err)
{
	struct gus_uarch_param one = { .kind = kind_of(name) };
	uint32_t n = 0;

	if (!gus_uarch_params[one.kind].name)
		return gus_fail(err, GUS_E_USAGE, "cannot set %s: tables have no such parameter; gusprof-uarch(5) has "
				"all", name);
	if (!gus_uarch_param_is_asked(name))
		return gus_fail(err, GUS_E_USAGE, "cannot set %s: nothing that is modelled depends on it", name);
	if (read_value(u, &gus_uarch_params[one.kind], value, &one, err) != 0)
		return -1;
	while (n < u->params_n && u->params[n].kind != one.kind)
		n++;
	if (n == u->params_n) {
		u->params = gus_resize(u->params, n + 1, sizeof(*u->params));
		u->params_n++;
	} else {
		one.source = u->params[n].source;
	}
	u->params[n] = one;
	return 0;
}
