/* SPDX-License-Identifier: MIT */
/* The bytes, integers as LEB128 and real numbers as IEEE 754 in little-endian order:
 *
 *	weight, explained, isa
 *	n | n texts:        size, letters; modules and functions are numbers of these, from 1 on
 *	n | n places:       module, the space's number of it and 1 (0: none), offset, executed
 *	                    if executed: block, function, start, in_loop, head, address, size, code, three causes
 *	n | n seen:         place, thread, weight
 *	n | n cells:        place, thread, events, flags, evidence, weight, told
 *	width, evidence, samples (double), all (double)
 *	n | n of solution:  who, site, psv, share and GUS_REPLICATES shares (double) */
#include "attribution/accounts/kept.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/accounts/account.h"
#include "base/cursor.h"
#include "base/limits.h"
#include "proto/psv.h"

enum { MOVED = 1, UNKNOWN = 2 };

/* Writing. */

static void put_real(struct gus_bytes *out, const void *v, size_t size)
{
	gus_vec_append(out, (const uint8_t *)v, size);
}

static void put_texts(struct gus_bytes *out, const struct gus_strings *texts)
{
	gus_bytes_varint(out, texts->n - 1);
	for (uint32_t i = 1; i < texts->n; i++) {
		gus_bytes_varint(out, texts->list[i].length);
		gus_vec_append(out, (const uint8_t *)texts->list[i].text, texts->list[i].length);
	}
}

static void put_traced(struct gus_bytes *out, struct gus_strings *texts, const struct gus_account_place *p)
{
	gus_bytes_varint(out, p->block);
	gus_bytes_varint(out, p->function ? gus_strings_add(texts, p->function) : 0);
	gus_bytes_varint(out, p->start);
	gus_bytes_varint(out, p->in_loop);
	gus_bytes_varint(out, p->head);
	gus_bytes_varint(out, p->address);
	gus_bytes_varint(out, p->size);
	gus_vec_append(out, p->code, p->size);
	gus_bytes_varint(out, p->causes.base);
	gus_bytes_varint(out, p->causes.exception);
	gus_bytes_varint(out, p->causes.unknown);
}

/* And the texts before them. */
static void put_places(struct gus_bytes *out, const struct gus_account *a)
{
	struct gus_bytes places = { 0 };
	struct gus_strings texts;

	gus_strings_init(&texts);
	gus_bytes_varint(&places, a->places.n);
	for (size_t i = 0; i < a->places.n; i++) {
		const struct gus_account_place *p = &a->places.v[i];

		gus_bytes_varint(&places, gus_strings_add(&texts, p->module));
		gus_bytes_varint(&places, p->place.module == GUS_CLUE_NONE ? 0 : (uint64_t)p->place.module + 1);
		gus_bytes_varint(&places, p->offset);
		gus_bytes_varint(&places, p->executed);
		if (p->executed)
			put_traced(&places, &texts, p);
	}
	put_texts(out, &texts);
	gus_vec_append(out, places.v, places.n);
	gus_vec_free(&places);
	gus_strings_free(&texts);
}

static void put_cells(struct gus_bytes *out, const struct gus_account *a)
{
	gus_bytes_varint(out, a->seen.n);
	for (size_t i = 0; i < a->seen.n; i++) {
		gus_bytes_varint(out, a->seen.v[i].place);
		gus_bytes_varint(out, a->seen.v[i].thread);
		gus_bytes_varint(out, a->seen.v[i].weight);
	}
	gus_bytes_varint(out, a->cells.n);
	for (size_t i = 0; i < a->cells.n; i++) {
		const struct gus_account_cell *c = &a->cells.v[i];

		gus_bytes_varint(out, c->place);
		gus_bytes_varint(out, c->thread);
		gus_bytes_varint(out, c->what.events);
		gus_bytes_varint(out, (c->moved ? MOVED : 0) | (c->what.unknown ? UNKNOWN : 0));
		gus_bytes_varint(out, c->evidence);
		gus_bytes_varint(out, c->weight);
		gus_bytes_varint(out, c->told);
	}
}

