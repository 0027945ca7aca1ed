/* SPDX-License-Identifier: MIT */
#include "cli/common/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/helper.h"
#include "collector/perfdata/container.h"
#include "collector/perfdata/import.h"
#include "proto/container.h"
#include "proto/reader.h"

#define PIPE_NAME GUS_RECORDING_PIPE
#define PIECE (256u << 10)

static bool is_pipe(const char *input)
{
	return strcmp(input, "-") == 0;
}

static int refuse_terminal(struct gus_error *err)
{
	if (!isatty(STDIN_FILENO))
		return 0;
	return gus_fail(err, GUS_E_USAGE, "cannot read a recording from " PIPE_NAME ": it is a terminal; '-' is for a "
			"pipe, as in: gusprof record -o - -- ./app | gusprof report -i -");
}

/* What came is taken, and the interrupt with it; the next one has its usual effect again. */
static void take_interrupt(int sig)
{
	(void)sig;
}

/* What comes may have no end. If it does not begin as our files do, a piece of it is enough to say so. */
static bool is_foreign(int file, off_t size)
{
	char magic[GUS_MAGIC_SIZE];

	return size >= (off_t)PIECE && pread(file, magic, sizeof(magic), 0) == sizeof(magic) &&
	       memcmp(magic, GUS_MAGIC, sizeof(magic)) != 0 && !gus_perfdata_is(magic, sizeof(magic));
}

static int copy(int from, int to, struct gus_error *err)
{
	char *bytes = gus_alloc(PIECE);
	ssize_t n = 0, done = 0, written = 0;
	off_t size = 0;

	while (!is_foreign(to, size) && ((n = read(from, bytes, PIECE)) > 0 || (n < 0 && errno == EINTR))) {
		for (done = 0; n > 0 && done < n; done += written) {
			written = write(to, bytes + done, (size_t)(n - done));
			if (written < 0 && errno == EINTR)
				written = 0;
			if (written < 0)
				break;
		}
		if (n > 0 && done < n)
			break;
		size += n > 0 ? n : 0;
	}
	free(bytes);
	if (n < 0)
		return gus_fail_errno(err, errno, "cannot read the recording from " PIPE_NAME);
	if (n > 0 && done < n)
		return gus_fail_errno(err, errno, "cannot keep the recording from " PIPE_NAME " in a temporary file "
				      "(write it to a file of your own, or set TMPDIR to a folder with more room)");
	return 0;
}

/* Whose the recording is decides with whose rights files that it names are opened: of what came through a pipe it is
 * whoever made the pipe. Only root may say so, and only to root does it make a difference. */
static void keep_owner(int fd)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) == 0 && st.st_uid != geteuid() && fchown(fd, st.st_uid, (gid_t)-1) != 0) {
		/* Then it is ours to read, with rights that are ours anyway. */
	}
}

/* A descriptor of all that standard input has. A file that is redirected from its beginning is that itself. */
static int spool(struct gus_error *err)
{
	struct sigaction gentle = { .sa_handler = take_interrupt, .sa_flags = SA_RESTART | SA_RESETHAND }, before;
	struct sigaction ignore = { .sa_handler = SIG_IGN }, size_before;
	struct stat st;
	int fd, rc;

	if (refuse_terminal(err) != 0)
		return -1;
	if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode) && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0 &&
	    (fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC)) >= 0)
		return fd;
	fd = gus_scratch_open("the recording from " PIPE_NAME, err);
	if (fd < 0)
		return -1;
	sigaction(SIGINT, NULL, &before);
	if (before.sa_handler == SIG_DFL)
		sigaction(SIGINT, &gentle, NULL);
	sigaction(SIGXFSZ, &ignore, &size_before); /* no room is an error as others are */
	rc = copy(STDIN_FILENO, fd, err);
	sigaction(SIGXFSZ, &size_before, NULL);
	sigaction(SIGINT, &before, NULL);
	if (rc == 0) {
		keep_owner(fd);
		return fd;
	}
	close(fd);
	return -1;
}

/* Names that recordings have which others made, of perf or on other machines: nobody is to make one in their place. */
static bool is_elsewhere(const char *input)
{
	size_t length = strlen(input);

	return strcmp(input, GUS_RECORDING_DEFAULT) != 0 &&
	       (strstr(input, "perf.data") || (length >= 5 && strcmp(input + length - 5, ".data") == 0));
}

