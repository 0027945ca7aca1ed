/* SPDX-License-Identifier: MIT */
/* What a recording brings along of its modules: made from a program that is built here, it answers as the program's own
 * file does; made by hand, it is taken whole or refused. */
#include <elf.h>
#include <fcntl.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "symbolizer/elf/elffile.h"
#include "symbolizer/symbols/embedded.h"
#include "symbolizer/symbols/embedding.h"
#include "symbolizer/symbols/symbols.h"

/* By hand. */

enum { FUNCTIONS = 3, CHAINS = 2, LINES = 3, PIECES = 2, TEXTS = 5 };

/* A message that is whole, and can be spoilt:
 *
 *   0x100 +-- outer() ------- address 0x1100 ----+
 *   0x110 | lines of chain 0     code            |
 *   0x120 | +-- a::b() -----+    code            |
 *   0x130 | +---------------+                    |
 *   0x140 +--------------------------------------+
 *   0x200 +-- without a name: address 0x1200 ----+
 *   0x210 +--------------------------------------+ */
struct hand {
	Gusprof__Embedded m;
	Gusprof__EmbeddedFunction f[FUNCTIONS], *fs[FUNCTIONS];
	Gusprof__EmbeddedChain c[CHAINS], *cs[CHAINS];
	Gusprof__EmbeddedLines l[LINES], *ls[LINES];
	Gusprof__EmbeddedCode p[PIECES], *ps[PIECES];
	char *texts[TEXTS];
	uint32_t functions[2][2], files[2][2], lines[2][2];
	uint8_t bytes[0x20];
};

static const struct gus_module module = { .kind = GUS_MODULE_FILE, .path = "/no/such/program",
					  .build_id = (const uint8_t *)"\1\2\3\4", .build_id_size = 4 };

static void fill(struct hand *h)
{
	static const Gusprof__EmbeddedFunction f = GUSPROF__EMBEDDED_FUNCTION__INIT;
	static const Gusprof__EmbeddedChain c = GUSPROF__EMBEDDED_CHAIN__INIT;
	static const Gusprof__EmbeddedLines l = GUSPROF__EMBEDDED_LINES__INIT;
	static const Gusprof__EmbeddedCode p = GUSPROF__EMBEDDED_CODE__INIT;
	static const char *const texts[TEXTS] = { "outer", "_ZN1a1bEv", "_ZN1a6inlineEv", "/src/a.cc", "/src/b.h" };
	static const struct { uint64_t offset, size; uint32_t name; } functions[FUNCTIONS] = {
		{ 0x100, 0x40, 1 }, { 0x120, 0x10, 2 }, { 0x200, 0x10, 0 } };

	memset(h, 0, sizeof(*h));
	gusprof__embedded__init(&h->m);
	for (size_t i = 0; i < TEXTS; i++)
		h->texts[i] = (char *)(uintptr_t)texts[i];
	for (size_t i = 0; i < FUNCTIONS; i++) {
		h->f[i] = f;
		h->f[i].offset = functions[i].offset;
		h->f[i].size = functions[i].size;
		h->f[i].name = functions[i].name;
		h->f[i].address = functions[i].offset + 0x1000;
		h->fs[i] = &h->f[i];
	}
	for (size_t i = 0; i < CHAINS; i++) {
		h->c[i] = c;
		h->c[i].n_functions = h->c[i].n_files = h->c[i].n_lines = i ? 1 : 2;
		h->c[i].functions = h->functions[i];
		h->c[i].files = h->files[i];
		h->c[i].lines = h->lines[i];
		h->cs[i] = &h->c[i];
	}
	memcpy(h->functions, (uint32_t[2][2]){ { 3, 1 }, { 2 } }, sizeof(h->functions));
	memcpy(h->files, (uint32_t[2][2]){ { 5, 4 }, { 4 } }, sizeof(h->files));
	memcpy(h->lines, (uint32_t[2][2]){ { 7, 8 }, { 9 } }, sizeof(h->lines));
	for (size_t i = 0; i < LINES; i++) {
		h->l[i] = l;
		h->l[i].offset = 0x110 + 0x10 * i;
		h->l[i].size = 0x10;
		h->l[i].chain = i == 1;
		h->ls[i] = &h->l[i];
	}
	for (size_t i = 0; i < sizeof(h->bytes); i++)
		h->bytes[i] = (uint8_t)(i + 1);
	for (size_t i = 0; i < PIECES; i++) {
		h->p[i] = p;
		h->p[i].offset = 0x110 + 0x10 * i;
		h->p[i].bytes = (ProtobufCBinaryData){ 0x10, h->bytes + 0x10 * i };
		h->ps[i] = &h->p[i];
	}
	h->m.path = (char *)(uintptr_t)module.path;
	h->m.build_id = (ProtobufCBinaryData){ module.build_id_size, (uint8_t *)(uintptr_t)module.build_id };
	h->m.machine = EM_X86_64;
	h->m.n_texts = TEXTS;
	h->m.texts = h->texts;
	h->m.n_functions = FUNCTIONS;
	h->m.functions = h->fs;
	h->m.n_chains = CHAINS;
	h->m.chains = h->cs;
	h->m.n_lines = LINES;
	h->m.lines = h->ls;
	h->m.n_code = PIECES;
	h->m.code = h->ps;
}

