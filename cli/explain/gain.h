/* SPDX-License-Identifier: MIT */
/* A gain and its interval, for people. */
#ifndef GUS_CLI_EXPLAIN_GAIN_H
#define GUS_CLI_EXPLAIN_GAIN_H

/* "24 % (17 to 31)"; of an interval that goes beyond twenty times "(17 or more)". digits: behind the point. */
enum { GUS_EXPLAIN_GAIN_TEXT = 64 };
void gus_explain_gain_text(char out[GUS_EXPLAIN_GAIN_TEXT], int digits, double gain, double low, double high);

#endif
