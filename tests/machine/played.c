/* SPDX-License-Identifier: MIT */
/* gusprof on a machine that is played: all of the program, with this kernel and this CPU beneath it. GUS_MACHINE names
 * the machine, GUS_PLAYED the addresses in the command that is recorded, in hexadecimal: of a load, of what retires
 * next, of the branch back and where it leads. Each time gusprof waits, but no more often than each 10 ms, every event
 * that is on has some samples of these, and what is mapped in the command is told once. If GUS_PLAYED_RUN names the
 * folder of a run of a golden machine (tests/accuracy/golden), what events say and count is that run's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "collector/host/host.h"
#include "collector/trial/skid.h"
#include "tests/machine/machine.h"
#include "tests/machine/played_run.h"
#include "tests/words/ibs_words.h"
#include "tests/words/spe_words.h"

#define CORE_TERMS { "event=config:0-7", "umask=config:8-15", NULL }
enum { EACH = 8, EVERY_MS = 10, OF_A_RUN_MS = 5, COUNTED = 1000000, LOADED_NEXT_LEVEL = 14 };

#define SLOTS_NAMES { "slots=event=0x00,umask=0x4", "topdown-retiring=event=0x00,umask=0x80", \
	"topdown-bad-spec=event=0x00,umask=0x81", "topdown-fe-bound=event=0x00,umask=0x82", \
	"topdown-be-bound=event=0x00,umask=0x83", "topdown-heavy-ops=event=0x00,umask=0x84", \
	"topdown-br-mispredict=event=0x00,umask=0x85", "topdown-fetch-lat=event=0x00,umask=0x86", \
	"topdown-mem-bound=event=0x00,umask=0x87", NULL }
static const struct machine_pmu pebs[] = {
	{ .name = "cpu", .type = 4, .precise = 3, .branches = true, .terms = CORE_TERMS, .names = SLOTS_NAMES }, { 0 },
};
static const struct machine_pmu hybrid[] = {
	{ .name = "cpu_core", .type = 4, .cpus = "0", .precise = 3, .branches = true, .terms = CORE_TERMS,
	  .names = SLOTS_NAMES },
	{ .name = "cpu_atom", .type = 10, .cpus = "1", .precise = 3, .branches = true, .terms = CORE_TERMS }, { 0 },
};
static const struct machine_pmu ibs[] = {
	{ .name = "cpu", .type = 4, .branches = true,
	  .terms = { "event=config:0-7,32-35", "umask=config:8-15", NULL } },
	{ .name = "ibs_fetch", .type = 10, .step = 16, .whole = true, .terms = { "rand_en=config:57", NULL } },
	{ .name = "ibs_op", .type = 11, .step = 16, .whole = true, .terms = { "cnt_ctl=config:19", NULL } }, { 0 },
};
static const struct machine_pmu spe[] = {
	{ .name = "arm_spe_0", .type = 12, .aux = true, .terms = { "ts_enable=config:0", NULL } },
	{ .name = "armv8_pmuv3_0", .type = 8, .cpus = "0-1", .terms = { "event=config:0-15", NULL } }, { 0 },
};

#define IMC(number, kind) { .name = "uncore_imc_" #number, .type = kind, .cpumask = "0-1", .terms = CORE_TERMS }
static const struct machine_pmu imc[] = { IMC(0, 20), IMC(1, 21), { 0 } };
static const struct machine_pmu df[] = {
	{ .name = "amd_df", .type = 20, .cpumask = "0", .runs = 50,
	  .terms = { "event=config:0-7,32-35,59-60", "umask=config:8-15", NULL } }, { 0 },
};

static struct { uint64_t load, next, branch, loop; } code;
static pid_t self, told;

static bool has_begun(pid_t pid)
{
	char path[64], own[512], theirs[512];
	ssize_t a = readlink("/proc/self/exe", own, sizeof(own)), b;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	b = readlink(path, theirs, sizeof(theirs));
	return b > 0 && (a != b || memcmp(own, theirs, (size_t)a) != 0);
}

static void tell_mapping(struct machine_event *e, pid_t pid, const char *line)
{
	unsigned long long start, end, offset, inode;
	unsigned major, minor;
	char rights[8], path[400] = "";
	struct { uint32_t pid, tid; uint64_t at, size, offset; uint32_t major, minor; uint64_t inode, generation;
		uint32_t protection, flags; char path[400]; } r;
	size_t words;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %399s", &start, &end, rights, &offset, &major, &minor, &inode,
		   path) < 7 || rights[2] != 'x' || !*path)
		return;
	memset(&r, 0, sizeof(r));
	r.pid = r.tid = (uint32_t)pid;
	r.at = start;
	r.size = end - start;
	r.offset = offset;
	r.major = major;
	r.minor = minor;
	r.inode = inode;
	r.protection = PROT_READ | PROT_EXEC;
	r.flags = MAP_PRIVATE;
	snprintf(r.path, sizeof(r.path), "%s", path);
	words = (offsetof(__typeof__(r), path) + strlen(path) + 1 + 7) / 8;
	machine_put(e, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, (const void *)&r, words);
}

static void tell_mappings(struct machine_event *e, pid_t pid)
{
	char path[64], line[600];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		tell_mapping(e, pid, line);
	if (f)
		fclose(f);
	told = pid;
}

/* What each kind of event says of the loop. Of SPE the first piece finds the area full. */

