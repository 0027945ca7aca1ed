/* SPDX-License-Identifier: MIT */
/* What one CPU does with each instruction form: its uops, the ports they may use, how long results take, and the sizes
 * of its buffers. A table is text (NAME.uarch, corrected by NAME.overlay); this parses it and answers questions. Pure:
 * the texts come from the caller.
 *
 * The grammar. A line is a statement; words are separated by blanks, texts stand in "quotes" (no escapes), # begins a
 * comment. Numbers of cycles may have two decimals. A NAME is of letters, digits and _ . - +. Statements in any order,
 * but a thing is declared before it is used.
 *
 *   uarch NAME isa x86-64|arm64 "TITLE"     first line of a table; an overlay has none
 *   alias NAME...                           other names of this CPU
 *   like NAME                               everything that NAME's table and overlay say, to be replaced by key below
 *   include FILE                            the statements of FILE (forms that several CPUs share)
 *   source ID "TEXT"                        where figures come from; each line with figures ends with such an ID
 *   param NAME VALUE UNIT SOURCE            a size or width: gus_uarch_params has all names with their units
 *   port NAME SOURCE                        takes one uop a cycle
 *   unit NAME SOURCE                        a thing that is not a port and can be busy, such as a divider
 *   group NAME = PORT+PORT...               ports that the same uop may choose from; a port is a group by itself.
 *                                           Groups
 *                                           that overlap have their union declared as well: the loader insists
 *   row ID FIGURES                          FIGURES are
 *       uops N latency C [fused N] [decoded N] [microcoded N] [complex] [loadlat C] [uses GROUP:C...]
 *       [exclusive UNIT:C...] [pairs FROM>TO:C...] [range C-C] [guessed] source ID
 *   opcode ROW CLASS...                     opcode classes that have this row; `opcode - CLASS...` takes them away
 *   form "TEXT"... NAME                     instruction forms: NAME is a row or, if there is no such row, an opcode
 *                                           class
 *   form "TEXT"... FIGURES                  the same with a row of their own
 *   class NAME uops LO-HI latency LO-HI [uses GROUP:C...] source ID
 *                                           bounds for a form that has no row, by the class of its instruction
 *   valid KEY "VALUE"                       a calibration: it holds for a host of which KEY is VALUE (cpu, microcode)
 *   fit ["FORM"] NAME FOUND UNIT [residual R] [confidence none|low|medium|high] "WHY"
 *                                           what a calibration found out of a parameter, of the host, or of a figure
 *                                           of a form; FOUND is `VALUE LOW..HIGH`, "TEXT", or none. It changes
 *                                           nothing: where it is believed, a `param` or `form` says the same
 *   end                                     the last statement of a text, which one that has a `valid` needs: without
 *                                           it has been cut
 *
 * uops counts what is executed (unfused; of AMD's CPUs macro-ops); fused counts what issue and retirement count, where
 * that is known and differs. latency is from a register operand that is no address to the result; loadlat from the
 * registers of the address, the word being in L1, and only rows that load have it. `uses` counts uops: `p01:2 p5:1` are
 * two that may take p0 or p1 and one that must take p5. `exclusive` is how long a unit is busy, and nothing else gets
 * it meanwhile. `guessed` marks placeholders that the source itself does not believe.
 *
 * range is for division and its like: what latency is with the operands that suit it best, and with the worst.
 *
 * decoded counts the fused uops that the legacy decoders deliver, microcoded those that the microcode sequencer
 * delivers; `complex` rows can be decoded by the first decoder only, be it for one uop. `pairs` are latencies by
 * operand where the two plain ones do not say all. A register operand is a number, counted from 0 as uops.info does:
 * those in the form's text, then the implicit ones, the flags last. m0 is the first memory operand's word, a0 the
 * registers of its address (or of lea's): `0>1:3` from register to register, `m0>0:3` from the loaded word, `a0>0:7`
 * from the address, `1>m0:5` from a register to the stored word. A pair is there once, in one `pairs`.
 * One from an operand that is only written is a false dependence: the CPU waits for what is in the register (popcnt).
 *
 * Within one text (with its includes) every key is defined once; an overlay, or a table after `like`, replaces what was
 * there: a row by ID, a form by text, a class, param, port or group by name, an opcode class by name. */
