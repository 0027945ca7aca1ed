/* SPDX-License-Identifier: MIT */
/* cli/script: samples as the lines that other programs read, and as stacks. The recording is made up, with the names
 * that it brings along; each line is compared as it is printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/script/fields.h"
#include "cli/script/samples.h"
#include "proto/psv.h"
#include "proto/sample.h"
#include "symbolizer/space/space.h"
#include "symbolizer/symbols/symbols.h"

/* /nowhere/app at 0x400000, from 0x1000 of the file on:
 *   0x1000 main: 0x1040 has "tiny" inlined in it
 *   0x1100 a;b
 *   0x1200 nothing is known */
#define MAIN 0x400010u
#define INLINED 0x400040u
#define SEMICOLON 0x400104u
#define UNKNOWN 0x400208u
#define NOWHERE 0x900000u

struct made {
	struct gus_profile profile;
	Gusprof__Header header;
	Gusprof__Clock clock;
	Gusprof__Event event[2], *events[2];
};

static void add_map(struct gus_space *space)
{
	Gusprof__Record r = GUSPROF__RECORD__INIT;
	Gusprof__Mmap map = GUSPROF__MMAP__INIT;

	map.pid = map.tid = 10;
	map.start = 0x400000;
	map.length = 0x1000;
	map.offset = 0x1000;
	map.inode = 5;
	map.path = (char *)"/nowhere/app";
	r.kind_case = GUSPROF__RECORD__KIND_MMAP;
	r.mmap = &map;
	gus_space_add(space, &r);
}

static void add_names(struct gus_symbols *symbols)
{
	char *texts[] = { (char *)"main", (char *)"a;b", (char *)"tiny", (char *)"/src/app.c" };
	uint32_t functions[] = { 3, 1 }, files[] = { 4, 4 }, numbers[] = { 7, 21 };
	Gusprof__EmbeddedFunction f[2] = { GUSPROF__EMBEDDED_FUNCTION__INIT, GUSPROF__EMBEDDED_FUNCTION__INIT };
	Gusprof__EmbeddedFunction *fs[2] = { &f[0], &f[1] };
	Gusprof__EmbeddedChain chain = GUSPROF__EMBEDDED_CHAIN__INIT, *cs[] = { &chain };
	Gusprof__EmbeddedLines lines = GUSPROF__EMBEDDED_LINES__INIT, *ls[] = { &lines };
	Gusprof__Embedded m = GUSPROF__EMBEDDED__INIT;

	for (uint32_t i = 0; i < 2; i++) {
		f[i].offset = f[i].address = 0x1000 + 0x100 * i;
		f[i].size = 0x100;
		f[i].name = i + 1;
	}
	chain.functions = functions;
	chain.files = files;
	chain.lines = numbers;
	chain.n_functions = chain.n_files = chain.n_lines = 2;
	lines.offset = 0x1040;
	lines.size = 8;
	m.path = (char *)"/nowhere/app";
	m.inode = 5;
	m.texts = texts;
	m.n_texts = 4;
	m.functions = fs;
	m.n_functions = 2;
	m.chains = cs;
	m.lines = ls;
	m.n_chains = m.n_lines = 1;
	assert_true(gus_symbols_add_embedded(symbols, &m));
}

static int setup(void **state)
{
	static const Gusprof__Header header = GUSPROF__HEADER__INIT;
	static const Gusprof__Clock clock = GUSPROF__CLOCK__INIT;
	static const Gusprof__Event event = GUSPROF__EVENT__INIT;
	static const char *const nowhere[] = { NULL };
	struct made *m = gus_zalloc(sizeof(*m));

	m->header = header;
	m->clock = clock;
	m->clock.start_ns = 7000000123;
	m->event[0] = m->event[1] = event;
	m->event[0].name = (char *)"cycles";
	m->event[1].name = (char *)"cpu-clock";
	m->events[0] = &m->event[0];
	m->events[1] = &m->event[1];
	m->header.clock = &m->clock;
	m->header.n_events = 2;
	m->header.events = m->events;
	m->profile.header = &m->header;
	m->profile.space = gus_space_new();
	add_map(m->profile.space);
	gus_space_ready(m->profile.space);
	m->profile.symbols = gus_symbols_new(&(struct gus_symbols_options){ .debug_dirs = nowhere }, NULL);
	add_names(m->profile.symbols);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	gus_symbols_free(m->profile.symbols);
	gus_space_free(m->profile.space);
	free(m);
	return 0;
}

