/* SPDX-License-Identifier: MIT */
/* gusprof model --batch: many blocks, a line each, on several threads. */
#ifndef GUS_CLI_MODEL_BATCH_H
#define GUS_CLI_MODEL_BATCH_H

#include "cli/model/render.h"

/* Models the block in the first field of each line of a CSV text. A first line whose first field is no hexadecimal
 * number is a header; empty lines are passed over. The lines point into the text. The caller frees b->lines. */
void gus_model_batch_run(struct gus_model_batch *b, const struct gus_modelled_settings *s, const char *text,
			 size_t size, unsigned jobs);

#endif
