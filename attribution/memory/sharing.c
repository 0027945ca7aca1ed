/* SPDX-License-Identifier: MIT */
#include "attribution/memory/sharing.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "proto/data_source.h"
#include "symbolizer/insn/insn.h"

#define PARTS 64u           /* of a line, told apart: bytes of most */
#define ALL UINT64_MAX      /* parts, a bit each */
#define SEVERAL UINT32_MAX  /* in place of a thread */

/* Compared byte by byte: no padding may be in it. */
struct access_key { uint32_t line, thread, offset, module; uint64_t code; };
struct thread_key { uint32_t pid, tid; };

struct finder {
	struct gus_sharing *s;
	struct gus_profile *p;   /* of the pass that is at work */
	bool lines_known;        /* the second pass */
};

/* What was done. */

static uint32_t thread_of(struct gus_sharing *s, const struct gus_sighting *seen)
{
	struct thread_key key = { seen->sample->pid, seen->sample->tid };
	bool is_new;
	uint32_t number = gus_index_add(&s->thread_index, &key, &is_new);

	if (is_new)
		gus_vec_push(&s->threads, (struct gus_sharing_thread){ key.pid, key.tid, "" });
	s->threads.v[number].comm = seen->comm;
	return number;
}

/* How many bytes an instruction moves, if it is one that moves them at one place; 0: not known. */
static uint32_t size_of(struct gus_profile *p, struct gus_place code)
{
	const struct gus_module *module = gus_space_module(p->space, code.module);
	struct gus_insn_info info;
	unsigned machine = 0;
	uint8_t bytes[16];
	size_t n = gus_symbols_code(p->symbols, module, code.offset, bytes, sizeof(bytes), &machine);

	if (!n || !gus_insn_analyse(gus_isa_of_machine(machine), bytes, n, &info) || info.memory_count != 1 ||
	    info.memory[0].elements > 1 || info.memory[0].bits % 8)
		return 0;
	return info.memory[0].bits / 8;
}

static void take_access(struct finder *f, const struct gus_sighting *seen, uint32_t line, uint64_t address,
			const struct gus_data_source *d)
{
	struct gus_sharing *s = f->s;
	struct access_key key = { line, thread_of(s, seen), (uint32_t)(address & (s->touches.line - 1)),
				  seen->place.module, seen->place.offset };
	struct gus_sharing_access *a;
	bool is_new;
	uint32_t number;

	if (s->accesses.n >= GUS_LIMIT_SHARING && gus_index_find(&s->access_index, &key) == GUS_INDEX_NONE) {
		s->unplaced += d->snoop == GUS_DATA_SNOOP_MODIFIED;
		return;
	}
	number = gus_index_add(&s->access_index, &key, &is_new);
	if (is_new)
		gus_vec_push(&s->accesses, (struct gus_sharing_access){ .line = line, .thread = key.thread,
			.offset = key.offset, .code = seen->place,
			.size = seen->sample->exact ? size_of(f->p, seen->place) : 0 });
	a = &s->accesses.v[number];
	a->samples++;
	a->loads += (d->does & GUS_DATA_LOADS) != 0;
	a->stores += (d->does & GUS_DATA_STORES) != 0;
	a->hitm += d->snoop == GUS_DATA_SNOOP_MODIFIED;
}

static void take_sample(void *context, const struct gus_sighting *seen)
{
	struct finder *f = context;
	const struct gus_data_source d = gus_data_source_of_kernel(seen->sample->data_source);
	const bool hit = d.snoop == GUS_DATA_SNOOP_MODIFIED;
	uint64_t address;
	bool placed = gus_touch_address(&f->s->touches, seen->sample, &address) && d.does;
	uint32_t line = 0;

	if (placed && (hit || f->lines_known))
		line = gus_touch_of(&f->s->touches, f->p->space, f->p->symbols, seen->sample);
	if (!f->lines_known)
		return;
	f->s->samples++;
	f->s->told += d.does != 0;
	f->s->snooped += d.snoop != GUS_DATA_SNOOP_UNKNOWN;
	f->s->hitm += hit;
	f->s->unplaced += hit && !line;
	if (line)
		take_access(f, seen, line, address, &d);
}

