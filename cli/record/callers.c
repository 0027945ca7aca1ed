/* SPDX-License-Identifier: MIT */
#include "cli/record/callers.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/log.h"
#include "collector/session/kept.h"
#include "symbolizer/space/current.h"
#include "symbolizer/unwind/lasts.h"
#include "symbolizer/unwind/unwind.h"

#define BEYOND 0.02     /* of the time may go into reading stacks on, where nobody has asked for less */
#define FEW 0.005       /* of all stacks: what happens to fewer is said on request only */
#define MANY 0.1        /* of all stacks: that so many lack callers is worth a warning */
#define FIRST_COMPARED 2048 /* samples; then one in sixteen, as each costs as much as all else that is done for it */
#define COMPARED 8      /* callers by tables, beside frame pointers: what 512 bytes of stack reach */
#define BEGINNING 3     /* of a whole stack: the C library's own, before main or a thread's function */

/* A sample that is asked about. */
struct question {
	struct gus_record_callers *c;
	const struct gus_sample *sample;
};

static void begin(void *context, const struct gus_kept *kept)
{
	((struct gus_record_callers *)context)->kept = kept;
}

static void told(void *context, const Gusprof__Record *record)
{
	struct gus_record_callers *c = context;

	gus_current_tell(c->current, record);
	if (record->kind_case == GUSPROF__RECORD__KIND_MMAP)
		gus_unwind_lasts_forget(c->lasts);
}

/* The file as it was mapped, in whichever mount namespace, and whatever has its name by now. */
static int open_kept(void *context, const struct gus_module *m)
{
	const struct gus_kept *kept = ((struct gus_record_callers *)context)->kept;

	return kept ? gus_kept_open(kept, m->build_id, m->build_id_size, m->inode, m->major, m->minor) : -1;
}

static struct gus_unwind_file *file_of(struct gus_record_callers *c, uint32_t number)
{
	const struct gus_module *module = gus_current_module(c->current, number);
	const char *trouble;

	while (c->of_module.n <= number) {
		gus_vec_push(&c->of_module, NULL);
		gus_vec_push(&c->at_hand, false);
	}
	if (!c->of_module.v[number]) {
		c->of_module.v[number] = gus_unwind_files_get(c->files, module);
		trouble = gus_unwind_file_trouble(c->of_module.v[number]);
		c->at_hand.v[number] = !trouble;
		if (trouble && !c->missing)
			c->missing = gus_format("%s: %s", module->path, trouble);
	}
	return c->of_module.v[number];
}

/* What is mapped at an address, as the unwinder wants to know it. */
static bool code_at(void *context, uint64_t address, struct gus_unwind_code *code)
{
	const struct question *q = context;
	struct gus_place place;
	enum gus_module_kind kind;

	if (!gus_current_find(q->c->current, q->sample->pid, q->sample->time, address, &place))
		return false;
	kind = gus_current_module(q->c->current, place.module)->kind;
	*code = (struct gus_unwind_code){ .offset = place.offset };
	if (kind == GUS_MODULE_FILE || kind == GUS_MODULE_VDSO)
		code->file = file_of(q->c, place.module);
	return true;
}

/* What a copy does not reach, as it is by now. What was read so may be of two moments, and is not to be inferred from;
 * but of a stack that has too many frames it is not read again as long as what there is does not contradict it. */
static uint32_t find_later(struct gus_record_callers *c, const struct gus_unwind_view *view,
			   const struct gus_unwind_rest *rest, const struct gus_sample *s, uint64_t *out, uint32_t n,
			   uint32_t most, uint64_t *callers)
{
	uint32_t joined = gus_remembered_join_deep(&c->remembered, s->pid, s->tid, out, rest->frames, n, most);

	if (joined > n && !gus_beyond_contradicts(s->pid, c->machine, out, rest->frames, n, joined)) {
		*callers = (*callers & ~(uint64_t)GUS_CALLERS_END) | GUS_CALLERS_DEEP | GUS_CALLERS_REMEMBERED;
		return joined;
	}
	if (!gus_remembered_stays(&c->remembered, s->pid, s->tid, rest->regs.v[c->sp]) || !gus_beyond_may(&c->beyond))
		return n;
	joined = gus_beyond_join(&c->beyond, s->pid, view, rest, out, n, most, callers);
	if (joined > n && (*callers & GUS_CALLERS_END) == GUS_CALLERS_DEEP)
		gus_remembered_keep_deep(&c->remembered, s->pid, s->tid, out, rest->frames, joined);
	return joined;
}

