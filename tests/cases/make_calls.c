/* SPDX-License-Identifier: MIT */
/* `make-calls FILE KIND [N]`: recordings with call chains that are known, for flame graphs:
 *
 *   small    a program, a library, the kernel and code that nobody has, in two threads
 *   hostile  functions with names that mean something to a browser or to nobody, each called by main
 *   many     N stacks (100,000), no two equal, 60 deep
 *   torn     three stacks, of which one is whole, one is not, and nobody has looked at the third
 *   tasks    a thread without a name, and one that gets another one
 *   inlined  a function in which two others are inlined, and one of these by itself
 *   deep     one stack of so many frames (500)
 *   flat     no chains
 *   empty    no samples */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "proto/sample.h"
#include "proto/writer.h"
#include "tests/unit/made_sideband.h"

#define START 1000000000ull
#define PROGRAM 0x400000ull
#define LIBRARY 0x7f1200000000ull
#define KERNEL 0xffffffff81000000ull
#define USER_MARK ((uint64_t)-512)
#define FUNCTIONS 500
#define SIZE 0x100u          /* of a function */
#define LONG 65000           /* letters of a long name */
#define DEPTH 60

struct maker {
	struct gus_writer *w;
	struct gus_columns samples;
	uint64_t weight, n;
	uint64_t callers;    /* what became of the stacks that come next */
	bool good;
};

static char *text(const char *constant)
{
	return (char *)(uintptr_t)constant;
}

static const char *const hostile[] = {
	"main", "</script><b>bold</b>", "operator<", "]]><!--<script>", "line\xe2\x80\xa8" "end\xe2\x80\xa9",
	"\"quote'\\&amp;",
	"\xff\xc0\xaf_bytes", "\xe2\x80\xae" "backwards", "\x1b[31m\nFORGED", "", "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d::f",
	"javascript:alert(1)", "__proto__", "constructor", "$&", "\xf0\x9f\x94\xa5",
};
#define HOSTILE (sizeof(hostile) / sizeof(*hostile))

static char *long_name(void)
{
	char *name = gus_alloc(LONG + 1);

	for (size_t i = 0; i < LONG; i++)
		name[i] = "std::map<int,"[i % 13];
	name[LONG] = '\0';
	return name;
}

static void add_map(struct maker *m, const char *path, uint64_t start)
{
	m->good &= made_map(m->w, 1000, START, start, FUNCTIONS * SIZE, path);
}

/* From a number of samples on. */
static void add_comm(struct maker *m, uint32_t tid, uint64_t samples, const char *name)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Comm comm = GUSPROF__COMM__INIT;

	comm.pid = 1000;
	comm.tid = tid;
	comm.time = START + samples * 1000;
	comm.name = text(name);
	record.kind_case = GUSPROF__RECORD__KIND_COMM;
	record.comm = &comm;
	m->good &= made_record(m->w, &record);
}

static void add_kernel(struct maker *m)
{
	Gusprof__KernelSymbols symbols = GUSPROF__KERNEL_SYMBOLS__INIT;
	Gusprof__Symbol one = GUSPROF__SYMBOL__INIT, *list[] = { &one };

	one.address = KERNEL;
	one.size = SIZE;
	one.name = text("do_syscall_64");
	symbols.n_symbols = 1;
	symbols.symbols = list;
	m->good &= gus_writer_message(m->w, GUS_FRAME_KERNEL_SYMBOLS, &symbols.base, NULL) == 0;
}

/* Functions one behind the other, so many bytes each. */
static void add_names(struct maker *m, const char *path, char *const *names, uint32_t n)
{
	Gusprof__Embedded embedded = GUSPROF__EMBEDDED__INIT;
	Gusprof__EmbeddedFunction *functions = gus_alloc(n * sizeof(*functions)), **list = gus_alloc(n * sizeof(*list));

	for (uint32_t i = 0; i < n; i++) {
		functions[i] = (Gusprof__EmbeddedFunction)GUSPROF__EMBEDDED_FUNCTION__INIT;
		functions[i].offset = functions[i].address = i * SIZE;
		functions[i].size = SIZE;
		functions[i].name = i + 1;
		list[i] = &functions[i];
	}
	embedded.path = text(path);
	embedded.n_texts = n;
	embedded.texts = (char **)(uintptr_t)names;
	embedded.n_functions = n;
	embedded.functions = list;
	m->good &= gus_writer_message(m->w, GUS_FRAME_EMBEDDED, &embedded.base, NULL) == 0;
	free(functions);
	free(list);
}

static void flush(struct maker *m)
{
	m->good &= !m->samples.n || gus_writer_samples(m->w, &m->samples, NULL) == 0;
	gus_columns_free(&m->samples);
	m->samples = (struct gus_columns){ 0 };
}

