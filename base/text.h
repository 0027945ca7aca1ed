/* SPDX-License-Identifier: MIT */
/* Foreign text, and the one way in which it reaches people.
 *
 * Names of files, processes, functions and events, words of command lines, source lines and messages about all these
 * are written by anyone, and a terminal obeys what it is sent: an escape sequence sets its title or types for its user,
 * an end of line forges a line of a log, an override of the direction shows another order of words than the one that
 * is there (Trojan Source, CVE-2021-42574), and what has no width makes two names look the same. So text is
 * UTF-8 (RFC 3629), and what of it is not harmless becomes:
 *
 *   a blank          what ends lines or moves on in them: TAB, LF, VT, FF, CR, U+0085, U+2028, U+2029
 *   a question mark  all other controls: U+0001 to U+001F, U+007F, U+0080 to U+009F; what orders the text around it:
 *                    U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069; what cannot be seen: U+00AD, U+034F,
 *                    U+115F, U+1160, U+180E, U+200B, U+2060 to U+206F, U+3164, U+FEFF, U+FFA0, U+FFF9 to U+FFFB,
 *                    U+E0000 to U+E007F; and each byte that belongs to no character, as of overlong forms, surrogates
 *                    and what is above U+10FFFF
 *
 * U+200C, U+200D and the selectors of variants stay: Persian, the scripts of India and emoji are not written without.
 * What gusprof prints in colours or over more lines than one it does itself, outside the text. */
#ifndef GUS_BASE_TEXT_H
#define GUS_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum gus_text_class {
	GUS_TEXT_PLAIN,
	GUS_TEXT_BLANK,   /* a blank in its place */
	GUS_TEXT_HARMFUL, /* a question mark in its place */
	GUS_TEXT_INVALID, /* a byte of no character; the same */
};

/* What a text goes on with. */
struct gus_text_char {
	uint32_t code;            /* without meaning if invalid */
	enum gus_text_class class;
	size_t size;              /* bytes: 1 to 4 */
};

/* The character at the beginning of so many bytes, of which there is one at least. */
struct gus_text_char gus_text_next(const char *at, size_t left);

/* Makes a text harmless in its place; it may become shorter. */
void gus_text_clean(char *text);

/* printf, but each %s and %c is made harmless; the format's own characters are printed as they are. It knows the flags,
 * width (in bytes), precision, the lengths l, ll, z and j, and d i u x X c s e f g. A short line is one call of
 * write(2) where the stream has no buffer, and no memory is taken, so that children of threads may call it. */
void gus_text_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void gus_text_vprint(FILE *out, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

#endif
