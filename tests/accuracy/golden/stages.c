/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/stages.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Columns of a line of stages, and of a static micro-op. */
enum { SEQ, PC, UPC, DID, FETCH, DEC, REN, DSP, ROB, ISS, CMP, RET, ST, NSQ, CAUSE, FL, LVL, IC, ADDR, FIELDS };
enum { DICT_DID, DICT_PC, DICT_UPC, DICT_KINDS, DICT_FIELDS };

enum { BEHIND = 2 }; /* cycles between completion and retirement */

static unsigned split(char *line, char **fields, unsigned most)
{
	unsigned n = 0;

	for (char *rest = line; rest && n < most;)
		fields[n++] = strsep(&rest, "\t\n");
	return n;
}

/* A stage that was not passed was passed with the one before. */
static int64_t cycle_of(char *const *fields, unsigned which, int64_t otherwise)
{
	return fields[which][0] == '-' && !fields[which][1] ? otherwise :
		strtoll(fields[FETCH], NULL, 10) + strtoll(fields[which], NULL, 10);
}

static uint8_t level_of(const char *field)
{
	return field[0] == '2' ? GUS_HIT_L2 : field[0] == '3' ? GUS_HIT_MEMORY : GUS_HIT_L1;
}

static struct golden_stage stage_of(char *const *fields)
{
	struct golden_stage s = { .stored = -1 };
	char *colon = strchr(fields[ADDR], ':');

	s.did = (uint32_t)strtoul(fields[DID], NULL, 10);
	s.pc = strtoull(fields[PC], NULL, 16);
	s.decoded = cycle_of(fields, DEC, 0);
	s.renamed = cycle_of(fields, REN, 0);
	s.rob = cycle_of(fields, ROB, 0);
	s.issued = cycle_of(fields, ISS, s.rob);
	s.complete = cycle_of(fields, CMP, s.issued);
	s.retired = cycle_of(fields, RET, 0);
	s.stored = cycle_of(fields, ST, -1);
	s.squashed = (uint32_t)strtoul(fields[NSQ], NULL, 10);
	snprintf(s.cause, sizeof(s.cause), "%s", fields[CAUSE]);
	snprintf(s.flags, sizeof(s.flags), "%s", fields[FL]);
	s.level = level_of(fields[LVL]);
	s.code_missed = fields[IC][0] != '-';
	if (colon) {
		s.address = strtoull(fields[ADDR], NULL, 16);
		s.bytes = (uint32_t)strtoul(colon + 1, NULL, 10);
	}
	return s;
}

static int read_lines(struct golden_stages *s, FILE *f, struct gus_error *err)
{
	char line[1024], *fields[FIELDS];
	size_t number = 0;

	while (fgets(line, sizeof(line), f)) {
		const char *cycles = line[0] == '#' ? strstr(line, " cycles ") : NULL;

		number++;
		if (cycles)
			s->cycles = strtoll(cycles + 8, NULL, 10);
		if (line[0] < '0' || line[0] > '9')
			continue;
		if (split(line, fields, FIELDS) != FIELDS)
			return gus_fail(err, GUS_E_CORRUPT, "line %zu has not the columns of stages", number);
		gus_vec_push(&s->lines, stage_of(fields));
	}
	if (!s->lines.n || s->cycles <= 0)
		return gus_fail(err, GUS_E_CORRUPT, "there are no stages, or nobody says of how many cycles");
	return 0;
}

/* Static micro-ops. */

static void make_program(struct golden_stages *s)
{
	struct gus_program *p = &s->program;

	for (size_t i = 0; i < s->lines.n; i++)
		s->dids_n = s->lines.v[i].did >= s->dids_n ? s->lines.v[i].did + 1 : s->dids_n;
	p->ops_n = p->uops_n = 2 * s->dids_n;
	p->insns_n = s->dids_n;
	s->last = gus_zalloc(s->dids_n * sizeof(*s->last));
	p->ops = gus_zalloc(p->ops_n * sizeof(*p->ops));
	p->uops = gus_zalloc(p->uops_n * sizeof(*p->uops));
	p->insns = gus_zalloc(p->insns_n * sizeof(*p->insns));
	for (uint32_t i = 0; i < p->ops_n; i++) {
		p->ops[i] = (struct gus_op){ .insn = i % s->dids_n, .uop = i, .uops_n = 1, .insns_n = 1, .slots = 1 };
		p->uops[i] = (struct gus_uop){ .kind = GUS_UOP_COMPUTE };
	}
	for (size_t i = 0; i < s->lines.n; i++)
		p->insns[s->lines.v[i].did].offset = s->lines.v[i].pc;
}

