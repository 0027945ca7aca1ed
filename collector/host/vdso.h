/* SPDX-License-Identifier: MIT */
/* The code that the kernel maps into every process and that no file holds. */
#ifndef GUS_COLLECTOR_HOST_VDSO_H
#define GUS_COLLECTOR_HOST_VDSO_H

#include <stdbool.h>

#include "proto/gusprof.pb-c.h"

/* Fills in path, build id and bytes of this process's vdso, which is that of every process of the same word size. The
 * message borrows all of it. False if there is none. */
bool gus_vdso_image(Gusprof__Image *image);

#endif
