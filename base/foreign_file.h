/* SPDX-License-Identifier: MIT */
/* Files whose names somebody else chose: a recording, DWARF, a debug link, the mappings of a process. Such a name may
 * be a FIFO's, at which an open waits for ever, a device's, whose open alone does something, or that of a file which
 * the one who chose it may not read and would have us print. So only regular files are opened, never blocking, and
 * with the rights of whoever chose the name where these are not ours. */
#ifndef GUS_BASE_FOREIGN_FILE_H
#define GUS_BASE_FOREIGN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gus_error;
struct stat;

#define GUS_RIGHTS_GROUPS 32 /* supplementary groups that count; to leave out the others makes rights smaller */

/* Whose rights to the file system count. Zeroed it is ours; a value, which may be copied. */
struct gus_rights {
	bool limited;                      /* not ours: what follows counts */
	uid_t uid;
	gid_t gid;
	gid_t groups[GUS_RIGHTS_GROUPS];
	size_t groups_n;
	const char *whose;                 /* for errors: "the recording's owner"; lives as long as this */
};

/* The rights of a user, with the groups that the user database gives; without any group if it does not know the user.
 * Of our own effective user: our own rights. */
void gus_rights_of_user(struct gus_rights *r, uid_t uid, const char *whose);

/* What both may: a's rights (NULL: ours) where b's are ours, and the other way around; of two others that differ, what
 * everybody may, as the kernel knows no intersection of users. */
struct gus_rights gus_rights_common(const struct gus_rights *a, const struct gus_rights *b);

/* Opens the regular file at path for reading, with these rights (NULL: our own) for each folder on the way, too, and
 * closed on exec. *st, if given, is the open file's. -1 with errno and err (which may be NULL) if there is none, if it
 * is something else (EINVAL), or if it may not be read.
 *
 * Only this thread's rights change, and they are back when this returns. Who is not root and lacks CAP_SETUID has only
 * their own rights, and reads with these. A root that cannot take the other's rights opens nothing. */
int gus_foreign_open(const char *path, const struct gus_rights *rights, struct stat *st, struct gus_error *err);

/* The same of a path below a folder that may be another's root (/proc/PID/root), where no name of the path is a
 * symbolic link: such a one means a file of that root, and would be followed into ours. What is one is no regular
 * file. */
int gus_foreign_open_below(const char *root, const char *path, const struct gus_rights *rights, struct stat *st,
			   struct gus_error *err);

/* A file as the kernel names it where it shows what is mapped: in perf's records, in /proc/PID/maps. */
struct gus_file_identity {
	uint64_t inode;                    /* 0: not known */
	uint32_t major, minor;
	uint64_t generation;               /* of the inode, which may have been another file's; 0: not known */
};

/* Whether the open file, whose stat this is, is that one. Some file systems (btrfs, overlayfs) give stat another device
 * than mappings; of those the file is mapped, to see. */
bool gus_foreign_is(int fd, const struct stat *st, const struct gus_file_identity *identity);

/* Where path leads without symbolic links, as far as these rights reach; NULL with errno. The caller frees it. */
char *gus_foreign_realpath(const char *path, const struct gus_rights *rights);

#endif
