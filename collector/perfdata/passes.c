/* SPDX-License-Identifier: MIT */
#include "collector/perfdata/passes.h"

#include <stdlib.h>

#include "base/error.h"
#include "collector/perfdata/container.h"
#include "collector/perfdata/record.h"

/* PERF_RECORD_* of the ABI. */
enum { RECORD_SAMPLE = 9, LAST_OF_KERNEL = 63 };

/* What fills a frame. */
enum { ROWS = 8192, ENTRIES = 1 << 16, WORDS = 1 << 17, SIDEBAND_BYTES = 64 << 10 };

enum { HEADER, RECORDS, REST, FOOTER, OVER }; /* phases */

/* Records. */

static void take_sample(struct gus_perfdata_passes *p, struct gus_sample *s)
{
	if (p->timeless)
		s->time = p->number;
	gus_perfdata_samples_take(&p->takes, s, &p->samples);
}

/* Of a record that says when it was, or not: see above. */
static uint64_t time_of(const struct gus_perfdata_passes *p, uint64_t time)
{
	if (p->timeless)
		return p->number;
	return time || !p->undated ? time : p->flushed;
}

static void take_mapping(struct gus_perfdata_passes *p, Gusprof__Mmap *map)
{
	const struct gus_perfdata_build *build;

	map->time = time_of(p, map->time);
	if (map->build_id.len)
		return;
	build = gus_perfdata_builds_find(&p->builds, map->path);
	if (build) {
		map->build_id.len = build->size;
		map->build_id.data = (uint8_t *)(uintptr_t)build->bytes;
	}
}

static void take_sideband(struct gus_perfdata_passes *p, Gusprof__Record *r)
{
	switch (r->kind_case) {
	case GUSPROF__RECORD__KIND_MMAP:
		take_mapping(p, r->mmap);
		break;
	case GUSPROF__RECORD__KIND_COMM:
		r->comm->time = time_of(p, r->comm->time);
		break;
	case GUSPROF__RECORD__KIND_FORK:
	case GUSPROF__RECORD__KIND_EXIT:
		r->fork->time = time_of(p, r->fork->time);
		break;
	case GUSPROF__RECORD__KIND_KSYMBOL:
		r->ksymbol->time = time_of(p, r->ksymbol->time);
		break;
	case GUSPROF__RECORD__KIND_LOST:
		r->lost->time = time_of(p, r->lost->time);
		break;
	case GUSPROF__RECORD__KIND_THROTTLE:
		r->throttle->time = time_of(p, r->throttle->time);
		break;
	default:
		break;
	}
}

/* What nothing else is made of stays as it is: whoever asks for it later, or exports the recording, has it. */
static void keep(struct gus_perfdata_passes *p, const struct gus_perfdata_record *r)
{
	struct gus_records_trailer trailer;
	Gusprof__Kept *k;
	size_t size;

	if (!gus_records_trailer(&p->records, r->bytes, r->size, &trailer))
		return;
	size = r->size - 8 - trailer.size;
	k = gus_sideband_add(&p->sideband, GUSPROF__RECORD__KIND_KEPT, size + 1)->kept;
	k->type = r->type;
	k->misc = r->misc;
	k->time = time_of(p, trailer.time);
	k->pid = trailer.pid;
	k->tid = trailer.tid;
	k->cpu = trailer.cpu;
	k->body.len = size;
	k->body.data = (uint8_t *)gus_sideband_text(&p->sideband, r->bytes + 8, size);
}

/* What a pass that wants no samples has to know of them where others' times follow from theirs. */
static void pass_sample(struct gus_perfdata_passes *p, const struct gus_perfdata_record *r)
{
	uint64_t time = p->undated ? gus_records_time(&p->records, r->bytes, r->size) : 0;

	p->latest = time > p->latest ? time : p->latest;
}

static void take_kernels(struct gus_perfdata_passes *p, const struct gus_perfdata_record *r)
{
	struct gus_record out = gus_records_parse(&p->records, r->bytes, r->size, &p->sideband);

	switch (out.kind) {
	case GUS_RECORD_SAMPLE:
		p->latest = out.sample.time > p->latest ? out.sample.time : p->latest;
		take_sample(p, &out.sample);
		break;
	case GUS_RECORD_SWITCH:
		out.sw.time = time_of(p, out.sw.time);
		gus_columns_push_switch(&p->switches, &out.sw);
		break;
	case GUS_RECORD_SIDEBAND:
		take_sideband(p, out.sideband);
		break;
	case GUS_RECORD_AUX:
	case GUS_RECORD_IGNORED:
	case GUS_RECORD_UNKNOWN:
		keep(p, r);
		break;
	case GUS_RECORD_BAD: /* which the survey has counted */
		break;
	}
}

