/* SPDX-License-Identifier: MIT */
#include "cli/topics.h"

#include <stdio.h>

#include "cli/verbs.h"

void gus_topic_stacks(void)
{
	fwrite(GUS_TOPIC_STACKS, 1, sizeof(GUS_TOPIC_STACKS) - 1, stdout);
}
