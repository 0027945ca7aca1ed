/* SPDX-License-Identifier: MIT */
/* Whether the ticks of the stream engine drift: 32 machines in one pass over a long run, against 32 runs of the
 * reference in doubles, and against 32 integer runs of their own.
 *
 *	stream-drift [MILLIONS]
 *
 * MILLIONS of instructions (100). Prints the largest relative difference, and by which knob; exit status 1 if it is
 * beyond 1e-3, or if an integer run differs by a tick. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "model/analysis/sensitivity.h"
#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"

/* imul rax, rbx, 5; add rax, [rdi]; mov [rdi+8], rax; lea rcx, [rcx+rax]; vmulpd ymm0, ymm2, [rsi]; vaddpd ymm1, ymm0,
 * ymm0; add rsi, 32; dec rdx; jnz back: several things limit it nearly alike, so that roundings of all of them
 * count. */
static const char code[] =
	"\x48\x6b\xc3\x05\x48\x03\x07\x48\x89\x47\x08\x48\x8d\x0c\x01\xc5\xed\x59\x06\xc5\xfd\x58\xc8"
	"\x48\x83\xc6\x20\x48\xff\xca\x75\xe0";

static int fail(const struct gus_error *err)
{
	fprintf(stderr, "stream-drift: %s\n", err->text);
	return 99;
}

/* As many of the program's own knobs as there are lanes beside the nominal one, at weights in turn. */
static size_t make_lanes(const struct gus_sensitivity *knobs, int n, struct gus_knob *turned,
			 struct gus_stream_lane *lanes)
{
	static const double weights[] = { 0.87, 1.15, 0.93, 2, 0 };
	size_t lanes_n = 1;

	lanes[0] = (struct gus_stream_lane){ NULL, 0 };
	for (int i = 0; lanes_n < GUS_STREAM_LANES; i++, lanes_n++) {
		turned[lanes_n] = knobs[i % n].knob;
		turned[lanes_n].weight = weights[(i + i / n) % 5];
		lanes[lanes_n] = (struct gus_stream_lane){ &turned[lanes_n], 1 };
	}
	return lanes_n;
}

static int rerun(const struct gus_program *p, const struct gus_core_config *c, struct gus_stream_options o,
		 const struct gus_stream_result *many)
{
	const struct gus_stream_lane *lanes = o.lanes;
	struct gus_stream_result one;
	struct gus_error err = { 0 };
	int differ = 0;

	for (size_t i = 0; i < many->lanes; i++) {
		o.lanes = &lanes[i];
		o.lanes_n = 1;
		if (gus_stream_run(p, c, &o, &one, &err) != 0)
			return fail(&err);
		differ += llround(one.cycles[0] * GUS_STREAM_TICKS) != llround(many->cycles[i] * GUS_STREAM_TICKS);
	}
	printf("integer runs of their own: %d of %zu differ\n", differ, many->lanes);
	return differ != 0;
}

int main(int argc, char **argv)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = gus_uarch_parse("skylake", NULL, 0, &gus_uarch_builtin, 0, &err);
	struct gus_program *p = u ? gus_program_new(u, code, sizeof(code) - 1, 0, 0, &err) : NULL;
	struct gus_stream_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT };
	struct gus_knob turned[GUS_STREAM_LANES];
	struct gus_stream_lane lanes[GUS_STREAM_LANES];
	struct gus_stream_result many, reference;
	struct gus_sensitivity *knobs;
	struct gus_core_config c;
	double nominal, worst = 0;
	size_t where = 0;
	int n, status;

	if (!p)
		return fail(&err);
	gus_core_config_of(&c, u);
	n = gus_sensitivity_run(p, &c, &o, 1.15, &knobs, &nominal, &err);
	if (n <= 0)
		return fail(&err);
	o.iterations = (uint64_t)((argc > 1 ? atof(argv[1]) : 100) * 1e6) / p->insns_n;
	o.lanes_n = make_lanes(knobs, n, turned, lanes);
	o.lanes = lanes;
	if (!o.iterations || gus_stream_run(p, &c, &o, &many, &err) != 0 || gus_stream_reference(p, &c, &o, &reference,
		&err) != 0)
		return fail(&err);
	for (size_t i = 0; i < o.lanes_n; i++) {
		double off = fabs(many.cycles[i] / reference.cycles[i] - 1);

		where = off > worst ? i : where;
		worst = off > worst ? off : worst;
	}
	printf("%zu lanes, %.1f M instructions, %.3f to %.3f cycles an iteration: largest difference %.2e (%s, weight "
	       "%.2f)\n", o.lanes_n,
	       (double)many.instructions / 1e6, many.per_iteration[0], reference.per_iteration[0], worst,
	       where ? knobs[(where - 1) % (size_t)n].name : "nominal", where ? turned[where].weight : 1);
	status = rerun(p, &c, o, &many);
	free(knobs);
	gus_program_free(p);
	gus_uarch_free(u);
	return status ? status : worst > 1e-3;
}
