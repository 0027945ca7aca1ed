/* SPDX-License-Identifier: MIT */
/* For the scripts here: what a table says about arm64 code. Each line of input is words in hexadecimal, the code of one
 * measurement; the answer has the least time that its ports, units and the issue width allow, and the row of each word.
 *
 *   arm64_rows UARCH [plain] <lines
 *   arm64_rows UARCH [plain] FILE.elf...     every word of code, once: how often, word, form, figures, registers */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascending.h"
#include "base/error.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "symbolizer/insn/insn.h"

enum { WORDS_MAX = 64, USES_MAX = 1024 };

static const char *group_name(const struct gus_uarch *u, uint32_t group)
{
	return u->groups[group].name;
}

/* "uops 1 latency 4 loadlat 4 uses L:1", in the words of the tables. */
static void print_figures(const struct gus_uarch *u, const struct gus_uarch_row *row)
{
	printf("uops %u latency %g", row->uops, row->latency / 100.0);
	if (row->uses_n)
		printf(" uses");
	for (uint32_t i = 0; i < row->uses_n; i++)
		printf(" %s:%g", group_name(u, u->uses[row->uses + i].group), u->uses[row->uses + i].cycles / 100.0);
}

static void print_word(const struct gus_uarch *u, uint32_t word)
{
	uint8_t bytes[4] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24) };
	struct gus_insn_info info;
	char text[2 * GUS_INSN_FORM_MAX];
	const struct gus_uarch_row *row;

	gus_insn_analyse(GUS_ISA_ARM64, bytes, 4, &info);
	gus_insn_form_text(GUS_ISA_ARM64, bytes, 4, text, sizeof(text));
	row = info.form ? gus_uarch_row(u, info.form) : NULL;
	printf("%s|", info.form ? text : "-");
	if (row)
		print_figures(u, row);
	else
		printf("-");
}

/* The numbers of the registers that are read, and of those that are written: "1,2;34". */
static void print_registers(uint32_t word)
{
	uint8_t bytes[4] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24) };
	struct gus_insn_info info;

	gus_insn_analyse(GUS_ISA_ARM64, bytes, 4, &info);
	for (unsigned use = GUS_ACCESS_READ; use <= GUS_ACCESS_WRITE; use++) {
		uint8_t used[GUS_A64_REGS] = { 0 };
		const char *comma = "";

		for (unsigned i = 0; i < info.access_count; i++)
			if (info.access[i].use & use)
				used[info.access[i].reg] = 1;
		if (use == GUS_ACCESS_WRITE)
			printf(";");
		for (unsigned reg = 0; reg < GUS_A64_REGS; reg++)
			if (used[reg]) {
				printf("%s%u", comma, reg);
				comma = ",";
			}
	}
}

struct sum {
	struct gus_uarch_use uses[USES_MAX];
	size_t n;
	uint64_t uops, unit[64];
};

static bool add(const struct gus_uarch *u, uint32_t word, struct sum *sum)
{
	uint8_t bytes[4] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24) };
	struct gus_insn_info info;
	const struct gus_uarch_row *row;

	gus_insn_analyse(GUS_ISA_ARM64, bytes, 4, &info);
	row = info.form ? gus_uarch_row(u, info.form) : NULL;
	if (!row)
		return false;
	sum->uops += row->uops;
	for (uint32_t i = 0; i < row->uses_n && sum->n < USES_MAX; i++)
		sum->uses[sum->n++] = u->uses[row->uses + i];
	for (uint32_t i = 0; i < row->units_n; i++)
		sum->unit[u->uses[row->units + i].group % 64] += u->uses[row->units + i].cycles;
	return true;
}

