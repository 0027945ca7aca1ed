/* SPDX-License-Identifier: MIT */
/* Fuzz target of the plugin's live pipe, with all that the model makes of it: hostile traces reach regions, coverage,
 * watches and oracles. The first byte says how the rest becomes a trace:
 *
 *	SCRIPT		it is a script, which our own writer makes a trace of that is right as far as writers look:
 *			blocks at the ends of the address space, as long as they may be, accesses that fit nowhere,
 *			threads
 *	else		it is the trace itself, whose sums are put right first (seal.h)
 *	PIPE		it comes through a pipe, a few bytes at a time, and may end in the middle of anything
 *	MEMORY, PHASES, INTERVAL, WARM_UP	are asked of the model
 *
 * Whatever was read adds up: instructions of threads and of regions to those of the whole, cycles are numbers, and
 * nothing is found out of bounds. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attribution/traced/coverage.h"
#include "attribution/traced/regions.h"
#include "attribution/traced/traced.h"
#include "base/alloc.h"
#include "base/cursor.h"
#include "base/error.h"
#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/oracles/cache.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "proto/trace.h"
#include "tests/fuzz/limit.h"
#include "tests/fuzz/seal.h"

enum { SCRIPT = 1, PIPE = 2, MEMORY = 4, PHASES = 8, INTERVAL = 16, WARM_UP = 32, LEAVE = 64 };
/* Each thread has caches of its own, and so each frame of a few bytes may cost some of these. */
enum { MS = 150, NS_A_BYTE = 400000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
	if (!truth)
		abort();
}

/* A script to a trace. */

struct script {
	struct gus_cursor c;
	struct gus_trace_writer *w;
	uint32_t blocks, stream;
	uint64_t insns, longest; /* that its steps have, at most, and a block */
	struct gus_vec(struct gus_trace_raw) steps;
	struct gus_vec(struct gus_trace_access) accesses;
};

/* The ends of the address space, and what lies around the places that are of interest. */
static uint64_t address_of(struct gus_cursor *c)
{
	static const uint64_t bases[] = { 0x401000, 0, UINT64_MAX - 15, UINT64_C(1) << 63, 0x7fffffffffff, 0x402000 };
	uint64_t word = gus_cursor_varint(c);

	return bases[(word & 7) % (sizeof(bases) / sizeof(*bases))] + (word >> 3);
}

/* Instructions out of a few: what moves, branches, loads, stores, repeats, prefetches, and is none. */
static void add_block(struct script *s)
{
	static const struct { uint8_t size, bytes[10]; } insns[] = {
		{ 1, { 0x90 } }, { 3, { 0x48, 0x01, 0xd8 } }, { 3, { 0x48, 0x8b, 0x06 } }, { 3, { 0x48, 0x89, 0x07 } },
		{ 2, { 0x75, 0xfe } }, { 1, { 0xc3 } }, { 2, { 0xf3, 0xa4 } }, { 3, { 0x0f, 0x18, 0x06 } },
		{ 1, { 0x06 } }, { 2, { 0x0f, 0x05 } }, { 4, { 0x48, 0x8d, 0x34, 0xce } }, { 3, { 0xff, 0x34, 0xce } },
		{ 5, { 0xe8, 0xfb, 0xff, 0xff, 0xff } }, { 4, { 0xf2, 0x0f, 0x10, 0x06 } },
		{ 6, { 0xc4, 0xe2, 0xe9, 0x93, 0x04, 0xce } }, { 2, { 0x50, 0x58 } },
	};
	uint64_t address = address_of(&s->c), n = gus_cursor_u8(&s->c), repeat = gus_cursor_u8(&s->c);
	struct gus_vec(uint8_t) bytes = { 0 }, lengths = { 0 };
	uint32_t number;

	repeat = repeat < 250 ? 1 : 1u << (repeat - 240);
	for (uint64_t i = 0; i < n % 16 + 1; i++) {
		uint8_t which = gus_cursor_u8(&s->c) & 15;

		for (uint64_t k = 0; k < repeat && lengths.n < GUS_TRACE_BLOCK_INSNS; k++) {
			gus_vec_append(&bytes, insns[which].bytes, insns[which].size);
			gus_vec_push(&lengths, insns[which].size);
		}
	}
	if (gus_trace_writer_block(s->w, &(struct gus_trace_block){ address, lengths.v, bytes.v, (uint32_t)lengths.n,
				   (uint32_t)bytes.n }, &number, NULL) == 0)
		s->blocks = number + 1 > s->blocks ? number + 1 : s->blocks;
	s->longest = lengths.n > s->longest ? lengths.n : s->longest;
	gus_vec_free(&bytes);
	gus_vec_free(&lengths);
}

