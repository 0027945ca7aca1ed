/* SPDX-License-Identifier: MIT */
/* What timings of a machine are true of: this CPU with this microcode, under this kernel and hypervisor. */
#ifndef GUS_COLLECTOR_HOST_KEY_H
#define GUS_COLLECTOR_HOST_KEY_H

#include <stdbool.h>
#include <stddef.h>

struct Gusprof__Host;

/* In the order of their weight: what comes first is what is said to differ. */
enum gus_host_part {
	GUS_HOST_VENDOR, GUS_HOST_FAMILY, GUS_HOST_MODEL, GUS_HOST_STEPPING, GUS_HOST_NAME, GUS_HOST_MICROCODE,
	GUS_HOST_HYPERVISOR, GUS_HOST_PRODUCT, GUS_HOST_KERNEL, GUS_HOST_PARTS
};

/* Words for people; "" is what the machine doesn't say. */
struct gus_host_key { char part[GUS_HOST_PARTS][96]; };

/* Of this machine. */
void gus_host_key_read(struct gus_host_key *key);
/* Whether this machine is the one that a recording was made on, as far as that says: not what it is sold as. */
bool gus_host_key_is_here(const struct Gusprof__Host *host);
/* What a part is called: "microcode". */
const char *gus_host_part_name(enum gus_host_part part);

#endif
