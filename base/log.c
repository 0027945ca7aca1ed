/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

void gus_log(const struct gus_log *log, enum gus_level level, const char *format, ...)
{
	char text[1024];
	va_list args;

	if (!log || !log->emit || level > log->level)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	gus_text_clean(text);
	log->emit(level, text, log->context);
}
