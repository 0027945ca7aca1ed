/* SPDX-License-Identifier: MIT */
/* The code ranges of .eh_frame. Nearly every function has an entry there, also in a stripped file, since exceptions
 * and backtraces need it. The encodings are those of the LSB's "Exception Frames" chapter. */
#include <elfutils/libdw.h>
#include <dwarf.h>
#include <string.h>

#include "base/cursor.h"
#include "symbolizer/elf/elfsyms.h"
#include "symbolizer/elf/encoded.h"

#define LETTERS_MAX 16 /* of an augmentation; "zPLRSB" is the longest that compilers write */

/* How the entries that belong to this CIE write their addresses; -1 if it does not say. */
static int encoding_of(const Dwarf_CIE *cie, bool wide)
{
	const char *letters = cie->augmentation ? cie->augmentation : "";
	const uint8_t *data = cie->augmentation_data;
	struct gus_cursor c = gus_cursor(data, data ? cie->augmentation_data_size : 0);
	uint64_t ignored;

	if (*letters != 'z')
		return *letters ? -1 : DW_EH_PE_absptr;
	for (letters++; *letters && letters < cie->augmentation + LETTERS_MAX; letters++) {
		if (*letters == 'R') {
			int encoding = gus_cursor_u8(&c);

			return c.bad ? -1 : encoding;
		}
		if (*letters == 'P' && !gus_encoded_read(&c, gus_cursor_u8(&c), wide, &ignored))
			return -1;
		if (*letters == 'L')
			gus_cursor_u8(&c);
	}
	return c.bad ? -1 : DW_EH_PE_absptr;
}

struct section {
	struct gus_elf *e;
	const unsigned char *ident;
	Elf_Data *data;
	uint64_t address;
	bool wide;
	Dwarf_Off cie;      /* the last one looked at, as most entries share it */
	int encoding;       /* its */
};

/* libdw may have looked at all that is between two entries. */
static bool charge(struct section *s, Dwarf_Off from, Dwarf_Off to)
{
	if (to < from || to > s->data->d_size)
		to = s->data->d_size;
	return gus_elf_charge(s->e, &s->e->work, to - from, "its unwind entries refer to each other without end");
}

static int encoding_at(struct section *s, Dwarf_Off cie)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (s->cie != cie) {
		s->cie = cie;
		s->encoding = -1;
		if (cie < s->data->d_size && dwarf_next_cfi(s->ident, s->data, true, cie, &next, &entry) == 0 &&
		    dwarf_cfi_cie_p(&entry) && charge(s, cie, next))
			s->encoding = encoding_of(&entry.cie, s->wide);
	}
	return s->encoding;
}

static void add_entry(struct gus_ranges *ranges, struct section *s, const Dwarf_FDE *fde)
{
	int encoding = encoding_at(s, fde->CIE_pointer);
	struct gus_cursor c = gus_cursor(fde->start, (size_t)(fde->end - fde->start));
	uint64_t low, length, high;

	if (encoding < 0 || (encoding & 0xf0 & ~DW_EH_PE_pcrel))
		return;
	if (!gus_encoded_read(&c, (unsigned)encoding, s->wide, &low) ||
	    !gus_encoded_read(&c, (unsigned)encoding, s->wide, &length))
		return;
	if (encoding & DW_EH_PE_pcrel)
		low += s->address + (uint64_t)(fde->start - (const uint8_t *)s->data->d_buf);
	if (!s->wide)
		low = (uint32_t)low;
	if (!__builtin_add_overflow(low, length, &high) && gus_elf_executable(s->e, low) &&
	    gus_elf_charge(s->e, &s->e->made, 2 * sizeof(struct gus_range), "it has too many unwind entries"))
		gus_ranges_add(ranges, low, high, 0, 0);
}

void gus_elfsyms_add_frames(struct gus_ranges *ranges, struct gus_elf *e)
{
	GElf_Shdr header;
	Elf_Scn *scn = gus_elf_section(e, ".eh_frame", &header);
	struct section s = { .e = e, .ident = (const unsigned char *)elf_getident(e->elf, NULL),
			     .cie = (Dwarf_Off)-1, .wide = gelf_getclass(e->elf) == ELFCLASS64 };
	Dwarf_CFI_Entry entry;
	int status;

	s.data = gus_elf_raw(e, scn);
	s.address = header.sh_addr;
	if (!s.data || !s.ident || s.ident[EI_DATA] != ELFDATA2LSB)
		return;
	for (Dwarf_Off at = 0, next = 0;; at = next) {
		status = dwarf_next_cfi(s.ident, s.data, true, at, &next, &entry);
		if (status == 0 && !dwarf_cfi_cie_p(&entry))
			add_entry(ranges, &s, &entry.fde);
		/* An entry that cannot be read may be passed over, as long as that leads on. */
		if (status > 0 || next <= at || next == (Dwarf_Off)-1 || e->work.cut)
			break;
	}
	gus_ranges_ready(ranges);
}
