/* SPDX-License-Identifier: MIT */
/* Bytes as people write them. */
#ifndef GUS_BASE_HEX_H
#define GUS_BASE_HEX_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of size characters such as "4801c8", "48 01 c8", "0x48,0x01" or "\x48\x01". NULL if they are none, or no
 * whole ones. The caller frees it. */
uint8_t *gus_hex_parse(const char *text, size_t size, size_t *n);

#endif
