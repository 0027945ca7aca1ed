/* SPDX-License-Identifier: MIT */
/* Routes against the truth: `routes_of_trace TRACE PROGRAM UARCH PERIOD`. What a program really executed (a trace of
 * its first stream) is looked at as a CPU with a branch stack of 32 would, each PERIOD taken branches; out of that
 * recording come routes, and their counts and what engines make of their replay are held against the trace itself. The
 * same with plain samples, one each PERIOD * 5 instructions. PROGRAM is linked statically, at fixed addresses. */
#include <elf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attribution/routes/routes.h"
#include "attribution/routes/walk.h"
#include "base/error.h"
#include "base/index.h"
#include "model/code/growing.h"
#include "model/code/program.h"
#include "model/stream/stream.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "proto/sample.h"
#include "proto/trace.h"
#include "proto/writer.h"

#define DEPTH 32
#define BRANCH_ANY 8
#define PID 10
#define NONE GUS_ROUTES_NONE

struct step { uint32_t block; bool taken, open; };
struct truth {
	struct gus_trace *trace;
	struct gus_vec(struct step) steps;
	struct gus_vec(uint64_t) count;         /* by block of the trace */
	struct gus_index addresses;             /* of instructions; then their executions: */
	struct gus_vec(uint64_t) executed;
	uint64_t instructions;
};

static void demand(bool good, const char *what, const struct gus_error *err)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", what, err ? err->text : "failed");
	exit(1);
}

/* The truth. */

static void read_trace(struct truth *t, const char *path)
{
	struct gus_error err = { 0 };
	struct gus_trace_step step;
	int got;

	t->trace = gus_trace_open(path, &err);
	demand(t->trace, path, &err);
	while ((got = gus_trace_next(t->trace, &step, &err)) == 1) {
		if (step.stream != 0)
			continue;
		gus_vec_push(&t->steps, (struct step){ step.block, step.next == GUS_TRACE_NEXT_TAKEN,
			step.next == GUS_TRACE_NEXT_UNKNOWN });
		while (t->count.n <= step.block)
			gus_vec_push(&t->count, 0);
		t->count.v[step.block]++;
	}
	demand(got == 0, path, &err);
	gus_index_init(&t->addresses, sizeof(uint64_t));
	for (uint32_t i = 0; i < t->count.n; i++) {
		struct gus_trace_block b = gus_trace_block(t->trace, i);

		for (uint32_t k = 0, at = 0; k < b.insns; at += b.lengths[k++]) {
			uint64_t address = b.address + at;
			bool is_new;
			uint32_t number = gus_index_add(&t->addresses, &address, &is_new);

			if (is_new)
				gus_vec_push(&t->executed, 0);
			t->executed.v[number] += t->count.v[i];
		}
		t->instructions += t->count.v[i] * b.insns;
	}
}

static uint64_t last_of(const struct gus_trace_block *b)
{
	return b->address + b->size - b->lengths[b->insns - 1];
}

/* What a recorder would have had. */

static void write_maps(struct gus_writer *w, const char *program)
{
	FILE *f = fopen(program, "rb");
	Elf64_Phdr segments[16];
	Elf64_Ehdr h;

	demand(f && fread(&h, sizeof(h), 1, f) == 1 && h.e_type == ET_EXEC && h.e_phnum <= 16 &&
	       fseek(f, (long)h.e_phoff, SEEK_SET) == 0 &&
	       fread(segments, sizeof(*segments), h.e_phnum, f) == h.e_phnum, "the program is no small static one",
		       NULL);
	fclose(f);
	for (unsigned i = 0; i < h.e_phnum; i++) {
		Gusprof__Record record = GUSPROF__RECORD__INIT, *list[] = { &record };
		Gusprof__Sideband sideband = GUSPROF__SIDEBAND__INIT;
		Gusprof__Mmap map = GUSPROF__MMAP__INIT;

		if (segments[i].p_type != PT_LOAD || !(segments[i].p_flags & PF_X))
			continue;
		map.pid = map.tid = PID;
		map.start = segments[i].p_vaddr & ~4095ull;
		map.length = (segments[i].p_vaddr + segments[i].p_memsz - map.start + 4095) & ~4095ull;
		map.offset = segments[i].p_offset & ~4095ull;
		map.path = (char *)(uintptr_t)program;
		record.kind_case = GUSPROF__RECORD__KIND_MMAP;
		record.mmap = &map;
		sideband.n_records = 1;
		sideband.records = list;
		demand(gus_writer_sideband(w, &sideband, NULL) == 0, "side band", NULL);
	}
}