/* A sample of thread 11 with what called it: addresses behind calls. */
struct seen {
	struct gus_sample sample;
	const char *comm;
	uint64_t callers[4];
	size_t callers_n;
};

static struct seen at(uint64_t ip)
{
	return (struct seen){ .sample = { .ip = ip, .time = 12000456789, .period = 250000, .pid = 10, .tid = 11,
					  .cpu = 3, .mode = GUS_MODE_USER }, .comm = "worker" };
}

/* What is printed of them, to be freed. */
static char *print(struct made *m, struct gus_script *s, void (*take)(void *, const struct gus_sighting *),
		   const struct seen *seen, size_t n)
{
	int before = dup(1), file = memfd_create("stdout", 0);
	char *text = gus_zalloc(4096);

	assert_true(before >= 0 && file >= 0);
	fflush(stdout);
	dup2(file, 1);
	gus_script_begin(s, &m->profile);
	for (size_t i = 0; i < n; i++) {
		struct gus_space *space = m->profile.space;
		const struct gus_sample *one = &seen[i].sample;
		struct gus_caller callers[4];
		struct gus_sighting g = { .sample = one, .comm = seen[i].comm, .callers = callers,
					  .callers_n = seen[i].callers_n,
					  .place = gus_space_find(space, one->pid, one->time, one->ip, one->mode) };

		for (size_t k = 0; k < seen[i].callers_n; k++)
			callers[k] = (struct gus_caller){ .ip = seen[i].callers[k], .returns = true,
				.place = gus_space_find(space, one->pid, one->time, seen[i].callers[k] - 1,
							GUS_MODE_USER) };
		take(s, &g);
	}
	gus_script_end(s);
	gus_script_free(s);
	fflush(stdout);
	dup2(before, 1);
	close(before);
	assert_true(pread(file, text, 4095, 0) >= 0);
	close(file);
	return text;
}

static void expect(struct made *m, struct gus_script s, void (*take)(void *, const struct gus_sighting *),
		   const struct seen *seen, size_t n, const char *expected)
{
	char *text = print(m, &s, take, seen, n);

	assert_string_equal(text, expected);
	free(text);
}

static void expect_line(struct made *m, unsigned fields, struct seen seen, const char *expected)
{
	expect(m, (struct gus_script){ .fields = fields }, gus_script_line, &seen, 1, expected);
}

static void a_line_is_perfs(void **state)
{
	struct seen s = at(MAIN);

	expect_line(*state, GUS_FIELDS_DEFAULT, s, "          worker    11 [003]    12.000456:     250000    cycles: "
		    "           400010 main+0x10 (/nowhere/app)\n");
	s.sample.event = 1;
	s.sample.cpu = 1234;
	s.sample.period = 12345678901;
	s.sample.time = 123456999999999;
	s.comm = "a-name-of-16-let";
	expect_line(*state, GUS_FIELDS_DEFAULT, s,
		    "a-name-of-16-let    11 [1234] 123456.999999: 12345678901 cpu-clock: "
		    "           400010 main+0x10 (/nowhere/app)\n");
	s.sample.event = 2; /* which there is not */
	expect_line(*state, GUS_FIELD_EVENT, s, "[unknown]: \n");
}

