/* SPDX-License-Identifier: MIT */
/* How perf.data stands on the disk, all offsets from its beginning:
 *
 *	file   header | ids of each event | events | records | where each feature is | features
 *	pipe   16 bytes | events, features and build ids as records | records
 *
 * The header says how long the records are, so it is written once these are known. Records are in the order of time,
 * which rounds tell perf, so that it keeps no more of them than two rounds. */
#include "cli/export/file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "attribution/profile/order.h"
#include "base/error.h"
#include "base/limits.h"
#include "cli/export/contents.h"
#include "cli/export/loaded.h"
#include "collector/perfdata/declare.h"
#include "collector/perfdata/put.h"
#include "collector/perfdata/record.h"
#include "proto/reader.h"
#include "proto/sample.h"

enum { HEADER = 104, PIPE_HEADER = 16, RECORD_MAX = 65528, ROUND = 1 << 20 };

#define KIND(name) (1u << GUSPROF__RECORD__KIND_##name)

struct section { uint64_t offset, size; };

struct file {
	int fd;
	bool pipe;
	const char *name;
	const Gusprof__Header *header;
	const struct gus_contents *contents;
	struct gus_export_result *result;
	struct gus_vec(struct gus_perfdata_attr) attrs;
	uint32_t attr_size;
	struct gus_bytes bytes;         /* that are not written yet */
	struct section attrs_at, data_at;
	struct gus_loaded loaded;
	struct gus_error failure;
};

