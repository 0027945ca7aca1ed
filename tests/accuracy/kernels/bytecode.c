/* SPDX-License-Identifier: MIT */
/* A machine of bytecode that counts primes: `bytecode PASSES`. Sixteen registers, a word for each instruction, one
 * jump through a table for all of them, as interpreters have it. */
#include "chance.h"

enum { LIMIT = 20000 };

enum code { SET, MOVE, ADD, MULTIPLY, LOAD, STORE, LESS, BRANCH, JUMP, STOP };

struct word { uint8_t code, a, b, c; int32_t n; };

static uint64_t execute(const struct word *program, uint64_t *memory)
{
	uint64_t r[16] = { 0 };

	for (const struct word *w = program;; w++)
		switch (w->code) {
		case SET: r[w->a] = (uint64_t)w->n; break;
		case MOVE: r[w->a] = r[w->b]; break;
		case ADD: r[w->a] = r[w->b] + r[w->c]; break;
		case MULTIPLY: r[w->a] = r[w->b] * r[w->c]; break;
		case LOAD: r[w->a] = memory[r[w->b]]; break;
		case STORE: memory[r[w->a]] = r[w->b]; break;
		case LESS: r[w->a] = r[w->b] < r[w->c]; break;
		case BRANCH: w += r[w->a] ? w->n : 0; break;
		case JUMP: w += w->n; break;
		default: return r[w->a];
		}
}

/* r0 the number, r1 the limit, r2 one, r3 the count, r4 a flag, r5 a multiple, r6 zero. */
static const struct word primes[] = {
	{ SET, 0, 0, 0, 0 }, { SET, 1, 0, 0, LIMIT }, { SET, 2, 0, 0, 1 }, { SET, 3, 0, 0, 0 }, { SET, 6, 0, 0, 0 },
	/* 5: all places are 0 */
	{ STORE, 0, 6, 0, 0 }, { ADD, 0, 0, 2, 0 }, { LESS, 4, 0, 1, 0 }, { BRANCH, 4, 0, 0, -4 },
	{ SET, 0, 0, 0, 2 },
	/* 10: is it struck out? */
	{ LOAD, 4, 0, 0, 0 }, { BRANCH, 4, 0, 0, 7 },
	{ ADD, 3, 3, 2, 0 }, { MULTIPLY, 5, 0, 0, 0 }, { JUMP, 0, 0, 0, 2 },
	/* 15: strike out the next multiple */
	{ STORE, 5, 2, 0, 0 }, { ADD, 5, 5, 0, 0 },
	{ LESS, 4, 5, 1, 0 }, { BRANCH, 4, 0, 0, -4 },
	/* 19: the next number */
	{ ADD, 0, 0, 2, 0 }, { LESS, 4, 0, 1, 0 }, { BRANCH, 4, 0, 0, -12 }, { STOP, 3, 0, 0, 0 },
};

int main(int argc, char **argv)
{
	static uint64_t memory[LIMIT];
	uint64_t sum = 0;

	for (unsigned left = chance_passes(argc, argv); left; left--)
		sum += execute(primes, memory);
	printf("bytecode %llu\n", (unsigned long long)sum);
	return 0;
}
