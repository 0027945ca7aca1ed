/* SPDX-License-Identifier: MIT */
#include "cli/export/contents.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "attribution/profile/frames.h"
#include "base/limits.h"
#include "collector/perfdata/declare.h"
#include "collector/perfdata/write.h"
#include "proto/sample.h"

struct look {
	struct gus_contents *s;
	const Gusprof__Header *header;
	struct gus_columns batch;
};

/* Samples. */

/* Foreign: a number may be any. Those that would make more ids than a file may have are not among these. */
static void note_counter(void *context, uint64_t counter)
{
	struct look *l = context;
	uint32_t event = (uint32_t)counter, which = (uint32_t)(counter >> 32), *most;

	if (event >= l->s->counters.n)
		return;
	most = &l->s->counters.v[event];
	if (which <= *most || which - *most > GUS_LIMIT_PERFDATA_IDS - l->s->ids)
		return;
	l->s->ids += which - *most;
	*most = which;
}

static void note_sample(struct look *l, const struct gus_sample *sample)
{
	struct gus_contents *s = l->s;
	struct gus_records_layout *layout;

	if (sample->event >= s->layouts.n) {
		s->strangers++;
		return;
	}
	layout = &s->layouts.v[sample->event];
	gus_perfdata_fit(layout, sample, l->header->host ? l->header->host->machine : "");
	gus_perfdata_counters(sample, l->header->events[sample->event]->read_format, note_counter, l);
	s->branches |= sample->branches_n != 0;
	s->stacks |= sample->stack_n != 0;
	s->first_ns = !s->samples++ || sample->time < s->first_ns ? sample->time : s->first_ns;
	s->last_ns = sample->time > s->last_ns ? sample->time : s->last_ns;
}

static void take_samples(struct look *l, const struct gus_frame *frame)
{
	if (gus_frame_rows(frame, &l->batch, NULL) != 0)
		return; /* counted as damage when it is read again */
	for (size_t i = 0; i < l->batch.n; i++) {
		struct gus_sample sample = gus_columns_sample(&l->batch, i);

		note_sample(l, &sample);
	}
}

/* Of a record that is no sample. */
static void note_cpu(struct gus_contents *s, uint32_t cpu)
{
	if (s->layouts.n)
		gus_perfdata_fit_cpu(&s->layouts.v[0], cpu);
}

static void take_switches(struct look *l, const struct gus_frame *frame)
{
	l->s->switches = true;
	if (gus_frame_rows(frame, &l->batch, NULL) == 0)
		for (size_t i = 0; i < l->batch.n; i++)
			note_cpu(l->s, gus_columns_switch(&l->batch, i).cpu);
}

/* Messages. */

/* Perf names the kernel's mapping by a symbol, too, as in "[kernel.kallsyms]_text", and the kernel without it: one of
 * the longer name were another to it, and the name that it shows. */
static size_t name_length(const char *path, bool kernel)
{
	const char *end = kernel && *path == '[' ? strchr(path, ']') : NULL;

	return end ? (size_t)(end + 1 - path) : strlen(path);
}

static void note_build(struct gus_contents *s, const char *path, const ProtobufCBinaryData *id, bool kernel)
{
	struct gus_contents_build b = { .size = (uint32_t)id->len, .kernel = kernel };

	if (!id->len || id->len > sizeof(b.id) || !*path)
		return;
	b.path = gus_strings_add_n(&s->paths, path, name_length(path, kernel));
	memcpy(b.id, id->data, id->len);
	gus_index_add(&s->builds, &b, NULL);
}

/* Not by its length: a reader of /proc finds what the loader left of it when it had protected a piece. */
static struct gus_contents_data data_of(const Gusprof__Mmap *m)
{
	return (struct gus_contents_data){ m->start, m->offset, m->pid };
}

bool gus_contents_has_data(const struct gus_contents *s, const Gusprof__Mmap *m)
{
	struct gus_contents_data key = data_of(m);

	return gus_index_find(&s->data, &key) != GUS_INDEX_NONE;
}

