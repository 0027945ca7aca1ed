/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <assert.h>
#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>

/* Characters. */

/* In order; text.h says why. */
static const struct { uint32_t first, last; enum gus_text_class class; } ranges[] = {
	{ 0x00, 0x08, GUS_TEXT_HARMFUL }, { 0x09, 0x0d, GUS_TEXT_BLANK }, { 0x0e, 0x1f, GUS_TEXT_HARMFUL },
	{ 0x7f, 0x84, GUS_TEXT_HARMFUL }, { 0x85, 0x85, GUS_TEXT_BLANK }, { 0x86, 0x9f, GUS_TEXT_HARMFUL },
	{ 0xad, 0xad, GUS_TEXT_HARMFUL }, { 0x34f, 0x34f, GUS_TEXT_HARMFUL }, { 0x61c, 0x61c, GUS_TEXT_HARMFUL },
	{ 0x115f, 0x1160, GUS_TEXT_HARMFUL }, { 0x180e, 0x180e, GUS_TEXT_HARMFUL },
	{ 0x200b, 0x200b, GUS_TEXT_HARMFUL }, { 0x200e, 0x200f, GUS_TEXT_HARMFUL },
	{ 0x2028, 0x2029, GUS_TEXT_BLANK }, { 0x202a, 0x202e, GUS_TEXT_HARMFUL },
	{ 0x2060, 0x206f, GUS_TEXT_HARMFUL }, { 0x3164, 0x3164, GUS_TEXT_HARMFUL },
	{ 0xfeff, 0xfeff, GUS_TEXT_HARMFUL }, { 0xffa0, 0xffa0, GUS_TEXT_HARMFUL },
	{ 0xfff9, 0xfffb, GUS_TEXT_HARMFUL }, { 0xe0000, 0xe007f, GUS_TEXT_HARMFUL },
};

static enum gus_text_class class_of(uint32_t code)
{
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges) && code >= ranges[i].first; i++)
		if (code <= ranges[i].last)
			return ranges[i].class;
	return GUS_TEXT_PLAIN;
}

/* RFC 3629: the first byte says how many follow, and no shorter form of the same character is allowed. */
struct gus_text_char gus_text_next(const char *at, size_t left)
{
	static const struct { unsigned char mask, lead; uint32_t least; } forms[] = {
		{ 0x80, 0x00, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 },
	};
	const struct gus_text_char invalid = { 0, GUS_TEXT_INVALID, 1 };
	const unsigned char *text = (const unsigned char *)at;
	size_t more = 0;
	uint32_t code;

