/* SPDX-License-Identifier: MIT */
/* Sentences for people, in the footer of a recording that was imported: what of the file is not what it could be. */
#ifndef GUS_COLLECTOR_PERFDATA_NOTICES_H
#define GUS_COLLECTOR_PERFDATA_NOTICES_H

#include <stdint.h>

#include "proto/gusprof.pb-c.h"

/* One of them, made by gus_format and the footer's from now on. */
void gus_perfdata_notices_add(Gusprof__Footer *footer, char *sentence);
/* One that begins with a number, of one or of any other; of 0 there is none. */
void gus_perfdata_notices_count(Gusprof__Footer *footer, uint64_t n, const char *one, const char *many);

#endif
