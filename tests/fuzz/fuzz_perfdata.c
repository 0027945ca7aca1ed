/* SPDX-License-Identifier: MIT */
/* Fuzz target of perf's own files: any bytes as a perf.data, as a reader over it gives them. What it gives is the same
 * in each pass, whichever types are asked for; no event has more samples than its footer says, no sample names an event
 * that there is not, a reason stands behind each end, and what comes out can be written into a file of ours. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collector/perfdata/import.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "proto/varint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a pass has met. */
struct pass {
	struct gus_vec(uint64_t) of_event; /* samples; the last is for those of no event */
	uint64_t samples, switches, records, sum;
	Gusprof__Footer *footer;
};

/* A macro, so that a debugger shows which. */
#define demand(truth) \
	do { \
		if (!(truth)) \
			abort(); \
	} while (0)

/* Reads every value that a row gives access to, so that a sanitizer sees them all. */
static uint64_t sum_of(const struct gus_sample *s)
{
	uint64_t sum = s->ip ^ s->time ^ s->period ^ s->pid ^ s->tid ^ s->cpu ^ s->address ^ s->weight ^ s->data_source;

	for (uint32_t i = 0; i < s->chain_n; i++)
		sum = sum * 31 + s->chain[i];
	for (uint32_t i = 0; i < s->branches_n; i++)
		sum = sum * 31 + s->branches[i].from + s->branches[i].to + s->branches[i].flags + s->branches[i].cycles;
	for (uint32_t i = 0; i < s->regs_n; i++)
		sum = sum * 31 + s->regs[i];
	for (uint32_t i = 0; i < s->stack_n; i++)
		sum = sum * 31 + s->stack[i];
	for (uint32_t i = 0; i < s->extras_n; i++)
		sum = sum * 31 + s->extras[i];
	return sum;
}

static void take_samples(struct pass *p, const struct gus_columns *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct gus_sample s = gus_columns_sample(c, i);

		demand(s.event < p->of_event.n);
		p->of_event.v[s.event]++;
		p->sum = p->sum * 31 + sum_of(&s);
	}
	p->samples += c->n;
}

/* As a file of ours would have them, and back. */
static void write_and_read(const struct gus_columns *c)
{
	struct gus_columns back = { 0 };
	struct gus_bytes bytes = { 0 };

	for (size_t from = 0; from < c->n; ) {
		size_t n = c->n - from < 512 ? c->n - from : 512;

		bytes.n = 0;
		gus_columns_encode(c, from, n, &bytes);
		demand(gus_columns_decode(&back, bytes.v, bytes.n, NULL) == 0 && back.n == n);
		for (size_t i = 0; i < n; i++) {
			struct gus_sample here = gus_columns_sample(c, from + i), there = gus_columns_sample(&back, i);

			demand(sum_of(&here) == sum_of(&there));
		}
		from += n;
	}
	gus_columns_free(&back);
	gus_vec_free(&bytes);
}

static void take_message(struct pass *p, const struct gus_frame *frame)
{
	Gusprof__Sideband *sideband;

	if (frame->type == GUS_FRAME_SIDEBAND) {
		sideband = (Gusprof__Sideband *)gus_frame_message(frame, &gusprof__sideband__descriptor, NULL);
		demand(sideband != NULL);
		p->records += sideband->n_records;
		gusprof__sideband__free_unpacked(sideband, NULL);
	} else if (frame->type == GUS_FRAME_FOOTER) {
		demand(!p->footer);
		p->footer = (Gusprof__Footer *)gus_frame_message(frame, &gusprof__footer__descriptor, NULL);
		demand(p->footer != NULL);
	}
}

static struct pass read_all(struct gus_reader *r, uint32_t types, int thorough)
{
	struct pass p = { .samples = 0 };
	enum gus_read got;

	for (size_t i = 0; i <= gus_reader_header(r)->n_events; i++)
		gus_vec_push(&p.of_event, 0);
	do {
		struct gus_error err = { 0 };
		struct gus_frame frame = { 0 };

		got = gus_reader_next_of(r, types, &frame, &err);
		demand(got == GUS_READ_FRAME || got == GUS_READ_END || err.code != GUS_OK);
		demand(got != GUS_READ_FRAME || frame.type >= 32 || types >> frame.type & 1);
		if (got != GUS_READ_FRAME)
			continue;
		if (frame.type == GUS_FRAME_SAMPLES) {
			take_samples(&p, frame.rows);
			if (thorough)
				write_and_read(frame.rows);
		} else if (frame.type == GUS_FRAME_SWITCHES) {
			p.switches += frame.rows->n;
		} else {
			take_message(&p, &frame);
		}
	} while (got == GUS_READ_FRAME || got == GUS_READ_CORRUPT);
	return p;
}

static void pass_free(struct pass *p)
{
	gus_vec_free(&p->of_event);
	if (p->footer)
		gusprof__footer__free_unpacked(p->footer, NULL);
}

static void judge(struct gus_reader *r)
{
	const uint32_t sideband = 1u << GUS_FRAME_SIDEBAND, samples = 1u << GUS_FRAME_SAMPLES;
	struct pass all = read_all(r, UINT32_MAX, 1), some, others;

	demand(all.footer && all.footer->n_events == gus_reader_header(r)->n_events);
	for (size_t i = 0; i < all.footer->n_events; i++)
		demand(all.of_event.v[i] <= all.footer->events[i]->samples);
	gus_reader_rewind(r);
	some = read_all(r, samples, 0);
	demand(some.samples == all.samples && some.sum == all.sum && !some.records && !some.footer);
	gus_reader_rewind(r);
	others = read_all(r, sideband | 1u << GUS_FRAME_SWITCHES, 0);
	demand(others.records == all.records && others.switches == all.switches && !others.samples);
	pass_free(&all);
	pass_free(&some);
	pass_free(&others);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct gus_error err = { 0 };
	struct gus_reader *r;

	demand(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	r = gus_perfdata_reader(fd, "fuzz", &err);
	demand(r || err.code != GUS_OK);
	if (r)
		judge(r);
	gus_reader_close(r);
	close(fd);
	return 0;
}
