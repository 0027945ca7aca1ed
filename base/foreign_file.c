/* SPDX-License-Identifier: MIT */
/* The kernel keeps a user, a group, supplementary groups and capabilities for each thread, and the first of them apart
 * for the file system (credentials(7), setfsuid(2)). The calls of the C library would change all threads: the raw ones
 * change this one. */
#include "base/foreign_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

#define NOBODY 65534 /* the kernel's overflow id, which no file that matters belongs to */
#define PASSWD_ROOM 65536
#define FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

struct capabilities { struct __user_cap_data_struct set[_LINUX_CAPABILITY_U32S_3]; };

/* This thread's rights as they were. A change of credentials makes the kernel forget two settings of a process, so
 * they are put back as well: that it may be looked at, and that it ends with its parent. */
struct ours {
	struct capabilities capabilities;
	gid_t *groups;
	int groups_n;
	uid_t fsuid;
	gid_t fsgid;
	int dumpable, death_signal;
	pid_t parent;
	bool took_user;                    /* else only capabilities were changed */
};

void gus_rights_of_user(struct gus_rights *r, uid_t uid, const char *whose)
{
	int n = GUS_RIGHTS_GROUPS;
	struct passwd entry, *found = NULL;
	char *room;

	*r = (struct gus_rights){ .limited = uid != geteuid(), .uid = uid, .gid = NOBODY, .whose = whose };
	if (!r->limited)
		return;
	room = gus_alloc(PASSWD_ROOM);
	if (getpwuid_r(uid, &entry, room, PASSWD_ROOM, &found) == 0 && found) {
		r->gid = found->pw_gid;
		/* Where there are more groups than room, the room is filled. */
		if (getgrouplist(found->pw_name, found->pw_gid, r->groups, &n) < 0 && n > GUS_RIGHTS_GROUPS)
			n = GUS_RIGHTS_GROUPS;
		r->groups_n = n > 0 ? (size_t)n : 0;
	}
	free(room);
}

struct gus_rights gus_rights_common(const struct gus_rights *a, const struct gus_rights *b)
{
	if (!a || !a->limited)
		return *b;
	if (!b->limited || a->uid == b->uid)
		return *a;
	return (struct gus_rights){ .limited = true, .uid = NOBODY, .gid = NOBODY, .whose = "everybody" };
}

static int get_capabilities(struct capabilities *c)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capget, &header, c->set) == 0 ? 0 : errno;
}

static int set_capabilities(const struct capabilities *c)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capset, &header, c->set) == 0 ? 0 : errno;
}

static bool has_capability(const struct capabilities *c, unsigned number)
{
	return c->set[CAP_TO_INDEX(number)].effective & CAP_TO_MASK(number);
}

/* Those that let a thread pass by the permissions of files. CAP_SYS_PTRACE stays: it opens the way to a process's files
 * in /proc, and no file of a disk. */
static int drop_capabilities(void)
{
	static const unsigned pass_by[] = { CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH };
	struct capabilities c;
	int why = get_capabilities(&c);

	if (why)
		return why;
	for (size_t i = 0; i < sizeof(pass_by) / sizeof(*pass_by); i++)
		c.set[CAP_TO_INDEX(pass_by[i])].effective &= ~CAP_TO_MASK(pass_by[i]);
	return set_capabilities(&c);
}

static void leave_user(const struct ours *o)
{
	/* These always return what was before; an impossible value asks without changing. */
	setfsuid(o->fsuid);
	setfsgid(o->fsgid);
	assert((uid_t)setfsuid((uid_t)-1) == o->fsuid && (gid_t)setfsgid((gid_t)-1) == o->fsgid);
	syscall(SYS_setgroups, o->groups_n, o->groups);
}

/* Groups first, which needs a capability that a user's own rights may lack. errno, or 0. */
static int take_user(struct ours *o, const struct gus_rights *r)
{
	if (syscall(SYS_setgroups, r->groups_n, r->groups) != 0)
		return errno;
	o->took_user = true;
	setfsgid(r->gid);
	setfsuid(r->uid);
	if ((uid_t)setfsuid((uid_t)-1) == r->uid && (gid_t)setfsgid((gid_t)-1) == r->gid)
		return 0;
	return EPERM; /* no such user or group in our user namespace */
}