/* A sample at the first of these places; the others called it. */
static void add_sample(struct maker *m, uint32_t tid, uint64_t period, const uint64_t *places, uint32_t n)
{
	uint64_t chain[2000] = { USER_MARK };

	for (uint32_t i = 1; i < n; i++)
		chain[i] = places[i] + 8;
	m->n++;
	m->weight += period;
	gus_columns_push(&m->samples, &(struct gus_sample){ .ip = places[0] + 4, .time = START + m->n * 1000,
			 .period = period, .pid = 1000, .tid = tid, .chain = chain, .chain_n = n > 1 ? n : 0,
			 .callers = m->callers,
			 .mode = places[0] >= KERNEL ? GUS_MODE_KERNEL : GUS_MODE_USER });
	if (m->samples.n == 1000)
		flush(m);
}

static void make_small(struct maker *m)
{
	char *program[] = { text("main"), text("work"), text("recurse") };
	char *library[] = { text("qsort"), text("cmp;are") };
	const uint64_t main_ = PROGRAM, work = PROGRAM + SIZE, recurse = PROGRAM + 2 * SIZE, sort = LIBRARY,
		compare = LIBRARY + SIZE, nobodys = 0x10000;
	static const uint64_t period = 1000000;

	add_map(m, "/opt/app", PROGRAM);
	add_map(m, "/opt/lib/libsort.so.6", LIBRARY);
	add_comm(m, 1000, 0, "app");
	add_comm(m, 1001, 0, "worker");
	add_kernel(m);
	add_names(m, "/opt/app", program, 3);
	add_names(m, "/opt/lib/libsort.so.6", library, 2);
	add_sample(m, 1000, 40 * period, (uint64_t[]){ work, main_ }, 2);
	add_sample(m, 1000, 10 * period, (uint64_t[]){ main_ }, 1);
	add_sample(m, 1000, 20 * period, (uint64_t[]){ recurse, recurse, recurse, main_ }, 4);
	add_sample(m, 1000, 5 * period, (uint64_t[]){ recurse, main_ }, 2);
	add_sample(m, 1001, 15 * period, (uint64_t[]){ compare, sort, main_ }, 3);
	add_sample(m, 1001, 4 * period, (uint64_t[]){ compare, sort, work, main_ }, 4);
	add_sample(m, 1001, 4 * period, (uint64_t[]){ KERNEL, work, main_ }, 3);
	add_sample(m, 1001, 2 * period, (uint64_t[]){ nobodys, main_ }, 2);
}

static void make_torn(struct maker *m)
{
	char *program[] = { text("main"), text("work") };

	add_map(m, "/opt/app", PROGRAM);
	add_names(m, "/opt/app", program, 2);
	m->callers = GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE;
	add_sample(m, 1000, 6000000, (uint64_t[]){ PROGRAM + SIZE, PROGRAM }, 2);
	m->callers = GUS_CALLERS_STACK | GUS_CALLERS_TABLE;
	add_sample(m, 1000, 2000000, (uint64_t[]){ PROGRAM + SIZE, PROGRAM + SIZE }, 2);
	m->callers = GUS_CALLERS_UNTOLD;
	add_sample(m, 1000, 1000000, (uint64_t[]){ PROGRAM }, 1);
}

static void make_tasks(struct maker *m)
{
	add_comm(m, 1001, 0, "before");
	add_comm(m, 1001, 2, "after");
	add_sample(m, 1001, 1000000, (uint64_t[]){ KERNEL }, 1);
	add_sample(m, 1001, 2000000, (uint64_t[]){ KERNEL }, 1);
	add_sample(m, 1000, 4000000, (uint64_t[]){ KERNEL }, 1);
	add_kernel(m);
}

static void make_inlined(struct maker *m)
{
	Gusprof__Embedded embedded = GUSPROF__EMBEDDED__INIT;
	Gusprof__EmbeddedFunction function = GUSPROF__EMBEDDED_FUNCTION__INIT, inner = function;
	Gusprof__EmbeddedFunction *functions[] = { &function, &inner };
	Gusprof__EmbeddedChain chain = GUSPROF__EMBEDDED_CHAIN__INIT, *chains[] = { &chain };
	Gusprof__EmbeddedLines lines = GUSPROF__EMBEDDED_LINES__INIT, *list[] = { &lines };
	char *texts[] = { text("outer"), text("middle"), text("inner") };
	uint32_t names[] = { 3, 2, 1 }, none[] = { 0, 0, 0 };

	function.size = lines.size = SIZE;
	function.name = 1;
	inner.offset = inner.address = inner.size = SIZE;
	inner.name = 3;
	chain.n_functions = chain.n_files = chain.n_lines = 3;
	chain.functions = names;
	chain.files = chain.lines = none;
	embedded.path = text("/opt/app");
	embedded.n_texts = 3;
	embedded.texts = texts;
	embedded.n_functions = 2;
	embedded.n_chains = embedded.n_lines = 1;
	embedded.functions = functions;
	embedded.chains = chains;
	embedded.lines = list;
	add_map(m, "/opt/app", PROGRAM);
	m->good &= gus_writer_message(m->w, GUS_FRAME_EMBEDDED, &embedded.base, NULL) == 0;
	add_sample(m, 1000, 1000000, (uint64_t[]){ PROGRAM }, 1);
	add_sample(m, 1000, 2000000, (uint64_t[]){ PROGRAM + SIZE }, 1);
}

