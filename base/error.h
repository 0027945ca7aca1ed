/* SPDX-License-Identifier: MIT */
/* Errors as values: a code that a program can act on and one sentence that a person can act on. */
#ifndef GUS_BASE_ERROR_H
#define GUS_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

enum gus_code {
	GUS_OK = 0,
	GUS_E_SYSTEM,      /* a system call failed; the sentence has strerror */
	GUS_E_USAGE,       /* the caller asked for something that makes no sense */
	GUS_E_PERMISSION,  /* refused, and more rights would change that */
	GUS_E_UNSUPPORTED, /* this machine or kernel has no such thing */
	GUS_E_NOT_FOUND,
	GUS_E_CORRUPT,     /* foreign bytes that break their own rules */
	GUS_E_TRUNCATED,   /* foreign bytes that stop too early */
	GUS_E_VERSION,     /* written by a newer format than this program reads */
	GUS_E_FULL,        /* no space left, or a limit asked for is reached */
};

/* The caller owns it, usually on its stack. Only the first failure is kept: later ones are consequences. */
struct gus_error {
	enum gus_code code;
	int sys;          /* errno at the failure, 0 if none */
	char text[768];   /* what we were doing, to what, what went wrong, what to do; without control characters */
};

/* Fills err (which may be NULL) and returns -1, so that `return gus_fail(...)` reads as one thought. */
int gus_fail(struct gus_error *err, enum gus_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for a failed system call: appends ": " and strerror(sys), and turns EACCES and EPERM into
 * GUS_E_PERMISSION, ENOENT into GUS_E_NOT_FOUND, ENOSPC, EDQUOT and EFBIG into GUS_E_FULL. */
int gus_fail_errno(struct gus_error *err, int sys, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Whether it says nothing about what was asked for, and the same may go well another time or elsewhere: too few
 * descriptors, too little memory, a disk that cannot be read, an interruption. An answer without what failed so is not
 * the answer. */
bool gus_error_is_transient(const struct gus_error *err);

#endif
