/* SPDX-License-Identifier: MIT */
#include "symbolizer/symbols/embedding.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/index.h"
#include "proto/container.h"
#include "symbolizer/insn/loops.h"
#include "symbolizer/symbols/symbols.h"

#define LOOK_AT_CLOCK 64        /* lines: each costs a microsecond, or a unit's DWARF */
#define MESSAGE_END (GUS_FRAME_RAW_MAX - (256u << 10)) /* bytes of a message; the rest is for what is only estimated */
#define BYTES_OF_FUNCTION 32    /* of a message, about, beside texts and code */
#define BYTES_OF_LINES 24
#define BYTES_OF_CALL 14
#define TEXT_NONE 0

struct chain { size_t first, n; };
struct call { uint32_t function, file, line; };
struct lines { uint64_t offset, size; uint32_t chain; };
struct piece { uint64_t offset; size_t at, size; }; /* in bytes */

/* Arrays of a message, which it borrows from here. */
struct made {
	Gusprof__Embedded message;
	struct gus_vec(char *) texts;
	struct gus_vec(Gusprof__EmbeddedFunction *) functions;
	struct gus_vec(Gusprof__EmbeddedChain *) chains;
	struct gus_vec(Gusprof__EmbeddedLines *) lines;
	struct gus_vec(Gusprof__EmbeddedCode *) code;
};

struct gus_embedding {
	struct gus_symbols *symbols;
	const struct gus_module *module;
	uint64_t until_ns;
	bool late;                      /* the time is over */
	unsigned asked;                 /* lines since the clock was looked at */
	struct gus_index named, bodied; /* starts of functions that were taken: by name, with all that is wanted */
	/* of the next message */
	struct gus_strings texts;       /* their numbers are the message's, as 0 is none */
	struct gus_vec(struct gus_symbol) functions;
	struct gus_vec(struct call) calls;
	struct gus_vec(struct chain) chains;
	struct gus_vec(struct lines) lines;
	struct gus_vec(struct piece) pieces;
	struct gus_vec(uint8_t) bytes;
	unsigned machine;
	size_t size;                    /* bytes that the message will take, about */
	struct gus_embedded_sums sums;
	struct made made;
	bool taken;                     /* the next one begins anew */
};

struct gus_embedding *gus_embedding_new(struct gus_symbols *symbols, const struct gus_module *module, uint64_t until_ns)
{
	struct gus_embedding *e = gus_zalloc(sizeof(*e));

	e->symbols = symbols;
	e->module = module;
	e->until_ns = until_ns;
	gus_index_init(&e->named, sizeof(uint64_t));
	gus_index_init(&e->bodied, sizeof(uint64_t));
	gus_strings_init(&e->texts);
	return e;
}

static void free_made(struct made *m)
{
	for (size_t i = 0; i < m->functions.n; i++)
		free(m->functions.v[i]);
	for (size_t i = 0; i < m->chains.n; i++) {
		free(m->chains.v[i]->functions);
		free(m->chains.v[i]->files);
		free(m->chains.v[i]->lines);
		free(m->chains.v[i]);
	}
	for (size_t i = 0; i < m->lines.n; i++)
		free(m->lines.v[i]);
	for (size_t i = 0; i < m->code.n; i++)
		free(m->code.v[i]);
	gus_vec_free(&m->texts);
	gus_vec_free(&m->functions);
	gus_vec_free(&m->chains);
	gus_vec_free(&m->lines);
	gus_vec_free(&m->code);
}

static void clear(struct gus_embedding *e)
{
	free_made(&e->made);
	gus_strings_free(&e->texts);
	gus_strings_init(&e->texts);
	e->functions.n = e->calls.n = e->chains.n = e->lines.n = e->pieces.n = e->bytes.n = 0;
	e->size = 0;
	e->taken = false;
}