static struct gus_symbols *symbols_with(const Gusprof__Embedded *m, bool raw)
{
	static const char *const nowhere[] = { NULL };
	const struct gus_symbols_options options = { .debug_dirs = nowhere, .raw_names = raw };
	struct gus_symbols *s = gus_symbols_new(&options, NULL);

	assert_true(gus_symbols_add_embedded(s, m));
	return s;
}

static const char *function_at(struct gus_symbols *s, uint64_t offset)
{
	struct gus_name names[GUS_NAMES_MAX];

	assert_int_equal(gus_symbols_names(s, &module, offset, GUS_DEPTH_FUNCTION, names), 1);
	return names[0].function ? names[0].function : "";
}

static void names_lines_and_code_are_the_messages(void **state)
{
	struct gus_name names[GUS_NAMES_MAX];
	struct gus_symbols *s;
	uint8_t code[64];
	unsigned machine;
	struct hand h;

	(void)state;
	fill(&h);
	s = symbols_with(&h.m, false);
	assert_string_equal(function_at(s, 0xff), "");
	assert_string_equal(function_at(s, 0x100), "outer");
	assert_string_equal(function_at(s, 0x11f), "outer");
	assert_string_equal(function_at(s, 0x120), "a::b");
	assert_string_equal(function_at(s, 0x12f), "a::b");
	assert_string_equal(function_at(s, 0x13f), "outer");
	assert_string_equal(function_at(s, 0x140), "");
	assert_string_equal(function_at(s, 0x20f), "sub_1200");
	assert_string_equal(function_at(s, 0x210), "");
	assert_int_equal(gus_symbols_names(s, &module, 0x110, GUS_DEPTH_INLINE, names), 2);
	assert_string_equal(names[0].function, "a::inline");
	assert_string_equal(names[0].file, "/src/b.h");
	assert_int_equal(names[0].line, 7);
	assert_true(names[0].inlined && !names[1].inlined);
	assert_string_equal(names[1].function, "outer");
	assert_int_equal(names[1].line, 8);
	assert_int_equal(names[0].start, 0x100);
	assert_int_equal(names[1].size, 0x40);
	assert_int_equal(gus_symbols_names(s, &module, 0x110, GUS_DEPTH_LINE, names), 1);
	assert_string_equal(names[0].function, "outer");
	assert_int_equal(names[0].line, 7);
	assert_int_equal(gus_symbols_names(s, &module, 0x10f, GUS_DEPTH_INLINE, names), 1);
	assert_null(names[0].file);
	assert_int_equal(gus_symbols_address(s, &module, 0x125), 0x1125);
	assert_int_equal(gus_symbols_address(s, &module, 0x300), 0x300);
	assert_int_equal(gus_symbols_code(s, &module, 0x10f, code, sizeof(code), &machine), 0);
	assert_int_equal(gus_symbols_code(s, &module, 0x111, code, sizeof(code), &machine), 0x1f);
	assert_memory_equal(code, h.bytes + 1, 0x1f);
	assert_int_equal(machine, EM_X86_64);
	assert_int_equal(gus_symbols_code(s, &module, 0x11f, code, 2, &machine), 2);
	assert_memory_equal(code, h.bytes + 0xf, 2);
	assert_null(gus_symbols_trouble(s, &module));
	assert_null(gus_symbols_code_trouble(s, &module));
	gus_symbols_free(s);
	s = symbols_with(&h.m, true);
	assert_string_equal(function_at(s, 0x120), "_ZN1a1bEv");
	gus_symbols_free(s);
}

/* Who has names and no code says so, and what the recorder had to say is passed on. */
static void what_is_missing_is_said(void **state)
{
	struct gus_symbols *s;
	struct hand h;

	(void)state;
	fill(&h);
	h.m.n_code = 0;
	h.m.trouble = (char *)(uintptr_t)"there was no time";
	s = symbols_with(&h.m, false);
	assert_string_equal(gus_symbols_trouble(s, &module), "there was no time");
	assert_non_null(strstr(gus_symbols_code_trouble(s, &module), "--embed=all"));
	gus_symbols_free(s);
}

static void another_module_has_nothing_of_it(void **state)
{
	struct gus_module other = module, file = { .kind = GUS_MODULE_FILE, .path = module.path, .inode = 5 };
	struct gus_name names[GUS_NAMES_MAX];
	struct gus_symbols *s;
	struct hand h;

	(void)state;
	fill(&h);
	s = symbols_with(&h.m, false);
	other.build_id = (const uint8_t *)"\1\2\3\5";
	gus_symbols_names(s, &other, 0x100, GUS_DEPTH_FUNCTION, names);
	assert_null(names[0].function);
	gus_symbols_names(s, &file, 0x100, GUS_DEPTH_FUNCTION, names);
	assert_null(names[0].function);
	gus_symbols_free(s);
	h.m.build_id.len = 0;
	h.m.inode = 5;
	s = symbols_with(&h.m, false);
	gus_symbols_names(s, &file, 0x100, GUS_DEPTH_FUNCTION, names);
	assert_string_equal(names[0].function, "outer");
	file.inode = 6;
	gus_symbols_names(s, &file, 0x100, GUS_DEPTH_FUNCTION, names);
	assert_null(names[0].function);
	gus_symbols_free(s);
}

