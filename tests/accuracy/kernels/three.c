/* SPDX-License-Identifier: MIT */
/* Runs one of the three kernels: `three NAME PASSES`. All of a kernel's data fit into 32 KiB, and its rows are long: a
 * cube of so much has rows of a dozen numbers, of which a vector loop is hardly any part. */
#include <string.h>

#include "chance.h"
#include "three.h"

enum { PLANES = 4, ROWS = 4, LONG = 100, QS = 4, PS = 44, LINE = 1500 };

static double *room(size_t n)
{
	double *r = chance_room(n, sizeof(*r));

	for (size_t i = 0; i < n; i++)
		r[i] = chance_real();
	return r;
}

static double heat(unsigned passes)
{
	double (*a)[ROWS][LONG] = (void *)room(PLANES * ROWS * LONG);
	double (*b)[ROWS][LONG] = (void *)room(PLANES * ROWS * LONG);
	double sum;

	for (; passes; passes--) {
		heat_3d(PLANES, ROWS, LONG, a, b);
		heat_3d(PLANES, ROWS, LONG, b, a);
	}
	sum = a[1][1][1];
	free(a);
	free(b);
	return sum;
}

/* What is added is small enough that a million passes do not overflow. */
static double tensor(unsigned passes)
{
	double (*a)[QS][PS] = (void *)room(QS * PS), (*sum)[QS][PS] = (void *)room(QS * PS);
	double (*c)[PS] = (void *)room(PS * PS);
	double found;

	for (; passes; passes--)
		doitgen(1, QS, PS, a, c, sum);
	found = sum[0][1][1];
	free(a);
	free(c);
	free(sum);
	return found;
}

static double line(unsigned passes)
{
	double *a = room(LINE), *b = room(LINE), sum;

	for (; passes; passes--) {
		jacobi_1d(LINE, a, b);
		jacobi_1d(LINE, b, a);
	}
	sum = a[1];
	free(a);
	free(b);
	return sum;
}

int main(int argc, char **argv)
{
	static const struct { const char *name; double (*run)(unsigned passes); } kernels[] = {
		{ "heat-3d", heat }, { "doitgen", tensor }, { "jacobi-1d", line },
	};

	for (size_t i = 0; argc == 3 && i < sizeof(kernels) / sizeof(*kernels); i++)
		if (strcmp(argv[1], kernels[i].name) == 0) {
			printf("%s %.12g\n", argv[1], kernels[i].run(chance_passes(argc - 1, argv + 1)));
			return 0;
		}
	fputs("usage: three heat-3d|doitgen|jacobi-1d PASSES\n", stderr);
	return 99;
}
