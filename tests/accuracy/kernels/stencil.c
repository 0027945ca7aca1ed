/* SPDX-License-Identifier: MIT */
/* Heat in a cube by seven points: `stencil STEPS`. 80^3 doubles twice, 8 MiB: each point is read in three planes, of
 * which L2 holds some; loads and stores are streams. */
#include "chance.h"

enum { N = 80 };

typedef double cube[N][N][N];

static void step(cube from, cube to)
{
	for (int i = 1; i < N - 1; i++)
		for (int j = 1; j < N - 1; j++)
			for (int k = 1; k < N - 1; k++)
				to[i][j][k] = 0.4 * from[i][j][k] +
					0.1 * (from[i - 1][j][k] + from[i + 1][j][k] + from[i][j - 1][k] +
					       from[i][j + 1][k] + from[i][j][k - 1] + from[i][j][k + 1]);
}

int main(int argc, char **argv)
{
	cube *room = chance_room(2, sizeof(*room));
	unsigned steps = chance_passes(argc, argv);
	double sum = 0;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			for (int k = 0; k < N; k++)
				room[0][i][j][k] = room[1][i][j][k] = chance_real();
	for (unsigned t = 0; t < steps; t++)
		step(room[t % 2], room[(t + 1) % 2]);
	for (int i = 0; i < N; i++)
		sum += room[steps % 2][i][i][i];
	printf("stencil %.12g\n", sum);
	free(room);
	return 0;
}
