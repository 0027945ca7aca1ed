/* SPDX-License-Identifier: MIT */
/* A table as JSON, schema gusprof.uarch/1: all that is in it but its groups and classes, which are of use to an engine
 * only. */
#ifndef GUS_CLI_UARCH_JSON_H
#define GUS_CLI_UARCH_JSON_H

#include <stdbool.h>

struct gus_uarch;

/* 0, or -1. forms: with each form and what its row says. */
int gus_uarch_json(const struct gus_uarch *u, bool forms);

#endif
