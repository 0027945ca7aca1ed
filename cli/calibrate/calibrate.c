/* SPDX-License-Identifier: MIT */
/* gusprof calibrate: has this machine timed, and keeps what was found as its table. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#include <asm/hwcap.h>
#endif

#include "base/alloc.h"
#include "base/error.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/calibrate/fits.h"
#include "cli/calibrate/host.h"
#include "cli/calibrate/recording.h"
#include "cli/calibrate/sound.h"
#include "cli/calibrate/view.h"
#include "cli/common/calibrations.h"
#include "cli/common/calibrated_key.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/common/progress.h"
#include "cli/common/recording.h"
#include "cli/common/uarch_load.h"
#include "cli/screen/screen.h"
#include "cli/verbs.h"
#include "collector/timing/sharing.h"
#include "collector/timing/timing.h"
#include "model/calibration/fit.h"
#include "model/calibration/fitted.h"
#include "model/calibration/host.h"
#include "model/calibration/written.h"
#include "model/tables/builtin.h"
#include "model/tables/cpus.h"

struct calibrate_options {
	bool quick, full, check, forget, quiet;
	const char *recording, *output, *nearest;
	int64_t cpu;                    /* -1: any */
	int format;                     /* enum format */
	struct gus_screen_options screen;
};

enum format { TEXT, JSON };
/* A quarter of what is promised, and of what is promised of --full two thirds: the rest is for what is begun by then.
 * Where the core's other thread is busy half of all microbenchmarks don't settle, and with half a minute's half of
 * patience --quick took 33 s. */
static const uint64_t QUICK_PATIENT_NS = 8000000000, FULL_PATIENT_NS = 200000000000;
/* The share of all samples from which on it is worth a word that another thread of the core was busy beside them. */
static const double NEIGHBOUR = 0.05;

#define AT(field) offsetof(struct calibrate_options, field)
#define MEASURES "quick full recording output cpu nearest"
static const struct gus_option options[] = {
	{ 0, "quick", NULL, "What most figures rest on, in less than half a minute (the default).", GUS_OPTION_FLAG,
	  AT(quick), .fit = { .excludes = "full" } },
	{ 0, "full", NULL, "All that can be told, in less than five minutes.", GUS_OPTION_FLAG, AT(full) },
	{ 0, "recording", "FILE", "Measure the instruction forms of this recording's hot code as well; - for standard "
	  "input.", GUS_OPTION_STRING, AT(recording), .choices = "@file", .filled = true },
	{ 'o', "output", "FILE", "Write the table there, - for standard output, in place of keeping it as this "
	  "machine's.", GUS_OPTION_STRING, AT(output), .choices = "@file", .filled = true },
	{ 0, "cpu", "N", "Measure on this CPU; by default on the one that we are on.", GUS_OPTION_SIGNED, AT(cpu),
	  .bounds = { 0, 1000000 } },
	{ 0, "nearest", "NAME", "Begin from this table of `gusprof uarch list`, not from the one for such CPUs.",
	  GUS_OPTION_STRING, AT(nearest), .filled = true },
	{ 0, "check", NULL, "Measure nothing: say which calibration --uarch host is, or why there is none. The exit "
	  "status is 1 then.", GUS_OPTION_FLAG, AT(check), .fit = { .excludes = MEASURES " forget" } },
	{ 0, "forget", NULL, "Measure nothing: remove what is kept of this machine.", GUS_OPTION_FLAG, AT(forget),
	  .fit = { .excludes = MEASURES " format" } },
	{ 0, "format", "FORMAT", "text (the default) or json, of --check as well.", GUS_OPTION_CHOICE, AT(format),
	  .choices = "text json" },
	GUS_SCREEN_OPTIONS(struct calibrate_options, screen),
	GUS_SCREEN_COLOUR_OPTIONS(struct calibrate_options, screen),
	{ 'q', "quiet", NULL, "No notes on stderr and no lines on how far it is, only warnings.", GUS_OPTION_FLAG,
	  AT(quiet) },
	{ 0 },
};

/* One call of the verb. */
struct calibrating {
	const struct calibrate_options *o;
	const struct gus_calibrated_key *key;
	struct gus_calibration_host host;
	bool host_is_open, own;         /* own: the nearest table is this CPU's */
	struct gus_uarch *nearest;
	struct gus_calibrate_insns insns;
	struct gus_fit fit;
	struct gus_calibrate_noise noise;
	struct gus_progress progress;
	struct gus_output output;       /* of -o FILE, while it has no name */
	bool has_output;
	struct gus_vec(char *) notes;
};

static bool to_stdout(const struct calibrating *c)
{
	return c->o->output && strcmp(c->o->output, "-") == 0;
}

