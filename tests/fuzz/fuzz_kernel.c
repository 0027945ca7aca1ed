/* SPDX-License-Identifier: MIT */
/* Fuzz target of the kernel's names and code: any text as /proc/kallsyms, which is read by one parser while recording
 * and by another afterwards, and any file as /proc/kcore. Names lie within the text, functions around the addresses
 * that are asked for; no more code is given out than was asked for; what is not there has a reason. */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "collector/session/hits.h"
#include "symbolizer/kernel/kallsyms.h"
#include "symbolizer/kernel/kernel.h"
#include "tests/fuzz/foreign_file.h"

#define HEAD 9          /* what the rest is, and an address to look for */
#define CODE 256
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct foreign_file file;

static void demand(int truth)
{
	if (!truth)
		abort();
}

/* Its names are within the text, its functions in order. */
static void check_list(const char *text, size_t size)
{
	struct gus_kallsyms k;

	gus_kallsyms_parse(&k, text, size);
	for (size_t i = 0; i < k.list.n; i++) {
		const struct gus_kallsym *s = &k.list.v[i];

		demand(s->name >= text && s->name_length && s->name + s->name_length <= text + size);
		demand(!memchr(s->name, '\n', s->name_length));
		demand(!s->module || (s->module > s->name && s->module + s->module_length <= text + size));
		demand(!i || k.list.v[i - 1].address <= s->address);
		demand(!k.hidden || !s->address);
	}
	gus_kallsyms_free(&k);
}

static void check_function(struct gus_kernel *k, uint64_t address)
{
	struct gus_functions *table;
	struct gus_function *f = gus_kernel_find(k, address, &table);

	demand(!f || (f->low <= address && address < f->high));
	demand(!f || strlen(gus_function_name(table, f, false)) > 0);
}

/* The symbols that a recording brings along, and how it is read with them. */
static void check_recorded(const char *path, const uint64_t *addresses, size_t n, const char *boot_id)
{
	Gusprof__KernelSymbols *symbols;
	struct gus_kernel kernel;
	struct gus_hits hits;

	gus_hits_init(&hits);
	for (size_t i = 0; i < n; i++)
		gus_hits_add(&hits, addresses[i]);
	symbols = gus_hits_symbols(&hits, path);
	demand(symbols && (!symbols->n_symbols || !*symbols->refusal) && symbols->n_symbols <= n);
	gus_kernel_init(&kernel, boot_id);
	kernel.kallsyms = path;
	gus_kernel_add(&kernel, symbols);
	for (size_t i = 0; i < n; i++)
		check_function(&kernel, addresses[i]);
	demand(!symbols->n_symbols || !gus_kernel_trouble(&kernel) || !kernel.recorded.list.n);
	gus_kernel_free(&kernel);
	gusprof__kernel_symbols__free_unpacked(symbols, NULL);
	gus_hits_free(&hits);
}

static void check_names(uint64_t address, uint8_t *bytes, size_t size, bool same_boot)
{
	uint64_t addresses[] = { address, address + 1, address | 0xfff, address - 4096, 0, UINT64_MAX,
				 address ^ 1ULL << 63 };
	const char *path = foreign_file(&file, bytes, size);
	struct gus_kernel live;

	check_list((const char *)bytes, size);
	gus_kernel_init(&live, NULL);
	live.kallsyms = path;
	live.same_boot = same_boot;
	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++)
		check_function(&live, addresses[i]);
	demand(live.live.list.n || gus_kernel_trouble(&live));
	gus_kernel_free(&live);
	check_recorded(path, addresses, sizeof(addresses) / sizeof(*addresses), same_boot ? "no such boot" : NULL);
}

/* What would stop the reader at the door is put right, except where bits of leave say not to. */
static void put_right(uint8_t *bytes, size_t size, uint8_t leave)
{
	Elf64_Ehdr h;

	if (size < sizeof(h) || leave & 4)
		return;
	memcpy(&h, bytes, sizeof(h));
	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	h.e_type = ET_CORE;
	h.e_phentsize = sizeof(Elf64_Phdr);
	if (!(leave & 8))
		h.e_phoff = sizeof(h);
	if (!(leave & 16))
		h.e_phnum = (Elf64_Half)((size - sizeof(h)) / sizeof(Elf64_Phdr));
	memcpy(bytes, &h, sizeof(h));
	for (size_t at = sizeof(h); !(leave & 32) && at + sizeof(Elf64_Phdr) <= size; at += sizeof(Elf64_Phdr))
		bytes[at] = bytes[at] & 1; /* PT_NULL or PT_LOAD */
}

static void check_code(uint64_t address, uint8_t *bytes, size_t size, uint8_t leave)
{
	struct gus_kernel kernel;
	unsigned machine;

	put_right(bytes, size, leave);
	gus_kernel_init(&kernel, NULL);
	kernel.same_boot = !(leave & 64);
	kernel.kcore = leave & 128 ? "/nowhere" : foreign_file(&file, bytes, size);
	for (size_t asked = 1; asked <= CODE; asked *= 16) {
		uint8_t *out = gus_alloc(asked);

		demand(gus_kernel_code(&kernel, address, out, asked, &machine) <= asked);
		free(out);
	}
	demand(kernel.code.fd >= 0 || gus_kernel_code_trouble(&kernel));
	demand(kernel.code.fd < 0 || !gus_kernel_code_trouble(&kernel));
	demand(kernel.code.segments.n <= size / sizeof(Elf64_Phdr) + 1 || leave);
	gus_kernel_free(&kernel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t address;
	uint8_t *copy;

	if (size < HEAD)
		return 0;
	memcpy(&address, data + 1, sizeof(address));
	copy = gus_alloc(size - HEAD);
	memcpy(copy, data + HEAD, size - HEAD);
	if (data[0] & 1)
		check_code(address, copy, size - HEAD, data[0]);
	else
		check_names(address, copy, size - HEAD, data[0] & 2);
	free(copy);
	return 0;
}
