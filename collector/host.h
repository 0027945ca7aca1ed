/* SPDX-License-Identifier: MIT */
/* The machine that a recording is made on. */
#ifndef GUS_COLLECTOR_HOST_H
#define GUS_COLLECTOR_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "proto/gusprof.pb-c.h"

/* What can be found out in well under a millisecond; what cannot be is left empty. root is where sysfs is ("/sys"). The
 * caller frees it with gusprof__host__free_unpacked(host, NULL). */
Gusprof__Host *gus_host_describe(const char *root);

/* The build id among ELF notes (of sections or segments: 4-byte aligned), or NULL. Points into the notes. */
const uint8_t *gus_notes_build_id(const void *notes, size_t size, size_t *id_size);

#endif
