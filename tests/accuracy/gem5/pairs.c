/* SPDX-License-Identifier: MIT */
/* Forces between pairs of atoms, eight at a time: `pairs ROUNDS`. Each pair is a chain of a dozen vector instructions,
 * from the distance through two steps of Newton's method for its inverse to the force, and no pair waits for another
 * one but to be added up: how many pairs are under way decides how much of their latency is hidden. Between rounds the
 * list is looked through with integers, as a list of neighbours is. */
#include "../kernels/chance.h"

enum { ATOMS = 512 };

typedef float lane __attribute__((vector_size(32)));
struct atoms { lane x, y, z, charge, guess; };

__attribute__((noinline)) void pairs(const struct atoms *restrict list, long n, const lane *from, lane *restrict force)
{
	const lane x = from[0], y = from[1], z = from[2], c6 = from[3], c12 = from[4];
	lane fx = force[0], fy = force[1], fz = force[2];

	for (long i = 0; i < n; i++) {
		lane dx = x - list[i].x, dy = y - list[i].y, dz = z - list[i].z;
		lane square = dx * dx + dy * dy + dz * dz, by = list[i].guess, f, six;

		by = by * (1.5f - 0.5f * square * by * by);
		by = by * (1.5f - 0.5f * square * by * by);
		f = by * by;
		six = f * f * f;
		f *= (c12 * six - c6) * six + list[i].charge * by;
		fx += f * dx;
		fy += f * dy;
		fz += f * dz;
	}
	force[0] = fx;
	force[1] = fy;
	force[2] = fz;
}

/* How many numbers of a list are near another one. */
__attribute__((noinline)) uint32_t neighbours(const uint32_t *list, uint32_t n)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i < n; i++)
		found = (found ^ list[i]) * 5 + (list[i] - list[i - 1] < 1 << 20);
	return found;
}

int main(int argc, char **argv)
{
	struct atoms *list = aligned_alloc(64, ATOMS * sizeof(*list));
	uint32_t *near = chance_room(8 * ATOMS, sizeof(*near)), found = 0;
	lane from[5], force[3] = { { 0 } };

	if (!list)
		return 99;
	for (unsigned i = 0; i < 8 * ATOMS; i++)
		near[i] = (uint32_t)chance();
	for (unsigned i = 0; i < 8; i++) {
		for (unsigned k = 0; k < ATOMS; k++) {
			list[k].x[i] = (float)chance_real() + 1;
			list[k].y[i] = (float)chance_real() + 1;
			list[k].z[i] = (float)chance_real() + 1;
			list[k].charge[i] = (float)chance_real();
			list[k].guess[i] = 0.5f;
		}
		for (unsigned k = 0; k < 5; k++)
			from[k][i] = k < 3 ? 0 : 1e-3f;
	}
	for (unsigned left = chance_passes(argc, argv); left; left--) {
		pairs(list, ATOMS, from, force);
		found += neighbours(near, 8 * ATOMS);
	}
	printf("%u near, %g\n", found, (double)force[0][0]);
	free(list);
	free(near);
	return 0;
}
