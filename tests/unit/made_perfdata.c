/* SPDX-License-Identifier: MIT */
#include "tests/unit/made_perfdata.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void made_put(struct made_perfdata *m, struct made_bytes *b, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		gus_vec_push(b, (uint8_t)(value >> 8 * (m->big ? size - 1 - i : i)));
}

static struct made_bytes *records(struct made_perfdata *m)
{
	return m->packing ? &m->packed : &m->data;
}

/* Flags are a field of 64 bits of which each has its own place: from the lowest on, or on the other machines from the
 * highest; precise_ip has two. */
static uint64_t flags_of(const struct made_perfdata *m, uint64_t flags)
{
	uint64_t turned = 0;

	for (unsigned i = 0; m->big && i < 64; i++)
		if (i != 15 && i != 16)
			turned |= (flags >> i & 1) << (63 - i);
	return m->big ? turned | (flags >> 15 & 3) << (63 - 16) : flags;
}

static void put_attr(struct made_perfdata *m, struct made_bytes *b, const struct made_attr *a)
{
	unsigned size = m->attr_size ? m->attr_size : 112;
	const uint64_t words[] = { a->config, a->period, a->sample_type, a->read_format, flags_of(m, a->flags), 0,
				   a->config1,
				   a->config2, a->branch, a->regs_user };
	struct made_bytes all = { 0 };

	made_put(m, &all, a->type, 4);
	made_put(m, &all, size, 4);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		made_put(m, &all, words[i], 8);
	made_put(m, &all, a->stack_user, 4);
	made_put(m, &all, a->clockid, 4);
	made_put(m, &all, a->regs_intr, 8);
	while (all.n < size)
		gus_vec_push(&all, 0);
	gus_vec_append(b, all.v, size);
	gus_vec_free(&all);
}

void made_event(struct made_perfdata *m, const struct made_attr *a)
{
	m->attrs_n++;
	gus_vec_push(&m->ids_of, a->ids_n);
	if (m->pipe) {
		made_begin(m, 64, 0);
		put_attr(m, records(m), a);
		for (unsigned i = 0; i < a->ids_n; i++)
			made_word(m, a->ids[i]);
		made_end(m);
		return;
	}
	put_attr(m, &m->attrs, a);
	for (unsigned i = 0; i < a->ids_n; i++)
		made_put(m, &m->ids, a->ids[i], 8);
}

void made_begin(struct made_perfdata *m, uint32_t type, uint16_t misc)
{
	m->record = records(m)->n;
	made_put(m, records(m), type, 4);
	made_put(m, records(m), misc, 2);
	made_put(m, records(m), 0, 2);
}

void made_word(struct made_perfdata *m, uint64_t value)
{
	made_put(m, records(m), value, 8);
}

void made_half(struct made_perfdata *m, uint32_t value)
{
	made_put(m, records(m), value, 4);
}

void made_text(struct made_perfdata *m, const char *text)
{
	gus_vec_append(records(m), (const uint8_t *)text, strlen(text) + 1);
	while ((records(m)->n - m->record) % 8)
		gus_vec_push(records(m), 0);
}

void made_raw(struct made_perfdata *m, const void *bytes, size_t size)
{
	gus_vec_append(records(m), (const uint8_t *)bytes, size);
}

void made_end(struct made_perfdata *m)
{
	size_t size = records(m)->n - m->record;
	uint8_t *at = records(m)->v + m->record + 6;

	at[m->big] = (uint8_t)size;
	at[!m->big] = (uint8_t)(size >> 8);
}

void made_words(struct made_perfdata *m, uint32_t type, uint16_t misc, const uint64_t *words, size_t n)
{
	made_begin(m, type, misc);
	for (size_t i = 0; i < n; i++)
		made_word(m, words[i]);
	made_end(m);
}

void made_feature(struct made_perfdata *m, unsigned number, const struct made_bytes *bytes)
{
	if (m->pipe) {
		made_begin(m, 80, 0);
		made_word(m, number);
		made_raw(m, bytes->v, bytes->n);
		made_end(m);
		return;
	}
	m->has[number / 64] |= UINT64_C(1) << number % 64;
	gus_vec_push(&m->sizes, bytes->n);
	gus_vec_append(&m->features, bytes->v, bytes->n);
}

void made_put_text(struct made_perfdata *m, struct made_bytes *b, const char *text)
{
	size_t room = (strlen(text) + 1 + 63) & ~(size_t)63; /* perf fills up to 64 */

	made_put(m, b, room, 4);
	gus_vec_append(b, (const uint8_t *)text, strlen(text));
	for (size_t i = strlen(text); i < room; i++)
		gus_vec_push(b, 0);
}

void made_feature_text(struct made_perfdata *m, unsigned number, const char *text)
{
	struct made_bytes b = { 0 };

	made_put_text(m, &b, text);
	made_feature(m, number, &b);
	gus_vec_free(&b);
}

static void close_file(struct made_perfdata *m)
{
	unsigned entry = (m->attr_size ? m->attr_size : 112) + 16;
	uint64_t at = 104, ids = at, attrs = ids + m->ids.n, data = attrs + (uint64_t)m->attrs_n * entry, features;
	struct made_bytes *f = &m->file;

	gus_vec_append(f, (const uint8_t *)(m->big ? "2ELIFREP" : "PERFILE2"), 8);
	made_put(m, f, 104, 8);
	made_put(m, f, entry, 8);
	made_put(m, f, attrs, 8);
	made_put(m, f, (uint64_t)m->attrs_n * entry, 8);
	made_put(m, f, data, 8);
	made_put(m, f, m->data.n, 8);
	made_put(m, f, 0, 8);
	made_put(m, f, 0, 8);
	for (int i = 0; i < 4; i++)
		made_put(m, f, m->has[i], 8);
	gus_vec_append(f, m->ids.v, m->ids.n);
	for (unsigned i = 0; i < m->attrs_n; i++) {
		gus_vec_append(f, m->attrs.v + i * (entry - 16), entry - 16);
		made_put(m, f, ids, 8);
		made_put(m, f, m->ids_of.v[i] * 8, 8);
		ids += m->ids_of.v[i] * 8;
	}
	gus_vec_append(f, m->data.v, m->data.n);
	features = f->n + m->sizes.n * 16;
	for (size_t i = 0; i < m->sizes.n; i++) {
		made_put(m, f, features, 8);
		made_put(m, f, m->sizes.v[i], 8);
		features += m->sizes.v[i];
	}
	gus_vec_append(f, m->features.v, m->features.n);
}

const struct made_bytes *made_close(struct made_perfdata *m)
{
	if (m->pipe) {
		gus_vec_append(&m->file, (const uint8_t *)(m->big ? "2ELIFREP" : "PERFILE2"), 8);
		made_put(m, &m->file, 16, 8);
		gus_vec_append(&m->file, m->data.v, m->data.n);
	} else {
		close_file(m);
	}
	return &m->file;
}

int made_file(const struct made_bytes *bytes)
{
	int fd = memfd_create("made", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes->v, bytes->n) != (ssize_t)bytes->n)
		abort();
	return fd;
}

void made_free(struct made_perfdata *m)
{
	gus_vec_free(&m->attrs);
	gus_vec_free(&m->data);
	gus_vec_free(&m->features);
	gus_vec_free(&m->sizes);
	gus_vec_free(&m->ids);
	gus_vec_free(&m->ids_of);
	gus_vec_free(&m->packed);
	gus_vec_free(&m->file);
}
