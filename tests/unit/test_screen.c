/* SPDX-License-Identifier: MIT */
/* cli/screen: what text takes of a terminal's line, and how it is made to fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/common/progress.h"
#include "cli/screen/cells.h"
#include "cli/screen/fitted.h"
#include "cli/screen/screen.h"
#include "cli/screen/shorten.h"
#include "cli/screen/table.h"

static size_t cells(const char *text)
{
	return gus_cells(text, strlen(text));
}

static void text_takes_cells(void **state)
{
	(void)state;
	assert_int_equal(cells(""), 0);
	assert_int_equal(cells("abc"), 3);
	assert_int_equal(cells("é"), 1);
	assert_int_equal(cells("e\xcc\x81"), 1);        /* the accent lies over the letter */
	assert_int_equal(cells("漢字"), 4);
	assert_int_equal(cells("\xcd\xb8"), 1);         /* U+0378, which is nothing yet */
	assert_int_equal(cells("\xff\x1b\n\xe2\x80\xae"), 4); /* ??_? as it is printed */
}

static void cuts_fall_between_characters(void **state)
{
	const char *text = "a漢e\xcc\x81z"; /* 1, 2, 1 and 1 cells in 1, 3, 3 and 1 bytes */

	(void)state;
	assert_int_equal(gus_cells_head(text, strlen(text), 0), 0);
	assert_int_equal(gus_cells_head(text, strlen(text), 2), 1);
	assert_int_equal(gus_cells_head(text, strlen(text), 3), 4);
	assert_int_equal(gus_cells_head(text, strlen(text), 4), 7); /* with its accent */
	assert_int_equal(gus_cells_head(text, strlen(text), 9), 8);
	assert_int_equal(gus_cells_tail(text, strlen(text), 0), 8);
	assert_int_equal(gus_cells_tail(text, strlen(text), 1), 7);
	assert_int_equal(gus_cells_tail(text, strlen(text), 2), 4);
	assert_int_equal(gus_cells_tail(text, strlen(text), 3), 4); /* not half of an ideograph */
	assert_int_equal(gus_cells_tail(text, strlen(text), 4), 1);
	assert_int_equal(gus_cells_tail(text, strlen(text), 5), 0);
}

static void becomes(enum gus_shorten how, const char *text, size_t room, const char *expected)
{
	char *got = gus_shorten(text, how, room, "…");

	assert_string_equal(got, expected);
	assert_true(cells(got) <= room || room == 0);
	free(got);
}

#define NAME(text, room, expected) becomes(GUS_SHORTEN_NAME, text, room, expected)

static void names_keep_the_function(void **state)
{
	static const char vector[] = "std::vector<std::pair<int, Key>, std::allocator<std::pair<int, Key> > >"
		"::_M_realloc_insert";

	(void)state;
	NAME(vector, 90, vector);
	NAME(vector, 89, "std::vector<std::pair<int, Key>, std::allocator<std::pair<…> > >::_M_realloc_insert");
	NAME(vector, 83, "std::vector<std::pair<int, Key>, std::allocator<std::pair<…> > >::_M_realloc_insert");
	NAME(vector, 82, "std::vector<std::pair<…>, std::allocator<…> >::_M_realloc_insert");
	NAME(vector, 64, "std::vector<std::pair<…>, std::allocator<…> >::_M_realloc_insert");
	NAME(vector, 63, "std::vector<…>::_M_realloc_insert");
	NAME(vector, 33, "std::vector<…>::_M_realloc_insert");
	NAME(vector, 32, "std::…::_M_realloc_insert");
	NAME(vector, 25, "std::…::_M_realloc_insert");
	NAME(vector, 24, "…::_M_realloc_insert");
	NAME(vector, 20, "…::_M_realloc_insert");
	NAME(vector, 19, "_M_realloc_insert");
	NAME(vector, 17, "_M_realloc_insert");
	NAME(vector, 16, "_M_reall…_insert");
	NAME(vector, 1, "…");
	NAME("boost::asio::detail::scheduler::do_run_one", 40, "boost::…::detail::scheduler::do_run_one");
	NAME("boost::asio::detail::scheduler::do_run_one", 38, "boost::…::scheduler::do_run_one");
	NAME("plain_function_with_a_long_name", 12, "plain_…_name");
}

