/* SPDX-License-Identifier: MIT */
#include "tests/unit/made_frames.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

const uint8_t made_x86[5] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 };
const uint8_t made_arm64[3] = { DW_CFA_def_cfa, 31, 0 };

static void put(struct made_frames *m, const void *bytes, size_t n)
{
	if (n > sizeof(m->bytes) - m->n)
		abort();
	memcpy(m->bytes + m->n, bytes, n);
	m->n += n;
}

static void put_number(struct made_frames *m, uint64_t value, size_t n)
{
	put(m, &value, n);
}

static void end_entry(struct made_frames *m, size_t at)
{
	uint32_t length = (uint32_t)(m->n - at - 4);

	memcpy(m->bytes + at, &length, 4);
}

void made_cie(struct made_frames *m, const char *letters, unsigned ra, const uint8_t *program, size_t n)
{
	size_t at = m->n;

	m->cie = at;
	m->lengths = letters[0] == 'z';
	m->relative = strchr(letters, 'R') != NULL;
	put_number(m, 0, 4);
	put_number(m, m->debug ? UINT32_MAX : 0, 4);
	put_number(m, 1, 1);
	put(m, letters, strlen(letters) + 1);
	put_number(m, 1, 1);
	put_number(m, 0x78, 1); /* -8 */
	put_number(m, ra, 1);
	if (m->lengths)
		put_number(m, (strchr(letters, 'R') != NULL) + (strchr(letters, 'L') != NULL) +
			   5u * (strchr(letters, 'P') != NULL), 1);
	for (const char *c = letters; *c; c++) {
		if (*c == 'R')
			put_number(m, DW_EH_PE_pcrel | DW_EH_PE_sdata4, 1);
		if (*c == 'L')
			put_number(m, DW_EH_PE_omit, 1);
		if (*c == 'P')
			put_number(m, DW_EH_PE_udata4 | 0x12345600, 5);
	}
	put(m, program, n);
	end_entry(m, at);
}

void made_fde(struct made_frames *m, uint64_t low, uint64_t size, const uint8_t *program, size_t n)
{
	size_t at = m->n;

	put_number(m, 0, 4);
	put_number(m, m->debug ? m->cie : at + 4 - m->cie, 4);
	put_number(m, m->relative ? low - (MADE_FRAMES_AT + m->n) : low, m->relative ? 4 : 8);
	put_number(m, size, m->relative ? 4 : 8);
	if (m->lengths)
		put_number(m, 0, 1);
	put(m, program, n);
	end_entry(m, at);
}

void made_end(struct made_frames *m)
{
	put_number(m, 0, 4);
}