static void add_steps(struct script *s)
{
	uint64_t block = gus_cursor_varint(&s->c), times = gus_cursor_u8(&s->c), n = gus_cursor_u8(&s->c) & 7;
	uint64_t address = address_of(&s->c), stride = gus_cursor_varint(&s->c), bits = gus_cursor_u8(&s->c);

	for (uint64_t i = 0; s->blocks && i < times && s->insns < 200000; i++) {
		s->insns += s->longest;
		gus_vec_push(&s->steps, (struct gus_trace_raw){ (uint32_t)(block % s->blocks), (uint32_t)n });
		for (uint64_t k = 0; k < n; k++, address += stride)
			gus_vec_push(&s->accesses, (struct gus_trace_access){ .address = address,
				     .size = 1u << (bits & 31), .insn = 0, .store = bits >> 5 & (k & 1) });
	}
}

static void flush(struct script *s)
{
	uint64_t window = gus_cursor_varint(&s->c), at = gus_cursor_varint(&s->c), next = gus_cursor_u8(&s->c) % 3;

	if (s->steps.n)
		gus_trace_writer_steps(s->w, &(struct gus_trace_run){ s->stream, window, at, s->steps.v, s->accesses.v,
				       s->steps.n, (enum gus_trace_next)next }, NULL);
	s->steps.n = s->accesses.n = 0;
}

static void add_mapping(struct script *s)
{
	static const char *const paths[] = { "/nowhere/a", "/nowhere/b", "[vdso]", "", "//anon" };
	Gusprof__Sideband sideband = GUSPROF__SIDEBAND__INIT;
	Gusprof__Record record = GUSPROF__RECORD__INIT, *list[] = { &record };
	Gusprof__Mmap map = GUSPROF__MMAP__INIT;

	map.start = address_of(&s->c);
	map.length = gus_cursor_varint(&s->c);
	map.offset = gus_cursor_varint(&s->c);
	map.time = gus_cursor_u8(&s->c);
	map.path = (char *)(uintptr_t)paths[gus_cursor_u8(&s->c) % 5];
	record.kind_case = GUSPROF__RECORD__KIND_MMAP;
	record.mmap = &map;
	sideband.records = list;
	sideband.n_records = 1;
	gus_trace_writer_records(s->w, &sideband, NULL);
}

static void run_script(struct script *s)
{
	while (!s->c.bad && gus_cursor_left(&s->c)) {
		uint8_t what = gus_cursor_u8(&s->c);

		switch (what & 7) {
		case 0:
			add_block(s);
			break;
		case 1:
			add_mapping(s);
			break;
		case 2:
			flush(s);
			s->stream = (uint32_t)gus_cursor_varint(&s->c);
			break;
		case 3:
			flush(s);
			break;
		default:
			add_steps(s);
		}
	}
	flush(s);
}

/* As many bytes as the script makes, in a file. */
static int scripted(const uint8_t *data, size_t size)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Trace about = GUSPROF__TRACE__INIT;
	Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;
	struct script s = { .c = gus_cursor(data, size) };
	int fd = memfd_create("trace", MFD_CLOEXEC);

	about.front_end = (char *)(uintptr_t)"fuzz";
	about.target = (char *)(uintptr_t)"x86_64";
	gus_vec_reserve(&s.accesses, 1);
	s.w = gus_trace_writer_create_fd(dup(fd), &header, &about, NULL);
	demand(fd >= 0 && s.w);
	run_script(&s);
	gus_trace_writer_finish(s.w, &total, NULL);
	gus_vec_free(&s.steps);
	gus_vec_free(&s.accesses);
	return fd;
}

static int sealed(const uint8_t *data, size_t size, uint8_t leave)
{
	uint8_t *copy = gus_alloc(size);
	int fd = memfd_create("trace", MFD_CLOEXEC);

	if (size)
		memcpy(copy, data, size);
	seal(copy, size, leave);
	demand(fd >= 0 && write(fd, copy, size) == (ssize_t)size);
	free(copy);
	return fd;
}

/* A pipe that somebody writes to, in pieces. */

struct feeder { int from, to; size_t piece; };