static struct gus_writer *create(const char *path, const char *program, uint64_t branch_type)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Event event = GUSPROF__EVENT__INIT, *events[] = { &event };
	struct gus_error err = { 0 };
	struct gus_writer *w;

	event.name = event.unit = (char *)(uintptr_t)"instructions";
	header.n_events = 1;
	header.events = events;
	header.branch_type = branch_type;
	w = gus_writer_create(path, &header, &err);
	demand(w, path, &err);
	write_maps(w, program);
	return w;
}

static void finish(struct gus_writer *w, struct gus_columns *batch)
{
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;

	demand(gus_writer_samples(w, batch, NULL) == 0 && gus_writer_finish(w, &footer, NULL) == 0, "writing", NULL);
	gus_columns_free(batch);
}

static void write_stacks(const struct truth *t, const char *path, const char *program, uint64_t period)
{
	struct gus_writer *w = create(path, program, BRANCH_ANY);
	struct gus_columns batch = { 0 };
	struct gus_branch last[DEPTH];
	uint64_t branches = 0;
	uint32_t n = 0;

	for (size_t i = 0; i + 1 < t->steps.n; i++) {
		struct gus_trace_block from = gus_trace_block(t->trace, t->steps.v[i].block),
			to = gus_trace_block(t->trace, t->steps.v[i + 1].block);

		if (t->steps.v[i].open)
			n = 0; /* a window ends */
		if (!t->steps.v[i].taken)
			continue;
		memmove(last + 1, last, (DEPTH - 1) * sizeof(*last));
		last[0] = (struct gus_branch){ last_of(&from), to.address, GUS_BRANCH_PREDICTED, 0 };
		n += n < DEPTH;
		if (n == DEPTH && ++branches % period == 0)
			gus_columns_push(&batch, &(struct gus_sample){ .ip = to.address, .time = branches,
				.period = period, .pid = PID, .tid = PID,
								       .mode = GUS_MODE_USER, .branches_n = DEPTH,
									       .branches = last });
	}
	finish(w, &batch);
}

static void write_samples(const struct truth *t, const char *path, const char *program, uint64_t period)
{
	struct gus_writer *w = create(path, program, 0);
	struct gus_columns batch = { 0 };
	uint64_t done = 0, due = period;

	for (size_t i = 0; i < t->steps.n; i++) {
		struct gus_trace_block b = gus_trace_block(t->trace, t->steps.v[i].block);
		uint64_t address = b.address;

		for (uint32_t k = 0; k < b.insns; address += b.lengths[k++]) {
			if (++done < due)
				continue;
			gus_columns_push(&batch, &(struct gus_sample){ .ip = address, .time = done, .period = period,
				.pid = PID, .tid = PID,
								       .mode = GUS_MODE_USER });
			due += period;
		}
	}
	finish(w, &batch);
}

/* Beside each other. */

/* Half the sum of the differences between two distributions of what was executed over instructions: 0 is the same, 1
 * nothing in common. */
static double distance(const struct truth *t, const struct gus_routes *r)
{
	double *got = gus_zalloc((t->executed.n + 1) * sizeof(*got)), sum = 0, elsewhere = 0;

	for (size_t i = 0; i < r->blocks.n; i++) {
		const struct gus_route_block *b = &r->blocks.v[i];

		for (uint32_t k = 0, at = 0; k < b->insns; at += r->lengths.v[b->lengths + k++]) {
			uint64_t address = b->address + at;
			uint32_t number = gus_index_find(&t->addresses, &address);

			*(number == GUS_INDEX_NONE ? &elsewhere : &got[number]) += b->count;
		}
	}
	for (uint32_t i = 0; i < t->executed.n; i++)
		sum += fabs(got[i] / r->instructions - (double)t->executed.v[i] / (double)t->instructions);
	free(got);
	return (sum + elsewhere / r->instructions) / 2;
}

struct follower { const struct truth *t; const struct gus_growing_block *blocks; const struct gus_program *p; size_t at;
	uint32_t op; };

static bool next_of_trace(void *context, struct gus_core_step *step)
{
	struct follower *f = context;
	const struct gus_growing_block *b;
	bool branch;

	while (f->at < f->t->steps.n && f->op == f->blocks[f->t->steps.v[f->at].block].ops_n) {
		f->at++;
		f->op = 0;
	}
	if (f->at == f->t->steps.n)
		return false;
	b = &f->blocks[f->t->steps.v[f->at].block];
	branch = f->op + 1 == b->ops_n && f->t->steps.v[f->at].taken &&
		(f->p->ops[b->op + f->op].flags & GUS_OP_BRANCH);
	*step = (struct gus_core_step){ .op = branch ? b->taken : b->op + f->op, .taken = branch };
	f->op++;
	return true;
}

