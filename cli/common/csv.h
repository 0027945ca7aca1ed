/* SPDX-License-Identifier: MIT */
/* Lines of CSV (RFC 4180) field by field, with the same bytes in every locale. What is not known is an empty field. */
#ifndef GUS_CLI_COMMON_CSV_H
#define GUS_CLI_COMMON_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct gus_csv {
	FILE *out;
	const char *separator;  /* "," but where the user wants another */
	bool begun;             /* the line has a field */
};

/* Harmless to a terminal (base/text.h), so on one line, and to a spreadsheet: before what that would take for a formula
 * stands an apostrophe, as OWASP recommends ("CSV Injection"). Quoted if it has to be; NULL is empty. */
void gus_csv_text(struct gus_csv *c, const char *text);
void gus_csv_number(struct gus_csv *c, bool known, uint64_t value);
/* With so many digits behind the point. */
void gus_csv_fixed(struct gus_csv *c, bool known, double value, int digits);
void gus_csv_end(struct gus_csv *c);

#endif