static void say_op(struct machine_event *e, unsigned i)
{
	struct words_ibs w = { .fields = words_ibs_op, .caps = 0x1bff, .family = 0x19, .model = 0x11 };
	struct words_bytes raw = { .n = 0 };

	words_ibs_set(&w, "Rip", i % 2 ? code.load : code.branch);
	words_ibs_set(&w, "TagToRetCtr", i % 2 ? 20 : 6);
	words_ibs_set(&w, "CompToRetCtr", 1);
	words_ibs_set(&w, "LdOp", i % 2);
	words_ibs_bytes(&w, &raw);
	machine_take_sample(e, &(struct machine_sample){ .ip = i % 2 ? code.load : code.branch, .exact = true,
		.raw = raw.v, .raw_bytes = (uint32_t)raw.n });
}

static void say_fetch(struct machine_event *e)
{
	struct words_ibs w = { .fields = words_ibs_fetch, .caps = 0x1bff, .family = 0x19, .model = 0x11 };
	struct words_bytes raw = { .n = 0 };

	words_ibs_bytes(&w, &raw);
	machine_take_sample(e, &(struct machine_sample){ .ip = code.loop, .raw = raw.v,
		.raw_bytes = (uint32_t)raw.n });
}

static void say_record(struct machine_event *e, unsigned i)
{
	struct words_bytes b = { .n = 0 };

	words_spe_put(&b, "address", 0, 3, code.load | UINT64_C(1) << 63);
	words_spe_put(&b, "operation", 1, 0, 0);
	words_spe_put(&b, "events", 0, 1, 1 << 1 | 1 << 2);
	words_spe_put(&b, "counter", 0, 1, 10 + i);
	words_spe_put(&b, "address", 2, 3, 0x7000);
	words_spe_put(&b, "end", 0, 0, 0);
	b.n--; /* an end has no payload */
	machine_put_aux(e, b.v, b.n, e->count == COUNTED && i == 0 ? PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_COLLISION :
			0);
}

static void say_height(struct machine_event *e, unsigned i)
{
	const struct { uint64_t from, to, flags; } back[] = { { code.branch, code.loop, 2 } };
	bool exact = e->attr.precise_ip > 1;

	machine_take_sample(e, &(struct machine_sample){ .ip = i % 8 ? exact ? code.load : code.next : code.branch,
		.exact = exact, .branches = (const void *)back, .branches_n = 1,
		.weight = UINT64_C(5) << 48 });
}

static void say_data(struct machine_event *e)
{
	const union perf_mem_data_src where = { .mem_op = PERF_MEM_OP_LOAD,
		.mem_lvl = PERF_MEM_LVL_L2 | PERF_MEM_LVL_HIT, .mem_lvl_num = PERF_MEM_LVLNUM_L2 };

	machine_take_sample(e, &(struct machine_sample){ .ip = code.load, .exact = true, .address = 0x7000,
		.weight = LOADED_NEXT_LEVEL, .data_source = where.val });
}

/* Of 1000 slots so many retire, are bad, wait for the front end and for the back end; then of each what is below. What
 * is not Intel's, and all other events, count COUNTED. */
