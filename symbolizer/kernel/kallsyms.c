/* SPDX-License-Identifier: MIT */
#include "symbolizer/kernel/kallsyms.h"

#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* The number at *at, which moves behind it; no digits are 0. */
static uint64_t read_hex(const char **at, const char *end)
{
	uint64_t value = 0;

	for (; *at < end && hex_digit(**at) >= 0; ++*at)
		value = value << 4 | (uint64_t)hex_digit(**at);
	return value;
}

static const char *find(const char *at, const char *end, char c)
{
	const char *found = memchr(at, c, (size_t)(end - at));

	return found ? found : end;
}

static bool parse_line(const char *at, const char *end, struct gus_kallsym *symbol)
{
	const char *start = at, *name_end, *module;
	char type;

	symbol->address = read_hex(&at, end);
	if (at == start || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return false;
	type = at[1];
	if (!type || !strchr("tTwW", type) || memchr(at, '\0', (size_t)(end - at)))
		return false;
	symbol->global = type == 'T';
	symbol->weak = type == 'W' || type == 'w';
	symbol->name = at + 3;
	name_end = find(symbol->name, end, '\t');
	symbol->name_length = (uint32_t)(name_end - symbol->name);
	symbol->module = NULL;
	symbol->module_length = 0;
	module = find(name_end, end, '[');
	if (module < end) {
		symbol->module = module + 1;
		symbol->module_length = (uint32_t)(find(module, end, ']') - module - 1);
	}
	return symbol->name_length != 0;
}

static int by_address(const void *left, const void *right)
{
	const struct gus_kallsym *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void gus_kallsyms_parse(struct gus_kallsyms *k, const char *text, size_t size)
{
	const char *end = text + size;
	struct gus_kallsym symbol = { 0 };
	uint64_t seen = 0;

	*k = (struct gus_kallsyms){ 0 };
	for (const char *line = text, *next; line < end; line = next < end ? next + 1 : end) {
		next = find(line, end, '\n');
		if (!parse_line(line, next, &symbol))
			continue;
		symbol.order = (uint32_t)k->list.n;
		seen |= symbol.address;
		gus_vec_push(&k->list, symbol);
	}
	k->hidden = k->list.n && !seen;
	if (k->list.n)
		qsort(k->list.v, k->list.n, sizeof(*k->list.v), by_address);
}

void gus_kallsyms_free(struct gus_kallsyms *k)
{
	gus_vec_free(&k->list);
}
