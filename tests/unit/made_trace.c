/* SPDX-License-Identifier: MIT */
#include "tests/unit/made_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/oracles/sets.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"

void made_trace_begin(struct made_trace *m, const char *target)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Trace about = GUSPROF__TRACE__INIT;
	struct gus_error err = { 0 };

	*m = (struct made_trace){ .fd = memfd_create("trace", MFD_CLOEXEC) };
	about.front_end = (char *)(uintptr_t)"test";
	about.target = (char *)(uintptr_t)target;
	m->w = gus_trace_writer_create_fd(dup(m->fd), &header, &about, &err);
	if (!m->w)
		fail_msg("%s", err.text);
}

uint32_t made_trace_block(struct made_trace *m, uint64_t address, const uint8_t *bytes, const uint8_t *lengths,
			  uint32_t size, uint32_t insns)
{
	struct gus_error err = { 0 };
	uint32_t number;

	if (gus_trace_writer_block(m->w, &(struct gus_trace_block){ address, lengths, bytes, insns, size }, &number,
				   &err) != 0)
		fail_msg("%s", err.text);
	return number;
}

void made_trace_step(struct made_trace *m, uint32_t block, uint32_t accesses_n)
{
	gus_vec_push(&m->steps, (struct gus_trace_raw){ block, accesses_n });
}

void made_trace_load(struct made_trace *m, uint64_t address, uint16_t insn)
{
	gus_vec_push(&m->accesses, (struct gus_trace_access){ .address = address, .size = 8, .insn = insn });
}

void made_trace_flush(struct made_trace *m, uint32_t stream)
{
	struct gus_error err = { 0 };

	if (gus_trace_writer_steps(m->w, &(struct gus_trace_run){ stream, 0, 0, m->steps.v, m->accesses.v, m->steps.n,
				   GUS_TRACE_NEXT_UNKNOWN }, &err) != 0)
		fail_msg("%s", err.text);
	m->steps.n = m->accesses.n = 0;
}

struct gus_trace *made_trace_end(struct made_trace *m)
{
	Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;
	struct gus_error err = { 0 };
	struct gus_trace *t;

	if (gus_trace_writer_finish(m->w, &total, &err) != 0)
		fail_msg("%s", err.text);
	gus_vec_free(&m->steps);
	gus_vec_free(&m->accesses);
	lseek(m->fd, 0, SEEK_SET);
	t = gus_trace_open_fd(m->fd, &err);
	if (!t)
		fail_msg("%s", err.text);
	return t;
}

void made_model_begin(struct made_model *s)
{
	struct gus_symbols_options symbols = { 0 };
	struct gus_error err = { 0 };

	*s = (struct made_model){ .u = gus_uarch_parse("skylake", NULL, 0, &gus_uarch_builtin, 0, &err) };
	assert_non_null(s->u);
	gus_core_config_of(&s->core, s->u);
	gus_cache_config_of(&s->caches, s->u);
	gus_branch_config_default(&s->predictor);
	s->caches.l1d_next_line = s->caches.l1d_strides = s->caches.l2_next_line = 0;
	for (unsigned level = 0; level < GUS_CACHE_LEVELS; level++)
		s->caches.level[level].replacement = GUS_REPLACE_LRU;
	s->options = (struct gus_traced_options){ .uarch = s->u, .config = &s->core, .caches = &s->caches,
		.predictor = &s->predictor,
		.symbols = gus_symbols_new(&symbols, NULL), .weight = 1.15, .causality = true };
}

void made_model_read(struct made_model *s, struct gus_trace *trace)
{
	struct gus_error err = { 0 };

	if (gus_traced_read(&s->t, trace, &err) != 0)
		fail_msg("%s", err.text);
	gus_trace_close(trace);
}

void made_model_end(struct made_model *s)
{
	struct gus_error err = { 0 };

	if (gus_traced_end(&s->t, &err) != 0)
		fail_msg("%s", err.text);
}

void made_model_run(struct made_model *s, struct made_trace *m)
{
	gus_traced_open(&s->t, &s->options);
	made_model_read(s, made_trace_end(m));
	made_model_end(s);
}

void made_model_free(struct made_model *s)
{
	gus_traced_close(&s->t);
	gus_symbols_free(s->options.symbols);
	gus_uarch_free(s->u);
}
