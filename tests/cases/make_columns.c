/* SPDX-License-Identifier: MIT */
/* `make-columns FILE [KIND]`: a recording with everything in it that a recording can have, most of which the machine
 * that runs this cannot record:
 *
 *   all     each column of samples, side band of every kind, switches (the default)
 *   plain   of these what perf.data has a place for
 *   tracepoint  plain, but its first event is one of those
 *   none    an event, and no samples
 *   nameless no event
 *   strange samples of an event that is not there, and none of the one that is
 *   long    names that are longer than a record of perf's
 *   deep    so many counters of one event, and so many callers, that no record has room for them */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "proto/sample.h"
#include "proto/writer.h"
#include "tests/unit/made_sideband.h"

#define START 5000000000ull
#define PROGRAM 0x400000ull
#define KERNEL 0xffffffff81000000ull
#define KERNEL_MARK ((uint64_t)-128)
#define USER_MARK ((uint64_t)-512)
enum { SAMPLES = 40, EVENTS = 4, REGS = 17, LONG = 70000 };

static char *text(const char *constant)
{
	return (char *)(uintptr_t)constant;
}

struct maker {
	struct gus_writer *w;
	struct gus_columns samples, switches;
	struct gus_extras extras;
	bool all, good;
};

/* What an event's samples have; each takes the sample's number, by which values differ. */

static void put_stack(struct maker *k, struct gus_sample *s, uint64_t i)
{
	static uint64_t regs[REGS], stack[16], chain[3];

	(void)k;
	for (size_t r = 0; r < REGS; r++)
		regs[r] = i << 8 | r;
	for (size_t r = 0; r < 16; r++)
		stack[r] = ~(i << 8 | r);
	chain[0] = KERNEL_MARK;
	chain[1] = KERNEL + 0x2000 + i;
	s->regs = regs;
	s->regs_n = REGS;
	s->stack = stack;
	s->stack_n = (uint32_t)(i % 17);
	if (i / EVENTS % 2) {
		s->mode = GUS_MODE_KERNEL;
		s->ip = KERNEL + 0x1000 + i;
		s->chain = chain;
		s->chain_n = 2;
	}
}

static void put_memory(struct maker *k, struct gus_sample *s, uint64_t i)
{
	s->told = GUS_TOLD_ADDRESS | GUS_TOLD_WEIGHT | GUS_TOLD_INSTRUCTION | GUS_TOLD_RETIRE;
	s->exact = true;
	s->address = 0x7ffe00000000 + i;
	s->physical = 0x100000000 + i;
	s->data_page = 4096;
	s->code_page = 2u << 20;
	s->data_source = 0x68100142 + i;
	s->weight = 10 + i;
	s->instruction_latency = (uint32_t)(20 + i);
	s->retire_latency = (uint32_t)(30 + i);
	s->transaction = 0x100000000 + i;
	s->cgroup = 1 + i;
	if (!k->all)
		return;
	s->told |= GUS_TOLD_ISSUE | GUS_TOLD_TRANSLATION;
	s->issue_latency = (uint32_t)(5 + i);
	s->translation_latency = (uint32_t)(6 + i);
	s->events = 1 + i;
}

static void put_branches(struct maker *k, struct gus_sample *s, uint64_t i)
{
	static struct gus_branch branches[3];
	static uint64_t chain[3];

	(void)k;
	for (uint64_t b = 0; b < 3; b++)
		branches[b] = (struct gus_branch){ PROGRAM + 0x100 * b + i, PROGRAM + 0x1000 * b + i,
			b ? GUS_BRANCH_PREDICTED : GUS_BRANCH_MISPREDICTED | 1 << GUS_BRANCH_TYPE_SHIFT,
			(uint32_t)(i * b) };
	chain[0] = USER_MARK;
	chain[1] = PROGRAM + 0x3000 + i;
	chain[2] = PROGRAM + 0x4000 + i;
	s->branches = branches;
	s->branches_n = 1 + (uint32_t)(i % 3);
	s->branch_index = 1 + i % 16;
	s->chain = chain;
	s->chain_n = 1 + (uint32_t)(i % 3);
}

static void put_extras(struct maker *k, struct gus_sample *s, uint64_t i)
{
	const uint64_t regs[] = { i, i + 1 };
	const uint8_t raw[12] = { (uint8_t)i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };

	k->extras.n = 0;
	gus_extras_add(&k->extras, GUS_EXTRA_RAW, 0, raw, sizeof(raw));
	gus_extras_add(&k->extras, GUS_EXTRA_REGS, 2, regs, sizeof(regs));
	s->extras = k->extras.v;
	s->extras_n = (uint32_t)k->extras.n;
}

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config, read_format, regs_intr, branch_type;
	void (*put)(struct maker *k, struct gus_sample *s, uint64_t i);
} events[EVENTS] = {
	{ "cpu-clock", 1, 0, 0, 0, 0, put_stack },
	{ "mem-loads", 4, 0x1cd, 0, 0, 0, put_memory },
	{ "branches:u", 0, 4, 0, 0, 1u << 17 | 1u << 3 | 1, put_branches },
	{ "cycles", 0, 0, 15, 6, 0, put_extras }, /* a group, with ids and times; two registers */
};

