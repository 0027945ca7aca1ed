/* SPDX-License-Identifier: MIT */
/* `made-paths FILE SAMPLES PATHS DEPTH HOW`: a recording with so many samples of so many different stacks, all of them
 * in named functions (the kernel's, whose names a recording brings along), the same each time. HOW is
 *
 *   shared   stacks part slowly from the outermost function on, as a program's do;
 *   apart    they have nothing in common;
 *   same     they are all one, and each sample is somewhere else: a few bytes that ask for much work. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "proto/writer.h"

#define START 1000000000ull
#define KERNEL 0xffffffff81000000ull
#define FUNCTIONS 4096
#define SIZE 256            /* bytes of a function */
#define ENTRIES (1u << 19)  /* of chains in a batch */

static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 31) * 0x9e3779b97f4a7c15;
	return (x ^ x >> 29) * 0xbf58476d1ce4e5b9 >> 20;
}

static uint64_t function_of(const char *how, uint64_t path, uint64_t level, uint64_t depth, unsigned bits)
{
	uint64_t key = path;

	if (strcmp(how, "same") == 0)
		key = 0;
	else if (strcmp(how, "shared") == 0)
		key = path >> (bits - bits * (level + 1) / depth);
	return KERNEL + mixed(key << 12 | level) % FUNCTIONS * SIZE;
}

static bool write_names(struct gus_writer *w)
{
	Gusprof__KernelSymbols message = GUSPROF__KERNEL_SYMBOLS__INIT;
	static Gusprof__Symbol symbols[FUNCTIONS], *list[FUNCTIONS];
	static char names[FUNCTIONS][16];

	for (unsigned i = 0; i < FUNCTIONS; i++) {
		gusprof__symbol__init(&symbols[i]);
		snprintf(names[i], sizeof(names[i]), "function_%u", i);
		symbols[i].address = KERNEL + i * SIZE;
		symbols[i].size = SIZE;
		symbols[i].name = names[i];
		list[i] = &symbols[i];
	}
	message.n_symbols = FUNCTIONS;
	message.symbols = list;
	return gus_writer_message(w, GUS_FRAME_KERNEL_SYMBOLS, &message.base, NULL) == 0;
}

static bool write_samples(struct gus_writer *w, uint64_t n, uint64_t paths, uint64_t depth, const char *how)
{
	uint64_t *chain = gus_resize(NULL, depth + 1, sizeof(*chain));
	struct gus_columns samples = { 0 };
	bool good = true, same = strcmp(how, "same") == 0;
	unsigned bits = 64 - (unsigned)__builtin_clzll(paths);

	for (uint64_t i = 0; i < n && good; i++) {
		uint64_t path = mixed(i) % paths;

		for (uint64_t level = 0; level < depth; level++)
			chain[depth - 1 - level] = function_of(how, path, level, depth, bits) + 5;
		gus_columns_push(&samples, &(struct gus_sample){
			.ip = same ? KERNEL + i % (FUNCTIONS * SIZE) : chain[0] + 3, .time = START + i, .period = 1000,
			.pid = 10, .tid = 10, .mode = GUS_MODE_KERNEL, .chain = chain, .chain_n = (uint32_t)depth });
		if (samples.chain.n + depth > ENTRIES || samples.n == 20000 || i + 1 == n) {
			good = gus_writer_samples(w, &samples, NULL) == 0;
			gus_columns_clear(&samples);
		}
	}
	gus_columns_free(&samples);
	free(chain);
	return good;
}

int main(int argc, char **argv)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__Event event = GUSPROF__EVENT__INIT, *events[] = { &event };
	struct gus_writer *w;
	bool good;

	if (argc != 6)
		return 2;
	event.name = (char *)(uintptr_t)"cpu-clock";
	event.unit = (char *)(uintptr_t)"ns";
	header.call_graph = (char *)(uintptr_t)"fp";
	header.events = events;
	header.n_events = 1;
	w = gus_writer_create(argv[1], &header, NULL);
	if (!w)
		return 1;
	good = write_names(w) && write_samples(w, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10),
					       strtoull(argv[4], NULL, 10), argv[5]);
	footer.end_ns = START + 1000000000;
	return !(gus_writer_finish(w, &footer, NULL) == 0 && good);
}
