/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/perfdata/declare.h"
#include "collector/perfdata/features.h"
#include "collector/perfdata/put.h"
#include "collector/perfdata/record.h"
#include "collector/perfdata/write.h"
#include "tests/accuracy/golden/claims.h"

enum { HEADER = 104, ROUND = 1 << 20, ALIGNED = 64 };

/* After a failure nothing is written any more. */
static void write_at(struct golden_file *f, const uint8_t *bytes, size_t size, uint64_t at)
{
	while (size && f->failure.code == GUS_OK) {
		ssize_t n = pwrite(f->fd, bytes, size, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			gus_fail_errno(&f->failure, n < 0 ? errno : ENOSPC, "cannot write %s after %llu bytes", f->path,
				       (unsigned long long)at);
			return;
		}
		bytes += n;
		size -= (size_t)n;
		at += (uint64_t)n;
	}
}

static void flush(struct golden_file *f)
{
	write_at(f, f->bytes.v, f->bytes.n, f->written);
	f->written += f->bytes.n;
	f->bytes.n = 0;
}

static int failure_of(const struct golden_file *f, struct gus_error *err)
{
	if (f->failure.code == GUS_OK)
		return 0;
	if (err)
		*err = f->failure;
	return -1;
}

/* Where the next byte will be. */
static uint64_t here(const struct golden_file *f)
{
	return f->written + f->bytes.n;
}

/* Messages of protobuf-c have no place for text that is constant. */
static char *text_of(const char *constant)
{
	return (char *)(uintptr_t)constant;
}

static void describe_host(Gusprof__Host *h, const struct golden_claim *m)
{
	gusprof__host__init(h);
	h->hostname = text_of("golden");
	h->kernel = text_of("6.12.0");
	h->machine = text_of(m->arch);
	h->cpu_model = text_of(m->cpu);
	h->cpu_vendor = text_of(m->vendor);
	h->cpu_family = m->family;
	h->cpu_model_number = m->model;
	h->cpu_stepping = m->stepping;
	h->midr = m->midr;
	h->cpus_online = 1;
}

static void describe_event(Gusprof__Event *e, const struct golden_claim *m, uint64_t period)
{
	gusprof__event__init(e);
	e->name = text_of(m->event);
	e->pmu = text_of(m->pmu);
	e->type = m->type;
	e->config = m->config;
	e->config1 = m->config1;
	e->config2 = m->config2;
	e->period = period;
	e->precise = m->precise;
	e->exclude_kernel = e->exclude_hv = m->exclude_kernel;
	e->branch_type = m->branch_type;
}

static void describe(struct golden_file *f, const char *comm, uint64_t period)
{
	describe_host(&f->host, f->machine);
	describe_event(&f->event, f->machine, period);
	gusprof__clock__init(&f->clock);
	f->clock.name = text_of("perf");
	f->comm = gus_strdup(comm);
	f->events[0] = &f->event;
	f->command[0] = f->comm;
	gusprof__header__init(&f->header);
	f->header.producer = text_of("6.12 (emulated)");
	f->header.host = &f->host;
	f->header.clock = &f->clock;
	f->header.command = f->command;
	f->header.events = f->events;
	f->header.n_command = f->header.n_events = 1;
}

static void put_section(struct gus_bytes *out, struct golden_file_section s)
{
	gus_put_u64(out, s.offset);
	gus_put_u64(out, s.size);
}

/* The header is written when all else is: until then it is zeros, by which readers know that a file is not finished. */
static void put_beginning(struct golden_file *f)
{
	for (unsigned i = 0; i < HEADER / 8; i++)
		gus_put_u64(&f->bytes, 0);
	gus_put_u64(&f->bytes, f->attr.ids.v[0]);
	f->attrs.offset = here(f);
	gus_perfdata_put_attr(&f->bytes, &f->attr, gus_perfdata_attr_size(&f->header));
	put_section(&f->bytes, (struct golden_file_section){ HEADER, sizeof(uint64_t) });
	f->attrs.size = here(f) - f->attrs.offset;
	f->data.offset = here(f);
}

struct golden_file *golden_file_open(const char *path, const struct golden_claim *machine, const char *comm,
				     uint64_t period, struct gus_error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	struct golden_file *f;

	if (fd < 0) {
		gus_fail_errno(err, errno, "cannot create %s", path);
		return NULL;
	}
	f = gus_zalloc(sizeof(*f));
	f->fd = fd;
	f->path = gus_strdup(path);
	f->machine = machine;
	f->layout = (struct gus_records_layout){ .sample_type = machine->sample_type,
		.branch_type = machine->branch_type };
	describe(f, comm, period);
	f->attr = gus_perfdata_declare(&f->header, 0, &f->layout, false);
	gus_vec_push(&f->attr.ids, gus_perfdata_id(0, 0));
	put_beginning(f);
	return f;
}

void golden_file_put(struct golden_file *f, uint32_t type, uint16_t misc, const uint64_t *words, unsigned n,
		     uint32_t pid, uint32_t tid, uint64_t time)
{
	const uint64_t trailer[] = { pid | (uint64_t)tid << 32, time, 0, gus_perfdata_id(0, 0) };
	const unsigned trailer_n = sizeof(trailer) / sizeof(*trailer);

	gus_put_u32(&f->bytes, type);
	gus_put_u16(&f->bytes, misc);
	gus_put_u16(&f->bytes, (uint16_t)(8 * (1 + n + trailer_n)));
	for (unsigned i = 0; i < n; i++)
		gus_put_u64(&f->bytes, words[i]);
	for (unsigned i = 0; i < trailer_n; i++)
		gus_put_u64(&f->bytes, trailer[i]);
}