static void note_data(struct gus_contents *s, const Gusprof__Mmap *m)
{
	struct gus_contents_data key = data_of(m);

	if (!m->kernel && !(m->protection & PROT_EXEC) && *m->path == '/')
		gus_index_add(&s->data, &key, NULL);
}

static void note_record(struct gus_contents *s, const Gusprof__Record *r)
{
	if (r->kind_case == GUSPROF__RECORD__KIND_MMAP) {
		note_data(s, r->mmap);
		s->kernel_mapped |= r->mmap->kernel;
		note_build(s, r->mmap->path, &r->mmap->build_id, r->mmap->kernel);
	}
	/* Where they are told of CPU 0, or of none, is one to these. */
	if (r->kind_case == GUSPROF__RECORD__KIND_LOST)
		note_cpu(s, r->lost->cpu ? r->lost->cpu : GUS_CPU_UNKNOWN);
	if (r->kind_case == GUSPROF__RECORD__KIND_THROTTLE)
		note_cpu(s, r->throttle->cpu ? r->throttle->cpu : GUS_CPU_UNKNOWN);
	s->kept += r->kind_case == GUSPROF__RECORD__KIND_KEPT;
	s->marks += r->kind_case == GUSPROF__RECORD__KIND_MARK;
	s->made += r->kind_case == GUSPROF__RECORD__KIND_JIT;
}

static void take_sideband(struct look *l, const ProtobufCMessage *message)
{
	const Gusprof__Sideband *m = (const Gusprof__Sideband *)message;

	for (size_t i = 0; i < m->n_records; i++)
		note_record(l->s, m->records[i]);
}

/* Modules are few, and their symbols come by address. Names of BPF programs stand in records of their own. */
static struct gus_export_module *module_of(struct gus_contents *s, const char *name)
{
	for (size_t i = s->modules.n; i-- > 0;)
		if (strcmp(s->modules.v[i].name, name) == 0)
			return &s->modules.v[i];
	if (s->modules.n == GUS_LIMIT_ELF_SEGMENTS || !*name || strncmp(name, "bpf", 3) == 0 || *name == '_')
		return NULL;
	gus_vec_push(&s->modules, (struct gus_export_module){ gus_strdup(name), UINT64_MAX, 0 });
	return &s->modules.v[s->modules.n - 1];
}

static void take_kernel_symbols(struct look *l, const ProtobufCMessage *message)
{
	const Gusprof__KernelSymbols *m = (const Gusprof__KernelSymbols *)message;

	l->s->text_start = m->text_start ? m->text_start : l->s->text_start;
	l->s->text_end = m->text_end ? m->text_end : l->s->text_end;
	for (size_t i = 0; i < m->n_symbols; i++) {
		const Gusprof__Symbol *symbol = m->symbols[i];
		struct gus_export_module *in = module_of(l->s, symbol->module);
		uint64_t end;

		if (!in || __builtin_add_overflow(symbol->address, symbol->size ? symbol->size : 1, &end))
			continue;
		in->start = symbol->address < in->start ? symbol->address : in->start;
		in->end = end > in->end ? end : in->end;
	}
}

static void take_embedded(struct look *l, const ProtobufCMessage *message)
{
	l->s->names += ((const Gusprof__Embedded *)message)->n_functions;
}

/* Its bytes have no place, but by its build id the same one is found where it is at hand. */
static void take_image(struct look *l, const ProtobufCMessage *message)
{
	const Gusprof__Image *image = (const Gusprof__Image *)message;

	note_build(l->s, image->path, &image->build_id, false);
	l->s->images++;
}

static void take_footer(struct look *l, const ProtobufCMessage *message)
{
	const Gusprof__Footer *f = (const Gusprof__Footer *)message;

	l->s->governed |= f->overhead != NULL;
	for (size_t i = 0; i < f->n_events; i++)
		l->s->unsampled += f->events[i]->missed != 0;
}

