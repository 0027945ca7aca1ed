/* SPDX-License-Identifier: MIT */
/* `make-screen FILE [process|cut|many|deep]`: a recording that is the same each time and wherever it is made, for the
 * screens in tests/data/screen: two threads of a process in a library with long names (tests/data/screen/opt), the
 * kernel, a process beside it, and code that nobody has. "process": it was attached to; "cut": it has no end; "many":
 * there are 4,000 more samples, each somewhere else; "deep": there are more that were called by more, in recursion, in
 * the kernel, and with callers that are missing. */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "proto/writer.h"

#define START 1000000000ull
#define BASE 0x7f1200000000ull
#define KERNEL 0xffffffff81000000ull
#define USER_MARK ((uint64_t)-512)
#define KERNEL_MARK ((uint64_t)-128)

static char *text(const char *constant)
{
	return (char *)(uintptr_t)constant;
}

/* Places, how many samples each has, and in which task. */
static const struct spot { uint64_t ip, caller; uint32_t pid, tid; unsigned n; uint8_t mode; } spots[] = {
	{ BASE + 0x2b4, BASE + 0x2fd, 1234, 1234, 411, GUS_MODE_USER },
	{ BASE + 0x2bb, BASE + 0x2fd, 1234, 1235, 130, GUS_MODE_USER },
	{ BASE + 0x2cb, BASE + 0x2fd, 1234, 1235, 3, GUS_MODE_USER },
	{ BASE + 0x322, BASE + 0x2ef, 1234, 1234, 260, GUS_MODE_USER },
	{ BASE + 0x32f, BASE + 0x2ef, 1234, 1235, 88, GUS_MODE_USER },
	{ BASE + 0x2fd, 0, 1234, 1234, 2, GUS_MODE_USER },
	{ KERNEL + 0x110, 0, 1234, 1234, 40, GUS_MODE_KERNEL },
	{ KERNEL + 0x210, 0, 2000, 2000, 9, GUS_MODE_KERNEL },
	{ 0x666000, 0, 2000, 2000, 60, GUS_MODE_USER },
};

static bool write_record(struct gus_writer *w, Gusprof__Record *record)
{
	Gusprof__Sideband sideband = GUSPROF__SIDEBAND__INIT;

	sideband.n_records = 1;
	sideband.records = &record;
	return gus_writer_sideband(w, &sideband, NULL) == 0;
}

static bool write_map(struct gus_writer *w)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Mmap map = GUSPROF__MMAP__INIT;

	map.pid = map.tid = 1234;
	map.time = START;
	map.start = BASE;
	map.length = 0x1000;
	map.path = text("/opt/shape/libshape.so");
	record.kind_case = GUSPROF__RECORD__KIND_MMAP;
	record.mmap = &map;
	return write_record(w, &record);
}

static bool write_comm(struct gus_writer *w, uint32_t pid, uint32_t tid, const char *name)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Comm comm = GUSPROF__COMM__INIT;

	comm.pid = pid;
	comm.tid = tid;
	comm.time = START;
	comm.name = text(name);
	record.kind_case = GUSPROF__RECORD__KIND_COMM;
	record.comm = &comm;
	return write_record(w, &record);
}

static bool write_kernel(struct gus_writer *w)
{
	Gusprof__KernelSymbols symbols = GUSPROF__KERNEL_SYMBOLS__INIT;
	Gusprof__Symbol one = GUSPROF__SYMBOL__INIT, other = GUSPROF__SYMBOL__INIT, *list[] = { &one, &other };

	one.address = KERNEL + 0x100;
	other.address = KERNEL + 0x200;
	one.size = other.size = 0x100;
	one.name = text("clear_page_erms");
	other.name = text("__tcp_transmit_skb");
	symbols.n_symbols = 2;
	symbols.symbols = list;
	return gus_writer_message(w, GUS_FRAME_KERNEL_SYMBOLS, &symbols.base, NULL) == 0;
}

#define MANY 4000

static const struct deep {
	uint64_t ip, chain[8];
	unsigned n, samples;
	uint8_t mode;
	uint64_t callers;
} deeps[] = {
	{ BASE + 0x322, { USER_MARK, BASE + 0x2cb, BASE + 0x2fd, BASE + 0x2fd, BASE + 0x2ef, BASE + 0x2fd }, 6, 300,
	  GUS_MODE_USER, GUS_CALLERS_WHOLE },
	{ BASE + 0x2b4, { USER_MARK, BASE + 0x2fd, BASE + 0x2fd, BASE + 0x2fd }, 4, 100, GUS_MODE_USER,
	  GUS_CALLERS_WHOLE },
	{ KERNEL + 0x110, { KERNEL_MARK, KERNEL + 0x210, USER_MARK, BASE + 0x2b4, BASE + 0x2fd }, 5, 60,
	  GUS_MODE_KERNEL, GUS_CALLERS_UNTOLD },
	{ BASE + 0x322, { USER_MARK, BASE + 0x2fd, 0x666010 }, 3, 30, GUS_MODE_USER, GUS_CALLERS_STACK },
	{ BASE + 0x32f, { USER_MARK, BASE + 0x2fd, BASE + 0x2fd, BASE + 0x2fd }, 4, 4, GUS_MODE_USER,
	  GUS_CALLERS_WHOLE },
};

