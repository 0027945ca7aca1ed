/* SPDX-License-Identifier: MIT */
/* The bytes, all integers little-endian or LEB128:
 *
 *	"gusnames" | u32 version | varint size, key
 *	varint n   | n strings:  varint size, letters
 *	varint n   | n calls:    varint name, file, line, around (an earlier one, from 1 on; 0 none)
 *	varint n   | n answers:  varint low - end of the one before, high - low, file, line, outer, call
 *	u64 XXH3 of all that */
#include "symbolizer/names/answers.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/cursor.h"
#include "base/limits.h"

static const char magic[8] = "gusnames"; /* without its NUL */
#define VERSION 1
#define CHECKSUM sizeof(uint64_t)

void gus_answers_init(struct gus_answers *a)
{
	*a = (struct gus_answers){ 0 };
	gus_strings_init(&a->strings);
	gus_index_init(&a->call_numbers, sizeof(struct gus_answer_call));
	gus_index_init(&a->fresh_lows, sizeof(uint64_t));
	gus_answers_call(a, &(struct gus_answer_call){ 0 });
}

void gus_answers_free(struct gus_answers *a)
{
	gus_strings_free(&a->strings);
	gus_index_free(&a->call_numbers);
	gus_index_free(&a->fresh_lows);
	gus_vec_free(&a->calls);
	gus_vec_free(&a->known);
	gus_vec_free(&a->fresh);
}

