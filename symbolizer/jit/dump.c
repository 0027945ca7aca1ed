/* SPDX-License-Identifier: MIT */
/* A jitdump, as tools/perf/Documentation/jitdump-specification.txt of the kernel's sources has it:
 *
 *     header: magic, version, its size, machine, 0, pid, time, flags | records: kind, size, time | body, by kind
 *
 * The idea: a file's numbers are of its writer's byte order, which the magic tells; gusprof runs on little-endian
 * machines and looks at processes of its own, so a file of the other order is none of theirs and is refused. A record
 * says how long it is, so one of an unknown kind, or one whose body makes no sense, is passed over and the next one is
 * read. Lines stand before the code that they are of; they wait for it. */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/index.h"
#include "base/limits.h"
#include "symbolizer/jit/jit.h"

#define MAGIC 0x4a695444u
#define SWAPPED 0x4454694au
#define HEAD 40u                /* bytes of the first version's header */
#define RECORD_HEAD 16u
#define FLAG_ARCH_TIME 1u       /* times are of the CPU's own counter */
#define SAME_FILE 0xff          /* a name of this byte alone: as in the entry before, which perf's own writers use */

enum { LOAD, MOVE, DEBUG_INFO, CLOSE, UNWINDING_INFO };

struct dump {
	struct gus_jit *j;
	struct gus_index loaded;  /* code_index of pieces; the number is that of their last_of */
	struct gus_vec(uint32_t) last_of; /* the piece that was told last */
	uint64_t lines_address;   /* of the lines that wait */
	uint32_t lines, lines_n;
	uint64_t told, time;      /* of the record at hand */
};

static struct gus_piece take_text(struct gus_cursor *c)
{
	size_t left = gus_cursor_left(c);
	const uint8_t *end = left ? memchr(c->at, '\0', left) : NULL;
	struct gus_piece text = { 0 };

	if (!end) {
		gus_cursor_take(c, SIZE_MAX);
		return text;
	}
	text = (struct gus_piece){ (const char *)c->at, (size_t)(end - c->at) };
	gus_cursor_take(c, text.size + 1);
	return text;
}

static bool push_piece(struct dump *d, const struct gus_jit_piece *p)
{
	uint64_t end;

	if (!p->size || !p->name.size || p->name.size > GUS_LIMIT_NAME || memchr(p->name.text, '\n', p->name.size) ||
	    p->size > GUS_LIMIT_FUNCTION || __builtin_add_overflow(p->address, p->size, &end)) {
		d->j->bad += p->size != 0; /* there may be functions without code */
		return false;
	}
	if (d->j->pieces.n >= GUS_LIMIT_JIT_PIECES) {
		d->j->left_out++;
		return false;
	}
	gus_vec_push(&d->j->pieces, *p);
	return true;
}

static void note_index(struct dump *d, uint64_t index)
{
	bool is_new;
	uint32_t number = gus_index_add(&d->loaded, &index, &is_new);

	if (is_new)
		gus_vec_push(&d->last_of, 0);
	d->last_of.v[number] = (uint32_t)d->j->pieces.n - 1;
}

static void take_load(struct dump *d, struct gus_cursor *c)
{
	struct gus_jit_piece p = { .told = d->told, .time = d->time, .origin = (uint32_t)d->j->pieces.n };
	uint64_t index;

	gus_cursor_u64(c); /* who: the process alone is in the file, its threads are no matter */
	gus_cursor_u64(c); /* vma: where the code is mapped; runtimes that have two mappings execute the next */
	p.address = gus_cursor_u64(c);
	p.size = gus_cursor_u64(c);
	index = gus_cursor_u64(c);
	p.name = take_text(c);
	p.code = p.size ? gus_cursor_take(c, p.size) : NULL;
	if (c->bad) {
		d->j->bad++;
		return;
	}
	if (d->lines_n && d->lines_address == p.address) {
		p.lines = d->lines;
		p.lines_n = d->lines_n;
	}
	d->lines_n = 0;
	if (push_piece(d, &p))
		note_index(d, index);
}