static void take_record(struct gus_perfdata_passes *p, const struct gus_perfdata_record *r, uint32_t types)
{
	p->number++;
	if (r->type == GUS_PERFDATA_ROUND) {
		p->flushed = p->before;
		p->before = p->latest;
	} else if (r->type == GUS_PERFDATA_AUXTRACE) {
		gus_perfdata_aux_begin(&p->aux, r);
		p->beside = true;
	} else if (r->type == RECORD_SAMPLE && !(types >> GUS_FRAME_SAMPLES & 1)) {
		pass_sample(p, r);
	} else if (r->type <= LAST_OF_KERNEL) {
		take_kernels(p, r);
	}
}

/* Some more of what stands beside the last record: samples, or a piece of it as it is, in *out. 1 if there was
 * something. */
static int take_beside(struct gus_perfdata_passes *p, uint32_t types, Gusprof__Aux *out, struct gus_error *err)
{
	uint64_t number = p->timeless ? p->number : 0;

	if (!gus_perfdata_aux_is_spe(&p->aux))
		return types >> GUS_FRAME_AUX & 1 ? gus_perfdata_aux_next(&p->aux, p->file, out, err) : 0;
	if (!(types >> GUS_FRAME_SAMPLES & 1))
		return 0;
	return gus_perfdata_aux_samples(&p->aux, p->file, number, ROWS, &p->samples, err);
}

/* Frames. */

static bool is_full(const struct gus_columns *c)
{
	return c->n >= ROWS || c->chain.n >= ENTRIES || c->branch.n >= ENTRIES || c->stack.n >= WORDS ||
	       c->regs.n >= WORDS || c->extras.n >= WORDS;
}

static enum gus_read give_message(struct gus_perfdata_passes *p, enum gus_frame_type type,
				  const ProtobufCMessage *message, struct gus_frame *frame)
{
	size_t size = protobuf_c_message_get_packed_size(message);

	gus_vec_reserve(&p->packed, size + 1);
	protobuf_c_message_pack(message, p->packed.v);
	*frame = (struct gus_frame){ .type = type, .offset = p->offset, .sequence = p->sequence++,
				     .payload = p->packed.v, .size = size, .stored = size };
	return GUS_READ_FRAME;
}

static enum gus_read give_rows(struct gus_perfdata_passes *p, enum gus_frame_type type, struct gus_columns *rows,
			       struct gus_frame *frame)
{
	*frame = (struct gus_frame){ .type = type, .offset = p->offset, .sequence = p->sequence++, .rows = rows };
	p->given = rows;
	return GUS_READ_FRAME;
}

static enum gus_read give_sideband(struct gus_perfdata_passes *p, struct gus_frame *frame)
{
	Gusprof__Sideband message = gus_sideband_message(&p->sideband);
	enum gus_read got = give_message(p, GUS_FRAME_SIDEBAND, &message.base, frame);

	gus_sideband_clear(&p->sideband);
	return got;
}

/* What was gathered, if it is enough, or all that is left. What nobody asked for is dropped. False: there is none. */
static bool give_gathered(struct gus_perfdata_passes *p, uint32_t types, bool all, struct gus_frame *frame)
{
	if (!(types >> GUS_FRAME_SIDEBAND & 1))
		gus_sideband_clear(&p->sideband);
	if (!(types >> GUS_FRAME_SWITCHES & 1))
		gus_columns_clear(&p->switches);
	if (p->sideband.bytes >= SIDEBAND_BYTES || (all && p->sideband.records.n))
		give_sideband(p, frame);
	else if (is_full(&p->samples) || (all && p->samples.n))
		give_rows(p, GUS_FRAME_SAMPLES, &p->samples, frame);
	else if (is_full(&p->switches) || (all && p->switches.n))
		give_rows(p, GUS_FRAME_SWITCHES, &p->switches, frame);
	else
		return false;
	return true;
}

