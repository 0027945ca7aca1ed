/* SPDX-License-Identifier: MIT */
#include "collector/host/host.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/notes.h"
#include "collector/host/text.h"

static void set(char **field, const char *text)
{
	if (*text)
		*field = gus_strdup(text);
}

static void set_from_file(char **field, const char *root, const char *path)
{
	char *full = gus_format("%s/%s", root, path), text[256];

	if (gus_read_text(full, text, sizeof(text)))
		set(field, text);
	free(full);
}

static void describe_kernel(Gusprof__Host *h, const char *root)
{
	struct utsname u;
	uint8_t notes[4096];
	const uint8_t *id;
	char *path = gus_format("%s/kernel/notes", root);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, notes, sizeof(notes));
	size_t size;

	free(path);
	if (fd >= 0)
		close(fd);
	id = n > 0 ? gus_notes_build_id(notes, (size_t)n, &size) : NULL;
	if (id) {
		h->kernel_build_id.data = gus_alloc(size);
		h->kernel_build_id.len = size;
		memcpy(h->kernel_build_id.data, id, size);
	}
	if (uname(&u) != 0)
		return;
	set(&h->hostname, u.nodename);
	set(&h->machine, u.machine);
	set(&h->kernel, u.release);
	set(&h->kernel_version, u.version);
}

/* "name\t: value" of /proc/cpuinfo's first CPU; the file is long on large machines, so only its beginning is read. */
static void set_from_cpuinfo(char **field, const char *name)
{
	char text[2048], *line = text;

	if (!gus_read_text("/proc/cpuinfo", text, sizeof(text)))
		return;
	while (line && strncmp(line, name, strlen(name)) != 0) {
		line = strchr(line, '\n');
		line += line != NULL;
	}
	line = line ? strchr(line, ':') : NULL;
	if (!line)
		return;
	line += 1 + strspn(line + 1, " \t");
	line[strcspn(line, "\n")] = '\0';
	set(field, line);
}

#if defined(__x86_64__)
#include <cpuid.h>

/* Hypervisors sign CPUID leaf 0x40000000. */
static const struct { const char *signature, *name; } hypervisors[] = {
	{ "KVMKVMKVM", "KVM" }, { "Microsoft Hv", "Hyper-V" }, { "VMwareVMware", "VMware" }, { "XenVMMXenVMM", "Xen" },
	{ "TCGTCGTCGTCG", "QEMU" }, { "bhyve bhyve ", "bhyve" }, { "ACRNACRNACRN", "ACRN" },
	{ "VBoxVBoxVBox", "VirtualBox" }, { " lrpepyh  vr", "Parallels" },
};

static void describe_hypervisor(Gusprof__Host *h)
{
	uint32_t regs[4] = { 0 };
	char signature[13] = "";

	__cpuid(0x40000000, regs[0], regs[1], regs[2], regs[3]);
	memcpy(signature, &regs[1], 12);
	for (size_t i = 0; i < sizeof(hypervisors) / sizeof(*hypervisors); i++)
		if (strcmp(signature, hypervisors[i].signature) == 0) {
			set(&h->hypervisor, hypervisors[i].name);
			return;
		}
	set(&h->hypervisor, *signature ? signature : "unknown");
}

static void describe_cpu(Gusprof__Host *h, const char *root)
{
	uint32_t a, b, c, d, brand[12];
	char text[49] = "";

	__cpuid(0, a, b, c, d);
	memcpy(text, &b, 4);
	memcpy(text + 4, &d, 4);
	memcpy(text + 8, &c, 4);
	set(&h->cpu_vendor, text);
	__cpuid(1, a, b, c, d);
	h->cpu_stepping = a & 15;
	h->cpu_family = a >> 8 & 15;
	h->cpu_model_number = a >> 4 & 15;
	if (h->cpu_family == 15 || h->cpu_family == 6)
		h->cpu_model_number |= a >> 12 & 0xf0;
	if (h->cpu_family == 15)
		h->cpu_family += a >> 20 & 0xff;
	if (c >> 31)
		describe_hypervisor(h);
	if ((uint32_t)__get_cpuid_max(0x80000000, NULL) >= 0x80000004) {
		for (unsigned i = 0; i < 3; i++)
			__cpuid(0x80000002 + i, brand[4 * i], brand[4 * i + 1], brand[4 * i + 2], brand[4 * i + 3]);
		memcpy(text, brand, 48);
		text[48] = '\0';
		for (size_t n = strlen(text); n && text[n - 1] == ' '; n--)
			text[n - 1] = '\0';
		set(&h->cpu_model, text + strspn(text, " "));
	}
	set_from_file(&h->microcode, root, "devices/system/cpu/cpu0/microcode/version");
	if (!*h->microcode)
		set_from_cpuinfo(&h->microcode, "microcode");
}
#else
static const struct { unsigned implementer; const char *name; } arm_vendors[] = {
	{ 0x41, "ARM" }, { 0x42, "Broadcom" }, { 0x43, "Cavium" }, { 0x46, "Fujitsu" }, { 0x48, "HiSilicon" },
	{ 0x4e, "NVIDIA" }, { 0x51, "Qualcomm" }, { 0x61, "Apple" }, { 0x6d, "Microsoft" }, { 0xc0, "Ampere" },
};

static void describe_cpu(Gusprof__Host *h, const char *root)
{
	char *midr = NULL;

	set_from_file(&midr, root, "devices/system/cpu/cpu0/regs/identification/midr_el1");
	h->midr = midr ? strtoull(midr, NULL, 16) : 0;
	free(midr);
	h->cpu_model_number = h->midr >> 4 & 0xfff;
	h->cpu_stepping = (uint32_t)((h->midr >> 20 & 15) << 4 | (h->midr & 15));
	for (size_t i = 0; i < sizeof(arm_vendors) / sizeof(*arm_vendors); i++)
		if (arm_vendors[i].implementer == (h->midr >> 24 & 0xff))
			set(&h->cpu_vendor, arm_vendors[i].name);
	set_from_cpuinfo(&h->cpu_model, "model name");
	set_from_file(&h->hypervisor, root, "hypervisor/type");
}
#endif

/* Of the first cache that has data; they all have the same, where it matters to who shares a line. */
static uint32_t line_size(const char *root)
{
	char text[256];

	for (unsigned i = 0; i < 4; i++) {
		char *type = gus_format("%s/devices/system/cpu/cpu0/cache/index%u/type", root, i);
		char *size = gus_format("%s/devices/system/cpu/cpu0/cache/index%u/coherency_line_size", root, i);
		bool is_data = gus_read_text(type, text, sizeof(text)) && strcmp(text, "Instruction") != 0;
		bool found = is_data && gus_read_text(size, text, sizeof(text));

		free(type);
		free(size);
		if (found)
			return (uint32_t)strtoul(text, NULL, 10);
	}
	return 0;
}

Gusprof__Host *gus_host_describe(const char *root)
{
	Gusprof__Host *h = gus_zalloc(sizeof(*h));
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), page = sysconf(_SC_PAGESIZE);

	gusprof__host__init(h);
	describe_kernel(h, root);
	describe_cpu(h, root);
	set_from_file(&h->boot_id, "/proc", "sys/kernel/random/boot_id");
	h->cpus_online = cpus > 0 ? (uint32_t)cpus : 0;
	h->page_size = page > 0 ? (uint64_t)page : 0;
	h->line_size = line_size(root);
	return h;
}