static void each_field_has_its_place(void **state)
{
	static const struct { unsigned fields; const char *line; } of[] = {
		{ GUS_FIELD_COMM, "          worker \n" },
		{ GUS_FIELD_TID, "   11 \n" },
		{ GUS_FIELD_PID, "   10 \n" },
		{ GUS_FIELD_PID | GUS_FIELD_TID, "   10/11    \n" },
		{ GUS_FIELD_CPU, "[003] \n" },
		{ GUS_FIELD_TIME, "   12.000456: \n" },
		{ GUS_FIELD_PERIOD, "    250000 \n" },
		{ GUS_FIELD_IP, "           400040\n" },
		{ GUS_FIELD_SYM, " main\n" },
		{ GUS_FIELD_SYM | GUS_FIELD_SYMOFF, " main+0x40\n" },
		{ GUS_FIELD_DSO, " (/nowhere/app)\n" },
		{ GUS_FIELD_SYM | GUS_FIELD_SRCLINE, " main\n  app.c:7\n" },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
		expect_line(*state, of[i].fields, at(INLINED), of[i].line);
	expect_line(*state, GUS_FIELD_SYM | GUS_FIELD_SYMOFF | GUS_FIELD_DSO, at(UNKNOWN),
		    " [unknown] (/nowhere/app)\n");
	expect_line(*state, GUS_FIELD_SYM | GUS_FIELD_DSO, at(NOWHERE), " [unknown] ([unknown])\n");
}

/* Who has no name is called by its number; a name of others moves no cursor. */
static void names_of_threads(void **state)
{
	struct seen s[4] = { at(MAIN), at(MAIN), at(MAIN), at(MAIN) };

	s[1].comm = "";
	s[2].comm = "";
	s[2].sample.tid = 12;
	s[3].comm = "a\033b";
	expect(*state, (struct gus_script){ .fields = GUS_FIELD_COMM }, gus_script_line, s, 4,
	       "          worker \n             :11 \n             :12 \n             a?b \n");
}

/* Numbers of records stand in for times where samples have none, and are not shown as if they were some. */
static void numbers_of_records_are_no_times(void **state)
{
	struct gus_script s = { .fields = GUS_FIELD_CPU | GUS_FIELD_TIME | GUS_FIELD_PERIOD };
	struct made *m = *state;
	struct seen one = at(MAIN);

	m->clock.name = (char *)"records";
	expect(m, s, gus_script_line, &one, 1, "[003]     250000 \n");
	s.relative = s.nanoseconds = true;
	expect(m, s, gus_script_line, &one, 1, "[003]     250000 \n");
	m->clock.name = (char *)"record";
	expect(m, s, gus_script_line, &one, 1, "[003]     5.000456666:     250000 \n");
	m->header.clock = NULL; /* nothing is known of it: times are what they are */
	expect(m, s, gus_script_line, &one, 1, "[003]    12.000456789:     250000 \n");
}

static void times_are_as_asked(void **state)
{
	struct gus_script s = { .fields = GUS_FIELD_TIME, .nanoseconds = true };
	struct seen one = at(MAIN);

	expect(*state, s, gus_script_line, &one, 1, "   12.000456789: \n");
	s.relative = true;
	expect(*state, s, gus_script_line, &one, 1, "    5.000456666: \n");
	one.sample.time = 7000000122; /* the clocks of two CPUs */
	expect(*state, s, gus_script_line, &one, 1, "    0.000000000: \n");
}

static void chains_are_perfs(void **state)
{
	struct gus_script s = { .fields = GUS_FIELDS_DEFAULT & ~(unsigned)(GUS_FIELD_CPU | GUS_FIELD_TIME),
				.chains = true };
	struct seen one = at(SEMICOLON);

	one.callers[0] = INLINED + 4;
	one.callers[1] = UNKNOWN;
	one.callers_n = 2;
	expect(*state, s, gus_script_line, &one, 1, "worker    11     250000    cycles: \n"
	       "\t            1104 a;b+0x4 (/nowhere/app)\n"
	       "\t            1044 main+0x44 (/nowhere/app)\n"
	       "\t            1208 [unknown] (/nowhere/app)\n\n");
	s.inlines = true;
	s.max_stack = 2;
	s.fields |= GUS_FIELD_SRCLINE;
	expect(*state, s, gus_script_line, &one, 1, "worker    11     250000    cycles: \n"
	       "\t            1104 a;b+0x4 (/nowhere/app)\n"
	       "\t            1044 tiny (inlined)\n  app.c:7\n"
	       "\t            1044 main+0x44 (/nowhere/app)\n  app.c:21\n\n");
	expect(*state, (struct gus_script){ .fields = GUS_FIELD_SYM, .chains = true }, gus_script_line, &one, 1,
	       "\n\t a;b\n\t main\n\t [unknown]\n\n");
	one = at(INLINED); /* whose line is known, and not asked for */
	expect(*state, (struct gus_script){ .fields = GUS_FIELD_SYM, .chains = true, .inlines = true }, gus_script_line,
	       &one, 1, "\n\t tiny (inlined)\n\t main\n\n");
}

/* One more frame than there may be is one cut. */
static void long_chains_are_counted(void **state)
{
	static const struct { uint64_t most, cut; size_t lines; } of[] = { { 0, 0, 5 }, { 1, 1, 3 }, { 2, 1, 4 },
									   { 3, 0, 5 }, { 4, 0, 5 } };
	struct seen one = at(MAIN);

	one.callers[0] = one.callers[1] = MAIN + 1;
	one.callers_n = 2;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		struct gus_script s = { .fields = GUS_FIELD_COMM | GUS_FIELD_IP, .chains = true,
					.max_stack = of[i].most };
		char *text = print(*state, &s, gus_script_line, &one, 1);
		size_t lines = 0;

		for (const char *c = text; *c; c++)
			lines += *c == '\n';
		assert_int_equal(lines, of[i].lines);
		assert_int_equal(s.cut, of[i].cut);
		free(text);
	}
}

