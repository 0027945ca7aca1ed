/* SPDX-License-Identifier: MIT */
#include "attribution/stacks/evidence.h"

const char *gus_evidence_name(enum gus_evidence evidence)
{
	static const char *const names[] = {
		[GUS_OBSERVED] = "observed", [GUS_INFERRED] = "inferred",
		[GUS_MODELLED] = "modelled", [GUS_UNKNOWN] = "unknown",
	};

	return names[evidence];
}
