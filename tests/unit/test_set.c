/* SPDX-License-Identifier: MIT */
/* Parameters that are set by their names: each of the grammar arrives in what is modelled, or is refused because
 * nothing depends on it; and what makes no sense is refused with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "made_program.h"
#include "model/code/program_private.h"
#include "model/machine/config.h"
#include "model/oracles/cache.h"
#include "model/tables/uarch.h"

/* All that is made of parameters. */
struct machine {
	struct gus_core_config core;
	struct gus_cache_config caches;
	struct rules rules;
	uint32_t slots;         /* of a table of uops: a store of three registers, which may be split */
};

static void machine_of(struct machine *m, const struct gus_uarch *u)
{
	struct gus_program *p;

	memset(m, 0, sizeof(*m));
	gus_core_config_of(&m->core, u);
	gus_cache_config_of(&m->caches, u);
	gus_program_find_rules(&m->rules, u);
	p = made_program_of_uops(u, "1 store rsi,rdi;x8 - 1+3 2,3+4\n");
	m->slots = gus_program_slots(p);
	gus_program_free(p);
}

static bool differ(const struct machine *a, const struct machine *b)
{
	return a->slots != b->slots || memcmp(&a->core, &b->core, sizeof(a->core)) != 0 ||
		memcmp(&a->caches, &b->caches, sizeof(a->caches)) != 0 ||
		memcmp(&a->rules, &b->rules, sizeof(a->rules)) != 0;
}

/* Two values that a parameter may have. */
static void values_of(const struct gus_uarch_param_kind *kind, char *one, char *other, size_t room)
{
	const char *words = kind->unit == GUS_UNIT_FLAG ? "no yes" : kind->words ? kind->words : "100 200";
	size_t size = strcspn(words, " ");

	assert_true(size < room && words[size]);
	memcpy(one, words, size);
	one[size] = '\0';
	words += size + 1;
	size = strcspn(words, " ");
	assert_true(size < room);
	memcpy(other, words, size);
	other[size] = '\0';
}

static void set(struct gus_uarch *u, const char *name, const char *value)
{
	struct gus_error err = { 0 };

	if (gus_uarch_set(u, name, value, &err) != 0)
		fail_msg("%s=%s: %s", name, value, err.text);
}

static void refused(struct gus_uarch *u, const char *name, const char *value, const char *why)
{
	struct gus_error err = { 0 };

	if (gus_uarch_set(u, name, value, &err) != -1)
		fail_msg("taken: %s=%s", name, value);
	assert_int_equal(err.code, GUS_E_USAGE);
	if (!strstr(err.text, why))
		fail_msg("%s=%s: %s", name, value, err.text);
}

/* A table with that value. */
static struct gus_uarch *table_with(const struct gus_uarch_param_kind *kind, const char *value)
{
	char *text = gus_format("uarch test isa x86-64 \"a test\"\nlike skylake\nsource S \"none\"\n"
				"param %s %s %s S\n", kind->name, value, gus_uarch_unit_name(kind->unit));
	struct gus_uarch *u = made_table_of(text);

	free(text);
	return u;
}

static void changes_nothing(const struct gus_uarch_param_kind *kind, const char *one, const char *other)
{
	struct gus_uarch *u = table_with(kind, one), *v = table_with(kind, other);
	struct machine a, b;

	machine_of(&a, u);
	machine_of(&b, v);
	if (differ(&a, &b))
		fail_msg("%s arrives, and cannot be set", kind->name);
	gus_uarch_free(u);
	gus_uarch_free(v);
}

static void each_arrives(void **state)
{
	(void)state;
	for (const struct gus_uarch_param_kind *kind = gus_uarch_params; kind->name; kind++) {
		struct gus_uarch *u = made_table("skylake");
		char one[64], other[64];
		struct machine a, b;

		values_of(kind, one, other, sizeof(one));
		if (gus_uarch_param_is_asked(kind->name)) {
			set(u, kind->name, one);
			machine_of(&a, u);
			set(u, kind->name, other);
			machine_of(&b, u);
			if (!differ(&a, &b))
				fail_msg("%s does not arrive", kind->name);
		} else {
			refused(u, kind->name, one, "nothing that is modelled depends on it");
			changes_nothing(kind, one, other);
		}
		gus_uarch_free(u);
	}
}

