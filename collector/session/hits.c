/* SPDX-License-Identifier: MIT */
#include "collector/session/hits.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/ascending.h"

#define CHUNK (256 << 10)

/* The best symbol so far for a sampled address: the last one at or below it, and where the next one begins. */
struct cover {
	uint64_t start, next;
	char *rest;      /* of its line: "TYPE NAME[\t[MODULE]]"; reused, because nearly every line is a better one */
	size_t room;
	int rank;
};

/* Reading state. The file is about 200,000 lines of ascending addresses with the modules behind, in no order. */
struct scan {
	const uint64_t *addresses; /* sorted */
	struct cover *covers;      /* one each */
	size_t n, hint;
	bool visible;              /* there was an address that was not hidden */
	uint64_t text_start, text_end; /* of the kernel itself; 0 if not told */
};

void gus_hits_init(struct gus_hits *k)
{
	gus_index_init(&k->addresses, sizeof(uint64_t));
}

void gus_hits_free(struct gus_hits *k)
{
	gus_index_free(&k->addresses);
}

/* How many addresses are below a; mostly the same as for the line before, or one more. */
static size_t lower_bound(struct scan *s, uint64_t a)
{
	size_t low = 0, high = s->n;

	if ((s->hint == 0 || s->addresses[s->hint - 1] < a) && (s->hint == s->n || s->addresses[s->hint] >= a))
		return s->hint;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->addresses[middle] < a)
			low = middle + 1;
		else
			high = middle;
	}
	s->hint = low;
	return low;
}

/* Text symbols, local and global, weak ones and indirect functions. Of several names at one address a global one is
 * what people know; a name of data ends the function before it. */
static int rank_of(char type)
{
	return strchr("TW", type) ? 3 : strchr("tw", type) ? 2 : strchr("iI", type) ? 1 : 0;
}

static void keep_line(struct cover *c, uint64_t start, int rank, const char *rest, size_t length)
{
	if (length >= c->room) {
		c->room = length + 64;
		c->rest = gus_resize(c->rest, c->room, 1);
	}
	memcpy(c->rest, rest, length);
	c->rest[length] = '\0';
	c->start = start;
	c->rank = rank;
}

/* Where the kernel itself is, which boots place anew. */
static void note_text(struct scan *s, uint64_t address, const char *name, size_t length)
{
	if (length == strlen("_text") && memcmp(name, "_text", length) == 0)
		s->text_start = address;
	else if (length == strlen("_etext") && memcmp(name, "_etext", length) == 0)
		s->text_end = address;
}

/* One line, "ADDRESS TYPE NAME[\t[MODULE]]". A symbol is noted only at the first sampled address that is not below it,
 * and as the end of the last one below it; spread() carries that on to those before. */
static void take_line(struct scan *s, const char *line, const char *end)
{
	uint64_t address = 0;
	size_t at;
	int rank;

	for (; line < end && isxdigit((unsigned char)*line); line++)
		address = address << 4 | (uint64_t)(*line <= '9' ? *line - '0' : (*line | 0x20) - 'a' + 10);
	/* What is kept is text: a byte of zero would end it, before its name has begun. */
	if (end - line < 4 || line[0] != ' ' || line[2] != ' ' || line[3] == '$' ||
	    memchr(line, '\0', (size_t)(end - line)))
		return;
	s->visible |= address != 0;
	note_text(s, address, line + 3, (size_t)(end - line - 3));
	at = lower_bound(s, address);
	if (at && (!s->covers[at - 1].next || s->covers[at - 1].next > address))
		s->covers[at - 1].next = address;
	if (at == s->n || !address)
		return;
	rank = rank_of(line[1]);
	if (address > s->covers[at].start || (address == s->covers[at].start && rank > s->covers[at].rank))
		keep_line(&s->covers[at], address, rank, line + 1, (size_t)(end - line - 1));
}

static int read_lines(struct scan *s, int fd)
{
	char *buffer = gus_alloc(CHUNK);
	size_t have = 0;
	ssize_t got;
	int sys = 0;

	while ((got = read(fd, buffer + have, CHUNK - have)) != 0) {
		char *line = buffer, *end;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			sys = errno;
			break;
		}
		have += (size_t)got;
		while ((end = memchr(line, '\n', have - (size_t)(line - buffer)))) {
			take_line(s, line, end);
			line = end + 1;
		}
		have -= (size_t)(line - buffer);
		memmove(buffer, line, have);
		if (have == CHUNK)
			have = 0; /* a line as long as this is none of kallsyms' */
	}
	free(buffer);
	return sys;
}

/* Where no symbol was noted the last one below goes on, so that its end is the one of those above. */
static void spread(struct scan *s)
{
	for (size_t i = s->n - 1; i-- > 0;)
		if (!s->covers[i].next)
			s->covers[i].next = s->covers[i + 1].next;
}

static Gusprof__Symbol *make_symbol(const struct cover *c)
{
	Gusprof__Symbol *symbol = gus_alloc(sizeof(*symbol));
	const char *name = c->rest + 2, *tab = strchr(name, '\t');

	gusprof__symbol__init(symbol);
	symbol->address = c->start;
	symbol->size = c->next ? c->next - c->start : 0;
	symbol->name = tab ? gus_strndup(name, (size_t)(tab - name)) : gus_strdup(name);
	if (tab && tab[1] == '[')
		symbol->module = gus_strndup(tab + 2, strcspn(tab + 2, "]"));
	return symbol;
}

/* A symbol stands once, at the first of the sampled addresses that it covers. */
static void make_message(const struct scan *s, Gusprof__KernelSymbols *m)
{
	m->symbols = gus_alloc(s->n * sizeof(*m->symbols));
	for (size_t i = 0; i < s->n; i++)
		if (s->covers[i].start && s->covers[i].rank)
			m->symbols[m->n_symbols++] = make_symbol(&s->covers[i]);
}

Gusprof__KernelSymbols *gus_hits_symbols(const struct gus_hits *k, const char *path)
{
	struct scan s = { .n = k->addresses.n };
	Gusprof__KernelSymbols *m;
	uint64_t *addresses;
	int fd, sys;

	if (!s.n)
		return NULL;
	addresses = gus_alloc(s.n * sizeof(*addresses));
	memcpy(addresses, k->addresses.keys, s.n * sizeof(*addresses));
	qsort(addresses, s.n, sizeof(*addresses), gus_ascending_u64);
	s.addresses = addresses;
	s.covers = gus_zalloc(s.n * sizeof(*s.covers));
	m = gus_alloc(sizeof(*m));
	gusprof__kernel_symbols__init(m);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	sys = fd < 0 ? errno : read_lines(&s, fd);
	if (fd >= 0)
		close(fd);
	spread(&s);
	m->text_start = s.text_start;
	m->text_end = s.text_end;
	if (s.visible)
		make_message(&s, m);
	else if (sys)
		m->refusal = gus_format("%s: %s", path, strerror(sys));
	else
		m->refusal = gus_format("%s hides addresses from this user (sysctl kernel.kptr_restrict)", path);
	for (size_t i = 0; i < s.n; i++)
		free(s.covers[i].rest);
	free(s.covers);
	free(addresses);
	return m;
}
