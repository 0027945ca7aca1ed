/* SPDX-License-Identifier: MIT */
/* The code of a trace: blocks become ops, and belong to a function and a loop. */
#include <stdlib.h>
#include <string.h>

#include "attribution/traced/match.h"
#include "attribution/traced/private.h"
#include "attribution/traced/rates.h"
#include "model/code/program.h"
#include "model/code/uop_lines.h"
#include "model/machine/config.h"
#include "model/oracles/oracle.h"
#include "symbolizer/insn/loops.h"

enum { FUNCTION_MOST = 1 << 20 }; /* bytes that loops are sought in */

/* The number of the first mapping that ends behind an address. They lie in order and apart. */
static size_t mapping_at(const struct gus_traced *t, uint64_t address)
{
	size_t low = 0, high = t->mappings.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->mappings.v[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static const struct gus_traced_mapping *mapping_of(const struct gus_traced *t, uint64_t address)
{
	size_t i = mapping_at(t, address);

	return i < t->mappings.n && t->mappings.v[i].start <= address ? &t->mappings.v[i] : NULL;
}

/* Puts n mappings in the place of those from first up to behind. */
static void replace_mappings(struct gus_traced *t, size_t first, size_t behind, const struct gus_traced_mapping *with,
			     size_t n)
{
	gus_vec_reserve(&t->mappings, t->mappings.n + n);
	memmove(t->mappings.v + first + n, t->mappings.v + behind, (t->mappings.n - behind) * sizeof(*with));
	memcpy(t->mappings.v + first, with, n * sizeof(*with));
	t->mappings.n += n - (behind - first);
}

/* The newest wins: of those that it covers what sticks out at either end is left. So a block's is found by halving,
 * however many there are. */
static void add_mapping(struct gus_traced *t, const struct gus_traced_mapping *new)
{
	size_t first = mapping_at(t, new->start), behind = first, n = 0;
	struct gus_traced_mapping with[3];

	while (behind < t->mappings.n && t->mappings.v[behind].start < new->end)
		behind++;
	if (first < behind && t->mappings.v[first].start < new->start) {
		with[n] = t->mappings.v[first];
		with[n++].end = new->start;
	}
	with[n++] = *new;
	if (first < behind && t->mappings.v[behind - 1].end > new->end) {
		with[n] = t->mappings.v[behind - 1];
		with[n].offset += new->end - with[n].start;
		with[n++].start = new->end;
	}
	replace_mappings(t, first, behind, with, n);
}

static void find_loops(struct gus_traced *t, struct gus_traced_function *f)
{
	size_t size = f->size < FUNCTION_MOST ? f->size : FUNCTION_MOST, n;
	uint8_t *bytes;

	if (!size)
		return;
	bytes = gus_alloc(size);
	n = gus_symbols_code(t->options.symbols, &f->of, f->start, bytes, size, NULL);
	if (n) {
		f->graph = gus_zalloc(sizeof(*f->graph));
		gus_graph_read(f->graph, t->isa, bytes, n);
	}
	free(bytes);
}

/* One more function, with a region for what is outside of its loops and one for each loop. */
static uint32_t add_function(struct gus_traced *t, const struct gus_traced_function *like)
{
	struct gus_traced_function f = *like;
	uint32_t number = (uint32_t)t->functions.n;

	f.first_region = (uint32_t)t->regions.n;
	if (f.name)
		find_loops(t, &f);
	gus_vec_push(&t->functions, f);
	gus_vec_push(&t->regions, (struct gus_traced_region){ .function = number, .loop = GUS_TRACED_NONE });
	for (uint32_t i = 0; f.graph && i < f.graph->loops.n; i++)
		gus_vec_push(&t->regions, (struct gus_traced_region){ .function = number, .loop = i });
	return number;
}

static bool is_same_module(const struct gus_module *a, const struct gus_module *b)
{
	return a->kind == b->kind && strcmp(a->path, b->path) == 0;
}

/* The function of an address: by name and start, so that it is one also if it is mapped in two places. */
static uint32_t function_of(struct gus_traced *t, uint64_t address)
{
	const struct gus_traced_mapping *m = mapping_of(t, address);
	struct gus_traced_function f = { .module = "", .of = { .path = "[unknown]" } };
	struct gus_name names[GUS_NAMES_MAX];
	uint64_t offset = m ? address - m->start + m->offset : address;

	if (m) {
		f.of = m->module;
		f.module = m->module.path;
		gus_symbols_names(t->options.symbols, &m->module, offset, GUS_DEPTH_FUNCTION, names);
		if (names[0].function) {
			f.name = names[0].function;
			f.start = names[0].start;
			f.size = names[0].size;
			f.address = address - offset + f.start;
		}
	}
	for (size_t i = t->functions.n; i-- > 0;) {
		const struct gus_traced_function *old = &t->functions.v[i];

		if (old->start == f.start && !old->name == !f.name && is_same_module(&old->of, &f.of))
			return (uint32_t)i;
	}
	return add_function(t, &f);
}

static uint32_t region_of(struct gus_traced *t, uint64_t address)
{
	uint32_t number = function_of(t, address), insn, loop;
	const struct gus_traced_function *f = &t->functions.v[number];

	if (!f->graph)
		return f->first_region;
	insn = gus_graph_at(f->graph, address - f->address);
	loop = insn == GUS_GRAPH_NONE ? GUS_GRAPH_NONE : f->graph->loop[insn];
	return f->first_region + (loop == GUS_GRAPH_NONE ? 0 : loop + 1);
}

static bool is_head(const struct gus_traced *t, const struct gus_traced_block *b)
{
	const struct gus_traced_region *r = &t->regions.v[b->region];
	const struct gus_traced_function *f = &t->functions.v[r->function];

	return r->loop != GUS_TRACED_NONE &&
		f->address + f->graph->insns.v[f->graph->loops.v[r->loop].head].offset == b->address;
}

/* How many lines of the uop cache each window of the block takes; none, if it is not kept there: it has too many, or a
 * jump that is refused, or lies in a block of windows with such a one. */
static void measure_windows(struct gus_traced *t, const struct gus_traced_block *b)
{
	const struct gus_core_config *c = t->options.config;
	const uint64_t bytes = t->window_bytes;
	const uint64_t together = bytes && c->uop_cache_block > bytes ? c->uop_cache_block : bytes;
	const size_t first = t->window_lines.n;
	struct gus_uop_lines l = { 0 };
	uint64_t refused = UINT64_MAX;

	for (uint32_t i = 0; i < b->windows_n; i++)
		gus_vec_push(&t->window_lines, 1);
	for (uint32_t i = 0; i < b->ops.ops_n && bytes && c->uop_cache_line; i++) {
		const struct gus_op *op = &t->program->ops[b->ops.op + i];
		uint64_t address = t->program->insns[op->insn].offset, at = address / bytes - b->address / bytes;
		uint8_t *lines = &t->window_lines.v[first + at];

		gus_uop_lines_put(&l, c, op, address, false);
		*lines = (uint8_t)(l.lines < UINT8_MAX ? l.lines : UINT8_MAX);
		if (gus_uop_lines_refuses(c, t->program, op) || (c->uop_cache_lines && l.lines > c->uop_cache_lines))
			refused = address / together;
		if (refused != address / together)
			continue;
		for (uint64_t k = at + 1; k-- > 0 && (b->address / bytes + k) * bytes / together == refused;)
			t->window_lines.v[first + k] = 0;
	}
}

/* Which of its op's accesses are an instruction's own: they lie behind each other. */
static void find_own(struct gus_traced *t, uint32_t insn)
{
	const struct gus_op *op = &t->program->ops[t->program->insns[insn].op];
	struct gus_traced_own own = { op->memory, 0 };

	for (uint32_t m = op->memory; m < op->memory + op->memories_n; m++)
		if (op->insn + t->program->memories[m].instruction == insn) {
			own.first = own.n ? own.first : m;
			own.n++;
		}
	gus_vec_push(&t->own, own);
}

/* What the predictor is told of the block's last instruction each time. */
static void find_branch(const struct gus_traced *t, struct gus_traced_block *b)
{
	const struct gus_program_insn *last = &t->program->insns[b->insn + b->insns_n - 1];

	b->branch = (t->program->ops[b->ops.taken].flags & GUS_OP_BRANCH) != 0;
	b->kind = gus_oracle_branch_kind(t->program, b->ops.taken);
	b->branch_from = last->offset;
	b->branch_to = b->address + b->size + (uint64_t)last->info.immediate;
}

static void learn(struct gus_traced *t, const struct gus_trace_block *from)
{
	struct gus_traced_block b = { .address = from->address, .bytes = from->bytes, .lengths = from->lengths,
		.size = from->size, .pid = t->pid, .time = t->time,
		.insns_n = from->insns, .insn = t->program->insns_n, .memory = t->program->memories_n, .windows_n = 1 };
	const struct gus_traced_mapping *m = mapping_of(t, b.address);

	if (m && m->module.kind == GUS_MODULE_FILE) {
		b.module = m->module.path;
		b.offset = b.address - m->start + m->offset;
	}
	uint32_t uops = t->program->uops_n;

	b.ops = gus_growing_add(t->growing, b.bytes, b.lengths, b.size, b.address);
	gus_stream_resources_add(t->program, uops, &t->groups_of_ports);
	b.memories_n = t->program->memories_n - b.memory;
	b.window = (uint32_t)t->window_lines.n;
	if (t->window_bytes)
		b.windows_n = (uint32_t)((b.address + b.size - 1) / t->window_bytes - b.address / t->window_bytes + 1);
	measure_windows(t, &b);
	find_branch(t, &b);
	b.region = region_of(t, b.address);
	b.head = is_head(t, &b);
	for (uint32_t i = 0; i < b.insns_n; i++)
		find_own(t, b.insn + i);
	while (t->prefetches.n < t->regions.n)
		gus_vec_push(&t->prefetches, false);
	for (uint32_t i = 0; i < b.insns_n; i++)
		t->prefetches.v[b.region] |= (t->program->insns[b.insn + i].info.flags & GUS_INSN_PREFETCH) != 0;
	gus_vec_reserve(&t->memories, t->program->memories_n + 1); /* an array also where there are none yet */
	memset(t->memories.v + t->memories.n, 0, (t->program->memories_n - t->memories.n) * sizeof(*t->memories.v));
	t->memories.n = t->program->memories_n;
	gus_traced_rates_learn(t, &b);
	gus_vec_push(&t->blocks, b);
}

/* Files that are mapped, as far as they have been told. */
void gus_traced_map(struct gus_traced *t, uint64_t start, uint64_t length, uint64_t offset, const char *path,
		    const void *build_id, size_t build_id_size)
{
	struct gus_module module = { .kind = gus_module_kind_of(path),
				    .path = gus_strings_get(&t->strings, gus_strings_add(&t->strings, path)) };

	if (build_id_size) {
		uint32_t id = gus_strings_add_n(&t->strings, build_id, build_id_size);

		module.build_id = (const uint8_t *)gus_strings_get(&t->strings, id);
		module.build_id_size = build_id_size;
	}
	if (length && length <= UINT64_MAX - start)
		add_mapping(t, &(struct gus_traced_mapping){ start, start + length, offset, module });
}

void gus_traced_moment(struct gus_traced *t, uint32_t pid, uint64_t time)
{
	t->pid = pid;
	t->time = time;
}

struct covered { uint64_t module, offset; };

/* Blocks overlap: what falls into a loop from before it has the loop's first turn in a block of its own. An instruction
 * is of the block that executed it most often, as nearly all its cycles are. */
static void find_covered(struct gus_traced *t)
{
	gus_index_init(&t->covered, sizeof(struct covered));
	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];
		struct covered place = { 0, b->offset };
		bool is_new;

		if (!b->module || !b->executed)
			continue;
		place.module = gus_strings_add(&t->strings, b->module);
		for (uint32_t k = 0; k < b->insns_n; place.offset += b->lengths[k++]) {
			uint32_t number = gus_index_add(&t->covered, &place, &is_new);

			if (is_new)
				gus_vec_push(&t->covered_by, (uint32_t)i);
			else if (t->blocks.v[t->covered_by.v[number]].executed < b->executed)
				t->covered_by.v[number] = (uint32_t)i;
		}
	}
}

