/* SPDX-License-Identifier: MIT */
/* Fuzz target of `gusprof model --batch` and `--block`: CSV with blocks as hexadecimal digits. The first byte chooses
 * the CPU, the engine and how many threads. Each line that is modelled has a time, each that is not a reason, and they
 * are those of the text, in order. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/analysis/batch.h"
#include "model/analysis/modelled.h"
#include "model/code/program.h"
#include "model/core/core.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "tests/fuzz/limit.h"

/* Two digits are an instruction that may take a run of 30,000 cycles until its steady state is given up. */
enum { MS = 100, NS_A_BYTE = 10000000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
	if (!truth)
		abort();
}

static struct gus_uarch *table(bool arm64)
{
	static struct gus_uarch *tables[2]; /* read once */

	if (!tables[arm64])
		tables[arm64] = gus_uarch_parse(arm64 ? "neoverse-n1" : "skylake", NULL, 0, &gus_uarch_builtin, 0,
						NULL);
	demand(tables[arm64] != NULL);
	return tables[arm64];
}

static void check(const struct gus_batch *b, const char *text, size_t size)
{
	const char *behind = text;
	size_t bad = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct gus_batch_line *line = &b->lines[i];

		demand(line->hex >= behind && line->hex + line->hex_size <= text + size);
		behind = line->hex + line->hex_size;
		demand(!memchr(line->hex, '\n', line->hex_size) && !memchr(line->hex, ',', line->hex_size));
		demand(!line->why || (line->why[0] && line->cycles == 0 && !line->instructions));
		demand(line->why || (isfinite(line->cycles) && line->cycles >= 0 && line->instructions));
		demand(line->unknown <= line->instructions && line->instructions <= GUS_BLOCK_INSNS);
		bad += line->why != NULL;
	}
	demand(bad == b->bad);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t wish = size ? data[0] : 0;
	struct gus_modelled_settings s = { .uarch = table(wish & 1), .stream = wish & 2 };
	struct gus_error err = { 0 };
	struct gus_batch b;
	struct limit begun = limit_begin();
	char *copy;

	if (!size--)
		return 0;
	copy = gus_alloc(size);
	memcpy(copy, data + 1, size);
	gus_core_config_of(&s.config, s.uarch);
	s.options.unrolled = wish & 8;
	demand(gus_batch_run(&b, &s, copy, size, wish & 4 ? 3 : 1, &err) == 0);
	check(&b, copy, size);
	gus_batch_free(&b);
	limit_end(begun, size, MS, NS_A_BYTE);
	free(copy);
	return 0;
}
