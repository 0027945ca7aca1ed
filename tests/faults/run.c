/* SPDX-License-Identifier: MIT */
/* Runs the program once for each fault, and judges each run beside an undisturbed one.
 *
 * The library's constructor runs before the program's main. It does not come back from it but in children: one for each
 * run, which then is the program with all its libraries loaded and nothing done yet. So a run costs a fork rather than
 * an exec and the dynamic linker's work, and addresses are the same in all runs, which is what tells places apart.
 *
 * What it does is told by the environment:
 *	FAULTS          the program's name; in others the library does nothing
 *	FAULTS_KIND     alloc; or calls, all others; or the name of one
 *	FAULTS_NAME     what the row is called
 *	FAULTS_BELOW    each call with a number below this one fails, of each kind; then the first of each further place
 *	FAULTS_PLACES   0: these not
 *	FAULTS_STEP     only each so-many-th of those below
 *	FAULTS_TURNS    of several errors of a call, each number and place has one, by turns
 *	FAULTS_MAKES    a file that the program makes; it must open with `gusprof report`
 *	FAULTS_LOOSE    what is on stdout or stderr changes from run to run: its words are compared, and no figures
 *	FAULTS_ONE      KIND:N:ERROR, a single run, whose outcome and output are shown
 * It prints a row for each kind and a line for each run that ended badly on descriptor 3, and what they were in all in
 * the last line; it exits with 1 if one of them was bad, with 2 if it cannot do its work. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/faults/faults.h"

#define TO 3                   /* the descriptor of what we say */
#define HANGS_MS 20000
#define LEFT_MS 1000           /* how long a process of the program's may outlive it */
#define TEXT (1 << 20)         /* what is looked at of an output */

struct faults *faults;

static const struct { const char *name; int errors[8]; } kinds[FAULT_KINDS] = {
#define X(name, ...) { #name, { __VA_ARGS__ } },
	FAULT_CALLS(X)
#undef X
};

static __thread bool inside __attribute__((tls_model("initial-exec")));

/* The place of this call, and its number if it is the first from there. */
static void note(enum fault_call call, unsigned long n)
{
	static bool busy;
	void *frames[FAULT_DEPTH + 2];
	uint64_t chain = 14695981039346656037u ^ call;
	int depth;
	size_t i;

	inside = true;
	depth = backtrace(frames, FAULT_DEPTH + 2);
	for (int f = 2; f < depth; f++) /* the first two are here */
		chain = (chain ^ (uintptr_t)frames[f]) * 1099511628211u;
	chain += !chain;
	while (__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE))
		continue;
	for (i = chain % FAULT_PLACES; faults->places[i].chain && faults->places[i].chain != chain;)
		i = (i + 1) % FAULT_PLACES;
	if (!faults->places[i].chain && faults->places_n < FAULT_PLACES / 2) {
		struct fault_place *place = &faults->places[i];

		place->chain = chain;
		place->call = call;
		place->first = n;
		for (int f = 2; f < depth; f++)
			place->frames[f - 2] = frames[f];
		faults->places_n++;
	}
	__atomic_store_n(&busy, false, __ATOMIC_RELEASE);
	inside = false;
}

int faults_meet(enum fault_call call)
{
	int old = errno, error = 0;
	unsigned long n;

	if (!faults || inside || (faults->pid != getpid() && call != FAULT_execvp))
		return 0;
	n = __atomic_add_fetch(&faults->count[call], 1, __ATOMIC_RELAXED);
	if (faults->recording)
		note(call, n);
	if (faults->at == n && faults->call == call) {
		faults->met = true;
		error = faults->error;
	}
	errno = old;
	return error;
}

struct output {
	int fd;
	size_t n;
	char text[TEXT];
};

/* What an undisturbed run gave, and what the present one does. */
static struct run {
	int status;
	bool hung, left;
	struct output out, err;
	char lines[TEXT];              /* the words of its stderr, or of what it says of its file */
	char about_file[TEXT];
} sound, now;

static bool loose;
static const char *name, *makes;
static char program[4096];

__attribute__((format(printf, 1, 2), noreturn))
static void give_up(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vdprintf(TO, format, args);
	va_end(args);
	dprintf(TO, "\n");
	_exit(2);
}

static void reset(struct output *o)
{
	if (o->fd <= 0)
		o->fd = (int)syscall(SYS_memfd_create, "output", 0);
	if (o->fd < 0 || ftruncate(o->fd, 0) != 0 || lseek(o->fd, 0, SEEK_SET) != 0)
		give_up("cannot make room for an output");
}

static void take(struct output *o)
{
	ssize_t n = pread(o->fd, o->text, TEXT - 1, 0);

	o->n = n < 0 ? 0 : (size_t)n;
	o->text[o->n] = '\0';
}

