/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

__attribute__((format(printf, 4, 0)))
static void fill(struct gus_error *err, enum gus_code code, int sys, const char *format, va_list args)
{
	if (!err || err->code != GUS_OK)
		return;
	err->code = code;
	err->sys = sys;
	vsnprintf(err->text, sizeof(err->text), format, args);
	gus_text_clean(err->text);
	if (sys) {
		size_t used = strlen(err->text);

		snprintf(err->text + used, sizeof(err->text) - used, ": %s", strerror(sys));
	}
}

int gus_fail(struct gus_error *err, enum gus_code code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fill(err, code, 0, format, args);
	va_end(args);
	return -1;
}

static enum gus_code code_of_errno(int sys)
{
	switch (sys) {
	case EACCES:
	case EPERM:
		return GUS_E_PERMISSION;
	case ENOENT:
		return GUS_E_NOT_FOUND;
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return GUS_E_FULL;
	default:
		return GUS_E_SYSTEM;
	}
}

int gus_fail_errno(struct gus_error *err, int sys, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fill(err, code_of_errno(sys), sys, format, args);
	va_end(args);
	return -1;
}

bool gus_error_is_transient(const struct gus_error *err)
{
	static const int those[] = { EAGAIN, EINTR, EIO, EMFILE, ENFILE, ENOBUFS, ENOMEM };

	for (size_t i = 0; i < sizeof(those) / sizeof(*those); i++)
		if (err->code == GUS_E_SYSTEM && err->sys == those[i])
			return true;
	return false;
}
