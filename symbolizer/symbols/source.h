/* SPDX-License-Identifier: MIT */
/* Lines of source files, read when they are first asked for. */
#ifndef GUS_SYMBOLIZER_SYMBOLS_SOURCE_H
#define GUS_SYMBOLIZER_SYMBOLS_SOURCE_H

#include <stdint.h>

struct gus_log;
struct gus_provenance;
struct gus_rights;

struct gus_sources;

/* Files are looked for under symfs first, which may be NULL, and then where their names say; they are opened with these
 * rights. What is borrowed must outlive it. */
struct gus_sources *gus_sources_new(const char *symfs, const struct gus_rights *rights, const struct gus_log *log);
void gus_sources_free(struct gus_sources *s);

/* A line, counted from 1, without its end and with blanks for tabs; NULL if it cannot be read. The origin is the file
 * that named this one: what its owner may not read is not read. That the source is younger than it is kept in mind. */
const char *gus_sources_line(struct gus_sources *s, const char *file, uint32_t line,
			     const struct gus_provenance *origin);
/* Says once which files could not be read, and which are too young: the first by name, and how many there are. */
void gus_sources_tell(const struct gus_sources *s);

#endif
