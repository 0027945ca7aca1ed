/* SPDX-License-Identifier: MIT */
/* A table while it is read, for the files that read it. */
#ifndef GUS_ATTRIBUTION_TOPDOWN_PARSE_H
#define GUS_ATTRIBUTION_TOPDOWN_PARSE_H

#include "attribution/topdown/table.h"
#include "base/piece.h"

enum { GUS_TOPDOWN_CONDITIONS = 8 }; /* that a line of a CPU has at most */

struct gus_topdown_reader {
	struct gus_topdown *t;
	const struct gus_topdown_host *host;
	const struct gus_topdown_pmu *pmu;
	const char *name;
	unsigned line;
	struct gus_piece rest;  /* of the line */
	struct gus_piece conditions[GUS_TOPDOWN_CONDITIONS]; /* that hold, as the line of this CPU says */
	unsigned conditions_n;
	bool says_cpus, matched;
	bool elsewhere;         /* what it says of CPUs is over, and this one was not among them */
	bool skipping;          /* the node that was begun is not for this machine */
	struct gus_topdown_node *node; /* that lines may say more about */
	struct gus_error *err;
};

/* Fails with GUS_E_CORRUPT: which table, which line, and what is wrong. Returns -1. */
int gus_topdown_wrong(struct gus_topdown_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What is next on the line; an empty word where there is nothing. */
void gus_topdown_skip_blanks(struct gus_piece *s);
struct gus_piece gus_topdown_word(struct gus_topdown_reader *r);
/* "Text", which the caller frees, or NULL with an error. */
char *gus_topdown_text(struct gus_topdown_reader *r);
int gus_topdown_number_of(struct gus_topdown_reader *r, struct gus_piece word, double *number);
int gus_topdown_number(struct gus_topdown_reader *r, double most, double *number);
int gus_topdown_whole(struct gus_topdown_reader *r, uint32_t most, uint32_t *number);
bool gus_topdown_is_name(struct gus_piece word);

/* Statements about the machine, and whether a condition holds on it. */
int gus_topdown_read_cpu(struct gus_topdown_reader *r);
int gus_topdown_read_midr(struct gus_topdown_reader *r);
int gus_topdown_read_pmu(struct gus_topdown_reader *r);
int gus_topdown_read_needs(struct gus_topdown_reader *r);
bool gus_topdown_holds(const struct gus_topdown_reader *r, struct gus_piece condition);

#endif
