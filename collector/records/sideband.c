/* SPDX-License-Identifier: MIT */
#include "collector/records/sideband.h"

#include <stdlib.h>
#include <string.h>

/* A record, the message in its oneof, and the text that the message points to. */
struct block {
	Gusprof__Record record;
	union {
		Gusprof__Mmap mmap;
		Gusprof__Comm comm;
		Gusprof__Task task;
		Gusprof__Ksymbol ksymbol;
		Gusprof__Lost lost;
		Gusprof__Throttle throttle;
		Gusprof__Mark mark;
		Gusprof__Kept kept;
	} of;
	size_t used, room;
	char text[];
};

static void init_kind(struct block *b, Gusprof__Record__KindCase kind)
{
	b->record.kind_case = kind;
	b->record.mmap = &b->of.mmap; /* the members of the oneof are pointers to the same place */
	switch (kind) {
	case GUSPROF__RECORD__KIND_MMAP:
		gusprof__mmap__init(&b->of.mmap);
		break;
	case GUSPROF__RECORD__KIND_COMM:
		gusprof__comm__init(&b->of.comm);
		break;
	case GUSPROF__RECORD__KIND_FORK:
	case GUSPROF__RECORD__KIND_EXIT:
		gusprof__task__init(&b->of.task);
		break;
	case GUSPROF__RECORD__KIND_KSYMBOL:
		gusprof__ksymbol__init(&b->of.ksymbol);
		break;
	case GUSPROF__RECORD__KIND_LOST:
		gusprof__lost__init(&b->of.lost);
		break;
	case GUSPROF__RECORD__KIND_MARK:
		gusprof__mark__init(&b->of.mark);
		break;
	case GUSPROF__RECORD__KIND_KEPT:
		gusprof__kept__init(&b->of.kept);
		break;
	default:
		gusprof__throttle__init(&b->of.throttle);
		break;
	}
}

Gusprof__Record *gus_sideband_add(struct gus_sideband *s, Gusprof__Record__KindCase kind, size_t room)
{
	struct block *b = gus_alloc(sizeof(*b) + room);

	gusprof__record__init(&b->record);
	b->used = 0;
	b->room = room;
	init_kind(b, kind);
	gus_vec_push(&s->records, &b->record);
	s->bytes += sizeof(*b) + room;
	return &b->record;
}

char *gus_sideband_text(struct gus_sideband *s, const void *text, size_t length)
{
	struct block *b = (struct block *)s->records.v[s->records.n - 1];
	char *at = b->text + b->used;

	if (length >= b->room - b->used)
		abort(); /* the room was counted wrongly: a fault of the caller, not of its input */
	memcpy(at, text, length);
	at[length] = '\0';
	b->used += length + 1;
	return at;
}

static void copy_mapping(struct gus_sideband *s, const Gusprof__Mmap *from)
{
	size_t length = strlen(from->path);
	Gusprof__Mmap *m = gus_sideband_add(s, GUSPROF__RECORD__KIND_MMAP, length + 1 + from->build_id.len + 1)->mmap;

	*m = *from;
	m->path = gus_sideband_text(s, from->path, length);
	if (from->build_id.len)
		m->build_id.data = (uint8_t *)gus_sideband_text(s, from->build_id.data, from->build_id.len);
}

static void copy_name(struct gus_sideband *s, const Gusprof__Comm *from)
{
	size_t length = strlen(from->name);
	Gusprof__Comm *m = gus_sideband_add(s, GUSPROF__RECORD__KIND_COMM, length + 1)->comm;

	*m = *from;
	m->name = gus_sideband_text(s, from->name, length);
}

void gus_sideband_copy(struct gus_sideband *s, const Gusprof__Record *record)
{
	switch (record->kind_case) {
	case GUSPROF__RECORD__KIND_MMAP:
		copy_mapping(s, record->mmap);
		break;
	case GUSPROF__RECORD__KIND_COMM:
		copy_name(s, record->comm);
		break;
	case GUSPROF__RECORD__KIND_FORK:
		*gus_sideband_add(s, GUSPROF__RECORD__KIND_FORK, 0)->fork = *record->fork;
		break;
	default:
		break;
	}
}

Gusprof__Sideband gus_sideband_message(const struct gus_sideband *s)
{
	Gusprof__Sideband message = GUSPROF__SIDEBAND__INIT;

	message.records = s->records.v;
	message.n_records = s->records.n;
	return message;
}

void gus_sideband_clear(struct gus_sideband *s)
{
	for (size_t i = 0; i < s->records.n; i++)
		free(s->records.v[i]);
	s->records.n = 0;
	s->bytes = 0;
}

void gus_sideband_free(struct gus_sideband *s)
{
	gus_sideband_clear(s);
	gus_vec_free(&s->records);
}
