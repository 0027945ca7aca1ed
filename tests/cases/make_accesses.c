/* SPDX-License-Identifier: MIT */
/* `make-accesses FILE [KIND]`: a recording with accesses to memory that are planted, so that it is known what each view
 * of them has to find. Words of data sources are put together with the macros of the kernel's header.
 *
 *   views    (the default) loads and stores of all kinds, some of which say less or nothing, in the library with lines
 *            of tests/data/screen; data in the heap, in a file that processes share, in this program's own variables
 *   sharing  four threads, two lines that they share by accident, one that they share in truth, one that is private
 *   none     samples of a clock, which tell of no access
 *   second   the same, and a second event that does
 *   empty    no samples
 *   hostile  addresses, sizes and latencies at the ends of what there is
 *   random N N loads of as many lines, of 300 latencies */
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/sample.h"
#include "proto/writer.h"
#include "symbolizer/elf/elffile.h"
#include "tests/unit/made_sideband.h"

#define START 1000000000ull
#define CODE 0x7f1200000000ull
#define HEAP 0x555500000000ull
#define TABLE 0x7f3000000000ull /* where process 500 has the shared file, */
#define MOVED 0x7f4000000000ull /* and 600 */
#define STACK 0x7ffd00000000ull

/* In pages of their own, whatever the linker does. */
long planted_counters[32] __attribute__((aligned(4096))) = { 1 };
long planted_table[512] __attribute__((aligned(4096))) = { 1 };

#define WORD(op, level, snoop, tlb, lock) ((uint64_t)PERF_MEM_S(OP, op) | PERF_MEM_S(LVL, HIT) | \
	PERF_MEM_S(LVL, level) | PERF_MEM_S(SNOOP, snoop) | PERF_MEM_S(TLB, HIT) | PERF_MEM_S(TLB, tlb) | \
	PERF_MEM_S(LOCK, lock))
#define LOAD_L1 WORD(LOAD, L1, NONE, L1, NA)
#define LOAD_L3 WORD(LOAD, L3, HIT, L2, NA)
#define LOAD_HITM WORD(LOAD, L3, HITM, L1, NA)
#define LOAD_RAM WORD(LOAD, LOC_RAM, MISS, L2, NA)
#define STORE_L1 WORD(STORE, L1, NONE, L1, NA)
#define LOCKED_L1 WORD(STORE, L1, NONE, L1, LOCKED)
#define NO_ACCESS ((uint64_t)PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA))

/* n samples that differ in their latencies alone, which go up by `step` from the first. */
struct planted {
	uint64_t ip, address, word;
	uint64_t latency, step;
	uint32_t tid, n, event;
	uint64_t page;
};

static char *text(const char *constant)
{
	return (char *)(uintptr_t)constant;
}

static uint64_t own(const void *variable)
{
	return (uint64_t)(uintptr_t)variable;
}

static void push(struct gus_columns *samples, const struct planted *p, uint64_t *time)
{
	for (uint32_t i = 0; i < p->n; i++)
		gus_columns_push(samples, &(struct gus_sample){
			.ip = p->ip, .time = ++*time, .period = 10, .pid = p->tid >= 600 ? 600 : 500, .tid = p->tid,
			.event = p->event, .mode = GUS_MODE_USER, .exact = true, .address = p->address,
			.data_source = p->word, .weight = p->latency ? p->latency + i * p->step : 0,
			.told = (p->address ? GUS_TOLD_ADDRESS : 0) | GUS_TOLD_WEIGHT, .data_page = p->page });
}

