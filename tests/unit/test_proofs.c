/* SPDX-License-Identifier: MIT */
/* The table of gusprof-hardware(7), WHAT HARDWARE PROVES, says what records of each maker prove and exclude, no more
 * and no less: over 20,000 drawn records these are just the events that it has + and - for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cursor.h"
#include "collector/records/ibs.h"
#include "collector/records/psv.h"
#include "collector/records/spe.h"
#include "proto/data_source.h"
#include "tests/words/ibs_words.h"
#include "tests/words/spe_words.h"

enum { INTEL, AMD_OPS, AMD_FETCHES, ARM, MAKERS, DRAWN = 20000 };
enum { DATA = GUS_PSV_ST_L1 | GUS_PSV_ST_TLB | GUS_PSV_ST_LLC };

struct proofs { uint16_t proved, excluded; };

static void add(struct proofs *p, struct gus_psv psv)
{
	assert_int_equal(psv.proved & psv.excluded, 0);
	p->proved |= psv.proved;
	p->excluded |= psv.excluded;
}

/* That an instruction without access to memory has not missed there is no news. */
static struct gus_psv of_access(struct gus_psv psv, bool access)
{
	if (!access)
		psv.excluded &= (uint16_t)~DATA;
	return psv;
}

/* Loads and stores of which the kernel says a level, and of the translation that it missed in both TLBs or did not. */
static struct proofs of_intel(void)
{
	struct proofs p = { 0, 0 };

	for (uint8_t level = 0; level < GUS_DATA_LEVELS; level++)
		for (uint8_t i = 0; i < 4; i++) {
			struct gus_data_source d = { .does = i & 1 ? GUS_DATA_LOADS : GUS_DATA_STORES, .level = level,
				.tlb = i & 2 ? GUS_DATA_TLB_EITHER : GUS_DATA_TLB_WALK };

			d = gus_data_source_of_kernel(gus_data_source_word(&d));
			add(&p, gus_proof_of_data(&d));
		}
	return p;
}

static struct proofs of_amd(const struct words_ibs_field *fields)
{
	const struct gus_ibs_cpu genoa = { 0x19, 0x11 };
	struct words_random random = { 1 };
	struct proofs p = { 0, 0 };

	for (unsigned i = 0; i < DRAWN; i++) {
		struct words_ibs w = { .fields = fields, .caps = 0xbff };
		struct words_bytes b = { .n = 0 };
		struct gus_ibs_fetch fetch;
		struct gus_ibs_op op;

		for (const struct words_ibs_field *f = fields; f->name; f++)
			words_ibs_set(&w, f->name, words_random(&random));
		words_ibs_bytes(&w, &b);
		if (fields == words_ibs_fetch) {
			assert_true(gus_ibs_fetch_parse(b.v, b.n, &genoa, &fetch));
			add(&p, gus_proof_of_ibs_fetch(&fetch));
		} else {
			assert_true(gus_ibs_op_parse(b.v, b.n, &genoa, &op));
			add(&p, of_access(gus_proof_of_ibs(&op), op.load || op.store));
		}
	}
	return p;
}

static struct proofs of_arm(void)
{
	const uint64_t n1 = 0x413fd0c1;
	struct words_random random = { 2 };
	struct proofs p = { 0, 0 };

	for (unsigned i = 0; i < DRAWN; i++) {
		struct words_bytes b = { .n = 0 };
		struct gus_spe_lost lost = { 0 };
		struct gus_spe_record r;
		struct gus_cursor c;

		words_spe_random(&random, &b);
		c = gus_cursor(b.v, b.n);
		assert_true(gus_spe_record(&c, &r, &lost));
		add(&p, of_access(gus_proof_of_spe(&r, n1), r.class == GUS_SPE_LOAD_STORE));
	}
	return p;
}

static uint16_t event_of(const char *name)
{
	for (unsigned i = 0; i < GUS_PSV_EVENTS; i++)
		if (!strcmp(gus_psv_name((enum gus_psv_event)(1u << i)), name))
			return (uint16_t)(1u << i);
	return 0;
}

/* Rows such as ".It DR-L1 Ta \&? Ta + \- Pq a". */
static unsigned read_table(struct proofs *table)
{
	const char *folder = getenv("GUS_SRCDIR");
	char path[4096], line[512];
	unsigned rows = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/man/gusprof-hardware.7", folder ? folder : ".");
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char name[16], *rest = line, *cell;
		uint16_t event = sscanf(line, ".It %15s", name) == 1 ? event_of(name) : 0;

		if (!event)
			continue;
		rows++;
		rest = strstr(line, " Ta ");
		for (unsigned maker = 0; maker < MAKERS; maker++) {
			assert_non_null(rest);
			cell = rest + 4;
			rest = strstr(cell, " Ta ");
			if (rest)
				*rest = 0;
			table[maker].proved |= strchr(cell, '+') ? event : 0;
			table[maker].excluded |= strstr(cell, "\\-") ? event : 0;
		}
	}
	fclose(f);
	return rows;
}

static void test_table(void **state)
{
	const struct proofs is[MAKERS] = { of_intel(), of_amd(words_ibs_op), of_amd(words_ibs_fetch), of_arm() };
	struct proofs table[MAKERS] = { { 0, 0 } };

	(void)state;
	assert_int_equal(read_table(table), GUS_PSV_EVENTS);
	for (unsigned maker = 0; maker < MAKERS; maker++) {
		assert_int_equal(is[maker].proved, table[maker].proved);
		assert_int_equal(is[maker].excluded, table[maker].excluded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
