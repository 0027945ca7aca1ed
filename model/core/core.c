/* SPDX-License-Identifier: MIT */
#include "model/core/core.h"

#include <stdlib.h>
#include <string.h>

#include "model/core/private.h"

/* Settings. */

static const struct setting {
	const char *name;
	size_t offset;
} settings[] = {
#define X(name) { #name, offsetof(struct gus_core_config, name) },
	GUS_CORE_SETTINGS(X)
#undef X
};

static uint32_t *setting_of(struct gus_core_config *c, const char *name)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		if (strcmp(settings[i].name, name) == 0)
			return (uint32_t *)(void *)((char *)c + settings[i].offset);
	return NULL;
}

/* Registers that hold the state of the architecture and some more cannot be renamed to: measured on three Intel cores, 30 of
 * each file (Palomares 2015, Table 7.6 and section A). */
enum { REGISTERS_TAKEN = 30, NS_TO_CYCLES = 4 };

void gus_core_config_of(struct gus_core_config *c, const struct gus_uarch *u)
{
	static const char *const files[][2] = { { "int_renames", "int_registers" }, { "vector_renames", "vector_registers" },
		{ "mask_renames", "mask_registers" } };

	memset(c, 0, sizeof(*c));
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		*setting_of(c, settings[i].name) = (uint32_t)gus_uarch_value(u, settings[i].name, 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		double all = gus_uarch_value(u, files[i][1], 0);
		uint32_t *renames = setting_of(c, files[i][0]);
		uint32_t taken = i == 2 ? 8 : REGISTERS_TAKEN;

		if (!*renames && all > taken)
			*renames = (uint32_t)all - taken;
	}
	if (!c->issue_width)
		c->issue_width = 4;
	if (!c->retire_width)
		c->retire_width = c->issue_width;
	if (!c->issue_delay)
		c->issue_delay = 1;
	if (!c->line_size)
		c->line_size = 64;
	if (!c->microcode_width)
		c->microcode_width = 4;
	if (!c->microcode_switch)
		c->microcode_switch = 4;
	if (!c->store_forward_latency)
		c->store_forward_latency = c->l1d_latency;
	if (!c->store_forward_blocked)
		c->store_forward_blocked = c->store_forward_latency + 8;
	if (!c->line_split_penalty)
		c->line_split_penalty = 5;
	if (!c->uop_cache_lines && c->uop_cache_line)
		c->uop_cache_lines = c->uop_cache_window > 32 ? 6 : 3;
	c->memory_latency *= NS_TO_CYCLES; /* the table has ns, and a core of this kind some 4 cycles in one */
	/* Beyond the core, machines differ more than cores do: where a table is silent, the round figures of a server. */
	if (!c->l2_latency)
		c->l2_latency = 14;
	if (!c->l3_latency)
		c->l3_latency = 60;
	if (!c->memory_latency)
		c->memory_latency = 360;
	if (!c->stlb_latency)
		c->stlb_latency = 7;
	if (!c->page_walk_latency)
		c->page_walk_latency = 26; /* Palomares 2015, section 4.2: a walk that hits the caches, on Sandy Bridge */
}

int gus_core_config_set(struct gus_core_config *c, const char *name, uint64_t value, struct gus_error *err)
{
	uint32_t *setting = setting_of(c, name);

	if (!setting)
		return gus_fail(err, GUS_E_USAGE, "cannot set %s: the core engine has no such size or width", name);
	if (value > 1000000 || (!value && (setting == &c->issue_width || setting == &c->retire_width)))
		return gus_fail(err, GUS_E_USAGE, "cannot set %s to %llu: that makes no machine", name, (unsigned long long)value);
	*setting = (uint32_t)value;
	return 0;
}

void gus_core_config_infinite(struct gus_core_config *c)
{
	c->rob = c->rs = c->rs_int = c->rs_vector = c->rs_memory = c->load_buffer = c->store_buffer = c->branch_buffer = 0;
	c->renames = c->int_renames = c->vector_renames = c->mask_renames = 0;
}