void gus_embedding_free(struct gus_embedding *e)
{
	if (!e)
		return;
	free_made(&e->made);
	gus_strings_free(&e->texts);
	gus_index_free(&e->named);
	gus_index_free(&e->bodied);
	gus_vec_free(&e->functions);
	gus_vec_free(&e->calls);
	gus_vec_free(&e->chains);
	gus_vec_free(&e->lines);
	gus_vec_free(&e->pieces);
	gus_vec_free(&e->bytes);
	free(e);
}

static uint32_t add_text(struct gus_embedding *e, const char *text)
{
	uint32_t before = e->texts.n, number = text ? gus_strings_add(&e->texts, text) : TEXT_NONE;

	if (e->texts.n > before)
		e->size += strlen(text) + 4;
	return number;
}

/* The function around an offset; false if none is known. */
static bool add_function(struct gus_embedding *e, uint64_t offset, struct gus_symbol *f)
{
	bool is_new;

	if (!gus_symbols_function(e->symbols, e->module, offset, f))
		return false;
	gus_index_add(&e->named, &f->start, &is_new);
	if (!is_new)
		return true;
	gus_vec_push(&e->functions, *f);
	add_text(e, f->name);
	e->size += BYTES_OF_FUNCTION;
	e->sums.functions++;
	return true;
}

/* Lines. */

static bool is_late(struct gus_embedding *e)
{
	struct timespec now;

	if (!e->late && e->asked++ % LOOK_AT_CLOCK == 0) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		e->late = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec >= e->until_ns;
	}
	return e->late;
}

static bool is_chain(const struct gus_embedding *e, uint32_t number, const struct call *calls, size_t n)
{
	const struct chain *c = &e->chains.v[number];

	return c->n == n && memcmp(e->calls.v + c->first, calls, n * sizeof(*calls)) == 0;
}

/* Neighbours mostly share their chain, and lines of a loop come again soon. */
static uint32_t add_chain(struct gus_embedding *e, const struct call *calls, size_t n)
{
	enum { BACK = 16 };

	for (size_t i = e->chains.n; i-- > 0 && i + BACK >= e->chains.n;)
		if (is_chain(e, (uint32_t)i, calls, n))
			return (uint32_t)i;
	gus_vec_push(&e->chains, (struct chain){ e->calls.n, n });
	gus_vec_append(&e->calls, calls, n);
	e->size += n * BYTES_OF_CALL;
	return (uint32_t)e->chains.n - 1;
}

/* The line and the inlined calls of [offset, offset + size), which are those of its first byte. What nothing is known
 * of but the function has none. */
static void add_line(struct gus_embedding *e, uint64_t offset, uint64_t size)
{
	struct gus_name names[GUS_NAMES_MAX];
	struct call calls[GUS_NAMES_MAX];
	size_t n = gus_symbols_names(e->symbols, e->module, offset, GUS_DEPTH_INLINE, names);
	struct lines *last = e->lines.n ? &e->lines.v[e->lines.n - 1] : NULL;
	uint32_t chain;

	if (n == 1 && !names[0].file && !names[0].line)
		return;
	for (size_t i = 0; i < n; i++)
		calls[i] = (struct call){ add_text(e, names[i].function), add_text(e, names[i].file), names[i].line };
	chain = add_chain(e, calls, n);
	e->sums.line_bytes += size;
	if (last && last->chain == chain && last->offset + last->size == offset) {
		last->size += size;
		return;
	}
	gus_vec_push(&e->lines, (struct lines){ offset, size, chain });
	e->size += BYTES_OF_LINES;
}

/* Of all instructions; where it is not known where these begin, of all bytes. False if not all were asked about. */
static bool add_lines(struct gus_embedding *e, const struct gus_symbol *f, const struct gus_graph *g)
{
	size_t n = g->insns.n ? g->insns.n : f->size;

	for (size_t i = 0; i < n; i++) {
		uint64_t at = g->insns.n ? g->insns.v[i].offset : i, size = g->insns.n ? g->insns.v[i].length : 1;

		if (is_late(e) || e->size > MESSAGE_END)
			return false;
		add_line(e, f->start + at, size);
	}
	return true;
}

