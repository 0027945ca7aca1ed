/* SPDX-License-Identifier: MIT */
/* Where the symbols of a module are when they are not in its file. Only local files are looked at. */
#ifndef GUS_SYMBOLIZER_ELF_DEBUGFILE_H
#define GUS_SYMBOLIZER_ELF_DEBUGFILE_H

#include "symbolizer/elf/elffile.h"

struct gus_rights;

struct gus_search {
	const char *symfs;              /* before every path; "" for none */
	const char *const *debug_dirs;  /* NULL-terminated */
	const char *build_ids;          /* perf's own folder of files by build id, ~/.debug; NULL: none */
	struct gus_error *refused;      /* takes the first file that is there and cannot be opened; may be NULL */
	const struct gus_rights *rights; /* to open files with; NULL: ours */
	uint64_t recorded_ns;           /* CLOCK_REALTIME when the recording ended; 0: not known */
	uint64_t written_ns;            /* when its file was written last, if another program's; 0: not known */
	bool elsewhere;                 /* recorded on another machine, or nobody knows: see gus_symbols_options */
	bool nowhere;                   /* elsewhere, as nothing says where: device, inode and generation decide */
	bool hurry;                     /* no file is read as a whole for its checksum: a build id or nothing */
	struct gus_budget *total;       /* bytes that may be read and made of all files together; NULL: as they are */
};

/* Opens a file whose bytes count, with the rights that the search has; identity: as gus_elf_open_as has it. */
struct gus_elf *gus_search_open(const struct gus_search *search, const char *path,
				const struct gus_file_identity *identity, struct gus_error *err);

/* The same of a file that is open as fd, which stays the caller's; path is what it is called. */
struct gus_elf *gus_search_open_fd(const struct gus_search *search, int fd, const char *path, struct gus_error *err);

/* DIR/.build-id/xx/yyyySUFFIX under one of the directories, whose own build id must be that one. NULL if none. */
struct gus_elf *gus_debugfile_by_id(const struct gus_search *search, const uint8_t *id, size_t size,
				    const char *suffix);
/* The same in the folder where perf keeps copies of what it recorded, one for each build id: "elf", "debug" or "vdso".
 * NULL if it has none. */
struct gus_elf *gus_debugfile_kept(const struct gus_search *search, const uint8_t *id, size_t size, const char *what);
/* The path of such a copy, of whatever kind, which may not be there; the caller frees it. NULL if it cannot be. */
char *gus_debugfile_kept_path(const struct gus_search *search, const uint8_t *id, size_t size, const char *what);
/* The separate debug file of an ELF file that lies at `path`: by build id, then by .gnu_debuglink beside it, in
 * .debug/, and under the debug directories, where its build id, or else its checksum, must be right. */
struct gus_elf *gus_debugfile_of(const struct gus_search *search, struct gus_elf *e, const char *path);
/* The file of shared DWARF (from dwz) that .gnu_debugaltlink names, by build id or by name. */
struct gus_elf *gus_debugfile_shared(const struct gus_search *search, struct gus_elf *e);

#endif
