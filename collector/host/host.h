/* SPDX-License-Identifier: MIT */
/* The machine that a recording is made on. */
#ifndef GUS_COLLECTOR_HOST_HOST_H
#define GUS_COLLECTOR_HOST_HOST_H

#include "proto/gusprof.pb-c.h"

/* What can be found out in well under a millisecond; what cannot be is left empty. root is where sysfs is ("/sys"). The
 * caller frees it with gusprof__host__free_unpacked(host, NULL). */
Gusprof__Host *gus_host_describe(const char *root);

#endif
