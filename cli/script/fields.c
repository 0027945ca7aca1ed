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
	{ "brstacksym", GUS_FIELD_BRSTACKSYM },
};
#define KNOWN (sizeof(known) / sizeof(*known))

/* Fields of perf's that no recording of ours can have. */
static const char *const absent[] = {
	"trace", "addr", "iregs", "uregs", "data_src", "weight", "bpf-output", "brstackinsn", "brstackinsnlen",
	"brstackoff", "callindent", "insn", "insnlen", "synth", "phys_addr", "metric", "misc", "srccode", "ipc", "tod",
	"data_page_size", "code_page_size", "ins_lat", "flags", "machine_pid", "vcpu", "cgroup", "retire_lat",
};

static int unknown(const char *name, struct gus_error *err)
{
	const char *names[KNOWN];
	char meant[64];

	for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++)
		if (strcmp(absent[i], name) == 0)
			return gus_fail(err, GUS_E_USAGE, "-F %s: gusprof records no such thing", name);
	if (strchr(name, ':'))
		return gus_fail(err, GUS_E_USAGE, "-F takes fields without a type before them, not '%s'", name);
	for (size_t i = 0; i < KNOWN; i++)
		names[i] = known[i].name;
	gus_suggest_format(gus_suggest(name, names, KNOWN), meant, sizeof(meant));
	return gus_fail(err, GUS_E_USAGE, "-F knows comm, tid, pid, cpu, time, period, event, ip, sym, symoff, dso, "
			"srcline, brstack and brstacksym, not '%s'%s", name, meant);
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