/* What it means. */

/* Threads by part of a line: 0 for none, a number and 1, or SEVERAL. */
struct seen_by { uint32_t part[PARTS]; };

static uint64_t parts_of(const struct gus_sharing_access *a, uint64_t line)
{
	uint64_t each = line > PARTS ? line / PARTS : 1, mask = 0;
	uint64_t last = a->offset + (a->size ? a->size - 1 : 0);

	for (uint64_t i = a->offset / each; i <= last / each && i < PARTS; i++)
		mask |= UINT64_C(1) << i;
	return mask;
}

static void note(struct seen_by *seen, uint64_t parts, uint32_t thread)
{
	for (unsigned i = 0; i < PARTS; i++)
		if (parts >> i & 1)
			seen->part[i] = !seen->part[i] || seen->part[i] == thread + 1 ? thread + 1 : SEVERAL;
}

static bool by_others(const struct seen_by *seen, uint64_t parts, uint32_t thread)
{
	for (unsigned i = 0; i < PARTS; i++)
		if (parts >> i & 1 && seen->part[i] && seen->part[i] != thread + 1)
			return true;
	return false;
}

static enum gus_sharing_why why(const struct seen_by *written, const struct seen_by *used, uint64_t parts,
				uint32_t thread)
{
	if (by_others(written, parts, thread))
		return GUS_SHARING_SAME;
	if (by_others(written, ALL, thread))
		return GUS_SHARING_APART;
	if (by_others(used, parts, thread) || !by_others(used, ALL, thread))
		return GUS_SHARING_UNKNOWN;
	return GUS_SHARING_LIKELY;
}

static uint32_t count_threads(const struct gus_sharing_access *a, uint32_t n)
{
	struct gus_index threads;
	uint32_t count;

	gus_index_init(&threads, sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
		gus_index_add(&threads, &a[i].thread, NULL);
	count = threads.n;
	gus_index_free(&threads);
	return count;
}

static struct gus_sharing_line settle_line(const struct gus_sharing *s, struct gus_sharing_access *a, uint32_t first,
					   uint32_t n)
{
	struct gus_sharing_line line = { .touch = a[0].line, .first = first, .n = n };
	struct seen_by written = { 0 }, used = { 0 };
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		note(&used, parts_of(&a[i], s->touches.line), a[i].thread);
		if (a[i].stores)
			note(&written, parts_of(&a[i], s->touches.line), a[i].thread);
	}
	for (uint32_t i = 0; i < n; i++) {
		a[i].why = a[i].hitm ? why(&written, &used, parts_of(&a[i], s->touches.line), a[i].thread) :
			GUS_SHARING_UNKNOWN;
		line.samples += a[i].samples;
		line.loads += a[i].loads;
		line.stores += a[i].stores;
		line.hitm += a[i].hitm;
		line.by_why[a[i].why] += a[i].hitm;
	}
	for (size_t i = 0; i < GUS_SHARING_WHYS; i++)
		sum += line.by_why[i];
	assert(sum == line.hitm);
	(void)sum;
	line.threads = count_threads(a, n);
	return line;
}

#define GUS_ORDER_(x, y) \
	if ((x) != (y)) \
		return (x) < (y) ? -1 : 1

static int access_order(const void *a, const void *b, void *context)
{
	const struct gus_sharing_access *x = a, *y = b;
	const struct gus_sharing *s = context;
	const struct gus_sharing_thread *xt = &s->threads.v[x->thread], *yt = &s->threads.v[y->thread];

	GUS_ORDER_(x->line, y->line);
	GUS_ORDER_(y->hitm, x->hitm);
	GUS_ORDER_(y->samples, x->samples);
	GUS_ORDER_(x->offset, y->offset);
	GUS_ORDER_(xt->pid, yt->pid);
	GUS_ORDER_(xt->tid, yt->tid);
	GUS_ORDER_(x->code.module, y->code.module);
	GUS_ORDER_(x->code.offset, y->code.offset);
	return 0;
}