const char *gus_core_reason_name(enum gus_core_reason reason)
{
	static const char *const names[GUS_CORE_REASONS] = {
		[GUS_CORE_NOTHING] = "none", [GUS_CORE_FRONT_END] = "front_end", [GUS_CORE_BOUNDARY] = "loop_boundary",
		[GUS_CORE_MISPREDICT] = "mispredict", [GUS_CORE_ROB] = "rob", [GUS_CORE_RS] = "rs",
		[GUS_CORE_LOAD_BUFFER] = "load_buffer", [GUS_CORE_STORE_BUFFER] = "store_buffer",
		[GUS_CORE_BRANCH_BUFFER] = "branch_buffer", [GUS_CORE_REGISTERS] = "registers",
		[GUS_CORE_SERIALISED] = "serialised", [GUS_CORE_EXECUTION] = "execution", [GUS_CORE_OPERAND] = "operand",
		[GUS_CORE_MEMORY] = "memory",
	};

	return names[reason];
}

const char *gus_commit_name(enum gus_commit state)
{
	static const char *const names[GUS_COMMITS] = { "compute", "stalled", "drained", "flushed" };

	return names[state];
}

/* Retirement. */

static void tell_slot(struct core *k, const struct live_slot *slot)
{
	const struct gus_core_listener *l = k->o->listener;

	for (uint32_t i = 0; i < slot->n; i++) {
		const struct live_uop *u = core_uop(k, slot->first + i);
		struct gus_core_event event = { .iteration = slot->iteration, .op = slot->op, .uop = u->uop, .port = u->port,
			.issued = slot->issued, .dispatched = u->dispatched, .completed = u->complete, .retired = k->cycle };

		l->uop(l->context, &event);
	}
}

static void free_op(struct core *k, const struct live_slot *last)
{
	const struct gus_op *op = &k->p->ops[last->op];
	const uint8_t *results = op->results;

	k->pools[POOL_ROB].freed += op->rob;
	k->pools[POOL_LOADS].freed += op->loads;
	k->pools[POOL_BRANCHES].freed += (op->flags & GUS_OP_BRANCH) != 0;
	k->pools[POOL_INT].freed += results[GUS_REGFILE_INT];
	k->pools[POOL_VECTOR].freed += results[GUS_REGFILE_VECTOR];
	k->pools[POOL_MASK].freed += results[GUS_REGFILE_MASK];
	k->pools[POOL_RENAMES].freed += results[GUS_REGFILE_INT] + results[GUS_REGFILE_VECTOR] + results[GUS_REGFILE_MASK];
	gus_core_retire_stores(k, op);
}

static void retire(struct core *k)
{
	unsigned slots = 0;

	while (slots < k->c->retire_width && k->slot_head < k->slot_tail) {
		struct live_slot *slot = core_slot(k, k->slot_head);

		if (slot->waiting || slot->complete > k->cycle || slot->issued >= k->cycle)
			break;
		if (k->o->listener && k->o->listener->uop)
			tell_slot(k, slot);
		k->retired_now += slot->n;
		if (slot->ends_op)
			free_op(k, slot);
		k->retired_iterations += slot->ends_iteration;
		k->retired_cycle = k->cycle;
		k->uop_head = slot->first + slot->n;
		k->slot_head++;
		slots++;
	}
}

/* Dispatch. */

static void wake(struct core *k, struct live_uop *u)
{
	uint32_t node = u->waiters;

	u->waiters = 0;
	while (node) {
		struct waiter *w = &k->waiters.v[node - 1];
		struct live_uop *to = &k->uops[w->uop];
		int delay = w->delay + u->more;
		uint64_t ready = k->cycle + (uint64_t)(delay > 0 ? delay : 0);
		uint32_t next = w->next;

		if (ready > to->ready)
			to->ready = ready;
		w->next = k->free_waiter;
		k->free_waiter = node;
		if (--to->pending == 0)
			gus_core_arm(k, to);
		node = next;
	}
}

