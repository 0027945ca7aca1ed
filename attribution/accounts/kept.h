/* SPDX-License-Identifier: MIT */
/* An account as bytes, to be kept for the next time that somebody asks: with its replicates, so that it can be summed
 * up by any unit, and without what it was made of. The bytes are as they were written or nothing is read of them. */
#ifndef GUS_ATTRIBUTION_ACCOUNTS_KEPT_H
#define GUS_ATTRIBUTION_ACCOUNTS_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/varint.h"

struct gus_account;
struct gus_clues;
struct gus_cursor;

/* Appends it. */
void gus_account_put(struct gus_bytes *out, const struct gus_account *a);
/* Takes one from where the cursor is. clues: of the same recording, read without its traces, and borrowed; weight: what
 * all of it must come to. False, with nothing to free and the cursor bad, if the bytes are no such account; else it is
 * freed with gus_account_free. */
bool gus_account_take(struct gus_account *a, const struct gus_clues *clues, uint64_t weight, struct gus_cursor *from);

#endif