/* More modules than the recording says anything of, as when all of a machine was recorded. */
static void many_modules_have_nothing_of_it(void **state)
{
	enum { MODULES = 5000 };
	static uint8_t ids[MODULES][4];
	static struct gus_module others[MODULES];
	struct gus_name names[GUS_NAMES_MAX];
	struct gus_symbols *s;
	struct hand h;

	(void)state;
	fill(&h);
	s = symbols_with(&h.m, false);
	for (size_t i = 0; i < MODULES; i++) {
		memcpy(ids[i], &(uint32_t){ (uint32_t)i }, sizeof(ids[i]));
		others[i] = module;
		others[i].build_id = ids[i];
		gus_symbols_names(s, &others[i], 0x100, GUS_DEPTH_FUNCTION, names);
		assert_null(names[0].function);
	}
	gus_symbols_names(s, &module, 0x100, GUS_DEPTH_FUNCTION, names);
	assert_string_equal(names[0].function, "outer");
	gus_symbols_free(s);
}

/* A module may have several messages, and a function may be told in each: with a name it is better. */
static void messages_add_up(void **state)
{
	uint8_t code[64];
	struct gus_symbols *s;
	struct hand h, more;

	(void)state;
	fill(&h);
	fill(&more);
	h.m.n_functions = 1;
	h.fs[0] = &h.f[2];
	h.m.n_code = 1;
	h.m.n_lines = 0;
	more.f[2].name = 4;
	more.m.n_code = 1;
	more.ps[0] = &more.p[1];
	s = symbols_with(&h.m, false);
	assert_true(gus_symbols_add_embedded(s, &more.m));
	assert_string_equal(function_at(s, 0x200), "/src/a.cc");
	assert_string_equal(function_at(s, 0x100), "outer");
	assert_int_equal(gus_symbols_code(s, &module, 0x110, code, sizeof(code), NULL), 0x20);
	assert_false(gus_symbols_add_embedded(s, &more.m)); /* too late: it was asked already */
	gus_symbols_free(s);
}

/* Each spoils one thing. */
static void name_beyond(struct hand *h) { h->f[2].name = TEXTS + 1; }
static void function_wraps(struct hand *h) { h->f[2].size = UINT64_MAX - 0x1ff; }
static void address_wraps(struct hand *h) { h->f[2].address = UINT64_MAX; }
static void functions_equal(struct hand *h) { h->f[1].offset = 0x100; }
static void functions_back(struct hand *h) { h->f[2].offset = 0x11f; }
static void chain_empty(struct hand *h) { h->c[1].n_functions = h->c[1].n_files = h->c[1].n_lines = 0; }
static void chain_uneven(struct hand *h) { h->c[0].n_files = 1; }
static void chain_uneven_lines(struct hand *h) { h->c[0].n_lines = 1; }
static void chain_name_beyond(struct hand *h) { h->functions[1][0] = TEXTS + 1; }
static void chain_file_beyond(struct hand *h) { h->files[0][1] = TEXTS + 1; }
static void lines_overlap(struct hand *h) { h->l[1].offset = 0x11f; }
static void lines_wrap(struct hand *h) { h->l[2].size = UINT64_MAX - 0x12f; }
static void lines_chain_beyond(struct hand *h) { h->l[2].chain = CHAINS; }
static void code_overlaps(struct hand *h) { h->p[1].offset = 0x11f; }
static void code_wraps(struct hand *h) { h->p[1].offset = UINT64_MAX - 0xe; }

static void chain_long(struct hand *h)
{
	static uint32_t numbers[GUS_NAMES_MAX + 1];

	h->c[1].functions = h->c[1].files = h->c[1].lines = numbers;
	h->c[1].n_functions = h->c[1].n_files = h->c[1].n_lines = GUS_NAMES_MAX + 1;
}

static void text_long(struct hand *h)
{
	static char letters[GUS_LIMIT_NAME + 1];

	memset(letters, 'a', GUS_LIMIT_NAME);
	h->texts[4] = letters;
}

static void text_longer(struct hand *h)
{
	static char letters[GUS_LIMIT_NAME + 2];

	memset(letters, 'a', GUS_LIMIT_NAME + 1);
	h->texts[0] = letters;
}

