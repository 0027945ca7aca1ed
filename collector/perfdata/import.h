/* SPDX-License-Identifier: MIT */
/* A perf.data file as a recording of ours: what is in its records comes out as frames of a reader, made while they are
 * asked for, so whoever reads recordings reads these. No file is made. What does not fit, or was left out, is said in
 * Footer.notices. */
#ifndef GUS_COLLECTOR_PERFDATA_IMPORT_H
#define GUS_COLLECTOR_PERFDATA_IMPORT_H

struct gus_error;
struct gus_reader;

/* Over what is open as fd, which is duplicated: a regular file, or a folder of perf's (perf record --threads, --kcore),
 * whose file "data" it is. Its name is for messages. The file is looked through
 * once before this returns. NULL with err if it is no perf.data, or has nothing that could be read. */
struct gus_reader *gus_perfdata_reader(int fd, const char *name, struct gus_error *err);

#endif
