/* SPDX-License-Identifier: MIT */
/* Build ids: what a linker wrote into a file, so that the file can be told from others of its name. */
#ifndef GUS_COLLECTOR_HOST_BUILD_ID_H
#define GUS_COLLECTOR_HOST_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

#define GUS_BUILD_ID_MAX 20     /* bytes; longer ones are taken for none */

/* The build id of the ELF file behind fd, 0 if it has none; bytes has room for GUS_BUILD_ID_MAX. */
size_t gus_file_build_id(int fd, uint8_t *bytes);

#endif