static const char *how(const struct calibrating *c)
{
	return c->o->full ? "gusprof calibrate --full" : "gusprof calibrate --quick";
}

/* Before anything is measured. */

/* QEMU's own CPU, which its user mode has as well, has the times of a translator. */
static int refuse_emulator(struct calibrating *c, struct gus_error *err)
{
	if (strcmp(c->key->host.part[GUS_HOST_HYPERVISOR], "QEMU") != 0)
		return 0;
	return gus_fail(err, GUS_E_UNSUPPORTED, "cannot calibrate: this CPU is emulated by QEMU, so what would be "
			"timed is a translator and no hardware");
}

static struct gus_cpu_features features(const struct gus_calibration_host *host)
{
	struct gus_cpu_features f = { .avx2 = host->avx2, .avx512 = host->avx512 };

#if defined(__x86_64__)
	f.avx = __builtin_cpu_supports("avx");
#elif defined(__aarch64__)
	f.atomics = getauxval(AT_HWCAP) & HWCAP_ATOMICS;
	f.sve = getauxval(AT_HWCAP) & HWCAP_SVE;
	f.sve2 = getauxval(AT_HWCAP2) & HWCAP2_SVE2;
#endif
	return f;
}

static int load_nearest(struct calibrating *c, struct gus_error *err)
{
	const char *own = gus_uarch_host(), *name = c->o->nearest ? gus_uarch_builtin_find(c->o->nearest) : own;
	struct gus_cpu_features has = features(&c->host);

	if (c->o->nearest && !name)
		return gus_fail(err, GUS_E_USAGE, "there is no table called %s to begin from; see gusprof uarch list",
				c->o->nearest);
	if (!name)
		name = gus_uarch_nearest_to_host(c->host.isa, &has);
	c->own = own && strcmp(own, name) == 0;
	c->nearest = gus_uarch_parse(name, NULL, 0, &gus_uarch_builtin, 0, err);
	if (!c->nearest)
		return -1;
	if (c->nearest->isa != c->host.isa)
		return gus_fail(err, GUS_E_USAGE, "cannot begin from %s: it is a CPU of another ISA than this "
				"one", name);
	return 0;
}