#ifndef GUS_MODEL_TABLES_UARCH_H
#define GUS_MODEL_TABLES_UARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/insn/insn.h"

struct gus_error;
struct gus_uarch_private;

enum { GUS_UARCH_CENTI = 100 }; /* cycles are kept in hundredths: exact, and as fine as the text */
enum { GUS_UARCH_CYCLES_MAX = 10000 }; /* more in one figure is a mistake, and no engine counts so far */
enum { GUS_UARCH_VALUE_MAX = 10000000 }; /* of a parameter, in its unit */
enum { GUS_UARCH_PORTS_MAX = 64 };
/* What a table may have besides; ours have a tenth. Groups are compared pair by pair, classes are sought by going
 * through all, engines have room for as many units, and a text may be included or be like others, which are read anew
 * each time. */
enum { GUS_UARCH_GROUPS_MAX = 2048, GUS_UARCH_CLASSES_MAX = 256, GUS_UARCH_UNITS_MAX = 31, GUS_UARCH_TEXTS_MAX = 32 };
enum { GUS_UARCH_COUNT_MAX = 65535 }; /* uops of an instruction, where they are only counted */
enum { GUS_UARCH_UOPS_MAX = 4096 }; /* uops of a row, all of which engines follow; the largest of ours has 186 */
enum { GUS_UARCH_OPERANDS = 32 }; /* operands of one kind that pairs tell apart */
#define GUS_UARCH_NONE UINT32_MAX

/* A table's text by its name: "skylake" for a table, "skylake.overlay" for its overlay, "x86.forms" for an include.
 * NULL if there is none. The bytes must stay until the parse returns. */
struct gus_uarch_texts {
	const char *(*get)(void *context, const char *name, size_t *size);
	void *context;
};

enum gus_uarch_flags {
	GUS_UARCH_PLAIN = 1, /* leave out all overlays: what the source says */
};

/* A port (one port in the mask) or several that the same uop may choose from. Ports come first, in order of their
 * bits. */
struct gus_uarch_group {
	const char *name;
	uint64_t ports;     /* bit p: port p */
	uint32_t size;      /* how many */
	uint32_t source;    /* a number in sources; NONE for what is not a port */
};

struct gus_uarch_use {
	uint32_t group;     /* number of a group, or of a unit */
	uint32_t cycles;    /* hundredths */
};

enum gus_uarch_operand {
	GUS_UARCH_REGISTER, /* or the flags */
	GUS_UARCH_MEMORY,   /* the word itself */
	GUS_UARCH_ADDRESS,  /* the registers of its address; never what a latency goes to */
	GUS_UARCH_OPERAND_KINDS
};
/* What stands before the operand's number: "", "m", "a". */
const char *gus_uarch_operand_prefix(enum gus_uarch_operand kind);

/* The latency from one operand to another. */
struct gus_uarch_pair {
	uint8_t from_kind, from;  /* enum gus_uarch_operand, and the number below GUS_UARCH_OPERANDS */
	uint8_t to_kind, to;
	uint32_t cycles;          /* hundredths */
};