/* Which half of the addresses it is in says whose a branch's end is, whatever the sample is of. */
static void branches_into_the_kernel(void **state)
{
	static const struct gus_branch b[] = {
		{ 0xffffffff81000010, MAIN, 0, 0 }, { 0x8000000000000000, 0x7fffffffffffffff, 0, 0 },
	};
	struct seen s = at(MAIN);

	s.sample.branches = b;
	s.sample.branches_n = 2;
	expect_line(*state, GUS_FIELD_BRSTACKOFF, s,
		    " 0xffffffff81000010([kernel.kallsyms])/0x1010(/nowhere/app)/-/-/-/0"
		    "  0x8000000000000000([kernel.kallsyms])/0x7fffffffffffffff([unknown])/-/-/-/0\n");
}

/* What was never begun can be ended. */
static void nothing_was_begun(void **state)
{
	struct gus_script s = { .fields = GUS_FIELDS_DEFAULT };

	(void)state;
	gus_script_free(&s);
}

static void branches_are_perfs(void **state)
{
	static const struct gus_branch b[] = {
		{ MAIN, SEMICOLON, GUS_BRANCH_MISPREDICTED, 5 },
		{ UNKNOWN, NOWHERE, GUS_BRANCH_PREDICTED | GUS_BRANCH_IN_TX, 0 },
		{ MAIN, MAIN + 1, GUS_BRANCH_ABORT, 65535 },
	};
	struct seen s = at(MAIN);

	s.sample.branches = b;
	s.sample.branches_n = 3;
	expect_line(*state, GUS_FIELD_BRSTACK, s, " 0x400010/0x400104/M/-/-/5  0x400208/0x900000/P/X/-/0  "
		    "0x400010/0x400011/-/-/A/65535\n");
	expect_line(*state, GUS_FIELD_BRSTACKSYM, s, " main+0x10/a;b+0x4/M/-/-/5  [unknown]/[unknown]/P/X/-/0  "
		    "main+0x10/main+0x11/-/-/A/65535\n");
	expect_line(*state, GUS_FIELD_SYM, s, " main\n");
}

/* Where in its file an end is, with the file's name. */
static void branches_by_module(void **state)
{
	static const struct gus_branch b = { MAIN, NOWHERE, GUS_BRANCH_MISPREDICTED, 5 };
	struct seen s = at(MAIN);

	s.sample.branches = &b;
	s.sample.branches_n = 1;
	expect_line(*state, GUS_FIELD_BRSTACKOFF, s, " 0x1010(/nowhere/app)/0x900000([unknown])/M/-/-/5\n");
}

#define NUMBERS (GUS_FIELD_ADDR | GUS_FIELD_WEIGHT | GUS_FIELD_INS_LAT | GUS_FIELD_RETIRE_LAT | \
		 GUS_FIELD_TRANSACTION | GUS_FIELD_CGROUP)
#define LATENCIES (GUS_FIELD_INS_LAT | GUS_FIELD_RETIRE_LAT | GUS_FIELD_ISSUE_LAT | \
		   (unsigned)GUS_FIELD_TRANSLATION_LAT)