static int end_of(pid_t pid, int timeout_ms, int *status)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { fd, POLLIN, 0 };
	int n = poll(&p, 1, timeout_ms);

	close(fd);
	return n == 1 && waitpid(pid, status, 0) == pid ? 0 : -1;
}

/* What the program has begun and not waited for: it comes to us, and has to end by itself. */
static bool leaves_processes(void)
{
	for (int ms = 0; ms < LEFT_MS; ms++) {
		int pid = waitpid(-1, NULL, WNOHANG);

		if (pid < 0)
			return false;
		if (pid == 0)
			nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	}
	return true;
}

static void kill_left(pid_t group)
{
	kill(-group, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		continue;
}

/* Forks. In the child, which becomes the program, it returns false. */
static bool run_once(struct run *r, const char *run_program, char *const argv[])
{
	pid_t pid;

	reset(&r->out);
	reset(&r->err);
	pid = fork();
	if (pid < 0)
		give_up("cannot fork");
	if (pid == 0) {
		int null = open("/dev/null", O_RDONLY);

		setpgid(0, 0);
		if (dup2(null, 0) != 0 || dup2(r->out.fd, 1) != 1 || dup2(r->err.fd, 2) != 2)
			_exit(99);
		syscall(SYS_close_range, 3, ~0u, 0);
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		if (!run_program)
			return false;
		execv(run_program, argv);
		_exit(99);
	}
	setpgid(pid, pid);
	r->hung = end_of(pid, HANGS_MS, &r->status) != 0;
	r->left = !r->hung && leaves_processes();
	if (r->hung || r->left)
		kill_left(pid);
	take(&r->out);
	take(&r->err);
	return true;
}

/* The words of three letters or more of each line, so that what counts and times is left out. */
static void words_of(char *to, const char *text)
{
	size_t n = 0;

	for (; *text; text++) {
		size_t letters = 0;

		while (isalpha((unsigned char)text[letters]))
			letters++;
		if (letters >= 3) {
			memcpy(to + n, text, letters);
			n += letters;
			to[n++] = ' ';
		}
		if (letters)
			text += letters - 1;
		else if (*text == '\n')
			to[n++] = '\n';
	}
	to[n] = '\0';
}

static bool has_line(const char *text, const char *line, size_t n)
{
	while ((text = strstr(text, line ? "" : "x")) && *text) {
		const char *end = strchrnul(text, '\n');

		if ((size_t)(end - text) == n && memcmp(text, line, n) == 0)
			return true;
		text = *end ? end + 1 : end;
	}
	return false;
}

/* Lines of stderr that the undisturbed run did not have. */
static size_t new_lines(void)
{
	size_t n = 0;

	words_of(now.lines, now.err.text);
	for (const char *line = now.lines; *line;) {
		const char *end = strchrnul(line, '\n');

		n += !has_line(sound.lines, line, (size_t)(end - line));
		line = *end ? end + 1 : end;
	}
	return n;
}

/* What the report says of the file: its command, its event, what is wrong with it, and whether it has samples; empty if
 * there is none. */
static void look_at_file(struct run *r)
{
	static struct run report;
	static const char *const said[] = { "# command", "# event", "# WARNING" };
	char report_word[] = "report", input_word[] = "-i", file[4096];
	char *argv[] = { program, report_word, input_word, file, NULL };
	size_t n = 0;

	r->about_file[0] = '\0';
	if (!makes || access(makes, F_OK) != 0)
		return;
	snprintf(file, sizeof(file), "%s", makes);
	run_once(&report, program, argv);
	if (!WIFEXITED(report.status) || WEXITSTATUS(report.status) != 0) {
		snprintf(r->about_file, TEXT, "unreadable: %.500s", report.err.text);
		return;
	}
	for (const char *line = report.out.text; *line; line += *line == '\n') {
		const char *end = strchrnul(line, '\n');

		for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++)
			if (strncmp(line, said[i], strlen(said[i])) == 0)
				n += (size_t)snprintf(r->about_file + n, TEXT - n, "%.*s\n", (int)(end - line), line);
		line = end;
	}
	snprintf(r->about_file + n, TEXT - n, "%s samples\n", strstr(report.out.text, "\n# 0 samples") ? "no" : "has");
}

/* Files in the working folder beside those that were there and the one that is to be made; they are removed. */
static unsigned sweep(bool first)
{
	static char known[TEXT];
	DIR *d = opendir(".");
	unsigned n = 0;

	for (struct dirent *e; d && (e = readdir(d));) {
		size_t length = strlen(e->d_name);

		if (e->d_name[0] == '.' && (!e->d_name[1] || e->d_name[1] == '.'))
			continue;
		if (makes && strcmp(e->d_name, makes) == 0)
			continue;
		if (first) {
			strncat(known, e->d_name, TEXT - strlen(known) - 2);
			strcat(known, "\n");
		} else if (!has_line(known, e->d_name, length)) {
			n++;
			unlink(e->d_name);
		}
	}
	if (d)
		closedir(d);
	return n;
}

