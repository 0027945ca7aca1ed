/* SPDX-License-Identifier: MIT */
/* JSON: `json PASSES`. A text of some 700 KiB is made, read into a tree of values by a function for each kind of value,
 * walked, and freed. What the next letter is decides nearly all branches. */
#include <string.h>

#include "chance.h"

enum { RECORDS = 4000, ROOM = 1 << 20 };

enum kind { NONE, BOOLEAN, NUMBER, TEXT, LIST, OBJECT };

struct value {
	enum kind kind;
	double number;       /* of a boolean, 0 or 1 */
	char *text;
	char *name;          /* in an object */
	struct value *first; /* of a list or object */
	struct value *next;  /* in one */
};

static struct value *read_value(const char **at);

static void pass_blanks(const char **at)
{
	while (**at == ' ' || **at == '\n' || **at == '\t' || **at == '\r')
		++*at;
}

static _Noreturn void bad(const char *at)
{
	fprintf(stderr, "json: what is this: %.20s\n", at);
	exit(1);
}

static char *read_text(const char **at)
{
	const char *p = *at + 1, *end = p;
	char *text, *to;

	while (*end != '"')
		end += *end == '\\' ? 2 : *end ? 1 : (bad(*at), 0);
	to = text = chance_room((size_t)(end - p) + 1, 1);
	for (; p < end; p++)
		*to++ = *p != '\\' ? *p : *++p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
	*at = end + 1;
	return text;
}

static double read_number(const char **at)
{
	const char *p = *at;
	double sign = *p == '-' ? -1 : 1, n = 0, place = 1;

	for (p += *p == '-'; *p >= '0' && *p <= '9'; p++)
		n = 10 * n + (*p - '0');
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++)
			n += (place /= 10) * (*p - '0');
	if (p == *at)
		bad(p);
	*at = p;
	return sign * n;
}

/* A list or an object, from its bracket to `close`. */
static struct value *read_members(const char **at, char close)
{
	struct value *first = NULL, **last = &first;

	++*at;
	for (pass_blanks(at); **at != close; pass_blanks(at)) {
		char *name = NULL;

		if (close == '}') {
			if (**at != '"')
				bad(*at);
			name = read_text(at);
			pass_blanks(at);
			if (*(*at)++ != ':')
				bad(*at - 1);
		}
		*last = read_value(at);
		(*last)->name = name;
		last = &(*last)->next;
		pass_blanks(at);
		if (**at == ',')
			++*at;
		else if (**at != close)
			bad(*at);
	}
	++*at;
	return first;
}

static int word(const char **at, const char *text)
{
	size_t n = strlen(text);

	if (strncmp(*at, text, n) != 0)
		return 0;
	*at += n;
	return 1;
}

static struct value *read_value(const char **at)
{
	struct value *v = chance_room(1, sizeof(*v));

	pass_blanks(at);
	if (**at == '{') {
		v->kind = OBJECT;
		v->first = read_members(at, '}');
	} else if (**at == '[') {
		v->kind = LIST;
		v->first = read_members(at, ']');
	} else if (**at == '"') {
		v->kind = TEXT;
		v->text = read_text(at);
	} else if (word(at, "null")) {
		v->kind = NONE;
	} else if (word(at, "true")) {
		v->kind = BOOLEAN;
		v->number = 1;
	} else if (word(at, "false")) {
		v->kind = BOOLEAN;
	} else {
		v->kind = NUMBER;
		v->number = read_number(at);
	}
	return v;
}

static double weigh(const struct value *v)
{
	double sum = v->number + v->kind;

	for (const char *p = v->text; p && *p; p++)
		sum += *p & 7;
	for (const struct value *m = v->first; m; m = m->next)
		sum += weigh(m) * (m->name && m->name[0] == 's' ? 2 : 1);
	return sum;
}

static void drop(struct value *v)
{
	while (v) {
		struct value *next = v->next;

		drop(v->first);
		free(v->text);
		free(v->name);
		free(v);
		v = next;
	}
}

static char *write_record(char *p)
{
	static const char *const moods[] = { "true", "false", "null", "\"an \\\"odd\\\" one\\n\"" };

	p += sprintf(p, "{ \"id\": %u, \"score\": %.3f, \"mood\": %s, \"tags\": [", chance_below(1000000),
		     1000 * chance_real() - 500, moods[chance_below(4)]);
	for (uint32_t n = chance_below(6); n; n--)
		p += sprintf(p, "\"%c%c%u\"%s", 'a' + chance_below(26), 'a' + chance_below(26), chance_below(5000),
			     n > 1 ? ", " : "");
	p += sprintf(p, "],\n\t\"size\": { \"w\": %u, \"h\": %u }, \"points\": [", chance_below(100),
		     chance_below(100));
	for (uint32_t n = chance_below(8); n; n--)
		p += sprintf(p, "%.2f%s", chance_real(), n > 1 ? "," : "");
	return p + sprintf(p, "] }");
}

int main(int argc, char **argv)
{
	char *text = chance_room(ROOM, 1), *end = text;
	double sum = 0;

	*end++ = '[';
	for (int i = 0; i < RECORDS; i++) {
		end = write_record(end);
		*end++ = i < RECORDS - 1 ? ',' : ']';
		*end++ = '\n';
	}
	for (unsigned left = chance_passes(argc, argv); left; left--) {
		const char *at = text;
		struct value *v = read_value(&at);

		sum += weigh(v);
		drop(v);
	}
	printf("json %td %.9g\n", end - text, sum);
	free(text);
	return 0;
}
