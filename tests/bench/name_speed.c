/* SPDX-License-Identifier: MIT */
/* Asks for the names, inlines and lines of many addresses of one program, and says what that took. Addresses are in
 * hex, as the program's file gives them, one a line on stdin.
 *
 *     name-speed [-p] [-r] [-s] [-c CACHE] [-d DEBUG-DIR] PROGRAM
 *
 *     -p	print what was said, in the form of `addr2line -a -i -f -C`, to be compared; -r: without demangling
 *     -s	ask for one address after the other, not announced */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "symbolizer/elf/elffile.h"
#include "symbolizer/symbols/symbols.h"

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The offset in the file of an address that the file gives. */
static bool offset_of(const struct gus_elf *e, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < e->segments.n; i++) {
		const struct gus_segment *s = &e->segments.v[i];

		if (s->executable && address >= s->vaddr && address - s->vaddr < s->file_size) {
			*offset = address - s->vaddr + s->offset;
			return true;
		}
	}
	return false;
}

static void print_names(uint64_t address, const struct gus_name *names, size_t n)
{
	printf("0x%016" PRIx64 "\n", address);
	for (size_t i = 0; i < n; i++)
		printf("%s\n%s:%u\n", names[i].function ? names[i].function : "??",
		       names[i].file ? names[i].file : "??", names[i].line);
}

int main(int argc, char **argv)
{
	const char *dirs[] = { "/usr/lib/debug", NULL };
	struct gus_symbols_options options = { .debug_dirs = dirs };
	struct gus_module module = { .kind = GUS_MODULE_FILE };
	struct gus_vec(uint64_t) addresses = { 0 }, offsets = { 0 };
	struct gus_name names[GUS_NAMES_MAX];
	struct gus_error err = { 0 };
	struct gus_symbols *s;
	struct gus_elf *e;
	struct rusage use;
	char line[64];
	double from, cpu;
	uint64_t offset, inlined = 0, lines = 0;
	bool print = false, serial = false;
	int option;

	while ((option = getopt(argc, argv, "prsc:d:")) != -1) {
		print |= option == 'p';
		serial |= option == 's';
		options.raw_names |= option == 'r';
		if (option == 'd')
			dirs[0] = optarg;
		if (option == 'c')
			options.cache = optarg;
	}
	if (optind + 1 != argc || !(e = gus_elf_open(argv[optind], &err))) {
		fprintf(stderr, "name-speed: %s\n", err.code ? err.text : "which program?");
		return 1;
	}
	while (fgets(line, sizeof(line), stdin))
		gus_vec_push(&addresses, strtoull(line, NULL, 16));
	from = now(CLOCK_MONOTONIC);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	module.path = argv[optind];
	module.build_id = e->build_id;
	module.build_id_size = e->build_id_size;
	s = gus_symbols_new(&options, NULL);
	for (size_t i = 0; !serial && i < addresses.n; i++)
		if (offset_of(e, addresses.v[i], &offset))
			gus_vec_push(&offsets, offset);
	gus_symbols_expect(s, &module, offsets.v, offsets.n);
	for (size_t i = 0; i < addresses.n; i++) {
		size_t n = 0;

		if (offset_of(e, addresses.v[i], &offset))
			n = gus_symbols_names(s, &module, offset, GUS_DEPTH_INLINE, names);
		inlined += n > 1 ? n - 1 : 0;
		lines += n && names[0].line;
		if (print)
			print_names(addresses.v[i], names, n);
	}
	gus_symbols_free(s);
	from = now(CLOCK_MONOTONIC) - from;
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	getrusage(RUSAGE_SELF, &use);
	fprintf(stderr, "%zu addresses, %" PRIu64 " with lines, %" PRIu64 " inlined calls: %.3f s (%.3f s of CPU), "
		"%ld MB\n", addresses.n, lines, inlined, from, cpu, use.ru_maxrss / 1024);
	gus_elf_close(e);
	gus_vec_free(&addresses);
	gus_vec_free(&offsets);
	return 0;
}