/* By tables, all of them. */
static uint32_t find_all(struct gus_record_callers *c, const struct gus_unwind_view *view,
			 const struct gus_unwind_regs *regs, const struct gus_sample *s, uint64_t *out, uint32_t most,
			 uint64_t *callers)
{
	uint64_t frames[GUS_REMEMBERED_FRAMES];
	struct gus_unwind_rest rest = { .frames = frames };
	bool later = false;
	uint32_t n, joined;

	gus_remembered_note(&c->remembered, s->pid, s->tid, view->stack_at);
	most = most < GUS_REMEMBERED_FRAMES ? most : GUS_REMEMBERED_FRAMES;
	n = gus_unwind(view, regs, out, most, callers, &rest);
	joined = n;
	if ((*callers & GUS_CALLERS_END) == GUS_CALLERS_STACK) {
		joined = gus_remembered_join(&c->remembered, s->pid, s->tid, out, frames, n, most);
		if (joined > n && gus_beyond_contradicts(s->pid, c->machine, out, frames, n, joined))
			joined = n;
		later = joined == n;
		if (later)
			joined = find_later(c, view, &rest, s, out, n, most, callers);
		else
			*callers = (*callers & ~(uint64_t)GUS_CALLERS_END) | GUS_CALLERS_WHOLE | GUS_CALLERS_REMEMBERED;
		c->inferred += joined > n;
	}
	if (!later && (*callers & GUS_CALLERS_END) == GUS_CALLERS_WHOLE)
		gus_remembered_keep(&c->remembered, s->pid, s->tid, out, frames, joined);
	return joined;
}

/* The caller that the kernel found for the leaf; 0 if none. In a sample of the kernel the leaf itself comes before. */
static uint64_t first_caller(const struct gus_sample *s)
{
	uint32_t at = 0;

	while (at < s->chain_n && s->chain[at] != GUS_REMEMBERED_MARKER)
		at++;
	at += 1 + (s->mode == GUS_MODE_KERNEL);
	return at < s->chain_n ? s->chain[at] : 0;
}

static bool has_caller(const struct gus_sample *s, uint64_t address)
{
	uint32_t at = 0;

	while (at < s->chain_n && s->chain[at] != address)
		at++;
	return at < s->chain_n;
}

/* Whether frame pointers have passed over a caller that tables know: then the function that it called keeps none. The
 * leaf's own is not meant, which is added. */
static void compare(struct gus_record_callers *c, const struct gus_unwind_view *view,
		    const struct gus_unwind_regs *regs, const struct gus_sample *s)
{
	uint64_t how = 0, found[COMPARED];
	uint32_t n = gus_unwind(view, regs, found, COMPARED, &how, NULL), i = 1;
	uint32_t beginning = (how & GUS_CALLERS_END) == GUS_CALLERS_WHOLE ? BEGINNING : 0;
	struct gus_place place;

	c->compared++;
	while (i + beginning < n && found[i] != GUS_REMEMBERED_MARKER && has_caller(s, found[i]))
		i++;
	if (i + beginning >= n || found[i] == GUS_REMEMBERED_MARKER ||
	    !gus_current_find(c->current, s->pid, s->time, found[i - 1] - 1, &place))
		return;
	while (c->passed_over.n <= place.module)
		gus_vec_push(&c->passed_over, 0);
	c->passed_over.v[place.module]++;
}

/* Beside the kernel's frame pointers: who called the function that was sampled, if a table says so. That is missing
 * there if the function has no frame, or none yet. */