/* All that the core engine has can be set in a table, too. */
static void sizes_are_parameters(void **state)
{
	struct gus_uarch *u = made_table("skylake");
	struct gus_core_config c;

	(void)state;
#define X(name) \
	assert_true(gus_core_config_has(#name)); \
	set(u, #name, "1");
	GUS_CORE_SETTINGS(X)
#undef X
	gus_core_config_of(&c, u);
	assert_int_equal(c.rob, 1);
	assert_int_equal(c.memory_latency, 4); /* of 1 ns */
	assert_false(gus_core_config_has("l2_size"));
	gus_uarch_free(u);
}

static void what_a_value_is(void **state)
{
	struct gus_uarch *u = made_table("skylake");
	uint32_t params = u->params_n;

	(void)state;
	set(u, "stack_engine", "no");
	assert_float_equal(gus_uarch_value(u, "stack_engine", 9), 0, 0);
	assert_string_equal(gus_uarch_param(u, "stack_engine")->word, "no");
	set(u, "stack_engine", "1");
	assert_string_equal(gus_uarch_param(u, "stack_engine")->word, "yes");
	set(u, "macro_fusion", "test_cmp");
	assert_float_equal(gus_uarch_value(u, "macro_fusion", 9), 1, 0);
	set(u, "macro_fusion", "0");
	assert_string_equal(gus_uarch_param(u, "macro_fusion")->word, "none");
	set(u, "rob", "1000000");
	assert_int_equal(u->params_n, params); /* the table had all of these */
	assert_null(gus_uarch_param(u, "rs_int"));
	set(u, "rs_int", "7");
	assert_int_equal(u->params_n, params + 1);
	assert_float_equal(gus_uarch_value(u, "rs_int", 0), 7, 0);
	gus_uarch_free(u);
}

static void what_is_no_value(void **state)
{
	struct gus_uarch *u = made_table("skylake");

	(void)state;
	refused(u, "rab", "1", "no such parameter");
	refused(u, "", "1", "no such parameter");
	refused(u, "stack_engine", "maybe", "one of no yes");
	refused(u, "stack_engine", "2", "one of no yes");
	refused(u, "macro_fusion", "test", "one of none test_cmp test_cmp_add all");
	refused(u, "macro_fusion", "test_cmp_", "one of");
	refused(u, "macro_fusion", "0.5", "one of");
	refused(u, "rob", "", "number of entries");
	refused(u, "rob", "x", "number of entries");
	refused(u, "rob", "1x", "number of entries");
	refused(u, "rob", "-1", "number of entries");
	refused(u, "rob", "1.x", "number of entries");
	refused(u, "issue_width", "0.5", "whole number of uops");
	refused(u, "issue_width", "1.0", "whole number of uops");
	refused(u, "rob", "1000001", "up to 1000000");
	refused(u, "rob", "99999999999999999999999999", "up to 1000000");
	gus_uarch_free(u);
}

/* The manual page, with each run of white space as one blank. */
static char *folded_page(void)
{
	const char *source = getenv("GUS_SRCDIR");
	char *path = gus_format("%s/man/gusprof-uarch.5", source ? source : ".");
	char *page = gus_zalloc(1 << 20), *to = page;
	FILE *f = fopen(path, "r");

	if (!f)
		fail_msg("cannot open %s", path);
	assert_true(fread(page, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	free(path);
	for (const char *from = page; *from; from++)
		if (!isspace((unsigned char)*from))
			*to++ = *from;
		else if (to > page && to[-1] != ' ')
			*to++ = ' ';
	*to = '\0';
	return page;
}

/* gusprof-uarch(5) says of each parameter what the table says, in the table's order, and names no others. */
static void the_manual_has_each_parameter(void **state)
{
	char *page = folded_page();
	const char *at = strstr(page, ".Ss Parameters ");

	(void)state;
	assert_non_null(at);
	at = strstr(at, ".It Va ");
	for (const struct gus_uarch_param_kind *kind = gus_uarch_params; kind->name; kind++) {
		char *says = gus_format(".It Va %s Pq %s %s.%s%s%s%s ", kind->name, gus_uarch_unit_name(kind->unit),
					kind->help, kind->words ? " One of " : "", kind->words ? kind->words : "",
					kind->words ? "." : "", gus_uarch_param_is_asked(kind->name) ? "" :
					" Nothing that is modelled depends on it.");

		if (!at || strncmp(at, says, strlen(says)) != 0)
			fail_msg("gusprof-uarch(5) has not, or not here: %s", says);
		at += strlen(says);
		free(says);
	}
	assert_memory_equal(at, ".El ", 4);
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_manual_has_each_parameter),
		cmocka_unit_test(each_arrives), cmocka_unit_test(sizes_are_parameters),
		cmocka_unit_test(what_a_value_is), cmocka_unit_test(what_is_no_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
