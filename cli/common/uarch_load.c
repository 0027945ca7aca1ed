/* SPDX-License-Identifier: MIT */
#include "cli/common/uarch_load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/topdown/cpu.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "cli/common/calibrations.h"
#include "cli/common/recording.h"
#include "collector/host/host.h"
#include "collector/host/key.h"
#include "model/tables/builtin.h"
#include "model/tables/cpus.h"
#include "proto/reader.h"

const char *gus_uarch_nearest_to_host(enum gus_isa isa, const struct gus_cpu_features *features)
{
	Gusprof__Host *host = gus_host_describe("/sys");
	struct gus_cpu_id id = gus_topdown_cpu(host);
	const char *name = gus_uarch_nearest(isa, &id, features);

	gusprof__host__free_unpacked(host, NULL);
	return name;
}

const char *gus_uarch_of_host(const struct Gusprof__Host *host)
{
	struct gus_cpu_id id = gus_topdown_cpu(host);
	const char *name = gus_uarch_of_cpu(&id);

	return name ? gus_uarch_builtin_find(name) : NULL;
}

/* Whether that machine is this one, whose calibration holds for no other; see gus_host_key_is_here. */
static bool is_here(const struct Gusprof__Host *host)
{
	return gus_host_key_is_here(host);
}

const char *gus_uarch_host(void)
{
	Gusprof__Host *host = gus_host_describe("/sys");
	const char *name = gus_uarch_of_host(host);

	gusprof__host__free_unpacked(host, NULL);
	return name;
}

const char *gus_uarch_host_cpu(void)
{
	Gusprof__Host *host = gus_host_describe("/sys");
	struct gus_cpu_id id = gus_topdown_cpu(host);
	const char *name = gus_uarch_cpu(&id);

	gusprof__host__free_unpacked(host, NULL);
	return name;
}

char *gus_uarch_read(const char *path, const char *what, size_t limit, size_t *size, struct gus_error *err)
{
	bool standard = strcmp(path, "-") == 0;
	FILE *f = standard ? stdin : fopen(path, "re");
	struct gus_vec(char) bytes = { 0 };
	size_t got;

	if (!f) {
		gus_fail_errno(err, errno, "cannot open %s %s", what, path);
		return NULL;
	}
	do {
		gus_vec_reserve(&bytes, bytes.n + 65536);
		got = fread(bytes.v + bytes.n, 1, 65536, f);
		bytes.n += got;
	} while (got && bytes.n < limit);
	if (ferror(f) || bytes.n >= limit) {
		if (ferror(f))
			gus_fail_errno(err, errno, "cannot read %s %s", what, path);
		else
			gus_fail(err, GUS_E_CORRUPT, "cannot use %s: it is too long for %s", path, what);
		gus_vec_free(&bytes);
	}
	if (!standard)
		fclose(f);
	*size = bytes.n;
	return bytes.v;
}

static struct gus_uarch *load_file(const char *path, unsigned flags, struct gus_error *err)
{
	struct gus_uarch *u;
	size_t size;
	char *text = gus_uarch_read(path, "the table", GUS_LIMIT_TABLE_FILE, &size, err);

	if (!text)
		return NULL;
	u = gus_uarch_parse(path, text, size, &gus_uarch_builtin, flags, err);
	free(text);
	return u;
}

/* This host's calibration, or NULL; what is wrong with those that there are is said once. With err it is not known
 * whether there is one. */
static struct gus_uarch *load_calibrated(struct gus_error *err)
{
	static bool told;
	char *why;
	struct gus_uarch *u = gus_calibrated_load(gus_calibrated_key_here(), &why, err);

	if (why && !told)
		gus_text_print(stderr, "gusprof: %s\n", why);
	told = why || told;
	free(why);
	return u;
}

struct gus_uarch *gus_uarch_load(const char *what, unsigned flags, struct gus_error *err)
{
	bool nominal = what && strcmp(what, "nominal") == 0, host = !what || nominal || strcmp(what, "host") == 0;
	const char *name = host ? gus_uarch_host() : gus_uarch_builtin_find(what);
	struct gus_error why = { 0 };
	struct gus_uarch *calibrated = host && !nominal && !(flags & GUS_UARCH_PLAIN) ? load_calibrated(&why) : NULL;

	if (why.code)
		*err = why;
	if (calibrated || why.code)
		return calibrated;
	if (name)
		return gus_uarch_parse(name, NULL, 0, &gus_uarch_builtin, flags, err);
	if (host) {
		gus_fail(err, GUS_E_NOT_FOUND,
			 "there is no table for this machine's CPU; name one with --uarch (see gusprof uarch list), or "
			 "have one made by gusprof calibrate");
		return NULL;
	}
	/* A name without a slash that is no file was most likely meant as a CPU. */
	if (!strchr(what, '/')) {
		FILE *f = fopen(what, "re");

		if (!f) {
			gus_fail(err, GUS_E_NOT_FOUND,
				 "there is neither a CPU nor a file called %s; see gusprof uarch list", what);
			return NULL;
		}
		fclose(f);
	}
	return load_file(what, flags, err);
}

const char *gus_uarch_of_recording(const char *path, const char *name, struct gus_error *err)
{
	struct gus_reader *reader = gus_recording_open(path, err);
	const Gusprof__Host *host = reader ? gus_reader_header(reader)->host : NULL;
	const char *table = host ? gus_uarch_of_host(host) : NULL;
	bool here = host && is_here(host);

	if (reader && !table)
		gus_fail(err, GUS_E_NOT_FOUND, "there is no table for the CPU that %s was made on; name one with "
			 "--uarch: see gusprof uarch list", gus_recording_name(name));
	gus_reader_close(reader);
	return table && here ? "host" : table;
}
