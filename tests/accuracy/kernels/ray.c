/* SPDX-License-Identifier: MIT */
/* A picture of balls that mirror each other: `ray ROWS`, of 320 pixels. For each ray the nearest of 40 balls, the light
 * that falls there if no ball is before it, and what is seen in the mirror, four deep. Which ball is hit is hard to
 * predict. */
#include <math.h>

#include "chance.h"

enum { BALLS = 40, WIDTH = 320, DEPTH = 4 };

struct vector { double x, y, z; };
struct ball { struct vector at; double radius, colour, mirror; };

static struct ball balls[BALLS];
static const struct vector sun = { 0.57735, 0.57735, -0.57735 };

static struct vector along(struct vector from, double t, struct vector way)
{
	return (struct vector){ from.x + t * way.x, from.y + t * way.y, from.z + t * way.z };
}

static double dot(struct vector a, struct vector b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static struct vector unit(struct vector a)
{
	return along((struct vector){ 0, 0, 0 }, 1 / sqrt(dot(a, a)), a);
}

/* How far along a way of length 1 a ball is met: the lesser root of |from + t way - at|^2 = radius^2; -1 if never. */
static double meet(const struct ball *b, struct vector from, struct vector way)
{
	struct vector to = along(b->at, -1, from);
	double middle = dot(to, way), square = middle * middle - dot(to, to) + b->radius * b->radius;
	double t;

	if (square < 0)
		return -1;
	t = middle - sqrt(square);
	return t > 1e-6 ? t : -1;
}

static const struct ball *nearest(struct vector from, struct vector way, double *far)
{
	const struct ball *found = NULL;

	for (int i = 0; i < BALLS; i++) {
		double t = meet(&balls[i], from, way);

		if (t > 0 && (!found || t < *far)) {
			found = &balls[i];
			*far = t;
		}
	}
	return found;
}

static double seen(struct vector from, struct vector way, int depth)
{
	double far, none, light;
	const struct ball *ball = nearest(from, way, &far);
	struct vector at, normal;

	if (!ball)
		return 0.2 + 0.2 * way.y;
	at = along(from, far, way);
	normal = unit(along(at, -1, ball->at));
	light = dot(normal, sun);
	light = light > 0 && !nearest(at, sun, &none) ? ball->colour * light : 0;
	if (depth == 0)
		return light;
	return light + ball->mirror * seen(at, along(way, -2 * dot(way, normal), normal), depth - 1);
}

int main(int argc, char **argv)
{
	unsigned rows = chance_passes(argc, argv);
	double sum = 0;

	for (int i = 0; i < BALLS; i++)
		balls[i] = (struct ball){ { 4 * chance_real() - 2, 3 * chance_real() - 1.5, 2 + 4 * chance_real() },
					  0.2 + 0.4 * chance_real(), chance_real(), 0.3 + 0.5 * chance_real() };
	for (unsigned y = 0; y < rows; y++)
		for (unsigned x = 0; x < WIDTH; x++) {
			/* The rows are of a picture of 240, taken in an order that mixes what they show. */
			double height = (y * 97 % 240 - 120.) / 240, width = (x - WIDTH / 2.) / 240;

			sum += seen((struct vector){ 0, 0, 0 }, unit((struct vector){ width, height, 0.8 }), DEPTH);
		}
	printf("ray %.9g\n", sum);
	return 0;
}
