/* SPDX-License-Identifier: MIT */
/* How fast the stream engine is, in CPU time of one core, on a loop that is decoded once:
 *
 *	stream-speed
 *
 * Millions of instructions a second, on integer code and on AVX code: the nominal machine alone, 32 machines in a pass,
 * and both with causality. Runs are interleaved. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "model/analysis/causality.h"
#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/stream/stream.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const struct {
	const char *name, *hex;
} loops[] = {
	{ "integer", "0fb60601c201d10fb6460101c201d10fb6460201c201d10fb6460301c201d10fb6460401c201d10fb6460501c201d10f"
	  "b646"
	  "0601c201d10fb6460701c201d14883c60889c8c1e80731c16bd22149ffcf0f85b0ffffff" },
	{ "AVX", "c5fc1006c5fc104e20c5fc105640c5fc105e60c5fc10a680000000c5fc10aea0000000c5fc10b6c0000000c5fc10bee0"
	  "000000"
	  "c4627db807c46275b84f20c4626db85740c46265b85f60c4625db8a780000000c46255b8afa0000000c4624db8b7c000"
	  "0000"
	  "c46245b8bfe00000004881c6000100004881c7000100004883e9400f857bffffff" },
};

static struct gus_program *program(const struct gus_uarch *u, const char *hex)
{
	uint8_t code[1024];
	size_t n = 0;
	struct gus_error err = { 0 };
	struct gus_program *p;

	for (; hex[0] && hex[1]; hex += 2) {
		char two[3] = { hex[0], hex[1], 0 };

		code[n++] = (uint8_t)strtoul(two, NULL, 16);
	}
	p = gus_program_new(u, code, n, 0, 0, &err);
	if (!p) {
		fprintf(stderr, "stream-speed: %s\n", err.text);
		exit(99);
	}
	return p;
}

/* The better of that and of the best so far, in millions a second. */
static double rate(const struct gus_program *p, const struct gus_core_config *c, const struct gus_stream_options *o,
		   bool causes, double best)
{
	struct gus_stream_result r;
	struct gus_causality causality;
	struct gus_error err = { 0 };
	double start = now(), rate;
	int status = causes ? gus_causality_run(p, c, o, &causality, NULL, &err) : gus_stream_run(p, c, o, &r, &err);

	if (status != 0) {
		fprintf(stderr, "stream-speed: %s\n", err.text);
		exit(99);
	}
	rate = (double)o->iterations * p->insns_n / (now() - start) / 1e6;
	if (causes)
		gus_causality_free(&causality);
	return rate > best ? rate : best;
}

int main(void)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = gus_uarch_parse("skylake", NULL, 0, &gus_uarch_builtin, 0, &err);
	struct gus_core_config c;
	struct gus_knob knobs[GUS_STREAM_LANES];
	struct gus_stream_lane lanes[GUS_STREAM_LANES];

	if (!u)
		return 99;
	gus_core_config_of(&c, u);
	for (uint32_t i = 0; i < GUS_STREAM_LANES; i++) {
		knobs[i] = (struct gus_knob){ i < 8 ? GUS_KNOB_PORTS : i < 24 ? GUS_KNOB_LATENCY : i < 28 ?
			GUS_KNOB_ISSUE : GUS_KNOB_RETIRE,
			i, 1.15 };
		lanes[i] = (struct gus_stream_lane){ &knobs[i], i ? 1 : 0 };
	}
	for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
		struct gus_program *p = program(u, loops[i].hex);
		struct gus_stream_options one = { .pointers = GUS_CORE_POINTERS_DISTINCT, .iterations = 200000 },
			many = one;
		double best[4] = { 0 };

		many.lanes = lanes;
		many.lanes_n = GUS_STREAM_LANES;
		many.iterations = 40000;
		for (int round = 0; round < 7; round++)
			for (int k = 0; k < 4; k++)
				best[k] = rate(p, &c, k % 2 ? &many : &one, k >= 2, best[k]);
		printf("%-8s %2u instructions: nominal %5.1f M/s, with causality %5.1f; 32 lanes %5.1f M/s, with "
		       "causality %5.1f (best of 7)\n",
		       loops[i].name, p->insns_n, best[0], best[2], best[1], best[3]);
		gus_program_free(p);
	}
	gus_uarch_free(u);
	return 0;
}
