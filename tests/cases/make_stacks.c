/* SPDX-License-Identifier: MIT */
/* `make-stacks FILE [FIRST SECOND]`: the recording of tests/unit/made_stacks, for cases; and as many samples in each of
 * two functions of a kernel whose code nobody has. */
#include <stdlib.h>

#include "tests/unit/made_stacks.h"

int main(int argc, char **argv)
{
	struct gus_columns samples = { 0 };
	struct made_machine k;
	bool good;

	made_run(&k, &samples);
	for (int i = 2; i < argc; i++)
		for (int n = atoi(argv[i]); n > 0; n--)
			made_kernel_sample(&samples, i == 2 ? 0x10 : 0x1010);
	good = (argc == 2 || argc == 4) && made_write(argv[1], &samples, MADE_BRANCH_ANY);
	gus_columns_free(&samples);
	return !good;
}
