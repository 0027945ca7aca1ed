/* SPDX-License-Identifier: MIT */
/* Values of JSON as all verbs write them: what is not known is null. The caller owns what it gets. */
#ifndef GUS_CLI_COMMON_JSON_H
#define GUS_CLI_COMMON_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes that are not UTF-8 are U+FFFD, as JSON can hold nothing else; NULL is null. */
json_t *gus_json_word(const char *text);
/* The same of what is not known if it is "", which is null, too. */
json_t *gus_json_text(const char *text);
json_t *gus_json_number(bool known, uint64_t value);
/* What is infinite or not a number is null, also in a pair. */
json_t *gus_json_real(double value);
json_t *gus_json_pair(double low, double high);
/* An address: a number, and beyond 2^63, which integers of JSON do not reach, text ("0xffffffff81000000"). */
json_t *gus_json_address(uint64_t address);

/* Prints a document, over many lines or on one, and gives it up. What is not harmless to a terminal (base/text.h) is
 * escaped, which to a parser is the same. 0, or -1. */
int gus_json_print(json_t *document, FILE *out, bool indent);

#endif
