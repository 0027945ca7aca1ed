/* SPDX-License-Identifier: MIT */
/* Fuzz target of `gusprof uarch import`: measurements as tab-separated values or as uops.info's XML, of any bytes. The
 * first byte chooses the CPU that it is like, one with ports as Intel's and one as AMD's. What comes out is a table
 * that loads, as the user will load it, and no longer than the input allows. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/tables/uarch.h"
#include "model/tables/uops.h"
#include "tests/fuzz/limit.h"

/* What is written of a row is some three times as long as it was; groups are closed under union. */
enum { MS = 300, NS_A_BYTE = 20000, GROWTH = 64, HEAD = 262144 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
	if (!truth)
		abort();
}

static const char *const tables[] = {
	"uarch base isa x86-64 \"B\"\nsource s \"made up\"\nport p0 s\nport p1 s\nport p2 s\nport p3 s\nport p4 s\n"
	"port p5 s\nport p6 s\nport p7 s\nport p8 s\nport p9 s\nport p10 s\nport pB s\n"
	"unit div s\ngroup p23 = p2+p3\n"
	"row r uops 4 latency 4.5 fused 3 decoded 2 microcoded 1 loadlat 7 uses p0:1 p23:2.5 complex "
	"pairs 0>1:3 m0>0:4 source s\nform \"ADD (R64, R64)\" \"X (Y)\" r\n",
	"uarch base isa x86-64 \"B\"\nsource s \"made up\"\nport fp0 s\nport fp1 s\nport fp2 s\nport fp3 s\nport a0 s\n"
	"row r uops 1 latency 1 uses a0:1 pairs 1>0:1 source s\nform \"ADD (R64, R64)\" r\n",
};

static const char *get(void *context, const char *name, size_t *size)
{
	const char *text = tables[*(unsigned *)context];

	*size = strlen(text);
	return strcmp(name, "base") == 0 ? text : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned which = size ? data[0] % 2 : 0;
	const struct gus_uarch_texts texts = { get, &which };
	struct gus_error err = { 0 };
	struct limit begun = limit_begin();
	struct gus_uarch *base, *u;
	uint8_t *copy;
	char *table;

	if (!size)
		return 0;
	base = gus_uarch_parse("base", NULL, 0, &texts, 0, &err);
	if (!base)
		fprintf(stderr, "%s\n", err.text);
	demand(base != NULL);
	copy = gus_alloc(size - 1);
	memcpy(copy, data + 1, size - 1);
	table = gus_uops_table((const char *)copy, size - 1, "SKL", "mine", base, &err);
	demand(table ? err.code == GUS_OK : err.code != GUS_OK && err.text[0]);
	if (table) {
		demand(strlen(table) <= HEAD + GROWTH * size);
		u = gus_uarch_parse("mine.uarch", table, strlen(table), &texts, 0, &err);
		if (!u)
			fprintf(stderr, "%s\n", err.text);
		demand(u != NULL);
		gus_uarch_free(u);
	}
	free(table);
	free(copy);
	gus_uarch_free(base);
	limit_end(begun, size, MS, NS_A_BYTE);
	return 0;
}
