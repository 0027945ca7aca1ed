/* SPDX-License-Identifier: MIT */
/* Tables for tests of programs, as text that more lines can follow. */
#ifndef GUS_TESTS_UNIT_MADE_TABLES_H
#define GUS_TESTS_UNIT_MADE_TABLES_H

/* Ports as Haswell has them: loads go to p2 and p3, store addresses to p7 as well, data to p4. */
#define PORTS "port p0 s\nport p1 s\nport p2 s\nport p3 s\nport p4 s\nport p5 s\nport p6 s\nport p7 s\n" \
	"unit div s\nunit root s\ngroup p01 = p0+p1\ngroup p23 = p2+p3\ngroup p237 = p2+p3+p7\n" \
	"group p0156 = p0+p1+p5+p6\n"
#define PLAIN "form \"MOV (R64, M64)\" uops 1 latency 1 loadlat 7 uses p23:1 source s\n" \
	"form \"MOV (M64, R64)\" uops 2 latency 1 uses p237:1 p4:1 source s\n" \
	"form \"ADD_01 (R64, R64)\" uops 1 latency 1 uses p0156:1 source s\n"
#define X86 "uarch made isa x86-64 \"Made\"\nsource s \"made up\"\n" PORTS PLAIN
/* As AMD's: three ports load, two of them store, and no port is for addresses or data alone. */
#define LSU "uarch made isa x86-64 \"Made\"\nsource s \"made up\"\nport a0 s\nport l0 s\nport l1 s\nport l2 s\n" \
	"group l01 = l0+l1\ngroup l012 = l0+l1+l2\n" \
	"form \"MOV (R64, M64)\" uops 1 latency 1 loadlat 4 uses l012:1 source s\n" \
	"form \"MOV (M64, R64)\" uops 1 latency 1 uses l01:1 source s\n"
#define ARM64 "uarch made isa arm64 \"Made\"\nsource s \"made up\"\nport L s\nport S s\nport I s\n" \
	"form \"ldr (x, [x, imm])\" uops 1 latency 1 loadlat 4 uses L:1 source s\n" \
	"form \"str (x, [x, imm])\" uops 1 latency 1 uses S:1 source s\n"
#define FORM(text, figures) "form \"" text "\" " figures " source s\n"
#define PARAM(text) "param " text " s\n"
#define FAST PARAM("l1d_latency 4 cycles") PARAM("l1d_latency_indexed 5 cycles") PARAM("l1d_latency_vector 6 cycles")
#define FUSED PARAM("micro_fusion yes flag")
#define CODE(bytes) bytes, sizeof(bytes) - 1

#endif