static void dispatch_uop(struct core *k, struct live_uop *u)
{
	const struct gus_uop *uop = &k->p->uops[u->uop];
	struct live_slot *slot = core_slot(k, u->slot);
	int latency;

	k->waiting[u->port]--;
	k->pools[POOL_RS].freed++;
	k->pools[k->port_pool[u->port]].freed += k->port_pool[u->port] != POOL_RS;
	k->port_free[u->port] = k->cycle + (uop->port_cycles ? uop->port_cycles : 1);
	if (uop->unit)
		k->unit_free[uop->unit] = k->cycle + uop->unit_cycles;
	if (uop->kind == GUS_UOP_LOAD && k->loads_now_n < LOADS_NOW) {
		k->loads_now[k->loads_now_n].at = core_access(k, u)->address & (k->c->line_size - 1);
		k->loads_now[k->loads_now_n++].bytes = core_access(k, u)->bytes;
	}
	if (uop->kind == GUS_UOP_LOAD)
		gus_core_load(k, u, uop);
	else if (uop->kind != GUS_UOP_COMPUTE && core_access(k, u)->split)
		k->port_free[u->port] = k->cycle + 2;
	latency = uop->latency + u->more;
	u->dispatched = k->cycle;
	u->complete = k->cycle + (uint64_t)(latency > 0 ? latency : 0);
	k->total.dispatched[u->port]++;
	if (u->complete > slot->complete)
		slot->complete = u->complete;
	slot->waiting--;
	if (k->blocking == u->slot + 1 && !slot->waiting)
		gus_core_unblock(k, slot->complete);
	wake(k, u);
}

/* Some L1 caches with three load ports have banks with two: of loads that need the same bytes of a line, whichever line it is,
 * only so many begin in a cycle. */
static bool bank_taken(const struct core *k, const struct live_uop *u)
{
	const struct live_access *a = &k->accesses[u->seq & k->uop_mask];
	uint64_t at = a->address & (k->c->line_size - 1), n = 0;

	if (k->p->uops[u->uop].kind != GUS_UOP_LOAD || !a->bytes)
		return false;
	for (unsigned i = 0; i < k->loads_now_n; i++)
		n += k->loads_now[i].at < at + a->bytes && at < k->loads_now[i].at + k->loads_now[i].bytes;
	return n >= k->c->l1d_bank_ports;
}

/* The oldest that is ready, may take the port and finds its unit free: where it is in the list of the port it is bound to, or a
 * number that is no place. */
static uint32_t oldest(const struct core *k, unsigned bound, unsigned port)
{
	for (uint32_t i = 0; i < k->ready_n[bound]; i++) {
		const struct live_uop *u = &k->uops[k->ready[bound][i] & k->uop_mask];
		unsigned unit = k->p->uops[u->uop].unit;

		if (!(k->p->uops[u->uop].ports >> port & 1))
			continue;
		if ((!unit || k->unit_free[unit] <= k->cycle) && !(k->c->l1d_bank_ports && bank_taken(k, u)))
			return i;
	}
	return UINT32_MAX;
}

/* The list from which a port takes its next uop: its own, but where ports are not bound (any) that with the oldest one that
 * it may take, of the same scheduler. GUS_CORE_PORTS: nothing. */
static unsigned list_for(const struct core *k, unsigned port, uint32_t *at)
{
	unsigned best = GUS_CORE_PORTS;
	uint64_t least = UINT64_MAX;

	if (k->c->port_binding != BIND_ANY) {
		*at = k->ready_n[port] ? oldest(k, port, port) : UINT32_MAX;
		return *at == UINT32_MAX ? GUS_CORE_PORTS : port;
	}
	for (unsigned from = 0; from < k->p->ports_n; from++) {
		uint32_t i;

		if (!k->ready_n[from] || k->port_pool[from] != k->port_pool[port])
			continue;
		i = oldest(k, from, port);
		if (i == UINT32_MAX || k->ready[from][i] >= least)
			continue;
		least = k->ready[from][i];
		best = from;
		*at = i;
	}
	return best;
}

static void dispatch(struct core *k)
{
	uint32_t *timed = &k->wheel[k->cycle % WHEEL], node = *timed, at;
	unsigned first;

	*timed = 0;
	k->loads_now_n = 0;
	while (node) {
		struct live_uop *u = &k->uops[node - 1];

		node = u->next_timed;
		gus_core_arm(k, u);
	}
	/* Where loads can be in each other's way, no port is always the one that loses. */
	first = k->c->l1d_bank_ports ? (unsigned)(k->cycle % k->p->ports_n) : 0;
	for (unsigned n = 0; n < k->p->ports_n; n++) {
		unsigned port = first + n < k->p->ports_n ? first + n : first + n - k->p->ports_n;
		struct live_uop *u;
		unsigned from;

		if (k->port_free[port] > k->cycle)
			continue;
		from = list_for(k, port, &at);
		if (from == GUS_CORE_PORTS)
			continue;
		u = &k->uops[k->ready[from][at] & k->uop_mask];
		k->ready_n[from]--;
		for (; at < k->ready_n[from]; at++)
			k->ready[from][at] = k->ready[from][at + 1];
		if (from != port) { /* any */
			k->waiting[from]--;
			k->waiting[port]++;
			u->port = (int8_t)port;
		}
		dispatch_uop(k, u);
	}
}