#define SIZES (GUS_FIELD_PHYS_ADDR | GUS_FIELD_DATA_PAGE | GUS_FIELD_CODE_PAGE)

/* What nobody told is no zero, and what was told is one if it is. */
static void what_hardware_told(void **state)
{
	struct seen s = at(MAIN);

	expect_line(*state, NUMBERS, s, "               -                -                -                -"
		    "                -                - \n");
	s.sample.told = GUS_TOLD_ADDRESS | GUS_TOLD_WEIGHT | GUS_TOLD_INSTRUCTION | GUS_TOLD_COMPLETE;
	expect_line(*state, NUMBERS, s, "               0                0                0                0"
		    "                -                - \n");
	s.sample.told = GUS_TOLD_RETIRE;
	s.sample.address = 0xffff881817d63e02;
	s.sample.weight = 225;
	s.sample.instruction_latency = 65535;
	s.sample.transaction = 0x40;
	s.sample.cgroup = 77;
	expect_line(*state, NUMBERS, s, "ffff881817d63e02              225            65535                0"
		    "               40               77 \n");
	s.sample.issue_latency = s.sample.translation_latency = 0; /* those that perf has not */
	expect_line(*state, LATENCIES, s, "           65535                0                -                - \n");
	s.sample.issue_latency = 12;
	s.sample.told |= GUS_TOLD_TRANSLATION;
	expect_line(*state, LATENCIES, s, "           65535                0               12                0 \n");
	s.sample.translation_latency = 34;
	s.sample.issue_latency = 0;
	s.sample.told |= GUS_TOLD_ISSUE;
	expect_line(*state, LATENCIES, s, "           65535                0                0               34 \n");
	expect_line(*state, SIZES, s, "                - - -\n");
	s.sample.physical = 0x1000;
	s.sample.data_page = 2 << 20;
	s.sample.code_page = 4096;
	expect_line(*state, SIZES, s, "             1000 2M 4K\n");
	s.sample.data_page = 1 << 30;
	s.sample.code_page = 1023;
	expect_line(*state, SIZES, s, "             1000 1G 1023\n");
}

static void where_the_data_were(void **state)
{
	/* Words of a load from L1, as the kernel writes it on Ivy Bridge; of a changed line of another core; of what is
	 * no access; of a locked store that missed L3, behind a store to it, and of nothing that is known. */
	static const struct { uint64_t word; const char *line; } of[] = {
		{ 0x68100142, "        68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK N/A \n" },
		{ 0x13606808042, "     13606808042 |OP LOAD|LVL Remote Any cache hit|SNP HitM|TLB N/A|LCK Yes|"
		  "BLK N/A \n" },
		{ 0x5080021, "         5080021 |OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK N/A \n" },
		{ 0x40606080884, "     40606080884 |OP STORE|LVL L3 miss|SNP N/A|TLB N/A|LCK Yes|BLK Addr \n" },
		/* Of another board, and from farther than anybody has a word for. */
		{ 0x200000000142, "    200000000142 |OP LOAD|LVL board L1 hit|SNP N/A|TLB N/A|LCK No|BLK N/A \n" },
		{ 0x282000000142, "    282000000142 |OP LOAD|LVL Remote L1 hit|SNP N/A|TLB N/A|LCK No|BLK N/A \n" },
		{ 0, "               - \n" },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		struct seen s = at(MAIN);

		s.sample.data_source = of[i].word;
		s.sample.told = UINT64_MAX; /* which says nothing of it */
		expect_line(*state, GUS_FIELD_DATA_SRC, s, of[i].line);
	}
}

/* What is proved, then what is excluded; of the others nobody knows. */
static void signatures(void **state)
{
	struct seen s = at(MAIN);

	expect_line(*state, GUS_FIELD_PSV, s, "- \n");
	s.sample.events = GUS_PSV_ST_L1 | GUS_PSV_ST_TLB | (uint64_t)(GUS_PSV_DR_L1 | GUS_PSV_ST_LLC) << 16;
	expect_line(*state, GUS_FIELD_PSV, s, "ST-L1,ST-TLB,!DR-L1,!ST-LLC \n");
	s.sample.events = (uint64_t)GUS_PSV_FL_MB << 16;
	expect_line(*state, GUS_FIELD_PSV, s, "!FL-MB \n");
}