static void methods_keep_their_type(void **state)
{
	static const char next[] = "<core::iter::Map<I, F> as core::iter::Iterator>::next::<u8>";

	(void)state;
	NAME(next, 59, next);
	NAME(next, 58, "<core::iter::Map<…> as core::iter::Iterator>::next::<u8>");
	NAME(next, 55, "<core::iter::Map<…> as …::Iterator>::next::<…>");
	NAME(next, 45, "<…::Map<…> as …::Iterator>::next::<…>");
	NAME(next, 36, "<…::Map<…> as …>::next::<…>");
	NAME(next, 26, "<…>::next::<…>");
	NAME(next, 13, "…::next::<…>");
	NAME(next, 11, "next");
	NAME("core::fmt::num::<impl core::fmt::Display for u64>::fmt", 30, "core::fmt::num::<…>::fmt");
	NAME("main(int, char**)::<lambda(auto:1, auto:2)>", 22, "main(…)::<…>");
	NAME("<core::cmp::Ordering>::is_less", 29, "<…::Ordering>::is_less");
	NAME("<core::cmp::Ordering>::is_less", 21, "<…>::is_less");
	NAME("<&mut a::b::C as Trait>::f", 25, "<…::C as Trait>::f");
	NAME("<u64>::unchecked_add", 17, "…::unchecked_add");
	NAME("<impl at the end of a name>", 20, "<…>");
}

/* What looks like a bracket and is none, and what is one and tells functions apart. */
static void names_stay_balanced(void **state)
{
	(void)state;
	NAME("ns::wide_class<int, long>::operator<", 34, "ns::wide_class<…>::operator<");
	NAME("ns::wide_class<int, long>::operator()", 34, "ns::wide_class<…>::operator()");
	NAME("a_namespace::a_class::operator()", 12, "operator()"); /* a name, and not one with arguments */
	NAME("a_namespace::a_class::operator[]", 12, "operator[]");
	NAME("a_namespace::a_function(int)", 12, "a_function");
	NAME("ns::wide_class<int, long>::operator->", 34, "ns::wide_class<…>::operator->");
	NAME("ns::operator<< <std::char_traits<char> >", 38, "ns::operator<< <std::char_traits<…> >");
	NAME("ns::operator<< <std::char_traits<char> >", 20, "ns::operator<< <…>");
	NAME("(anonymous namespace)::table<int, long long>::find", 42, "(anonymous namespace)::table<…>::find");
	NAME("<core::iter::Map<I, F> as Iterator>::next", 20, "<…>::next");
	NAME("alloc::vec::from<fn(u8) -> u16>::run", 35, "alloc::vec::from<fn(…) -> u16>::run");
	NAME("a_function::{lambda(int, long)#1}::operator()", 40, "a_function::{lambda(…)#1}::operator()");
	NAME("a_function::{lambda(int, long)#1}::operator()", 36, "a_function::{…}::operator()");
	NAME("broken<name::with(no>end", 12, "broken…o>end"); /* no name: cut as it comes */
	NAME("crossed<brackets(of>a)name", 12, "crosse…)name");
	NAME("my_operator<abcdefgh>", 15, "my_operator<…>");
}

static void paths_keep_their_end(void **state)
{
	(void)state;
	becomes(GUS_SHORTEN_PATH, "/usr/lib/x86_64-linux-gnu/libc.so.6", 35, "/usr/lib/x86_64-linux-gnu/libc.so.6");
	becomes(GUS_SHORTEN_PATH, "/usr/lib/x86_64-linux-gnu/libc.so.6", 34, "…/lib/x86_64-linux-gnu/libc.so.6");
	becomes(GUS_SHORTEN_PATH, "/usr/lib/x86_64-linux-gnu/libc.so.6", 31, "…/x86_64-linux-gnu/libc.so.6");
	becomes(GUS_SHORTEN_PATH, "/usr/lib/x86_64-linux-gnu/libc.so.6", 11, "…/libc.so.6");
	becomes(GUS_SHORTEN_PATH, "/usr/lib/x86_64-linux-gnu/libc.so.6", 7, "lib…o.6");
	becomes(GUS_SHORTEN_END, "漢字漢字", 6, "漢字…");
	becomes(GUS_SHORTEN_END, "漢字漢字", 8, "漢字漢字");
	becomes(GUS_SHORTEN_END, "abc", 1, "…");
	becomes(GUS_SHORTEN_END, "abc", 0, "");
}

/* Tables and folds, in memory. */
struct made { char *text; size_t size; FILE *out; struct gus_screen screen; };