static uint64_t counted(const struct machine_event *e)
{
	static const struct { uint64_t config, of_1000; } parts[] = { { 0x400, 1000 }, { 0x8000, 400 }, { 0x8100, 100 },
		{ 0x8200, 200 }, { 0x8300, 300 }, { 0x8400, 50 }, { 0x8500, 80 }, { 0x8600, 150 }, { 0x8700, 250 },
		{ 0x10ad, 10 } };

	for (size_t i = 0; e->pmu && i < sizeof(parts) / sizeof(*parts); i++)
		if (e->attr.config == parts[i].config && e->pmu->type == 4)
			return COUNTED / 1000 * parts[i].of_1000;
	return COUNTED;
}

static void say(struct machine_event *e)
{
	const char *pmu = e->pmu ? e->pmu->name : "";

	e->count += counted(e);
	for (unsigned i = 0; e->period && i < EACH; i++) {
		if (strcmp(pmu, "ibs_op") == 0)
			say_op(e, i);
		else if (strcmp(pmu, "ibs_fetch") == 0)
			say_fetch(e);
		else if (strcmp(pmu, "arm_spe_0") == 0)
			say_record(e, i);
		else if (e->attr.sample_type & PERF_SAMPLE_DATA_SRC)
			say_data(e);
		else if (*pmu || e->attr.config == PERF_COUNT_SW_CPU_CLOCK)
			say_height(e, i);
	}
}

/* What gusprof tries on itself has its samples at once; the command's have theirs as time goes by, all on one CPU. */
static void begins(struct machine_event *e)
{
	if (e->pid <= 0)
		say(e);
}

/* Each controller reads a line of 64 bytes every 20 ns for CPU 0's socket, and every 40 for CPU 1's; writes are half
 * as many. */
static uint64_t counts(const struct machine_event *e, uint64_t running_ns)
{
	bool writes = (e->attr.config >> 8 & 0xff) == 0x30;

	if (!e->pmu || !e->pmu->cpumask)
		return e->count;
	return running_ns / (20 << (e->cpu + writes));
}

/* The first that there is of its kind of cores. */
static int cpu_of(const struct machine_event *e)
{
	return e->pmu && e->pmu->cpus ? atoi(e->pmu->cpus) : 0;
}

static bool is_on(const struct machine_event *e)
{
	return e->pid > 0 && (e->cpu < 0 || e->cpu == cpu_of(e)) && machine_counts(e) && has_begun(e->pid);
}

/* All at once: what one counts is of the same time as what another says. */
static void play_run(void)
{
	struct machine_event *first = NULL, *e;

	for (size_t i = 0; !first && (e = machine_event(i)); i++)
		if (is_on(e) && e->period)
			first = e;
	if (!first)
		return;
	played_run_go_on(first);
	for (size_t i = 0; (e = machine_event(i)); i++)
		if (is_on(e))
			played_run_say(e);
}

static void waits(unsigned n)
{
	static struct timespec last;
	struct machine_event *e;
	struct timespec now;

	(void)n;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if ((now.tv_sec - last.tv_sec) * 1000 + (now.tv_nsec - last.tv_nsec) / 1000000 <
	    (played_run_is_there() ? OF_A_RUN_MS : EVERY_MS))
		return;
	last = now;
	for (size_t i = 0; (e = machine_event(i)); i++)
		if (is_on(e) && e->attr.mmap && told != e->pid)
			tell_mappings(e, e->pid);
	if (played_run_is_there())
		play_run();
	for (size_t i = 0; !played_run_is_there() && (e = machine_event(i)); i++)
		if (is_on(e))
			say(e);
}