/* Code. */

static void add_code(struct gus_embedding *e, const struct gus_symbol *f, const uint8_t *bytes, size_t size)
{
	gus_vec_push(&e->pieces, (struct piece){ f->start, e->bytes.n, size });
	gus_vec_append(&e->bytes, bytes, size);
	e->size += size + BYTES_OF_LINES;
	e->sums.code_bytes += size;
}

/* What annotate calls the targets of direct jumps and calls that leave the function. */
static void add_targets(struct gus_embedding *e, const struct gus_symbol *f, const struct gus_graph *g)
{
	for (size_t i = 0; i < g->insns.n; i++) {
		const struct gus_graph_insn *insn = &g->insns.v[i];
		struct gus_symbol to;

		if (insn->target == GUS_GRAPH_NONE && insn->jump && (insn->class == GUS_INSN_CALL ||
		    insn->class == GUS_INSN_BRANCH || insn->class == GUS_INSN_BRANCH_COND))
			add_function(e, f->start + insn->jump, &to);
	}
}

static bool add_body(struct gus_embedding *e, const struct gus_symbol *f, enum gus_embed what)
{
	uint8_t *bytes = gus_alloc((size_t)f->size);
	size_t size = gus_symbols_code(e->symbols, e->module, f->start, bytes, (size_t)f->size, &e->machine);
	enum gus_isa isa = gus_isa_of_machine(e->machine);
	struct gus_graph graph = { 0 };
	bool all;

	if (size && isa != GUS_ISA_UNKNOWN)
		gus_graph_read(&graph, isa, bytes, size);
	all = add_lines(e, f, &graph);
	if (what == GUS_EMBED_ALL && size) {
		add_code(e, f, bytes, size);
		add_targets(e, f, &graph);
	}
	gus_graph_free(&graph);
	free(bytes);
	return all && (size || what < GUS_EMBED_ALL);
}

bool gus_embedding_add(struct gus_embedding *e, uint64_t offset, enum gus_embed what)
{
	struct gus_symbol f;
	bool is_new;

	if (e->taken)
		clear(e);
	if (!add_function(e, offset, &f))
		return false;
	if (what <= GUS_EMBED_SYMBOLS)
		return true;
	gus_index_add(&e->bodied, &f.start, &is_new);
	if (is_new)
		e->sums.bare += f.size > GUS_EMBEDDING_FUNCTION_MOST || !add_body(e, &f, what);
	return true;
}

size_t gus_embedding_size(const struct gus_embedding *e)
{
	return e->taken ? 0 : e->size;
}

bool gus_embedding_is_full(const struct gus_embedding *e)
{
	return e->size >= GUS_EMBEDDING_MESSAGE_MOST;
}

struct gus_embedded_sums gus_embedding_sums(const struct gus_embedding *e)
{
	return e->sums;
}

/* The message. */

