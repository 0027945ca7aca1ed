/* SPDX-License-Identifier: MIT */
/* What stands in a line of gusprof script: perf's fields, by perf's names, and a few that perf has not. */
#ifndef GUS_CLI_SCRIPT_FIELDS_H
#define GUS_CLI_SCRIPT_FIELDS_H

#include <stdbool.h>

struct gus_error;

enum gus_field {
	GUS_FIELD_COMM = 1 << 0, GUS_FIELD_TID = 1 << 1, GUS_FIELD_PID = 1 << 2, GUS_FIELD_CPU = 1 << 3,
	GUS_FIELD_TIME = 1 << 4, GUS_FIELD_PERIOD = 1 << 5, GUS_FIELD_EVENT = 1 << 6, GUS_FIELD_IP = 1 << 7,
	GUS_FIELD_SYM = 1 << 8, GUS_FIELD_SYMOFF = 1 << 9, GUS_FIELD_DSO = 1 << 10, GUS_FIELD_SRCLINE = 1 << 11,
	GUS_FIELD_BRSTACK = 1 << 12, GUS_FIELD_BRSTACKSYM = 1 << 13, GUS_FIELD_BRSTACKOFF = 1 << 14,
	GUS_FIELD_MISC = 1 << 15, GUS_FIELD_ADDR = 1 << 16, GUS_FIELD_DATA_SRC = 1 << 17, GUS_FIELD_WEIGHT = 1 << 18,
	GUS_FIELD_INS_LAT = 1 << 19, GUS_FIELD_RETIRE_LAT = 1 << 20, GUS_FIELD_TRANSACTION = 1 << 21,
	GUS_FIELD_CGROUP = 1 << 22, GUS_FIELD_IREGS = 1 << 23, GUS_FIELD_UREGS = 1 << 24, GUS_FIELD_RAW = 1 << 25,
	GUS_FIELD_PHYS_ADDR = 1 << 26, GUS_FIELD_DATA_PAGE = 1 << 27, GUS_FIELD_CODE_PAGE = 1 << 28,
	GUS_FIELD_PSV = 1 << 29, GUS_FIELD_ISSUE_LAT = 1 << 30, GUS_FIELD_TRANSLATION_LAT = 1u << 31,

	GUS_FIELDS_DEFAULT = GUS_FIELD_COMM | GUS_FIELD_TID | GUS_FIELD_CPU | GUS_FIELD_TIME | GUS_FIELD_PERIOD |
			     GUS_FIELD_EVENT | GUS_FIELD_IP | GUS_FIELD_SYM | GUS_FIELD_SYMOFF | GUS_FIELD_DSO,
	GUS_FIELDS_PLACE = GUS_FIELD_IP | GUS_FIELD_SYM | GUS_FIELD_DSO | GUS_FIELD_SRCLINE,
	GUS_FIELDS_BRANCHES = GUS_FIELD_BRSTACK | GUS_FIELD_BRSTACKSYM | GUS_FIELD_BRSTACKOFF,
};

/* "ip,sym,dso", or "+srcline,-cpu" to change what is so without it. */
int gus_fields_parse(const char *text, unsigned *fields, struct gus_error *err);

/* The name of one of them. */
const char *gus_fields_name(unsigned field);

#endif