static void take_move(struct dump *d, struct gus_cursor *c)
{
	struct gus_jit_piece p;
	uint64_t old, new, size, index;
	uint32_t number;

	gus_cursor_u64(c);
	gus_cursor_u64(c);
	old = gus_cursor_u64(c);
	new = gus_cursor_u64(c);
	size = gus_cursor_u64(c);
	index = gus_cursor_u64(c);
	number = c->bad ? GUS_INDEX_NONE : gus_index_find(&d->loaded, &index);
	if (number == GUS_INDEX_NONE) {
		d->j->bad++;
		return;
	}
	p = d->j->pieces.v[d->last_of.v[number]];
	if (p.address != old || p.size != size) {
		d->j->bad++;
		return;
	}
	p.address = new;
	p.time = d->time;
	p.told = d->told;
	if (push_piece(d, &p))
		d->last_of.v[number] = (uint32_t)d->j->pieces.n - 1;
}

/* Entries are in the order of addresses; one that is not is bad, and the rest is left. */
static void take_lines(struct dump *d, struct gus_cursor *c)
{
	uint64_t address = gus_cursor_u64(c), n = gus_cursor_u64(c), before = 0;
	struct gus_piece file = { 0 };
	bool good = !c->bad;

	d->lines_address = address;
	d->lines = (uint32_t)d->j->lines.n;
	d->lines_n = 0;
	for (uint64_t i = 0; i < n && good; i++) {
		uint64_t at = gus_cursor_u64(c), offset = at - address;
		uint32_t line = gus_cursor_u32(c);
		struct gus_piece name;

		gus_cursor_u32(c); /* a column */
		name = take_text(c);
		good = !c->bad && at >= address && offset >= before;
		if (!good)
			break;
		if (name.size != 1 || (uint8_t)*name.text != SAME_FILE)
			file = name;
		if (d->j->lines.n >= GUS_LIMIT_JIT_LINES || file.size > GUS_LIMIT_NAME) {
			d->j->left_out++;
			continue;
		}
		gus_vec_push(&d->j->lines, (struct gus_jit_line){ .offset = offset, .line = line, .file = file });
		d->lines_n++;
		before = offset;
	}
	d->j->bad += !good;
}

static void take_nothing(struct dump *d, struct gus_cursor *c)
{
	(void)d;
	(void)c;
}

static void (*const takers[])(struct dump *d, struct gus_cursor *c) = {
	[LOAD] = take_load, [MOVE] = take_move, [DEBUG_INFO] = take_lines, [CLOSE] = take_nothing,
	[UNWINDING_INFO] = take_nothing,
};

static void take_records(struct dump *d, struct gus_cursor *c)
{
	while (gus_cursor_left(c) >= RECORD_HEAD) {
		uint32_t kind, size;
		struct gus_cursor body;
		const uint8_t *bytes;

		d->told = gus_cursor_offset(c);
		kind = gus_cursor_u32(c);
		size = gus_cursor_u32(c);
		d->time = gus_cursor_u64(c);
		if (size < RECORD_HEAD) {
			d->j->bad++;
			return; /* where the next one begins is not known */
		}
		bytes = gus_cursor_take(c, size - RECORD_HEAD);
		if (!bytes)
			return;
		body = gus_cursor(bytes, size - RECORD_HEAD);
		if (kind < sizeof(takers) / sizeof(*takers))
			takers[kind](d, &body);
	}
}

const char *gus_jit_read_dump(struct gus_jit *j, const void *bytes, size_t size)
{
	struct gus_cursor c = gus_cursor(bytes, size);
	uint32_t magic = gus_cursor_u32(&c), version = gus_cursor_u32(&c), head = gus_cursor_u32(&c);
	uint32_t machine = gus_cursor_u32(&c);
	struct dump d = { .j = j };
	uint64_t flags;

	gus_cursor_take(&c, 16); /* padding, pid, time */
	flags = gus_cursor_u64(&c);
	if (c.bad)
		return "it is too short for a jitdump";
	if (magic == SWAPPED)
		return "it is a jitdump of a machine with the other byte order";
	if (magic != MAGIC || version != 1 || head < HEAD)
		return "it is no jitdump of version 1";
	gus_cursor_take(&c, head - HEAD);
	j->machine = machine;
	j->timed = !(flags & FLAG_ARCH_TIME);
	gus_index_init(&d.loaded, sizeof(uint64_t));
	take_records(&d, &c);
	gus_index_free(&d.loaded);
	gus_vec_free(&d.last_of);
	return NULL;
}