/* "No such file" is where most people begin. */
static void explain_none(const char *input, struct gus_error *err)
{
	bool standard = strcmp(input, GUS_RECORDING_DEFAULT) == 0;
	const char *function = strpbrk(input, "./") ? "" : " (functions are for 'gusprof annotate NAME')";
	const char *other = access("perf.data", F_OK) == 0 ? " (there is a perf.data: -i perf.data shows it)" : "";

	if (!err || err->code != GUS_E_NOT_FOUND)
		return;
	*err = (struct gus_error){ 0 };
	if (is_elsewhere(input))
		gus_fail(err, GUS_E_NOT_FOUND, "cannot open the recording %s: there is no such file%s", input, other);
	else if (standard)
		gus_fail(err, GUS_E_NOT_FOUND, "there is no recording here, no " GUS_RECORDING_DEFAULT ": 'gusprof "
			 "record -- ./app' makes one, and -i FILE names another%s", other);
	else
		gus_fail(err, GUS_E_NOT_FOUND, "cannot open the recording %s: there is no such file; 'gusprof record "
			 "-o %s -- ./app' would make it%s", input, input, function);
	err->sys = ENOENT;
}

/* A folder is, if it has what perf puts there. */
static bool is_perfs(int fd)
{
	struct stat st;
	char magic[8];

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return faccessat(fd, "data", F_OK, 0) == 0;
	return fd >= 0 && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && gus_perfdata_is(magic, sizeof(magic));
}

bool gus_recording_is_perfs(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool is = is_perfs(fd);

	if (fd >= 0)
		close(fd);
	return is;
}

static struct gus_reader *open_kept(int fd, const char *name, struct gus_error *err)
{
	return is_perfs(fd) ? gus_perfdata_reader(fd, name, err) : gus_reader_open_kept(fd, name, err);
}

/* What has that name may be a FIFO, which would wait for a writer, or a folder: that it is no recording says who opens
 * recordings. */
static struct gus_reader *open_named(const char *path, struct gus_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct gus_reader *reader = is_perfs(fd) ? gus_perfdata_reader(fd, path, err) : gus_reader_open(path, err);

	if (fd >= 0)
		close(fd);
	return reader;
}

static struct gus_reader *open_spooled(struct gus_error *err)
{
	int fd = spool(err);
	struct gus_reader *reader = fd < 0 ? NULL : open_kept(fd, PIPE_NAME, err);

	if (fd >= 0)
		close(fd);
	return reader;
}

struct gus_reader *gus_recording_open(const char *input, struct gus_error *err)
{
	struct gus_reader *reader = is_pipe(input) ? open_spooled(err) : open_named(input, err);

	if (!reader)
		explain_none(input, err);
	return reader;
}

int gus_recording_check_output(const char *input, const char *output, struct gus_error *err)
{
	struct stat in, out;

	if (is_pipe(output) || stat(output, &out) != 0 || !S_ISREG(out.st_mode))
		return 0;
	if ((is_pipe(input) ? fstat(STDIN_FILENO, &in) : stat(input, &in)) != 0 || in.st_dev != out.st_dev ||
	    in.st_ino != out.st_ino)
		return 0;
	return gus_fail(err, GUS_E_USAGE, "cannot write %s: it is the recording that is read; -o FILE names another",
			output);
}

/* Whether what comes begins as perf's do. A pipe is looked into without taking anything out of it, by a copy in another
 * one (tee(2)); it is waited for until eight bytes are there. */
static bool comes_from_perf(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	char magic[8];
	ssize_t n = 0, before;
	int copy[2];

	if (lseek(STDIN_FILENO, 0, SEEK_CUR) == 0)
		return is_perfs(STDIN_FILENO);
	do {
		before = n;
		if (pipe2(copy, O_CLOEXEC) != 0)
			return false;
		n = tee(STDIN_FILENO, copy[1], sizeof(magic), 0);
		if (n > 0)
			n = read(copy[0], magic, sizeof(magic));
		close(copy[0]);
		close(copy[1]);
		if (n == before && (poll(&in, 1, 0) < 0 || in.revents & POLLHUP)) /* no more will come */
			return false;
	} while (n > 0 && n < (ssize_t)sizeof(magic) && (n != before || usleep(1000) == 0));
	return n == sizeof(magic) && gus_perfdata_is(magic, sizeof(magic));
}

struct gus_reader *gus_recording_stream(const char *input, struct gus_error *err)
{
	int fd;

	if (!is_pipe(input))
		return gus_recording_open(input, err);
	if (refuse_terminal(err) != 0)
		return NULL;
	if (comes_from_perf()) /* which is read more than once */
		return gus_recording_open(input, err);
	fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd < 0) {
		gus_fail_errno(err, errno, "cannot read the recording from " PIPE_NAME);
		return NULL;
	}
	return gus_reader_open_fd(fd, PIPE_NAME, err);
}

char *gus_recording_path(const char *input, struct gus_error *err)
{
	char *path;
	int fd;

	if (!is_pipe(input))
		return gus_strdup(input);
	fd = spool(err);
	path = fd < 0 ? NULL : gus_format("/proc/self/fd/%d", fd);
	if (path && access(path, F_OK) != 0) {
		gus_fail_errno(err, errno, "cannot read the recording from " PIPE_NAME " twice, for which /proc has to "
			       "be mounted (or write it to a file, and give that)");
		free(path);
		path = NULL;
	}
	return path;
}
