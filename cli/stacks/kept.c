/* SPDX-License-Identifier: MIT */
/* A file is: "gusstack" | u32 version | key | n, n files that code was from: path, identity | what was run |
 * whether there is a model's | account | the model's | u64 XXH3 of all that. */
#include "cli/stacks/kept.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "attribution/accounts/kept.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/identity.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/store.h"

static const char magic[8] = "gusstack"; /* without its NUL */
enum { VERSION = 2, CHECKSUM = sizeof(uint64_t), CHUNK = 1 << 20 };

/* Without padding, as bytes are compared. owner: with whose rights files were read that the recording names; and what
 * somebody does to a file of theirs while it is read is not to be told of another's. */
struct key {
	uint64_t recording[2], size, owner, table, replay, vs_model;
	struct gus_identity program;        /* this one: another may find out something else */
};

struct gus_stacks_kept {
	struct gus_store *store;
	const struct gus_log *log;
	struct key key;
	char *path;                     /* of the recording, ... */
	struct gus_identity recording;  /* ... and which one that was */
	char name[2 * sizeof(uint64_t) + 1];
	uint8_t *bytes;                 /* what there is of it; NULL: nothing */
	struct gus_cursor body;         /* of these, behind the head */
};

/* All of its bytes: copies of a recording are the same. */
static int digest_bytes(int fd, struct key *key)
{
	XXH3_state_t *state = XXH3_createState();
	uint8_t *chunk = gus_alloc(CHUNK);
	XXH128_hash_t sum;
	ssize_t n = -1;

	if (state)
		XXH3_128bits_reset(state);
	while (state && (n = read(fd, chunk, CHUNK)) > 0) {
		XXH3_128bits_update(state, chunk, (size_t)n);
		key->size += (uint64_t)n;
	}
	if (n == 0) {
		sum = XXH3_128bits_digest(state);
		key->recording[0] = sum.low64;
		key->recording[1] = sum.high64;
	}
	XXH3_freeState(state);
	free(chunk);
	return n == 0 ? 0 : -1;
}

/* What has that name may be a FIFO, which would wait for a writer, or have no end: that it is no recording says who
 * opens recordings. */
