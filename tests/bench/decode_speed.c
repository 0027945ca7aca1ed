/* SPDX-License-Identifier: MIT */
/* How fast instructions are analysed: tests/bench/decode-speed [FILE...] sweeps the code of each ELF file (default:
 * the C library that this program runs with) and prints million instructions a second of
 *
 *     analyse   gus_insn_analyse: everything from the bytes, nothing remembered
 *     first     a new decoder, which remembers: what is seen a second time on the way is a hit
 *     cached    the same decoder over the same code again: what a trace of a loop sees
 *     formed    gus_insn_form_text: the name, for reports
 *
 * each the best of several rounds, for machines with neighbours. With --check it fails under 5 for the first two
 * and under 50 for cached. */
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "symbolizer/insn/insn.h"

enum { ROUNDS = 7 };

struct code {
	const uint8_t *bytes;
	size_t size;
};

typedef size_t (*step)(struct gus_insn_decoder *decoder, enum gus_isa isa, const uint8_t *bytes, size_t size);

static size_t step_analyse(struct gus_insn_decoder *decoder, enum gus_isa isa, const uint8_t *bytes, size_t size)
{
	struct gus_insn_info info;

	(void)decoder;
	return gus_insn_analyse(isa, bytes, size, &info);
}

static size_t step_decoder(struct gus_insn_decoder *decoder, enum gus_isa isa, const uint8_t *bytes, size_t size)
{
	const struct gus_insn_info *info = gus_insn_decoder_get(decoder, bytes, size);

	(void)isa;
	return info ? info->length : 0;
}

static size_t step_form(struct gus_insn_decoder *decoder, enum gus_isa isa, const uint8_t *bytes, size_t size)
{
	char text[GUS_INSN_FORM_MAX];

	(void)decoder;
	gus_insn_form_text(isa, bytes, size, text, sizeof(text));
	return isa == GUS_ISA_ARM64 ? 4 : step_decoder(decoder, isa, bytes, size);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Million instructions a second of one pass over the code. */
static double sweep(step next, struct gus_insn_decoder *decoder, enum gus_isa isa, struct code code,
		    size_t *instructions)
{
	double start = now();
	size_t n = 0;

	for (size_t at = 0; at < code.size; n++) {
		size_t length = next(decoder, isa, code.bytes + at, code.size - at);

		if (!length)
			break;
		at += length;
	}
	*instructions = n;
	return (double)n / (now() - start) / 1e6;
}

static void keep_best(double *best, double speed)
{
	if (speed > *best)
		*best = speed;
}

static bool measure(const char *path, enum gus_isa isa, struct code code, bool check)
{
	double analyse = 0, first = 0, cached = 0, formed = 0;
	size_t n = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct gus_insn_decoder *decoder = gus_insn_decoder_new(isa, 0);

		keep_best(&analyse, sweep(step_analyse, NULL, isa, code, &n));
		keep_best(&first, sweep(step_decoder, decoder, isa, code, &n));
		keep_best(&cached, sweep(step_decoder, decoder, isa, code, &n));
		keep_best(&formed, sweep(step_form, decoder, isa, code, &n));
		gus_insn_decoder_free(decoder);
	}
	printf("%s: %zu instructions, million a second: analyse %.1f, first %.1f, cached %.1f, formed %.1f\n", path, n,
	       analyse, first, cached, formed);
	return !check || (analyse >= 5 && first >= 5 && cached >= 50);
}

/* The largest section of code: .text. */
static struct code find_code(Elf *elf, enum gus_isa *isa)
{
	struct code code = { NULL, 0 };
	Elf_Scn *section = NULL;
	GElf_Ehdr header;
	GElf_Shdr sh;

	if (!elf || !gelf_getehdr(elf, &header))
		return code;
	*isa = gus_isa_of_machine(header.e_machine);
	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &sh) || sh.sh_type != SHT_PROGBITS || !(sh.sh_flags & SHF_EXECINSTR))
			continue;
		data = elf_getdata(section, NULL);
		if (data && data->d_size > code.size)
			code = (struct code){ data->d_buf, data->d_size };
	}
	return code;
}

static bool run(const char *path, bool check)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	enum gus_isa isa = GUS_ISA_UNKNOWN;
	struct code code = find_code(elf, &isa);
	bool good = code.size && isa != GUS_ISA_UNKNOWN;

	if (!good)
		fprintf(stderr, "cannot find code in %s: it is no ELF file of x86 or arm64, or cannot be read\n", path);
	else
		good = measure(path, isa, code, check);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return good;
}

/* Where this process has its C library from; NULL if it is linked into the program. */
static char *find_libc(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4352], *found = NULL;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/');

		if (path && strstr(path, "libc.so")) {
			path[strcspn(path, "\n")] = 0;
			found = gus_strdup(path);
		}
	}
	if (maps)
		fclose(maps);
	return found;
}

int main(int argc, char **argv)
{
	bool check = argc > 1 && !strcmp(argv[1], "--check"), good = true;
	char *libc = NULL;

	elf_version(EV_CURRENT);
	argv += 1 + check;
	if (!*argv && !(libc = find_libc())) {
		fprintf(stderr, "no C library is mapped here: name an ELF file\n");
		return 2;
	}
	if (libc)
		good = run(libc, check);
	for (; *argv; argv++)
		good &= run(*argv, check);
	free(libc);
	return !good;
}
