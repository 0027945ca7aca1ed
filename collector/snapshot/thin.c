/* SPDX-License-Identifier: MIT */
#include "collector/snapshot/thin.h"

/* Whether an even number of its thread's comes behind it. */
static bool is_even(const uint32_t *tids, size_t n, size_t i)
{
	bool even = true;

	for (size_t k = i + 1; k < n; k++)
		even ^= tids[k] == tids[i];
	return even;
}

size_t gus_thin(const uint32_t *tids, size_t n, bool *kept)
{
	size_t left = 0, still = 0;

	for (size_t i = 0; i < n; i++) {
		kept[i] = is_even(tids, n, i);
		left += kept[i];
	}
	if (4 * left <= 3 * n)
		return left;
	for (size_t i = n, behind = 0; i-- > 0;) {
		if (!kept[i])
			continue;
		kept[i] = behind++ % 2 == 0;
		still += kept[i];
	}
	return still;
}
