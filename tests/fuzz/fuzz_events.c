/* SPDX-License-Identifier: MIT */
/* Fuzz target of what a user writes, event lists and --control, and of what the lists are read against: a made-up sysfs
 * with PMUs of one or more kinds of cores. The input is pieces between zero bytes: the list, then the texts of the
 * files below, of which those with an empty piece are not there. An event that is given out can be named, rated and
 * handed to the kernel; a list that is refused has a reason. Commands are those that the lines are, and no others. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collector/events/attr.h"
#include "collector/events/event.h"
#include "collector/session/control.h"
#include "tests/fuzz/foreign_file.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define DEVICES "bus/event_source/devices/"
#define LIST_MAX 2048      /* bytes of an event list: what is longer is more of the same */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	const char *path;
	char *text; /* what is in it now; NULL: it is not there */
} files[] = {
	{ DEVICES "cpu/type" }, { DEVICES "cpu/cpus" }, { DEVICES "cpu/cpumask" }, { DEVICES "cpu/format/event" },
	{ DEVICES "cpu/format/umask" }, { DEVICES "cpu/format/ldlat" }, { DEVICES "cpu/events/cpu-cycles" },
	{ DEVICES "cpu/events/mem-loads" }, { DEVICES "cpu/events/mem-loads.scale" }, { DEVICES "cpu/events/slots" },
	{ DEVICES "cpu/events/topdown-retiring" }, { DEVICES "cpu/events/topdown-bad-spec" },
	{ DEVICES "cpu/events/topdown-fe-bound" }, { DEVICES "cpu/events/topdown-be-bound" },
	{ DEVICES "cpu_atom/type" }, { DEVICES "cpu_atom/cpus" }, { DEVICES "cpu_atom/format/event" },
	{ DEVICES "arm/type" }, { DEVICES "arm/caps/slots" }, { DEVICES "arm/events/cpu_cycles" },
	{ DEVICES "arm/events/stall_slot" }, { DEVICES "arm/events/stall_slot_frontend" },
	{ DEVICES "arm/events/stall_slot_backend" }, { DEVICES "arm/events/op_retired" },
	{ DEVICES "arm/events/op_spec" }, { DEVICES "arm/events/br_mis_pred" },
	{ DEVICES "uncore/type" }, { DEVICES "uncore/cpumask" }, { DEVICES "uncore/events/reads" },
	{ "kernel/tracing/events/sched/sched_switch/id" },
};

static char root[256];

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void remove_tree(void)
{
	char *command = gus_format("rm -rf '%s'", root);

	if (system(command) != 0)
		perror(root);
	free(command);
	for (size_t i = 0; i < COUNT(files); i++)
		free(files[i].text);
}

static void make_tree(void)
{
	const char *place = getenv("TMPDIR");
	char *fifo;

	snprintf(root, sizeof(root), "%s/gusprof-fuzz-XXXXXX", place ? place : "/tmp");
	demand(mkdtemp(root) != NULL);
	atexit(remove_tree);
	for (size_t i = 0; i < COUNT(files); i++) {
		char *command = gus_format("mkdir -p \"$(dirname '%s/%s')\"", root, files[i].path);

		demand(system(command) == 0);
		free(command);
	}
	fifo = gus_format("%s/fifo", root);
	demand(mkfifo(fifo, 0600) == 0);
	free(fifo);
	/* A CPU that libpfm4 takes this one for, so that every machine reads the same names. */
	setenv("LIBPFM_FORCE_PMU", "skl", 1);
}

/* Files that are as they were are left alone: writing them is what takes the time. */
static void set_file(size_t i, const char *text)
{
	char *path;
	FILE *f;

	if (files[i].text ? strcmp(files[i].text, text) == 0 : !*text)
		return;
	free(files[i].text);
	files[i].text = *text ? gus_strdup(text) : NULL;
	path = gus_format("%s/%s", root, files[i].path);
	if (!*text) {
		unlink(path);
	} else {
		f = fopen(path, "w");
		demand(f && fputs(text, f) >= 0 && fclose(f) == 0);
	}
	free(path);
}

/* The next piece, terminated; empty behind the last. */
static char *piece(const char **at, const char *end)
{
	char *text = gus_strndup(*at, (size_t)(end - *at));

	*at += strlen(text);
	*at += *at < end;
	return text;
}

