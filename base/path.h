/* SPDX-License-Identifier: MIT */
/* Paths as text. */
#ifndef GUS_BASE_PATH_H
#define GUS_BASE_PATH_H

/* What stands behind the last slash; all of it if nothing does. Points into path. */
const char *gus_base_name(const char *path);

#endif
