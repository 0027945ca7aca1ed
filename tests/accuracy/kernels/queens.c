/* SPDX-License-Identifier: MIT */
/* Queens that do not see each other: `queens SIDE PASSES`. Row by row, with what is seen of the next row as bits;
 * little more than branches and calls, all in registers and on the stack. */
#include "chance.h"

static uint64_t place(uint32_t free_columns, uint32_t columns, uint32_t left, uint32_t right)
{
	uint64_t found = 0;

	if (!free_columns)
		return 1;
	for (uint32_t open = free_columns & ~(left | right); open; open &= open - 1) {
		uint32_t queen = open & -open;

		found += place(free_columns ^ queen, columns, ((left | queen) << 1) & columns, (right | queen) >> 1);
	}
	return found;
}

int main(int argc, char **argv)
{
	unsigned side = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 8;
	uint32_t columns = (1u << side) - 1;
	uint64_t sum = 0;

	for (unsigned left = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1; left; left--)
		sum += place(columns, columns, 0, 0);
	printf("queens %llu\n", (unsigned long long)sum);
	return 0;
}
