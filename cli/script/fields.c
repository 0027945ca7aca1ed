/* SPDX-License-Identifier: MIT */
#include "cli/script/fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/suggest.h"

static const struct { const char *name; unsigned field; } known[] = {
	{ "comm", GUS_FIELD_COMM }, { "tid", GUS_FIELD_TID }, { "pid", GUS_FIELD_PID }, { "cpu", GUS_FIELD_CPU },
	{ "time", GUS_FIELD_TIME }, { "period", GUS_FIELD_PERIOD }, { "event", GUS_FIELD_EVENT },
	{ "ip", GUS_FIELD_IP }, { "sym", GUS_FIELD_SYM }, { "symoff", GUS_FIELD_SYM | GUS_FIELD_SYMOFF },
	{ "dso", GUS_FIELD_DSO }, { "srcline", GUS_FIELD_SRCLINE }, { "brstack", GUS_FIELD_BRSTACK },
	{ "brstacksym", GUS_FIELD_BRSTACKSYM }, { "brstackoff", GUS_FIELD_BRSTACKOFF }, { "misc", GUS_FIELD_MISC },
	{ "addr", GUS_FIELD_ADDR }, { "data_src", GUS_FIELD_DATA_SRC }, { "weight", GUS_FIELD_WEIGHT },
	{ "ins_lat", GUS_FIELD_INS_LAT }, { "retire_lat", GUS_FIELD_RETIRE_LAT },
	{ "transaction", GUS_FIELD_TRANSACTION }, { "cgroup", GUS_FIELD_CGROUP }, { "iregs", GUS_FIELD_IREGS },
	{ "uregs", GUS_FIELD_UREGS }, { "raw", GUS_FIELD_RAW }, { "phys_addr", GUS_FIELD_PHYS_ADDR },
	{ "data_page_size", GUS_FIELD_DATA_PAGE }, { "code_page_size", GUS_FIELD_CODE_PAGE },
	{ "psv", GUS_FIELD_PSV }, { "issue_lat", GUS_FIELD_ISSUE_LAT },
	{ "translation_lat", GUS_FIELD_TRANSLATION_LAT },
};
#define KNOWN (sizeof(known) / sizeof(*known))

/* Fields of perf's that no recording of ours can have, or that are nothing of a sample; and what is told elsewhere. */
static const struct { const char *name, *instead; } absent[] = {
	{ "trace", "raw has the bytes of a tracepoint" }, { "bpf-output", "raw has the bytes" },
	{ "brcntr", "'gusprof dump' shows the counts beside branches" }, { "brstackinsn", NULL },
	{ "brstackinsnlen", NULL }, { "brstackdisasm", NULL }, { "callindent", NULL }, { "insn", NULL },
	{ "insnlen", NULL }, { "disasm", NULL }, { "synth", NULL }, { "metric", NULL }, { "srccode", NULL },
	{ "ipc", NULL }, { "tod", NULL }, { "flags", NULL }, { "machine_pid", NULL }, { "vcpu", NULL },
	{ "dsoff", NULL },
};

static int unknown(const char *name, struct gus_error *err)
{
	const char *names[KNOWN];
	char meant[64];

	for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++)
		if (strcmp(absent[i].name, name) == 0)
			return gus_fail(err, GUS_E_USAGE, "-F %s: %s", name, absent[i].instead ? absent[i].instead :
					"gusprof records no such thing");
	if (strchr(name, ':'))
		return gus_fail(err, GUS_E_USAGE, "-F takes fields without a type before them, not '%s'", name);
	for (size_t i = 0; i < KNOWN; i++)
		names[i] = known[i].name;
	gus_suggest_format(gus_suggest(name, names, KNOWN), meant, sizeof(meant));
	return gus_fail(err, GUS_E_USAGE, "-F knows no field '%s'%s; --help names all", name, meant);
}

/* To take sym away takes its offset, too; to take symoff away leaves sym. */
static unsigned less(unsigned fields, unsigned field)
{
	if (field == GUS_FIELD_SYM)
		return fields & ~(unsigned)(GUS_FIELD_SYM | GUS_FIELD_SYMOFF);
	return fields & ~(field & GUS_FIELD_SYMOFF ? (unsigned)GUS_FIELD_SYMOFF : field);
}

static int take(char sign, const char *name, unsigned *fields, struct gus_error *err)
{
	for (size_t i = 0; i < KNOWN; i++)
		if (strcmp(known[i].name, name) == 0) {
			*fields = sign == '-' ? less(*fields, known[i].field) : *fields | known[i].field;
			return 0;
		}
	return unknown(name, err);
}

const char *gus_fields_name(unsigned field)
{
	size_t i = 0;

	while (i < KNOWN - 1 && known[i].field != field)
		i++;
	return known[i].name;
}

int gus_fields_parse(const char *text, unsigned *fields, struct gus_error *err)
{
	bool changes = *text == '+' || *text == '-';
	int rc = 0;

	*fields = changes ? GUS_FIELDS_DEFAULT : 0;
	while (rc == 0 && *text) {
		size_t length = strcspn(text, ",");
		char sign = length && (*text == '+' || *text == '-') ? *text : '\0';
		char *name = gus_strndup(text + (sign != '\0'), length - (sign != '\0'));

		if ((sign != '\0') != changes)
			rc = gus_fail(err, GUS_E_USAGE, "-F takes fields, or changes (+field, -field), and not both: "
				      "'%s'", text);
		else
			rc = take(sign, name, fields, err);
		free(name);
		text += length + (text[length] == ',');
	}
	if (rc == 0 && !*fields)
		rc = gus_fail(err, GUS_E_USAGE, "-F leaves no field");
	return rc;
}