static void contradictions_are_refused(void **state)
{
	static void (*const spoil[])(struct hand *) = {
		name_beyond, function_wraps, address_wraps, functions_equal, functions_back, chain_empty, chain_uneven,
		chain_uneven_lines, chain_name_beyond, chain_file_beyond, lines_overlap, lines_wrap, lines_chain_beyond,
		code_overlaps, code_wraps, chain_long, text_long, text_longer,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(spoil) / sizeof(*spoil); i++) {
		struct gus_symbols *s = gus_symbols_new(NULL, NULL);
		struct hand h;

		fill(&h);
		spoil[i](&h);
		if (gus_symbols_add_embedded(s, &h.m))
			fail_msg("spoilt message %zu was taken", i);
		assert_string_equal(function_at(s, 0x100), ""); /* nothing of it */
		gus_symbols_free(s);
	}
}

static void bounds_are_taken(void **state)
{
	static uint32_t numbers[GUS_NAMES_MAX];
	struct gus_name names[GUS_NAMES_MAX];
	struct gus_symbols *s;
	struct hand h;

	(void)state;
	fill(&h);
	h.f[2].name = TEXTS;
	h.f[2].size = UINT64_MAX - 0x1200; /* its address is larger than its offset */
	h.c[1].functions = h.c[1].files = h.c[1].lines = numbers;
	h.c[1].n_functions = h.c[1].n_files = h.c[1].n_lines = GUS_NAMES_MAX;
	s = symbols_with(&h.m, false);
	assert_int_equal(gus_symbols_names(s, &module, 0x120, GUS_DEPTH_INLINE, names), GUS_NAMES_MAX);
	assert_string_equal(names[GUS_NAMES_MAX - 1].function, "a::b");
	gus_symbols_free(s);
	fill(&h);
	h.f[0].offset = h.l[0].offset = h.p[0].offset = 0;
	s = symbols_with(&h.m, false);
	assert_string_equal(function_at(s, 0), "outer");
	gus_symbols_free(s);
}

/* A recording packs what repeats to next to nothing: however many such messages it has, what is kept of them has an
 * end. Texts that nothing speaks of count as well, and cost the test no memory. */
static void memory_of_all_messages_has_an_end(void **state)
{
	enum { EACH = 1024, MOST = GUS_LIMIT_EMBEDDED / (EACH * (GUS_LIMIT_NAME - 1ull)) };
	static char letters[GUS_LIMIT_NAME], *texts[EACH];
	struct gus_symbols *s = gus_symbols_new(NULL, NULL);
	struct hand h;
	int taken = 0;

	(void)state;
	memset(letters, 'a', sizeof(letters) - 1);
	for (size_t i = 0; i < EACH; i++)
		texts[i] = letters;
	fill(&h);
	h.m.texts = texts;
	h.m.n_texts = EACH;
	while (taken <= MOST && gus_symbols_add_embedded(s, &h.m))
		taken++;
	assert_int_equal(taken, MOST - 1); /* as each is a little more than its letters */
	h.m.n_texts = TEXTS;
	assert_true(gus_symbols_add_embedded(s, &h.m)); /* what there is room for is still taken */
	gus_symbols_free(s);
}

/* Many of one kind of thing each; they stand where the message does not mind that they are the same. */
enum { MANY = 40000 };

struct many {
	Gusprof__EmbeddedFunction f[MANY], *fs[MANY];
	Gusprof__EmbeddedChain *cs[MANY];
	Gusprof__EmbeddedLines l[MANY], *ls[MANY];
	Gusprof__EmbeddedCode p[MANY], *ps[MANY];
	char letters[MANY][32], *texts[MANY];
};

static void many_functions(struct hand *h, struct many *m, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		m->f[i] = h->f[0];
		m->f[i].offset = 0x1000 + i * 0x10;
		m->f[i].size = 0x10;
		m->fs[i] = &m->f[i];
	}
	h->m.functions = m->fs;
	h->m.n_functions = n;
}

static void many_names(struct hand *h, struct many *m, size_t n)
{
	many_functions(h, m, n);
	for (size_t i = 0; i < n; i++) {
		snprintf(m->letters[i], sizeof(m->letters[i]), "function%zu", i);
		m->texts[i] = m->letters[i];
		m->f[i].name = (uint32_t)i + 1;
	}
	h->m.texts = m->texts;
	h->m.n_texts = n;
}

static void many_lines(struct hand *h, struct many *m, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		m->l[i] = h->l[0];
		m->l[i].offset = 0x1000 + i * 0x10;
		m->ls[i] = &m->l[i];
	}
	h->m.lines = m->ls;
	h->m.n_lines = n;
}

static void many_chains(struct hand *h, struct many *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		m->cs[i] = &h->c[0];
	h->m.chains = m->cs;
	h->m.n_chains = n;
}

static void many_calls(struct hand *h, struct many *m, size_t n)
{
	static uint32_t numbers[GUS_NAMES_MAX];

	many_chains(h, m, n);
	h->c[0].functions = h->c[0].files = h->c[0].lines = numbers;
	h->c[0].n_functions = h->c[0].n_files = h->c[0].n_lines = GUS_NAMES_MAX;
}

static void many_pieces(struct hand *h, struct many *m, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		m->p[i] = h->p[0];
		m->p[i].offset = 0x1000 + i * 0x10;
		m->ps[i] = &m->p[i];
	}
	h->m.code = m->ps;
	h->m.n_code = n;
}

