/* SPDX-License-Identifier: MIT */
#include "collector/session/control.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/output_file.h"

static const struct { const char *word; enum gus_command command; } words[] = {
	{ "enable", GUS_COMMAND_ENABLE },     { "disable", GUS_COMMAND_DISABLE }, { "snapshot", GUS_COMMAND_SNAPSHOT },
	{ "stop", GUS_COMMAND_STOP },         { "ping", GUS_COMMAND_PING },       { "evlist", GUS_COMMAND_EVENTS },
};

void gus_control_init(struct gus_control *c)
{
	*c = (struct gus_control){ .in = -1, .ack = -1 };
}

/* Both ways, so that it neither waits for somebody at the other end nor ends when that one leaves. */
static int open_fifo(const char *path, int *fd, struct gus_error *err)
{
	*fd = gus_output_open_fifo(path, "cannot open the control FIFO", err);
	return *fd < 0 ? -1 : 0;
}

static int take_fd(const char *text, int *fd, struct gus_error *err)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || n > INT32_MAX)
		return gus_fail(err, GUS_E_USAGE, "--control fd: takes numbers of descriptors, not '%s'", text);
	if (fcntl((int)n, F_GETFD) < 0)
		return gus_fail_errno(err, errno, "cannot use descriptor %ld for --control", n);
	*fd = (int)n;
	return 0;
}

int gus_control_open(struct gus_control *c, const char *spec, struct gus_error *err)
{
	bool fifo = strncmp(spec, "fifo:", 5) == 0;
	char *first, *second;
	int rc;

	if (!fifo && strncmp(spec, "fd:", 3) != 0)
		return gus_fail(err, GUS_E_USAGE, "--control takes fifo:PATH[,ACK] or fd:N[,M], not '%s'", spec);
	first = gus_strdup(strchr(spec, ':') + 1);
	second = strchr(first, ',');
	if (second)
		*second++ = '\0';
	c->own = fifo;
	rc = fifo ? open_fifo(first, &c->in, err) : take_fd(first, &c->in, err);
	if (rc == 0 && second)
		rc = fifo ? open_fifo(second, &c->ack, err) : take_fd(second, &c->ack, err);
	free(first);
	if (rc != 0)
		gus_control_close(c);
	return rc;
}

void gus_control_close(struct gus_control *c)
{
	if (c->own && c->in >= 0)
		close(c->in);
	if (c->own && c->ack >= 0)
		close(c->ack);
	gus_control_init(c);
}

void gus_control_read(struct gus_control *c)
{
	ssize_t n;

	if (c->used == sizeof(c->text)) {
		c->used = 0; /* a line as long as this is none of ours, whatever it ends with */
		c->overlong = true;
	}
	n = read(c->in, c->text + c->used, sizeof(c->text) - c->used);
	if (n > 0)
		c->used += (size_t)n;
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		c->ended = true;
}

static enum gus_command find(const char *line, size_t length)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (length == strlen(words[i].word) && memcmp(line, words[i].word, length) == 0)
			return words[i].command;
	return GUS_COMMAND_UNKNOWN;
}

enum gus_command gus_control_next(struct gus_control *c)
{
	char *end = memchr(c->text, '\n', c->used);
	enum gus_command command;
	size_t taken, length;

	if (!end)
		return GUS_COMMAND_NONE;
	length = (size_t)(end - c->text);
	taken = length + 1;
	length -= length && end[-1] == '\r';
	snprintf(c->line, sizeof(c->line), "%s%.*s", c->overlong ? "..." : "", (int)length, c->text);
	command = c->overlong ? GUS_COMMAND_UNKNOWN : find(c->text, length);
	c->overlong = false;
	memmove(c->text, end + 1, c->used - taken);
	c->used -= taken;
	return command;
}

/* A pipe that nobody reads is full one day, and to wait for it would be to stop sampling; a terminal that can be
 * written to may still be slow, but it takes four bytes. */
void gus_control_acknowledge(struct gus_control *c)
{
	struct pollfd ready = { .fd = c->ack, .events = POLLOUT };

	if (c->ack >= 0 && poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) && write(c->ack, "ack\n", 4) != 4) {
		/* Nobody reads them: that is their business. */
	}
}