static void *feed(void *argument)
{
	struct feeder *f = argument;
	uint8_t bytes[256];
	ssize_t n;

	while ((n = read(f->from, bytes, f->piece)) > 0 && write(f->to, bytes, (size_t)n) == n)
		;
	close(f->from);
	close(f->to);
	return NULL;
}

/* The model. */

static void check(struct gus_traced *t)
{
	uint64_t threads = 0, regions = 0;
	char name[64];
	size_t shown;

	for (size_t i = 0; i < gus_traced_threads(t); i++) {
		struct gus_traced_figures f;

		gus_traced_thread(t, i, &f);
		demand(f.cycles[0] >= 0 && f.other_cycles >= 0);
		threads += f.instructions + f.warmed;
	}
	demand(threads == t->instructions);
	for (size_t i = 0; i < t->regions.n; i++) {
		demand(t->regions.v[i].function < t->functions.n);
		demand(t->regions.v[i].cycles[0] >= 0);
		gus_traced_region_name(t, (uint32_t)i, name, sizeof(name));
		regions += t->regions.v[i].instructions;
	}
	demand(regions + t->warmed == t->instructions);
	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];

		demand(b->region < t->regions.n && b->taken <= b->branches && b->mispredicted <= b->branches);
		demand(b->cached <= b->executed && b->branches <= b->executed);
		gus_traced_branch_name(t, (uint32_t)i, name, sizeof(name));
	}
	demand(gus_traced_longest_thread(t) <= t->instructions);
	free(gus_traced_order(t, &shown));
	demand(shown <= t->regions.n);
	gus_traced_block_at(t, "/nowhere/a", 0);
}

static void model(struct gus_trace *trace, uint8_t wish)
{
	static struct gus_uarch *uarch; /* read once: it takes longer than most inputs */
	struct gus_symbols_options symbols = { .symfs = "/nowhere", .debug_dirs = (const char *const[]){ NULL } };
	struct gus_branch_config predictor;
	struct gus_cache_config caches;
	struct gus_core_config core;
	struct gus_error err = { 0 };
	struct gus_traced_options o = { .weight = 1.15, .causality = true, .config = &core, .caches = &caches,
		.predictor = &predictor, .memory = wish & MEMORY, .phases = wish & PHASES, .interval = wish & INTERVAL,
		.warm_up = wish & WARM_UP ? 100 : 0, .long_lines = 1 << 16,
		.threads_most = 64 };
	struct gus_traced t;
	int rc;

	if (!uarch)
		uarch = gus_uarch_parse("skylake", NULL, 0, &gus_uarch_builtin, 0, &err);
	gus_core_config_of(&core, uarch);
	gus_cache_config_of(&caches, uarch);
	gus_branch_config_default(&predictor);
	o.uarch = uarch;
	o.symbols = gus_symbols_new(&symbols, NULL);
	gus_traced_open(&t, &o);
	rc = gus_traced_read(&t, trace, &err);
	demand(rc == 0 || (err.code != GUS_OK && err.text[0]));
	demand(gus_traced_end(&t, &err) == 0 || err.code != GUS_OK);
	check(&t);
	gus_traced_close(&t);
	gus_symbols_free(o.symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t wish = size ? data[0] : 0, more = size > 1 ? data[1] : 0;
	struct feeder f = { .piece = more ? more : 256 };
	struct gus_error err = { 0 };
	struct limit begun = limit_begin();
	struct gus_trace *trace;
	pthread_t thread;
	int fd;

	if (size < 2)
		return 0;
	signal(SIGPIPE, SIG_IGN);
	fd = wish & SCRIPT ? scripted(data + 2, size - 2) : sealed(data + 2, size - 2, wish & LEAVE ? more : 0);
	demand(lseek(fd, 0, SEEK_SET) == 0);
	if (wish & PIPE) {
		int ends[2];

		demand(pipe(ends) == 0);
		f.from = fd;
		f.to = ends[1];
		fd = ends[0];
		demand(pthread_create(&thread, NULL, feed, &f) == 0);
	}
	trace = gus_trace_open_fd(fd, &err);
	demand(trace || (err.code != GUS_OK && err.text[0]));
	if (trace)
		model(trace, wish);
	gus_trace_close(trace);
	if (wish & PIPE)
		pthread_join(thread, NULL);
	limit_end(begun, size, MS, NS_A_BYTE);
	return 0;
}