static const struct played {
	const char *name;
	struct machine m;
	const char *vendor, *machine;
	uint32_t family, model;
	uint64_t midr;
} machines[] = {
	{ "pebs", { pebs, .cpus = "0-1", .begins = begins, .waits = waits }, "GenuineIntel", "x86_64", 6, 143, 0 },
	{ "older", { pebs, .cpus = "0-1", .older = true, .begins = begins, .waits = waits }, "GenuineIntel", "x86_64",
	  6, 143, 0 },
	{ "tpebs", { pebs, .cpus = "0-1", .begins = begins, .waits = waits }, "GenuineIntel", "x86_64", 6, 173, 0 },
	{ "hybrid", { hybrid, .cpus = "0-1", .begins = begins, .waits = waits }, "GenuineIntel", "x86_64", 6, 151,
	  0 },
	{ "ibs", { ibs, .cpus = "0-1", .begins = begins, .waits = waits }, "AuthenticAMD", "x86_64", 0x19, 0x11, 0 },
	{ "spe", { spe, .cpus = "0-1", .begins = begins, .waits = waits }, "ARM", "aarch64", 0, 0xd0c, 0x413fd0c1 },
	{ "imc", { imc, .cpus = "0-1", .socket_cpus = 1, .begins = begins, .waits = waits, .counts = counts },
	  "GenuineIntel", "x86_64", 6, 106, 0 },
	{ "imc-refused", { imc, .cpus = "0-1", .socket_cpus = 1, .paranoid = 1, .begins = begins, .waits = waits },
	  "GenuineIntel", "x86_64", 6, 106, 0 },
	{ "df", { df, .cpus = "0-1", .socket_cpus = 2, .begins = begins, .waits = waits, .counts = counts },
	  "AuthenticAMD", "x86_64", 0x19, 0x01, 0 },
	{ "bare", { .pmus = NULL, .cpus = "0-1", .begins = begins, .waits = waits }, "GenuineIntel", "x86_64", 6, 143,
	  0 },
};

static const struct played *played(void)
{
	const char *name = getenv("GUS_MACHINE");

	for (size_t i = 0; name && i < sizeof(machines) / sizeof(*machines); i++)
		if (strcmp(machines[i].name, name) == 0)
			return &machines[i];
	fprintf(stderr, "GUS_MACHINE is none of the machines in tests/machine/played.c\n");
	exit(99);
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("GUS_PLAYED");
	unsigned long long load = 0, next = 0, branch = 0, loop = 0;

	if (text && sscanf(text, "%llx,%llx,%llx,%llx", &load, &next, &branch, &loop) == 4) {
		code.load = load;
		code.next = next;
		code.branch = branch;
		code.loop = loop;
	}
	if (getenv("GUS_PLAYED_RUN"))
		played_run_begin(getenv("GUS_PLAYED_RUN"));
	self = getpid();
	machine_begin(&played()->m);
}

/* What is left open as the program ends is the kernel's to close. */
__attribute__((destructor)) static void end(void)
{
	if (getpid() == self)
		machine_end();
}

static void set(char **field, const char *text)
{
	if (*field && **field)
		free(*field);
	*field = gus_strdup(text);
}

/* The CPU, in place of this machine's. */
Gusprof__Host *__real_gus_host_describe(const char *root);
Gusprof__Host *__wrap_gus_host_describe(const char *root);
Gusprof__Host *__wrap_gus_host_describe(const char *root)
{
	Gusprof__Host *h = __real_gus_host_describe(root);
	const struct played *p = played();

	set(&h->cpu_vendor, p->vendor);
	set(&h->cpu_model, p->name);
	set(&h->machine, p->machine);
	h->cpu_family = p->family;
	h->cpu_model_number = p->model;
	h->midr = p->midr;
	return h;
}

/* Each of its cores, which sysfs says of them one by one. */
uint64_t __wrap_gus_area_midr(unsigned cpu);
uint64_t __wrap_gus_area_midr(unsigned cpu)
{
	(void)cpu;
	return played()->midr;
}

/* Where a golden machine's interrupts land: behind all that retires with what was waited for, but for those of 1,000
 * that tests/accuracy/skid has found on it. */
void __real_gus_trial_skid(const struct gus_event *event, struct gus_skid *skid);
void __wrap_gus_trial_skid(const struct gus_event *event, struct gus_skid *skid);
void __wrap_gus_trial_skid(const struct gus_event *event, struct gus_skid *skid)
{
	if (!played_run_is_there()) {
		__real_gus_trial_skid(event, skid);
		return;
	}
	*skid = (struct gus_skid){ 0 };
	for (unsigned i = 0; i < GUS_SKID_SLOWS; i++)
		skid->counts[i] = (struct gus_skid_counts){ .at = { 12 }, .farther = 988 };
}
