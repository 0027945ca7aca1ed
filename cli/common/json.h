/* SPDX-License-Identifier: MIT */
/* Values of JSON as all verbs write them: what is not known is null. The caller owns what it gets. */
#ifndef GUS_CLI_COMMON_JSON_H
#define GUS_CLI_COMMON_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Bytes that are not UTF-8 are replaced, as JSON can hold nothing else; NULL and "" are null. */
json_t *gus_json_text(const char *text);
json_t *gus_json_number(bool known, uint64_t value);
json_t *gus_json_pair(double low, double high);

#endif
