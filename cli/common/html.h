/* SPDX-License-Identifier: MIT */
/* Text of others in a page of HTML. It is made harmless as for a terminal (base/text.h), since a browser obeys what
 * orders text as well, and then nothing is left in it that a parser of HTML would take for the page's own. */
#ifndef GUS_CLI_COMMON_HTML_H
#define GUS_CLI_COMMON_HTML_H

#include <stdio.h>

/* As the content of an element, or between the quotes of an attribute. */
void gus_html_text(FILE *out, const char *text);
/* As a string of JSON, quotes included, that may stand in a script element: '<' is none in it, so no end of one. */
void gus_html_string(FILE *out, const char *text);

#endif
