/* SPDX-License-Identifier: MIT */
/* What a row says of accesses to memory, in words: for all renderers. */
#ifndef GUS_CLI_REPORT_DATA_H
#define GUS_CLI_REPORT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gus_place;
struct gus_profile;
struct gus_row;
struct gus_touch_key;

/* NULL or "" is what is not told, or not asked for by this report. */
struct gus_report_data {
	const struct gus_touch_key *key;
	char source[64];         /* "L3", "memory, of another node" */
	const char *snoop, *tlb, *locked;
	char access[32];         /* "load", "load and store" */
	const char *module;      /* path of what is mapped */
	const char *symbol;
	uint64_t into;           /* bytes from where the symbol, or else the file, begins */
	bool whole;              /* all of the symbol or of the module is meant: into says nothing */
};

/* Of a row of a view by these, of data among others. Strings live as long as the profile. */
void gus_report_data(struct gus_profile *p, unsigned by, const struct gus_row *row, struct gus_report_data *d);

/* Where an address is, for people: "counters+0x40", "[heap]", "libx.so+0x3a40". */
void gus_report_place(const struct gus_report_data *d, char *out, size_t room);
/* The same of some address of a profile, whatever its rows are of. */
void gus_report_find(struct gus_profile *p, struct gus_place place, struct gus_report_data *d);

#endif
