/* SPDX-License-Identifier: MIT */
/* Deriche's filter, which smooths an image: each line by h(x) = k (a |x| + 1) exp(-a |x|), as the sum of two recursions
 * of the second order, one from either end; rows first, columns then. The weights follow from h: k makes its sum 1. */
#include "suite.h"

struct weights {
	float ahead[2];   /* of this element and the one before it */
	float behind[2];  /* of the next, and the one after it */
	float own[2];     /* of the results before */
};

/* With a = 1/4. */
SUITE_PART struct weights weights_of_quarter(void)
{
	const float a = 0.25f, e = 0.7788007830714049f; /* exp(-a) */
	const float k = (1 - e) * (1 - e) / (1 + 2 * a * e - e * e);

	return (struct weights){ { k, k * e * (a - 1) }, { k * e * (a + 1), -k * e * e }, { 2 * e, -e * e } };
}

/* A line whose elements are `step` apart, from the front into `ahead` and from the end into `behind`; then out. */
SUITE_PART void smooth(float *restrict out, const float *restrict in, float *restrict ahead, float *restrict behind,
			  struct weights w, long n, long step)
{
	float in1 = 0, in2 = 0, out1 = 0, out2 = 0;

	for (long i = 0; i < n; i++) {
		float now = in[i * step];

		ahead[i * step] = w.ahead[0] * now + w.ahead[1] * in1 + w.own[0] * out1 + w.own[1] * out2;
		in1 = now;
		out2 = out1;
		out1 = ahead[i * step];
	}
	in1 = out1 = out2 = 0;
	for (long i = n - 1; i >= 0; i--) {
		behind[i * step] = w.behind[0] * in1 + w.behind[1] * in2 + w.own[0] * out1 + w.own[1] * out2;
		in2 = in1;
		in1 = in[i * step];
		out2 = out1;
		out1 = behind[i * step];
	}
	for (long i = 0; i < n; i++)
		out[i * step] = ahead[i * step] + behind[i * step];
}

SUITE(deriche)
{
	const float *in = room->array[0];
	float *ahead = room->array[1], *behind = room->array[2], *out = room->array[3], *rows = room->array[4];
	struct weights w = weights_of_quarter();
	long n = room->n;

	for (long i = 0; i < n; i++)
		smooth(rows + i * n, in + i * n, ahead + i * n, behind + i * n, w, n, 1);
	for (long j = 0; j < n; j++)
		smooth(out + j, rows + j, ahead + j, behind + j, w, n, n);
	return 0;
}