enum outcome { RIGHT, ERROR, TOLD, BAD, UNMET, OUTCOMES };

/* Why it is bad, or NULL. */
static enum outcome judge(const char **why)
{
	static char text[64];
	size_t more = new_lines();
	bool same;
	unsigned left = sweep(false);

	*why = NULL;
	if (now.hung)
		*why = "hangs";
	else if (now.left)
		*why = "leaves a process behind";
	else if (WIFSIGNALED(now.status)) {
		snprintf(text, sizeof(text), "dies by SIG%s", sigabbrev_np(WTERMSIG(now.status)));
		*why = text;
	} else if (left)
		*why = "leaves a file behind";
	else if (strncmp(now.about_file, "unreadable", 10) == 0)
		*why = "leaves a file that does not open";
	if (*why)
		return BAD;
	if (WEXITSTATUS(now.status) != WEXITSTATUS(sound.status)) {
		*why = more == 0 ? "fails without a word" : more > 1 ? "fails with more than one line" : NULL;
		return more == 1 ? ERROR : BAD;
	}
	same = (loose || (now.out.n == sound.out.n && memcmp(now.out.text, sound.out.text, now.out.n) == 0)) &&
	       (!makes || strcmp(now.about_file, sound.about_file) == 0);
	if (loose && !makes) {
		words_of(now.about_file, now.out.text);
		same = strcmp(now.about_file, sound.about_file) == 0;
		for (const char *line = sound.lines; same && *line;) {
			const char *end = strchrnul(line, '\n');

			same = has_line(now.lines, line, (size_t)(end - line));
			line = *end ? end + 1 : end;
		}
	}
	if (same)
		return RIGHT;
	*why = more ? NULL : "gives another answer and says nothing";
	return more ? TOLD : BAD;
}

struct tally {
	unsigned long runs, of[OUTCOMES];
};

static void show_place(enum fault_call call, unsigned long at)
{
	for (size_t i = 0; i < FAULT_PLACES; i++) {
		const struct fault_place *p = &faults->places[i];

		if (!p->chain || p->call != call || p->first != at)
			continue;
		dprintf(TO, "    from");
		for (int f = 0; f < FAULT_DEPTH && p->frames[f]; f++) {
			char **text = backtrace_symbols(&p->frames[f], 1);
			const char *base = text ? strrchr(text[0], '/') : NULL;

			dprintf(TO, " %s", base ? base + 1 : text ? text[0] : "?");
			free(text);
		}
		dprintf(TO, "\n");
	}
}

static const char *error_name(int error)
{
	return error == FAULT_ONE_BYTE ? "one byte" : error == FAULT_HALF ? "half" : strerrorname_np(error);
}

static bool plan(enum fault_call call, unsigned long at, int error)
{
	memset(faults->count, 0, sizeof(faults->count));
	faults->call = call;
	faults->at = at;
	faults->error = error;
	faults->met = false;
	if (makes)
		unlink(makes);
	return true;
}

/* One run. False in the child that becomes the program. */
static bool fail_one(enum fault_call call, unsigned long at, int error, struct tally *t, bool show)
{
	static const char *const called[] = { "right", "error", "told", "BAD", "not met" };
	enum outcome outcome;
	const char *why;

	plan(call, at, error);
	if (!run_once(&now, NULL, NULL))
		return false;
	look_at_file(&now);
	outcome = judge(&why);
	if (!faults->met && outcome == RIGHT)
		outcome = UNMET;
	t->runs++;
	t->of[outcome]++;
	if (show || outcome == BAD || (outcome == TOLD && getenv("FAULTS_TOLD"))) {
		const char *said = now.err.text;

		dprintf(TO, "%s: %s %lu with %s: %s%s%s, status %d\n", name, kinds[call].name, at,
			error_name(error), called[outcome], why ? ": " : "", why ? why : "",
			WIFEXITED(now.status) ? WEXITSTATUS(now.status) : -1);
		show_place(call, at);
		dprintf(TO, "    says: %.600s\n", said);
		if (show)
			dprintf(TO, "%s\n%s\n", now.out.text, now.about_file);
	}
	return true;
}

