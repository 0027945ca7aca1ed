/* SPDX-License-Identifier: MIT */
/* The inside of the parser of tables. Its files, in the order of the way: uarch_parse.c finds the texts and goes
 * through them, uarch_statements.c has what each line can say, uarch_figures.c what a row says, all three made of the
 * words of uarch_words.c; when all is read, uarch_settle.c checks it and hands it over. */
#ifndef GUS_MODEL_TABLES_UARCH_PARSE_H
#define GUS_MODEL_TABLES_UARCH_PARSE_H

#include "base/alloc.h"
#include "base/index.h"
#include "model/tables/uarch.h"

#define GUS_GROUP_BASE GUS_UARCH_PORTS_MAX /* while parsing, numbers of groups start here and ports are below */

/* A word of a line, or a text without its quotes. Not terminated: it points into the table. */
struct gus_token {
	const char *text; /* NULL at the end of the line */
	size_t size;
	bool quoted;
};

/* A token as the two arguments of %.*s, cut to what a message has room for. */
#define GUS_SHOW(t) (int)((t).text ? ((t).size < 80 ? (t).size : 80) : 0), (t).text ? (t).text : ""

/* A key's number, and the layer that defined it last: what is replaced by what is decided by layers. A table, each
 * table that it is like, and each overlay is one, and a key may be said once a layer. */
struct gus_keys {
	struct gus_index ix;
	struct gus_vec(uint32_t) layer;
};

/* Of a text: whether it has to say that it ends, and whether it has. */
struct gus_text_end { bool wanted, said; };

/* Lives while one table is parsed; what the lists hold goes to u at the end, also after an error. */
struct gus_uarch_parser {
	struct gus_uarch *u;
	const struct gus_uarch_texts *texts;
	struct gus_error *err;
	unsigned flags, depth;
	uint32_t layer, file, line;
	bool derived;          /* in a table that the one asked for is like */
	struct gus_text_end ends;
	const char *at, *end;  /* the rest of the line */

	struct gus_keys sources, units, groups, params, rows, opcodes, classes, forms, valids, fits;
	struct gus_index named; /* strings that forms go by, or went by before they were replaced */
	struct gus_vec(const char *) alias_list, like_list, file_list, unit_list;
	struct gus_vec(struct gus_uarch_source) source_list;
	struct gus_vec(struct gus_uarch_param) param_list;
	struct gus_vec(struct gus_uarch_group) port_list, group_list;
	struct gus_vec(uint32_t) group_ids;      /* by number of the key: a port's bit, or GUS_GROUP_BASE and up */
	struct gus_vec(struct gus_uarch_row) row_list;
	struct gus_vec(uint32_t) opcode_rows;    /* by number of the key */
	struct gus_vec(const char *) opcode_names;
	struct gus_vec(struct gus_uarch_class) class_list;
	struct gus_vec(struct gus_uarch_form) form_list;
	struct gus_vec(uint32_t) form_names;     /* string of what a form goes by, or 0 if it has its row */
	struct gus_vec(struct gus_uarch_use) use_list;
	struct gus_vec(struct gus_uarch_pair) pair_list;
	struct gus_vec(struct gus_uarch_valid) valid_list;
	struct gus_vec(struct gus_uarch_fit) fit_list;
};

/* Functions that return an int return 0, or what gus_parse_wrong returned: then the error names file and line. */

/* Words. */
int gus_parse_wrong(struct gus_uarch_parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The next word of the line; its text is NULL at the end. */
struct gus_token gus_parse_next(struct gus_uarch_parser *p);
bool gus_token_is(struct gus_token t, const char *word);
/* Of an interned string. */
const char *gus_parse_string(const struct gus_uarch_parser *p, uint32_t string);
uint32_t gus_parse_intern(struct gus_uarch_parser *p, struct gus_token t);
/* A name, interned; 0 if there is none, and that was said. */
uint32_t gus_parse_name(struct gus_uarch_parser *p, struct gus_token t, const char *what);
uint32_t gus_parse_quoted(struct gus_uarch_parser *p, const char *what, int *status);
int gus_parse_end(struct gus_uarch_parser *p);
/* Digits, at most nine, from *at; false if there are none. */
bool gus_parse_digits(const char **at, const char *end, uint32_t *value);
/* A number with at most two decimals from *at, in hundredths; false if it is none or `most` is less. */
bool gus_parse_centi(const char **at, const char *end, uint32_t most, uint32_t *value);
int gus_parse_count(struct gus_uarch_parser *p, const char *what, uint32_t *value);
int gus_parse_cycles(struct gus_uarch_parser *p, const char *what, uint32_t *value);

/* Keys. */
void gus_keys_init(struct gus_keys *k, size_t size);
void gus_keys_free(struct gus_keys *k);
/* The number of a key that is a string, or GUS_INDEX_NONE. */
uint32_t gus_keys_find(const struct gus_keys *k, uint32_t string);
/* The number of a key that is defined now; *fresh if it had none. NONE if this layer had it already: that was said. */
uint32_t gus_parse_define(struct gus_uarch_parser *p, struct gus_keys *k, const void *key, bool *fresh,
			  const char *what, const char *shown);
int gus_parse_source(struct gus_uarch_parser *p, struct gus_token t, uint32_t *number);

/* Figures. */

/* All of a row's behind `uops`, to the end of the line. */
int gus_parse_figures(struct gus_uarch_parser *p, struct gus_uarch_row *row);
/* The words after `uses`. */
int gus_parse_groups(struct gus_uarch_parser *p, uint32_t *first, uint32_t *n);
/* Whether uses of a row with so many uops are no more uops than GUS_UARCH_UOPS_MAX. */
int gus_parse_check_uses(struct gus_uarch_parser *p, uint32_t first, uint32_t n, uint32_t uops);
/* The word, and "LO-HI" or one number for both. */
int gus_parse_range(struct gus_uarch_parser *p, const char *word, uint32_t *lo, uint32_t *hi);

/* Calibrations: what stands behind `valid`, behind `fit` and behind `end`. */
int gus_parse_valid(struct gus_uarch_parser *p);
int gus_parse_fit(struct gus_uarch_parser *p);
int gus_parse_last(struct gus_uarch_parser *p);

/* Statements and texts. */
int gus_parse_line(struct gus_uarch_parser *p);
int gus_parse_text(struct gus_uarch_parser *p, const char *file, const char *text, size_t size);
/* The table in text, or that of the name with, unless left out, its overlay. */
int gus_parse_table(struct gus_uarch_parser *p, const char *called, const char *text, size_t size);

/* Checks and resolves what was read. */
int gus_parse_settle(struct gus_uarch_parser *p);
/* Gives the lists to u, settled or not. */
void gus_parse_hand_over(struct gus_uarch_parser *p);

#endif