/* Bytes that are allocated. */
static size_t in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* What a message is charged with is what it takes when it is asked, or up to twice that: else messages of a kind would
 * get round the limit, or honest ones would not be taken. Where a sanitizer allocates, nobody counts. */
static void expect_cost(const struct gus_embeddeds *all, size_t before)
{
	uint64_t cost = GUS_LIMIT_EMBEDDED - all->memory.left, takes = in_use() - before;

	assert_in_range(takes, 0, cost);
	if (takes)
		assert_in_range(cost, 0, 2 * takes + 8192);
}

static void each_message_costs_what_it_takes(void **state)
{
	static void (*const fills[])(struct hand *h, struct many *m, size_t n) = {
		many_functions, many_names, many_lines, many_chains, many_calls, many_pieces };
	static const size_t counts[] = { 8, 1025, 16384, 16385, 20000, MANY };
	enum { COUNTS = sizeof(counts) / sizeof(*counts) };
	struct many *m = gus_zalloc(sizeof(*m));

	(void)state;
	mallopt(M_MMAP_MAX, 0); /* which rounds up to pages */
	for (size_t i = 0; i < sizeof(fills) / sizeof(*fills) * COUNTS; i++) {
		struct gus_embeddeds all;
		struct hand h;
		size_t before;

		fill(&h);
		fills[i / COUNTS](&h, m, counts[i % COUNTS]);
		h.m.trouble = (char *)(uintptr_t)"";
		gus_embedded_init(&all);
		before = in_use();
		assert_true(gus_embedded_add(&all, &h.m));
		assert_non_null(gus_embedded_find(&all, &module));
		expect_cost(&all, before);
		gus_embedded_free(&all);
	}
	free(m);
}

/* Each of which has tables of its own, and next to nothing in them. */
static void many_modules_cost_what_they_take(void **state)
{
	enum { MODULES = 10000 };
	struct gus_module of = module;
	struct gus_embeddeds all;
	char path[32];
	struct hand h;
	size_t before;

	(void)state;
	fill(&h);
	h.m.path = path;
	h.m.trouble = (char *)(uintptr_t)"";
	of.path = path;
	gus_embedded_init(&all);
	before = in_use();
	for (int i = 0; i < MODULES; i++) {
		struct gus_embedded_function f;
		struct gus_embedded *e;

		snprintf(path, sizeof(path), "/%d", i);
		assert_true(gus_embedded_add(&all, &h.m));
		e = gus_embedded_find(&all, &of);
		assert_true(e && gus_embedded_function(e, 0x120, false, &f));
	}
	expect_cost(&all, before);
	gus_embedded_free(&all);
}

/* From a program. */

static const char source[] =
	"#include <cstdio>\n"
	"namespace n {\n"
	"template <typename T> static inline T twice(T v) { return v * 2 + 1; }\n"
	"struct box { int v; __attribute__((noinline)) int open(volatile int *p) const { return twice(*p) * v; } };\n"
	"__attribute__((noinline)) long both(volatile int *p) { return twice(*p) + twice(long(*p)); }\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	volatile int v = argc;\n"
	"	n::box b = { argc };\n"
	"	puts(argv[0]);\n"
	"	return b.open(&v) + (int)n::both(&v);\n"
	"}\n";

/* first: six lines, of which the last two are third; second has these and two more behind them, the last of which is
 * fourth. */
static const char shared_source[] =
	".text\n.globl _start\n.type first, %function\n.type second, %function\n.type third, %function\n"
	".type fourth, %function\n"
	"_start: nop\n"
	"first: nop\nnop\n"
	"second: nop\nnop\n"
	"third: nop\nnop\n"
	"third_end: nop\n"
	"fourth: nop\n"
	"second_end: nop\n"
	".size first, third_end - first\n.size second, second_end - second\n.size third, third_end - third\n"
	".size fourth, second_end - fourth\n";

static char folder[64] = "/tmp/gusprof-embedded-XXXXXX";
static bool built;

static int build(void **state)
{
	char *command = gus_format("cd '%s' && c++ -O2 -g -no-pie -Wl,--build-id=sha1 p.cc -o p 2>/dev/null && "
				   "strip -o bare p && c++ -O1 -Wl,--build-id=sha1 p.cc -o other && cp p gone && "
				   "c++ -g -nostdlib -static -Wl,--build-id=sha1 shared.s -o shared",
				   mkdtemp(folder));
	char *path = gus_format("%s/p.cc", folder);
	FILE *file = fopen(path, "w");

	(void)state;
	if (!file || fputs(source, file) < 0 || fclose(file) != 0)
		return -1;
	free(path);
	path = gus_format("%s/shared.s", folder);
	file = fopen(path, "w");
	if (!file || fputs(shared_source, file) < 0 || fclose(file) != 0)
		return -1;
	built = system(command) == 0;
	free(command);
	free(path);
	return 0;
}

static int clean(void **state)
{
	char *command = gus_format("rm -rf '%s'", folder);
	int status = system(command);

	(void)state;
	free(command);
	return status;
}