/* The cycle. */

static enum gus_core_reason why_stalled(struct core *k, const struct live_slot *slot)
{
	for (uint32_t i = 0; i < slot->n; i++) {
		const struct live_uop *u = core_uop(k, slot->first + i);

		if (u->dispatched == GUS_NEVER)
			return u->pending || u->ready > k->cycle ? GUS_CORE_OPERAND : GUS_CORE_EXECUTION;
		if (u->complete > k->cycle && u->level != GUS_HIT_L1)
			return GUS_CORE_MEMORY;
	}
	return GUS_CORE_EXECUTION;
}

static void account(struct core *k, struct gus_core_cycle *told, uint32_t free_rs, uint32_t free_rob, bool empty, bool flushed)
{
	enum gus_commit state = k->retired_now || k->retired_cycle == k->cycle ? GUS_COMMIT_COMPUTE :
		!empty ? GUS_COMMIT_STALLED : flushed ? GUS_COMMIT_FLUSHED : GUS_COMMIT_DRAINED;

	k->total.commit[state]++;
	k->total.stop[k->stop]++;
	if (!k->o->listener || !k->o->listener->cycle)
		return;
	*told = (struct gus_core_cycle){ .cycle = k->cycle, .issued = k->issued_now, .retired = k->retired_now, .free_rs = free_rs,
		.free_rob = free_rob, .state = state, .stop = k->stop, .stall = told->stall, .op = UINT32_MAX };
	if (k->slot_head < k->slot_tail) {
		told->op = core_slot(k, k->slot_head)->op;
		told->iteration = core_slot(k, k->slot_head)->iteration;
	} else if (k->have_current) {
		told->op = k->current.op;
		told->iteration = k->current.iteration;
	} else {
		const struct gus_fetched *next = gus_frontend_peek(&k->front);

		told->op = next ? next->op : UINT32_MAX;
		told->iteration = next ? next->iteration : 0;
	}
	k->o->listener->cycle(k->o->listener->context, told);
}

static void cycle(struct core *k)
{
	struct gus_core_cycle told = { 0 };
	const struct pool *rs = &k->pools[POOL_RS], *rob = &k->pools[POOL_ROB];
	uint32_t free_rs = rs->size ? rs->size - rs->used : 0, free_rob = rob->size ? rob->size - rob->used : 0;
	bool empty = k->slot_head == k->slot_tail, flushed = k->mispredict && k->blocked_until > k->cycle;

	k->issued_now = k->retired_now = 0;
	retire(k);
	if (k->o->listener && k->retired_cycle != k->cycle && !empty)
		told.stall = why_stalled(k, core_slot(k, k->slot_head));
	gus_core_commit_stores(k);
	dispatch(k);
	gus_core_issue(k);
	gus_frontend_cycle(&k->front);
	account(k, &told, free_rs, free_rob, empty, flushed);
	for (unsigned i = 0; i < POOLS; i++) {
		k->pools[i].used -= k->pools[i].freed;
		k->pools[i].freed = 0;
	}
	k->cycle++;
}

/* Beginning and end. */

static uint64_t ring(uint64_t least)
{
	uint64_t size = 64;

	while (size < least)
		size *= 2;
	return size;
}

