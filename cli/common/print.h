/* SPDX-License-Identifier: MIT */
/* Words and numbers on stdout, for people: the same bytes in every locale. */
#ifndef GUS_CLI_COMMON_PRINT_H
#define GUS_CLI_COMMON_PRINT_H

#include <stddef.h>
#include <stdint.h>

/* gus_text_print on stdout: the way of all text that is not our own (base/text.h). */
void gus_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "12.34%" of a share of 1, right-aligned in eight columns. */
void gus_print_percent(double share);

/* value, which is not negative, with that many digits behind a point; beyond what 64 bits hold, as "2e+21". */
void gus_fixed_format(char *out, size_t room, double value, int digits);
/* "1.234 s", "12.34 ms", "12.3 us" or "12 ns". */
void gus_time_format(char *out, size_t room, uint64_t ns);

#endif