static void put_solution(struct gus_bytes *out, const struct gus_solution *e)
{
	const struct gus_replicates *r = &e->replicates;

	gus_bytes_varint(out, e->width);
	gus_bytes_varint(out, r->o.evidence);
	put_real(out, &r->o.samples, sizeof(r->o.samples));
	put_real(out, &r->all, sizeof(r->all));
	gus_bytes_varint(out, r->cells.n);
	for (size_t i = 0; i < r->cells.n; i++) {
		const struct gus_replicates_cell *c = &r->cells.v[i];

		gus_bytes_varint(out, c->who);
		gus_bytes_varint(out, c->site);
		gus_bytes_varint(out, c->psv);
		put_real(out, &c->share, sizeof(c->share));
		put_real(out, &r->shares[i * GUS_REPLICATES], GUS_REPLICATES * sizeof(*r->shares));
	}
}

void gus_account_put(struct gus_bytes *out, const struct gus_account *a)
{
	gus_bytes_varint(out, a->weight);
	gus_bytes_varint(out, a->explained);
	gus_bytes_varint(out, a->isa);
	put_places(out, a);
	put_cells(out, a);
	put_solution(out, &a->solution);
}

/* Reading. */

static void take_real(struct gus_cursor *c, void *v, size_t size)
{
	const uint8_t *bytes = gus_cursor_take(c, size);

	if (bytes)
		memcpy(v, bytes, size);
}

static double take_share(struct gus_cursor *c)
{
	double share = -1;

	take_real(c, &share, sizeof(share));
	c->bad |= !isfinite(share) || share < 0;
	return c->bad ? 0 : share;
}

static void take_texts(struct gus_cursor *c, struct gus_strings *to)
{
	size_t n = gus_cursor_count(c, 1);

	for (size_t i = 1; i <= n && !c->bad; i++) {
		size_t size = (size_t)gus_cursor_below(c, GUS_LIMIT_NAME);
		const uint8_t *letters = gus_cursor_take(c, size);

		c->bad |= !letters || memchr(letters, 0, size) ||
			gus_strings_add_n(to, (const char *)letters, size) != i;
	}
}

static void take_traced(struct gus_cursor *c, const struct gus_strings *texts, struct gus_account_place *p)
{
	const uint8_t *code;
	uint64_t function;

	p->block = gus_cursor_varint(c);
	function = gus_cursor_below(c, texts->n);
	p->function = function ? gus_strings_get(texts, (uint32_t)function) : NULL;
	p->start = gus_cursor_varint(c);
	p->in_loop = gus_cursor_below(c, 2);
	p->head = gus_cursor_varint(c);
	p->address = gus_cursor_varint(c);
	p->size = (uint8_t)gus_cursor_below(c, GUS_ACCOUNT_CODE + 1);
	code = gus_cursor_take(c, p->size);
	if (code)
		memcpy(p->code, code, p->size);
	p->causes.base = (enum gus_account_cause)gus_cursor_below(c, GUS_CAUSES);
	p->causes.exception = (enum gus_account_cause)gus_cursor_below(c, GUS_CAUSES);
	p->causes.unknown = (enum gus_account_cause)gus_cursor_below(c, GUS_CAUSES);
}

/* Names are asked for by the number of the module, which is what this recording calls so. */
static bool is_module(const struct gus_clues *clues, uint32_t number, const char *path)
{
	const struct gus_module *m = gus_space_module(clues->profile.space, number);

	return strcmp(m->path, path) == 0;
}

static void take_places(struct gus_cursor *c, struct gus_account *a)
{
	const uint32_t modules = gus_space_modules(a->clues->profile.space);
	size_t n = gus_cursor_count(c, 4);

	for (size_t i = 0; i < n && !c->bad; i++) {
		struct gus_account_place p = { .place.module = GUS_CLUE_NONE };
		uint32_t text = (uint32_t)gus_cursor_below(c, a->texts.n);
		uint32_t module = (uint32_t)gus_cursor_below(c, (uint64_t)modules + 1);

		p.module = gus_strings_get(&a->texts, text);
		p.place.offset = p.offset = gus_cursor_varint(c);
		p.executed = gus_cursor_below(c, 2);
		if (p.executed)
			take_traced(c, &a->texts, &p);
		if (module) {
			p.place.module = module - 1;
			c->bad |= !is_module(a->clues, p.place.module, p.module);
		}
		gus_vec_push(&a->places, p);
	}
}

static void take_seen(struct gus_cursor *c, struct gus_account *a)
{
	size_t n = gus_cursor_count(c, 3);

	for (size_t i = 0; i < n && !c->bad; i++) {
		struct gus_account_seen s = { .place = (uint32_t)gus_cursor_below(c, a->places.n) };

		s.thread = (uint32_t)gus_cursor_below(c, a->clues->threads.n);
		s.weight = gus_cursor_varint(c);
		gus_vec_push(&a->seen, s);
	}
}

