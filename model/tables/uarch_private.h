/* SPDX-License-Identifier: MIT */
/* What a parsed table keeps for its lookups. */
#ifndef GUS_MODEL_TABLES_UARCH_PRIVATE_H
#define GUS_MODEL_TABLES_UARCH_PRIVATE_H

#include "base/index.h"
#include "model/tables/uarch.h"

struct gus_uarch_private {
	struct gus_strings strings; /* all texts of the table */
	struct gus_index forms;     /* by hash; its numbers are those of uarch->forms */
};

#endif
