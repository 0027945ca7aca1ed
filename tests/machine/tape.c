/* SPDX-License-Identifier: MIT */
/* The file is as perf writes it (tools/perf/Documentation/perf.data-file-format.txt), samples are as
 * perf_event_open(2) lays them out, and SPE's packets as the Arm Architecture Reference Manual has them, section
 * D17. */
#include "tests/machine/tape.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/machine.h"

/* Offsets into the file's header, and into an attr. */
enum { ATTRS = 24, DATA = 40, SAMPLE_TYPE = 24 };
enum { RECORD_AUXTRACE = 71, AUXTRACE_SIZE = 8, AUXTRACE_HEADER = 48 };
enum { WEIGHT_STRUCT = 1 << 24, BRANCHES_MOST = 64 };

static uint64_t word_at(const struct machine_tape *t, size_t at)
{
	uint64_t word = 0;

	if (at + sizeof(word) <= t->end)
		memcpy(&word, t->bytes + at, sizeof(word));
	return word;
}

bool machine_tape_open(struct machine_tape *t, const char *path)
{
	FILE *f = fopen(path, "re");
	long size;

	*t = (struct machine_tape){ 0 };
	if (!f)
		return false;
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	t->bytes = malloc((size_t)size + 1);
	t->end = fread(t->bytes, 1, (size_t)size, f);
	fclose(f);
	if (t->end < 64 || memcmp(t->bytes, "PERFILE2", 8) != 0) {
		machine_tape_close(t);
		return false;
	}
	t->type = word_at(t, word_at(t, ATTRS) + SAMPLE_TYPE);
	t->begin = t->at = word_at(t, DATA);
	if (t->at + word_at(t, DATA + 8) < t->end)
		t->end = t->at + word_at(t, DATA + 8);
	return true;
}

double machine_tape_played(const struct machine_tape *t)
{
	return t->end > t->begin ? (double)(t->at - t->begin) / (double)(t->end - t->begin) : 1;
}

void machine_tape_close(struct machine_tape *t)
{
	free(t->bytes);
	*t = (struct machine_tape){ 0 };
}

/* One thread is the event's own; of others the file's number stays. */
static uint32_t thread_of(struct machine_tape *t, uint64_t tid)
{
	if (!t->has_tid)
		t->tid = tid;
	t->has_tid = true;
	return tid == t->tid ? 0 : (uint32_t)tid;
}

struct sample { struct machine_sample s; uint64_t branches[3 * BRANCHES_MOST]; };

static void take_raw(const struct machine_tape *t, struct machine_sample *s, size_t *at)
{
	memcpy(&s->raw_bytes, t->bytes + *at, sizeof(s->raw_bytes));
	s->raw = t->bytes + *at + 4;
	*at += 4 + s->raw_bytes;
}

static void take_branches(const struct machine_tape *t, struct sample *out, size_t *at)
{
	uint64_t n = word_at(t, *at);

	out->s.branches_n = n < BRANCHES_MOST ? (unsigned)n : BRANCHES_MOST;
	memcpy(out->branches, t->bytes + *at + 8, out->s.branches_n * 24);
	out->s.branches = (const void *)out->branches;
	*at += 8 + n * 24;
}

/* A sample's fields; those that the file's event has not are 0. */
static void read_sample(struct machine_tape *t, size_t at, uint16_t misc, struct sample *out)
{
	struct { uint64_t bit; uint64_t *into; } fields[] = {
		{ PERF_SAMPLE_IDENTIFIER, NULL }, { PERF_SAMPLE_IP, &out->s.ip }, { PERF_SAMPLE_TID, NULL },
		{ PERF_SAMPLE_TIME, NULL }, { PERF_SAMPLE_ADDR, &out->s.address }, { PERF_SAMPLE_CPU, NULL },
		{ PERF_SAMPLE_PERIOD, &out->s.period }, { PERF_SAMPLE_RAW, NULL },
		{ PERF_SAMPLE_BRANCH_STACK, NULL }, { WEIGHT_STRUCT, &out->s.weight },
		{ PERF_SAMPLE_DATA_SRC, &out->s.data_source },
	};

	out->s = (struct machine_sample){ .exact = misc & PERF_RECORD_MISC_EXACT_IP };
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if (!(t->type & fields[i].bit))
			continue;
		if (fields[i].bit == PERF_SAMPLE_RAW) {
			take_raw(t, &out->s, &at);
			continue;
		}
		if (fields[i].bit == PERF_SAMPLE_BRANCH_STACK) {
			take_branches(t, out, &at);
			continue;
		}
		if (fields[i].bit == PERF_SAMPLE_TID)
			out->s.tid = thread_of(t, word_at(t, at) >> 32);
		if (fields[i].into)
			*fields[i].into = word_at(t, at);
		at += 8;
	}
}

/* The context packet of each operation says whose it is, which here is the event's thread, and its timestamp when: as
 * it is written. */
static void tell_whose(uint8_t *bytes, size_t n, uint32_t tid, uint64_t now)
{
	enum { PADDING, END, CONTEXT_LOW = 0x64, CONTEXT_HIGH = 0x67, TIMESTAMP = 0x71 };

	for (size_t at = 0; at < n;) {
		uint8_t header = bytes[at++];

		if (header == PADDING || header == END)
			continue;
		if ((header & 0xe0) == 0x20 && at < n) /* a header of two bytes */
			header = bytes[at++];
		if (header >= CONTEXT_LOW && header <= CONTEXT_HIGH && at + 4 <= n)
			memcpy(&bytes[at], &tid, sizeof(tid));
		if (header == TIMESTAMP && at + 8 <= n)
			memcpy(&bytes[at], &now, sizeof(now));
		at += (size_t)1 << (header >> 4 & 3);
	}
}

static void play_piece(struct machine_tape *t, struct machine_event *e, size_t at, size_t n)
{
	tell_whose(t->bytes + at, n, (uint32_t)e->pid, machine_now(e));
	machine_put_aux(e, t->bytes + at, n, 0);
}

bool machine_tape_play(struct machine_tape *t, struct machine_event *e, unsigned n, double longer)
{
	while (t->bytes && t->at + 8 <= t->end) {
		size_t at = t->at;
		uint64_t header = word_at(t, at);
		uint32_t type = (uint32_t)header;

		t->at += header >> 48;
		if (!(header >> 48))
			return false;
		if (type == RECORD_AUXTRACE) {
			size_t size = word_at(t, at + AUXTRACE_SIZE);

			t->at += size;
			if (t->at > t->end)
				return false;
			play_piece(t, e, at + AUXTRACE_HEADER, size);
			return true;
		}
		if (type == PERF_RECORD_SAMPLE) {
			struct sample sample;

			read_sample(t, at + 8, (uint16_t)(header >> 32), &sample);
			sample.s.period = (uint64_t)((double)sample.s.period * longer);
			machine_take_sample(e, &sample.s);
			if (!--n)
				return true;
		}
	}
	return false;
}