static void take_replayable(struct look *l, const struct gus_frame *frame)
{
	(void)frame;
	l->s->replayable++;
}

static void take_aux(struct look *l, const struct gus_frame *frame)
{
	(void)frame;
	l->s->aux++;
}

static const struct {
	enum gus_frame_type type;
	const ProtobufCMessageDescriptor *message; /* NULL: the next one takes the frame as it is */
	void (*take)(struct look *l, const ProtobufCMessage *message);
	void (*take_frame)(struct look *l, const struct gus_frame *frame);
} takers[] = {
	{ GUS_FRAME_SAMPLES, .take_frame = take_samples },
	{ GUS_FRAME_SWITCHES, .take_frame = take_switches },
	{ GUS_FRAME_SIDEBAND, &gusprof__sideband__descriptor, .take = take_sideband },
	{ GUS_FRAME_KERNEL_SYMBOLS, &gusprof__kernel_symbols__descriptor, .take = take_kernel_symbols },
	{ GUS_FRAME_EMBEDDED, &gusprof__embedded__descriptor, .take = take_embedded },
	{ GUS_FRAME_IMAGE, &gusprof__image__descriptor, .take = take_image },
	{ GUS_FRAME_FOOTER, &gusprof__footer__descriptor, .take = take_footer },
	{ GUS_FRAME_AUX, .take_frame = take_aux },
	{ GUS_FRAME_TRACE, .take_frame = take_replayable },
	{ GUS_FRAME_SNAPSHOT, .take_frame = take_replayable },
};

static void take_frame(void *context, const struct gus_frame *frame)
{
	for (size_t i = 0; i < sizeof(takers) / sizeof(*takers); i++) {
		ProtobufCMessage *message;

		if (takers[i].type != frame->type)
			continue;
		if (takers[i].take_frame) {
			takers[i].take_frame(context, frame);
			return;
		}
		message = gus_frame_message(frame, takers[i].message, NULL);
		if (message)
			takers[i].take(context, message);
		protobuf_c_message_free_unpacked(message, NULL);
		return;
	}
}

static void begin(struct gus_contents *s, const Gusprof__Header *header)
{
	*s = (struct gus_contents){ 0 };
	gus_index_init(&s->builds, sizeof(struct gus_contents_build));
	gus_index_init(&s->data, sizeof(struct gus_contents_data));
	gus_strings_init(&s->paths);
	s->turned = header->origin && header->origin->big_endian;
	for (uint32_t i = 0; i < header->n_events; i++)
		gus_vec_push(&s->layouts, gus_perfdata_layout(header, i));
	for (uint32_t i = 0; i < header->n_events; i++)
		gus_vec_push(&s->counters, 0);
	if (header->host)
		note_build(s, "[kernel.kallsyms]", &header->host->kernel_build_id, true);
}

int gus_contents_make(struct gus_contents *s, struct gus_reader *reader, struct gus_error *err)
{
	struct look l = { .s = s, .header = gus_reader_header(reader) };
	uint32_t types = 0;
	int rc;

	begin(s, l.header);
	for (size_t i = 0; i < sizeof(takers) / sizeof(*takers); i++)
		types |= 1u << takers[i].type;
	rc = gus_frames_each(reader, types, take_frame, &l, err);
	gus_columns_free(&l.batch);
	for (size_t i = 0; i < s->layouts.n; i++)
		gus_perfdata_settle(&s->layouts.v[i]);
	return rc;
}

void gus_contents_free(struct gus_contents *s)
{
	for (size_t i = 0; i < s->modules.n; i++)
		free(s->modules.v[i].name);
	gus_vec_free(&s->modules);
	gus_vec_free(&s->layouts);
	gus_vec_free(&s->counters);
	gus_index_free(&s->builds);
	gus_index_free(&s->data);
	gus_strings_free(&s->paths);
}
