/* SPDX-License-Identifier: MIT */
/* What --by takes: words, which are also those of JSON. */
#ifndef GUS_CLI_REPORT_BY_H
#define GUS_CLI_REPORT_BY_H

struct gus_error;

#define GUS_BY_WORDS "function module line instruction thread process comm data-source snoop tlb access locked " \
	"data-page data-line data-module data-symbol block loop time"

/* Words with commas between them, as bits of enum gus_by. 0, or -1 with err. */
int gus_report_by_parse(unsigned *by, const char *text, struct gus_error *err);
/* The words of the bits, in a fixed order. The caller frees it. */
char *gus_report_by_name(unsigned by);
/* What --by says instead of a word of perf's --sort; NULL if there is none. */
const char *gus_report_by_of_perf(const char *word);

#endif