static struct made begin(size_t width)
{
	struct made m = { .screen = { .width = width, .dots = "…" } };

	return m;
}

static const struct gus_table_column columns[] = {
	{ .title = "share", .right = true },
	{ .title = "samples", .right = true, .leaves = 1 },
	{ .title = "time", .right = true, .leaves = 2 },
	{ .title = "module", .pad = 8, .how = GUS_SHORTEN_PATH, .comfort = 8, .least = 6 },
	{ .title = "function", .how = GUS_SHORTEN_NAME, .comfort = 14, .least = 6 },
};

static void holds(size_t width, bool full, const char *expected)
{
	static const char *const rows[][5] = {
		{ "60%", "1234", "1.5 s", "漢字.so", "ns::a_function" },
		{ "40%", "99", "1 s", "longer-module.so", "std::vector<int, long>::push_back" },
	};
	struct made m = begin(width);
	struct gus_table t;

	m.screen.full_names = full;
	m.out = open_memstream(&m.text, &m.size);
	assert_non_null(m.out);
	gus_table_begin(&t, &m.screen, m.out, columns, 5);
	for (size_t i = 0; i < 2; i++)
		gus_table_row(&t, GUS_COLOUR_HOT, rows[i]);
	gus_table_line(&t, "     by ", "a::very::long::name_of_a_function", " (i)");
	gus_table_end(&t);
	fclose(m.out);
	assert_string_equal(m.text, expected);
	free(m.text);
}

static void tables_fit(void **state)
{
	(void)state;
	holds(75, false,
	      "# share  samples   time  module           function\n"
	      "    60%     1234  1.5 s  漢字.so          ns::a_function\n"
	      "    40%       99    1 s  longer-…dule.so  std::vector<int, long>::push_back\n"
	      "     by a::very::long::name_of_a_function (i)\n");
	holds(66, false,
	      "# share  samples   time  module    function\n"
	      "    60%     1234  1.5 s  漢字.so   ns::a_function\n"
	      "    40%       99    1 s  long….so  std::vector<…>::push_back\n"
	      "     by a::very::long::name_of_a_function (i)\n");
	holds(50, false,
	      "# share  samples   time  module    function\n"
	      "    60%     1234  1.5 s  漢字.so   ns::a_function\n"
	      "    40%       99    1 s  long….so  …::push_back\n"
	      "     by a::very::long::name_of_a_function (i)\n");
	holds(49, false,
	      "# share  samples   time  module    function\n"
	      "    60%     1234  1.5 s  漢字.so   ns::a_function\n"
	      "    40%       99    1 s  long….so  …::push_back\n"
	      "     by a::very::long::name_of_a_function (i)\n");
	holds(41, false,
	      "# share   time  module    function\n"
	      "    60%  1.5 s  漢字.so   ns::a_function\n"
	      "    40%    1 s  long….so  …::push_back\n"
	      "     by a::…::name_of_a_function (i)\n");
	holds(40, false,
	      "# share   time  module    function\n"
	      "    60%  1.5 s  漢字.so   ns::a_function\n"
	      "    40%    1 s  long….so  …::push_back\n"
	      "     by a::…::name_of_a_function (i)\n");
	holds(28, false, /* nothing more can leave */
	      "# share  module  function\n"
	      "    60%  漢…so   a_function\n"
	      "    40%  lon…so  push_back\n"
	      "     by name_of_…unction (i)\n");
	holds(0, false,
	      "# share  samples  time  module    function\n"
	      "    60%     1234  1.5 s  漢字.so   ns::a_function\n"
	      "    40%       99   1 s  longer-module.so  std::vector<int, long>::push_back\n"
	      "     by a::very::long::name_of_a_function (i)\n");
	holds(40, true,
	      "# share  samples   time  module            function\n"
	      "    60%     1234  1.5 s  漢字.so           ns::a_function\n"
	      "    40%       99    1 s  longer-module.so  std::vector<int, long>::push_back\n"
	      "     by a::very::long::name_of_a_function (i)\n");
}