static void remember_groups(struct ours *o)
{
	o->groups_n = getgroups(0, NULL);
	o->groups = gus_alloc(((size_t)o->groups_n + 1) * sizeof(*o->groups));
	o->groups_n = getgroups(o->groups_n, o->groups);
	assert(o->groups_n >= 0);
}

static void leave(struct ours *o)
{
	if (o->took_user)
		leave_user(o);
	set_capabilities(&o->capabilities);
	if (o->dumpable == 1)
		prctl(PR_SET_DUMPABLE, 1);
	if (o->death_signal) {
		prctl(PR_SET_PDEATHSIG, o->death_signal);
		if (getppid() != o->parent) /* it ended in between */
			raise(o->death_signal);
	}
	free(o->groups);
}

/* errno, or 0: then leave() is due. */
static int enter(struct ours *o, const struct gus_rights *r)
{
	int why;

	*o = (struct ours){ .parent = getppid(), .dumpable = prctl(PR_GET_DUMPABLE),
			    .fsuid = (uid_t)setfsuid((uid_t)-1), .fsgid = (gid_t)setfsgid((gid_t)-1) };
	prctl(PR_GET_PDEATHSIG, &o->death_signal);
	why = get_capabilities(&o->capabilities);
	if (why)
		return why;
	remember_groups(o);
	if (has_capability(&o->capabilities, CAP_SETUID) && has_capability(&o->capabilities, CAP_SETGID))
		why = take_user(o, r);
	else if (geteuid() == 0)
		why = EPERM;
	if (!why)
		why = drop_capabilities();
	if (why)
		leave(o);
	return why;
}

/* The same file again, for reading. By its descriptor, as its name may by now be another's. */
static int open_again(int fd, const char *path, const struct stat *st)
{
	char name[32];
	struct stat now;
	int again, why = ENOENT;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	again = open(name, FLAGS);
	if (again >= 0 || errno != ENOENT)
		return again;
	/* There is no /proc. */
	again = open(path, FLAGS);
	if (again < 0 || (fstat(again, &now) == 0 && now.st_dev == st->st_dev && now.st_ino == st->st_ino))
		return again;
	close(again);
	errno = why;
	return -1;
}

/* Of the files of /proc about processes many may be opened by everybody: what one reads there depends on whether the
 * kernel lets one trace the process, and that right stays (drop_capabilities). */
static bool is_of_proc(int at)
{
	struct statfs fs;

	return fstatfs(at, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Finds path below a folder, name by name and through no symbolic link: an absolute one would lead out of the folder,
 * into our own files. What mappings show are names without any. */
static int find_below(const char *root, const char *path)
{
	int at = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), next, why;
	char name[NAME_MAX + 1];

	for (path += strspn(path, "/"); at >= 0 && *path; path += strspn(path, "/")) {
		size_t size = strcspn(path, "/");

		if (size > NAME_MAX || (size == 2 && memcmp(path, "..", 2) == 0)) {
			close(at);
			errno = size > NAME_MAX ? ENAMETOOLONG : EINVAL;
			return -1;
		}
		memcpy(name, path, size);
		name[size] = '\0';
		path += size;
		next = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | (*path ? O_DIRECTORY : 0));
		why = errno;
		close(at);
		errno = why;
		at = next;
	}
	return at;
}

/* A descriptor, or -1 with errno. O_PATH finds the file without opening it; below a root, if there is one. */
static int open_regular(const char *root, const char *path, bool for_other, struct stat *st)
{
	int at = root ? find_below(root, path) : open(path, O_PATH | O_CLOEXEC), fd = -1, why = EINVAL;

	if (at < 0)
		return -1;
	if (fstat(at, st) != 0)
		why = errno;
	else if (for_other && is_of_proc(at))
		why = EACCES;
	else if (S_ISREG(st->st_mode)) {
		fd = open_again(at, path, st);
		why = errno;
	}
	close(at);
	if (fd >= 0 && fstat(fd, st) == 0)
		return fd;
	if (fd >= 0) {
		why = errno;
		close(fd);
	}
	errno = why;
	return -1;
}

