/* SPDX-License-Identifier: MIT */
/* The user part of each sample's stack in a recording that keeps registers and stacks, by either engine:
 * `both_stacks RECORDING [ENGINE]`. A line is thread, time, engine (copied, tables), end (enum gus_callers), bytes of
 * the copy above the last return address (of tables alone), and the frames, innermost first, each by the number of its
 * module and its offset in that, which perf script shows; "!" stands before a frame that a signal interrupted. The
 * engine `kernel` is the chain that came with the sample, if one did: the kernel's, by frame pointers. Then a line for
 * each module: its number and its path, "-" if it is no file. The last line has the seconds that each engine took. */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attribution/profile/frames.h"
#include "base/error.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "symbolizer/space/space.h"
#include "symbolizer/symbols/symbols.h"
#include "symbolizer/unwind/copied.h"

#define MARKER ((uint64_t)-4095) /* PERF_CONTEXT_MAX */
#define CONTEXT_USER ((uint64_t)-512)

enum engine { COPIED, TABLES, ENGINES };
static const char *const names[ENGINES] = { "copied", "tables" };

struct reading {
	struct gus_reader *reader;
	struct gus_space *space;
	struct gus_columns batch;
	struct gus_unwind_files *files;
	struct gus_unwind_copied *copied;
	const char *only;
	double seconds[ENGINES];
	uint64_t stacks;
};

struct moment { struct reading *r; const struct gus_sample *s; };

static void take_sideband(void *context, const struct gus_frame *frame)
{
	struct reading *r = context;
	ProtobufCMessage *m = gus_frame_message(frame, &gusprof__sideband__descriptor, NULL);
	const Gusprof__Sideband *sideband = (const Gusprof__Sideband *)m;

	for (size_t i = 0; sideband && i < sideband->n_records; i++)
		gus_space_add(r->space, sideband->records[i]);
	if (m)
		protobuf_c_message_free_unpacked(m, NULL);
}

static bool find_code(void *context, uint64_t address, struct gus_unwind_code *code)
{
	const struct moment *m = context;
	struct gus_place place = gus_space_find(m->r->space, m->s->pid, m->s->time, address, GUS_MODE_USER);
	const struct gus_module *module = gus_space_module(m->r->space, place.module);

	code->file = NULL;
	code->offset = place.offset;
	if (module->kind == GUS_MODULE_FILE || module->kind == GUS_MODULE_VDSO)
		code->file = gus_unwind_files_get(m->r->files, module);
	return module->kind != GUS_MODULE_UNKNOWN;
}

static void print_frame(const struct moment *m, uint64_t ip)
{
	struct gus_place place = gus_space_find(m->r->space, m->s->pid, m->s->time, ip, GUS_MODE_USER);

	printf(" %x:%" PRIx64, place.module, place.offset);
}

static void print_stack(struct moment *m, enum engine engine)
{
	uint64_t out[GUS_UNWIND_FRAMES_MOST], callers;
	struct gus_unwind_view view = { .code = find_code, .context = m, .stack = m->s->stack,
					.stack_bytes = m->s->stack_n * sizeof(uint64_t) };
	uint64_t frames[GUS_UNWIND_FRAMES_MOST];
	struct gus_unwind_rest rest = { .frames = frames };
	struct gus_unwind_regs regs;
	struct timespec from, to;
	uint32_t n;

	if (!gus_unwind_regs_of(&regs, EM_X86_64, m->s) || (m->r->only && strcmp(m->r->only, names[engine]) != 0))
		return;
	view.stack_at = regs.v[7];
	clock_gettime(CLOCK_MONOTONIC, &from);
	if (engine == COPIED)
		n = gus_unwind_copied(m->r->copied, &view, &regs, out, GUS_UNWIND_FRAMES_MOST, &callers);
	else
		n = gus_unwind(&view, &regs, out, GUS_UNWIND_FRAMES_MOST, &callers, &rest);
	clock_gettime(CLOCK_MONOTONIC, &to);
	m->r->seconds[engine] += (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
	printf("%u %" PRIu64 " %s %" PRIu64 " %" PRIu64, m->s->tid, m->s->time, names[engine],
	       callers & GUS_CALLERS_END, engine == TABLES && n ? view.stack_at + view.stack_bytes - frames[n - 1] : 0);
	print_frame(m, regs.v[16]);
	for (uint32_t i = 0; i < n; i++) {
		if (out[i] >= MARKER)
			printf(" !");
		else
			print_frame(m, out[i]);
	}
	printf("\n");
}

/* As it came: the frames behind the mark of user space. Where the sample is itself is left out of chains. */
static void print_chain(struct moment *m)
{
	uint32_t at = 0;

	while (at < m->s->chain_n && m->s->chain[at] != CONTEXT_USER)
		at++;
	if (at == m->s->chain_n || m->r->only)
		return;
	printf("%u %" PRIu64 " kernel 0 0", m->s->tid, m->s->time);
	if (m->s->mode == GUS_MODE_USER)
		print_frame(m, m->s->ip);
	while (++at < m->s->chain_n)
		print_frame(m, m->s->chain[at]);
	printf("\n");
}

static void print_modules(const struct gus_space *space)
{
	for (uint32_t i = 0; i < gus_space_modules(space); i++) {
		const struct gus_module *module = gus_space_module(space, i);

		printf("module %x %s\n", i, module->kind == GUS_MODULE_FILE ? module->path : "-");
	}
}

static void take_batch(void *context, const struct gus_frame *frame)
{
	struct reading *r = context;

	if (gus_columns_decode(&r->batch, frame->payload, frame->size, NULL) != 0)
		return;
	for (size_t i = 0; i < r->batch.n; i++) {
		struct gus_sample s = gus_columns_sample(&r->batch, i);
		struct moment m = { r, &s };

		r->stacks += s.regs_n != 0;
		for (enum engine e = 0; e < ENGINES; e++)
			print_stack(&m, e);
		print_chain(&m);
	}
}

int main(int argc, char **argv)
{
	struct gus_symbols_options options = { 0 };
	struct reading r = { .only = argc > 2 ? argv[2] : NULL };
	struct gus_error err = { 0 };

	r.reader = argc > 1 ? gus_reader_open(argv[1], &err) : NULL;
	if (!r.reader) {
		fprintf(stderr, "usage: both_stacks RECORDING [copied|tables]; %s\n", err.text);
		return 1;
	}
	r.space = gus_space_new();
	r.files = gus_unwind_files_new(&options);
	r.copied = gus_unwind_copied_new(EM_X86_64);
	if (gus_frames_each(r.reader, 1u << GUS_FRAME_SIDEBAND, take_sideband, &r, &err) == 0) {
		gus_space_ready(r.space);
		gus_frames_each(r.reader, 1u << GUS_FRAME_SAMPLES, take_batch, &r, &err);
	}
	print_modules(r.space);
	printf("seconds copied %.3f tables %.3f stacks %" PRIu64 "\n", r.seconds[COPIED], r.seconds[TABLES], r.stacks);
	gus_unwind_copied_free(r.copied);
	gus_unwind_files_free(r.files);
	gus_columns_free(&r.batch);
	gus_space_free(r.space);
	gus_reader_close(r.reader);
	return err.code != 0;
}
