/* SPDX-License-Identifier: MIT */
/* From a place in a module to names: function, inlined functions, source line, instruction bytes. In process through
 * libelf and libdw, lazily: a module is opened at its first question, its DWARF when a line or an inline is asked. */
#ifndef GUS_SYMBOLIZER_SYMBOLS_SYMBOLS_H
#define GUS_SYMBOLIZER_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "symbolizer/space/space.h"

struct gus_fetch;
struct gus_log;
struct gus_rights;

struct gus_symbols;

struct gus_symbols_options {
	const char *symfs;              /* prefix for every path, or NULL */
	/* NULL-terminated roots for build-id and debuglink files; NULL: /usr/lib/debug */
	const char *const *debug_dirs;
	const char *build_ids;          /* perf's folder of files by build id, which is ~/.debug; NULL: none */
	const char *kallsyms;           /* a copy of /proc/kallsyms of the recording's kernel; NULL: none is given */
	/* Of files without a build id. Recorded on another machine, or nobody knows where: then a path alone says
	 * nothing, but under symfs. Devices and inodes are those of this machine, although the boot is not known. */
	bool elsewhere, has_inodes;
	bool nowhere;                   /* nothing says of which machine: devices, inodes, kernel's ends decide */
	bool same_release;              /* and the kernel has the release of the one that runs */
	bool name_offsets;              /* what has no name in a file or in the kernel is "libx.so+0x1234" */
	bool raw_names;                 /* do not demangle */
	const char *cache;              /* folder where answers are kept for the next time; NULL: none are */
	const struct gus_fetch *fetch;  /* for modules whose debug information is not here; NULL: nobody is asked */
	const char *boot_id;            /* of the recording: live /proc/kallsyms is used only if it is this boot's */
	const struct gus_rights *rights; /* of whoever chose the modules' names; NULL: ours. Copied */
	/* Asked for a module's file before its path is: a descriptor, which is closed here, or -1. NULL: nobody */
	int (*open)(void *context, const struct gus_module *module);
	void *open_context;
	/* Asked by who unwinds for the bytes of a module without a file, as gus_symbols_image; NULL: there are none but
	 * our own vdso. */
	bool (*image)(void *context, const struct gus_module *module, const void **bytes, size_t *size);
	void *image_context;
};

/* One name for an address. With inlines there are several, innermost first; the last one is the function that has
 * the code. Strings live as long as the gus_symbols. */
struct gus_name {
	/* Demangled, as perf report prints it: no parameters; NULL if nothing is known. Where only .eh_frame tells that
	 * there is a function: "sub_" and its address in the file, in hex. */
	const char *function;
	/* of the function, as an offset like gus_place.offset; for an inline, of the outer one */
	uint64_t start;
	uint64_t size;         /* 0 if not known */
	const char *file;      /* source file, NULL if not known. Innermost: of the address; outer: of the call in it */
	uint32_t line;         /* 0 if not known */
	bool inlined;
};

#define GUS_NAMES_MAX 64

struct gus_symbols *gus_symbols_new(const struct gus_symbols_options *options, const struct gus_log *log);
void gus_symbols_free(struct gus_symbols *s);

/* When the recording ended, in ns of CLOCK_REALTIME: a file without a build id that changed later is not what was
 * recorded, though it has its path and inode. Before the first question; without it nothing is said of that. */
void gus_symbols_recorded_until(struct gus_symbols *s, uint64_t realtime_ns);
/* When the file of another program's recording was written last: what stands for the end where that is not known, and
 * until when perf inject may have made the files of a JIT's code. */
void gus_symbols_written_until(struct gus_symbols *s, uint64_t realtime_ns);

/* Symbols and images that the recording brought along; copied. Called before the first question. */
void gus_symbols_add_kernel(struct gus_symbols *s, const Gusprof__KernelSymbols *symbols);
/* Which kernel it was, by its build id, if the recording has none of its symbols; and where it lay, as perf writes it
 * into the mapping that it makes up for the kernel: as the address of one symbol. */
void gus_symbols_add_kernel_build(struct gus_symbols *s, const void *build_id, size_t size);
void gus_symbols_add_kernel_mapping(struct gus_symbols *s, const Gusprof__Mmap *mapping);
void gus_symbols_add_image(struct gus_symbols *s, const Gusprof__Image *image);
/* The bytes of a module that the recording brought along; *bytes NULL if it did not. False if it did not and this
 * process's own vdso is another one, as the recording is of another boot. Also while others ask. */