const struct gus_answer *gus_answers_find(const struct gus_answers *a, uint64_t address)
{
	size_t low = 0, high = a->known.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (a->known.v[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < a->known.v[low - 1].high ? &a->known.v[low - 1] : NULL;
}

uint32_t gus_answers_text(struct gus_answers *a, const char *text)
{
	size_t length = text ? strnlen(text, GUS_LIMIT_NAME) : 0;

	return length && length < GUS_LIMIT_NAME ? gus_strings_add_n(&a->strings, text, length) : 0;
}

const char *gus_answers_string(const struct gus_answers *a, uint32_t number)
{
	return number ? gus_strings_get(&a->strings, number) : NULL;
}

uint32_t gus_answers_call(struct gus_answers *a, const struct gus_answer_call *call)
{
	bool is_new;
	uint32_t number = gus_index_add(&a->call_numbers, call, &is_new);

	if (is_new)
		gus_vec_push(&a->calls, *call);
	return number;
}

void gus_answers_add(struct gus_answers *a, const struct gus_answer *answer)
{
	bool is_new = false;

	if (answer->low < answer->high)
		gus_index_add(&a->fresh_lows, &answer->low, &is_new);
	if (is_new)
		gus_vec_push(&a->fresh, *answer);
}

/* Reading. */

static bool read_head(struct gus_cursor *c, const void *key, size_t key_size)
{
	const uint8_t *mark = gus_cursor_take(c, sizeof(magic)), *own;
	uint32_t version = gus_cursor_u32(c);
	uint64_t size = gus_cursor_varint(c);

	own = size == key_size ? gus_cursor_take(c, key_size) : NULL;
	return !c->bad && own && memcmp(mark, magic, sizeof(magic)) == 0 && version == VERSION &&
	       memcmp(own, key, key_size) == 0;
}

static void read_strings(struct gus_answers *a, struct gus_cursor *c)
{
	uint64_t n = gus_cursor_count(c, 1);

	for (uint64_t i = 1; i <= n && !c->bad; i++) {
		uint32_t size = (uint32_t)gus_cursor_below(c, GUS_LIMIT_NAME);
		const uint8_t *letters = gus_cursor_take(c, size);

		/* One that came before, or has an end within, would not have been written. */
		if (letters && (memchr(letters, 0, size) ||
				gus_strings_add_n(&a->strings, (const char *)letters, size) != i))
			c->bad = true;
	}
}

static void read_calls(struct gus_answers *a, struct gus_cursor *c)
{
	uint64_t n = gus_cursor_count(c, 4);

	for (uint64_t i = 1; i <= n && !c->bad; i++) {
		struct gus_answer_call call;

		call.name = (uint32_t)gus_cursor_below(c, a->strings.n);
		call.file = (uint32_t)gus_cursor_below(c, a->strings.n);
		call.line = (uint32_t)gus_cursor_below(c, (uint64_t)UINT32_MAX + 1);
		call.around = (uint32_t)gus_cursor_below(c, i);
		if (!c->bad && gus_answers_call(a, &call) != i)
			c->bad = true;
	}
}

static void read_answers(struct gus_answers *a, struct gus_cursor *c)
{
	uint64_t n = gus_cursor_count(c, 6), end = 0;

	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint64_t distance = gus_cursor_varint(c), size = gus_cursor_varint(c);
		struct gus_answer answer;

		if (__builtin_add_overflow(end, distance, &answer.low) || !size ||
		    __builtin_add_overflow(answer.low, size, &answer.high))
			c->bad = true;
		answer.file = (uint32_t)gus_cursor_below(c, a->strings.n);
		answer.line = (uint32_t)gus_cursor_below(c, (uint64_t)UINT32_MAX + 1);
		answer.outer = (uint32_t)gus_cursor_below(c, a->strings.n);
		answer.call = (uint32_t)gus_cursor_below(c, a->calls.n);
		end = answer.high;
		if (!c->bad)
			gus_vec_push(&a->known, answer);
	}
}

bool gus_answers_read(struct gus_answers *a, const void *key, size_t key_size, const void *bytes, size_t size)
{
	struct gus_cursor c = gus_cursor(bytes, size), sum;

	if (size < CHECKSUM)
		return false;
	sum = gus_cursor((const uint8_t *)bytes + size - CHECKSUM, CHECKSUM);
	c.end -= CHECKSUM;
	if (gus_cursor_u64(&sum) != XXH3_64bits(bytes, size - CHECKSUM) || !read_head(&c, key, key_size))
		return false;
	read_strings(a, &c);
	read_calls(a, &c);
	read_answers(a, &c);
	if (!c.bad && !gus_cursor_left(&c))
		return true;
	gus_answers_free(a);
	gus_answers_init(a);
	return false;
}

/* Writing. */

struct bytes gus_vec(uint8_t);

static void put_varint(struct bytes *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		gus_vec_push(out, (uint8_t)(value | 0x80));
	gus_vec_push(out, (uint8_t)value);
}

static void put_fixed(struct bytes *out, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		gus_vec_push(out, (uint8_t)(value >> 8 * i));
}

static void put_text(struct bytes *out, const void *text, size_t size)
{
	put_varint(out, size);
	gus_vec_append(out, (const uint8_t *)text, size);
}

static int by_low(const void *left, const void *right)
{
	const struct gus_answer *a = left, *b = right;

	return a->low < b->low ? -1 : a->low > b->low;
}

/* Both kinds in their order. Ranges that overlap can only be those of files that could not be read as a whole. */
static struct gus_known_answers merge(const struct gus_answers *a)
{
	struct gus_known_answers fresh = { 0 }, all = { 0 };
	size_t old = 0, new = 0;

	gus_vec_append(&fresh, a->fresh.v, a->fresh.n);
	if (fresh.n)
		qsort(fresh.v, fresh.n, sizeof(*fresh.v), by_low);
	while (old < a->known.n || new < fresh.n) {
		bool is_old = old < a->known.n && (new == fresh.n || a->known.v[old].low < fresh.v[new].high);
		const struct gus_answer *next = is_old ? &a->known.v[old++] : &fresh.v[new++];

		if (!all.n || all.v[all.n - 1].high <= next->low)
			gus_vec_push(&all, *next);
	}
	gus_vec_free(&fresh);
	return all;
}

static void forget_fresh(struct gus_answers *a)
{
	a->fresh.n = 0;
	gus_index_free(&a->fresh_lows);
	gus_index_init(&a->fresh_lows, sizeof(uint64_t));
}

static uint32_t copy_text(struct gus_answers *a, const struct gus_answers *from, uint32_t text)
{
	return gus_answers_text(a, gus_answers_string(from, text));
}

/* Takes over the calls of another, which are numbered so that each stands behind the one around it. */
static uint32_t *copy_calls(struct gus_answers *a, const struct gus_answers *from)
{
	uint32_t *numbers = gus_zalloc(from->calls.n * sizeof(*numbers));

	for (size_t i = 1; i < from->calls.n; i++) {
		const struct gus_answer_call *call = &from->calls.v[i];

		numbers[i] = gus_answers_call(a, &(struct gus_answer_call){ .name = copy_text(a, from, call->name),
			.file = copy_text(a, from, call->file), .line = call->line, .around = numbers[call->around] });
	}
	return numbers;
}

void gus_answers_join(struct gus_answers *a, const struct gus_answers *others)
{
	uint32_t *calls = copy_calls(a, others);
	struct gus_known_answers all;

	for (size_t i = 0; i < others->fresh.n; i++) {
		struct gus_answer answer = others->fresh.v[i];

		answer.file = copy_text(a, others, answer.file);
		answer.outer = copy_text(a, others, answer.outer);
		answer.call = calls[answer.call];
		gus_answers_add(a, &answer);
	}
	free(calls);
	all = merge(a);
	gus_vec_free(&a->known);
	a->known = all;
	forget_fresh(a);
}

uint8_t *gus_answers_write(const struct gus_answers *a, const void *key, size_t key_size, size_t *size)
{
	struct gus_known_answers all = merge(a);
	struct bytes out = { 0 };
	uint64_t end = 0;

	gus_vec_append(&out, (const uint8_t *)magic, sizeof(magic));
	put_fixed(&out, VERSION, sizeof(uint32_t));
	put_text(&out, key, key_size);
	put_varint(&out, a->strings.n - 1);
	for (uint32_t i = 1; i < a->strings.n; i++)
		put_text(&out, a->strings.list[i].text, a->strings.list[i].length);
	put_varint(&out, a->calls.n - 1);
	for (size_t i = 1; i < a->calls.n; i++) {
		const struct gus_answer_call *call = &a->calls.v[i];

		put_varint(&out, call->name);
		put_varint(&out, call->file);
		put_varint(&out, call->line);
		put_varint(&out, call->around);
	}
	put_varint(&out, all.n);
	for (size_t i = 0; i < all.n; end = all.v[i++].high) {
		const struct gus_answer *answer = &all.v[i];

		put_varint(&out, answer->low - end);
		put_varint(&out, answer->high - answer->low);
		put_varint(&out, answer->file);
		put_varint(&out, answer->line);
		put_varint(&out, answer->outer);
		put_varint(&out, answer->call);
	}
	put_fixed(&out, XXH3_64bits(out.v, out.n), CHECKSUM);
	gus_vec_free(&all);
	*size = out.n;
	return out.v;
}