static void indented(size_t width, bool full, const char *expected)
{
	static const struct gus_table_column two[] = {
		{ .title = "share", .right = true },
		{ .title = "function", .how = GUS_SHORTEN_NAME, .comfort = 14, .least = 6 },
	};
	struct made m = begin(width);
	struct gus_table t;

	m.screen.full_names = full;
	m.out = open_memstream(&m.text, &m.size);
	assert_non_null(m.out);
	gus_table_begin(&t, &m.screen, m.out, two, 2);
	gus_table_row(&t, GUS_COLOUR_HOT, (const char *const[]){ "60%", "main" });
	gus_table_row_indented(&t, GUS_COLOUR_HOT, (const char *const[]){ "50%", "space::function" }, 2, " (in)");
	gus_table_row_indented(&t, GUS_COLOUR_HOT, (const char *const[]){ "", "space::function" }, 12, "");
	gus_table_row_indented(&t, GUS_COLOUR_HOT, (const char *const[]){ NULL, "f" }, 30, "");
	gus_table_end(&t);
	fclose(m.out);
	assert_string_equal(m.text, expected);
	free(m.text);
}

/* An indent is as wide as it leaves room for half of a name; what is behind a name stays whole. */
static void rows_are_indented(void **state)
{
	static const char *const whole =
		"# share  function\n    60%  main\n    50%    space::function (in)\n"
		"                     space::function\n                                       f\n";

	(void)state;
	indented(0, false, whole);
	indented(60, false, whole);
	indented(20, true, whole);
	indented(40, false, whole);
	indented(39, false, "# share  function\n    60%  main\n    50%    space::function (in)\n"
		 "                     space::function\n                                      f\n");
	indented(29, false, "# share  function\n    60%  main\n    50%    …::function (in)\n"
		 "                   function\n                            f\n");
	indented(20, false, "# share  function\n    60%  main\n    50%    fu…n (in)\n"
		 "               fu…on\n                   f\n");
}

static void text_folds(void **state)
{
	struct made m = begin(20);

	(void)state;
	m.out = open_memstream(&m.text, &m.size);
	gus_screen_fold(&m.screen, m.out, "# a: ", "#   ", "one two  three 漢字漢字漢字 /a/word/that/is/longer/than/it end");
	m.screen.width = 0;
	gus_screen_fold(&m.screen, m.out, "# b: ", "#   ", "one two three four five six seven");
	fclose(m.out);
	assert_string_equal(m.text, "# a: one two three\n#   漢字漢字漢字\n#   /a/word/that/is/longer/than/it\n#   end\n"
			    "# b: one two three four five six seven\n");
	free(m.text);
}