static int check(const struct gus_program *p, const struct gus_core_config *c, struct gus_error *err)
{
	static const struct setting powers[] = {
		{ "line_size", offsetof(struct gus_core_config, line_size) },
		{ "fetch_bytes", offsetof(struct gus_core_config, fetch_bytes) },
		{ "uop_cache_window", offsetof(struct gus_core_config, uop_cache_window) },
	};
	uint64_t ports = p->ports_n >= 64 ? ~0ull : (1ull << p->ports_n) - 1;

	if (!p->ops_n)
		return gus_fail(err, GUS_E_USAGE, "cannot run the core engine: the program is empty");
	if (!c->issue_width || !c->retire_width || !c->issue_delay)
		return gus_fail(err, GUS_E_USAGE, "cannot run the core engine: issue_width, retire_width and issue_delay must be at "
				"least 1");
	for (size_t i = 0; i < sizeof(powers) / sizeof(*powers); i++) {
		uint32_t value = *(const uint32_t *)(const void *)((const char *)c + powers[i].offset);

		if (value & (value - 1))
			return gus_fail(err, GUS_E_USAGE, "cannot run the core engine: %s is %u, which is no power of two",
					powers[i].name, value);
	}
	for (uint32_t i = 0; i < p->uops_n; i++)
		if (p->uops[i].ports & ~ports)
			return gus_fail(err, GUS_E_USAGE, "cannot run the core engine: uop %u has a port that the CPU has not", i);
	return 0;
}

/* Which scheduler a port belongs to, where there are several: by the names that tables give to ports. */
static uint8_t pool_of(const struct gus_core_config *c, const char *name)
{
	static const struct { const char *prefix; uint8_t pool; } kinds[] = {
		{ "fp", POOL_RS_VECTOR }, { "V", POOL_RS_VECTOR }, { "agu", POOL_RS_MEMORY }, { "lsu", POOL_RS_MEMORY },
		{ "L", POOL_RS_MEMORY }, { "S", POOL_RS_MEMORY },
	};

	if (!c->rs_int && !c->rs_vector && !c->rs_memory)
		return POOL_RS;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
			return kinds[i].pool;
	return POOL_RS_INT;
}

/* The uops of an op lie together, in the order of their slots. */
static void find_needs(struct core *k)
{
	const struct gus_program *p = k->p;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->ops_n; i++)
		n += p->ops[i].slots;
	k->needs = gus_zalloc((n + 1) * sizeof(*k->needs));
	k->first_need = gus_zalloc(p->ops_n * sizeof(*k->first_need));
	k->follows = gus_zalloc(p->ops_n);
	n = 0;
	for (uint32_t i = 0; i < p->ops_n; i++) {
		const struct gus_op *op = &p->ops[i];
		uint32_t at = op->uop, end = op->uop + op->uops_n;

		k->first_need[i] = n;
		k->follows[i] = op->memories_n != 0;
		for (unsigned insn = 0; insn < op->insns_n; insn++)
			k->follows[i] |= gus_values_follows(&k->values, op->insn + insn);
		for (unsigned slot = 0; slot < op->slots; slot++) {
			struct slot_need *need = &k->needs[n++];

			need->first = at;
			for (; at < end && p->uops[at].slot == slot; at++) {
				uint64_t ports = p->uops[at].ports;
				uint8_t pool = ports ? k->port_pool[__builtin_ctzll(ports)] : POOL_RS;

				need->n++;
				need->rs += ports != 0;
				need->rs_int += pool == POOL_RS_INT;
				need->rs_vector += pool == POOL_RS_VECTOR;
				need->rs_memory += pool == POOL_RS_MEMORY;
			}
			need->rob = (uint8_t)(op->rob > op->slots && need->n ? need->n : 1);
		}
	}
}

static void find_used(struct core *k)
{
	bool written[GUS_PROGRAM_REGS] = { false };

	for (uint32_t i = 0; i < k->p->uops_n; i++)
		if (k->p->uops[i].unit >= k->units_n)
			k->units_n = k->p->uops[i].unit + 1u;

	for (uint32_t i = 0; i < k->p->uops_n; i++)
		for (unsigned n = 0; n < k->p->uops[i].out_n; n++)
			written[k->p->flows[k->p->uops[i].out + n].reg] = true;
	for (unsigned r = 0; r < GUS_PROGRAM_REGS; r++)
		if (written[r])
			k->used[k->used_n++] = (uint8_t)r;
}

