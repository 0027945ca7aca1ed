/* SPDX-License-Identifier: MIT */
/* What the traces of a recording came to, kept in a folder for the next time that somebody asks for its stacks: running
 * them takes seconds, and reading this none. It is of those very bytes of the recording, of that table, and of the
 * program that made it; and it is not used where a file that code was from is another one by now. */
#ifndef GUS_CLI_STACKS_KEPT_H
#define GUS_CLI_STACKS_KEPT_H

#include <stdbool.h>

#include "attribution/accounts/account.h"

struct gus_log;
struct gus_stacks_kept;

/* What was run of the recording's traces. */
struct gus_stacks_ran {
	bool windows;                   /* they are of windows of a process, ... */
	unsigned taken, failed;         /* ... so many; and that could not be read, ... */
	char first[256];                /* ... why the first could not */
	bool partly;                    /* stretches alone were run */
	uint64_t left_out;              /* instructions of threads that were not run, as there are too many */
};

/* An account of a recording, and the one that the model alone has. */
struct gus_stacks_accounts {
	struct gus_account account, modelled;
	struct gus_clues of_model;      /* the latter's */
	bool vs_model;                  /* that there is one */
};
void gus_stacks_accounts_free(struct gus_stacks_accounts *a);

/* What they come to hangs on these. */
struct gus_stacks_asked {
	const char *path;               /* of the recording */
	uint64_t table;                 /* the digest of the CPU's */
	bool replay, vs_model;          /* as struct gus_stacks_how has them */
};

/* folder: where it is kept. NULL: it cannot be used, which is logged as a detail. */
struct gus_stacks_kept *gus_stacks_kept_open(const char *folder, const struct gus_stacks_asked *asked,
					     const struct gus_log *log);
void gus_stacks_kept_close(struct gus_stacks_kept *k);
/* Whether there is something. NULL, as everywhere here: there is not. */
bool gus_stacks_kept_has(const struct gus_stacks_kept *k);
void gus_stacks_kept_forget(struct gus_stacks_kept *k);
/* Takes it, once; clues: of the recording, read without its traces. False: it was nothing. */
bool gus_stacks_kept_take(struct gus_stacks_kept *k, const struct gus_clues *clues, struct gus_stacks_accounts *a,
			  struct gus_stacks_ran *ran);
void gus_stacks_kept_put(struct gus_stacks_kept *k, const struct gus_stacks_accounts *a,
			 const struct gus_stacks_ran *ran);

#endif
