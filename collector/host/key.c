/* SPDX-License-Identifier: MIT */
#include "collector/host/key.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/host/host.h"
#include "collector/host/text.h"

static const char *const names[GUS_HOST_PARTS] = {
	[GUS_HOST_VENDOR] = "vendor", [GUS_HOST_FAMILY] = "family", [GUS_HOST_MODEL] = "model",
	[GUS_HOST_STEPPING] = "stepping", [GUS_HOST_NAME] = "name", [GUS_HOST_MICROCODE] = "microcode",
	[GUS_HOST_HYPERVISOR] = "hypervisor", [GUS_HOST_PRODUCT] = "product", [GUS_HOST_KERNEL] = "kernel",
};

const char *gus_host_part_name(enum gus_host_part part)
{
	return names[part];
}

/* On one line, and without what a terminal would act on: firmware and hypervisors write some of it. */
static void set(struct gus_host_key *key, enum gus_host_part part, const char *text)
{
	char *to = key->part[part];

	snprintf(to, sizeof(key->part[part]), "%s", text);
	for (char *p = to; *p; p++)
		if (!isprint((unsigned char)*p))
			*p = '?';
	for (size_t n = strlen(to); n && to[n - 1] == ' '; n--)
		to[n - 1] = '\0';
}

static void set_number(struct gus_host_key *key, enum gus_host_part part, unsigned number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	set(key, part, text);
}

static void set_product(struct gus_host_key *key)
{
	char maker[48] = "", product[48] = "", both[100];

	gus_read_text("/sys/class/dmi/id/sys_vendor", maker, sizeof(maker));
	gus_read_text("/sys/class/dmi/id/product_name", product, sizeof(product));
	snprintf(both, sizeof(both), "%s%s%s", maker, *maker && *product ? " " : "", product);
	set(key, GUS_HOST_PRODUCT, both);
}

static void set_host(struct gus_host_key *key, const Gusprof__Host *h)
{
	memset(key, 0, sizeof(*key));
	set(key, GUS_HOST_VENDOR, h->cpu_vendor);
	set_number(key, GUS_HOST_FAMILY, h->cpu_family);
	set_number(key, GUS_HOST_MODEL, h->cpu_model_number);
	set_number(key, GUS_HOST_STEPPING, h->cpu_stepping);
	set(key, GUS_HOST_NAME, h->cpu_model);
	set(key, GUS_HOST_MICROCODE, h->microcode);
	set(key, GUS_HOST_HYPERVISOR, h->hypervisor);
	set(key, GUS_HOST_KERNEL, h->kernel);
}

void gus_host_key_read(struct gus_host_key *key)
{
	Gusprof__Host *h = gus_host_describe("/sys");
	char hypervisor[96];

	set_host(key, h);
	/* Xen tells Linux, but may hide from CPUID. */
	if (!*h->hypervisor && gus_read_text("/sys/hypervisor/type", hypervisor, sizeof(hypervisor)))
		set(key, GUS_HOST_HYPERVISOR, hypervisor);
	set_product(key);
	gusprof__host__free_unpacked(h, NULL);
}

static bool is_same(const struct gus_host_key *a, const struct gus_host_key *b)
{
	for (int i = 0; i < GUS_HOST_PARTS; i++)
		if (strcmp(a->part[i], b->part[i]) != 0)
			return false;
	return true;
}

bool gus_host_key_is_here(const Gusprof__Host *host)
{
	Gusprof__Host *h = gus_host_describe("/sys");
	struct gus_host_key here, there;

	set_host(&here, h);
	set_host(&there, host);
	gusprof__host__free_unpacked(h, NULL);
	return is_same(&here, &there);
}