static void begin(struct core *k, const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *o)
{
	const uint32_t sizes[POOLS] = { [POOL_ROB] = c->rob, [POOL_RS] = c->rs, [POOL_RS_INT] = c->rs_int,
		[POOL_RS_VECTOR] = c->rs_vector, [POOL_RS_MEMORY] = c->rs_memory, [POOL_LOADS] = c->load_buffer,
		[POOL_STORES] = c->store_buffer, [POOL_BRANCHES] = c->branch_buffer, [POOL_RENAMES] = c->renames,
		[POOL_INT] = c->int_renames, [POOL_VECTOR] = c->vector_renames, [POOL_MASK] = c->mask_renames };
	uint64_t slots = ring(c->rob && c->rob < 4096 ? c->rob + 8 : 4096), uops = slots * 2;
	uint64_t stores = ring(c->store_buffer && c->store_buffer < STORES_MOST / 2 ? c->store_buffer + 2 * ACCESSES : STORES_MOST);

	*k = (struct core){ .p = p, .c = c, .o = o };
	for (unsigned i = 0; i < POOLS; i++)
		k->pools[i].size = sizes[i];
	k->slots = gus_zalloc(slots * sizeof(*k->slots));
	k->slot_mask = slots - 1;
	k->uops = gus_zalloc(uops * sizeof(*k->uops));
	k->accesses = gus_zalloc(uops * sizeof(*k->accesses));
	k->uop_mask = uops - 1;
	k->stores = gus_zalloc(stores * sizeof(*k->stores));
	k->store_mask = stores - 1;
	for (uint64_t i = 0; i < uops; i++)
		k->uops[i].seq = GUS_NEVER;
	k->wheel = gus_zalloc(WHEEL * sizeof(*k->wheel));
	for (unsigned i = 0; i < p->ports_n; i++) {
		k->ready[i] = gus_alloc(uops * sizeof(*k->ready[i]));
		k->port_pool[i] = pool_of(c, p->port_names[i]);
	}
	gus_frontend_begin(&k->front, p, c, o);
	gus_values_begin(&k->values, p, o->pointers);
	find_needs(k);
	find_used(k);
}

static void end(struct core *k)
{
	gus_values_end(&k->values);
	gus_frontend_end(&k->front);
	for (unsigned i = 0; i < k->p->ports_n; i++)
		free(k->ready[i]);
	gus_vec_free(&k->waiters);
	gus_vec_free(&k->seen);
	gus_vec_free(&k->sums);
	free(k->needs);
	free(k->follows);
	free(k->first_need);
	free(k->wheel);
	free(k->uops);
	free(k->accesses);
	free(k->stores);
	free(k->slots);
	free(k);
}

static bool over(const struct core *k)
{
	return k->front.ended && !k->have_current && !k->front.queue_n && !k->front.found_n && k->slot_head == k->slot_tail;
}

/* The whole run is what is told. */
static void whole(const struct core *k, struct gus_core_result *r)
{
	r->steady_cycles = k->cycle;
	r->steady_iterations = k->retired_iterations;
	r->slots = k->total.slots;
	memcpy(r->dispatched, k->total.dispatched, sizeof(r->dispatched));
	memcpy(r->commit, k->total.commit, sizeof(r->commit));
	memcpy(r->stop, k->total.stop, sizeof(r->stop));
}

enum { STUCK = 100000 };

int gus_core_run(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *o,
		 struct gus_core_result *r, struct gus_error *err)
{
	struct core *k;
	bool bounded = o->iterations || o->source, done = false;
	int status = 0;

	*r = (struct gus_core_result){ 0 };
	if (check(p, c, err) != 0)
		return -1;
	if (o->memory && o->memory->begin) {
		if (!bounded)
			return gus_fail(err, GUS_E_USAGE, "the core engine finds no steady state where what accesses hit depends on those "
					"before: give a number of iterations");
		o->memory->begin(o->memory->context);
	}
	k = gus_zalloc(sizeof(*k));
	begin(k, p, c, o);
	while (!done) {
		uint64_t iterations = k->issued_iterations;

		cycle(k);
		if (bounded)
			done = over(k);
		else if (k->issued_iterations > iterations)
			done = gus_core_steady(k, r);
		if (k->cycle - k->retired_cycle > STUCK) {
			status = gus_fail(err, GUS_E_USAGE, "cannot run the core engine: nothing retires after cycle %llu, so some "
					  "uop waits for what the machine does not have", (unsigned long long)k->retired_cycle);
			done = true;
		}
	}
	if (bounded)
		whole(k, r);
	r->cycles = k->cycle;
	r->iterations = k->retired_iterations;
	r->fetch = k->front.mode;
	end(k);
	return status;
}