void golden_file_put_beside(struct golden_file *f, uint64_t offset, uint32_t tid, const struct gus_bytes *bytes)
{
	enum { SIZE = 48 };
	const struct golden_file_section at = { here(f), SIZE };

	gus_vec_push(&f->beside, at);
	gus_put_u32(&f->bytes, GUS_PERFDATA_AUXTRACE);
	gus_put_u16(&f->bytes, 0);
	gus_put_u16(&f->bytes, SIZE);
	gus_put_u64(&f->bytes, bytes->n);
	gus_put_u64(&f->bytes, offset);
	gus_put_u64(&f->bytes, 0); /* a reference to tell pieces apart by, of which nobody makes use */
	gus_put_u32(&f->bytes, 0); /* which buffer, ... */
	gus_put_u32(&f->bytes, tid);
	gus_put_u32(&f->bytes, 0); /* ... and which CPU's */
	gus_put_u32(&f->bytes, 0);
	gus_vec_append(&f->bytes, bytes->v, bytes->n);
}

int golden_file_go_on(struct golden_file *f, struct gus_error *err)
{
	if (f->bytes.n >= ROUND) {
		gus_perfdata_put_round(&f->bytes);
		flush(f);
	}
	return failure_of(f, err);
}

/* Features. */

static void put_string(struct gus_bytes *out, const char *text)
{
	size_t size = (strlen(text) + ALIGNED) / ALIGNED * ALIGNED, from;

	gus_put_u32(out, (uint32_t)size);
	from = out->n;
	gus_put_text(out, text);
	gus_put_padding(out, from, ALIGNED);
}

/* All that the machine has, as perf lists them, and not those of the event alone. */
static bool put_pmus(struct golden_file *f)
{
	uint32_t n = 0;

	while (f->machine->pmus[n].name)
		n++;
	gus_put_u32(&f->bytes, n);
	for (uint32_t i = 0; i < n; i++) {
		gus_put_u32(&f->bytes, f->machine->pmus[i].type);
		put_string(&f->bytes, f->machine->pmus[i].name);
	}
	return true;
}

/* By this perf finds what stands beside records. */
static bool put_index(struct golden_file *f)
{
	if (!f->beside.n)
		return false;
	gus_put_u64(&f->bytes, f->beside.n);
	for (size_t i = 0; i < f->beside.n; i++)
		put_section(&f->bytes, f->beside.v[i]);
	return true;
}

static bool put_feature(struct golden_file *f, enum gus_perfdata_feature feature)
{
	const struct gus_perfdata_about about = { .header = &f->header, .attrs = &f->attr,
		.attr_size = gus_perfdata_attr_size(&f->header), .ids = true,
		.branches = f->layout.sample_type & PERF_SAMPLE_BRANCH_STACK, .first_ns = f->first_ns,
		.last_ns = f->last_ns };

	if (feature == GUS_PERFDATA_PMUS)
		return put_pmus(f);
	if (feature == GUS_PERFDATA_AUXTRACE_INDEX)
		return put_index(f);
	return gus_perfdata_put_feature(&f->bytes, feature, &about);
}

/* The table of where they are stands before them, so they are made first. */
static void write_features(struct golden_file *f, uint64_t set[4])
{
	struct golden_file_section at[GUS_PERFDATA_FEATURES];
	struct gus_bytes table = { 0 };
	size_t n = 0;

	flush(f);
	for (unsigned i = 0; i < GUS_PERFDATA_FEATURES; i++) {
		at[n].offset = f->bytes.n;
		if (!put_feature(f, i))
			continue;
		at[n].size = f->bytes.n - at[n].offset;
		set[i / 64] |= UINT64_C(1) << i % 64;
		n++;
	}
	for (size_t i = 0; i < n; i++) {
		at[i].offset += f->written + n * sizeof(*at);
		put_section(&table, at[i]);
	}
	write_at(f, table.v, table.n, f->written);
	f->written += table.n;
	flush(f);
	gus_vec_free(&table);
}

static void write_header(struct golden_file *f, const uint64_t features[4])
{
	struct gus_bytes head = { 0 };

	gus_vec_append(&head, (const uint8_t *)"PERFILE2", 8);
	gus_put_u64(&head, HEADER);
	gus_put_u64(&head, f->attrs.size);
	put_section(&head, f->attrs);
	put_section(&head, f->data);
	put_section(&head, (struct golden_file_section){ 0, 0 }); /* names of event types, as old files had them */
	for (size_t i = 0; i < 4; i++)
		gus_put_u64(&head, features[i]);
	write_at(f, head.v, head.n, 0);
	gus_vec_free(&head);
}

int golden_file_finish(struct golden_file *f, struct gus_error *err)
{
	uint64_t features[4] = { 0 };
	int rc;

	gus_perfdata_put_round(&f->bytes);
	f->data.size = here(f) - f->data.offset;
	write_features(f, features);
	write_header(f, features);
	if (close(f->fd) != 0 && f->failure.code == GUS_OK)
		gus_fail_errno(&f->failure, errno, "cannot write %s", f->path);
	rc = failure_of(f, err);
	gus_vec_free(&f->bytes);
	gus_vec_free(&f->beside);
	gus_vec_free(&f->attr.ids);
	free(f->comm);
	free(f->path);
	free(f);
	return rc;
}