static bool has(const char *kinds, const char *kind)
{
	size_t n = strlen(kind);

	for (const char *at = kinds; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (strncmp(at, kind, n) == 0 && (!at[n] || at[n] == ','))
			return true;
	return false;
}

static void set_kinds(struct golden_stages *s, uint32_t did, const char *kinds)
{
	struct gus_program *p = &s->program;
	bool load = has(kinds, "load"), store = has(kinds, "store");
	unsigned flags = (has(kinds, "ctrl") ? GUS_OP_BRANCH : 0) | (has(kinds, "cond") ? GUS_OP_CONDITIONAL : 0);

	s->last[did] = has(kinds, "last");
	p->insns[did].info.class = has(kinds, "call") ? GUS_INSN_CALL : has(kinds, "ret") ? GUS_INSN_RET :
		p->insns[did].info.class;
	for (uint32_t i = did; i < p->ops_n; i += s->dids_n) {
		p->ops[i].flags = (uint16_t)(flags | (i >= s->dids_n ? GUS_OP_TAKEN : 0));
		p->ops[i].loads = load;
		p->ops[i].stores = store;
		p->uops[i].kind = (uint8_t)(load ? GUS_UOP_LOAD : store ? GUS_UOP_STORE_ADDRESS : GUS_UOP_COMPUTE);
	}
}

static int read_dict(struct golden_stages *s, FILE *f, struct gus_error *err)
{
	char line[1024], *fields[DICT_FIELDS];

	while (fgets(line, sizeof(line), f)) {
		uint32_t did = (uint32_t)strtoul(line, NULL, 10);

		if (line[0] < '0' || line[0] > '9')
			continue;
		if (split(line, fields, DICT_FIELDS) != DICT_FIELDS)
			return gus_fail(err, GUS_E_CORRUPT, "micro-op %u has not the columns of one", did);
		if (did < s->dids_n) /* others are in no window */
			set_kinds(s, did, fields[DICT_KINDS]);
	}
	return 0;
}

/* What follows from stages. */

/* A store's entry is that of the one so many stores before it, once that one's write is done. */
static void find_waits(struct golden_stages *s, uint32_t stores)
{
	int64_t *done = gus_zalloc((stores + 1) * sizeof(*done));
	uint64_t n = 0;

	for (size_t i = 0; stores && i < s->lines.n; i++) {
		struct golden_stage *l = &s->lines.v[i];

		if (l->stored < 0)
			continue;
		l->waited = n >= stores && done[n % stores] > l->decoded + 1 &&
			(l->renamed - l->decoded > 1 || l->rob - l->renamed > 1);
		done[n++ % stores] = l->stored;
	}
	free(done);
}

static uint16_t psv_of(const struct golden_stage *l, bool load)
{
	unsigned psv = l->code_missed ? GUS_CORE_DR_L1 : 0;

	psv |= l->waited ? GUS_CORE_DR_SQ : 0;
	psv |= strpbrk(l->flags, "BD") ? GUS_CORE_FL_MB : 0;
	psv |= strchr(l->flags, 'A') ? GUS_CORE_FL_EX : 0;
	psv |= strchr(l->cause, 'M') ? GUS_CORE_FL_MO : 0;
	psv |= load && l->level != GUS_HIT_L1 ? GUS_CORE_ST_L1 : 0;
	psv |= load && l->level == GUS_HIT_MEMORY ? GUS_CORE_ST_LLC : 0;
	return (uint16_t)psv;
}

static void fill_wrong(struct golden_stages *s, const struct golden_stage *before, const struct golden_stage *l)
{
	int64_t from = before->rob > 0 ? before->rob : 0, to = l->rob < s->cycles ? l->rob : s->cycles;
	uint32_t left = l->squashed;

	if (to > before->complete + 1)
		to = before->complete + 1;
	for (int64_t cycle = from; left && cycle < to; cycle++) {
		uint32_t used = s->entered[cycle] + s->wrong[cycle], some = used < s->width ? s->width - used : 0;

		some = some < left ? some : left;
		s->wrong[cycle] += some;
		left -= some;
	}
}

static void count_slots(struct golden_stages *s)
{
	s->entered = gus_zalloc((size_t)s->cycles * sizeof(*s->entered));
	s->wrong = gus_zalloc((size_t)s->cycles * sizeof(*s->wrong));
	for (size_t i = 0; i < s->lines.n; i++) {
		int64_t cycle = s->lines.v[i].rob;

		if (cycle >= 0 && cycle < s->cycles && ++s->entered[cycle] > s->width)
			s->width = s->entered[cycle];
	}
	for (size_t i = 1; i < s->lines.n; i++)
		if (s->lines.v[i].squashed)
			fill_wrong(s, &s->lines.v[i - 1], &s->lines.v[i]);
}

int golden_stages_read(struct golden_stages *s, FILE *stages, FILE *dict, uint32_t stores, struct gus_error *err)
{
	*s = (struct golden_stages){ .width = 1 };
	if (read_lines(s, stages, err) != 0)
		return -1;
	make_program(s);
	if (dict && read_dict(s, dict, err) != 0)
		return -1;
	find_waits(s, stores);
	for (size_t i = 0; i < s->lines.n; i++)
		s->lines.v[i].psv = psv_of(&s->lines.v[i], s->program.ops[s->lines.v[i].did].loads);
	count_slots(s);
	return 0;
}

void golden_stages_free(struct golden_stages *s)
{
	gus_vec_free(&s->lines);
	free(s->program.ops);
	free(s->program.uops);
	free(s->program.insns);
	free(s->last);
	free(s->entered);
	free(s->wrong);
}

/* Telling. */

/* Code goes on behind an instruction, or elsewhere: at a lower address, or farther away than an instruction is long. */
static bool is_taken(const struct golden_stages *s, size_t line)
{
	const struct golden_stage *l = &s->lines.v[line];
	uint64_t next = line + 1 < s->lines.n ? s->lines.v[line + 1].pc : l->pc;

	return (s->program.ops[l->did].flags & GUS_OP_BRANCH) && (next < l->pc || next > l->pc + 15);
}

static uint32_t op_of(const struct golden_stages *s, size_t line)
{
	return s->lines.v[line].did + (is_taken(s, line) ? s->dids_n : 0);
}

/* What the cycle was, of which `next` is the oldest that has not retired. */
static void set_state(const struct golden_stages *s, size_t next, struct gus_core_cycle *told)
{
	const struct golden_stage *h = &s->lines.v[next];
	int64_t cycle = (int64_t)told->cycle;

	if (h->rob <= cycle && cycle < h->complete + BEHIND) {
		told->state = GUS_COMMIT_STALLED;
	} else if (h->rob <= cycle) { /* commit waits until the wrong path has left */
		told->state = GUS_COMMIT_FLUSHED;
		told->stall = GUS_CORE_ROB;
	} else if (strchr(h->cause, 'M')) {
		told->state = GUS_COMMIT_FLUSHED;
		told->of_next = true;
	} else {
		told->state = strpbrk(h->cause, "BATX") ? GUS_COMMIT_FLUSHED : GUS_COMMIT_DRAINED;
	}
}

/* Why no more entered: of what comes next. */
static enum gus_core_reason stop_of(const struct golden_stages *s, size_t entering, int64_t cycle)
{
	const struct golden_stage *l = entering < s->lines.n ? &s->lines.v[entering] : NULL;

	if (l && l->decoded + 1 <= cycle)
		return l->waited ? GUS_CORE_STORE_BUFFER : GUS_CORE_ROB;
	return l && strpbrk(l->cause, "BMATX") ? GUS_CORE_MISPREDICT : GUS_CORE_FRONT_END;
}

static void retire(const struct golden_stages *s, size_t line, const struct gus_core_listener *to)
{
	const struct golden_stage *l = &s->lines.v[line];
	uint32_t op = op_of(s, line);

	if (to->uop)
		to->uop(to->context, &(struct gus_core_event){ .iteration = line, .op = op, .uop = op, .port = -1,
			.issued = (uint64_t)l->rob, .dispatched = (uint64_t)l->issued,
			.completed = (uint64_t)l->complete, .retired = (uint64_t)l->retired, .address = l->address,
			.bytes = l->bytes, .level = l->level, .psv = l->psv, .ends = true,
			.miss = (uint16_t)(l->level != GUS_HIT_L1 ? l->complete - l->issued : 0),
			.taken = op >= s->dids_n, .mispredicted = (l->psv & GUS_CORE_FL_MB) != 0 });
	to->retire(to->context, &(struct gus_core_retired){ .iteration = line, .op = op, .psv = l->psv, .ends = true });
}

void golden_stages_tell(const struct golden_stages *s, const struct gus_core_listener *to)
{
	size_t next = 0, entering = 0;

	for (int64_t cycle = 0; cycle < s->cycles && next < s->lines.n; cycle++) {
		struct gus_core_cycle told = { .cycle = (uint64_t)cycle, .state = GUS_COMMIT_COMPUTE,
			.issued = s->entered[cycle], .wrong = s->wrong[cycle], .op = s->lines.v[next].did };

		if (s->lines.v[next].retired > cycle)
			set_state(s, next, &told);
		for (; next < s->lines.n && s->lines.v[next].retired == cycle; next++, told.retired++)
			retire(s, next, to);
		while (entering < s->lines.n && s->lines.v[entering].rob <= cycle)
			entering++;
		told.stop = stop_of(s, entering, cycle);
		to->cycle(to->context, &told);
	}
}
