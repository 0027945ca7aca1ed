/* SPDX-License-Identifier: MIT */
#include "cli/common/calibrations.h"
#include "cli/common/calibrated_key.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/store.h"
#include "model/tables/builtin.h"

#define SUFFIX ".uarch"
#define LOOKED_AT 64            /* calibrations of other hosts, to say what is wrong with them */

const struct gus_calibrated_key *gus_calibrated_key_here(void)
{
	static struct gus_calibrated_key here, *const k = &here;
	struct utsname u;

	if (*k->hostname)
		return k;
	gus_host_key_read(&k->host);
	for (int i = 0; i < GUS_HOST_PARTS; i++) {
		char *text = k->host.part[i];

		for (char *at = text; *at; at++)
			*at = *at == '"' ? '\'' : *at; /* which no text of a table can have */
		k->values[i] = (struct gus_uarch_valid){ gus_host_part_name((enum gus_host_part)i),
							 *text ? text : "none" };
	}
	snprintf(k->hostname, sizeof(k->hostname), "%s", uname(&u) == 0 && *u.nodename ? u.nodename : "this host");
	return k;
}

/* The value of a variable that is a path from the root on, as the XDG base directory specification has it. */
static const char *whole_path(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value == '/' ? value : NULL;
}

/* Where they are kept; NULL if there is no such place. */
static char *folder_of_user(void)
{
	const char *folder = whole_path("GUSPROF_DATA");

	if (folder || getenv("GUSPROF_DATA"))
		return folder ? gus_strdup(folder) : NULL;
	folder = whole_path("XDG_DATA_HOME");
	if (folder)
		return gus_format("%s/gusprof", folder);
	folder = whole_path("HOME");
	return folder ? gus_format("%s/.local/share/gusprof", folder) : NULL;
}

/* FNV-1a of all of the key, 64 bits: the name is to differ and no more, as what is read in the file decides. */
static char *name_of(const struct gus_calibrated_key *k)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (int i = 0; i < GUS_HOST_PARTS; i++)
		for (const char *at = k->values[i].value;; at++) {
			hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
			if (!*at)
				break;
		}
	return gus_format("host-%016" PRIx64, hash);
}

char *gus_calibrated_path(const struct gus_calibrated_key *k)
{
	char *folder = folder_of_user(), *name = name_of(k);
	char *path = folder ? gus_format("%s/%s" SUFFIX, folder, name) : NULL;

	free(folder);
	free(name);
	return path;
}

char *gus_calibrated_misfit(const struct gus_calibrated_key *k, const struct gus_uarch *u)
{
	const struct gus_uarch_valid *other = gus_uarch_misfit(u, k->values, GUS_HOST_PARTS);

	for (int i = 0; other && i < GUS_HOST_PARTS; i++)
		if (strcmp(k->values[i].key, other->key) == 0)
			return gus_format("it is of %s %s, and here it is %s", other->key, other->value,
					  k->values[i].value);
	return other ? gus_format("it is of %s %s, and nothing is known of that here", other->key, other->value) : NULL;
}

/* How many of the keys before the first that differs are the same: of those that do not fit the one is told of that is
 * most like this host. */
static unsigned likeness(const struct gus_calibrated_key *k, const struct gus_uarch *u)
{
	unsigned n = 0;

	while (n < (unsigned)GUS_HOST_PARTS) {
		const char *value = gus_uarch_valid_value(u, k->values[n].key);

		if (!value || strcmp(value, k->values[n].value) != 0)
			break;
		n++;
	}
	return n;
}

/* Unless it says so itself. */
static void say_what_to_do(struct gus_error *err, const char *what)
{
	struct gus_error why = *err;

	if (strstr(why.text, what))
		return;
	*err = (struct gus_error){ 0 };
	gus_fail(err, why.code, "%s; %s", why.text, what);
	err->sys = why.sys;
}

/* One file, of at most *left bytes, which its own are taken from; if there were more before and it has more than these,
 * none is left. NULL with err. */
static struct gus_uarch *load(struct gus_store *s, const char *path, const char *name, size_t *left,
			      struct gus_error *err)
{
	size_t size = 0;
	uint8_t *text = gus_store_read(s, name, *left, &size);
	struct gus_uarch *u;

	if (!text)
		gus_fail_errno(err, errno, "cannot read the calibration %s", path);
	if (!text && err->sys == EFBIG && *left < GUS_LIMIT_CALIBRATION_FILE)
		*left = 0;
	if (!text && (err->code == GUS_E_NOT_FOUND || gus_error_is_transient(err)))
		return NULL;
	if (!text) {
		*err = (struct gus_error){ 0 };
		gus_fail(err, GUS_E_PERMISSION, "cannot use the calibration %s: it is no file of this user's that "
			 "nobody else may write to, of %zu bytes at most", path, GUS_LIMIT_CALIBRATION_FILE);
		return NULL;
	}
	*left -= size;
	u = gus_uarch_parse(path, (const char *)text, size, &gus_uarch_builtin, 0, err);
	free(text);
	if (u && u->valids_n)
		return u;
	if (u)
		gus_fail(err, GUS_E_CORRUPT, "cannot use the calibration %s: it does not say for which host it is "
			 "valid", path);
	say_what_to_do(err, "run 'gusprof calibrate' again"); /* wherever it was cut or spoilt, it is of no use */
	gus_uarch_free(u);
	return NULL;
}