uint32_t gus_traced_block_at(struct gus_traced *t, const char *module, uint64_t offset)
{
	struct covered place = { gus_strings_add(&t->strings, module), offset };
	uint32_t number;

	if (!t->covered.key_size)
		find_covered(t);
	number = gus_index_find(&t->covered, &place);
	return number == GUS_INDEX_NONE ? GUS_TRACED_NONE : t->covered_by.v[number];
}

/* Windows of a process. */
struct window_block { uint64_t address, hash; uint32_t size, pid; };

static uint64_t hash_of(const uint8_t *bytes, size_t size) /* FNV-1a */
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

static bool is_known_block(const struct gus_traced *t, const struct gus_traced_block *known,
			   const struct gus_trace_block *block)
{
	const struct gus_traced_mapping *m = mapping_of(t, block->address);
	bool file = m && m->module.kind == GUS_MODULE_FILE;

	return known->insns_n == block->insns && memcmp(known->bytes, block->bytes, block->size) == 0 &&
		memcmp(known->lengths, block->lengths, block->insns) == 0 &&
		(file ? known->module == m->module.path && known->offset == block->address - m->start + m->offset :
		 !known->module);
}

/* Where the block's number stands, or is to stand; its code may be known from an earlier window. *known: it is. */
static uint32_t *place_of_window_block(struct gus_traced *t, const struct gus_trace_block *block, bool *known)
{
	struct window_block key = { .address = block->address, .hash = hash_of(block->bytes, block->size),
		.size = block->size, .pid = t->pid };
	bool is_new;
	uint32_t number;

	if (!t->windows_blocks.key_size)
		gus_index_init(&t->windows_blocks, sizeof(key));
	number = gus_index_add(&t->windows_blocks, &key, &is_new);
	if (is_new)
		gus_vec_push(&t->learned_as, GUS_TRACED_NONE);
	*known = !is_new && is_known_block(t, &t->blocks.v[t->learned_as.v[number]], block);
	return &t->learned_as.v[number];
}