static void push_views(struct gus_columns *samples, uint64_t *time)
{
	const struct planted all[] = {
		/* Line 16 of the library: 101 loads of L1 with 4 .. 104 cycles, 9 of memory with 200 .. 360. */
		{ CODE + 0x2b4, HEAP + 0x1000, LOAD_L1, 4, 1, 501, 101, 0, 4096 },
		{ CODE + 0x2b4, HEAP + 0x3040, LOAD_RAM, 200, 20, 501, 9, 0, 4096 },
		/* Another place: the same line of caches as the first, the same page as the second, and a large one. */
		{ CODE + 0x322, HEAP + 0x1038, LOAD_L3, 40, 0, 502, 30, 0, 4096 },
		{ CODE + 0x322, HEAP + 0x3fff, LOAD_HITM, 90, 0, 502, 5, 0, 4096 },
		{ CODE + 0x322, HEAP + 0x200000 + 0x12345, LOAD_L3, 40, 0, 502, 4, 0, 2 << 20 },
		/* A shared file that two processes have at different addresses, and not the same line of it. */
		{ CODE + 0x32f, TABLE + 0x80, LOAD_L3, 50, 0, 501, 8, 0, 4096 },
		{ CODE + 0x32f, MOVED + 0x80, LOAD_L3, 50, 0, 600, 8, 0, 4096 },
		{ CODE + 0x32f, MOVED + 0xc0, LOCKED_L1, 0, 0, 600, 3, 0, 4096 },
		/* The same address in another process, which is another line. */
		{ CODE + 0x32f, HEAP + 0x1000, STORE_L1, 0, 0, 600, 7, 0, 4096 },
		{ CODE + 0x2cb, own(&planted_counters[9]), STORE_L1, 0, 0, 501, 6, 0, 0 },
		{ CODE + 0x2cb, own(&planted_table[100]), LOAD_L1, 5, 0, 501, 2, 0, 0 },
		{ CODE + 0x2cb, STACK + 0x40, LOAD_L1, 5, 0, 501, 2, 0, 4096 },
		/* What tells no source; no address; neither, though there was something left in the register. */
		{ CODE + 0x2fd, HEAP + 0x5000, 0, 0, 0, 501, 10, 0, 4096 },
		{ CODE + 0x2fd, 0, LOAD_L1, 7, 0, 501, 12, 0, 0 },
		{ CODE + 0x2fd, HEAP + 0x1000, NO_ACCESS, 0, 0, 501, 14, 0, 4096 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		push(samples, &all[i], time);
}

/* Lines at HEAP + 0x40 and 0x100 by accident: in the one each thread has eight bytes of its own, in the other three
 * read what does not change beside what the fourth writes. 0x200 in truth: all count up the same number. 0x300 is
 * private. 0x400 is changed by nobody who was seen, and 0x440 by somebody else at bytes that two read: not told. */
static void push_sharing(struct gus_columns *samples, uint64_t *time)
{
	for (uint32_t t = 0; t < 4; t++) {
		const struct planted all[] = {
			{ CODE + 0x2b4, HEAP + 0x40 + 8 * t, LOAD_HITM, 100 + t, 0, 501 + t, 10, 0, 0 },
			{ CODE + 0x322, HEAP + 0x40 + 8 * t, STORE_L1, 0, 0, 501 + t, 5, 1, 0 },
			{ CODE + 0x2b4, HEAP + 0x100, t ? LOAD_HITM : LOAD_L1, 80, 0, 501 + t, t ? 7 : 0, 0, 0 },
			{ CODE + 0x322, HEAP + 0x120, STORE_L1, 0, 0, 501, t ? 0 : 9, 1, 0 },
			{ CODE + 0x2bb, HEAP + 0x210, LOAD_HITM, 300, 0, 501 + t, 20, 0, 0 },
			{ CODE + 0x2bb, HEAP + 0x210, LOCKED_L1, 0, 0, 501 + t, 20, 1, 0 },
			{ CODE + 0x32f, HEAP + 0x300 + 8 * t, LOAD_L1, 4, 0, 501, 50, 0, 0 },
			{ CODE + 0x32f, HEAP + 0x300 + 8 * t, STORE_L1, 0, 0, 501, 50, 1, 0 },
			{ CODE + 0x2cb, HEAP + 0x400, LOAD_HITM, 60, 0, 501, t ? 0 : 3, 0, 0 },
			{ CODE + 0x2cb, HEAP + 0x440, LOAD_HITM, 60, 0, 501 + t, t < 2 ? 2 : 0, 0, 0 },
		};

		for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
			push(samples, &all[i], time);
	}
}

static void push_clock(struct gus_columns *samples, uint64_t *time)
{
	push(samples, &(struct planted){ .ip = CODE + 0x2b4, .tid = 501, .n = 10 }, time);
}

static void push_second(struct gus_columns *samples, uint64_t *time)
{
	push_clock(samples, time);
	push(samples, &(struct planted){ CODE + 0x2b4, HEAP, LOAD_L1, 4, 0, 501, 3, 1, 0 }, time);
}

static void push_hostile(struct gus_columns *samples, uint64_t *time)
{
	const uint64_t ends = UINT64_MAX;
	const struct planted all[] = {
		{ CODE, ends, LOAD_L1, ends, 0, 501, 2, 0, ends }, { CODE, 1, LOAD_L1, 1, 0, 501, 1, 0, 3 },
		{ CODE, ends - 63, LOAD_L1, ends - 1, 0, 501, 1, 0, 1 },
		{ CODE, HEAP, ends, 1, 0, 501, 1, 0, 1ull << 63 }, { CODE, HEAP, 1, 1, 0, 501, 1, 0, 0 },
		{ CODE, 1ull << 63, LOAD_L1, 2, 0, 600, 1, 0, 1 << 30 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		push(samples, &all[i], time);
}

static bool write_random(struct gus_writer *w, struct gus_columns *samples, unsigned long n, uint64_t *time)
{
	uint64_t state = 1;

	for (unsigned long i = 0; i < n; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		push(samples, &(struct planted){ CODE + 0x2b4, HEAP + (state >> 40) * 64, LOAD_RAM,
			200 + (state >> 20) % 300, 0, 501, 1, 0, 4096 }, time);
		if (samples->n == 60000) {
			if (gus_writer_samples(w, samples, NULL) != 0)
				return false;
			gus_columns_clear(samples);
		}
	}
	return true;
}

static bool write_map(struct gus_writer *w, uint32_t pid, uint64_t start, uint64_t length, uint64_t offset,
		      const char *path, bool shared, const struct gus_elf *file)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Mmap map = GUSPROF__MMAP__INIT;

	map.pid = map.tid = pid;
	map.time = START;
	map.start = start;
	map.length = length;
	map.offset = offset;
	map.path = text(path);
	map.flags = shared ? 1 : 2;
	if (file) {
		map.build_id.data = (uint8_t *)(uintptr_t)file->build_id;
		map.build_id.len = file->build_id_size;
	}
	record.kind_case = GUSPROF__RECORD__KIND_MMAP;
	record.mmap = &map;
	return made_record(w, &record);
}

/* The mappings of this program's own file, as the kernel lists them. */
static bool write_own(struct gus_writer *w)
{
	unsigned long long from, to, offset;
	char line[4096], path[4096], exe[4096];
	FILE *maps = fopen("/proc/self/maps", "r");
	struct gus_elf *file = realpath("/proc/self/exe", exe) ? gus_elf_open(exe, NULL) : NULL;
	bool good = maps && file && file->build_id;

	while (good && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %4095[^\n]", &from, &to, &offset, path) == 4 &&
		    strcmp(path, exe) == 0)
			good = write_map(w, 500, from, to - from, offset, path, false, file);
	gus_elf_close(file);
	if (maps)
		fclose(maps);
	return good;
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
	return made_record(w, &record);
}

static bool write_sideband(struct gus_writer *w)
{
	return write_own(w) && write_map(w, 500, CODE, 0x1000, 0, "/opt/shape/libshape.so", false, NULL) &&
	       write_map(w, 600, CODE, 0x1000, 0, "/opt/shape/libshape.so", false, NULL) &&
	       write_map(w, 500, HEAP, 1ull << 31, 0, "[heap]", false, NULL) &&
	       write_map(w, 600, HEAP, 1ull << 31, 0, "[heap]", false, NULL) &&
	       write_map(w, 500, STACK, 0x1000, 0, "[stack]", false, NULL) &&
	       write_map(w, 500, TABLE, 0x1000, 0x2000, "/var/lib/shape/table.bin", true, NULL) &&
	       write_map(w, 600, MOVED, 0x1000, 0x2000, "/var/lib/shape/table.bin", true, NULL) &&
	       write_comm(w, 500, 500, "shape") && write_comm(w, 500, 501, "worker/1") &&
	       write_comm(w, 500, 502, "worker/2") && write_comm(w, 500, 503, "worker/3") &&
	       write_comm(w, 500, 504, "worker/4") && write_comm(w, 600, 600, "other");
}

static bool write_samples(struct gus_writer *w, const char *kind, unsigned long n)
{
	static const struct { const char *name; void (*push)(struct gus_columns *samples, uint64_t *time); } kinds[] = {
		{ "views", push_views }, { "sharing", push_sharing }, { "none", push_clock },
		{ "second", push_second }, { "hostile", push_hostile }, /* empty, random */
	};
	struct gus_columns samples = { 0 };
	uint64_t time = START;
	bool good = true;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].name, kind) == 0)
			kinds[i].push(&samples, &time);
	if (strcmp(kind, "random") == 0)
		good = write_random(w, &samples, n, &time);
	good = good && gus_writer_samples(w, &samples, NULL) == 0;
	gus_columns_free(&samples);
	return good;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[2] : "views";
	const bool clock_only = strcmp(kind, "none") == 0 || strcmp(kind, "second") == 0;
	Gusprof__Event loads = GUSPROF__EVENT__INIT, stores = GUSPROF__EVENT__INIT, *events[] = { &loads, &stores };
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__Clock clock = GUSPROF__CLOCK__INIT;
	Gusprof__Host host = GUSPROF__HOST__INIT;
	char *command[] = { text("./shape") };
	struct gus_writer *w;
	bool good;

	loads.name = loads.asked = text(clock_only ? "cycles" : "cpu/mem-loads,ldlat=30/P");
	stores.name = stores.asked = text("cpu/mem-stores/P");
	loads.unit = stores.unit = text("events");
	clock.name = text("monotonic");
	clock.start_ns = START;
	clock.start_realtime_ns = 1767225600000000000ull;
	host.hostname = text("example");
	host.cpu_model = text("A CPU of Some Maker at 3 GHz");
	host.page_size = 4096;
	header.producer = text("make-accesses");
	header.tier = text("A");
	header.choice = text("loads that took 30 cycles or more, and stores");
	header.host = &host;
	header.clock = &clock;
	header.events = events;
	header.n_events = strcmp(kind, "none") == 0 ? 1 : 2;
	header.command = command;
	header.n_command = 1;
	w = argc > 1 ? gus_writer_create(argv[1], &header, NULL) : NULL;
	if (!w)
		return 1;
	good = write_sideband(w) && write_samples(w, kind, argc > 3 ? strtoul(argv[3], NULL, 10) : 0);
	footer.end_ns = START + 2000000000;
	return !(gus_writer_finish(w, &footer, NULL) == 0 && good);
}
