/* SPDX-License-Identifier: MIT */
#include "attribution/traced/match.h"

#include "model/code/program.h"

/* Which of the program's accesses is meant: the instruction's own that does the same and has not been told yet, else
 * its last. Accesses are told in the order of their instructions. */
static uint32_t memory_of(const struct gus_traced *t, const struct gus_traced_own *own, bool store, uint64_t met)
{
	uint32_t last = GUS_TRACED_NONE;

	if (own->n == 1)
		return own->first;
	for (uint32_t m = own->first; m < own->first + own->n; m++) {
		const struct gus_program_memory *memory = &t->program->memories[m];

		if (!(store ? memory->store : memory->load))
			continue;
		last = m;
		if (!(met >> ((m - own->first) & 63) & 1))
			break;
	}
	return last;
}

/* How wide an access is: as its instruction says, not as the emulator went about it. QEMU reads 16 bytes where a scalar
 * multiplication and addition has 4 or 8 (its decoder has one width for all of vfmadd), and splits what is wider than
 * its own words. 0: the instruction does not say, as a gather touches many places, xsave what is in use, and what is
 * repeated any length. */
static uint32_t width_of(const struct gus_traced *t, uint32_t insn, uint32_t memory)
{
	const struct gus_program *p = t->program;

	if (memory == GUS_TRACED_NONE || p->memories[memory].gather || (p->insns[insn].info.flags & GUS_INSN_REP))
		return 0;
	return p->memories[memory].bytes;
}

const struct gus_traced_match *gus_traced_match_anew(const struct gus_traced *t, struct gus_traced_block *b,
						     const struct gus_trace_step *step)
{
	uint64_t met = 0; /* which accesses of the present instruction have been told */

	b->matches.n = 0;
	for (uint32_t i = 0; i < step->accesses_n; i++) {
		const struct gus_trace_access *a = &step->accesses[i];
		const struct gus_traced_own *own = &t->own.v[b->insn + a->insn];
		struct gus_traced_match m = { .size = a->size, .insn = a->insn, .store = a->store };
		uint64_t bit;

		if (i && step->accesses[i - 1].insn != a->insn)
			met = 0;
		m.memory = memory_of(t, own, a->store, met);
		m.width = width_of(t, b->insn + a->insn, m.memory);
		m.bytes = m.width && m.width < a->size ? m.width : a->size;
		bit = m.memory == GUS_TRACED_NONE ? 0 : UINT64_C(1) << ((m.memory - own->first) & 63);
		m.first = bit && !(met & bit);
		met |= bit;
		gus_vec_push(&b->matches, m);
	}
	return b->matches.v;
}