static void check_event(struct gus_event *e, uint8_t rate)
{
	const struct gus_attr_plan plan = { .features = GUS_ATTR_ALL,
					    .cargo = { .chain = rate & 1, .branch_type = rate & 2 } };
	union gus_attr attr;
	char *name;

	demand(*e->asked && *e->base && strncmp(e->name, e->base, strlen(e->base)) == 0 && *e->unit);
	demand(e->precise <= GUS_PRECISE_MAX);
	name = gus_strdup(e->name);
	gus_event_set_rate(e, rate ? 1000u * rate : 0, rate ? 0 : 12345);
	demand(e->period || e->frequency);
	gus_attr_fill(&attr, e, &plan, true);
	demand(attr.kernel.type == e->type && attr.kernel.config == e->config);
	if (gus_event_is_hardware(e) && gus_event_exclude_kernel(e))
		demand(strstr(e->name, "u") != NULL);
	else
		demand(strcmp(name, e->name) == 0);
	free(name);
}

static void event_list(const char *at, const char *end, uint8_t choice)
{
	char *text = piece(&at, at + (end - at > LIST_MAX ? LIST_MAX : end - at));
	struct gus_events list = { 0 };
	struct gus_error err = { 0 };
	struct gus_pmus pmus;

	for (size_t i = 0; i < COUNT(files); i++) {
		char *content = piece(&at, end);

		set_file(i, content);
		free(content);
	}
	gus_pmus_init(&pmus, root);
	if (gus_events_parse(&list, text, &pmus, &err) == 0)
		demand(list.n > 0 && !err.text[0]);
	else
		demand((err.code == GUS_E_USAGE || err.code == GUS_E_UNSUPPORTED) && err.text[0]);
	for (size_t i = 0; i < list.n && !err.text[0]; i++)
		check_event(&list.v[i], choice);
	if (files[1].text)
		gus_cpus_has(files[1].text, choice);
	gus_events_free(&list);
	gus_pmus_free(&pmus);
	free(text);
}

/* FIFOs are looked for in the made-up tree only. */
static void control_spec(const char *text)
{
	char *spec = strncmp(text, "fifo:", 5) == 0 ? gus_format("fifo:%s/%s", root, text + 5) : gus_strdup(text);
	const char *second = strchr(text, ',');
	struct gus_error err = { 0 };
	struct gus_control c;

	if (strncmp(text, "fifo:", 5) == 0 && second) {
		free(spec);
		spec = gus_format("fifo:%s/%.*s,%s/%s", root, (int)(second - text - 5), text + 5, root, second + 1);
	}
	gus_control_init(&c);
	if (strstr(spec, "..") == NULL && gus_control_open(&c, spec, &err) != 0)
		demand(err.code != GUS_OK && err.text[0] && c.in == -1 && c.ack == -1);
	else if (c.own)
		gus_control_acknowledge(&c);
	gus_control_close(&c);
	free(spec);
}

static enum gus_command expected(const char *line, size_t length)
{
	static const struct { const char *word; enum gus_command command; } words[] = {
		{ "enable", GUS_COMMAND_ENABLE }, { "disable", GUS_COMMAND_DISABLE }, { "stop", GUS_COMMAND_STOP },
		{ "snapshot", GUS_COMMAND_SNAPSHOT }, { "ping", GUS_COMMAND_PING }, { "evlist", GUS_COMMAND_EVENTS },
	};

	length -= length && line[length - 1] == '\r';
	for (size_t i = 0; i < COUNT(words); i++)
		if (length == strlen(words[i].word) && memcmp(line, words[i].word, length) == 0)
			return words[i].command;
	return GUS_COMMAND_UNKNOWN;
}

static void control_commands(const char *at, const char *end)
{
	static struct foreign_file file;
	struct gus_control c;
	enum gus_command got;

	gus_control_init(&c);
	c.in = open(foreign_file(&file, (const uint8_t *)at, (size_t)(end - at)), O_RDONLY | O_CLOEXEC);
	demand(c.in >= 0);
	while (!c.ended) {
		gus_control_read(&c);
		while ((got = gus_control_next(&c)) != GUS_COMMAND_NONE) {
			const char *stop = memchr(at, '\n', (size_t)(end - at));

			demand(stop && got == expected(at, (size_t)(stop - at)));
			demand(strlen(c.line) < sizeof(c.line));
			at = stop + 1;
		}
	}
	demand(!memchr(at, '\n', (size_t)(end - at)));
	close(c.in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data + 1, *end = (const char *)data + size;
	char *spec;

	if (!size)
		return 0;
	if (!*root)
		make_tree();
	if (data[0] & 128) {
		spec = piece(&at, end);
		control_spec(spec);
		free(spec);
		control_commands(at, end);
	} else {
		event_list(at, end, data[0]);
	}
	return 0;
}
