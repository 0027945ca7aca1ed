/* SPDX-License-Identifier: MIT */
#include "cli/common/print.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

void gus_print(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	gus_text_vprint(stdout, format, args);
	va_end(args);
}

void gus_print_percent(double share)
{
	char text[32];

	gus_fixed_format(text, sizeof(text), share * 100, 2);
	gus_print("%7s%%", text);
}

void gus_fixed_format(char *out, size_t room, double value, int digits)
{
	uint64_t scale = 1, scaled = 0;
	bool fits;

	for (int i = 0; i < digits; i++)
		scale *= 10;
	fits = value * (double)scale + 0.5 < 0x1p64;
	if (fits)
		scaled = (uint64_t)(value * (double)scale + 0.5);
	if (!fits) /* without a digit behind it there is no point, which locales have their own of */
		snprintf(out, room, "%.0e", value);
	else if (digits)
		snprintf(out, room, "%" PRIu64 ".%0*" PRIu64, scaled / scale, digits, scaled % scale);
	else
		snprintf(out, room, "%" PRIu64, scaled);
}

void gus_time_format(char *out, size_t room, uint64_t ns)
{
	static const struct { double scale; int digits; const char *unit; } units[] = {
		{ 1e9, 3, "s" }, { 1e6, 2, "ms" }, { 1e3, 1, "us" }, { 1, 0, "ns" },
	};
	size_t i = ns >= 1000000000 ? 0 : ns >= 1000000 ? 1 : ns >= 1000 ? 2 : 3;
	char number[32];

	gus_fixed_format(number, sizeof(number), (double)ns / units[i].scale, units[i].digits);
	snprintf(out, room, "%s %s", number, units[i].unit);
}