static bool is_damaged(struct gus_perfdata_passes *p, struct gus_frame *frame, struct gus_error *err)
{
	const struct gus_perfdata_damage *d = gus_perfdata_damage(p->file);

	if (d->bad <= p->told_bad)
		return false;
	p->told_bad = d->bad;
	*frame = (struct gus_frame){ .offset = d->last_bad, .stored = d->skipped - p->told_skipped };
	p->told_skipped = d->skipped;
	gus_fail(err, GUS_E_CORRUPT, "%s is corrupt at offset %llu: what %s", p->name, (unsigned long long)d->last_bad,
		 d->bad_packed ? "is packed there cannot be unpacked" : "stands there is no record");
	return true;
}

/* Records until there is a frame of them, or no more. */
static enum gus_read next_of_records(struct gus_perfdata_passes *p, uint32_t types, struct gus_frame *frame,
				     struct gus_error *err)
{
	for (;;) {
		struct gus_perfdata_record r;
		Gusprof__Aux piece;
		int got;

		if (is_damaged(p, frame, err))
			return GUS_READ_CORRUPT;
		if (give_gathered(p, types, p->phase == REST, frame))
			return GUS_READ_FRAME;
		if (p->phase == REST)
			break;
		got = p->beside ? take_beside(p, types, &piece, err) : 0;
		if (got > 0 && !gus_perfdata_aux_is_spe(&p->aux))
			return give_message(p, GUS_FRAME_AUX, &piece.base, frame);
		p->beside = p->beside && got > 0;
		if (got == 0)
			got = gus_perfdata_next(p->file, &r, err);
		if (got < 0)
			return GUS_READ_ERROR;
		if (p->beside)
			continue;
		p->offset = r.offset;
		if (got)
			take_record(p, &r, types);
		else
			p->phase = REST;
	}
	p->phase = FOOTER;
	return GUS_READ_END;
}

static enum gus_read give_footer(struct gus_perfdata_passes *p, struct gus_frame *frame)
{
	return give_message(p, GUS_FRAME_FOOTER, &p->footer->base, frame);
}

static enum gus_read finish(struct gus_perfdata_passes *p, struct gus_frame *frame, struct gus_error *err)
{
	const struct gus_perfdata_damage *d = gus_perfdata_damage(p->file);

	if (!d->cut && !d->ended_early)
		return GUS_READ_END;
	*frame = (struct gus_frame){ .offset = p->size - d->cut, .stored = d->cut };
	if (d->cut)
		gus_fail(err, GUS_E_TRUNCATED, "%s was cut: it ends at offset %llu within a record", p->name,
			 (unsigned long long)p->size);
	else
		gus_fail(err, GUS_E_TRUNCATED, "%s was cut: it ends before its records do", p->name);
	return GUS_READ_CUT;
}

enum gus_read gus_perfdata_passes_next(struct gus_perfdata_passes *p, uint32_t types, struct gus_frame *frame,
				       struct gus_error *err)
{
	enum gus_read got;

	if (p->given)
		gus_columns_clear(p->given);
	p->given = NULL;
	if (p->phase == HEADER) {
		p->phase = RECORDS;
		if (types >> GUS_FRAME_HEADER & 1)
			return give_message(p, GUS_FRAME_HEADER, &p->header->base, frame);
	}
	if (p->phase == RECORDS || p->phase == REST) {
		got = next_of_records(p, types, frame, err);
		if (got != GUS_READ_END)
			return got;
	}
	if (p->phase == FOOTER) {
		p->phase = OVER;
		if (types >> GUS_FRAME_FOOTER & 1)
			return give_footer(p, frame);
	}
	return finish(p, frame, err);
}

void gus_perfdata_passes_rewind(struct gus_perfdata_passes *p)
{
	gus_perfdata_rewind(p->file);
	gus_perfdata_samples_rewind(&p->takes);
	gus_columns_clear(&p->samples);
	gus_columns_clear(&p->switches);
	gus_sideband_clear(&p->sideband);
	p->phase = HEADER;
	p->given = NULL;
	p->beside = false;
	p->number = p->latest = p->before = p->flushed = p->told_bad = p->told_skipped = p->sequence = p->offset = 0;
	gus_perfdata_aux_rewind(&p->aux);
}

void gus_perfdata_passes_free(struct gus_perfdata_passes *p)
{
	gus_perfdata_close(p->file);
	gus_records_free(&p->records);
	gus_perfdata_builds_free(&p->builds);
	gus_perfdata_aux_free(&p->aux);
	gus_sideband_free(&p->sideband);
	gus_columns_free(&p->samples);
	gus_columns_free(&p->switches);
	gus_perfdata_samples_free(&p->takes);
	gus_vec_free(&p->packed);
}
