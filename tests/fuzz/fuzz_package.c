/* SPDX-License-Identifier: MIT */
/* Fuzz target of files within files: a package of split units (.dwp), and the packed symbols of a stripped program. An
 * input is the number of a unit, eight bytes, and an ELF file. What comes out is an ELF file again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbolizer/elf/elfsyms.h"
#include "symbolizer/elf/mini.h"
#include "symbolizer/elf/package.h"
#include "tests/fuzz/limit.h"

enum { MS = 100, NS_A_BYTE = 20000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void check_unit(const struct gus_elf *e)
{
	static const char *const names[] = { ".debug_info.dwo", ".debug_str.dwo", ".debug_str_offsets.dwo" };
	GElf_Shdr header;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		demand(gus_elf_section(e, names[i], &header) && header.sh_offset + header.sh_size <= e->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct limit begun = limit_begin();
	struct gus_elf *package, *unit, *mini;
	struct gus_functions functions;
	uint64_t number = 0;

	if (size < sizeof(number))
		return 0;
	memcpy(&number, data, sizeof(number));
	package = gus_elf_copy("package", data + sizeof(number), size - sizeof(number), NULL);
	unit = package ? gus_package_unit(package, number) : NULL;
	mini = package ? gus_mini_open(package) : NULL;
	if (unit)
		check_unit(unit);
	gus_functions_init(&functions);
	if (mini)
		gus_elfsyms_add(&functions, mini, SHT_SYMTAB);
	gus_functions_free(&functions);
	gus_elf_close(mini);
	gus_elf_close(unit);
	gus_elf_close(package);
	limit_end(begun, size, MS, NS_A_BYTE);
	return 0;
}