static void push_deep(struct gus_columns *samples, uint64_t time, uint64_t *weight)
{
	for (size_t i = 0; i < sizeof(deeps) / sizeof(*deeps); i++)
		for (unsigned k = 0; k < deeps[i].samples; k++) {
			const struct deep *d = &deeps[i];

			*weight += 2000000;
			gus_columns_push(samples, &(struct gus_sample){ .ip = d->ip, .time = time + k,
				.period = 2000000, .pid = 1234, .tid = 1234, .mode = d->mode, .chain = d->chain,
				.chain_n = d->n, .callers = d->callers });
		}
}

static bool write_samples(struct gus_writer *w, bool many, bool deep, uint64_t *weight)
{
	struct gus_columns samples = { 0 };
	uint64_t chain[2] = { USER_MARK, 0 }, time = START;
	bool good;

	for (size_t i = 0; i < sizeof(spots) / sizeof(*spots); i++)
		for (unsigned k = 0; k < spots[i].n; k++) {
			const struct spot *s = &spots[i];

			chain[1] = s->caller;
			time += 2000000;
			*weight += 1999993 + k % 16;
			gus_columns_push(&samples, &(struct gus_sample){ .ip = s->ip, .time = time,
				.period = 1999993 + k % 16, .pid = s->pid, .tid = s->tid, .mode = s->mode,
				.chain = chain, .chain_n = s->caller ? 2 : 0 });
		}
	for (unsigned i = 0; many && i < MANY; i++)
		gus_columns_push(&samples, &(struct gus_sample){ .ip = KERNEL + 0x10000 + 16 * i, .time = time + i,
			.period = 1, .pid = 1234, .tid = 1234, .mode = GUS_MODE_KERNEL });
	if (deep)
		push_deep(&samples, time, weight);
	good = gus_writer_samples(w, &samples, NULL) == 0;
	gus_columns_free(&samples);
	return good;
}

static void fill_header(Gusprof__Header *h, Gusprof__Event *e, Gusprof__Host *host, Gusprof__Clock *clock)
{
	static char words[][40] = { "./shape", "--table=/var/lib/shape/large.table", "--seconds", "2" };
	static char *command[] = { words[0], words[1], words[2], words[3] };

	e->name = e->asked = text("cpu-clock");
	e->unit = text("ns");
	e->period = 2000000;
	e->cost_ns = 11000;
	host->hostname = text("example");
	host->machine = text("x86_64");
	host->kernel = text("6.12.9");
	host->cpu_model = text("A CPU of Some Maker at 3 GHz");
	host->cpus_online = 4;
	clock->name = text("monotonic");
	clock->start_ns = START;
	clock->start_realtime_ns = 1767225600000000000ull;
	h->producer = text("make-screen");
	h->host = host;
	h->clock = clock;
	h->tier = text("C");
	h->choice = text("cpu-clock: a timer shows where time is spent; an address may be some instructions behind the "
			 "one that took the time, and no hardware event says why");
	h->overhead_ppm = 10000;
	h->call_graph = text("fp");
	h->command = command;
	h->n_command = sizeof(command) / sizeof(*command);
}

static void fill_footer(Gusprof__Footer *f, Gusprof__EventTotal *total, Gusprof__Overhead *o, uint64_t weight)
{
	static Gusprof__EventTotal *totals[1];

	for (size_t i = 0; i < sizeof(spots) / sizeof(*spots); i++)
		total->samples += spots[i].n;
	total->count = total->running_ns = total->enabled_ns = weight;
	totals[0] = total;
	o->got_ppm = 9900;
	o->samples_ppm = 8800;
	o->following_ppm = 100;
	o->recorder_ppm = 1000;
	o->target_ns = weight;
	o->hz_first = o->hz_last = 500;
	o->around_ns = 67000000;
	f->events = totals;
	f->n_events = 1;
	f->overhead = o;
	f->end_ns = START + 2100000000;
}

int main(int argc, char **argv)
{
	bool attached = argc > 2 && strcmp(argv[2], "process") == 0, cut = argc > 2 && strcmp(argv[2], "cut") == 0;
	bool many = argc > 2 && strcmp(argv[2], "many") == 0, deep = argc > 2 && strcmp(argv[2], "deep") == 0;
	Gusprof__Overhead overhead = GUSPROF__OVERHEAD__INIT;
	Gusprof__EventTotal total = GUSPROF__EVENT_TOTAL__INIT;
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__Event event = GUSPROF__EVENT__INIT, *events[] = { &event };
	Gusprof__Clock clock = GUSPROF__CLOCK__INIT;
	Gusprof__Host host = GUSPROF__HOST__INIT;
	uint32_t targets[] = { 1234 };
	char *duration[] = { text("sleep"), text("2") };
	uint64_t weight = 0;
	struct gus_writer *w;
	bool good;

	fill_header(&header, &event, &host, &clock);
	header.events = events;
	header.n_events = 1;
	if (attached) {
		header.target = text("process");
		header.targets = targets;
		header.n_targets = 1;
		header.command = duration;
		header.n_command = 2;
	}
	w = argc > 1 ? gus_writer_create(argv[1], &header, NULL) : NULL;
	if (!w)
		return 1;
	good = write_map(w) && write_comm(w, 1234, 1234, "shape") && write_comm(w, 1234, 1235, "worker/1") &&
	       write_comm(w, 2000, 2000, "漢字-server") && write_kernel(w) && write_samples(w, many, deep, &weight);
	if (cut)
		_exit(!good);
	total.samples = many ? MANY : 0;
	for (size_t i = 0; deep && i < sizeof(deeps) / sizeof(*deeps); i++)
		total.samples += deeps[i].samples;
	fill_footer(&footer, &total, &overhead, weight);
	return !(gus_writer_finish(w, &footer, NULL) == 0 && good);
}
