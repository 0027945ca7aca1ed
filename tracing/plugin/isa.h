/* SPDX-License-Identifier: MIT */
/* The instruction sets that the plugin tells apart: whose system calls, branches and repeated instructions it knows. */
#ifndef GUS_TRACING_PLUGIN_ISA_H
#define GUS_TRACING_PLUGIN_ISA_H

enum gus_translated_isa { GUS_TRANSLATED_OTHER, GUS_TRANSLATED_X86_32, GUS_TRANSLATED_X86_64, GUS_TRANSLATED_ARM64 };

#endif