struct program {
	char *path;
	struct gus_module module;
	struct gus_elf *elf;
};

static struct program program(const char *name)
{
	struct program p = { .path = gus_format("%s/%s", folder, name) };

	p.elf = gus_elf_open(p.path, NULL);
	assert_non_null(p.elf);
	p.module = (struct gus_module){ .kind = GUS_MODULE_FILE, .path = p.path, .build_id = p.elf->build_id,
					.build_id_size = p.elf->build_id_size };
	return p;
}

static void close_program(struct program *p)
{
	gus_elf_close(p->elf);
	free(p->path);
}

static struct gus_symbols *symbols_of(bool raw)
{
	static const char *const nowhere[] = { NULL };
	const struct gus_symbols_options options = { .debug_dirs = nowhere, .raw_names = raw };

	return gus_symbols_new(&options, NULL);
}

/* A message through its bytes, as a recording has it. */
static void pass_on(struct gus_symbols *to, Gusprof__Embedded *m)
{
	Gusprof__Embedded *read;
	uint8_t *bytes;
	size_t size;

	m->trouble = (char *)(uintptr_t)"";
	size = gusprof__embedded__get_packed_size(m);
	bytes = gus_alloc(size);
	gusprof__embedded__pack(m, bytes);
	read = gusprof__embedded__unpack(NULL, size, bytes);
	assert_non_null(read);
	assert_true(gus_symbols_add_embedded(to, read));
	gusprof__embedded__free_unpacked(read, NULL);
	free(bytes);
}

/* Symbols of a program whose file is not there, out of all of its functions; a message after each `each` of them. */
static struct gus_symbols *embed(const struct program *p, enum gus_embed what, size_t each, uint64_t until_ns,
				 struct gus_embedded_sums *sums)
{
	struct gus_symbols *from = symbols_of(true), *to = symbols_of(false);
	struct gus_embedding *e = gus_embedding_new(from, &p->module, until_ns);
	uint64_t before = 0;

	for (uint64_t at = 0; at < 2 * p->elf->size; at++) { /* names first, then the rest */
		struct gus_embedded_sums now;

		gus_embedding_add(e, at % p->elf->size, at < p->elf->size ? GUS_EMBED_SYMBOLS : what);
		now = gus_embedding_sums(e);
		if (now.functions + now.line_bytes + now.code_bytes >= before + each) {
			before = now.functions + now.line_bytes + now.code_bytes;
			pass_on(to, gus_embedding_take(e));
		}
	}
	pass_on(to, gus_embedding_take(e));
	if (sums)
		*sums = gus_embedding_sums(e);
	gus_embedding_free(e);
	gus_symbols_free(from);
	return to;
}

static void same_text(const char *a, const char *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (a)
		assert_string_equal(a, b);
}

/* How many names there were. */
static size_t same_names(struct gus_symbols *a, struct gus_symbols *b, const struct gus_module *of, uint64_t offset,
			 enum gus_depth depth)
{
	struct gus_name one[GUS_NAMES_MAX], two[GUS_NAMES_MAX];
	size_t n = gus_symbols_names(a, of, offset, depth, one);

	assert_int_equal(gus_symbols_names(b, of, offset, depth, two), n);
	for (size_t i = 0; i < n; i++) {
		same_text(one[i].function, two[i].function);
		same_text(one[i].file, two[i].file);
		assert_int_equal(one[i].line, two[i].line);
		assert_int_equal(one[i].inlined, two[i].inlined);
		assert_int_equal(one[i].start, two[i].start);
		assert_int_equal(one[i].size, two[i].size);
	}
	return n;
}

static void need_program(void)
{
	if (built)
		return;
	print_message("skipped: it needs a C++ compiler (c++) and binutils\n");
	skip();
}

/* At every byte of every function, whatever was in one message or in many. */
static void what_was_embedded_answers_as_the_file_does(void **state)
{
	static const char *const names[] = { "p", "bare" };
	static const size_t each[] = { 1, 30, SIZE_MAX };

	(void)state;
	need_program();
	for (size_t k = 0; k < 2 * 3; k++) {
		struct program p = program(names[k % 2]);
		struct gus_symbols *file = symbols_of(false), *there = embed(&p, GUS_EMBED_ALL, each[k / 2], UINT64_MAX,
									     NULL);
		char *moved = gus_format("%s.moved", p.path);
		size_t inlined = 0, functions = 0;
		struct gus_symbol f;

		/* The one opens it, and for the other one it is not there. */
		gus_symbols_address(file, &p.module, 0);
		assert_int_equal(rename(p.path, moved), 0);
		gus_symbols_address(there, &p.module, 0);
		assert_int_equal(rename(moved, p.path), 0);
		for (uint64_t offset = 0; offset < p.elf->size; offset++) {
			uint8_t one[32], two[32];
			size_t n;

			if (!gus_symbols_function(file, &p.module, offset, &f))
				continue;
			functions++;
			same_names(file, there, &p.module, offset, GUS_DEPTH_FUNCTION);
			same_names(file, there, &p.module, offset, GUS_DEPTH_LINE);
			inlined += same_names(file, there, &p.module, offset, GUS_DEPTH_INLINE) > 1;
			n = f.size - (offset - f.start) < sizeof(one) ? f.size - (offset - f.start) : sizeof(one);
			assert_int_equal(gus_symbols_code(file, &p.module, offset, one, n, NULL), n);
			assert_int_equal(gus_symbols_code(there, &p.module, offset, two, n, NULL), n);
			assert_memory_equal(one, two, n);
			assert_int_equal(gus_symbols_address(file, &p.module, offset),
					 gus_symbols_address(there, &p.module, offset));
		}
		assert_int_equal(inlined > 0, k % 2 == 0);
		assert_in_range(functions, 100, SIZE_MAX);
		gus_symbols_free(file);
		gus_symbols_free(there);
		free(moved);
		close_program(&p);
	}
}