static unsigned long number(const char *variable, unsigned long otherwise)
{
	const char *text = getenv(variable);

	return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

/* All errors at one number, or the one whose turn it is. */
static bool fail_in_ways(enum fault_call call, unsigned long at, size_t turn, struct tally *t)
{
	const int *errors = kinds[call].errors;
	size_t n = 0;

	while (errors[n])
		n++;
	if (getenv("FAULTS_TURNS"))
		return fail_one(call, at, errors[turn % n], t, false);
	for (size_t i = 0; i < n; i++)
		if (!fail_one(call, at, errors[i], t, false))
			return false;
	return true;
}

/* Those of a kind: by number, then by place. The undisturbed run has been recorded. */
static bool fail_kind(enum fault_call call, unsigned long calls, struct tally *t, unsigned long *places)
{
	unsigned long below = number("FAULTS_BELOW", 1000), step = number("FAULTS_STEP", 1);

	for (unsigned long at = 1; at <= calls && at < below; at += step)
		if (!fail_in_ways(call, at, (at - 1) / step, t))
			return false;
	*places = 0;
	for (size_t i = 0; i < FAULT_PLACES; i++) {
		const struct fault_place *p = &faults->places[i];

		if (!p->chain || p->call != call)
			continue;
		++*places;
		if (number("FAULTS_PLACES", 1) && (p->first >= below || (p->first - 1) % step) &&
		    !fail_in_ways(call, p->first, *places - 1, t))
			return false;
	}
	return true;
}

/* Two undisturbed runs, which must agree; the first notes places. */
static bool undisturbed(unsigned long *count)
{
	enum outcome outcome;
	const char *why;

	faults->recording = true;
	plan(FAULT_alloc, 0, 0);
	faults->call = FAULT_KINDS; /* streams are ours, too */
	if (!run_once(&sound, NULL, NULL))
		return false;
	faults->recording = false;
	memcpy(count, faults->count, sizeof(faults->count));
	words_of(sound.lines, sound.err.text);
	look_at_file(&sound);
	if (loose && !makes)
		words_of(sound.about_file, sound.out.text);
	if (sound.hung || !WIFEXITED(sound.status) || WEXITSTATUS(sound.status) != 0)
		give_up("%s: without a fault: status %x: %.400s", name, sound.status, sound.err.text);
	plan(FAULT_alloc, 0, 0);
	if (!run_once(&now, NULL, NULL))
		return false;
	look_at_file(&now);
	outcome = judge(&why);
	if (outcome != RIGHT)
		give_up("%s: two undisturbed runs differ: %s: %s%s", name, why ? why : "", now.err.text,
			now.about_file);
	return true;
}

static bool asked_for(enum fault_call call, const char *kind)
{
	return strcmp(kind, kinds[call].name) == 0 || (call != FAULT_alloc && strcmp(kind, "calls") == 0);
}

/* False in a child. */
static bool drive(void)
{
	static unsigned long count[FAULT_KINDS];
	const char *kind = getenv("FAULTS_KIND"), *one = getenv("FAULTS_ONE");
	struct tally all = { 0 };

	if (!undisturbed(count))
		return false;
	for (enum fault_call call = 0; call < FAULT_KINDS; call++) {
		struct tally t = { 0 };
		unsigned long places;
		char given[32], error[32];
		unsigned long at;

		if (one && sscanf(one, "%31[^:]:%lu:%31s", given, &at, error) == 3 &&
		    strcmp(given, kinds[call].name) == 0)
			for (const int *e = kinds[call].errors; *e; e++)
				if (strcmp(error_name(*e), error) == 0 && !fail_one(call, at, *e, &t, true))
					return false;
		if (one || !asked_for(call, kind) || !count[call])
			continue;
		if (!fail_kind(call, count[call], &t, &places))
			return false;
		dprintf(TO, "%-16s %-18s %7lu %6lu %6lu %6lu %6lu %6lu %6lu %6lu\n", name, kinds[call].name,
			count[call], places, t.runs, t.of[RIGHT], t.of[ERROR], t.of[TOLD], t.of[UNMET], t.of[BAD]);
		all.runs += t.runs;
		for (int o = 0; o < OUTCOMES; o++)
			all.of[o] += t.of[o];
	}
	_exit(all.of[BAD] != 0);
}

__attribute__((constructor)) static void begin(void)
{
	const char *about = getenv("FAULTS");
	void *frames[4];
	ssize_t n;

	if (!about || strcmp(about, program_invocation_short_name) != 0)
		return;
	name = getenv("FAULTS_NAME") ? getenv("FAULTS_NAME") : about;
	makes = getenv("FAULTS_MAKES");
	loose = getenv("FAULTS_LOOSE") != NULL;
	unsetenv("LD_PRELOAD");
	unsetenv("FAULTS");
	n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (n < 0)
		give_up("there is no /proc/self/exe");
	sweep(true);
	backtrace(frames, 4); /* what it loads, it loads now */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	faults = mmap(NULL, sizeof(*faults), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (faults == MAP_FAILED)
		give_up("there is no memory for the faults");
	if (drive())
		_exit(2);
	/* The child. */
	if (strcmp(getenv("FAULTS_KIND") ? getenv("FAULTS_KIND") : "calls", "alloc") != 0)
		faults_take_stdout();
	faults->pid = getpid();
}
