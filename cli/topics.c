/* SPDX-License-Identifier: MIT */
#include "cli/topics.h"

#include "cli/verbs.h"

const char gus_topic_stacks[] = GUS_TOPIC_STACKS;
