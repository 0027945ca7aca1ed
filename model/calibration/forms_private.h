/* SPDX-License-Identifier: MIT */
/* Between the files of the fit of forms: what is known of each form while it is being measured.
 *
 *	forms.c         which forms, what is made of the times
 *	forms_time.c    chains and streams, and the links that close chains
 *	forms_ports.c   mixes with forms whose ports are known
 *	forms_explain.c which ports explain them */
#ifndef GUS_MODEL_CALIBRATION_FORMS_PRIVATE_H
#define GUS_MODEL_CALIBRATION_FORMS_PRIVATE_H

#include "model/calibration/body.h"
#include "model/calibration/fit.h"
#include "model/calibration/host.h"
#include "model/tables/uarch.h"

enum { GUS_FORM_CHAINS = 16, GUS_FORM_MIXES = 24, GUS_FORM_USES = 12 };
/* Unknown until measured is NAN. A chain and a stream are worth their figure within this part of it. */
#define GUS_FORM_TOLERANCE 0.03

/* A chain through one result from one operand. */
struct gus_form_chain {
	struct gus_chain chain;
	double cycles;                  /* a copy, links and all */
	double median;
};

/* What is executed with a form: so many copies of it and of a blocker, in a pass. */
struct gus_form_mix {
	uint32_t blocker;               /* a number of a form */
	unsigned copies, blockers;
	double cycles;                  /* a pass */
};

struct gus_form {
	struct gus_subject subject;
	const struct gus_uarch_row *row; /* of the nearest table; NULL: it has none */
	bool wanted;                    /* else it is here to block ports */
	bool trusted;                   /* it blocks the ports that the table says */
	struct gus_form_chain chains[GUS_FORM_CHAINS];
	unsigned chains_n;
	/* Cycles a copy, by digits: dependences that are implied cut, and left, as cutting them costs uops. */
	double stream[GUS_DIGITS], uncut[GUS_DIGITS];
	unsigned copies;                /* in a stream */
	unsigned cut_constants, cut_tests; /* instructions that cut dependences, a copy */
	struct gus_form_mix mixes[GUS_FORM_MIXES];
	unsigned mixes_n;
	uint32_t trouble;               /* enum gus_micro_trouble of all that was measured */
	const char *fault;              /* what it did instead of coming back; NULL: nothing */
	/* What it was found to be. */
	double throughput;
	struct gus_uarch_use uses[GUS_FORM_USES];
	unsigned uses_n;
	bool uses_changed;              /* other than the table's */
	bool uses_known;                /* they explain what was measured ... */
	bool uses_exact;                /* ... as the best use of ports, not only as one that is possible */
	double residual;
};

/* A microbenchmark that is to be run, and where its time goes. */
struct gus_form_job {
	struct gus_micro *micro;
	double copies;                  /* that the cycles of a pass are divided by */
	double expected;                /* what it takes if the table is right; 0: a whole number; NAN: anything */
	double *cycles, *median;        /* median may be NULL */
	struct gus_form *form;          /* that it is about; NULL: links and the like */
	bool sure;                      /* there is no noise, or it took the same when it was run again */
	uint32_t trouble;               /* of the time that is believed */
};

/* What links take, by style: encodings of vectors without VEX and with. NAN: not known. */
struct gus_form_links {
	double round_vector[2], round_mask, round_flags;
	double cycles[2][GUS_LINKS];
};

struct gus_forms {
	const struct gus_calibration *c;
	struct gus_pool pool;
	struct gus_vec(struct gus_form) forms;  /* does not grow once jobs point into it */
	struct gus_vec(struct gus_form_job) jobs;
	struct gus_form_links links;
	double load_vector;             /* of the plain load of a vector: its chain, for the links */
	double issue_width;
	bool width_known;               /* it was fitted before, and surely */
	double rates[2];                /* cycles a uop of what is only limited by it */
	struct gus_vec(uint32_t) blockers; /* numbers of forms */
	size_t jobs_done, jobs_expected;
};

/* forms_time.c */
void gus_forms_time(struct gus_forms *f);               /* adds the jobs of chains and streams */
void gus_forms_links(struct gus_forms *f);              /* adds those of links */
int gus_forms_run(struct gus_forms *f, const char *what, struct gus_error *err); /* runs all that was added */
void gus_forms_settle_links(struct gus_forms *f);
void gus_forms_width(struct gus_forms *f);              /* adds those of the width of issue */
void gus_forms_settle_width(struct gus_forms *f);
/* Cycles from end to end of a chain, without its links; NAN if these are not known. */
double gus_forms_latency(const struct gus_forms *f, const struct gus_form *form, const struct gus_form_chain *chain);

/* forms_ports.c */
bool gus_forms_could_block(const struct gus_forms *f, const struct gus_form *form);
void gus_forms_choose_blockers(struct gus_forms *f);
void gus_forms_mix_blockers(struct gus_forms *f);       /* adds the jobs of mixes of blockers with each other */
void gus_forms_judge_blockers(struct gus_forms *f);     /* leaves those that the table is right about */
void gus_forms_mix(struct gus_forms *f);                /* adds the jobs of mixes with them */
bool gus_forms_may_mix(const struct gus_forms *f, const struct gus_form *form);
uint64_t gus_forms_domain(const struct gus_forms *f, const struct gus_form *form);

/* forms_explain.c */
/* Cycles of a copy by the ports and units of its row, or by the width of issue. */
double gus_forms_bound(const struct gus_forms *f, const struct gus_form *form);
/* Cycles that a mix takes at least by the rows of both. */
double gus_forms_least(const struct gus_forms *f, const struct gus_form *form, const struct gus_form_mix *mix);
/* Whether a mix took a time that the rows of both do not allow. */
bool gus_forms_contradicts(const struct gus_forms *f, const struct gus_form *form, const struct gus_form_mix *mix);
void gus_forms_explain(struct gus_forms *f, struct gus_form *form);

#endif
