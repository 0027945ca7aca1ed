/* SPDX-License-Identifier: MIT */
/* Whether an engine says of a block that it takes less than it has to: than dependences, ports, dividers or retirement
 * need by the table itself (model/analysis/bounds.h), or than what reads what it writes says without any table
 * (plain_bound.h).
 *
 *	below_bound [--unrolled] [--random N] TABLE[,TABLE...] [FILE]
 *
 * The first field of each line of FILE is a block; --random N are as many random loops as well. Prints each figure that
 * is below, and how many were looked at; exit status 1 if there is one. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hex.h"
#include "model/analysis/modelled.h"
#include "model/code/program.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "tests/accuracy/plain_bound.h"
#include "tests/accuracy/random_loop.h"

struct tally {
	struct gus_modelled_settings settings;
	unsigned looked, refused, below;
};

static void die(const char *text)
{
	fprintf(stderr, "below_bound: %s\n", text);
	exit(99);
}

static void print_below(struct tally *t, const uint8_t *bytes, size_t n, double cycles, const char *what, double bound)
{
	printf("%s, %s engine: %.3f cycles, below %s (%.3f): ", t->settings.uarch->name,
	       t->settings.stream ? "stream" : "core", cycles, what, bound);
	for (size_t i = 0; i < n; i++)
		printf("%02x", bytes[i]);
	putchar('\n');
	t->below++;
}

static void look(struct tally *t, const uint8_t *bytes, size_t n)
{
	struct gus_error err = { 0 };
	struct gus_program *p = gus_program_new(t->settings.uarch, bytes, n, 0, GUS_PROGRAM_BLOCK, &err);
	struct gus_bounds b;
	enum gus_bound broken;
	double cycles, plain;

	if (!p || gus_modelled_cycles(p, &t->settings, &cycles, &err) != 0) {
		t->refused++;
		gus_program_free(p);
		return;
	}
	t->looked++;
	gus_bounds_behind_front_end(p, &t->settings.config, &t->settings.options, &b);
	gus_bounds_confirm(p, &t->settings.config, &t->settings.options, cycles, &b);
	broken = gus_bounds_broken(&b, cycles, t->settings.stream);
	if (broken != GUS_BOUNDS && t->settings.stream) {
		struct gus_modelled_settings longer = t->settings;

		/* Which of two chains is the slower one shows in the long run. */
		longer.options.iterations = 4000;
		if (gus_modelled_cycles(p, &longer, &cycles, &err) == 0)
			broken = gus_bounds_broken(&b, cycles, true);
	}
	plain = plain_bound(p);
	if (broken != GUS_BOUNDS)
		print_below(t, bytes, n, cycles, gus_bound_name(broken), b.cycles[broken]);
	else if (cycles < plain * 0.98)
		print_below(t, bytes, n, cycles, "plain dependences", plain);
	gus_program_free(p);
}

static void look_at_file(struct tally *t, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[65536];

	if (!f)
		die("cannot open the file of blocks");
	while (fgets(line, sizeof(line), f)) {
		size_t n, length = strcspn(line, ",\r\n");
		uint8_t *bytes = gus_hex_parse(line, length, &n);

		if (bytes && n)
			look(t, bytes, n);
		free(bytes);
	}
	fclose(f);
}

static void look_at_table(struct tally *t, const char *name, unsigned loops, const char *path)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = gus_uarch_parse(name, NULL, 0, &gus_uarch_builtin, 0, &err);

	if (!u)
		die(err.text);
	t->settings.uarch = u;
	gus_core_config_of(&t->settings.config, u);
	for (int stream = 0; stream < 2; stream++) {
		t->settings.stream = stream;
		for (unsigned seed = 0; seed < loops; seed++) {
			struct random_loop loop;

			random_loop_make(&loop, seed);
			look(t, loop.bytes, loop.size);
		}
		if (path)
			look_at_file(t, path);
	}
	gus_uarch_free(u);
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "unrolled", no_argument, NULL, 'u' },
		{ "random", required_argument, NULL, 'r' }, { 0 } };
	struct tally t = { .settings.options.pointers = GUS_CORE_POINTERS_EQUAL };
	unsigned loops = 0;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'u')
			t.settings.options.unrolled = true;
		else if (c == 'r')
			loops = (unsigned)strtoul(optarg, NULL, 10);
		else
			return 99;
	}
	if (optind == argc)
		die("which table?");
	for (char *name = strtok(argv[optind], ","); name; name = strtok(NULL, ","))
		look_at_table(&t, name, loops, argv[optind + 1]);
	printf("%u figures, %u refused, %u below a bound\n", t.looked, t.refused, t.below);
	return t.below || !t.looked;
}