/* What is printed without a thought of the width. */
static void lines_are_fitted(void **state)
{
	const struct gus_screen narrow = { .width = 40, .dots = "…" }, wide = { .dots = "…" };
	int before = dup(1), file = memfd_create("stdout", 0);
	char text[1024];
	struct gus_fitted f;
	ssize_t n;

	(void)state;
	assert_true(before >= 0 && file >= 0);
	fflush(stdout);
	dup2(file, 1);
	gus_fitted_begin(&f, &narrow);
	printf("short\n\nit fits,  and so its gap stays\nit just fits here,  and so its gap stays\n"
	       "  12 M  of what is a sentence with a gap in it, and long\n");
	printf("  1.00  2.00  columns that are too wide to stay\n");
	printf("  1.00  2.00  a column        and another one\n");
	gus_fitted_end(&f);
	gus_fitted_begin(&f, &wide);
	printf("  1.00  2.00  columns that are too wide to stay\n");
	gus_fitted_end(&f);
	fflush(stdout);
	dup2(before, 1);
	n = pread(file, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(before);
	close(file);
	assert_string_equal(text, "short\n\nit fits,  and so its gap stays\nit just fits here,  and so its gap stays\n"
			    "  12 M of what is a sentence with a gap\n      in it, and long\n"
			    "  1.00  2.00  columns that are too wide…\n"
			    "  1.00  2.00  a column   and another one\n"
			    "  1.00  2.00  columns that are too wide to stay\n");
}

/* What COLUMNS, NO_COLOR and TERM say counts on terminals only; options count everywhere. */
static void a_file_is_no_terminal(void **state)
{
	struct gus_screen_options o = { .width = GUS_SCREEN_AUTO };
	FILE *file = tmpfile();
	struct gus_screen s;

	(void)state;
	assert_non_null(file);
	setenv("COLUMNS", "120", 1);
	setenv("TERM", "xterm", 1);
	setenv("LC_ALL", "C", 1);
	unsetenv("NO_COLOR");
	s = gus_screen_of(file, &o);
	assert_true(!s.width && !s.colour && !s.terminal);
	assert_string_equal(s.dots, "..");
	setenv("LC_ALL", "de_DE.utf8", 1);
	assert_string_equal(gus_screen_of(file, &o).dots, "…");
	o.width = 100;
	o.colour = 1;
	setenv("NO_COLOR", "1", 1); /* --color=always is said later, and means it */
	s = gus_screen_of(file, &o);
	assert_true(s.width == 100 && s.colour);
	o.width = 3;
	assert_int_equal(gus_screen_of(file, &o).width, GUS_SCREEN_LEAST);
	fclose(file);
}

/* A new terminal; *other is its other end. */
static int open_terminal(int *other)
{
	int fd;

	*other = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(*other >= 0 && grantpt(*other) == 0 && unlockpt(*other) == 0);
	fd = open(ptsname(*other), O_RDWR | O_NOCTTY);
	assert_true(fd >= 0 && fcntl(*other, F_SETFL, O_NONBLOCK) == 0);
	return fd;
}

static void a_terminal_has_a_width(void **state)
{
	static const struct { const char *columns; unsigned short size; size_t width; } cases[] = {
		{ "120", 90, 120 }, { "", 90, 90 }, { "", 0, 80 }, { "99", 90, 99 }, { "100x", 90, 90 },
		{ "-1", 90, 90 }, { "0", 90, 90 }, { " 120", 90, 90 }, { "99999", 90, 99999 }, { "100000", 90, 90 },
		{ "3", 90, GUS_SCREEN_LEAST }, { "", 3, GUS_SCREEN_LEAST },
	};
	const struct gus_screen_options o = { .width = GUS_SCREEN_AUTO };
	int other, fd = open_terminal(&other);
	FILE *file = fdopen(fd, "w");

	(void)state;
	assert_non_null(file);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct winsize size = { .ws_row = 25, .ws_col = cases[i].size };

		assert_int_equal(ioctl(fd, TIOCSWINSZ, &size), 0);
		setenv("COLUMNS", cases[i].columns, 1);
		assert_int_equal(gus_screen_of(file, &o).width, cases[i].width);
	}
	setenv("COLUMNS", "120", 1);
	assert_int_equal(gus_screen_of(file, &(struct gus_screen_options){ .width = 0 }).width, 0);
	assert_true(gus_screen_of(file, &o).terminal);
	fclose(file);
	close(other);
}

static void a_terminal_has_colours(void **state)
{
	static const struct { const char *no_color, *term; int asked; bool colour; } cases[] = {
		{ "", "xterm", 0, true }, { "1", "xterm", 0, false }, { "0", "xterm", 0, false },
		{ "", "dumb", 0, false }, { "", "", 0, false }, { "1", "dumb", 1, true }, { "", "xterm", 2, false },
	};
	int other, fd = open_terminal(&other);
	FILE *file = fdopen(fd, "w");

	(void)state;
	assert_non_null(file);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setenv("NO_COLOR", cases[i].no_color, 1);
		setenv("TERM", cases[i].term, 1);
		assert_int_equal(gus_screen_of(file, &(struct gus_screen_options){ .colour = cases[i].asked }).colour,
				 cases[i].colour);
	}
	fclose(file);
	close(other);
	assert_int_equal(gus_screen_share_colour(1), GUS_COLOUR_HOT);
	assert_int_equal(gus_screen_share_colour(0.05), GUS_COLOUR_HOT);
	assert_int_equal(gus_screen_share_colour(0.0499), GUS_COLOUR_WARM);
	assert_int_equal(gus_screen_share_colour(0.005), GUS_COLOUR_WARM);
	assert_int_equal(gus_screen_share_colour(0.0049), GUS_COLOUR_NONE);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* What goes to stderr meanwhile, on a new terminal or in a file. */
struct caught { bool terminal; int before, to, other; };

static struct caught catch_stderr(bool terminal, const char *term)
{
	struct caught c = { .terminal = terminal, .before = dup(2) };

	c.to = terminal ? open_terminal(&c.other) : memfd_create("stderr", 0);
	assert_true(c.to >= 0 && c.before >= 0);
	setenv("TERM", term, 1);
	dup2(c.to, 2);
	return c;
}