static void take_cells(struct gus_cursor *c, struct gus_account *a)
{
	size_t n = gus_cursor_count(c, 7);

	for (size_t i = 0; i < n && !c->bad; i++) {
		struct gus_account_cell cell = { .place = (uint32_t)gus_cursor_below(c, a->places.n) };
		uint64_t flags;

		cell.thread = (uint32_t)gus_cursor_below(c, a->clues->threads.n);
		cell.what.events = (uint16_t)gus_cursor_below(c, GUS_PSV_ALL + 1);
		flags = gus_cursor_below(c, (MOVED | UNKNOWN) + 1);
		cell.moved = flags & MOVED;
		cell.what.unknown = flags & UNKNOWN;
		cell.evidence = (enum gus_evidence)gus_cursor_below(c, GUS_UNKNOWN + 1);
		cell.weight = gus_cursor_varint(c);
		cell.told = (uint32_t)gus_cursor_below(c, UINT32_MAX);
		c->bad |= cell.what.unknown && cell.what.events;
		gus_vec_push(&a->cells, cell);
	}
}

static void take_solution(struct gus_cursor *c, struct gus_solution *e)
{
	struct gus_replicates *r = &e->replicates;
	size_t n;

	e->width = (unsigned)gus_cursor_below(c, UINT32_MAX);
	r->o.evidence = (enum gus_replicates_evidence)gus_cursor_below(c, GUS_REPLICATES_EVIDENCES);
	r->o.replicates = true;
	take_real(c, &r->o.samples, sizeof(r->o.samples));
	r->all = take_share(c);
	n = gus_cursor_count(c, 3 + sizeof(double) + GUS_REPLICATES * sizeof(*r->shares));
	r->shares = gus_zalloc(n * GUS_REPLICATES * sizeof(*r->shares));
	for (size_t i = 0; i < n && !c->bad; i++) {
		struct gus_replicates_cell cell = { .who = (uint32_t)gus_cursor_below(c, UINT32_MAX) };

		cell.site = (uint32_t)gus_cursor_below(c, UINT32_MAX);
		cell.psv = (uint16_t)gus_cursor_below(c, UINT16_MAX + 1);
		cell.share = take_share(c);
		take_real(c, &r->shares[i * GUS_REPLICATES], GUS_REPLICATES * sizeof(*r->shares));
		gus_vec_push(&r->cells, cell);
	}
}

/* Sums are asserted of them. */
static bool adds_up(const struct gus_account *a, uint64_t weight)
{
	uint64_t seen = 0, cells = 0, moved = 0;

	for (size_t i = 0; i < a->seen.n; i++)
		if (__builtin_add_overflow(seen, a->seen.v[i].weight, &seen))
			return false;
	for (size_t i = 0; i < a->cells.n; i++) {
		const struct gus_account_cell *c = &a->cells.v[i];

		if (__builtin_add_overflow(cells, c->weight, &cells) ||
		    (c->moved && c->told >= a->solution.replicates.cells.n))
			return false;
		moved += c->moved ? c->weight : 0;
	}
	return a->weight == weight && seen == weight && cells == weight && a->explained == moved;
}

static bool are_numbers(const struct gus_replicates *r)
{
	if (!isfinite(r->o.samples) || r->o.samples < 0)
		return false;
	for (size_t i = 0; i < r->cells.n * GUS_REPLICATES; i++)
		if (!isfinite(r->shares[i]) || r->shares[i] < 0)
			return false;
	return true;
}

bool gus_account_take(struct gus_account *a, const struct gus_clues *clues, uint64_t weight, struct gus_cursor *from)
{
	*a = (struct gus_account){ .clues = clues };
	gus_strings_init(&a->texts);
	a->weight = gus_cursor_varint(from);
	a->explained = gus_cursor_varint(from);
	a->isa = (enum gus_isa)gus_cursor_below(from, GUS_ISA_ARM64 + 1);
	take_texts(from, &a->texts);
	take_places(from, a);
	take_seen(from, a);
	take_cells(from, a);
	take_solution(from, &a->solution);
	from->bad |= !adds_up(a, weight) || !are_numbers(&a->solution.replicates);
	if (!from->bad)
		return true;
	gus_account_free(a);
	return false;
}