static void bound_of_line(const struct gus_uarch *u, char *line)
{
	struct sum *sum = calloc(1, sizeof(*sum));
	uint32_t words[WORDS_MAX];
	size_t n = 0, unknown = 0;
	double ports, issue, units = 0;

	if (!sum)
		exit(1);
	for (char *at = strtok(line, " \n"); at && n < WORDS_MAX; at = strtok(NULL, " \n"))
		words[n++] = (uint32_t)strtoul(at, NULL, 16);
	for (size_t i = 0; i < n; i++)
		unknown += !add(u, words[i], sum);
	ports = 0;
	if (sum->n) {
		struct gus_uarch_bound b = gus_uarch_bound_conjunctive(u, sum->uses, sum->n);

		ports = (double)b.centi / b.ports / GUS_UARCH_CENTI;
	}
	for (size_t i = 0; i < 64; i++)
		if ((double)sum->unit[i] / GUS_UARCH_CENTI > units)
			units = (double)sum->unit[i] / GUS_UARCH_CENTI;
	issue = (double)sum->uops / gus_uarch_value(u, "issue_width", 1);
	printf("%g %g %g %zu", ports, units, issue, unknown);
	for (size_t i = 0; i < n; i++) {
		printf("\t");
		print_word(u, words[i]);
	}
	printf("\n");
	free(sum);
}

/* All words of the executable sections of 64-bit ELF files. Test input of our own choosing: bounds are checked, no
 * more. */
static int words_of(const char *path, uint32_t **words, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	const uint8_t *map;
	const Elf64_Ehdr *eh;

	if (fd < 0 || fstat(fd, &st) != 0 || (size_t)st.st_size < sizeof(*eh)) {
		fprintf(stderr, "cannot read %s: %s\n", path, strerror(errno));
		return -1;
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return -1;
	eh = (const void *)map;
	if (memcmp(eh->e_ident, ELFMAG, SELFMAG) || eh->e_machine != EM_AARCH64 ||
	    eh->e_shoff + (uint64_t)eh->e_shnum * sizeof(Elf64_Shdr) > (uint64_t)st.st_size) {
		fprintf(stderr, "%s is no arm64 ELF file\n", path);
		return -1;
	}
	for (unsigned i = 0; i < eh->e_shnum; i++) {
		const Elf64_Shdr *sh = (const void *)(map + eh->e_shoff + i * sizeof(*sh));

		if (sh->sh_type != SHT_PROGBITS || !(sh->sh_flags & SHF_EXECINSTR) ||
		    sh->sh_offset + sh->sh_size > (uint64_t)st.st_size)
			continue;
		*words = realloc(*words, (*n + sh->sh_size / 4 + 1) * sizeof(**words));
		if (!*words)
			exit(1);
		memcpy(*words + *n, map + sh->sh_offset, sh->sh_size / 4 * 4);
		*n += sh->sh_size / 4;
	}
	munmap((void *)map, (size_t)st.st_size);
	return 0;
}

int main(int argc, char **argv)
{
	bool plain = argc > 2 && !strcmp(argv[2], "plain");
	struct gus_error err = { 0 };
	struct gus_uarch *u;
	uint32_t *words = NULL;
	size_t n = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: arm64_rows UARCH [plain] [FILE.elf...]\n");
		return 2;
	}
	u = gus_uarch_parse(argv[1], NULL, 0, &gus_uarch_builtin, plain ? GUS_UARCH_PLAIN : 0, &err);
	if (!u) {
		fprintf(stderr, "arm64_rows: %s\n", err.text);
		return 1;
	}
	if (argc <= 2 + plain) {
		char *line = NULL;
		size_t room = 0;

		while (getline(&line, &room, stdin) > 0)
			bound_of_line(u, line);
		free(line);
	}
	for (int i = 2 + plain; i < argc; i++)
		if (words_of(argv[i], &words, &n) != 0)
			return 1;
	if (n)
		qsort(words, n, sizeof(*words), gus_ascending_u32);
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && words[j] == words[i]; j++)
			;
		printf("%zu|%08x|", j - i, words[i]);
		print_word(u, words[i]);
		printf("|");
		print_registers(words[i]);
		printf("\n");
	}
	free(words);
	gus_uarch_free(u);
	return 0;
}
