/* SPDX-License-Identifier: MIT */
/* Lines of source files, read when they are first asked for. */
#ifndef GUS_SYMBOLIZER_SYMBOLS_SOURCE_H
#define GUS_SYMBOLIZER_SYMBOLS_SOURCE_H

#include <stdint.h>
#include <time.h>

struct gus_log;

struct gus_sources;

/* Files are looked for under symfs first, which may be NULL, and then where their names say. What is borrowed must
 * outlive it. */
struct gus_sources *gus_sources_new(const char *symfs, const struct gus_log *log);
void gus_sources_free(struct gus_sources *s);

/* A line, counted from 1, without its end and with blanks for tabs; NULL if it cannot be read. That the file is younger
 * than `made`, when the code was made (0: not known), is kept in mind. */
const char *gus_sources_line(struct gus_sources *s, const char *file, uint32_t line, time_t made);
/* Says once which files could not be read, and which are too young: the first by name, and how many there are. */
void gus_sources_tell(const struct gus_sources *s);

#endif
