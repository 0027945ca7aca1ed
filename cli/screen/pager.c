/* SPDX-License-Identifier: MIT */
#include "cli/screen/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/screen/screen.h"
#include "collector/target/child.h"

static pid_t pager; /* 0: none runs */

/* As git does: the first that is set counts, and set to nothing it means none. Less asks a terminal that cannot move
 * its cursor (editors have such) for a key before it shows anything, so that has it only who named it. */
static const char *chosen(void)
{
	static const char *const names[] = { "GUSPROF_PAGER", "PAGER" };
	const char *value = NULL, *terminal = getenv("TERM");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !value; i++)
		value = getenv(names[i]);
	if (!value)
		value = !terminal || !*terminal || strcmp(terminal, "dumb") == 0 ? "" : "less";
	return value;
}

/* The shell would only say that there is no such program when the text is gone. A command with more than words in it
 * is the shell's business. */
static bool can_run(const char *command)
{
	static const char special[] = "|&;<>()$`\\\"'*?[#~=%!{";
	struct gus_error err = { 0 };
	char *word;
	bool found;

	if (strpbrk(command, special))
		return true;
	word = gus_strndup(command + strspn(command, " "), strcspn(command + strspn(command, " "), " "));
	found = gus_child_find(word, &err) == 0;
	free(word);
	return found;
}

static void become(const char *command, int input)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	dup2(input, STDIN_FILENO);
	/* less: end at once if all fits (F), show colours (R), leave the text on the screen (X). */
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

void gus_pager_begin(const struct gus_screen *screen)
{
	const char *command = chosen();
	int ends[2];

	if (!screen->terminal || pager || !*command || strcmp(command, "cat") == 0)
		return;
	if (!can_run(command)) {
		if (getenv("GUSPROF_PAGER") || getenv("PAGER"))
			gus_text_print(stderr, "gusprof: warning: there is no pager '%s', so none is used; set "
				       "GUSPROF_PAGER, or give --no-pager\n", command);
		return;
	}
	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	fflush(stdout);
	pager = fork();
	if (pager == 0)
		become(command, ends[0]);
	close(ends[0]);
	if (pager > 0) {
		/* Its reader may leave when it likes, and interrupts are the reader's to make sense of. */
		signal(SIGPIPE, SIG_IGN);
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
		dup2(ends[1], STDOUT_FILENO);
		if (isatty(STDERR_FILENO))
			dup2(ends[1], STDERR_FILENO);
	} else {
		pager = 0;
	}
	close(ends[1]);
}

void gus_pager_end(void)
{
	if (!pager)
		return;
	/* What nobody reads any more is no trouble of the output. */
	if ((fflush(stdout) != 0 && errno == EPIPE) || ferror(stdout)) {
		__fpurge(stdout);
		clearerr(stdout);
	}
	fflush(stderr);
	/* The pager reads until nobody can write any more. */
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
}
