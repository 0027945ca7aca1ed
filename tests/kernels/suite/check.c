/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <math.h>
#include <string.h>

#include "room.h"

enum { TRIES = 256 }; /* elements of an array, of which one has to matter */

static bool is_result(const struct suite_array *array)
{
	return array->role == SUITE_OUT || array->role == SUITE_IN_OUT;
}

static double element(const void *data, enum suite_type type, size_t i)
{
	return type == SUITE_F64 ? ((const double *)data)[i] : ((const float *)data)[i];
}

/* How far two arrays are apart at most, as a share of what is largest in the second; HUGE_VAL where one is no number
 * or, of integers, where they are not the same. What neither wrote is not looked at: the other half of triangles. */
static double distance(const void *a, const void *b, enum suite_type type, size_t n)
{
	double apart = 0, largest = 0, poison[1];

	memset(poison, SUITE_POISON, sizeof(poison));
	if (type != SUITE_F64 && type != SUITE_F32)
		return memcmp(a, b, n * suite_type_size(type)) ? HUGE_VAL : 0;
	for (size_t i = 0; i < n; i++) {
		double x = element(a, type, i), y = element(b, type, i);

		if (x == y && x == element(poison, type, 0))
			continue;
		if (!isfinite(x) || !isfinite(y))
			return HUGE_VAL;
		apart = fmax(apart, fabs(x - y));
		largest = fmax(largest, fabs(y));
	}
	return apart > 0 ? apart / largest : 0;
}

static void compare(struct suite_verdict *verdict, const struct suite_hall *own, const struct suite_hall *other)
{
	for (int i = 0; i < SUITE_ARRAYS; i++) {
		const struct suite_array *array = &own->kernel->array[i];
		double apart;

		if (!is_result(array))
			continue;
		apart = distance(own->room.array[i], other->room.array[i], array->type,
				 suite_array_elements(array, own->room.n));
		if (apart > verdict->apart) {
			verdict->apart = apart;
			verdict->first_wrong = i;
		}
	}
	if (verdict->apart > own->kernel->tolerance)
		verdict->right = false;
}

static bool open_whole(struct suite_hall *hall, const struct suite_kernel *kernel, long n)
{
	if (!suite_hall_open(hall, kernel, n, n))
		return false;
	suite_hall_poison(hall);
	return true;
}

static void change(void *data, enum suite_type type, size_t i)
{
	switch (type) {
	case SUITE_F64:
		((double *)data)[i] += 0.375;
		break;
	case SUITE_F32:
		((float *)data)[i] += 0.375f;
		break;
	case SUITE_U8:
		((uint8_t *)data)[i] ^= 1;
		break;
	case SUITE_U32:
		((uint32_t *)data)[i] = ((uint32_t *)data)[i] / 2 + 1;
		break;
	case SUITE_U64:
		((uint64_t *)data)[i] = ((uint64_t *)data)[i] / 2 + 1;
		break;
	}
}

/* Whether results are other ones, beside an element of one that is what it was changed to. */
static bool differs(const struct suite_hall *own, const struct suite_hall *other, int changed, size_t at,
		    const void *changed_to)
{
	for (int i = 0; i < SUITE_ARRAYS; i++) {
		const struct suite_array *array = &own->kernel->array[i];
		size_t size = suite_type_size(array->type), n = suite_array_elements(array, own->room.n);
		const char *a = own->room.array[i], *b = other->room.array[i];

		if (!is_result(array))
			continue;
		if (i == changed && memcmp(b + at * size, changed_to, size) == 0) {
			if (memcmp(a, b, at * size))
				return true;
			a += (at + 1) * size;
			b += (at + 1) * size;
			n -= at + 1;
		}
		if (memcmp(a, b, n * size))
			return true;
	}
	return false;
}

/* Whether the result depends on an array: on one of the elements that are tried, the first and last among them. */
static bool matters(const struct suite_hall *own, uint64_t returned, suite_pass *pass, int i)
{
	const struct suite_array *array = &own->kernel->array[i];
	size_t n = suite_array_elements(array, own->room.n), size = suite_type_size(array->type);
	bool found = false;

	for (size_t k = 0; k < TRIES && !found; k++) {
		size_t at = k == 0 ? 0 : k == 1 ? n - 1 : (k * 0x9e3779b97f4a7c15 >> 16) % n;
		struct suite_hall changed;
		uint64_t changed_to;

		if (!open_whole(&changed, own->kernel, own->room.n))
			return false;
		change(changed.room.array[i], array->type, at);
		memcpy(&changed_to, (const char *)changed.room.array[i] + at * size, size);
		found = pass(&changed.room) != returned || differs(own, &changed, i, at, &changed_to);
		suite_hall_close(&changed);
	}
	return found;
}

/* The last two steps on what is in the room from the beginning, beside all of the reference's. */
static bool check_last(struct suite_verdict *verdict, const struct suite_kernel *kernel, suite_pass *pass,
		       suite_pass *reference, long n)
{
	struct suite_hall own, other;

	if (!suite_hall_open(&own, kernel, n, 2))
		return false;
	if (!suite_hall_open(&other, kernel, n, n)) {
		suite_hall_close(&own);
		return false;
	}
	pass(&own.room);
	reference(&other.room);
	compare(verdict, &own, &other);
	suite_hall_close(&own);
	suite_hall_close(&other);
	return true;
}

struct suite_verdict suite_check(const struct suite_kernel *kernel, suite_pass *pass, suite_pass *reference, long n)
{
	struct suite_verdict verdict = { .right = true, .first_wrong = -1, .idle = -1 };
	struct suite_hall own, other;
	uint64_t returned;

	if (!open_whole(&own, kernel, n))
		return verdict;
	if (!open_whole(&other, kernel, n)) {
		suite_hall_close(&own);
		return verdict;
	}
	verdict.fits = true;
	returned = pass(&own.room);
	verdict.right = returned == reference(&other.room);
	compare(&verdict, &own, &other);
	for (int i = 0; i < SUITE_ARRAYS && verdict.idle < 0; i++)
		if ((kernel->array[i].role == SUITE_IN || kernel->array[i].role == SUITE_IN_OUT) &&
		    !matters(&own, returned, pass, i))
			verdict.idle = i;
	suite_hall_close(&own);
	suite_hall_close(&other);
	if (kernel->part == SUITE_LAST_KNOWN)
		verdict.fits = check_last(&verdict, kernel, pass, reference, n);
	return verdict;
}