static uint32_t find_leafs(struct gus_record_callers *c, const struct gus_unwind_view *view,
			   const struct gus_unwind_regs *regs, const struct gus_sample *s, uint64_t *out,
			   uint64_t *callers)
{
	uint64_t how = 0;

	*callers = GUS_CALLERS_UNTOLD;
	if (c->pointed++ < FIRST_COMPARED || c->pointed % 16 == 0)
		compare(c, view, regs, s);
	if (gus_unwind(view, regs, out, 1, &how, NULL) != 1 || !(how & GUS_CALLERS_TABLE) ||
	    out[0] == first_caller(s) || out[0] == GUS_REMEMBERED_MARKER)
		return 0;
	*callers = GUS_CALLERS_LEAF;
	c->leaves++;
	return 1;
}

static uint32_t find_callers(void *context, const struct gus_sample *sample, uint64_t *out, uint32_t most,
			     uint64_t *callers)
{
	struct gus_record_callers *c = context;
	struct question q = { c, sample };
	struct gus_unwind_view view = { .code = code_at, .context = &q, .stack = sample->stack,
					.stack_bytes = (size_t)sample->stack_n * sizeof(*sample->stack),
					.pid = sample->pid, .tid = sample->tid };
	struct gus_unwind_regs regs;
	uint32_t n;

	*callers = sample->callers;
	if (!gus_unwind_regs_of(&regs, c->machine, sample))
		return 0;
	view.stack_at = regs.v[c->sp];
	if (c->mode == GUS_CALL_GRAPH_FP)
		return find_leafs(c, &view, &regs, sample, out, callers);
	view.lasts = c->lasts;
	n = find_all(c, &view, &regs, sample, out, most, callers);
	c->ends[*callers & GUS_CALLERS_END]++;
	return n;
}

void gus_record_callers_init(struct gus_record_callers *c, enum gus_call_graph mode, uint64_t keep_ns)
{
	*c = (struct gus_record_callers){ .mode = mode, .unwinder = { begin, told, find_callers, c },
					  .current = gus_current_new(keep_ns, GUS_LIMIT_CURRENT_NODES),
					  .options = { .open = open_kept, .open_context = c } };
#ifdef __aarch64__
	c->machine = EM_AARCH64;
	c->sp = 31;
#else
	c->machine = EM_X86_64;
	c->sp = 7;
#endif
	c->lasts = gus_unwind_lasts_new();
	c->files = gus_unwind_files_new(&c->options);
	gus_unwind_files_hurry(c->files);
	c->beyond.share = BEYOND;
}

void gus_record_callers_free(struct gus_record_callers *c)
{
	if (!c->current)
		return;
	gus_unwind_lasts_free(c->lasts);
	gus_unwind_files_free(c->files);
	gus_current_free(c->current);
	gus_remembered_free(&c->remembered);
	gus_vec_free(&c->beyond.bytes);
	gus_vec_free(&c->of_module);
	gus_vec_free(&c->at_hand);
	gus_vec_free(&c->passed_over);
	free(c->missing);
	*c = (struct gus_record_callers){ 0 };
}

/* What stacks end with that are not whole, and what to do, or NULL. */
static const struct { const char *what, *advice; } ends[GUS_CALLERS_END + 1] = {
	[GUS_CALLERS_STACK] = { "end with the copy of the stack, of which the kernel gives 65528 bytes at most",
				NULL },
	[GUS_CALLERS_NO_CODE] = { "return to where no code is mapped", NULL },
	[GUS_CALLERS_NO_RULE] = { "end in code without unwind tables and frame pointers", NULL },
	[GUS_CALLERS_BAD] = { "contradict their unwind tables", NULL },
	[GUS_CALLERS_DEEP] = { "have more frames than are kept", NULL },
	[GUS_CALLERS_WORK] = { "would have taken too much work", NULL },
	[GUS_CALLERS_FILE] = { "end in a file that is not at hand", NULL },
	[GUS_CALLERS_ABI] = { "are of 32-bit code, whose callers only --call-graph fp finds", NULL },
	[GUS_CALLERS_GONE] = { "had no stack to copy, as their program was being replaced (execve)", NULL },
};

