/* SPDX-License-Identifier: MIT */
#include "cli/explain/gain.h"

#include <math.h>
#include <stdio.h>

static const double MANIFOLD = 20;      /* what goes beyond has no end worth telling */

void gus_explain_gain_text(char out[GUS_EXPLAIN_GAIN_TEXT], int digits, double gain, double low, double high)
{
	int n = snprintf(out, GUS_EXPLAIN_GAIN_TEXT, "%.*f %% (%.*f ", digits, 100 * gain, digits, 100 * fmax(low, 0));

	if (n < GUS_EXPLAIN_GAIN_TEXT && high > MANIFOLD)
		snprintf(out + n, GUS_EXPLAIN_GAIN_TEXT - (size_t)n, "or more)");
	else if (n < GUS_EXPLAIN_GAIN_TEXT)
		snprintf(out + n, GUS_EXPLAIN_GAIN_TEXT - (size_t)n, "to %.*f)", digits, 100 * high);
}