static void less_is_brought_along_where_less_is_wanted(void **state)
{
	struct gus_embedded_sums sums;
	struct timespec now;
	struct program p;

	(void)state;
	need_program();
	p = program("p");
	gus_symbols_free(embed(&p, GUS_EMBED_SYMBOLS, SIZE_MAX, UINT64_MAX, &sums));
	assert_in_range(sums.functions, 5, 100);
	assert_true(sums.line_bytes == 0 && sums.code_bytes == 0 && sums.bare == 0);
	gus_symbols_free(embed(&p, GUS_EMBED_LINES, SIZE_MAX, UINT64_MAX, &sums));
	assert_true(sums.line_bytes > 0 && sums.code_bytes == 0 && sums.bare == 0);
	gus_symbols_free(embed(&p, GUS_EMBED_ALL, SIZE_MAX, UINT64_MAX, &sums));
	assert_true(sums.line_bytes > 0 && sums.code_bytes > sums.line_bytes && sums.bare == 0);
	gus_symbols_free(embed(&p, GUS_EMBED_LINES, SIZE_MAX, 0, &sums));
	assert_true(sums.line_bytes == 0 && sums.bare > 0); /* there was no time */
	clock_gettime(CLOCK_MONOTONIC, &now);
	gus_symbols_free(embed(&p, GUS_EMBED_LINES, SIZE_MAX,
			       (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec, &sums));
	assert_true(sums.line_bytes == 0 && sums.bare > 0); /* it is over just now */
	close_program(&p);
}

static uint64_t offset_of(const struct program *p, const char *name)
{
	struct gus_symbols *s = symbols_of(true);
	struct gus_symbol f;
	uint64_t at = 0;

	while (at < p->elf->size && (!gus_symbols_function(s, &p->module, at, &f) || !f.name ||
				     strcmp(f.name, name) != 0))
		at++;
	gus_symbols_free(s);
	assert_true(at < p->elf->size);
	return at;
}

/* The function of that name in a message; NULL if it has none. */
static const Gusprof__EmbeddedFunction *function_in(const Gusprof__Embedded *m, const char *name)
{
	for (size_t i = 0; i < m->n_functions; i++)
		if (m->functions[i]->name && strcmp(m->texts[m->functions[i]->name - 1], name) == 0)
			return m->functions[i];
	return NULL;
}

/* Each byte of functions that overlap is told once, in order, whichever is asked for first. */
static void shared_code_is_told_once(void **state)
{
	static const char *const orders[][4] = { { "first", "second", "third", "fourth" },
						 { "fourth", "third", "second", "first" },
						 { "second", "fourth", "third", "first" } };
	struct program p;

	(void)state;
	need_program();
	p = program("shared");
	for (size_t k = 0; k < 3; k++) {
		struct gus_symbols *s = symbols_of(true);
		struct gus_embedding *e = gus_embedding_new(s, &p.module, UINT64_MAX);
		uint64_t end = offset_of(&p, "first"), lines_end = end;
		const Gusprof__EmbeddedFunction *first, *second;
		Gusprof__Embedded *m;

		for (size_t i = 0; i < 4; i++)
			assert_true(gus_embedding_add(e, offset_of(&p, orders[k][i]), GUS_EMBED_ALL));
		m = gus_embedding_take(e);
		assert_int_equal(m->n_functions, 4);
		first = function_in(m, "first");
		second = function_in(m, "second");
		assert_true(first && second && function_in(m, "third"));
		assert_true(first->offset + first->size > second->offset && m->n_code == 2 && m->n_lines == 8);
		for (size_t i = 0; i < m->n_code; i++) {
			assert_int_equal(m->code[i]->offset, end);
			end += m->code[i]->bytes.len;
			assert_true(m->code[i]->bytes.len > 0);
		}
		for (size_t i = 0; i < m->n_lines; i++) {
			assert_int_equal(m->lines[i]->offset, lines_end);
			lines_end += m->lines[i]->size;
			assert_true(m->lines[i]->size > 0);
		}
		assert_true(end == second->offset + second->size && lines_end == end);
		gus_embedding_free(e);
		gus_symbols_free(s);
	}
	close_program(&p);
}

/* Of what it calls there is the name, if there is its code; and what two of its lines share is there once. */
static void what_is_called_is_named(void **state)
{
	struct gus_symbols *s;
	struct program p;

	(void)state;
	need_program();
	p = program("p");
	s = symbols_of(true);
	for (int all = 0; all < 2; all++) {
		struct gus_embedding *e = gus_embedding_new(s, &p.module, UINT64_MAX);
		Gusprof__Embedded *m;

		gus_embedding_add(e, offset_of(&p, "main"), all ? GUS_EMBED_ALL : GUS_EMBED_LINES);
		m = gus_embedding_take(e);
		assert_non_null(function_in(m, "main"));
		assert_int_equal(function_in(m, "_ZN1n4bothEPVi") != NULL, all);
		assert_in_range(m->n_chains, 4, m->n_lines - 1);
		gus_embedding_free(e);
	}
	gus_symbols_free(s);
	close_program(&p);
}

/* A better file is used: the recorded one, or one that knows a name which the recording does not. */
static void the_file_at_hand_is_better(void **state)
{
	struct gus_name names[GUS_NAMES_MAX];
	struct program p, bare;
	struct gus_symbols *s;
	struct gus_symbol f;
	struct hand h;

	(void)state;
	need_program();
	p = program("p");
	bare = program("bare");
	s = symbols_of(false);
	assert_true(gus_symbols_function(s, &p.module, offset_of(&p, "main"), &f));
	gus_symbols_free(s);
	for (size_t i = 0; i < 2; i++) { /* a program with names; the same without, whose build id is the same */
		const struct program *of = i ? &bare : &p;
		uint64_t at = f.start;

		fill(&h);
		h.m.path = of->path;
		h.m.build_id = (ProtobufCBinaryData){ of->module.build_id_size,
						      (uint8_t *)(uintptr_t)of->module.build_id };
		h.f[0].offset = at;
		h.f[0].size = f.size;
		h.m.n_functions = 1;
		h.m.n_lines = h.m.n_code = 0;
		s = symbols_of(false);
		assert_true(gus_symbols_add_embedded(s, &h.m));
		gus_symbols_names(s, &of->module, at, GUS_DEPTH_FUNCTION, names);
		assert_string_equal(names[0].function, i ? "outer" : "main");
		assert_int_equal(names[0].start, at);
		gus_symbols_free(s);
	}
	close_program(&p);
	close_program(&bare);
}

static int open_kept(void *context, const struct gus_module *of)
{
	(void)of;
	return fcntl(*(const int *)context, F_DUPFD_CLOEXEC, 0);
}

/* A file that somebody holds open serves when nothing lies at its path any more, also for what is read late. */
static void a_file_without_a_name_serves(void **state)
{
	static const char *const nowhere[] = { NULL };
	struct program p;
	int fd, other;
	struct gus_symbols_options options = { .debug_dirs = nowhere, .open = open_kept, .open_context = &fd };
	struct gus_symbols *s;
	struct gus_symbol f;
	char *path;

	(void)state;
	need_program();
	p = program("gone");
	path = gus_format("%s/other", folder);
	fd = open(p.path, O_RDONLY | O_CLOEXEC);
	other = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && other >= 0);
	unlink(p.path);
	s = gus_symbols_new(&options, NULL);
	f.name = NULL;
	for (uint64_t at = 0; at < p.elf->size && (!f.name || strcmp(f.name, "main") != 0); at++)
		if (!gus_symbols_function(s, &p.module, at, &f))
			f.name = NULL;
	assert_non_null(f.name);
	assert_null(gus_symbols_failure(s));
	gus_symbols_free(s);
	close(fd);
	fd = other; /* which is not what was recorded */
	s = gus_symbols_new(&options, NULL);
	assert_non_null(gus_symbols_trouble(s, &p.module));
	gus_symbols_free(s);
	close(fd);
	fd = -1; /* nobody has it */
	s = gus_symbols_new(&options, NULL);
	assert_non_null(gus_symbols_trouble(s, &p.module));
	gus_symbols_free(s);
	close_program(&p);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_lines_and_code_are_the_messages),
		cmocka_unit_test(what_is_missing_is_said),
		cmocka_unit_test(another_module_has_nothing_of_it),
		cmocka_unit_test(many_modules_have_nothing_of_it),
		cmocka_unit_test(messages_add_up),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(bounds_are_taken),
		cmocka_unit_test(memory_of_all_messages_has_an_end),
		cmocka_unit_test(each_message_costs_what_it_takes),
		cmocka_unit_test(many_modules_cost_what_they_take),
		cmocka_unit_test(what_was_embedded_answers_as_the_file_does),
		cmocka_unit_test(less_is_brought_along_where_less_is_wanted),
		cmocka_unit_test(shared_code_is_told_once),
		cmocka_unit_test(what_is_called_is_named),
		cmocka_unit_test(the_file_at_hand_is_better),
		cmocka_unit_test(a_file_without_a_name_serves),
	};

	return cmocka_run_group_tests(tests, build, clean);
}
