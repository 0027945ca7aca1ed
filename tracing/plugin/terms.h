/* SPDX-License-Identifier: MIT */
/* What the plugin's files have in common. */
#ifndef GUS_TRACING_PLUGIN_TERMS_H
#define GUS_TRACING_PLUGIN_TERMS_H

#include <stdint.h>

/* The instruction sets that it tells apart: whose system calls, branches and repeated instructions it knows. */
enum gus_translated_isa { GUS_TRANSLATED_OTHER, GUS_TRANSLATED_X86_32, GUS_TRANSLATED_X86_64, GUS_TRANSLATED_ARM64 };

/* Which instructions of a thread are traced, counted in instructions of its own, as in Gusprof__Trace. */
struct gus_windows { uint64_t start, length, every; };

#endif
