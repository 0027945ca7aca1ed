/* SPDX-License-Identifier: MIT */
#include "model/oracles/code_fetch.h"

#include "base/error.h"
#include "model/machine/config.h"

int gus_code_fetch_init(struct gus_code_fetch *f, const struct gus_core_config *c, struct gus_error *err)
{
	*f = (struct gus_code_fetch){ 0 };
	if (!c->l1i_size || !c->line_size)
		return 0;
	if (gus_sets_init(&f->lines, "L1 for instructions", (uint64_t)c->l1i_size * 1024 / c->line_size,
			  c->l1i_ways ? c->l1i_ways : 8, GUS_REPLACE_LRU, err) != 0)
		return -1;
	f->line_size = c->line_size;
	f->ahead = UINT64_MAX;
	return 0;
}

void gus_code_fetch_free(struct gus_code_fetch *f)
{
	if (f->line_size)
		gus_sets_free(&f->lines);
	*f = (struct gus_code_fetch){ 0 };
}

struct gus_code_fetch_answer gus_code_fetch_run(struct gus_code_fetch *f, uint64_t address, uint64_t bytes)
{
	struct gus_code_fetch_answer answer = { 0, 0 };

	if (!f->line_size || !bytes)
		return answer;
	for (uint64_t line = address / f->line_size; line <= (address + bytes - 1) / f->line_size; line++) {
		uint32_t slot = gus_sets_find(&f->lines, line);
		uint64_t evicted;

		if (slot != GUS_SETS_NONE) {
			gus_sets_touch(&f->lines, line, slot);
		} else {
			answer.missed += line != f->ahead;
			answer.missed_if_warm += line != f->ahead && gus_sets_warm(&f->lines, line);
			gus_sets_place(&f->lines, line, &evicted);
		}
		f->ahead = line + 1;
	}
	return answer;
}