	while (more < 4 && (text[0] & forms[more].mask) != forms[more].lead)
		more++;
	if (more == 4 || more >= left)
		return invalid;
	code = text[0] & (unsigned char)~forms[more].mask;
	for (size_t i = 1; i <= more; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return invalid;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < forms[more].least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return invalid;
	return (struct gus_text_char){ code, class_of(code), more + 1 };
}

void gus_text_clean(char *text)
{
	char *to = text;

	for (size_t left = strlen(text); left; ) {
		struct gus_text_char c = gus_text_next(text, left);

		if (c.class == GUS_TEXT_PLAIN)
			memmove(to, text, c.size);
		else
			*to = c.class == GUS_TEXT_BLANK ? ' ' : '?';
		to += c.class == GUS_TEXT_PLAIN ? c.size : 1;
		text += c.size;
		left -= c.size;
	}
	*to = '\0';
}

/* Printing. */

/* What has been printed and has not gone out. */
struct pending {
	FILE *out;
	size_t n;
	char text[1024];
};

static void put(struct pending *p, const char *text, size_t size)
{
	while (size) {
		size_t room = sizeof(p->text) - p->n, now = size < room ? size : room;

		memcpy(p->text + p->n, text, now);
		p->n += now;
		text += now;
		size -= now;
		if (p->n == sizeof(p->text)) {
			fwrite(p->text, 1, p->n, p->out);
			p->n = 0;
		}
	}
}

static void put_blanks(struct pending *p, size_t n)
{
	while (n--)
		put(p, " ", 1);
}

/* The bytes of a text that was made harmless; p may be NULL, to know how many there are. */
static size_t put_clean(struct pending *p, const char *text, size_t size)
{
	size_t all = 0;

	for (size_t at = 0; at < size; ) {
		struct gus_text_char c = gus_text_next(text + at, size - at);
		const char *clean = c.class == GUS_TEXT_PLAIN ? text + at : c.class == GUS_TEXT_BLANK ? " " : "?";
		size_t n = c.class == GUS_TEXT_PLAIN ? c.size : 1;

		if (p)
			put(p, clean, n);
		all += n;
		at += c.size;
	}
	return all;
}

/* One conversion of a format. */
struct conversion {
	char flags[6]; /* the five that there are, each once */
	int width;
	int precision; /* negative if there is none */
	char length;   /* 'L' for ll, '\0' for none */
	char kind;
};

/* A list of arguments that functions hand on. */
struct arguments { va_list list; };

static int number(const char **at, struct arguments *a)
{
	int value = 0;

	if (**at == '*') {
		++*at;
		return va_arg(a->list, int);
	}
	for (; isdigit((unsigned char)**at); ++*at)
		value = 10 * value + (**at - '0');
	return value;
}

/* The conversion behind a '%'; returns where the format goes on. */
static const char *parse(const char *at, struct conversion *c, struct arguments *a)
{
	size_t flags = strspn(at, "-+ #0");

	assert(flags < sizeof(c->flags));
	*c = (struct conversion){ .precision = -1 };
	memcpy(c->flags, at, flags);
	at += flags;
	c->width = number(&at, a);
	if (*at == '.') {
		at++;
		c->precision = number(&at, a);
	}
	if (*at && strchr("lzj", *at))
		c->length = *at++;
	if (c->length == 'l' && *at == 'l') {
		c->length = 'L';
		at++;
	}
	c->kind = *at++;
	return at;
}

static void put_text(struct pending *p, const struct conversion *c, const char *text)
{
	size_t size, clean, width = (size_t)(c->width < 0 ? -(long)c->width : c->width);
	bool left = c->width < 0 || strchr(c->flags, '-');

	if (!text)
		text = "(null)"; /* as glibc does */
	size = c->precision < 0 ? strlen(text) : strnlen(text, (size_t)c->precision);
	clean = put_clean(NULL, text, size);
	if (!left && width > clean)
		put_blanks(p, width - clean);
	put_clean(p, text, size);
	if (left && width > clean)
		put_blanks(p, width - clean);
}

static intmax_t signed_argument(const struct conversion *c, struct arguments *a)
{
	switch (c->length) {
	case 'l':
		return va_arg(a->list, long);
	case 'L':
		return va_arg(a->list, long long);
	case 'z':
		return va_arg(a->list, ssize_t);
	case 'j':
		return va_arg(a->list, intmax_t);
	default:
		return va_arg(a->list, int);
	}
}

static uintmax_t unsigned_argument(const struct conversion *c, struct arguments *a)
{
	switch (c->length) {
	case 'l':
		return va_arg(a->list, unsigned long);
	case 'L':
		return va_arg(a->list, unsigned long long);
	case 'z':
		return va_arg(a->list, size_t);
	case 'j':
		return va_arg(a->list, uintmax_t);
	default:
		return va_arg(a->list, unsigned);
	}
}

/* The format is made here, of parts that were checked where the call was compiled. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_number(struct pending *p, const struct conversion *c, struct arguments *a)
{
	bool real = strchr("efg", c->kind);
	char format[16], text[512]; /* 1e308 has 309 digits */
	int n;

	snprintf(format, sizeof(format), real ? "%%%s*.*%c" : "%%%s*.*j%c", c->flags, c->kind);
	if (real)
		n = snprintf(text, sizeof(text), format, c->width, c->precision, va_arg(a->list, double));
	else if (c->kind == 'd' || c->kind == 'i')
		n = snprintf(text, sizeof(text), format, c->width, c->precision, signed_argument(c, a));
	else
		n = snprintf(text, sizeof(text), format, c->width, c->precision, unsigned_argument(c, a));
	assert(n >= 0 && (size_t)n < sizeof(text));
	put(p, text, (size_t)n);
}
#pragma GCC diagnostic pop

static void put_conversion(struct pending *p, const struct conversion *c, struct arguments *a)
{
	char letter[2] = "";

	switch (c->kind) {
	case '%':
		put(p, "%", 1);
		break;
	case 's':
		put_text(p, c, va_arg(a->list, const char *));
		break;
	case 'c':
		letter[0] = (char)va_arg(a->list, int);
		put_text(p, c, letter);
		break;
	default:
		assert(c->kind && strchr("diuxXefg", c->kind));
		put_number(p, c, a);
	}
}

void gus_text_vprint(FILE *out, const char *format, va_list args)
{
	struct pending p = { .out = out };
	struct arguments a;

	va_copy(a.list, args);
	while (*format) {
		size_t own = strcspn(format, "%");
		struct conversion c;

		put(&p, format, own);
		format += own;
		if (!*format)
			break;
		format = parse(format + 1, &c, &a);
		put_conversion(&p, &c, &a);
	}
	va_end(a.list);
	fwrite(p.text, 1, p.n, out);
}

void gus_text_print(FILE *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	gus_text_vprint(out, format, args);
	va_end(args);
}