/* Always -1, with errno. */
static int explain(struct gus_error *err, const char *path, const struct gus_rights *r, int why)
{
	if (why == EINVAL)
		gus_fail(err, GUS_E_CORRUPT, "cannot open %s: it is no regular file", path);
	else if (why == EACCES && r)
		gus_fail(err, GUS_E_PERMISSION, "cannot open %s: not readable by %s, user %u, whose rights count here",
			 path, r->whose, (unsigned)r->uid);
	else
		gus_fail_errno(err, why, "cannot open %s", path);
	errno = why;
	return -1;
}

static int open_with(const char *root, const char *path, const struct gus_rights *rights, struct stat *st,
		     struct gus_error *err)
{
	const struct gus_rights *r = rights && rights->limited ? rights : NULL;
	struct stat unused;
	struct ours ours;
	int fd, why = r ? enter(&ours, r) : 0;

	if (why) {
		gus_fail_errno(err, why, "cannot take the rights of %s, user %u, to open %s", r->whose,
			       (unsigned)r->uid, path);
		errno = why;
		return -1;
	}
	fd = open_regular(root, path, r != NULL, st ? st : &unused);
	why = errno;
	if (r)
		leave(&ours);
	return fd >= 0 ? fd : explain(err, path, r, why);
}

int gus_foreign_open(const char *path, const struct gus_rights *rights, struct stat *st, struct gus_error *err)
{
	return open_with(NULL, path, rights, st, err);
}

int gus_foreign_open_below(const char *root, const char *path, const struct gus_rights *rights, struct stat *st,
			   struct gus_error *err)
{
	return open_with(root, path, rights, st, err);
}

/* The line of our own mappings that begins at that address. */
static bool find_mapping(uintptr_t start, struct gus_file_identity *found)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];                    /* a longer one has a long path; the rest of it does not look like a line */
	unsigned long address, inode;
	bool there = false;

	while (maps && !there && fgets(line, sizeof(line), maps))
		there = sscanf(line, "%lx-%*x %*s %*x %" SCNx32 ":%" SCNx32 " %lu", &address, &found->major,
			       &found->minor, &inode) == 4 && address == start;
	if (maps)
		fclose(maps);
	found->inode = there ? inode : 0;
	return there;
}

/* Only where the file system tells it, and it is one of the numbers of 32 bits that they all have. */
static bool has_generation(int fd, uint64_t generation)
{
	uint64_t found = 0; /* some write an int and some a long */

	return !generation || ioctl(fd, FS_IOC_GETVERSION, &found) != 0 || (uint32_t)found == (uint32_t)generation;
}

bool gus_foreign_is(int fd, const struct stat *st, const struct gus_file_identity *identity)
{
	struct gus_file_identity own;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *mapped;
	bool same;

	if (!has_generation(fd, identity->generation))
		return false;
	if (st->st_ino == identity->inode && major(st->st_dev) == identity->major &&
	    minor(st->st_dev) == identity->minor)
		return true;
	mapped = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mapped == MAP_FAILED)
		return false;
	same = find_mapping((uintptr_t)mapped, &own) && own.inode == identity->inode &&
	       own.major == identity->major && own.minor == identity->minor;
	munmap(mapped, page);
	return same;
}

char *gus_foreign_realpath(const char *path, const struct gus_rights *rights)
{
	const struct gus_rights *r = rights && rights->limited ? rights : NULL;
	struct ours ours;
	int why = r ? enter(&ours, r) : 0;
	char *real;

	if (why) {
		errno = why;
		return NULL;
	}
	real = realpath(path, NULL);
	why = errno;
	if (r)
		leave(&ours);
	errno = why;
	return real;
}