/* Where the table will be must be there and ours before minutes are spent on it. */
static int prepare_output(struct calibrating *c, struct gus_error *err)
{
	signal(SIGXFSZ, SIG_IGN); /* a file that may not be so large is an error as others are */
	if (to_stdout(c) && (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return gus_fail(err, GUS_E_USAGE, "cannot write the calibration to standard output: it is closed");
	if (to_stdout(c))
		return 0;
	if (!c->o->output)
		return gus_calibrated_prepare(err);
	if (c->o->recording && gus_recording_check_output(c->o->recording, c->o->output, err) != 0)
		return -1;
	if (gus_output_create(&c->output, c->o->output, "calibration", err) != 0)
		return -1;
	c->has_output = true;
	return 0;
}

static int open_host(struct calibrating *c, struct gus_error *err)
{
	struct gus_timing_options timing = { .cpu = (int)c->o->cpu,
		.patient_ns = c->o->full ? FULL_PATIENT_NS : QUICK_PATIENT_NS };

	if (gus_calibrate_host_open(&timing, &c->host, err) != 0)
		return -1;
	c->host_is_open = true;
	return 0;
}

/* Other threads of the core take part in everything that is measured. */
static int refuse_company(struct calibrating *c, struct gus_error *err)
{
	struct gus_timing_sharing s;

	gus_progress(&c->progress, "who shares the core", -1);
	if (gus_timing_find_sharing(gus_calibrate_host_timing(&c->host), &s, err) != 0)
		return -1;
	if (s.with < 0)
		return 0;
	if (s.busy)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot calibrate: CPU %d is a thread of the same core (%s), "
				"and it is busy; calibrate when it is idle, or another core with --cpu", s.with,
				s.told ? "sysfs says so" : "measured: they slow each other down");
	gus_vec_push(&c->notes, gus_format("CPU %d is a thread of the same core%s; it was idle when this began", s.with,
					   s.told ? "" : " (measured: sysfs does not say so)"));
	return 0;
}

static int read_recording(struct calibrating *c, struct gus_error *err)
{
	if (!c->o->recording)
		return 0;
	if (gus_calibrate_recording(&c->insns, c->o->recording, c->host.isa, &c->progress, gus_cli_log(-1), err) != 0)
		return -1;
	gus_vec_push(&c->notes, gus_format("%zu forms are of %s; the code of %.1f%% of its time was at hand",
					   c->insns.list.n, gus_recording_name(c->o->recording), 100 * c->insns.told));
	return 0;
}

static void add_frequency(struct calibrating *c)
{
	struct gus_timing_facts t;
	struct gus_fit_fact f = { .name = "core_ghz", .unit = "GHz" };

	gus_timing_facts(gus_calibrate_host_timing(&c->host), &t);
	f.value = t.core_hz / 1e9;
	f.low = t.core_low / 1e9;
	f.high = t.core_high / 1e9;
	snprintf(f.why, sizeof(f.why), "%s, CPU %d", t.counter ? "the PMU's cycles" :
		 "chains of adds, whose latency is known", t.cpu);
	if (f.value > 0)
		gus_vec_push(&c->fit.facts, f);
	f = (struct gus_fit_fact){ .name = "clock_ghz", .unit = "GHz", .value = t.ticks_hz / 1e9,
		.low = t.ticks_hz / 1e9, .high = t.ticks_hz / 1e9, .why = "the clock that everything is timed by" };
	gus_vec_push(&c->fit.facts, f);
	if (!t.chains_agree)
		gus_vec_push(&c->notes, gus_strdup("chains of products and of adds do not agree on the frequency: "
						   "cycles are by adds alone"));
}

/* Who has the other thread of the core may be nobody that this machine knows of. */
static void tell_of_neighbour(struct calibrating *c)
{
	struct gus_timing_facts t;

	gus_timing_facts(gus_calibrate_host_timing(&c->host), &t);
	if (t.beside >= NEIGHBOUR)
		gus_vec_push(&c->notes, gus_format("another thread was busy on the core of CPU %d beside %.0f%% of all "
						   "samples, which count only where there are no others", t.cpu,
						   100 * t.beside));
}

static int measure(struct calibrating *c, struct gus_error *err)
{
	struct gus_calibration calibration = {
		.host = &c->host, .nearest = c->nearest, .insns = c->insns.list.v, .insns_n = c->insns.list.n,
		.depth = c->o->full ? GUS_CALIBRATION_FULL : GUS_CALIBRATION_QUICK,
	};

	if (gus_calibrate_fits(&calibration, &c->fit, &c->noise, &c->progress, err) != 0)
		return -1;
	if (gus_calibrate_troubled(&c->noise) > GUS_CALIBRATE_NOISY)
		gus_vec_push(&c->notes, gus_strdup("so much was disturbed here that all figures are less sure by one "
						   "degree"));
	if (gus_calibrate_beside(&c->noise) > GUS_CALIBRATE_BESIDE)
		gus_vec_push(&c->notes, gus_strdup("so much was timed beside another thread of the core that no "
						   "parameter has more than little confidence"));
	tell_of_neighbour(c);
	add_frequency(c);
	return 0;
}

/* The table. */

static int put_table(struct calibrating *c, const char *text, size_t size, struct gus_error *err)
{
	int why;

	if (!c->o->output)
		return gus_calibrated_write(c->key, text, size, err);
	if (gus_output_write(to_stdout(c) ? STDOUT_FILENO : c->output.fd, text, size) != 0)
		return gus_fail_errno(err, errno, "cannot write the calibration to %s",
				      to_stdout(c) ? "standard output" : c->o->output);
	if (to_stdout(c))
		return 0;
	c->has_output = false;
	why = gus_output_name(&c->output, err);
	close(c->output.fd);
	return why;
}

static int write_table(struct calibrating *c, struct gus_error *err)
{
	struct gus_calibration_about about = { .nearest = c->nearest, .host = c->key->hostname, .how = how(c),
		.key = c->key->values, .key_n = GUS_HOST_PARTS };
	char *text;
	size_t size;
	int rc;

	if (gus_calibrate_sound(&about, &c->fit, err) != 0)
		return -1;
	text = gus_calibration_text(&about, &c->fit, &size);
	rc = put_table(c, text, size, err);
	free(text);
	return rc;
}

/* What took so long is not lost with what is said of it. */
static int tell_not_shown(const char *path, int sys)
{
	gus_text_print(stderr, "gusprof: the table is written, as %s, but what was found cannot be shown on standard "
		       "output%s%s\n", path, sys ? ": " : "", sys ? strerror(sys) : "");
	__fpurge(stdout); /* which main would try to write, and say that it cannot */
	clearerr(stdout);
	return -1;
}

static int show(struct calibrating *c)
{
	struct gus_screen screen = gus_screen_of(stdout, &c->o->screen);
	char *path = c->o->output ? gus_strdup(c->o->output) : gus_calibrated_path(c->key);
	struct gus_calibrate_view v = {
		.key = c->key, .nearest = c->nearest, .own = c->own, .asked = c->o->nearest, .fit = &c->fit,
		.how = how(c), .path = path,
		.kept = !c->o->output, .recording = c->o->recording, .notes = (const char *const *)c->notes.v,
		.notes_n = c->notes.n, .noise = &c->noise, .screen = &screen,
	};
	int rc = 0, why;

	if (to_stdout(c)) /* which the table has */
		for (size_t i = 0; i < c->notes.n && !c->o->quiet; i++)
			gus_text_print(stderr, "gusprof: %s\n", c->notes.v[i]);
	else if (c->o->format == JSON)
		rc = gus_calibrate_json(&v);
	else
		gus_calibrate_text(&v);
	why = fflush(stdout) != 0 ? errno : 0;
	if ((rc != 0 || why || ferror(stdout)) && !to_stdout(c))
		rc = tell_not_shown(path, why);
	free(path);
	return rc == 0 ? 0 : GUS_EXIT_OWN_FAILURE;
}

static void end(struct calibrating *c)
{
	gus_progress_end(&c->progress);
	if (c->has_output) {
		gus_output_drop(&c->output);
		close(c->output.fd);
	}
	if (c->host_is_open)
		gus_calibrate_host_close(&c->host);
	gus_calibrate_insns_free(&c->insns);
	gus_fit_free(&c->fit);
	gus_uarch_free(c->nearest);
	for (size_t i = 0; i < c->notes.n; i++)
		free(c->notes.v[i]);
	gus_vec_free(&c->notes);
}

static int calibrate(struct calibrating *c, struct gus_error *err)
{
	static int (*const steps[])(struct calibrating *c, struct gus_error *err) = {
		refuse_emulator, prepare_output, open_host, load_nearest, refuse_company, read_recording, measure,
		write_table,
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if (steps[i](c, err) != 0)
			return -1;
	return 0;
}

/* Without measuring. */

static int check(const struct calibrating *c, struct gus_error *err)
{
	char *why, *path;
	struct gus_uarch *u = gus_calibrated_load(c->key, &why, err);
	struct gus_calibrate_check found = { .key = c->key, .kept = u, .why = why };
	int rc = 0;

	if (err->code)
		return -1;
	path = gus_calibrated_path(c->key);
	found.path = path;
	if (c->o->format == JSON)
		rc = gus_calibrate_check_json(&found);
	else
		gus_calibrate_check_text(&found);
	gus_uarch_free(u);
	free(path);
	free(why);
	return rc != 0 ? GUS_EXIT_OWN_FAILURE : found.kept ? 0 : 1;
}

static int forget(const struct calibrating *c, struct gus_error *err)
{
	char *path = gus_calibrated_path(c->key);
	int gone = gus_calibrated_forget(c->key, err);

	if (gone > 0)
		gus_print("%s is gone: --uarch host is the nominal table again\n", path);
	else if (gone == 0)
		gus_print("there is no calibration of this machine\n");
	free(path);
	return gone < 0 ? -1 : 0;
}

static int fail_status(const struct gus_error *err)
{
	gus_complain(err);
	return err->code == GUS_E_USAGE ? GUS_EXIT_USAGE : GUS_EXIT_OWN_FAILURE;
}

/* A reader of lines on how far it is that has gone ends nothing, or all that was found would be lost. */
static int calibrate_and_show(struct calibrating *c, struct gus_error *err)
{
	struct sigaction before;
	int rc;

	sigaction(SIGPIPE, &(const struct sigaction){ .sa_handler = SIG_IGN }, &before);
	rc = calibrate(c, err);
	sigaction(SIGPIPE, &before, NULL);
	return rc == 0 ? show(c) : -1;
}

static int run(int argc, char **argv)
{
	struct calibrate_options o = { .cpu = -1, .screen = GUS_SCREEN_DEFAULTS };
	struct calibrating c = { .o = &o, .key = gus_calibrated_key_here() };
	struct gus_error err = { 0 };
	int status;

	if (gus_options_parse(&gus_verb_calibrate, &o, &argc, &argv, &status) != 0)
		return status;
	c.progress.lines = !o.quiet;
	c.progress.terminal = o.quiet ? -1 : 0;
	if (o.check)
		status = check(&c, &err);
	else if (o.forget)
		status = forget(&c, &err);
	else
		status = calibrate_and_show(&c, &err);
	if (status < 0)
		status = fail_status(&err);
	end(&c);
	return status;
}

const struct gus_verb gus_verb_calibrate = {
	.name = "calibrate",
	.synopsis = "[OPTION...]",
	.summary = "Time this machine, and make the table of its CPU right.",
	.details = "What is found is kept, for --uarch host of the other verbs, and shown beside the table that\n"
		   "there is for such CPUs. It is for this CPU, microcode, kernel and hypervisor, and for no other.",
	.options = options,
	.run = run,
};