/* Until the next one. */
static const char *caught(struct caught *c)
{
	static char text[1024];
	size_t used = 0;
	ssize_t n;

	fflush(stderr);
	dup2(c->before, 2);
	close(c->before);
	if (!c->terminal)
		lseek(c->other = c->to, 0, SEEK_SET);
	for (text[0] = '\0'; (n = read(c->other, text + used, sizeof(text) - 1 - used)) > 0; used += (size_t)n)
		text[used + (size_t)n] = '\0';
	close(c->other);
	if (c->terminal)
		close(c->to);
	return text;
}

/* As if so many seconds had gone by. */
static void pass(struct gus_progress *p, unsigned seconds)
{
	p->begun_ns -= seconds * 1000000000ull;
	p->next_ns -= seconds * 1000000000ull;
}

/* What comes of a work that took so many seconds. */
static const char *progress_on(bool terminal, unsigned seconds, const char *term, const char *what, double share)
{
	uint64_t begun = now_ns();
	struct gus_progress p = { 0 };
	struct caught c = catch_stderr(terminal, term);
	const char *text;

	gus_progress(&p, "reading", 0);
	assert_true(terminal && *term == 'x' ? p.begun_ns >= begun && p.begun_ns <= now_ns() : p.terminal < 0);
	pass(&p, seconds);
	gus_progress(&p, what, share);
	gus_progress(&p, what, 0.50); /* too soon after the one before */
	gus_progress_end(&p);
	text = caught(&c);
	assert_int_equal(p.begun_ns, 0);
	return text;
}

static void progress_is_for_terminals(void **state)
{
	(void)state;
	assert_string_equal(progress_on(true, 1, "xterm", "naming", 0.25), "");
	assert_string_equal(progress_on(true, 3, "xterm", "naming", 0.25),
			    "\r\033[Kgusprof: naming, 25 %, 3 s\r\033[K");
	assert_string_equal(progress_on(true, 3, "dumb", "naming", 0.25), "");
	assert_string_equal(progress_on(true, 3, "", "naming", 0.25), "");
	assert_string_equal(progress_on(false, 3, "xterm", "naming", 0.25), "");
}

/* Of the whole, where that is known, and never more than it; in a line of any terminal. */
static void progress_is_a_share(void **state)
{
	(void)state;
	assert_string_equal(progress_on(true, 2, "xterm", "a", 0), "\r\033[Kgusprof: a, 0 %, 2 s\r\033[K");
	assert_string_equal(progress_on(true, 2, "xterm", "a", 1), "\r\033[Kgusprof: a, 100 %, 2 s\r\033[K");
	assert_string_equal(progress_on(true, 2, "xterm", "a", 1.5), "\r\033[Kgusprof: a, 100 %, 2 s\r\033[K");
	assert_string_equal(progress_on(true, 90, "xterm", "a", -1), "\r\033[Kgusprof: a, 90 s\r\033[K");
	assert_string_equal(progress_on(true, 2, "xterm", "0123456789012345678901234567890123456789x", -1),
			    "\r\033[Kgusprof: 0123456789012345678901234567890123456789, 2 s\r\033[K");
}

/* What a log has of a work that asked for lines: said with a share after so many seconds each, by a clock that is moved
 * instead of waited for. */
struct moment { unsigned seconds; const char *what; double share; };

static const char *log_of(bool lines, const struct moment *moments, size_t n)
{
	struct gus_progress p = { .lines = lines };
	struct caught c = catch_stderr(false, "xterm");

	gus_progress(&p, "beginning", 0);
	for (size_t i = 0; i < n; i++) {
		pass(&p, moments[i].seconds);
		gus_progress(&p, moments[i].what, moments[i].share);
	}
	gus_progress_end(&p);
	assert_true(p.lines == lines && !p.shown);
	return caught(&c);
}

