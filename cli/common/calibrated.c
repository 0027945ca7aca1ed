/* SPDX-License-Identifier: MIT */
#include "cli/common/calibrated.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/common/json.h"
#include "cli/common/calibrations.h"
#include "cli/common/print.h"
#include "model/tables/uarch.h"

/* Why it is not this host's; NULL: it is. */
static char *misfit_here(const struct gus_uarch *u)
{
	return gus_calibrated_misfit(gus_calibrated_key_here(), u);
}

const char *gus_calibrated_file(const struct gus_uarch *u)
{
	return u->valids_n ? u->files[0] : NULL;
}

long gus_calibrated_days(const struct gus_uarch *u)
{
	const char *file = gus_calibrated_file(u);
	time_t now = time(NULL);
	struct stat st;

	if (!file || stat(file, &st) != 0)
		return -1;
	return now > st.st_mtime ? (now - st.st_mtime) / (24 * 60 * 60) : 0;
}

void gus_calibrated_text(const struct gus_uarch *u)
{
	char *why = u->valids_n ? misfit_here(u) : NULL;

	if (!u->valids_n)
		return;
	gus_print("calibrated: %s, from %s, valid for", u->files[0], u->likes_n ? u->likes[0] : u->name);
	for (uint32_t i = 0; i < u->valids_n; i++)
		gus_print("%s %s %s", i ? "," : "", u->valids[i].key, u->valids[i].value);
	gus_print("\n");
	if (why)
		gus_print("            which is not this machine: %s\n", why);
	free(why);
}

json_t *gus_calibrated_json(const struct gus_uarch *u)
{
	char *why;
	json_t *o, *valid;

	if (!u->valids_n)
		return json_null();
	why = misfit_here(u);
	o = json_object();
	valid = json_object();
	for (uint32_t i = 0; i < u->valids_n; i++)
		json_object_set_new(valid, u->valids[i].key, gus_json_word(u->valids[i].value));
	json_object_set_new(o, "file", gus_json_word(u->files[0]));
	json_object_set_new(o, "nearest", u->likes_n ? gus_json_word(u->likes[0]) : json_null());
	json_object_set_new(o, "valid", valid);
	json_object_set_new(o, "misfit", gus_json_word(why));
	free(why);
	return o;
}
