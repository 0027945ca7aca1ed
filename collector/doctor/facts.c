/* SPDX-License-Identifier: MIT */
#include "collector/doctor/facts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "collector/host/host.h"
#include "collector/host/text.h"
#include "collector/host/vdso.h"

#define STATUS_MAX 8192

static void copy(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}
#define COPY(field, text) copy(field, sizeof(field), text)

static struct gus_setting setting(const char *path)
{
	char text[32], *end;
	long long value;

	if (!gus_read_text(path, text, sizeof(text)))
		return (struct gus_setting){ 0 };
	value = strtoll(text, &end, 10);
	return (struct gus_setting){ end != text && *end == '\0', value };
}

/* The rights of this process. */
static const char *status_value(const char *status, const char *name)
{
	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, strlen(name)) == 0)
			return line + strlen(name) + strspn(line + strlen(name), " \t");
	}
	return NULL;
}

/* "none [integrity] confidentiality": the one in brackets is in force. */
static void read_lockdown(struct gus_facts *f)
{
	char text[96], *open, *close;

	if (!gus_read_text("/sys/kernel/security/lockdown", text, sizeof(text)))
		return;
	open = strchr(text, '[');
	close = open ? strchr(open, ']') : NULL;
	if (!close)
		return;
	*close = '\0';
	COPY(f->lockdown, open + 1);
}

/* The initial user namespace maps every id to itself. */
static bool in_initial_userns(void)
{
	char text[256];
	unsigned long inside, outside, length;

	if (!gus_read_text("/proc/self/uid_map", text, sizeof(text)))
		return true; /* a kernel without user namespaces */
	return sscanf(text, "%lu %lu %lu", &inside, &outside, &length) == 3 && inside == 0 && outside == 0 &&
	       length == UINT32_MAX;
}

/* Each leaves other traces. */
static void find_container(struct gus_facts *f)
{
	static const struct { const char *path, *name; } files[] = {
		{ "/.dockerenv", "Docker (/.dockerenv)" }, { "/run/.containerenv", "Podman (/run/.containerenv)" },
	};
	static const char *const words[] = { "kubepods", "docker", "libpod", "lxc", "machine.slice" };
	char text[2048];

	if (getenv("KUBERNETES_SERVICE_HOST")) {
		COPY(f->container, "Kubernetes (KUBERNETES_SERVICE_HOST)");
		return;
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (access(files[i].path, F_OK) == 0) {
			COPY(f->container, files[i].name);
			return;
		}
	if (gus_read_text("/run/systemd/container", text, 48) && *text) {
		snprintf(f->container, sizeof(f->container), "%.30s (/run/systemd/container)", text);
		return;
	}
	if (!gus_read_text("/proc/self/cgroup", text, sizeof(text)))
		return;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(text, words[i])) {
			snprintf(f->container, sizeof(f->container), "%s (/proc/self/cgroup)", words[i]);
			return;
		}
}

void gus_facts_rights(struct gus_facts *f)
{
	char status[STATUS_MAX];
	const char *value;
	struct utsname u;

	*f = (struct gus_facts){ .seccomp = -1, .uid = (uint32_t)geteuid(), .initial_userns = in_initial_userns() };
	if (uname(&u) == 0)
		COPY(f->kernel, u.release);
	if (gus_read_text("/proc/self/status", status, sizeof(status))) {
		value = status_value(status, "CapEff:");
		f->capabilities = value ? strtoull(value, NULL, 16) : 0;
		value = status_value(status, "Seccomp:");
		f->seccomp = value ? atoi(value) : -1;
	}
	f->paranoid = setting("/proc/sys/kernel/perf_event_paranoid");
	read_lockdown(f);
	find_container(f);
}

/* The machine. */
static void read_product(struct gus_facts *f)
{
	char maker[64] = "", product[64] = "";

	gus_read_text("/sys/class/dmi/id/sys_vendor", maker, sizeof(maker));
	gus_read_text("/sys/class/dmi/id/product_name", product, sizeof(product));
	if (!*maker && !*product)
		gus_read_text("/sys/firmware/devicetree/base/model", product, sizeof(product));
	snprintf(f->product, sizeof(f->product), "%s%s%s", maker, *maker && *product ? " " : "", product);
	for (char *p = f->product; *p; p++)
		if (!isprint((unsigned char)*p))
			*p = '?';
}

static void read_machine(struct gus_facts *f)
{
	Gusprof__Host *h = gus_host_describe("/sys");
	char text[32];

	COPY(f->machine, h->machine);
	COPY(f->vendor, h->cpu_vendor);
	COPY(f->cpu, h->cpu_model);
	COPY(f->hypervisor, h->hypervisor);
	f->cpus = h->cpus_online;
	gusprof__host__free_unpacked(h, NULL);
	/* Xen tells Linux, but may hide from CPUID. */
	if (!*f->hypervisor && gus_read_text("/sys/hypervisor/type", text, sizeof(text)))
		COPY(f->hypervisor, text);
	read_product(f);
}

static void read_settings(struct gus_facts *f)
{
	struct rlimit limit;

	f->kptr_restrict = setting("/proc/sys/kernel/kptr_restrict");
	f->mlock_kb = setting("/proc/sys/kernel/perf_event_mlock_kb");
	f->sample_rate = setting("/proc/sys/kernel/perf_event_max_sample_rate");
	f->cpu_percent = setting("/proc/sys/kernel/perf_cpu_time_max_percent");
	f->nmi_watchdog = setting("/proc/sys/kernel/nmi_watchdog");
	f->smt = setting("/sys/devices/system/cpu/smt/active");
	f->memlock_bytes = getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur :
			   UINT64_MAX;
	f->ring_bytes = GUS_RING_BYTES + (uint64_t)sysconf(_SC_PAGESIZE); /* and its control page */
}

/* Names. The first lines of kallsyms tell: addresses are shown to us, or they are all zero. */
static enum gus_kallsyms_state read_kallsyms(void)
{
	char text[4096];
	bool any = false;

	if (!gus_read_text("/proc/kallsyms", text, sizeof(text)))
		return GUS_KALLSYMS_ABSENT;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		any |= isxdigit((unsigned char)*line);
		if (isxdigit((unsigned char)*line) && strtoull(line, NULL, 16) != 0)
			return GUS_KALLSYMS_SHOWN;
	}
	return any ? GUS_KALLSYMS_HIDDEN : GUS_KALLSYMS_ABSENT;
}

static void read_vdso(struct gus_facts *f)
{
	Gusprof__Image image;
	char *path;
	size_t used = 0;

	f->vdso = gus_vdso_image(&image);
	if (!f->vdso || !image.build_id.data || image.build_id.len < 2)
		return;
	for (size_t i = 0; i < image.build_id.len && used + 3 <= sizeof(f->vdso_build_id); i++)
		used += (size_t)snprintf(f->vdso_build_id + used, sizeof(f->vdso_build_id) - used, "%02x",
					 image.build_id.data[i]);
	path = gus_format("/usr/lib/debug/.build-id/%.2s/%s.debug", f->vdso_build_id, f->vdso_build_id + 2);
	f->vdso_debug = access(path, R_OK) == 0;
	free(path);
}

void gus_facts_read(struct gus_facts *f, const char *uarch)
{
	gus_facts_rights(f);
	f->uarch = uarch;
	read_machine(f);
	read_settings(f);
	f->kallsyms = read_kallsyms();
	read_vdso(f);
}
