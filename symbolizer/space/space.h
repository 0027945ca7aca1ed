/* SPDX-License-Identifier: MIT */
/* Which module an address belonged to, for any process at any time of a recording.
 *
 * First every side-band record goes in (any order), then gus_space_ready, then questions, in any order of time: the
 * samples of different CPUs come interleaved. Fork inherits the parent's mappings as of that moment, exec drops all,
 * a later mapping hides the part of an earlier one that it overlaps. Code that a process made is a second layer of the
 * same kind. It is asked only where the mappings have no file, or the runtime's own file: what it told of memory that
 * was a library's later is not true any more. */
#ifndef GUS_SYMBOLIZER_SPACE_SPACE_H
#define GUS_SYMBOLIZER_SPACE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/gusprof.pb-c.h"
#include "symbolizer/space/module.h"

struct gus_space;

struct gus_space *gus_space_new(void);
void gus_space_free(struct gus_space *s);

/* Takes what it needs of a record (mmap, comm, fork, jit) and copies it. */
void gus_space_add(struct gus_space *s, const Gusprof__Record *record);
/* The kernel's modules, as far as its sampled symbols say which they are in. Mappings of the kernel say it, too. */
void gus_space_add_kernel(struct gus_space *s, const Gusprof__KernelSymbols *symbols);
void gus_space_ready(struct gus_space *s);

/* Where ip was for process pid at that time; mode is enum gus_mode of proto/sample.h. Always answers: what no mapping
 * covers is module 0, GUS_MODULE_UNKNOWN, with the address as offset. */
struct gus_place gus_space_find(struct gus_space *s, uint32_t pid, uint64_t time, uint64_t ip, unsigned mode);

/* The same of the address of data. *shared: it is memory of a file that processes share (MAP_SHARED), so that the place
 * is the same memory in all of them. */
struct gus_place gus_space_find_data(struct gus_space *s, uint32_t pid, uint64_t time, uint64_t address, unsigned mode,
				     bool *shared);

/* The program that process pid is: the file that was mapped first when it executed one last, as the kernel maps
 * the program before what loads its libraries (load_elf_binary of fs/binfmt_elf.c). GUS_INDEX_NONE: no exec was
 * recorded. */
uint32_t gus_space_program(const struct gus_space *s, uint32_t pid);

/* The same space for another thread, which may ask while others do: what a question leaves behind is its own. s, which
 * must be ready, lives longer. */
struct gus_space *gus_space_view(const struct gus_space *s);

/* The first moment after time at which that process had other mappings, UINT64_MAX if it has none. */
uint64_t gus_space_next_change(const struct gus_space *s, uint32_t pid, uint64_t time);

/* Up to then every address of that process is where it is at that time, code that it makes included. */
uint64_t gus_space_steady_until(const struct gus_space *s, uint32_t pid, uint64_t time);

/* Modules are numbered from 0 in a fixed order: the same records give the same numbers. Lives as long as s. */
uint32_t gus_space_modules(const struct gus_space *s);
const struct gus_module *gus_space_module(const struct gus_space *s, uint32_t number);

/* The name that thread tid had at that time; a new thread has its creator's, one never told of its process's, and "" is
 * when neither is known. Nobody tells the idle task's, 0 of process 0: it is "swapper". */
const char *gus_space_comm(struct gus_space *s, uint32_t pid, uint32_t tid, uint64_t time);

#endif
