/* SPDX-License-Identifier: MIT */
#include "symbolizer/symbols/recall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/limits.h"
#include "base/store.h"
#include "symbolizer/elf/dwarf.h"

#define CALLS_MAX 64 /* of one address; more than names that are shown */

/* What tells a file from every other one, and from itself as it was before it was changed. */
static void add_identity(struct gus_recall *r, const struct gus_elf *e)
{
	uint64_t identity[7] = { 0 };

	if (e) {
		const struct stat *st = &e->stat;

		identity[0] = st->st_dev;
		identity[1] = st->st_ino;
		identity[2] = (uint64_t)st->st_size;
		identity[3] = (uint64_t)st->st_mtim.tv_sec;
		identity[4] = (uint64_t)st->st_mtim.tv_nsec;
		identity[5] = (uint64_t)st->st_ctim.tv_sec;
		identity[6] = (uint64_t)st->st_ctim.tv_nsec;
	}
	gus_vec_append(&r->key, (const uint8_t *)identity, sizeof(identity));
}

/* The build id is for people who look into the folder. */
static char *name_of(const struct gus_recall *r, const struct gus_elf *holder)
{
	char hex[2 * 20 + 1] = "";

	for (size_t i = 0; i < holder->build_id_size && i < sizeof(hex) / 2; i++)
		snprintf(hex + 2 * i, 3, "%02x", holder->build_id[i]);
	return gus_format("%s-%016llx", hex, (unsigned long long)XXH3_64bits(r->key.v, r->key.n));
}

/* Whether all files are there that there is to ask: a file that can be known again, with a build id, and the one that
 * it shares with others. */
static bool is_whole(struct gus_elf *holder, const struct gus_elf *code, const struct gus_elf *shared)
{
	GElf_Shdr header;

	return holder->build_id_size && holder->loaded && code->loaded &&
	       (shared || !gus_elf_section(holder, ".gnu_debugaltlink", &header));
}

void gus_recall_open(struct gus_recall *r, struct gus_store *store, struct gus_elf *holder,
		     const struct gus_elf *code, const struct gus_elf *shared)
{
	size_t size;
	uint8_t *bytes;

	*r = (struct gus_recall){ .store = store };
	gus_answers_init(&r->answers);
	if (!store || !is_whole(holder, code, shared)) {
		r->store = NULL;
		return;
	}
	gus_vec_append(&r->key, holder->build_id, holder->build_id_size);
	add_identity(r, holder);
	add_identity(r, code);
	add_identity(r, shared);
	r->name = name_of(r, holder);
	bytes = gus_store_read(store, r->name, GUS_LIMIT_CACHE_FILE, &size);
	if (bytes)
		gus_answers_read(&r->answers, r->key.v, r->key.n, bytes, size);
	free(bytes);
}

void gus_recall_close(struct gus_recall *r)
{
	gus_answers_free(&r->answers);
	gus_vec_free(&r->key);
	free(r->name);
}

const struct gus_answer *gus_recall_find(const struct gus_recall *r, uint64_t address)
{
	return gus_answers_find(&r->answers, address);
}

static uint32_t add_calls(struct gus_answers *a, const struct gus_call *calls, size_t n)
{
	uint32_t number = 0;

	while (n--)
		number = gus_answers_call(a, &(struct gus_answer_call){
			.name = gus_answers_text(a, calls[n].name), .file = gus_answers_text(a, calls[n].file),
			.line = calls[n].line, .around = number });
	return number;
}

struct gus_answer gus_recall_ask(struct gus_recall *r, struct gus_dwarf *d, uint64_t address, bool calls)
{
	struct gus_answers *a = &r->answers;
	struct gus_answer answer = { 0 };
	struct gus_call list[CALLS_MAX];
	const char *file = NULL, *outer = NULL;

	if (gus_dwarf_line(d, address, &file, &answer.line))
		answer.file = gus_answers_text(a, file);
	if (!calls)
		return answer;
	answer.call = add_calls(a, list, gus_dwarf_calls(d, address, list, CALLS_MAX, &outer));
	answer.outer = gus_answers_text(a, outer);
	if (r->store && gus_dwarf_extent(d, address, &answer.low, &answer.high))
		gus_answers_add(a, &answer);
	return answer;
}

int gus_recall_save(const struct gus_recall *r, struct gus_error *err)
{
	size_t size;
	uint8_t *bytes;
	int rc = 0;

	if (!r->store || !r->answers.fresh.n)
		return 0;
	bytes = gus_answers_write(&r->answers, r->key.v, r->key.n, &size);
	/* A program whose answers are more than fit is asked about too many places for them to be of use. */
	if (size <= GUS_LIMIT_CACHE_FILE)
		rc = gus_store_write(r->store, r->name, bytes, size, err);
	free(bytes);
	return rc;
}
