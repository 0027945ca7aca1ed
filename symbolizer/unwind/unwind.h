/* SPDX-License-Identifier: MIT */
/* From a thread's registers and a copy of the top of its stack to its callers.
 *
 * Two engines with one face. gus_unwind steps by rules that are made once of .eh_frame (or .debug_frame) for each range
 * of addresses and kept, so a frame costs tens of nanoseconds: it runs while recording. gus_unwind_copied asks
 * libunwind with accessors of ours, for recordings that keep copies of the stack. Where code has no tables (made at run
 * time, hand-written) both follow frame pointers.
 *
 * All that is read is foreign: tables may contradict themselves and expressions never end. What one stack and one file
 * may cost is bounded (base/limits.h); a stack that costs more is cut, and nothing else is. */
#ifndef GUS_SYMBOLIZER_UNWIND_UNWIND_H
#define GUS_SYMBOLIZER_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/sample.h"

struct gus_module;
struct gus_symbols_options;
struct gus_unwind_lasts;

/* Registers by their DWARF numbers: x86-64 0 .. 15 and 16, the return address, which is IP here; arm64 0 .. 30, 31 SP,
 * 32 PC. */
#define GUS_UNWIND_REGS 33
#define GUS_UNWIND_FRAMES_MOST 1024

struct gus_unwind_regs {
	unsigned machine;                   /* EM_X86_64, EM_AARCH64 */
	uint64_t known;                     /* a bit for each */
	uint64_t v[GUS_UNWIND_REGS];
};

/* Of a sample: false if it has none, or those of another machine than it was recorded on. */
bool gus_unwind_regs_of(struct gus_unwind_regs *regs, unsigned machine, const struct gus_sample *sample);

/* The unwind tables of a file, opened when first asked for; all of a process's or a recording's. One thread. */
struct gus_unwind_files;
struct gus_unwind_file;

/* options: where files are looked for, with which rights, and who is asked first; borrowed, and must outlive it. */
struct gus_unwind_files *gus_unwind_files_new(const struct gus_symbols_options *options);
void gus_unwind_files_free(struct gus_unwind_files *files);
/* For who may not wait, as a recorder: a file whose tables take much work for each question (GUS_LIMIT_UNWIND_FILE_*)
 * is asked no more, and that is its trouble; and a debug file without a build id is not read as a whole to see whether
 * it is the right one. */
void gus_unwind_files_hurry(struct gus_unwind_files *files);
/* For one of so many threads that unwind the stacks of a recording: each may take its part of the work that all may
 * (GUS_LIMIT_UNWIND_READ_*), on a file and on all files; then those that took it are asked no more. */
void gus_unwind_files_share(struct gus_unwind_files *files, unsigned threads);
/* Always answers; a file that is not at hand is one without rules, and says so. The vdso is one, too. Lives as long as
 * files. */
struct gus_unwind_file *gus_unwind_files_get(struct gus_unwind_files *files, const struct gus_module *module);
/* Why nothing is known of it; NULL if nothing is wrong. */
const char *gus_unwind_file_trouble(const struct gus_unwind_file *file);
/* Which part of its functions, of 0 to 1, keep a frame pointer by their tables; -1 if it has no tables. Looks at the
 * first few thousand. */
double gus_unwind_file_frame_pointers(struct gus_unwind_file *file);

/* What an address is. */
struct gus_unwind_code {
	struct gus_unwind_file *file;       /* NULL: code without a file */
	uint64_t offset;                    /* in the file */
};

/* The process as it was at the sample. */
struct gus_unwind_view {
	/* False if no code is mapped there. */
	bool (*code)(void *context, uint64_t address, struct gus_unwind_code *code);
	void *context;
	uint64_t stack_at;                  /* address of the first byte of the copy */
	const void *stack;
	size_t stack_bytes;
	/* Of whom and by whom the thread's last stack is kept (lasts.h); NULL: each is walked whole. */
	struct gus_unwind_lasts *lasts;
	uint32_t pid, tid;
};

/* Where a stack goes on: registers of the frame whose callers were not found, for who knows more of the stack. */
struct gus_unwind_rest {
	struct gus_unwind_regs regs;
	uint64_t frame;                     /* its CFA, if the end is GUS_CALLERS_STACK; else 0 */
	bool by_zero;                       /* the end is GUS_CALLERS_WHOLE by a return address of 0 */
	/* Set by who asks, NULL if it is of no use: room for as many as there are callers, each the CFA of the frame
	 * that returns there (or of the signal's); 0 of a marker. */
	uint64_t *frames;
};

/* The callers, innermost first, at most `most`: addresses that are returned to, and before one that was interrupted (by
 * a signal) PERF_CONTEXT_USER. *callers is what became of it. rest may be NULL. Returns how many are in out. */
uint32_t gus_unwind(const struct gus_unwind_view *view, const struct gus_unwind_regs *regs, uint64_t *out,
		    uint32_t most, uint64_t *callers, struct gus_unwind_rest *rest);

#endif