/* The bytes are kept: the trace may be closed before the report is made. */
static uint32_t learn_new(struct gus_traced *t, const struct gus_trace_block *block)
{
	struct gus_trace_block b = *block;
	uint8_t *kept = gus_alloc(b.size + b.insns);

	memcpy(kept, b.bytes, b.size);
	memcpy(kept + b.size, b.lengths, b.insns);
	b.bytes = kept;
	b.lengths = kept + b.size;
	learn(t, &b);
	return (uint32_t)t->blocks.n - 1;
}

uint32_t gus_traced_learn(struct gus_traced *t, const struct gus_trace_block *block)
{
	uint32_t *place;
	bool known;

	if (!t->pid)
		return learn_new(t, block);
	place = place_of_window_block(t, block, &known);
	if (!known)
		*place = learn_new(t, block);
	return *place;
}

void gus_traced_forget(struct gus_traced *t)
{
	for (size_t i = 0; i < t->blocks.n; i++) {
		free((void *)t->blocks.v[i].bytes);
		free(t->blocks.v[i].known);
		gus_vec_free(&t->blocks.v[i].matches);
	}
	for (size_t i = 0; i < t->functions.n; i++)
		if (t->functions.v[i].graph) {
			gus_graph_free(t->functions.v[i].graph);
			free(t->functions.v[i].graph);
		}
	gus_vec_free(&t->blocks);
	gus_vec_free(&t->functions);
	gus_vec_free(&t->own);
}