static int digest(struct gus_stacks_kept *k)
{
	int fd = open(k->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc = -1;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		k->recording = gus_identity_of(&st);
		k->key.owner = st.st_uid;
		rc = digest_bytes(fd, &k->key);
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Files that are gone, or others by now, may have been where names and functions were from. */
static bool are_same(struct gus_cursor *c)
{
	uint64_t n = gus_cursor_varint(c);
	bool same = true;

	for (uint64_t i = 0; i < n && !c->bad && same; i++) {
		size_t size = gus_cursor_varint(c);
		const uint8_t *letters = gus_cursor_take(c, size), *was;
		char *path = letters ? strndup((const char *)letters, size) : NULL;
		struct gus_identity now = path ? gus_identity_at(path) : (struct gus_identity){ 0 };

		was = gus_cursor_take(c, sizeof(now));
		same = was && memcmp(was, &now, sizeof(now)) == 0;
		free(path);
	}
	return !c->bad && same;
}

static bool read_head(struct gus_stacks_kept *k, size_t size)
{
	struct gus_cursor *c = &k->body, sum;
	const uint8_t *mark, *key;

	if (size < CHECKSUM)
		return false;
	sum = gus_cursor(k->bytes + size - CHECKSUM, CHECKSUM);
	*c = gus_cursor(k->bytes, size - CHECKSUM);
	if (gus_cursor_u64(&sum) != XXH3_64bits(k->bytes, size - CHECKSUM))
		return false;
	mark = gus_cursor_take(c, sizeof(magic));
	if (!mark || memcmp(mark, magic, sizeof(magic)) != 0 || gus_cursor_u32(c) != VERSION)
		return false;
	key = gus_cursor_take(c, sizeof(k->key));
	return key && memcmp(key, &k->key, sizeof(k->key)) == 0 && are_same(c);
}

void gus_stacks_kept_forget(struct gus_stacks_kept *k)
{
	if (!k)
		return;
	free(k->bytes);
	k->bytes = NULL;
}

static void look(struct gus_stacks_kept *k)
{
	size_t size;

	k->bytes = gus_store_read(k->store, k->name, GUS_LIMIT_CACHE_STACKS, &size);
	if (k->bytes && !read_head(k, size))
		gus_stacks_kept_forget(k);
	if (k->bytes)
		gus_log(k->log, GUS_DEBUG, "stacks were found out before: %s", k->name);
}

struct gus_stacks_kept *gus_stacks_kept_open(const char *folder, const struct gus_stacks_asked *asked,
					     const struct gus_log *log)
{
	struct gus_stacks_kept *k = gus_zalloc(sizeof(*k));
	struct gus_error err = { 0 };

	k->log = log;
	k->path = gus_strdup(asked->path);
	k->key.table = asked->table;
	k->key.replay = asked->replay;
	k->key.vs_model = asked->vs_model;
	k->key.program = gus_identity_at("/proc/self/exe");
	k->store = gus_store_open(folder, ".stacks", GUS_LIMIT_CACHE, &err);
	if (!k->store || digest(k) != 0) {
		gus_log(k->log, GUS_DEBUG, "stacks are not remembered: %s", err.code ? err.text :
			"the recording is no file that can be read to its end");
		gus_stacks_kept_close(k);
		return NULL;
	}
	snprintf(k->name, sizeof(k->name), "%016llx",
		 (unsigned long long)XXH3_64bits(&k->key, sizeof(k->key)));
	look(k);
	return k;
}

void gus_stacks_kept_close(struct gus_stacks_kept *k)
{
	if (!k)
		return;
	gus_store_close(k->store);
	free(k->path);
	free(k->bytes);
	free(k);
}

bool gus_stacks_kept_has(const struct gus_stacks_kept *k)
{
	return k && k->bytes;
}

/* What was run. */

static void put_text(struct gus_bytes *out, const char *text)
{
	size_t size = strlen(text);

	gus_bytes_varint(out, size);
	gus_vec_append(out, (const uint8_t *)text, size);
}

static void put_ran(struct gus_bytes *out, const struct gus_stacks_ran *ran)
{
	gus_bytes_varint(out, ran->windows);
	gus_bytes_varint(out, ran->taken);
	gus_bytes_varint(out, ran->failed);
	put_text(out, ran->first);
	gus_bytes_varint(out, ran->partly);
	gus_bytes_varint(out, ran->left_out);
}

static void take_ran(struct gus_cursor *c, struct gus_stacks_ran *ran)
{
	const uint8_t *letters;
	size_t size;

	*ran = (struct gus_stacks_ran){ .windows = gus_cursor_varint(c) };
	ran->taken = (unsigned)gus_cursor_varint(c);
	ran->failed = (unsigned)gus_cursor_varint(c);
	size = gus_cursor_varint(c);
	letters = gus_cursor_take(c, size);
	if (letters && size < sizeof(ran->first))
		memcpy(ran->first, letters, size);
	ran->partly = gus_cursor_varint(c);
	ran->left_out = gus_cursor_varint(c);
}

bool gus_stacks_kept_take(struct gus_stacks_kept *k, const struct gus_clues *clues, struct gus_stacks_accounts *a,
			  struct gus_stacks_ran *ran)
{
	struct gus_cursor *c = &k->body;

	take_ran(c, ran);
	*a = (struct gus_stacks_accounts){ .vs_model = gus_cursor_varint(c) };
	if (!gus_account_take(&a->account, clues, clues->weight, c))
		return false;
	a->of_model = gus_clues_of_model(clues);
	if ((a->vs_model && !gus_account_take(&a->modelled, &a->of_model, a->account.explained, c)) ||
	    gus_cursor_left(c)) {
		a->vs_model &= !c->bad;
		gus_stacks_accounts_free(a);
		return false;
	}
	return true;
}

void gus_stacks_accounts_free(struct gus_stacks_accounts *a)
{
	if (a->vs_model)
		gus_account_free(&a->modelled);
	gus_account_free(&a->account);
}

/* Files that code which was executed is from. */
static void put_files(struct gus_bytes *out, const struct gus_account *a)
{
	struct gus_strings files;

	gus_strings_init(&files);
	for (size_t i = 0; i < a->places.n; i++)
		if (a->places.v[i].executed && *a->places.v[i].module == '/')
			gus_strings_add(&files, a->places.v[i].module);
	gus_bytes_varint(out, files.n - 1);
	for (uint32_t i = 1; i < files.n; i++) {
		const struct gus_identity now = gus_identity_at(gus_strings_get(&files, i));

		put_text(out, gus_strings_get(&files, i));
		gus_vec_append(out, (const uint8_t *)&now, sizeof(now));
	}
	gus_strings_free(&files);
}

/* Whether all that was read since is of the bytes of the key. */
static bool is_as_it_was(const struct gus_stacks_kept *k)
{
	const struct gus_identity now = gus_identity_at(k->path);

	return memcmp(&now, &k->recording, sizeof(now)) == 0;
}

void gus_stacks_kept_put(struct gus_stacks_kept *k, const struct gus_stacks_accounts *a,
			 const struct gus_stacks_ran *ran)
{
	struct gus_error err = { 0 };
	struct gus_bytes out = { 0 };
	const uint32_t version = VERSION;
	uint64_t sum;

	if (!k)
		return;
	if (!is_as_it_was(k)) {
		gus_log(k->log, GUS_DEBUG, "stacks are not remembered: the recording has changed meanwhile");
		return;
	}
	gus_vec_append(&out, (const uint8_t *)magic, sizeof(magic));
	gus_vec_append(&out, (const uint8_t *)&version, sizeof(version));
	gus_vec_append(&out, (const uint8_t *)&k->key, sizeof(k->key));
	put_files(&out, &a->account);
	put_ran(&out, ran);
	gus_bytes_varint(&out, a->vs_model);
	gus_account_put(&out, &a->account);
	if (a->vs_model)
		gus_account_put(&out, &a->modelled);
	sum = XXH3_64bits(out.v, out.n);
	gus_vec_append(&out, (const uint8_t *)&sum, sizeof(sum));
	if (out.n > GUS_LIMIT_CACHE_STACKS)
		gus_log(k->log, GUS_DEBUG, "stacks are not remembered: they are too large");
	else if (gus_store_write(k->store, k->name, out.v, out.n, &err) != 0)
		gus_log(k->log, GUS_DEBUG, "stacks are not remembered: %s", err.text);
	gus_vec_free(&out);
}