static uint64_t accidental(const struct gus_sharing_line *line)
{
	return line->by_why[GUS_SHARING_APART] + line->by_why[GUS_SHARING_LIKELY];
}

static int line_order(const void *a, const void *b, void *context)
{
	const struct gus_sharing_line *x = a, *y = b;
	const struct gus_sharing *s = context;

	GUS_ORDER_(accidental(y), accidental(x));
	GUS_ORDER_(y->hitm, x->hitm);
	return gus_touch_order(&s->touches, x->touch, y->touch);
}

/* Whatever found its line changed is of a line, or has none. */
static void check_sums(const struct gus_sharing *s)
{
	uint64_t sum = s->unplaced;

	for (size_t i = 0; i < s->lines.n; i++)
		sum += s->lines.v[i].hitm;
	assert(sum == s->hitm);
	(void)sum;
}

static void settle(struct gus_sharing *s)
{
	if (s->accesses.n)
		qsort_r(s->accesses.v, s->accesses.n, sizeof(*s->accesses.v), access_order, s);
	for (uint32_t i = 0, end; i < s->accesses.n; i = end) {
		for (end = i; end < s->accesses.n && s->accesses.v[end].line == s->accesses.v[i].line; end++)
			;
		gus_vec_push(&s->lines, settle_line(s, s->accesses.v + i, i, end - i));
		/* Where there was no room for what held it up, nothing is said of a line. */
		if (!s->lines.v[s->lines.n - 1].hitm)
			s->lines.n--;
	}
	if (s->lines.n)
		qsort_r(s->lines.v, s->lines.n, sizeof(*s->lines.v), line_order, s);
	check_sums(s);
	while (s->candidates < s->lines.n && accidental(&s->lines.v[s->candidates]))
		s->candidates++;
}

static void begin(void *context, struct gus_profile *p)
{
	((struct finder *)context)->p = p;
}

static int says_nothing(const struct gus_sharing *s, struct gus_error *err)
{
	if (!s->samples || s->snooped)
		return 0;
	if (!s->told)
		return gus_touch_untold(err);
	return gus_fail(err, GUS_E_NOT_FOUND, "no sample of the recording tells what other cores' caches had: of HITM "
			"loads tell on Intel and AMD ('perf c2c record'), and on Arm where SPE has that event");
}

int gus_sharing_find(struct gus_sharing *s, struct gus_reader *reader, const struct gus_filter *filter,
		     const struct gus_symbols_options *options, const struct gus_log *log, struct gus_error *err)
{
	struct finder f = { .s = s };
	struct gus_visitor visitor = { .begin = begin, .sample = take_sample, .context = &f };

	*s = (struct gus_sharing){ 0 };
	gus_touches_init(&s->touches, GUS_BY_DATA_LINE, gus_reader_header(reader));
	gus_index_init(&s->thread_index, sizeof(struct thread_key));
	gus_index_init(&s->access_index, sizeof(struct access_key));
	if (gus_profile_visit(&s->profile, reader, filter, options, log, &visitor, err) != 0)
		goto failed;
	gus_profile_free(&s->profile);
	s->touches.closed = f.lines_known = true;
	if (gus_profile_visit(&s->profile, reader, filter, options, log, &visitor, err) != 0)
		goto failed;
	settle(s);
	if (says_nothing(s, err) == 0)
		return 0;
failed:
	gus_sharing_free(s);
	return -1;
}

void gus_sharing_free(struct gus_sharing *s)
{
	gus_profile_free(&s->profile);
	gus_touches_free(&s->touches);
	gus_vec_free(&s->threads);
	gus_vec_free(&s->accesses);
	gus_vec_free(&s->lines);
	gus_index_free(&s->thread_index);
	gus_index_free(&s->access_index);
}