static void summarise_ends(const struct gus_record_callers *c, const struct gus_log *log, double all)
{
	for (size_t i = 0; i <= GUS_CALLERS_END; i++) {
		double share = (double)c->ends[i] / all;

		if (!ends[i].what || !c->ends[i])
			continue;
		gus_log(log, share >= FEW ? GUS_NOTE : GUS_DEBUG, "%.1f %% of the stacks %s%s%s%s%s", 100 * share,
			ends[i].what, ends[i].advice ? "; " : "", ends[i].advice ? ends[i].advice : "",
			i == GUS_CALLERS_FILE && c->missing ? "; " : "",
			i == GUS_CALLERS_FILE && c->missing ? c->missing : "");
	}
}

/* What is wrong with the tables of files that are at hand turns up when they are asked. */
static void summarise_tables(const struct gus_record_callers *c, const struct gus_log *log)
{
	const char *first = NULL, *path = "", *trouble;
	char others[48] = "";
	unsigned n = 0;

	for (uint32_t i = 0; i < c->of_module.n; i++) {
		trouble = c->at_hand.v[i] ? gus_unwind_file_trouble(c->of_module.v[i]) : NULL;
		if (!trouble || n++)
			continue;
		first = trouble;
		path = gus_current_module(c->current, i)->path;
	}
	if (n > 1)
		snprintf(others, sizeof(others), "; so with %u other file%s", n - 1, n > 2 ? "s" : "");
	if (first)
		gus_log(log, GUS_NOTE, "stacks through %s are not whole: %s%s", path, first, others);
}

/* Frame pointers say themselves nothing of what they leave out. */
static void summarise_pointers(const struct gus_record_callers *c, const struct gus_log *log)
{
	uint64_t all = 0, most = 0;
	uint32_t where = 0;

	for (uint32_t i = 0; i < c->passed_over.n; i++) {
		all += c->passed_over.v[i];
		if (c->passed_over.v[i] > most) {
			most = c->passed_over.v[i];
			where = i;
		}
	}
	if (most && (double)all / (double)c->compared >= MANY)
		gus_log(log, GUS_WARN, "%.0f %% of the stacks lack callers, as code that was called keeps no frame "
			"pointers, most of it in %s; record with --call-graph tables, or build it with "
			"-fno-omit-frame-pointer", 100 * (double)all / (double)c->compared,
			gus_current_module(c->current, where)->path);
	gus_log(log, GUS_DEBUG, "of %llu samples the caller that frame pointers leave out is known by its table",
		(unsigned long long)c->leaves);
}

void gus_record_callers_summarise(const struct gus_record_callers *c, const struct gus_log *log)
{
	uint64_t all = 0;
	char inferred[96] = "";

	for (size_t i = 1; i <= GUS_CALLERS_END; i++)
		all += c->ends[i];
	if (c->mode == GUS_CALL_GRAPH_FP)
		summarise_pointers(c, log);
	if (!all)
		return;
	if (c->inferred)
		snprintf(inferred, sizeof(inferred), ", %.1f %% with outer callers as the thread had them a "
			 "moment before or after",
			 100 * (double)c->inferred / (double)all);
	gus_log(log, GUS_NOTE, "[ callers: by unwind tables; %.1f %% of %llu stacks are whole%s ]",
		100 * (double)c->ends[GUS_CALLERS_WHOLE] / (double)all, (unsigned long long)all, inferred);
	summarise_ends(c, log, (double)all);
	summarise_tables(c, log);
	if (c->beyond.left_out)
		gus_log(log, (double)c->beyond.left_out / (double)all >= FEW ? GUS_NOTE : GUS_DEBUG, "%.1f %% of the "
			"stacks were not read on from where their copies end, as that may take %.2g %% of the time",
			100 * (double)c->beyond.left_out / (double)all, 100 * c->beyond.share);
	if (gus_current_left_out(c->current))
		gus_log(log, GUS_NOTE, "%llu mappings found no room while callers were looked for: stacks through them "
			"are not whole", (unsigned long long)gus_current_left_out(c->current));
}