static int by_start(const void *a, const void *b)
{
	const struct gus_symbol *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int by_offset(const void *a, const void *b)
{
	const struct lines *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int by_place(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void make_texts(struct gus_embedding *e)
{
	for (uint32_t i = 1; i < e->texts.n; i++)
		gus_vec_push(&e->made.texts, (char *)(uintptr_t)gus_strings_get(&e->texts, i));
}

static void make_functions(struct gus_embedding *e)
{
	if (e->functions.n)
		qsort(e->functions.v, e->functions.n, sizeof(*e->functions.v), by_start);
	for (size_t i = 0; i < e->functions.n; i++) {
		const struct gus_symbol *f = &e->functions.v[i];
		Gusprof__EmbeddedFunction *m = gus_alloc(sizeof(*m));

		gusprof__embedded_function__init(m);
		m->offset = f->start;
		m->size = f->size;
		m->address = f->address;
		m->name = f->name ? gus_strings_add(&e->texts, f->name) : TEXT_NONE; /* it is there */
		gus_vec_push(&e->made.functions, m);
	}
}

static uint32_t *column(const struct gus_embedding *e, const struct chain *c, size_t field)
{
	uint32_t *numbers = gus_resize(NULL, c->n, sizeof(*numbers));

	for (size_t i = 0; i < c->n; i++)
		memcpy(&numbers[i], (const char *)&e->calls.v[c->first + i] + field, sizeof(*numbers));
	return numbers;
}

static void make_chains(struct gus_embedding *e)
{
	for (size_t i = 0; i < e->chains.n; i++) {
		const struct chain *c = &e->chains.v[i];
		Gusprof__EmbeddedChain *m = gus_alloc(sizeof(*m));

		gusprof__embedded_chain__init(m);
		m->n_functions = m->n_files = m->n_lines = c->n;
		m->functions = column(e, c, offsetof(struct call, function));
		m->files = column(e, c, offsetof(struct call, file));
		m->lines = column(e, c, offsetof(struct call, line));
		gus_vec_push(&e->made.chains, m);
	}
}

/* Functions may share code, which is told once. */
static void make_lines(struct gus_embedding *e)
{
	uint64_t end = 0;

	if (e->lines.n)
		qsort(e->lines.v, e->lines.n, sizeof(*e->lines.v), by_offset);
	for (size_t i = 0; i < e->lines.n; i++) {
		const struct lines *l = &e->lines.v[i];
		uint64_t from = l->offset > end ? l->offset : end;
		Gusprof__EmbeddedLines *m;

		if (l->offset + l->size <= from)
			continue;
		end = l->offset + l->size;
		m = gus_alloc(sizeof(*m));
		gusprof__embedded_lines__init(m);
		m->offset = from;
		m->size = end - from;
		m->chain = l->chain;
		gus_vec_push(&e->made.lines, m);
	}
}

static void make_code(struct gus_embedding *e)
{
	uint64_t end = 0;

	if (e->pieces.n)
		qsort(e->pieces.v, e->pieces.n, sizeof(*e->pieces.v), by_place);
	for (size_t i = 0; i < e->pieces.n; i++) {
		const struct piece *p = &e->pieces.v[i];
		uint64_t from = p->offset > end ? p->offset : end;
		Gusprof__EmbeddedCode *m;

		if (p->offset + p->size <= from)
			continue;
		end = p->offset + p->size;
		m = gus_alloc(sizeof(*m));
		gusprof__embedded_code__init(m);
		m->offset = from;
		m->bytes.data = e->bytes.v + p->at + (from - p->offset);
		m->bytes.len = (size_t)(end - from);
		gus_vec_push(&e->made.code, m);
	}
}

Gusprof__Embedded *gus_embedding_take(struct gus_embedding *e)
{
	const struct gus_module *of = e->module;
	struct made *made = &e->made;
	Gusprof__Embedded *m = &made->message;

	if (e->taken)
		clear(e);
	e->taken = true;
	make_functions(e);
	make_texts(e);
	make_chains(e);
	make_lines(e);
	make_code(e);
	gusprof__embedded__init(m);
	m->path = (char *)(uintptr_t)of->path;
	m->build_id = (ProtobufCBinaryData){ of->build_id ? of->build_id_size : 0, (uint8_t *)(uintptr_t)of->build_id };
	m->major = of->major;
	m->minor = of->minor;
	m->inode = of->inode;
	m->machine = e->machine;
	m->n_texts = made->texts.n;
	m->texts = made->texts.v;
	m->n_functions = made->functions.n;
	m->functions = made->functions.v;
	m->n_chains = made->chains.n;
	m->chains = made->chains.v;
	m->n_lines = made->lines.n;
	m->lines = made->lines.v;
	m->n_code = made->code.n;
	m->code = made->code.v;
	return m;
}