/* What of the key a calibration does not say; NULL: it says all. What is kept is by all of it, so that no host finds
 * another's there. */
static char *tell_missing(const struct gus_calibrated_key *k, const struct gus_uarch *u)
{
	for (int i = 0; i < GUS_HOST_PARTS; i++)
		if (!gus_uarch_valid_value(u, k->values[i].key))
			return gus_format("it does not say of which %s it is", k->values[i].key);
	return NULL;
}

static char *why_not(const struct gus_calibrated_key *k, const struct gus_uarch *u)
{
	char *misfit = gus_calibrated_misfit(k, u);

	return misfit ? misfit : tell_missing(k, u);
}

/* Of all others, the one that is most like this host, as a sentence. They may have so many bytes together as one. */
static char *tell_others(struct gus_store *s, const char *folder, const struct gus_calibrated_key *k)
{
	char **names = gus_store_names(s), *best = NULL;
	size_t left = GUS_LIMIT_CALIBRATION_FILE, i;
	int best_like = -1;

	for (i = 0; names[i] && i < LOOKED_AT && left; i++) {
		char *path = gus_format("%s/%s" SUFFIX, folder, names[i]), *misfit = NULL;
		struct gus_error err = { 0 };
		struct gus_uarch *u = load(s, path, names[i], &left, &err);
		int like = u ? (int)likeness(k, u) : 0;

		if (u)
			misfit = why_not(k, u);
		if (like > best_like && (misfit || !u)) {
			free(best);
			best = u ? gus_format("the calibration %s is not used: %s; run 'gusprof calibrate' again",
					      path, misfit) : gus_strdup(err.text);
			best_like = like;
		}
		free(misfit);
		free(path);
		gus_uarch_free(u);
	}
	if (best && (names[i] || !left)) {
		char *part = best;

		best = gus_format("%s (there are more, which were not looked at)", part);
		free(part);
	}
	gus_store_names_free(names);
	return best;
}

/* The folder if it is there, which is not made to be read. NULL: there is none; or with err. */
static struct gus_store *open_folder(const char *folder, struct gus_error *err)
{
	if (!folder || (access(folder, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)))
		return NULL;
	return gus_store_open(folder, SUFFIX, UINT64_MAX, err);
}

/* This host's own file. NULL with err, NOT_FOUND also of one that somebody has given another's name. */
static struct gus_uarch *load_own(struct gus_store *s, const struct gus_calibrated_key *k, struct gus_error *err)
{
	char *name = name_of(k), *path = gus_calibrated_path(k), *misfit = NULL;
	size_t left = GUS_LIMIT_CALIBRATION_FILE;
	struct gus_uarch *u = load(s, path, name, &left, err);

	if (u)
		misfit = why_not(k, u);
	if (misfit) {
		gus_fail(err, GUS_E_NOT_FOUND, "%s", misfit);
		gus_uarch_free(u);
		u = NULL;
	}
	free(misfit);
	free(name);
	free(path);
	return u;
}

struct gus_uarch *gus_calibrated_load(const struct gus_calibrated_key *k, char **why, struct gus_error *err)
{
	char *folder = folder_of_user();
	struct gus_error wrong = { 0 };
	struct gus_store *s = open_folder(folder, &wrong);
	struct gus_uarch *u = s ? load_own(s, k, &wrong) : NULL;

	*why = NULL;
	if (gus_error_is_transient(&wrong))
		*err = wrong;
	else if (s && wrong.code == GUS_E_NOT_FOUND)
		*why = tell_others(s, folder, k);
	else if (wrong.code)
		*why = gus_format("%s%s", s ? "" : "no calibration is used: ", wrong.text);
	gus_store_close(s);
	free(folder);
	return u;
}

/* The folder, which is made if need be; NULL with err. */
static struct gus_store *make_folder(struct gus_error *err)
{
	char *folder = folder_of_user();
	struct gus_store *s = NULL;

	if (folder)
		s = gus_store_open(folder, SUFFIX, UINT64_MAX, err);
	else
		gus_fail(err, GUS_E_NOT_FOUND, "cannot keep the calibration: XDG_DATA_HOME and HOME are not set, or "
			 "GUSPROF_DATA is no path from the root on; name a file with -o");
	free(folder);
	return s;
}

int gus_calibrated_prepare(struct gus_error *err)
{
	struct gus_store *s = make_folder(err);
	int rc = s ? gus_store_check(s, err) : -1;

	if (rc != 0)
		say_what_to_do(err, "name a file with -o");
	gus_store_close(s);
	return rc;
}

int gus_calibrated_write(const struct gus_calibrated_key *k, const char *text, size_t size, struct gus_error *err)
{
	struct gus_store *s = make_folder(err);
	char *name = name_of(k);
	int rc = s ? gus_store_write(s, name, text, size, err) : -1;

	gus_store_close(s);
	free(name);
	return rc;
}

int gus_calibrated_forget(const struct gus_calibrated_key *k, struct gus_error *err)
{
	char *folder = folder_of_user(), *name = name_of(k);
	struct gus_store *s = open_folder(folder, err);
	int rc = !s ? (err->code ? -1 : 0) : gus_store_remove(s, name, err);

	gus_store_close(s);
	free(folder);
	free(name);
	return rc;
}