bool gus_symbols_image(const struct gus_symbols *s, const struct gus_module *module, const void **bytes, size_t *size);
/* Names, lines and code that it brought along. They serve where no file at hand is the one that was recorded, or where
 * that file has none. False if the message contradicts itself: nothing of it is taken. */
bool gus_symbols_add_embedded(struct gus_symbols *s, const Gusprof__Embedded *embedded);

enum gus_depth {
	GUS_DEPTH_FUNCTION, /* symbol table only: no DWARF is opened */
	GUS_DEPTH_LINE,     /* and the line of the address */
	GUS_DEPTH_INLINE,   /* and the inlined functions around it */
};

/* Names for a place; returns how many (1 .. GUS_NAMES_MAX). Always at least one, perhaps with function NULL. */
size_t gus_symbols_names(struct gus_symbols *s, const struct gus_module *module, uint64_t offset, enum gus_depth depth,
			 struct gus_name names[GUS_NAMES_MAX]);

/* The function of a file that has the code at an offset, as its own tables have it. */
struct gus_symbol {
	const char *name;      /* not demangled; NULL if only its extent is known */
	uint64_t start, size;  /* as in gus_name; size is not 0 */
	uint64_t address;      /* of its start, as the file has it */
};

bool gus_symbols_function(struct gus_symbols *s, const struct gus_module *module, uint64_t offset,
			  struct gus_symbol *function);
/* The variable of a file that has the data at an offset, demangled; NULL if none is known. *begins, if given, is where
 * it does, as an offset. Lives as long as the gus_symbols. */
const char *gus_symbols_datum(struct gus_symbols *s, const struct gus_module *module, uint64_t offset,
			      uint64_t *begins);
/* Says that inlines of all these offsets will be asked for: what takes long is then done for all of them, by several
 * threads. That is not needed, and answers are the same without. */
void gus_symbols_expect(struct gus_symbols *s, const struct gus_module *module, const uint64_t *offsets, size_t n);

/* Up to size bytes of code at that offset, copied to out; returns how many there were (0 if the module's bytes are not
 * at hand). *machine, if given, is the ELF machine number (EM_X86_64, EM_AARCH64). The kernel's are those of the
 * running one, if it is the one that was recorded and lets itself be read. */
size_t gus_symbols_code(struct gus_symbols *s, const struct gus_module *module, uint64_t offset, void *out, size_t size,
			unsigned *machine);

/* The address that the module's file itself gives to that offset, as its symbol table and objdump have it; the offset
 * where there is no file. */
uint64_t gus_symbols_address(struct gus_symbols *s, const struct gus_module *module, uint64_t offset);

/* The file that a module's lines are from: who wrote the names of sources that stand in it, and when. */
struct gus_provenance {
	bool known;
	uid_t owner;
	time_t made;
};
struct gus_provenance gus_symbols_provenance(struct gus_symbols *s, const struct gus_module *module);

/* With whose rights files are opened. */
const struct gus_rights *gus_symbols_rights(const struct gus_symbols *s);

/* Why gus_symbols_code has no bytes of this module; NULL if nothing is wrong with it. */
const char *gus_symbols_code_trouble(struct gus_symbols *s, const struct gus_module *module);

/* Modules whose files ask for more than such files may (base/limits.h), or changed while they were read, so that some
 * of their names are missing: how many, and of the first one where it is and why. */
size_t gus_symbols_cut(const struct gus_symbols *s, const char **path, const char **why);

/* What is wrong with the names of this module, for the reader of a report: "its file changed since the recording",
 * "no symbol table"; NULL if nothing is. */
const char *gus_symbols_trouble(struct gus_symbols *s, const struct gus_module *module);

/* Of files of this module, which may be its debug files: one that is there and that this user may not read. NULL if
 * there is none. */
const char *gus_symbols_refusal(struct gus_symbols *s, const struct gus_module *module);
/* Logs those of all modules that were asked about. */
void gus_symbols_tell(const struct gus_symbols *s);
/* The first file that could not be read although it is there and may be read: too few descriptors, too little memory, a
 * bad disk. What was answered since lacks what it has, and might be complete another time. NULL if there is none. */
const struct gus_error *gus_symbols_failure(const struct gus_symbols *s);

#endif
