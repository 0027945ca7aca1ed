/* SPDX-License-Identifier: MIT */
/* The notes of ELF files, as they also stand in /sys/kernel/notes and in an image without a file. */
#ifndef GUS_BASE_NOTES_H
#define GUS_BASE_NOTES_H

#include <stddef.h>
#include <stdint.h>

/* The build id among notes (of sections or segments: 4-byte aligned), or NULL. Points into the notes. */
const uint8_t *gus_notes_build_id(const void *notes, size_t size, size_t *id_size);

#endif