static void who_ran_and_where(void **state)
{
	static const char *const lines[] = { "      \n", "K     \n", "U     \n", "H     \n", "G     \n", "g     \n",
					     "      \n" };
	struct seen s = at(MAIN);

	for (uint8_t mode = 0; mode < sizeof(lines) / sizeof(*lines); mode++) {
		s.sample.mode = mode;
		expect_line(*state, GUS_FIELD_MISC, s, lines[mode]);
	}
	s.sample.cpu = GUS_CPU_UNKNOWN;
	expect_line(*state, GUS_FIELD_CPU | GUS_FIELD_TID, s, "   11 \n");
	s.sample.pid = s.sample.tid = GUS_TASK_UNKNOWN;
	expect_line(*state, GUS_FIELD_PID | GUS_FIELD_TID, s, "   -1/-1    \n");
}

static void registers_and_bytes(void **state)
{
	static const uint64_t user[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 18, 19, 20, 21, 22, 23, 24, 0xabcdef };
	static const uint64_t here[] = { 0x10, 0x20, 0x30 };
	static const uint8_t raw[] = { 0x00, 0x1f, 0xa0 };
	Gusprof__Host host = GUSPROF__HOST__INIT;
	struct made *m = *state;
	struct gus_extras extras = { 0 };
	struct seen s = at(MAIN);

	host.machine = (char *)"x86_64";
	m->header.host = &host;
	expect_line(m, GUS_FIELD_IREGS | GUS_FIELD_UREGS | GUS_FIELD_RAW, s, "\n");
	s.sample.regs = user;
	s.sample.regs_n = 17;
	expect_line(m, GUS_FIELD_UREGS, s, " ABI:2    AX:0x1    BX:0x2    CX:0x3    DX:0x4    SI:0x5    DI:0x6"
		    "    BP:0x7    SP:0x8    IP:0x9    R8:0x12    R9:0x13   R10:0x14   R11:0x15   R12:0x16   R13:0x17"
		    "   R14:0x18   R15:0xabcdef\n");
	gus_extras_add(&extras, GUS_EXTRA_REGS, 1, here, sizeof(here));
	gus_extras_add(&extras, GUS_EXTRA_RAW, 0, raw, sizeof(raw));
	s.sample.extras = extras.v;
	s.sample.extras_n = (uint32_t)extras.n;
	m->event[0].regs_intr = UINT64_C(1) << 8 | UINT64_C(1) << 9 | UINT64_C(1) << 40;
	expect_line(m, GUS_FIELD_IREGS, s, " ABI:1    IP:0x10 FLAGS:0x20 reg40:0x30\n");
	expect_line(m, GUS_FIELD_RAW, s, " RAW:001fa0\n");
	s.sample.regs_n = 0;
	extras.n = 0;
	gus_extras_add(&extras, GUS_EXTRA_REGS, 2, here, sizeof(here));
	s.sample.extras_n = (uint32_t)extras.n;
	m->event[0].regs_intr = UINT64_C(1) << 63 | 1; /* fewer than there are values */
	expect_line(m, GUS_FIELD_IREGS, s, " ABI:2    AX:0x10 reg63:0x20\n");
	gus_extras_add(&extras, GUS_EXTRA_USER_REGS, 1, here, sizeof(here)); /* those that no stack is unwound by */
	s.sample.extras_n = (uint32_t)extras.n;
	m->event[0].regs_user = UINT64_C(7) << 22;
	expect_line(m, GUS_FIELD_UREGS, s, " ABI:1   R14:0x10   R15:0x20 reg24:0x30\n");
	host.machine = (char *)"riscv64"; /* whose names are not known */
	expect_line(m, GUS_FIELD_UREGS, s, " ABI:1 reg22:0x10 reg23:0x20 reg24:0x30\n");
	s.sample.event = 2; /* which there is not: nobody knows which registers they are */
	expect_line(m, GUS_FIELD_IREGS | GUS_FIELD_UREGS, s, "\n");
	gus_vec_free(&extras);
	m->header.host = NULL;
}

