/* SPDX-License-Identifier: MIT */
#include "tests/machine/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collector/kernel/perf.h"

enum { EVENTS = 4096, CALLS = 4096, RECORD = 8192 };
#define DEVICES "/sys/bus/event_source/devices"
#define CPUS "/sys/devices/system/cpu"
#define PACKAGE "/topology/physical_package_id"
#define WEIGHT_STRUCT (UINT64_C(1) << 24)

static struct {
	const struct machine *m;
	char root[64];
	struct machine_event events[EVENTS];
	size_t n;
	struct { struct perf_event_attr attr; int answer; } calls[CALLS];
	size_t calls_n, locked, mapped;
	unsigned waits, most[16];
} machine;

/* The clock. Where none was chosen records have the time stamp counter's, one ns a tick, and the control page says
 * so. */
static uint64_t monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t machine_now(const struct machine_event *e)
{
#if defined(__x86_64__)
	if (!e->attr.use_clockid)
		return __builtin_ia32_rdtsc();
#else
	(void)e;
#endif
	return monotonic();
}

/* Files. */

static bool is_in(const char *cpus, int cpu)
{
	for (const char *at = cpus; at && *at; at += *at == ',') {
		long low = strtol(at, (char **)&at, 10), high = low;

		if (*at == '-')
			high = strtol(at + 1, (char **)&at, 10);
		if (cpu >= low && cpu <= high)
			return true;
	}
	return false;
}

