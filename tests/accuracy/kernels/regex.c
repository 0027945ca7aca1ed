/* SPDX-License-Identifier: MIT */
/* Regular expressions: `regex PASSES`. An expression of letters, '.', '|', '*', '+' and brackets is made into a machine
 * of states, all of which that can be are followed at once over 48 KiB of text, letter by letter. */
#include <string.h>

#include "chance.h"

enum { TEXT = 48 << 10, STATES = 128 };

enum kind { LETTER, ANY, FORK, MATCH };

struct state { enum kind kind; char letter; uint8_t next, other; };

struct machine { struct state states[STATES]; uint8_t n, start; };

/* A piece of a machine: where it starts, and the state that it leaves by, whose `next` is not known yet. */
struct piece { uint8_t start, end; };

static uint8_t state_add(struct machine *m, enum kind kind, char letter, uint8_t next, uint8_t other)
{
	m->states[m->n] = (struct state){ kind, letter, next, other };
	return m->n++;
}

static struct piece choice(struct machine *m, const char **at);

static struct piece atom(struct machine *m, const char **at)
{
	char c = *(*at)++;
	struct piece p;

	if (c == '(') {
		p = choice(m, at);
		++*at;
		return p;
	}
	p.start = p.end = state_add(m, c == '.' ? ANY : LETTER, c, 0, 0);
	return p;
}

/* Pieces end in a fork whose `next` goes on and whose `other`, if it is not 0, goes back. */
static struct piece repeat(struct machine *m, const char **at)
{
	struct piece p = atom(m, at);

	while (**at == '*' || **at == '+') {
		uint8_t fork = state_add(m, FORK, 0, 0, p.start);

		m->states[p.end].next = fork;
		p = (struct piece){ **at == '*' ? fork : p.start, fork };
		++*at;
	}
	return p;
}

static struct piece sequence(struct machine *m, const char **at)
{
	struct piece p = repeat(m, at);

	while (**at && **at != '|' && **at != ')') {
		struct piece q = repeat(m, at);

		m->states[p.end].next = q.start;
		p.end = q.end;
	}
	return p;
}

static struct piece choice(struct machine *m, const char **at)
{
	struct piece p = sequence(m, at);

	while (**at == '|') {
		struct piece q;
		uint8_t end;

		++*at;
		q = sequence(m, at);
		end = state_add(m, FORK, 0, 0, 0);
		m->states[p.end].next = m->states[q.end].next = end;
		p = (struct piece){ state_add(m, FORK, 0, p.start, q.start), end };
	}
	return p;
}

/* State 0 is never a part, so that 0 is none. */
static void compile(struct machine *m, const char *expression)
{
	struct piece p;

	m->n = 1;
	p = choice(m, &expression);
	m->states[p.end].next = state_add(m, MATCH, 0, 0, 0);
	m->start = p.start;
}

struct set { uint8_t v[STATES], n; uint32_t marked[STATES]; };

static void follow(const struct machine *m, struct set *set, uint8_t state, uint32_t mark)
{
	if (state == 0 || set->marked[state] == mark)
		return;
	set->marked[state] = mark;
	if (m->states[state].kind == FORK) {
		follow(m, set, m->states[state].next, mark);
		follow(m, set, m->states[state].other, mark);
	} else {
		set->v[set->n++] = state;
	}
}

/* How many places of the text a match ends at. */
static uint32_t matches(const struct machine *m, const char *text)
{
	static struct set sets[2];
	uint32_t found = 0, mark = 1;

	memset(sets, 0, sizeof(sets));
	for (uint32_t i = 0; text[i]; i++) {
		struct set *from = &sets[i % 2], *to = &sets[(i + 1) % 2];

		follow(m, from, m->start, mark++);
		to->n = 0;
		for (uint32_t k = 0; k < from->n; k++) {
			const struct state *s = &m->states[from->v[k]];

			if (s->kind == MATCH)
				found++;
			else if (s->kind == ANY || s->letter == text[i])
				follow(m, to, s->next, mark);
		}
	}
	return found;
}

int main(int argc, char **argv)
{
	static const char *const expressions[] = {
		"th(e|a)+n*", "(a|b|c)*d(e|f)", "st.*(ing|ed) ", "(ab|ba)+.c", "e(l|r)+(o|i)*n|at*e",
	};
	static const char letters[] = "etaoinshrdlubcfg ";
	static struct machine machine;
	char *text = chance_room(TEXT + 1, 1);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < TEXT; i++)
		text[i] = i % 80 == 79 ? '\n' : letters[chance_below(chance() & 1 ? sizeof(letters) - 1 : 6)];
	for (unsigned left = chance_passes(argc, argv); left; left--)
		for (size_t i = 0; i < sizeof(expressions) / sizeof(*expressions); i++) {
			compile(&machine, expressions[i]);
			sum = sum * 31 + matches(&machine, text);
		}
	printf("regex %llu\n", (unsigned long long)sum);
	free(text);
	return 0;
}
