/* SPDX-License-Identifier: MIT */
/* A folder of files that can be made again, such as ~/.cache/gusprof: what took long to find out is kept there for the
 * next time. Nothing in it is believed because it lies there, and nothing depends on it: each file is whole or it is
 * none, the least recently used ones go when there are too many bytes, and anybody may remove any of them at any time.
 *
 * Others must not be able to put something there, nor learn from it what was looked at. So the folder is ours and has
 * mode 0700, its files 0600, and root neither makes nor uses one where somebody else may rename folders: in the home of
 * the user who typed sudo. What else lies in the folder, by its name, is left alone. */
#ifndef GUS_BASE_STORE_H
#define GUS_BASE_STORE_H

#include <stddef.h>
#include <stdint.h>

struct gus_error;

struct gus_store;

/* Opens the folder at path, and makes it if it is not there. The names of its files get the suffix (a literal), and
 * those are kept below `limit` bytes. NULL with err. */
struct gus_store *gus_store_open(const char *path, const char *suffix, uint64_t limit, struct gus_error *err);
void gus_store_close(struct gus_store *s);

/* The bytes of a file that has at most `max`, which the caller frees; it now counts as used. NULL, with
 * errno: EPERM if it is not ours, or others may write to it, EFBIG if it is longer. */
uint8_t *gus_store_read(struct gus_store *s, const char *name, size_t max, size_t *size);
/* Whether a file could be put there. -1 with err. */
int gus_store_check(struct gus_store *s, struct gus_error *err);
/* Puts a file there in one step, in place of the one that has the name. -1 with err; then nothing has changed. */
int gus_store_write(struct gus_store *s, const char *name, const void *bytes, size_t size, struct gus_error *err);

/* The names of all its files, without the suffix, in their order: an array that ends with NULL, which the caller frees
 * with gus_store_names_free. */
char **gus_store_names(struct gus_store *s);
void gus_store_names_free(char **names);
/* Removes a file. 1: it is gone, 0: there is none, -1 with err. */
int gus_store_remove(struct gus_store *s, const char *name, struct gus_error *err);

#endif
