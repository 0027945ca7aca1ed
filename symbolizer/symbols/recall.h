/* SPDX-License-Identifier: MIT */
/* What debug information says of a module's addresses, remembered from one run to the next. Where the answer is
 * remembered, no DWARF is read: that takes a second for each hundred megabytes of it, and memory likewise.
 *
 * A build id proves nothing: whoever makes a program may give it libc's. So what is remembered is of those very files,
 * known by device, inode, size and times, and a copy with the same build id is asked anew. Nothing is remembered of
 * files that have none, or where a file was missing, refused, or too much to be read as a whole. */
#ifndef GUS_SYMBOLIZER_SYMBOLS_RECALL_H
#define GUS_SYMBOLIZER_SYMBOLS_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/names/answers.h"

struct gus_dwarf;
struct gus_elf;
struct gus_error;
struct gus_store;

struct gus_recall {
	struct gus_answers answers;
	struct gus_store *store;  /* NULL: nothing is remembered */
	bool changed;             /* something was asked that was not remembered */
	char *name;               /* of the file in it */
	struct gus_vec(uint8_t) key;
};

/* holder has the debug information, code the code (often the same), shared what .gnu_debugaltlink names, or NULL. */
void gus_recall_open(struct gus_recall *r, struct gus_store *store, struct gus_elf *holder,
		     const struct gus_elf *code, const struct gus_elf *shared);
void gus_recall_close(struct gus_recall *r);

/* The remembered answer, or NULL. */
const struct gus_answer *gus_recall_find(const struct gus_recall *r, uint64_t address);
/* Asks d about address; with calls, the answer is complete and will be remembered. */
struct gus_answer gus_recall_ask(struct gus_recall *r, struct gus_dwarf *d, uint64_t address, bool calls);
/* The same of many addresses, sorted, by several threads if they are enough for that and the files are such as several
 * can look at. What has been answered then is found. */
void gus_recall_ask_all(struct gus_recall *r, struct gus_dwarf *d, struct gus_elf *holder, const struct gus_elf *code,
			struct gus_elf *shared, const uint64_t *addresses, size_t n);
/* Puts what was asked into the store. -1 with err. */
int gus_recall_save(const struct gus_recall *r, struct gus_error *err);

#endif