struct gus_uarch_row {
	const char *id;           /* "r17"; of a row that one form has for itself, the form's text */
	uint32_t uops;            /* executed */
	uint32_t fused;           /* issued and retired; 0: the table does not say */
	uint32_t decoded;         /* fused uops of the legacy decoders; 0: the table does not say */
	uint32_t microcoded;      /* fused uops of the microcode sequencer */
	uint32_t latency;         /* hundredths of a cycle: register to result */
	uint32_t loadlat;         /* address to result; 0 if it does not load */
	uint32_t least, most;     /* what latency is by operands that suit it best, and worst; 0: they do not matter */
	bool guessed;
	bool complex;             /* for the first decoder only */
	uint32_t uses, uses_n;    /* in uarch->uses: uops on groups, each uop on the smallest group that it may use */
	uint32_t units, units_n;  /* in uarch->uses: exclusive units */
	uint32_t pairs, pairs_n;  /* in uarch->pairs; none: latency and loadlat are all that is known */
	uint32_t source;
	uint32_t file, line;      /* where it was said: a number in files, and the line */
};

struct gus_uarch_form {
	uint64_t hash;            /* as gus_insn_info.form */
	const char *text;
	uint32_t row;             /* NONE: known, and this CPU has no row for it */
	const char *opcode;       /* the opcode class that it goes by, or NULL */
	uint32_t file, line;
};

struct gus_uarch_class {
	const char *name;         /* as gus_insn_class_name */
	uint32_t uops_lo, uops_hi;
	uint32_t latency_lo, latency_hi; /* hundredths */
	uint32_t uses, uses_n;
	uint32_t source;
};

struct gus_uarch_source { const char *id, *text; };

/* A table that has a `valid` is a calibration: measured on one host, and right on those that are like it in this. */
struct gus_uarch_valid { const char *key, *value; };

/* A figure of a calibration, believed or not. */
struct gus_uarch_fit {
	const char *form;         /* its text; NULL: it is no form's */
	const char *name;         /* "rob", "core_ghz"; of a form "latency", "loadlat", "throughput", "uses" */
	const char *text;         /* what was found is a text; else NULL */
	double value, low, high;  /* where it lies; NAN if it was not found, or is a text */
	const char *unit;
	double residual;          /* how far what was measured is from what this explains, of 1; NAN: it is not said */
	const char *confidence;   /* none, low, medium, high; NULL: it is not said */
	const char *why;          /* what it is from, or what hides it */
};

/* The parameters that a table may have: a new one gets a line in the table in uarch.c. */
enum gus_uarch_unit {
	GUS_UNIT_UOPS, GUS_UNIT_INSTRUCTIONS, GUS_UNIT_CYCLES, GUS_UNIT_NS, GUS_UNIT_ENTRIES, GUS_UNIT_WAYS,
	GUS_UNIT_BYTES, GUS_UNIT_KIB, GUS_UNIT_PER_CYCLE, GUS_UNIT_FLAG, GUS_UNIT_POLICY, GUS_UNIT_COUNT
};
struct gus_uarch_param_kind {
	const char *name;
	enum gus_uarch_unit unit;
	const char *words;        /* for policies: what they may be, separated by blanks */
	const char *help;
};
extern const struct gus_uarch_param_kind gus_uarch_params[]; /* ends with a NULL name */
const char *gus_uarch_unit_name(enum gus_uarch_unit unit);

struct gus_uarch_param {
	uint32_t kind;            /* in gus_uarch_params */
	double value;             /* flags: yes is 1, no is 0; policies: the number of the word */
	const char *word;         /* of flags and policies, else NULL */
	uint32_t source;
};

/* Read only, and constant once parsed: threads may share it. Freed with gus_uarch_free. */
struct gus_uarch {
	const char *name, *title;
	enum gus_isa isa;
	const char **aliases;
	const char **likes;       /* what it was derived from, nearest first */
	const char **files;       /* the names of the texts that it was made from */
	uint64_t digest;          /* of these texts, in their order: XXH3 */
	const char **units;       /* of exclusive */
	struct gus_uarch_source *sources;
	struct gus_uarch_param *params;
	struct gus_uarch_group *groups; /* ports first: the first ports_n */
	struct gus_uarch_row *rows;
	struct gus_uarch_form *forms;   /* in order of first mention */
	struct gus_uarch_class *classes;
	struct gus_uarch_use *uses;
	struct gus_uarch_pair *pairs;
	struct gus_uarch_valid *valids;
	struct gus_uarch_fit *fits;
	uint32_t aliases_n, likes_n, files_n, units_n, sources_n, params_n, ports_n, groups_n, rows_n, forms_n,
		classes_n, uses_n, pairs_n, valids_n, fits_n;
	struct gus_uarch_private *own;
};