/* Lines five seconds apart, of what is new only; and none of who did not ask for them. */
static void progress_in_a_log_is_lines(void **state)
{
	static const struct moment all[] = {
		{ 4, "front", 0.04 },   /* too early for a word */
		{ 1, "front", 0.05 },
		{ 4, "front", 0.15 },   /* too soon behind that */
		{ 1, "front", 0.19 },   /* a tenth further */
		{ 60, "front", 0.199 }, /* nothing new, however long it takes */
		{ 0, "ports", 0.199 },  /* another part */
		{ 5, "ports", 0.2 },
		{ 5, "ports", 1.5 },
		{ 5, "memory", -1 },
		{ 5, "memory", -1 },
		{ 5, "memory", 0 },     /* now it is known how much there is */
		{ 5, "memory, of which 40 letters are kept, of 1", 0 },
		{ 5, "memory, of which 40 letters are kept, of 2", 0 },
	};

	(void)state;
	assert_string_equal(log_of(true, all, sizeof(all) / sizeof(*all)),
			    "gusprof: front, 5 %, 5 s\n"
			    "gusprof: front, 19 %, 10 s\n"
			    "gusprof: ports, 20 %, 70 s\n"
			    "gusprof: ports, 20 %, 75 s\n"
			    "gusprof: ports, 100 %, 80 s\n"
			    "gusprof: memory, 85 s\n"
			    "gusprof: memory, 0 %, 95 s\n"
			    "gusprof: memory, of which 40 letters are kept, of, 0 %, 100 s\n");
	assert_string_equal(log_of(true, all, 1), "");
	assert_string_equal(log_of(false, all, sizeof(all) / sizeof(*all)), "");
}

/* In a terminal of so many columns, the last of which stays free: words are cut first, and what is not known to be of
 * any width has the most. */
static void progress_fits_into_a_line(void **state)
{
	static const struct { unsigned short columns; const char *line; } cases[] = {
		{ 36, "gusprof: matching all, 25 %, 3 s" }, { 33, "gusprof: matching all, 25 %, 3 s" },
		{ 32, "gusprof: matching al, 25 %, 3 s" }, { 22, "gusprof: m, 25 %, 3 s" },
		{ 21, "gusprof: , 25 %, 3 s" }, { 10, "gusprof: , 25 %, 3 s" },
		{ 0, "gusprof: matching all, 25 %, 3 s" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct winsize size = { .ws_row = 25, .ws_col = cases[i].columns };
		struct gus_progress p = { 0 };
		struct caught c = catch_stderr(true, "xterm");
		char expected[64];
		const char *text;

		gus_progress(&p, "beginning", 0);
		ioctl(2, TIOCSWINSZ, &size);
		pass(&p, 3);
		gus_progress(&p, "matching all", 0.25);
		text = caught(&c);
		snprintf(expected, sizeof(expected), "\r\033[K%s", cases[i].line);
		assert_string_equal(text, expected);
	}
}

/* Who works elsewhere says how far it is, takes the line away before something is printed, and goes on behind the end
 * of a work: with what was given before. */
static void progress_is_told_from_elsewhere(void **state)
{
	struct gus_progress p = { 0 };
	const struct gus_heed *h = gus_progress_heed(&p);
	struct caught c = catch_stderr(true, "xterm");

	(void)state;
	gus_heed_tell(NULL, "reading", 0); /* nobody wants to hear it */
	gus_heed_tell(h, "reading", 0);
	pass(&p, 3);
	gus_heed_tell(h, "reading", 0.5);
	gus_heed_tell(h, NULL, 1);
	gus_heed_tell(h, "naming", 0);
	pass(&p, 4);
	gus_heed_tell(h, "naming", 0.25);
	gus_progress_end(&p);
	gus_heed_tell(h, NULL, 1); /* there is no line any more */
	gus_heed_tell(h, "sorting", 0);
	pass(&p, 5);
	gus_heed_tell(h, "sorting", -1);
	assert_string_equal(caught(&c), "\r\033[Kgusprof: reading, 50 %, 3 s\r\033[K"
			    "\r\033[Kgusprof: naming, 25 %, 4 s\r\033[K"
			    "\r\033[Kgusprof: sorting, 5 s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_takes_cells),
		cmocka_unit_test(cuts_fall_between_characters),
		cmocka_unit_test(names_keep_the_function),
		cmocka_unit_test(methods_keep_their_type),
		cmocka_unit_test(names_stay_balanced),
		cmocka_unit_test(paths_keep_their_end),
		cmocka_unit_test(tables_fit),
		cmocka_unit_test(rows_are_indented),
		cmocka_unit_test(text_folds),
		cmocka_unit_test(lines_are_fitted),
		cmocka_unit_test(a_file_is_no_terminal),
		cmocka_unit_test(a_terminal_has_a_width),
		cmocka_unit_test(a_terminal_has_colours),
		cmocka_unit_test(progress_is_for_terminals),
		cmocka_unit_test(progress_is_a_share),
		cmocka_unit_test(progress_in_a_log_is_lines),
		cmocka_unit_test(progress_fits_into_a_line),
		cmocka_unit_test(progress_is_told_from_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