static void write_file(const char *path, const char *text)
{
	char full[GUS_PERF_PATH];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", machine.root, path);
	for (char *at = strchr(full + strlen(machine.root) + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(full, 0700);
		*at = '/';
	}
	f = fopen(full, "w");
	if (!f)
		abort();
	fprintf(f, "%s\n", text);
	fclose(f);
}

/* NAME=TEXT, a file each. */
static void write_named(const struct machine_pmu *p, const char *folder, const char *const *list)
{
	char path[GUS_PERF_PATH];

	for (unsigned i = 0; list[i]; i++) {
		const char *is = strchr(list[i], '=');

		snprintf(path, sizeof(path), DEVICES "/%s/%s/%.*s", p->name, folder, (int)(is - list[i]), list[i]);
		write_file(path, is + 1);
	}
}

static void write_pmu(const struct machine_pmu *p)
{
	char path[GUS_PERF_PATH], text[32];

	snprintf(path, sizeof(path), DEVICES "/%s/type", p->name);
	snprintf(text, sizeof(text), "%u", p->type);
	write_file(path, text);
	snprintf(path, sizeof(path), DEVICES "/%s/cpus", p->name);
	if (p->cpus)
		write_file(path, p->cpus);
	write_named(p, "format", p->terms);
	write_named(p, "events", p->names);
	snprintf(path, sizeof(path), DEVICES "/%s/cpumask", p->name);
	if (p->cpumask)
		write_file(path, p->cpumask);
	for (unsigned i = 0; p->files[i]; i++) {
		const char *is = strchr(p->files[i], '=');

		snprintf(path, sizeof(path), DEVICES "/%s/%.*s", p->name, (int)(is - p->files[i]), p->files[i]);
		write_file(path, is + 1);
	}
}

/* Of CPUs that are online, which socket they are of. */
static void write_sockets(const struct machine *m)
{
	char path[GUS_PERF_PATH], text[32];

	for (int cpu = 0; m->socket_cpus && cpu < 64; cpu++) {
		if (!is_in(m->cpus, cpu))
			continue;
		snprintf(path, sizeof(path), CPUS "/cpu%d" PACKAGE, cpu);
		snprintf(text, sizeof(text), "%d", cpu / m->socket_cpus);
		write_file(path, text);
	}
}

/* These are the machine's, all else this one's. */
static const char *const covered[] = {
	DEVICES, "/sys/devices/system/cpu/online", "/proc/sys/kernel/perf_event_paranoid",
	"/proc/sys/kernel/nmi_watchdog", "/proc/cpuinfo",
};

static const char *path_of(const char *path, char *room)
{
	for (size_t i = 0; i < sizeof(covered) / sizeof(*covered); i++)
		if (strncmp(path, covered[i], strlen(covered[i])) == 0 &&
		    (machine.m->cpuinfo || strcmp(path, "/proc/cpuinfo") != 0)) {
			snprintf(room, GUS_PERF_PATH, "%s%s", machine.root, path);
			return room;
		}
	if (machine.m->socket_cpus && strncmp(path, CPUS, strlen(CPUS)) == 0 && strstr(path, PACKAGE)) {
		snprintf(room, GUS_PERF_PATH, "%s%s", machine.root, path);
		return room;
	}
	return path;
}

void machine_begin(const struct machine *m)
{
	char text[32];

	memset(&machine, 0, sizeof(machine));
	machine.m = m;
	strcpy(machine.root, "/tmp/gusprof-machine-XXXXXX");
	if (!mkdtemp(machine.root))
		abort();
	write_file(DEVICES "/software/type", "1");
	for (const struct machine_pmu *p = m->pmus; p && p->name; p++)
		write_pmu(p);
	write_file("/sys/devices/system/cpu/online", m->cpus);
	write_sockets(m);
	snprintf(text, sizeof(text), "%d", m->paranoid);
	write_file("/proc/sys/kernel/perf_event_paranoid", text);
	write_file("/proc/sys/kernel/nmi_watchdog", m->watchdog ? "1" : "0");
	if (m->cpuinfo)
		write_file("/proc/cpuinfo", m->cpuinfo);
}

unsigned machine_end(void)
{
	unsigned left = (unsigned)machine.mapped;
	char command[128];

	for (size_t i = 0; i < machine.n; i++) {
		left += machine.events[i].fd >= 0;
		if (machine.events[i].fd >= 0)
			close(machine.events[i].fd);
	}
	snprintf(command, sizeof(command), "rm -r %s", machine.root);
	if (system(command) != 0)
		abort();
	return left;
}

/* Events. */

struct machine_event *machine_event(size_t i)
{
	return i < machine.n ? &machine.events[i] : NULL;
}

static struct machine_event *event_at(int fd)
{
	for (size_t i = 0; fd >= 0 && i < machine.n; i++)
		if (machine.events[i].fd == fd)
			return &machine.events[i];
	return NULL;
}

struct machine_event *machine_open(const char *pmu, uint64_t config, size_t i)
{
	for (size_t k = 0; k < machine.n; k++) {
		struct machine_event *e = &machine.events[k];

		if (e->fd >= 0 && e->attr.config == config && strcmp(e->pmu ? e->pmu->name : "", pmu) == 0 && i-- == 0)
			return e;
	}
	return NULL;
}

size_t machine_asked(void)
{
	return machine.calls_n;
}

const struct perf_event_attr *machine_attr(size_t call, int *answer)
{
	*answer = machine.calls[call].answer;
	return &machine.calls[call].attr;
}

size_t machine_answered(int answer)
{
	size_t n = 0;

	for (size_t i = 0; i < machine.calls_n; i++)
		n += machine.calls[i].answer == answer;
	return n;
}

static bool is_core(const struct machine_pmu *p)
{
	return strncmp(p->name, "cpu", 3) == 0 || strncmp(p->name, "armv8", 5) == 0;
}

/* The kernel's generic events are its first core's, unless the upper half says whose. */
static const struct machine_pmu *pmu_of(const struct perf_event_attr *a)
{
	bool generic = a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE;
	uint32_t type = generic ? (uint32_t)(a->config >> 32) : a->type;

	for (const struct machine_pmu *p = machine.m->pmus; p && p->name; p++)
		if (p->type == type || (generic && !type && is_core(p)))
			return p;
	return NULL;
}

/* What the size that is asked for has beyond what is known must be zero. */
static int refuses_size(const struct perf_event_attr *a)
{
	size_t known = machine.m->attr_bytes ? machine.m->attr_bytes : 136;

	for (size_t i = known; i < a->size; i++)
		if (((const uint8_t *)a)[i])
			return E2BIG;
	return 0;
}

static int refuses_pmu(const struct perf_event_attr *a, const struct machine_pmu *p, pid_t pid, int cpu)
{
	uint64_t period = a->sample_period;

	if (p->cpus && cpu >= 0 && !is_in(p->cpus, cpu))
		return ENOENT;
	if (a->precise_ip > p->precise)
		return EOPNOTSUPP;
	if ((a->sample_type & PERF_SAMPLE_BRANCH_STACK) && !p->branches)
		return EOPNOTSUPP;
	if (p->whole && (a->exclude_kernel || a->exclude_user || a->exclude_hv))
		return EINVAL;
	if (p->cpumask && (pid >= 0 || period || a->exclude_kernel || a->exclude_user || a->exclude_hv ||
			   a->exclude_idle || a->exclude_guest || a->exclude_host))
		return EINVAL;
	return p->step && !a->freq && period % p->step ? EINVAL : 0;
}

/* An errno, or 0. In the order in which the kernel looks: size, rights, PMU. */
static int refuses(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	const struct machine_pmu *p = pmu_of(a);
	bool own = a->type == PERF_TYPE_SOFTWARE || a->type == PERF_TYPE_TRACEPOINT;
	unsigned open = 0;
	int sys = refuses_size(a);

	for (size_t i = 0; i < machine.n; i++)
		open += machine.events[i].fd >= 0;
	if (sys)
		return sys;
	if (machine.m->paranoid > 2 || (machine.m->paranoid > 1 && !a->exclude_kernel) ||
	    (machine.m->paranoid > 0 && pid < 0))
		return EACCES;
	if (machine.m->descriptors && open >= machine.m->descriptors)
		return EMFILE;
	if (!own && !p)
		return ENOENT;
	if (cpu >= 0 && !is_in(machine.m->cpus, cpu))
		return ENODEV;
	if (machine.m->older && a->inherit && (a->sample_type & PERF_SAMPLE_READ))
		return EINVAL;
	sys = own ? 0 : refuses_pmu(a, p, pid, cpu);
	return sys || !machine.m->refuses ? sys : machine.m->refuses(a, pid, cpu);
}

static bool is_alive(const struct machine_event *e)
{
	return e->fd >= 0 || (e->output->aux && e->output->mapper == e);
}

bool machine_counts(const struct machine_event *e)
{
	return is_alive(e) && e->enabled && e->leader->enabled;
}

/* Which of the PMU's place in `most`. */
static unsigned number_of(const struct machine_pmu *p)
{
	return (unsigned)(p - machine.m->pmus);
}

static void count_those_on(const struct machine_event *e)
{
	unsigned on = 0;

	for (size_t i = 0; i < machine.n; i++) {
		const struct machine_event *other = &machine.events[i];

		on += other->pmu == e->pmu && other->cpu == e->cpu && other->pid == e->pid && machine_counts(other);
	}
	if (on > machine.most[number_of(e->pmu)])
		machine.most[number_of(e->pmu)] = on;
}

unsigned machine_most(const char *pmu)
{
	for (const struct machine_pmu *p = machine.m->pmus; p && p->name; p++)
		if (strcmp(p->name, pmu) == 0)
			return machine.most[number_of(p)];
	return 0;
}

/* Tells the script of what has begun to count and what has stopped. */
static void settle(struct machine_event *e)
{
	bool counts = machine_counts(e);

	if (counts == (e->began != 0))
		return;
	if (!counts) {
		e->on_ns += monotonic() - e->began;
		e->began = 0;
		if (machine.m->stops)
			machine.m->stops(e);
		return;
	}
	e->began = monotonic();
	e->times++;
	if (e->pmu)
		count_those_on(e);
	if (machine.m->begins)
		machine.m->begins(e);
}

static void settle_all(void)
{
	for (size_t i = 0; i < machine.n; i++)
		settle(&machine.events[i]);
}

/* Intel's: metrics are slots by parts, have no counter and no interrupt of their own, and are read in a group that
 * slots lead, which then has none either. Events of two PMUs of hardware are no group. */
static int refuses_group(const struct perf_event_attr *a, const struct machine_event *leader)
{
	const struct machine_pmu *p = pmu_of(a);
	bool metric = p && is_core(p) && (a->config & 0x80ff) == 0x8000;

	if (metric && (a->sample_period || !leader || leader->attr.config != 0x400 || leader->attr.sample_period))
		return EINVAL;
	return p && leader && leader->pmu && leader->pmu != p ? EINVAL : 0;
}

static int open_event(struct perf_event_attr *a, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
	struct machine_event *e = &machine.events[machine.n], *leader = event_at(group_fd);
	int sys = refuses(a, pid, cpu), fd = -1;

	(void)flags;
	if (!sys && group_fd >= 0 && (!leader || leader->cpu != cpu || leader->pid != pid))
		sys = EINVAL;
	sys = sys ? sys : refuses_group(a, leader);
	if (!sys && (machine.n == EVENTS || (fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0))
		sys = EMFILE;
	if (machine.calls_n < CALLS) {
		memcpy(&machine.calls[machine.calls_n].attr, a, sizeof(*a) < a->size ? sizeof(*a) : a->size);
		machine.calls[machine.calls_n++].answer = sys ? -sys : fd;
	}
	if (sys) {
		errno = sys;
		return -1;
	}
	*e = (struct machine_event){ .fd = fd, .pid = pid, .cpu = cpu, .id = 1000 + machine.n,
				     .period = a->sample_period };
	memcpy(e->bytes, a, a->size < sizeof(e->bytes) ? a->size : sizeof(e->bytes));
	e->pmu = pmu_of(a);
	e->leader = leader ? leader : e;
	e->output = e;
	e->enabled = !a->disabled;
	machine.n++;
	settle(e);
	return fd;
}

static int close_event(int fd)
{
	struct machine_event *e = event_at(fd);

	if (!e) {
		errno = EBADF; /* what is closed here was an event */
		return -1;
	}
	e->fd = -1;
	settle_all();
	return close(fd);
}

static int set_output(struct machine_event *e, int fd)
{
	struct machine_event *to = event_at(fd);

	if (!to || to->cpu != e->cpu || to->attr.clockid != e->attr.clockid ||
	    to->attr.write_backward != e->attr.write_backward) {
		errno = EINVAL;
		return -1;
	}
	e->output = to;
	return 0;
}

static int control_event(int fd, unsigned long request, ...)
{
	struct machine_event *e = event_at(fd);
	uintptr_t argument;
	va_list args;

	va_start(args, request);
	argument = va_arg(args, uintptr_t);
	va_end(args);
	if (!e) {
		errno = EBADF;
		return -1;
	}
	switch (request) {
	case PERF_EVENT_IOC_ENABLE:
	case PERF_EVENT_IOC_DISABLE:
		e->enabled = request == PERF_EVENT_IOC_ENABLE;
		settle_all();
		return 0;
	case PERF_EVENT_IOC_PERIOD:
		e->period = *(const uint64_t *)argument;
		return 0;
	case PERF_EVENT_IOC_ID:
		*(uint64_t *)argument = e->id;
		return 0;
	case PERF_EVENT_IOC_SET_OUTPUT:
		return set_output(e, (int)argument);
	case PERF_EVENT_IOC_PAUSE_OUTPUT:
		e->paused = (int)argument != 0;
		return 0;
	default:
		errno = ENOTTY;
		return -1;
	}
}

#define FORMAT_LOST 16
#define WORDS 256 /* of counts of a group */

static uint64_t on_of(const struct machine_event *e)
{
	return e->on_ns + (e->began ? monotonic() - e->began : 0);
}

static uint64_t running_of(const struct machine_event *e, uint64_t on)
{
	return e->pmu && e->pmu->runs ? on * e->pmu->runs / 100 : on;
}

static uint64_t count_of(const struct machine_event *e)
{
	return machine.m->counts ? machine.m->counts(e, running_of(e, on_of(e))) : e->count;
}

static size_t add_times(const struct machine_event *e, uint64_t *words)
{
	uint64_t on = on_of(e);
	size_t n = 0;

	if (e->attr.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		words[n++] = on;
	if (e->attr.read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		words[n++] = running_of(e, on);
	return n;
}

static size_t add_id(const struct machine_event *e, uint64_t format, uint64_t *words)
{
	size_t n = 0;

	if (format & PERF_FORMAT_ID)
		words[n++] = e->id;
	if (format & FORMAT_LOST)
		words[n++] = e->lost;
	return n;
}

/* What reading the event gives: of one its count and the times, of a group their number, the times, each count. */
static size_t read_words(const struct machine_event *e, uint64_t words[WORDS])
{
	uint64_t format = e->attr.read_format;
	size_t n = 1;

	if (!(format & PERF_FORMAT_GROUP)) {
		words[0] = count_of(e);
		n += add_times(e, words + n);
		return n + add_id(e, format, words + n);
	}
	words[0] = 0;
	n += add_times(e, words + n);
	for (size_t i = 0; i < machine.n && n + 4 < WORDS; i++) {
		const struct machine_event *member = &machine.events[i];

		if (member->fd < 0 || member->leader != e->leader)
			continue;
		words[0]++;
		words[n++] = count_of(member);
		n += add_id(member, format, words + n);
	}
	return n;
}

static ssize_t read_event(int fd, void *out, size_t size)
{
	struct machine_event *e = event_at(fd);
	uint64_t words[WORDS];
	size_t n;

	if (!e) {
		errno = EBADF;
		return -1;
	}
	n = read_words(e, words);
	if (size < n * sizeof(*words)) {
		errno = ENOSPC;
		return -1;
	}
	memcpy(out, words, n * sizeof(*words));
	return (ssize_t)(n * sizeof(*words));
}

/* Memory. */

static void *map_memory(size_t size, bool locked)
{
	void *at;

	if (locked && machine.m->lock_kib && machine.locked + size > machine.m->lock_kib << 10) {
		errno = EPERM;
		return MAP_FAILED;
	}
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at != MAP_FAILED) {
		machine.locked += size;
		machine.mapped++;
	}
	return at;
}

/* The AUX area belongs to the ring that the event writes to, which says in its control page where and how large. */
static void *map_aux(struct machine_event *e, size_t size, off_t offset)
{
	struct machine_event *owner = e->output;
	void *at;

	if (!e->pmu || !e->pmu->aux) {
		errno = EOPNOTSUPP;
		return MAP_FAILED;
	}
	if (!owner->control || owner->control->aux_offset != (uint64_t)offset || owner->control->aux_size != size ||
	    (uint64_t)offset < (uint64_t)sysconf(_SC_PAGESIZE) + owner->size || (size & (size - 1)) || owner->aux) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	at = map_memory(size, true);
	if (at != MAP_FAILED) {
		owner->aux = at;
		owner->aux_size = size;
		owner->mapper = e;
	}
	return at;
}

static void *map_event(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	struct machine_event *e = event_at(fd);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), data = size - page;

	(void)at;
	(void)protection;
	if (e && offset)
		return map_aux(e, size, offset);
	if (!e || !(flags & MAP_SHARED) || e->control || (data & (data - 1)) || (e->attr.inherit && e->cpu < 0)) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	at = map_memory(size, true);
	if (at == MAP_FAILED)
		return at;
	e->control = at;
	e->data = (uint8_t *)at + page;
	e->size = data;
	e->control->cap_user_time_zero = 1;
	e->control->time_mult = 1;
	return at;
}

static int unmap_event(void *at, size_t size)
{
	for (size_t i = 0; i < machine.n; i++) {
		struct machine_event *e = &machine.events[i];

		if (e->control == at)
			e->control = NULL;
		else if (e->aux == at)
			e->aux = NULL;
		else
			continue;
		machine.locked -= size;
		machine.mapped--;
		settle_all();
		return munmap(at, size);
	}
	errno = EINVAL;
	return -1;
}

/* Records. */

static void copy_in(uint8_t *area, size_t size, uint64_t at, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		area[(at + i) & (size - 1)] = ((const uint8_t *)bytes)[i];
}

/* False: there is no room. */
static bool write_record(struct machine_event *owner, const void *record, size_t n)
{
	struct perf_event_mmap_page *c = owner->control;
	uint64_t head;

	if (!c || owner->paused)
		return false;
	head = c->data_head;
	if (owner->attr.write_backward) {
		head -= n;
		copy_in(owner->data, owner->size, head, record, n);
	} else {
		if (head - __atomic_load_n(&c->data_tail, __ATOMIC_ACQUIRE) + n > owner->size)
			return false;
		copy_in(owner->data, owner->size, head, record, n);
		head += n;
	}
	__atomic_store_n(&c->data_head, head, __ATOMIC_RELEASE);
	if (owner->fd >= 0)
		eventfd_write(owner->fd, 1);
	return true;
}

struct bytes { uint64_t v[RECORD / 8]; size_t n; };

static void add(struct bytes *b, uint64_t word)
{
	b->v[b->n++] = word;
}

static uint64_t pair(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

static uint32_t task_of(const struct machine_event *e)
{
	return e->pid > 0 ? (uint32_t)e->pid : (uint32_t)getpid();
}

static bool finish(struct machine_event *e, struct bytes *b, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = { .type = type, .misc = misc, .size = (uint16_t)(b->n * 8) };

	memcpy(b->v, &h, sizeof(h));
	return write_record(e->output, b->v, b->n * 8);
}

static bool put(struct machine_event *e, uint32_t type, uint16_t misc, const uint64_t *words, size_t n)
{
	struct bytes b = { .n = 1 };
	uint64_t t = e->attr.sample_type;

	for (size_t i = 0; i < n; i++)
		add(&b, words[i]);
	if (e->attr.sample_id_all) {
		if (t & PERF_SAMPLE_TID)
			add(&b, pair(task_of(e), task_of(e)));
		if (t & PERF_SAMPLE_TIME)
			add(&b, machine_now(e));
		if (t & PERF_SAMPLE_ID)
			add(&b, e->id);
		if (t & PERF_SAMPLE_STREAM_ID)
			add(&b, e->id);
		if (t & PERF_SAMPLE_CPU)
			add(&b, pair(e->cpu < 0 ? 0 : (uint32_t)e->cpu, 0));
		if (t & PERF_SAMPLE_IDENTIFIER)
			add(&b, e->id);
	}
	return finish(e, &b, type, misc);
}

/* What found no room before is told first, if that finds some. */
static bool has_told_lost(struct machine_event *e)
{
	const uint64_t words[] = { e->id, e->untold };

	if (e->untold && !put(e, PERF_RECORD_LOST, 0, words, 2))
		return false;
	e->untold = 0;
	return true;
}

static void miss(struct machine_event *e)
{
	e->untold++;
	e->lost++;
}

void machine_put(struct machine_event *e, uint32_t type, uint16_t misc, const uint64_t *words, size_t n)
{
	if (!has_told_lost(e) || !put(e, type, misc, words, n))
		miss(e);
}

static void add_raw(struct bytes *b, const void *raw, uint32_t size)
{
	uint32_t padded = (size + 4 + 7) / 8 * 8 - 4;
	uint8_t *at = (uint8_t *)&b->v[b->n];

	memset(at, 0, padded + 4);
	memcpy(at, &padded, 4);
	memcpy(at + 4, raw, size);
	b->n += (padded + 4) / 8;
}

static void add_branches(struct bytes *b, const struct machine_sample *s, uint64_t type)
{
	add(b, s->branches_n);
	if (type & (1u << 17)) /* PERF_SAMPLE_BRANCH_HW_INDEX */
		add(b, UINT64_MAX);
	for (unsigned i = 0; i < s->branches_n; i++) {
		add(b, s->branches[i].from);
		add(b, s->branches[i].to);
		add(b, s->branches[i].flags);
	}
}

void machine_take_sample(struct machine_event *e, const struct machine_sample *s)
{
	uint64_t t = e->attr.sample_type;
	uint32_t tid = s->tid ? s->tid : task_of(e);
	uint16_t misc = (uint16_t)((s->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER) |
				   (s->exact ? PERF_RECORD_MISC_EXACT_IP : 0));
	struct bytes b = { .n = 1 };

	if (t & PERF_SAMPLE_IDENTIFIER)
		add(&b, e->id);
	if (t & PERF_SAMPLE_IP)
		add(&b, s->ip);
	if (t & PERF_SAMPLE_TID)
		add(&b, pair(task_of(e), tid));
	if (t & PERF_SAMPLE_TIME)
		add(&b, s->time ? s->time : machine_now(e));
	if (t & PERF_SAMPLE_ADDR)
		add(&b, s->address);
	if (t & PERF_SAMPLE_ID)
		add(&b, e->id);
	if (t & PERF_SAMPLE_STREAM_ID)
		add(&b, e->id);
	if (t & PERF_SAMPLE_CPU)
		add(&b, pair(e->cpu < 0 ? 0 : (uint32_t)e->cpu, 0));
	if (t & PERF_SAMPLE_PERIOD)
		add(&b, s->period ? s->period : e->period);
	if (t & PERF_SAMPLE_READ)
		b.n += read_words(e, b.v + b.n);
	if (t & PERF_SAMPLE_CALLCHAIN)
		add(&b, 0);
	if (t & PERF_SAMPLE_RAW)
		add_raw(&b, s->raw, s->raw_bytes);
	if (t & PERF_SAMPLE_BRANCH_STACK)
		add_branches(&b, s, e->attr.branch_sample_type);
	if (t & PERF_SAMPLE_REGS_USER)
		add(&b, 0);
	if (t & PERF_SAMPLE_STACK_USER)
		add(&b, 0);
	if (t & (PERF_SAMPLE_WEIGHT | WEIGHT_STRUCT))
		add(&b, s->weight);
	if (t & PERF_SAMPLE_DATA_SRC)
		add(&b, s->data_source);
	e->count += s->period ? s->period : e->period;
	if (!has_told_lost(e) || !finish(e, &b, PERF_RECORD_SAMPLE, misc))
		miss(e);
}

void machine_throttle(struct machine_event *e, bool stop)
{
	const uint64_t words[] = { machine_now(e), e->id, e->id };

	machine_put(e, stop ? PERF_RECORD_THROTTLE : PERF_RECORD_UNTHROTTLE, 0, words, 3);
}

void machine_lose_samples(struct machine_event *e, uint64_t n)
{
	machine_put(e, PERF_RECORD_LOST_SAMPLES, 0, &n, 1);
}

size_t machine_put_aux(struct machine_event *e, const void *bytes, size_t n, uint64_t flags)
{
	struct machine_event *owner = e->output;
	struct perf_event_mmap_page *c = owner->control;
	uint64_t head, room;

	if (!c || !owner->aux || !machine_counts(e))
		return 0;
	head = c->aux_head;
	room = owner->aux_size - (head - __atomic_load_n(&c->aux_tail, __ATOMIC_ACQUIRE));
	if (n > room) {
		n = (size_t)room;
		flags |= 1; /* PERF_AUX_FLAG_TRUNCATED */
	}
	copy_in(owner->aux, owner->aux_size, head, bytes, n);
	__atomic_store_n(&c->aux_head, head + n, __ATOMIC_RELEASE);
	machine_put(e, 11, 0, (const uint64_t[]){ head, n, flags }, 3); /* PERF_RECORD_AUX */
	if (flags & 1) { /* perf_aux_output_end() */
		e->enabled = false;
		settle(e);
	}
	return n;
}

/* Whoever waits lets time go by. A command that was to switch its events on has begun by then. A descriptor is ready
 * once for what was written since the last look, as the kernel's is. */
static int wait_for(struct pollfd *fds, unsigned long n, int timeout_ms)
{
	eventfd_t value;
	int ready;

	for (size_t i = 0; i < machine.n; i++)
		if (machine.events[i].attr.enable_on_exec) {
			machine.events[i].attr.enable_on_exec = 0;
			machine.events[i].enabled = true;
		}
	settle_all();
	if (machine.m->waits)
		machine.m->waits(++machine.waits);
	ready = poll(fds, n, timeout_ms);
	for (unsigned long i = 0; i < n; i++)
		if (event_at(fds[i].fd))
			eventfd_read(fds[i].fd, &value);
	return ready;
}

const struct gus_perf gus_perf = {
	.open = open_event, .ioctl = control_event, .mmap = map_event, .munmap = unmap_event, .read = read_event,
	.close = close_event, .poll = wait_for, .path = path_of,
};
