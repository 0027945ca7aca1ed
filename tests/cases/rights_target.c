/* SPDX-License-Identifier: MIT */
/* What tests/cases/rights.sh has others run: it computes for as many thousand steps as its argument says, or for ever.
 * Its debug information says that the loop stands in a file whose name is the long one below, which the case overwrites
 * with one of the same length. FUNCTION, from the command line, is what the loop's function is called. */
#include <stdlib.h>

static volatile unsigned long sum;

__attribute__((noinline)) void FUNCTION(unsigned long steps);

#line 1 "/the-name-of-a-source-that-the-case-chooses-________________________________________________________________"
void FUNCTION(unsigned long steps)
{
	for (unsigned long i = 0; i < steps; i++)
		sum += i * i;
}

int main(int argc, char **argv)
{
	unsigned long left = argc > 1 ? strtoul(argv[1], NULL, 10) : ~0ul;

	for (; left; left--)
		FUNCTION(1000);
	return 0;
}