static void put_samples(struct maker *k, uint32_t n_events)
{
	for (uint64_t i = 0; i < SAMPLES; i++) {
		struct gus_sample s = { .ip = PROGRAM + 0x1000 + i, .time = START + 1000 * i, .period = 100 + i,
					.pid = 70,
					.tid = 70 + (uint32_t)(i % 2), .cpu = (uint32_t)(i % 3),
					.event = (uint32_t)(i % n_events), .mode = GUS_MODE_USER };

		events[s.event].put(k, &s, i);
		if (k->all && s.chain_n)
			s.callers = GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE;
		gus_columns_push(&k->samples, &s);
	}
}

static void put_switches(struct maker *k)
{
	for (uint32_t i = 0; i < 6; i++) {
		const struct gus_switch sw = { .time = START + 7000 * i + 3, .pid = 70, .tid = 71, .cpu = i % 3,
					       .out = i % 2, .preempt = i % 2 && i > 2 };

		gus_columns_push_switch(&k->switches, &sw);
	}
}

/* Side band. */

static void put_tasks(struct maker *k)
{
	Gusprof__Comm comm = GUSPROF__COMM__INIT;
	Gusprof__Task task = GUSPROF__TASK__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;

	r.kind_case = GUSPROF__RECORD__KIND_COMM;
	r.comm = &comm;
	comm = (Gusprof__Comm){ .base = comm.base, .pid = 70, .tid = 70, .time = START - 50, .name = text("worker"),
				.exec = true };
	k->good &= made_record(k->w, &r);
	task = (Gusprof__Task){ .base = task.base, .pid = 70, .ppid = 70, .tid = 71, .ptid = 70, .time = START - 20 };
	r.kind_case = GUSPROF__RECORD__KIND_FORK;
	r.fork = &task;
	k->good &= made_record(k->w, &r);
	task.time = START + 1000 * SAMPLES;
	r.kind_case = GUSPROF__RECORD__KIND_EXIT;
	k->good &= made_record(k->w, &r);
}

static void put_mappings(struct maker *k)
{
	const struct made_mapping made[] = {
		{ .time = START - 40, .pid = 70, .start = PROGRAM, .length = 0x10000, .path = "/nowhere/program",
		  .build_id = "ABCDEFGHIJKLMNOPQRST" },
		{ .time = START - 30, .pid = 70, .start = 0x7f0000000000, .length = 4096, .offset = 4096,
		  .path = "/nowhere/library", .inode = 77 },
	};

	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
		struct made_mmap r;

		made_mmap(&r, &made[i]);
		r.mmap.protection = 5;
		k->good &= made_record(k->w, &r.record);
	}
}

static void put_events(struct maker *k)
{
	Gusprof__Ksymbol symbol = GUSPROF__KSYMBOL__INIT;
	Gusprof__Lost lost = GUSPROF__LOST__INIT;
	Gusprof__Throttle throttle = GUSPROF__THROTTLE__INIT;
	Gusprof__Mark mark = GUSPROF__MARK__INIT;
	Gusprof__Jit jit = GUSPROF__JIT__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;

	r.kind_case = GUSPROF__RECORD__KIND_KSYMBOL;
	r.ksymbol = &symbol;
	symbol = (Gusprof__Ksymbol){ .base = symbol.base, .time = START + 11, .address = 0xffffffffc0000000,
				     .length = 64,
				     .type = 1, .name = text("bpf_prog_x") };
	k->good &= made_record(k->w, &r);
	r.kind_case = GUSPROF__RECORD__KIND_LOST;
	r.lost = &lost;
	lost = (Gusprof__Lost){ .base = lost.base, .time = START + 12, .cpu = 1, .event = 1, .count = 5 };
	k->good &= made_record(k->w, &r);
	r.kind_case = GUSPROF__RECORD__KIND_THROTTLE;
	r.throttle = &throttle;
	throttle = (Gusprof__Throttle){ .base = throttle.base, .time = START + 13, .cpu = 2, .event = 2, .stop = true };
	k->good &= made_record(k->w, &r);
	if (!k->all)
		return;
	r.kind_case = GUSPROF__RECORD__KIND_MARK;
	r.mark = &mark;
	mark = (Gusprof__Mark){ .base = mark.base, .pid = 70, .tid = 70, .time = START + 14, .kind = text("point"),
				.name = text("here") };
	k->good &= made_record(k->w, &r);
	r.kind_case = GUSPROF__RECORD__KIND_JIT;
	r.jit = &jit;
	jit = (Gusprof__Jit){ .base = jit.base, .pid = 70, .time = START + 15, .address = 0x7f1000000000, .size = 64,
			      .path = text("[jit:70]") };
	k->good &= made_record(k->w, &r);
}