static int write_at(struct file *f, const uint8_t *bytes, size_t size, int64_t at)
{
	while (size) {
		ssize_t n = at < 0 ? write(f->fd, bytes, size) : pwrite(f->fd, bytes, size, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return gus_fail_errno(&f->failure, n < 0 ? errno : ENOSPC, "cannot write %s after %llu bytes",
					      f->name, (unsigned long long)f->result->bytes);
		bytes += n;
		size -= (size_t)n;
		at += at < 0 ? 0 : n;
		f->result->bytes += (uint64_t)n;
	}
	return 0;
}

/* After a failure nothing is written any more. */
static void flush(struct file *f)
{
	if (f->failure.code == GUS_OK)
		write_at(f, f->bytes.v, f->bytes.n, -1);
	f->bytes.n = 0;
}

/* Where the next byte will be. */
static uint64_t here(const struct file *f)
{
	return f->result->bytes + f->bytes.n;
}

/* Records. */

static void go_on(struct file *f)
{
	if (f->bytes.n < ROUND)
		return;
	gus_perfdata_put_round(&f->bytes);
	flush(f);
}

static void take_sample(void *context, const struct gus_sample *s)
{
	struct file *f = context;

	if (s->event >= f->contents->layouts.n)
		return;
	gus_perfdata_put_sample(&f->bytes, &f->contents->layouts.v[s->event], s, f->result->unfit);
	f->result->samples++;
	go_on(f);
}

static void take_switch(void *context, const struct gus_switch *sw)
{
	struct file *f = context;

	gus_perfdata_put_switch(&f->bytes, &f->contents->layouts.v[0], sw);
	go_on(f);
}

static void put_record(struct file *f, const Gusprof__Record *record)
{
	bool kept = record->kind_case == GUSPROF__RECORD__KIND_KEPT, put;

	put = gus_perfdata_put_record(&f->bytes, &f->contents->layouts.v[0], record, (uint32_t)f->header->n_events);
	f->result->kept += kept && put;
	f->result->too_long += !kept && !put;
	go_on(f);
}

static void put_mapping(void *context, Gusprof__Mmap *m)
{
	Gusprof__Record r = GUSPROF__RECORD__INIT;

	r.kind_case = GUSPROF__RECORD__KIND_MMAP;
	r.mmap = m;
	put_record(context, &r);
}

/* Unless the recording tells of it, as one does that was made of a file of ours. */
static void put_data(void *context, Gusprof__Mmap *m)
{
	struct file *f = context;

	if (!gus_contents_has_data(f->contents, m))
		put_mapping(f, m);
}

/* Beside code goes what perf needs to unwind stacks through it. */
static void take_record(void *context, const Gusprof__Record *record)
{
	struct file *f = context;

	if (record->kind_case == GUSPROF__RECORD__KIND_MMAP && f->contents->stacks && !record->mmap->kernel)
		gus_loaded_each(&f->loaded, record->mmap, put_data, f);
	put_record(f, record);
}

/* A mapping of the kernel, as perf tells its own: the file's name stands for what is there, and the offset is where
 * _text was, by which perf moves the names of a kernel that lies elsewhere. */
static void put_kernel(struct file *f, const char *path, uint64_t start, uint64_t end, uint64_t offset)
{
	Gusprof__Mmap m = GUSPROF__MMAP__INIT;

	m.pid = UINT32_MAX;
	m.start = start;
	m.length = end - start;
	m.offset = offset;
	m.path = (char *)(uintptr_t)path;
	m.protection = 4; /* PROT_EXEC */
	m.kernel = true;
	put_mapping(f, &m);
}

static bool excludes_kernel(const Gusprof__Header *header)
{
	for (size_t i = 0; i < header->n_events; i++)
		if (!header->events[i]->exclude_kernel)
			return false;
	return true;
}

/* A recording of ours has the kernel's names, and no mappings. Where none of it was sampled nobody knows where it was;
 * that there is a kernel is still said, as perf warns otherwise, unless no event was of it. A recording that was made
 * of another program's has what that one had. Modules are as large as what is known to be in them, in whole pages. */
static void put_kernels(struct file *f)
{
	const struct gus_contents *s = f->contents;

	if (s->kernel_mapped || f->header->origin || (!s->text_end && excludes_kernel(f->header)))
		return;
	put_kernel(f, "[kernel.kallsyms]_text", s->text_start, s->text_end, s->text_start);
	for (size_t i = 0; i < s->modules.n; i++) {
		char *name = gus_format("[%s]", s->modules.v[i].name);

		put_kernel(f, name, s->modules.v[i].start & ~UINT64_C(4095), (s->modules.v[i].end + 4095) &
			   ~UINT64_C(4095), 0);
		free(name);
	}
}

static int write_records(struct file *f, struct gus_reader *reader, struct gus_error *err)
{
	const struct gus_order_sink sink = {
		.sample = take_sample, .sw = f->contents->switches ? take_switch : NULL, .record = take_record,
		.kinds = KIND(MMAP) | KIND(COMM) | KIND(FORK) | KIND(EXIT) | KIND(KSYMBOL) | KIND(LOST) |
			KIND(THROTTLE) |
			 (f->contents->turned ? 0 : KIND(KEPT)),
		.context = f,
	};
	const size_t most = (size_t)gus_budget_of(GUS_LIMIT_ORDER, gus_reader_size(reader)).left;

	put_kernels(f);
	if (gus_order_each(reader, most, &sink, &f->result->late, err) != 0)
		return -1;
	gus_perfdata_put_round(&f->bytes);
	return 0;
}

/* Events. */

/* Each event has an id, and as many as samples name of its counters. */
static void make_attrs(struct file *f)
{
	f->attr_size = gus_perfdata_attr_size(f->header);
	for (uint32_t i = 0; i < f->header->n_events; i++) {
		struct gus_perfdata_attr a = gus_perfdata_declare(f->header, i, &f->contents->layouts.v[i],
								  f->contents->switches);

		for (uint32_t which = 0; which <= f->contents->counters.v[i]; which++)
			gus_vec_push(&a.ids, gus_perfdata_id(i, which));
		gus_vec_push(&f->attrs, a);
	}
}

static void put_ids(struct file *f, const struct gus_perfdata_attr *a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		gus_put_u64(&f->bytes, a->ids.v[i]);
}

/* Features. */

static struct gus_perfdata_about about(const struct file *f)
{
	return (struct gus_perfdata_about){ .header = f->header, .attrs = f->attrs.v, .attr_size = f->attr_size,
		.ids = !f->pipe, .branches = f->contents->branches, .first_ns = f->contents->first_ns,
		.last_ns = f->contents->last_ns };
}

static void put_build_ids(struct file *f)
{
	const struct gus_contents *s = f->contents;

	for (uint32_t i = 0; i < s->builds.n; i++) {
		const struct gus_contents_build *b = gus_index_key(&s->builds, i);

		f->result->too_long += !gus_perfdata_put_build_id(&f->bytes, &(struct gus_perfdata_build_id){
			gus_strings_get(&s->paths, b->path), b->id, b->size, UINT32_MAX, b->kernel });
	}
}

/* What the file had that the recording was made of. */
static const ProtobufCBinaryData *kept_feature(const struct file *f, enum gus_perfdata_feature feature)
{
	const Gusprof__Origin *o = f->header->origin;

	for (size_t i = 0; o && !o->big_endian && i < o->n_features; i++)
		if (o->features[i]->number == feature)
			return &o->features[i]->bytes;
	return NULL;
}

/* Those that are of the file, and not of what was recorded. */
static bool is_own(enum gus_perfdata_feature feature)
{
	static const uint8_t own[] = { GUS_PERFDATA_BUILD_IDS, GUS_PERFDATA_EVENT_NAMES, GUS_PERFDATA_BRANCHES,
		GUS_PERFDATA_AUXTRACE_INDEX, GUS_PERFDATA_STAT, GUS_PERFDATA_SAMPLE_TIME, GUS_PERFDATA_DIRECTORY,
		GUS_PERFDATA_COMPRESSED };

	return memchr(own, (int)feature, sizeof(own)) != NULL;
}

static bool put_feature(struct file *f, enum gus_perfdata_feature feature)
{
	struct gus_perfdata_about a = about(f);
	const ProtobufCBinaryData *kept = is_own(feature) ? NULL : kept_feature(f, feature);

	if (feature == GUS_PERFDATA_BUILD_IDS)
		return f->contents->builds.n && (put_build_ids(f), true);
	if (kept) {
		gus_vec_append(&f->bytes, kept->data, kept->len);
		return true;
	}
	for (size_t i = 0; feature == GUS_PERFDATA_TRACING_DATA && i < f->header->n_events; i++)
		f->result->unnamed += gus_perfdata_is_unnamed(f->header->events[i]);
	return gus_perfdata_put_feature(&f->bytes, feature, &a);
}

/* The two forms. */

static void put_section(struct gus_bytes *out, struct section s)
{
	gus_put_u64(out, s.offset);
	gus_put_u64(out, s.size);
}

static int write_header(struct file *f, const uint64_t features[4])
{
	struct gus_bytes head = { 0 };
	uint64_t size = f->result->bytes;

	gus_vec_append(&head, (const uint8_t *)"PERFILE2", 8);
	gus_put_u64(&head, HEADER);
	gus_put_u64(&head, f->attr_size + sizeof(struct section));
	put_section(&head, f->attrs_at);
	put_section(&head, f->data_at);
	put_section(&head, (struct section){ 0 }); /* names of event types, as old files had them */
	for (size_t i = 0; i < 4; i++)
		gus_put_u64(&head, features[i]);
	write_at(f, head.v, head.n, 0);
	f->result->bytes = size;
	gus_vec_free(&head);
	return f->failure.code == GUS_OK ? 0 : -1;
}

static void put_events(struct file *f)
{
	uint64_t ids_at = HEADER;

	gus_vec_reserve(&f->bytes, HEADER);
	memset(f->bytes.v, 0, HEADER);
	f->bytes.n = HEADER;
	for (size_t i = 0; i < f->attrs.n; i++)
		put_ids(f, &f->attrs.v[i], f->attrs.v[i].ids.n);
	f->attrs_at.offset = here(f);
	for (size_t i = 0; i < f->attrs.n; i++) {
		struct section ids = { ids_at, f->attrs.v[i].ids.n * sizeof(uint64_t) };

		gus_perfdata_put_attr(&f->bytes, &f->attrs.v[i], f->attr_size);
		put_section(&f->bytes, ids);
		ids_at += ids.size;
	}
	f->attrs_at.size = here(f) - f->attrs_at.offset;
	flush(f);
}

/* The table of where they are stands before them: both are told in a pass over features, which are small but for build
 * ids. */
static int write_features(struct file *f)
{
	uint64_t set[4] = { 0 }, n = 0;
	struct section at[GUS_PERFDATA_FEATURES];
	struct gus_bytes table = { 0 };
	uint64_t start = here(f);
	struct gus_bytes bodies;

	flush(f);
	for (unsigned i = 0; i < GUS_PERFDATA_FEATURES; i++) {
		at[i].offset = f->bytes.n;
		if (!put_feature(f, i))
			continue;
		at[i].size = f->bytes.n - at[i].offset;
		set[i / 64] |= UINT64_C(1) << i % 64;
		n++;
	}
	bodies = f->bytes;
	f->bytes = (struct gus_bytes){ 0 };
	for (unsigned i = 0; i < GUS_PERFDATA_FEATURES; i++)
		if (set[i / 64] >> i % 64 & 1)
			put_section(&table, (struct section){ start + n * sizeof(*at) + at[i].offset, at[i].size });
	if (f->failure.code == GUS_OK && write_at(f, table.v, table.n, -1) == 0)
		write_at(f, bodies.v, bodies.n, -1);
	gus_vec_free(&table);
	gus_vec_free(&bodies);
	return f->failure.code == GUS_OK ? write_header(f, set) : -1;
}

static int write_file(struct file *f, struct gus_reader *reader, struct gus_error *err)
{
	put_events(f);
	f->data_at.offset = here(f);
	if (write_records(f, reader, err) != 0)
		return -1;
	f->data_at.size = here(f) - f->data_at.offset;
	return write_features(f);
}

/* A record of perf's own: its size is written when its body is. False, and nothing: that is longer than one can be. */
static bool end_own(struct file *f, size_t at, uint32_t type)
{
	struct gus_bytes head;
	size_t size;

	gus_put_padding(&f->bytes, at, 8);
	head = (struct gus_bytes){ .v = f->bytes.v, .n = at, .room = f->bytes.room };
	size = f->bytes.n - at;
	if (size > RECORD_MAX) {
		f->bytes.n = at;
		return false;
	}
	gus_put_u32(&head, type);
	gus_put_u16(&head, 0);
	gus_put_u16(&head, (uint16_t)size);
	return true;
}

static void put_pipe_events(struct file *f)
{
	size_t most = (RECORD_MAX - f->attr_size) / sizeof(uint64_t) - 1;

	for (size_t i = 0; i < f->attrs.n; i++) {
		const struct gus_perfdata_attr *a = &f->attrs.v[i];
		size_t n = a->ids.n < most ? a->ids.n : most, at = f->bytes.n;

		gus_put_u64(&f->bytes, 0);
		gus_perfdata_put_attr(&f->bytes, a, f->attr_size);
		put_ids(f, a, n);
		end_own(f, at, GUS_PERFDATA_ATTR);
		f->result->ids_left += a->ids.n - n;
	}
}

static void put_pipe_feature(struct file *f, enum gus_perfdata_feature feature)
{
	size_t at = f->bytes.n;

	gus_put_u64(&f->bytes, 0);
	gus_put_u64(&f->bytes, feature);
	if (!put_feature(f, feature))
		f->bytes.n = at;
	else
		f->result->too_long += !end_own(f, at, GUS_PERFDATA_FEATURE);
}

/* It stands behind a record that says how long it is, in whole words. */
static void put_pipe_tracing(struct file *f)
{
	size_t at = f->bytes.n, from;

	gus_put_u32(&f->bytes, GUS_PERFDATA_TRACING);
	gus_put_u32(&f->bytes, 12 << 16); /* no misc, and the size of the record itself */
	gus_put_u32(&f->bytes, 0);
	from = f->bytes.n;
	if (!put_feature(f, GUS_PERFDATA_TRACING_DATA)) {
		f->bytes.n = at;
		return;
	}
	gus_put_padding(&f->bytes, from, 8);
	for (size_t i = 0, size = f->bytes.n - from; i < 4; i++)
		f->bytes.v[from - 4 + i] = (uint8_t)(size >> 8 * i);
}

static void put_pipe_features(struct file *f)
{
	put_pipe_tracing(f);
	put_build_ids(f);
	for (unsigned i = GUS_PERFDATA_HOSTNAME; i < GUS_PERFDATA_FEATURES; i++)
		put_pipe_feature(f, i);
}

static int write_pipe(struct file *f, struct gus_reader *reader, struct gus_error *err)
{
	gus_vec_append(&f->bytes, (const uint8_t *)"PERFILE2", 8);
	gus_put_u64(&f->bytes, PIPE_HEADER);
	put_pipe_events(f);
	put_pipe_features(f);
	if (write_records(f, reader, err) != 0)
		return -1;
	flush(f);
	return f->failure.code == GUS_OK ? 0 : -1;
}

/* Files that the recording names are read with the rights of whoever may have written these names. */
static struct gus_rights rights_of(const struct gus_reader *reader)
{
	struct gus_rights maker = { 0 };
	uid_t owner;

	if (gus_reader_owner(reader, &owner))
		gus_rights_of_user(&maker, owner, "the recording's owner");
	return gus_rights_common(NULL, &maker);
}

int gus_export_write(int fd, bool pipe, struct gus_reader *reader, const struct gus_contents *contents,
		     const char *name,
		     struct gus_export_result *result, struct gus_error *err)
{
	struct file f = { .fd = fd, .pipe = pipe, .name = name, .header = gus_reader_header(reader),
			  .contents = contents,
			  .result = result };
	struct gus_rights rights = rights_of(reader);
	int rc;

	*result = (struct gus_export_result){ 0 };
	gus_loaded_init(&f.loaded, &rights);
	make_attrs(&f);
	rc = pipe ? write_pipe(&f, reader, err) : write_file(&f, reader, err);
	if (f.failure.code != GUS_OK && err)
		*err = f.failure;
	result->absent = f.loaded.absent;
	gus_loaded_free(&f.loaded);
	for (size_t i = 0; i < f.attrs.n; i++)
		gus_vec_free(&f.attrs.v[i].ids);
	gus_vec_free(&f.attrs);
	gus_vec_free(&f.bytes);
	return rc;
}
