/* SPDX-License-Identifier: MIT */
#include "attribution/profile/by.h"

#include <stddef.h>

unsigned gus_by_settled(unsigned by)
{
	/* What a finer one makes superfluous. */
	static const struct { unsigned finer, coarser; } known[] = {
		{ GUS_BY_INSTRUCTION, GUS_BY_LINE | GUS_BY_FUNCTION | GUS_BY_MODULE },
		{ GUS_BY_LINE, GUS_BY_FUNCTION | GUS_BY_MODULE },
		{ GUS_BY_FUNCTION, GUS_BY_MODULE },
		{ GUS_BY_THREAD, GUS_BY_PROCESS },
		{ GUS_BY_DATA_LINE, GUS_BY_DATA_PAGE },
		{ GUS_BY_DATA_SYMBOL, GUS_BY_DATA_MODULE },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (by & known[i].finer)
			by &= ~known[i].coarser;
	return by;
}