/* Parses the table called name, whose own text may be given (a user's file) or is looked up by its name (text NULL).
 * The error names file and line. flags: enum gus_uarch_flags. */
struct gus_uarch *gus_uarch_parse(const char *name, const char *text, size_t size, const struct gus_uarch_texts *texts,
				  unsigned flags, struct gus_error *err);
void gus_uarch_free(struct gus_uarch *u);

/* How many uops of a row with so many uops a use of it stands for. Less than half a cycle, an average, is one. */
uint32_t gus_uarch_use_uops(const struct gus_uarch_use *use, uint32_t uops);

/* Gives a parameter another value than the table's, or one where it has none, for a machine of one's own: a number in
 * the parameter's unit, or a word (of flags yes or no), or the word's number. -1 with err, and nothing is changed, if
 * there is no such parameter or value, or nothing that is modelled asks for it. Before anything is made of the
 * table. */
int gus_uarch_set(struct gus_uarch *u, const char *name, const char *value, struct gus_error *err);
/* Whether something that is modelled depends on a parameter. */
bool gus_uarch_param_is_asked(const char *name);

/* The form of this hash, or NULL: it was never heard of. */
const struct gus_uarch_form *gus_uarch_form(const struct gus_uarch *u, uint64_t hash);
const struct gus_uarch_form *gus_uarch_form_by_text(const struct gus_uarch *u, const char *text);
/* The row of a form, or NULL if there is none: then gus_uarch_class has bounds. */
const struct gus_uarch_row *gus_uarch_row(const struct gus_uarch *u, uint64_t hash);
const struct gus_uarch_class *gus_uarch_class(const struct gus_uarch *u, const char *name);
/* NULL if the table does not say. */
const struct gus_uarch_param *gus_uarch_param(const struct gus_uarch *u, const char *name);
/* The value of a parameter, or otherwise what is given. */
double gus_uarch_value(const struct gus_uarch *u, const char *name, double otherwise);
/* The number of a group (a port is one), or GUS_UARCH_NONE. */
uint32_t gus_uarch_group(const struct gus_uarch *u, const char *name);

/* The value of a calibration's key, or NULL if it is none or has no such key. */
const char *gus_uarch_valid_value(const struct gus_uarch *u, const char *key);
/* Of the keys that a calibration holds for, the first that has another value among those of a host, or none: it must
 * not be taken for that host. NULL: it fits. */
const struct gus_uarch_valid *gus_uarch_misfit(const struct gus_uarch *u, const struct gus_uarch_valid *host, size_t n);

/* The least time that some uops need, as a fraction: centi / ports hundredths of a cycle. */
struct gus_uarch_bound {
	uint64_t centi;           /* hundredths of a cycle of all uops that must run within the limiting group */
	uint32_t ports;           /* how many ports that group has, at least 1 */
	uint32_t group;           /* the limiting group, NONE if there are no uops */
};

/* The conjunctive bound of uops on groups: over all groups, the uops that must run inside it by its size. Because the
 * groups are closed under union it is what the best possible scheduling of ports reaches, no less and no more. */
struct gus_uarch_bound gus_uarch_bound_conjunctive(const struct gus_uarch *u, const struct gus_uarch_use *uses,
						   size_t n);
/* The cycles of one execution after another of a row, by its ports and units alone. */
double gus_uarch_throughput(const struct gus_uarch *u, const struct gus_uarch_row *row);

#endif
