/* SPDX-License-Identifier: MIT */
#include "collector/host/vdso.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/notes.h"

#define SIZE_LIMIT (1u << 20) /* no vdso is a tenth of this */

/* The kernel gives no size: the file ends with the section table, or with the last section where that stands behind
 * it. The image is the kernel's own, mapped for us, so its headers are believed. */
static size_t size_of(const ElfW(Ehdr) *e)
{
	const ElfW(Phdr) *p = (const void *)((const uint8_t *)e + e->e_phoff);
	size_t size = e->e_shoff + (size_t)e->e_shnum * e->e_shentsize;

	for (unsigned i = 0; i < e->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && p[i].p_offset + p[i].p_filesz > size)
			size = p[i].p_offset + p[i].p_filesz;
	return size;
}

bool gus_vdso_image(Gusprof__Image *image)
{
	static const char path[] = "[vdso]";
	const ElfW(Ehdr) *e = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Phdr) *p;
	size_t size;

	if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	size = size_of(e);
	if (size > SIZE_LIMIT)
		return false;
	gusprof__image__init(image);
	image->path = (char *)(uintptr_t)path; /* the generated types lack the const */
	image->bytes.data = (uint8_t *)(uintptr_t)e;
	image->bytes.len = size;
	p = (const void *)((const uint8_t *)e + e->e_phoff);
	for (unsigned i = 0; i < e->e_phnum; i++)
		if (p[i].p_type == PT_NOTE)
			image->build_id.data = (uint8_t *)(uintptr_t)gus_notes_build_id(
				(const uint8_t *)e + p[i].p_offset, p[i].p_filesz, &image->build_id.len);
	return true;
}
