/* SPDX-License-Identifier: MIT */
/* `make-stacks FILE`: the recording of tests/unit/made_stacks, for cases. */
#include "tests/unit/made_stacks.h"

int main(int argc, char **argv)
{
	struct gus_columns samples = { 0 };
	struct made_machine k;
	bool good;

	made_run(&k, &samples);
	good = argc == 2 && made_write(argv[1], &samples, MADE_BRANCH_ANY);
	gus_columns_free(&samples);
	return !good;
}
