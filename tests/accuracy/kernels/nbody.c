/* SPDX-License-Identifier: MIT */
/* Bodies that draw each other: `nbody STEPS`. 400 of them, each with each, by steps of velocity and place; square roots
 * and divisions, all in L1. */
#include <math.h>

#include "chance.h"

enum { BODIES = 400 };

struct body { double at[3], velocity[3], mass; };

static void pull(struct body *a, struct body *b, double dt)
{
	/* The 0.01 keeps bodies that meet from flying off. */
	double d[3], square = 0.01, force;

	for (int i = 0; i < 3; i++) {
		d[i] = b->at[i] - a->at[i];
		square += d[i] * d[i];
	}
	force = dt / (square * sqrt(square));
	for (int i = 0; i < 3; i++) {
		a->velocity[i] += d[i] * force * b->mass;
		b->velocity[i] -= d[i] * force * a->mass;
	}
}

static void step(struct body *bodies, double dt)
{
	for (int i = 0; i < BODIES; i++)
		for (int k = i + 1; k < BODIES; k++)
			pull(&bodies[i], &bodies[k], dt);
	for (int i = 0; i < BODIES; i++)
		for (int k = 0; k < 3; k++)
			bodies[i].at[k] += dt * bodies[i].velocity[k];
}

static double energy(const struct body *bodies)
{
	double sum = 0;

	for (int i = 0; i < BODIES; i++)
		for (int k = 0; k < 3; k++)
			sum += bodies[i].mass * bodies[i].velocity[k] * bodies[i].velocity[k] / 2;
	return sum;
}

int main(int argc, char **argv)
{
	static struct body bodies[BODIES];

	for (int i = 0; i < BODIES; i++) {
		bodies[i].mass = chance_real() / BODIES;
		for (int k = 0; k < 3; k++)
			bodies[i].at[k] = chance_real() - 0.5;
	}
	for (unsigned left = chance_passes(argc, argv); left; left--)
		step(bodies, 0.001);
	printf("nbody %.12g\n", energy(bodies));
	return 0;
}