static void put_kernel(struct maker *k)
{
	Gusprof__Symbol in = GUSPROF__SYMBOL__INIT, of_module = GUSPROF__SYMBOL__INIT, *list[] = { &in, &of_module };
	Gusprof__KernelSymbols symbols = GUSPROF__KERNEL_SYMBOLS__INIT;

	in = (Gusprof__Symbol){ .base = in.base, .address = KERNEL + 0x1000, .size = 0x100, .name = text("in_kernel"),
				.module = text("") };
	of_module = (Gusprof__Symbol){ .base = of_module.base, .address = 0xffffffffc1000010, .size = 0xff1,
				       .name = text("in_module"), .module = text("made") };
	symbols.symbols = list;
	symbols.n_symbols = 2;
	symbols.text_start = KERNEL;
	symbols.text_end = KERNEL + 0x100000;
	k->good &= gus_writer_message(k->w, GUS_FRAME_KERNEL_SYMBOLS, &symbols.base, NULL) == 0;
}

static void put_long_names(struct maker *k)
{
	char *name = gus_zalloc(LONG + 1);

	memset(name, 'n', LONG);
	k->good &= made_map(k->w, 70, START, PROGRAM, 4096, name);
	k->good &= made_map(k->w, 70, START, PROGRAM + 4096, 4096, "/short");
	free(name);
}

static void put_deep(struct maker *k)
{
	static uint64_t words[16000];
	struct gus_sample s = { .ip = PROGRAM, .time = START, .event = 3, .mode = GUS_MODE_USER };

	for (uint64_t i = 0; i < 4000; i++) {
		words[2 + 2 * i] = i;
		words[3 + 2 * i] = 3 | (i * 5) << 32;
	}
	gus_extras_add(&k->extras, GUS_EXTRA_COUNTS, 0, words, 8002 * sizeof(*words));
	s.extras = k->extras.v;
	s.extras_n = (uint32_t)k->extras.n;
	gus_columns_push(&k->samples, &s);
	for (uint64_t i = 0; i < 16000; i++)
		words[i] = PROGRAM + i;
	s = (struct gus_sample){ .ip = PROGRAM, .time = START + 1, .event = 1, .mode = GUS_MODE_USER, .chain = words,
				 .chain_n = 16000 };
	gus_columns_push(&k->samples, &s);
}

static struct gus_writer *create(const char *path, size_t n, bool tracepoint)
{
	Gusprof__Event made[EVENTS], *list[EVENTS];
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Host host = GUSPROF__HOST__INIT;
	Gusprof__Clock clock = GUSPROF__CLOCK__INIT;
	char *command[] = { text("./program"), text("an argument") };

	for (size_t i = 0; i < EVENTS; i++) {
		made[i] = (Gusprof__Event)GUSPROF__EVENT__INIT;
		list[i] = &made[i];
		made[i].name = text(events[i].name);
		made[i].type = events[i].type;
		made[i].config = events[i].config;
		made[i].period = 100 + i;
		made[i].read_format = events[i].read_format;
		made[i].regs_intr = events[i].regs_intr;
		made[i].branch_type = events[i].branch_type;
	}
	if (tracepoint) {
		made[0].name = text("made:point");
		made[0].type = 2;
		made[0].config = 47;
	}
	clock.name = text("monotonic");
	clock.start_ns = START;
	clock.start_realtime_ns = 1700000000000000000;
	host.hostname = text("made-host");
	host.machine = text("x86_64");
	host.kernel = text("6.0.0-made");
	host.cpus_online = 3;
	header.producer = text("make-columns");
	header.host = &host;
	header.clock = &clock;
	header.command = command;
	header.n_command = 2;
	header.events = list;
	header.n_events = n;
	header.stack_bytes = 128;
	header.call_graph = text("dwarf");
	return gus_writer_create(path, &header, NULL);
}

static void fill(struct maker *k, const char *kind)
{
	if (strcmp(kind, "none") == 0)
		return;
	if (strcmp(kind, "long") == 0) {
		put_long_names(k);
		return;
	}
	if (strcmp(kind, "deep") == 0) {
		put_deep(k);
		return;
	}
	put_samples(k, strcmp(kind, "strange") == 0 ? 2 : EVENTS);
	put_switches(k);
	put_tasks(k);
	put_mappings(k);
	put_events(k);
	put_kernel(k);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[2] : "all";
	bool one = strcmp(kind, "none") == 0 || strcmp(kind, "strange") == 0;
	size_t n = strcmp(kind, "nameless") == 0 ? 0 : one ? 1 : EVENTS;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	struct maker k = { .all = strcmp(kind, "all") == 0, .good = true };

	if (argc < 2 || !(k.w = create(argv[1], n, strcmp(kind, "tracepoint") == 0)))
		return 2;
	fill(&k, kind);
	k.good &= gus_writer_samples(k.w, &k.samples, NULL) == 0 && gus_writer_switches(k.w, &k.switches, NULL) == 0 &&
		gus_writer_finish(k.w, &footer, NULL) == 0;
	gus_columns_free(&k.samples);
	gus_columns_free(&k.switches);
	gus_vec_free(&k.extras);
	return k.good ? 0 : 1;
}