static void make_hostile(struct maker *m)
{
	char *names[HOSTILE];

	for (size_t i = 0; i < HOSTILE; i++)
		names[i] = *hostile[i] ? text(hostile[i]) : long_name();
	add_map(m, "/opt/<img src=x onerror=alert(1)>", PROGRAM);
	add_names(m, "/opt/<img src=x onerror=alert(1)>", names, HOSTILE);
	add_comm(m, 1000, 0, "</title><script>");
	for (uint64_t i = 0; i < HOSTILE; i++)
		add_sample(m, 1000, 1000000 * (i + 1), (uint64_t[]){ PROGRAM + i * SIZE, PROGRAM }, 2);
	for (size_t i = 0; i < HOSTILE; i++)
		if (!*hostile[i])
			free(names[i]);
}

static void name_all(struct maker *m)
{
	char *names[FUNCTIONS];

	for (unsigned i = 0; i < FUNCTIONS; i++)
		names[i] = gus_format("space_%u::function_%u", i % 7, i);
	add_map(m, "/opt/app", PROGRAM);
	add_comm(m, 1000, 0, "app");
	add_names(m, "/opt/app", names, FUNCTIONS);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		free(names[i]);
}

/* What is called at a depth follows from the first bits of the stack's number, one bit more each few calls. */
static void make_many(struct maker *m, uint64_t n)
{
	unsigned bits = 1;

	name_all(m);
	while (n >> bits)
		bits++;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t places[DEPTH];

		for (unsigned d = 0; d < DEPTH; d++) {
			uint64_t first = i >> (bits - bits * (d + 1) / DEPTH);

			places[DEPTH - 1 - d] = PROGRAM + SIZE * ((first * 2654435761u + d * 40503u) % FUNCTIONS);
		}
		add_sample(m, 1000, 1000 + i % 997, places, DEPTH);
	}
}

static void make_deep(struct maker *m, uint64_t n)
{
	uint64_t places[2000];

	name_all(m);
	for (uint64_t i = 0; i < n && i < 2000; i++)
		places[i] = PROGRAM + SIZE * (i % FUNCTIONS);
	add_sample(m, 1000, 1000000, places, (uint32_t)(n < 2000 ? n : 2000));
}

static void make(struct maker *m, const char *kind, uint64_t n)
{
	if (strcmp(kind, "small") == 0)
		make_small(m);
	else if (strcmp(kind, "hostile") == 0)
		make_hostile(m);
	else if (strcmp(kind, "many") == 0)
		make_many(m, n ? n : 100000);
	else if (strcmp(kind, "torn") == 0)
		make_torn(m);
	else if (strcmp(kind, "tasks") == 0)
		make_tasks(m);
	else if (strcmp(kind, "inlined") == 0)
		make_inlined(m);
	else if (strcmp(kind, "deep") == 0)
		make_deep(m, n ? n : 500);
	else if (strcmp(kind, "flat") == 0)
		make_deep(m, 1);
	else
		m->good &= strcmp(kind, "empty") == 0;
	flush(m);
}

int main(int argc, char **argv)
{
	Gusprof__EventTotal total = GUSPROF__EVENT_TOTAL__INIT, *totals[] = { &total };
	Gusprof__Event event = GUSPROF__EVENT__INIT, *events[] = { &event };
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__Clock clock = GUSPROF__CLOCK__INIT;
	Gusprof__Host host = GUSPROF__HOST__INIT;
	bool is_hostile = argc > 2 && strcmp(argv[2], "hostile") == 0;
	char *command[] = { text(is_hostile ? "</title><script>alert(1)</script>" : "./app"), text("--fast") };
	struct maker m = { .good = true };

	event.name = event.asked = text("cpu-clock");
	event.unit = text("ns");
	host.hostname = text(is_hostile ? "h\"><img src=x>" : "example");
	clock.name = text("monotonic");
	clock.start_ns = START;
	header.producer = text("make-calls");
	header.host = &host;
	header.clock = &clock;
	header.call_graph = text(argc > 2 && strcmp(argv[2], "flat") == 0 ? "none" : "fp");
	header.command = command;
	header.n_command = 2;
	header.events = events;
	header.n_events = 1;
	m.w = argc > 2 ? gus_writer_create(argv[1], &header, NULL) : NULL;
	if (!m.w)
		return 1;
	make(&m, argv[2], argc > 3 ? strtoull(argv[3], NULL, 10) : 0);
	total.samples = m.n;
	total.count = total.running_ns = total.enabled_ns = m.weight;
	footer.events = totals;
	footer.n_events = 1;
	footer.end_ns = START + 1000000000;
	return !(gus_writer_finish(m.w, &footer, NULL) == 0 && m.good);
}
