/* SPDX-License-Identifier: MIT */
/* Modules of address spaces, and what makes a mapping's module itself: the rules that the past of address spaces and
 * their present share. */
#ifndef GUS_SYMBOLIZER_SPACE_MODULE_H
#define GUS_SYMBOLIZER_SPACE_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/gusprof.pb-c.h"

struct gus_strings;

/* A module and where in it. */
struct gus_place {
	uint32_t module;         /* its number in a space, for gus_space_module */
	uint64_t offset;         /* in the file; the address itself where there is no file */
};

enum gus_module_kind {
	GUS_MODULE_UNKNOWN, /* no mapping covers the address */
	GUS_MODULE_FILE,    /* an ELF file, or some other mapped file */
	GUS_MODULE_KERNEL,  /* the kernel itself or one of its modules: offsets are addresses */
	GUS_MODULE_VDSO,
	GUS_MODULE_ANON,    /* executable memory without a file, of which nobody has said what it is: "//anon" */
	GUS_MODULE_JIT,     /* code that a process made and told of: "[jit:PID]"; offsets are the recording's own */
};

/* Of a mapping, by the name that the kernel gives it. */
enum gus_module_kind gus_module_kind_of(const char *path);

struct gus_module {
	enum gus_module_kind kind;
	const char *path;        /* as recorded; "[unknown]" of that kind, "[kernel]" or "[ext4]" of the kernel's */
	const uint8_t *build_id; /* of build_id_size bytes, NULL if not known */
	size_t build_id_size;
	uint64_t inode;          /* the file's, as the kernel gave it in place of a build id; 0 if not known */
	uint32_t major, minor;   /* of its device */
	uint64_t generation;     /* of the inode; 0 if not known */
};

#define GUS_MODULE_KERNEL_ITSELF "[kernel]" /* its path */
#define GUS_MODULE_KERNEL_OF_PERF "[kernel.kallsyms]" /* what perf calls it */
/* What perf calls a kernel's module by the path of its mapping: "[snd_pcm]" of /lib/modules/.../snd-pcm.ko.xz. NULL of
 * the kernel itself. To be freed. */
char *gus_module_of_kernel(const char *path);

/* Whether who says that name means this module: its path, or the last part of it, or perf's word for the kernel. */
bool gus_module_is_called(const struct gus_module *m, const char *name);

/* The path of a mapping; the kernel's word for memory without a file where it has none. */
const char *gus_module_path(const Gusprof__Mmap *m);
/* A number that mappings share if and only if they are of one module. */
uint32_t gus_module_identify(struct gus_strings *identities, const Gusprof__Mmap *m);
/* As gus_module_kind_of; a memfd that is an ELF file with a build id is a program like any other. */
enum gus_module_kind gus_module_kind_with(const char *path, size_t build_id_size);

#endif
