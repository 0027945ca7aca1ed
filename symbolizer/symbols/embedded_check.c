/* SPDX-License-Identifier: MIT */
#include "symbolizer/symbols/embedded_check.h"

#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "proto/gusprof.pb-c.h"

/* [offset, offset + size) begins at *end or behind it, where it ends itself then. */
static bool follows(uint64_t offset, uint64_t size, uint64_t *end)
{
	return offset >= *end && !__builtin_add_overflow(offset, size, end);
}

/* Functions begin at different offsets, in order; one may lie within another, as in symbol tables. */
static bool good_functions(const Gusprof__Embedded *m)
{
	uint64_t end;

	for (size_t i = 0; i < m->n_functions; i++) {
		const Gusprof__EmbeddedFunction *f = m->functions[i];

		if (f->name > m->n_texts || __builtin_add_overflow(f->offset, f->size, &end) ||
		    __builtin_add_overflow(f->address, f->size, &end) ||
		    (i && f->offset <= m->functions[i - 1]->offset))
			return false;
	}
	return true;
}

static bool good_chain(const Gusprof__Embedded *m, const Gusprof__EmbeddedChain *c)
{
	if (!c->n_functions || c->n_functions > GUS_EMBEDDED_CALLS_MAX || c->n_files != c->n_functions ||
	    c->n_lines != c->n_functions)
		return false;
	for (size_t i = 0; i < c->n_functions; i++)
		if (c->functions[i] > m->n_texts || c->files[i] > m->n_texts)
			return false;
	return true;
}

bool gus_embedded_is_good(const Gusprof__Embedded *m)
{
	uint64_t lines_end = 0, code_end = 0;

	if (!good_functions(m))
		return false;
	for (size_t i = 0; i < m->n_texts; i++)
		if (strlen(m->texts[i]) >= GUS_LIMIT_NAME)
			return false;
	for (size_t i = 0; i < m->n_chains; i++)
		if (!good_chain(m, m->chains[i]))
			return false;
	for (size_t i = 0; i < m->n_lines; i++)
		if (m->lines[i]->chain >= m->n_chains ||
		    !follows(m->lines[i]->offset, m->lines[i]->size, &lines_end))
			return false;
	for (size_t i = 0; i < m->n_code; i++)
		if (!follows(m->code[i]->offset, m->code[i]->bytes.len, &code_end))
			return false;
	return true;
}
