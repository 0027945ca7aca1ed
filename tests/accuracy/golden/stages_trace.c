/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/stages_trace.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "proto/trace.h"
#include "tests/accuracy/golden/stages.h"

enum { BLOCK_INSNS = 64 };      /* at most: straight code is cut where it likes */

struct insn { uint64_t address; uint8_t bytes[GUS_TRACE_INSN_BYTES], size; };

struct tracing {
	const struct golden_stages *s;
	struct gus_vec(struct insn) code;       /* by address */
	struct gus_trace_writer *w;
	/* The block that is being made. */
	uint64_t begin, end;
	struct gus_vec(uint8_t) bytes, lengths;
	struct gus_vec(struct gus_trace_access) accesses; /* of all steps */
	size_t accessed;                        /* of them in steps before */
	struct gus_vec(struct gus_trace_raw) steps;
};

/* Disassembly: "  401010:\tf2 0f 10 ...\tmovsd ..."; a line without text is of the instruction before. */

/* Two digits and a space each, up to what is none: a mnemonic may begin with digits. */
static void take_bytes(struct insn *insn, const char *at)
{
	for (; isxdigit(at[0]) && isxdigit(at[1]) && at[2] == ' ' && insn->size < GUS_TRACE_INSN_BYTES; at += 3)
		insn->bytes[insn->size++] = (uint8_t)strtoul(at, NULL, 16);
}

static int by_address(const void *a, const void *b)
{
	const struct insn *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void read_code(struct tracing *t, FILE *f)
{
	char line[1024];

	while (fgets(line, sizeof(line), f)) {
		char *colon;
		uint64_t address = strtoull(line, &colon, 16);

		if (line[0] != ' ' || colon[0] != ':' || colon[1] != '\t')
			continue;
		if (strchr(colon + 2, '\t'))
			gus_vec_push(&t->code, (struct insn){ .address = address });
		if (t->code.n)
			take_bytes(&t->code.v[t->code.n - 1], colon + 2);
	}
	if (t->code.n)
		qsort(t->code.v, t->code.n, sizeof(*t->code.v), by_address);
}

/* Steps. */

static int end_block(struct tracing *t, struct gus_error *err)
{
	const struct gus_trace_block block = { t->begin, t->lengths.v, t->bytes.v, (uint32_t)t->lengths.n,
					       (uint32_t)t->bytes.n };
	uint32_t number;

	if (!t->lengths.n)
		return 0;
	if (gus_trace_writer_block(t->w, &block, &number, err) != 0)
		return -1;
	gus_vec_push(&t->steps, (struct gus_trace_raw){ number, (uint32_t)(t->accesses.n - t->accessed) });
	t->accessed = t->accesses.n;
	t->bytes.n = t->lengths.n = 0;
	return 0;
}

static int begin_insn(struct tracing *t, uint64_t pc, struct gus_error *err)
{
	const struct insn key = { .address = pc }, *insn = !t->code.n ? NULL :
		bsearch(&key, t->code.v, t->code.n, sizeof(*t->code.v), by_address);

	if (!insn)
		return gus_fail(err, GUS_E_NOT_FOUND, "the instruction at %#llx is not in the disassembly",
				(unsigned long long)pc);
	if ((pc != t->end || t->lengths.n == BLOCK_INSNS) && end_block(t, err) != 0)
		return -1;
	if (!t->lengths.n)
		t->begin = pc;
	gus_vec_append(&t->bytes, insn->bytes, insn->size);
	gus_vec_push(&t->lengths, insn->size);
	t->end = pc + insn->size;
	return 0;
}

/* An instruction ends with the micro-op that is its last; a block with one that may branch. */
static int take_lines(struct tracing *t, struct gus_error *err)
{
	const struct golden_stages *s = t->s;
	bool begins = true, branches = false;

	for (size_t i = 0; i < s->lines.n; i++) {
		const struct golden_stage *l = &s->lines.v[i];

		if (begins && begin_insn(t, l->pc, err) != 0)
			return -1;
		if (l->bytes)
			gus_vec_push(&t->accesses, (struct gus_trace_access){ l->address, l->bytes,
				     (uint16_t)(t->lengths.n - 1), s->program.ops[l->did].stores != 0 });
		branches |= (s->program.ops[l->did].flags & GUS_OP_BRANCH) != 0;
		begins = s->last[l->did];
		if (!begins)
			continue;
		if (branches && end_block(t, err) != 0)
			return -1;
		branches = false;
	}
	return end_block(t, err);
}

static int write_all(struct tracing *t, struct gus_error *err)
{
	Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;

	total.streams = 1;
	if (take_lines(t, err) == 0 &&
	    gus_trace_writer_steps(t->w, &(struct gus_trace_run){ 0, 0, 0, t->steps.v, t->accesses.v, t->steps.n,
							       GUS_TRACE_NEXT_UNKNOWN }, err) == 0)
		return gus_trace_writer_finish(t->w, &total, err);
	gus_trace_writer_abandon(t->w);
	return -1;
}

int golden_stages_trace(const struct golden_stages *s, FILE *code, const char *path, struct gus_error *err)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Trace about = GUSPROF__TRACE__INIT;
	struct tracing t = { .s = s };
	int rc;

	read_code(&t, code);
	about.front_end = (char *)(uintptr_t)"stages";
	about.target = (char *)(uintptr_t)"x86_64";
	unlink(path); /* a writer would keep what was there */
	t.w = gus_trace_writer_create(path, &header, &about, err);
	rc = t.w ? write_all(&t, err) : -1;
	gus_vec_free(&t.code);
	gus_vec_free(&t.bytes);
	gus_vec_free(&t.lengths);
	gus_vec_free(&t.accesses);
	gus_vec_free(&t.steps);
	return rc;
}