static double run(const struct gus_program *p, const struct gus_uarch *u, const struct gus_core_source *source)
{
	struct gus_stream_options o = { .source = source, .pointers = GUS_CORE_POINTERS_NONE,
		.fetch = GUS_CORE_FETCH_UOP_CACHE };
	struct gus_stream_result result;
	struct gus_core_config config;
	struct gus_error err = { 0 };

	gus_core_config_of(&config, u);
	demand(gus_stream_run(p, &config, &o, &result, &err) == 0, "the stream engine", &err);
	return (double)result.instructions / result.cycles[0];
}

static double run_trace(const struct truth *t, const struct gus_uarch *u)
{
	struct gus_growing *g = gus_growing_new(u);
	struct gus_growing_block *blocks = gus_resize(NULL, t->count.n + 1, sizeof(*blocks));
	struct follower f = { t, blocks, gus_growing_program(g), 0, 0 };
	struct gus_core_source source = { &f, next_of_trace };
	double ipc;

	for (uint32_t i = 0; i < t->count.n; i++) {
		struct gus_trace_block b = gus_trace_block(t->trace, i);

		blocks[i] = gus_growing_add(g, b.bytes, b.lengths, b.size, b.address);
	}
	ipc = run(f.p, u, &source);
	gus_growing_free(g);
	free(blocks);
	return ipc;
}

static double run_routes(const struct gus_routes *r, const struct gus_uarch *u, uint64_t instructions)
{
	struct gus_error err = { 0 };
	struct gus_walk *p = gus_walk_new(r, u, &(struct gus_walk_options){ NONE, instructions }, &err);
	struct gus_core_source source;
	struct gus_core_branch branch;
	double ipc;

	demand(p, "replay", &err);
	gus_walk_start(p, &source, &branch);
	ipc = run(gus_walk_program(p), u, &source);
	gus_walk_free(p);
	return ipc;
}

static void judge(const struct truth *t, const char *path, const struct gus_uarch *u, double truth)
{
	struct gus_reader *reader = gus_reader_open(path, NULL);
	static const struct gus_symbols_options options;
	struct gus_error err = { 0 };
	struct gus_profile profile;
	struct gus_routes r;
	double ipc;

	demand(reader && gus_profile_load(&profile, reader, &(struct gus_filter){ 0 }, &options, NULL, &err) == 0, path,
	       &err);
	demand(gus_routes_load(&r, reader, &profile, &err) == 0, path, &err);
	ipc = run_routes(&r, u, 2000000);
	printf("%s: %llu samples, %zu blocks, %zu routes; %.2f %% of instructions elsewhere than in the trace; IPC "
	       "%.3f, %+.2f %%\n",
	       r.source == GUS_ROUTES_STACKS ? "stacks" : "samples", (unsigned long long)r.samples, r.blocks.n,
		       r.routes.n,
	       100 * distance(t, &r), ipc, 100 * (ipc / truth - 1));
	for (unsigned i = 0; r.source == GUS_ROUTES_STACKS && i < GUS_RANGE_VERDICTS; i++)
		if (r.ranges[i])
			printf("  ranges %s: %llu\n", gus_range_verdict_name(i), (unsigned long long)r.ranges[i]);
	for (size_t i = 0; i < r.regions.n && i < 4; i++)
		printf("  %5.1f %% in %s\n", 100 * r.regions.v[i].share, r.regions.v[i].name);
	gus_routes_free(&r);
	gus_profile_free(&profile);
	gus_reader_close(reader);
}

int main(int argc, char **argv)
{
	char path[] = "/tmp/gusprof-routes-XXXXXX";
	struct gus_error err = { 0 };
	struct truth t = { 0 };
	struct gus_uarch *u;
	uint64_t period;
	double truth;

	demand(argc == 5, "usage: routes_of_trace TRACE PROGRAM UARCH PERIOD", NULL);
	period = strtoull(argv[4], NULL, 10);
	u = gus_uarch_parse(argv[3], NULL, 0, &gus_uarch_builtin, 0, &err);
	demand(u && period, argv[3], &err);
	demand(mkdtemp(path), path, NULL);
	demand(chdir(path) == 0, path, NULL);
	read_trace(&t, argv[1]);
	truth = run_trace(&t, u);
	printf("trace: %llu instructions, %zu addresses; IPC %.3f\n", (unsigned long long)t.instructions, t.executed.n,
	       truth);
	write_stacks(&t, "data", argv[2], period);
	judge(&t, "data", u, truth);
	unlink("data");
	write_samples(&t, "data", argv[2], period * 5);
	judge(&t, "data", u, truth);
	unlink("data");
	rmdir(path);
	gus_trace_close(t.trace);
	gus_index_free(&t.addresses);
	gus_vec_free(&t.steps);
	gus_vec_free(&t.count);
	gus_vec_free(&t.executed);
	gus_uarch_free(u);
	return 0;
}