static void registers_of_arm(void **state)
{
	Gusprof__Host host = GUSPROF__HOST__INIT;
	struct made *m = *state;
	struct seen s = at(MAIN);
	uint64_t user[33];
	char *text;

	host.machine = (char *)"aarch64";
	m->header.host = &host;
	for (size_t i = 0; i < 33; i++)
		user[i] = i;
	s.sample.regs = user;
	s.sample.regs_n = 33;
	text = print(m, &(struct gus_script){ .fields = GUS_FIELD_UREGS }, gus_script_line, &s, 1);
	assert_non_null(strstr(text, " ABI:2    x0:0x0    x1:0x1 "));
	assert_non_null(strstr(text, "   x29:0x1d    lr:0x1e    sp:0x1f    pc:0x20\n"));
	free(text);
}

/* What was asked for and had by any sample is remembered, so that what was not can be said. */
static void what_was_told_is_remembered(void **state)
{
	struct gus_script s = { .fields = GUS_FIELD_ADDR | GUS_FIELD_WEIGHT | GUS_FIELD_PHYS_ADDR | GUS_FIELD_RAW |
					  GUS_FIELDS_BRANCHES };
	struct seen two[2] = { at(MAIN), at(MAIN) };

	two[0].sample.weight = 3;
	two[1].sample.physical = 4;
	two[1].sample.address = 0;
	free(print(*state, &s, gus_script_line, two, 2));
	assert_int_equal(s.told, GUS_FIELD_WEIGHT | GUS_FIELD_PHYS_ADDR);
	s.told = 0;
	two[1].sample.branches = &(struct gus_branch){ MAIN, MAIN, 0, 0 };
	two[1].sample.branches_n = 1;
	free(print(*state, &s, gus_script_line, two, 2));
	assert_int_equal(s.told, GUS_FIELD_WEIGHT | GUS_FIELD_PHYS_ADDR | GUS_FIELDS_BRANCHES);
}

/* By their bytes; equal ones once, with all that they weigh. */
static void stacks_are_added_up(void **state)
{
	struct seen s[4] = { at(SEMICOLON), at(MAIN), at(SEMICOLON), at(UNKNOWN) };
	struct gus_script options = { .fields = GUS_FIELDS_DEFAULT };

	s[0].callers[0] = s[2].callers[0] = MAIN + 1;
	s[0].callers_n = s[2].callers_n = 1;
	s[1].comm = "a;b";
	s[3].sample.period = 1;
	expect(*state, options, gus_script_fold, s, 4, "a:b;main 250000\nworker;[app] 1\nworker;main;a:b 500000\n");
	options.count_samples = true;
	expect(*state, options, gus_script_fold, s, 4, "a:b;main 1\nworker;[app] 1\nworker;main;a:b 2\n");
	expect(*state, options, gus_script_fold, s, 0, "");
	s[0] = at(MAIN); /* of which not all callers are known, if anybody wants to know them */
	s[0].sample.callers = GUS_CALLERS_STACK;
	expect(*state, options, gus_script_fold, s, 1, "worker;main 1\n");
	options.chains_kept = true;
	expect(*state, options, gus_script_fold, s, 1, "worker;[truncated];main 1\n");
	s[0].sample.callers = GUS_CALLERS_WHOLE;
	expect(*state, options, gus_script_fold, s, 1, "worker;main 1\n");
	options.inlines = true;
	s[0] = at(INLINED);
	expect(*state, options, gus_script_fold, s, 1, "worker;main;tiny_[i] 1\n");
	options.inlines = false;
	s[0] = at(NOWHERE); /* which is called so already */
	expect(*state, options, gus_script_fold, s, 1, "worker;[unknown] 1\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_line_is_perfs),
		TEST(each_field_has_its_place),
		TEST(names_of_threads),
		TEST(times_are_as_asked), TEST(numbers_of_records_are_no_times),
		TEST(chains_are_perfs),
		TEST(long_chains_are_counted),
		TEST(branches_are_perfs), TEST(branches_into_the_kernel), TEST(nothing_was_begun),
		TEST(branches_by_module),
		TEST(what_hardware_told),
		TEST(where_the_data_were),
		TEST(signatures),
		TEST(who_ran_and_where),
		TEST(registers_and_bytes),
		TEST(registers_of_arm),
		TEST(what_was_told_is_remembered),
		TEST(stacks_are_added_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
