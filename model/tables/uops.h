/* SPDX-License-Identifier: MIT */
/* Measured figures of instruction forms, as a user gets them from uops.info (instructions.xml, or a table of one CPU in
 * tab-separated values), and how they become a table of ours. Pure: text in, text out.
 *
 * The values have a header line and the columns iform, string, uops, retire_slots, uops_mite, uops_ms, TP, ports,
 * div_cycles, flags, latencies, of which string to latencies are read by these names; uops_mite, uops_ms and flags may
 * be missing. ports is like 2*p06+1*p23; bit 2 of flags (4) says that only the complex decoder takes the form;
 * latencies is like REG0>REG1:3 MEM0>REG0:1/addr5/idx5/mem2, where of a memory operand the parts count and the number
 * before them does not. */
#ifndef GUS_MODEL_TABLES_UOPS_H
#define GUS_MODEL_TABLES_UOPS_H

#include "model/tables/uarch.h"


#define GUS_UOPS_PORTS 16       /* different groups of ports that one form may use */
#define GUS_UOPS_PAIRS 64       /* and latencies by operand; the most that was seen are 24 */

struct gus_uops_port {
	const char *name;       /* as measured: "p23A", "pFP01"; not terminated */
	uint32_t size;
	uint32_t uops;
};

enum { GUS_UOPS_FIGURE_MAX = 999999999 }; /* hundredths; what is more was not measured */

/* One form on one CPU. Times are hundredths of a cycle; -1 is what was not measured. */
struct gus_uops {
	char form[GUS_INSN_FORM_MAX];
	int64_t uops, fused;
	int64_t decoded, microcoded; /* fused uops by who delivers them */
	int64_t complex;        /* 1: for the first decoder only; 0: for any */
	int64_t latency;        /* the longest from a register or the flags to a register or the flags */
	int64_t loadlat;        /* the longest from an address to those */
	int64_t divider;        /* how long it is busy; 0 if it is not used */
	int64_t throughput;     /* where no ports were found out */
	struct gus_uops_port ports[GUS_UOPS_PORTS];
	uint32_t ports_n;       /* 0: unknown, or none */
	struct gus_uarch_pair pairs[GUS_UOPS_PAIRS]; /* each once */
	uint32_t pairs_n;
};

/* Calls each for every form that has a measurement of arch ("SKL"; of tab-separated values it is not asked). Whatever
 * each returns but zero ends it. */
typedef int gus_uops_each(void *context, const struct gus_uops *one, struct gus_error *err);
int gus_uops_parse(const char *text, size_t size, const char *arch, gus_uops_each *each, void *context,
		   struct gus_error *err);

/* The ports of a measured group in a table: "p23A" is p2, p3 and p10 or pA, "pFP01" is fp0 and fp1. 0 if one is not
 * there. */
uint64_t gus_uops_mask(const struct gus_uarch *u, const struct gus_uops_port *port);

/* The text of a table called name that is like base but for what was measured. What a measurement does not say (ports
 * of integer instructions on AMD's CPUs, latencies) stays as it is in base. The caller frees it; NULL if nothing
 * fits. */
char *gus_uops_table(const char *text, size_t size, const char *arch, const char *name, const struct gus_uarch *base,
		     struct gus_error *err);

#endif
