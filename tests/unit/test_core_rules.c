/* SPDX-License-Identifier: MIT */
/* The core engine rule by rule: small tables of uops on a machine that is wide and has no ends, but for what the
 * case is about. Cycles follow from the rules: what is issued in cycle c is dispatched from c + 1 on, and of a
 * producer with latency L that is dispatched in d consumers are dispatched from d + L on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/code/program.h"
#include "tests/unit/core_machine.h"

/* Binding. */

/* What each policy makes of a list of uops. Waiting uops are made by a root that takes long. */
static void ports_by_policy(void **state)
{
	static const struct {
		const char *what;
		uint32_t policy;
		const char *text;
		int ports[9];                   /* ends with -1 */
	} cases[] = {
		{ "the fewest, of equals the lowest", GUS_CORE_BIND_FEWEST,
		  "a int - - 1 1,2,3\nb int - - 1 1,2,3\nc int - - 1 1,2,3\nd int - - 1 1,2,3\n", { 1, 2, 3, 1, -1 } },
		{ "a port with one waiting loses to the higher ones", GUS_CORE_BIND_FEWEST,
		  "a int - - 1 1\nb int - - 1 1,2,3\nc int - - 1 3\nd int - - 1 2,3\n", { 1, 2, 3, 2, -1 } },
		{ "what was dispatched does not count", GUS_CORE_BIND_FEWEST,
		  "a int - - 1 1\nb int - - 1 1\nc int - - 1 0\nd int - - 1 0\n"
		  "e int - - 1 4\nf int - - 1 4\ng int - - 1 4\nh int - - 1 4\n"
		  /* cycle 2: port 1 is about to be empty: b went in it, as ports look before issue does */
		  "i int - - 1 1,2\n", { 1, 1, 0, 0, 4, 4, 4, 4, 1 } },
		{ "in turn, whatever waits", GUS_CORE_BIND_ALTERNATE,
		  "a int - - 1 1,2,3\nb int - - 1 1,2,3\nc int - - 1 1,2,3\nd int - - 1 1,2,3\n", { 1, 2, 3, 1, -1 } },
		{ "one turn for all masks", GUS_CORE_BIND_ALTERNATE,
		  "a int - - 1 1,2\nb int - - 1 1,2,3\nc int - - 1 1,2\nd int - - 1 1,2,7\n"
		  "e int - - 1 1,7\nf int - - 1 6,7\n",
		  { 1, 2, 1, 2, 7, 6, -1 } },
		{ "no turn for those without choice", GUS_CORE_BIND_ALTERNATE,
		  "a int - - 1 1,2\nb int - - 1 5\nc int - - 1 1,2\n", { 1, 5, 2, -1 } },
		{ "in turn among the fewest", GUS_CORE_BIND_ROUND_ROBIN,
		  "a int - - 1 2\nb int - - 1 1,2,3\nc int - - 1 1,2,3\nd int - - 1 1,2,3\n", { 2, 1, 3, 1, -1 } },
		{ "in turn if all are equal", GUS_CORE_BIND_ROUND_ROBIN,
		  "a int - - 1 2,3\nb int - - 1 0\nc int - - 1 1,4,5\nd int - - 1 1,5\n", { 2, 0, 4, 5, -1 } },
		{ "even slots the highest of the fewest, odd ones the next", GUS_CORE_BIND_SLOTS,
		  "a int - - 1 1,2,3\nb int - - 1 1,2,3\nc int - - 1 1,2,3\nd int - - 1 1,2,3\n", { 3, 2, 3, 2, -1 } },
		{ "the slot counts, not the uop", GUS_CORE_BIND_SLOTS,
		  "a int - - 1 1,2,3\nb int - - 1 0\nc int - - 1 1,2,3\nd int - - 1 1,2\n", { 3, 0, 3, 1, -1 } },
		{ "two loads in turn", GUS_CORE_BIND_SLOTS,
		  "a load rsi x1 4 2,3\nb load rsi x1 4 2,3\nc load rsi x1 4 2,3\nd int - - 1 2,3\n", { 2, 3, 2, 2,
			-1 } },
		{ "by slot, what is dispatched in this cycle still counts", GUS_CORE_BIND_SLOTS,
		  "a int - - 1 2\nb int - - 1 2\nc int - - 1 0\nd int - - 1 0\n"
		  "e int - - 1 4\nf int - - 1 4\ng int - - 1 4\nh int - - 1 4\n"
		  "i int - - 1 1,2\n", { 2, 2, 0, 0, 4, 4, 4, 4, 1 } },
		{ "of the same choice the next rank", GUS_CORE_BIND_RANKS,
		  "a int - - 1 1,2,3\nb int - - 1 1,2,3\nc int - - 1 1,2,3\nd int - - 1 1,2,3\n", { 3, 2, 1, 3, -1 } },
		{ "each choice for itself", GUS_CORE_BIND_RANKS,
		  "a int - - 1 1,2,3\nb int - - 1 1,2\nc int - - 1 1,2,3\n", { 3, 2, 2, -1 } },
		{ "the first of its kind in the fourth slot takes the second rank", GUS_CORE_BIND_RANKS,
		  "a int - - 1 0\nb int - - 1 0\nc int - - 1 0\nd int - - 1 1,2,3\n", { 0, 0, 0, 2, -1 } },
		{ "each pair of memory ports in its own turn", GUS_CORE_BIND_RANKS,
		  "a load rsi x1 4 2,3\ns store rsi;x3 - 1+1 6,7+4\nb load rsi x1 4 2,3\nt store rsi;x3 - 1+1 6,7+4\n",
		  { 2, 6, 4, 3, 7, 4, -1 } },
		{ "from the fewest through the others, the highest first", GUS_CORE_BIND_ROTATE,
		  "a int - - 1 0,1,5\nb int - - 1 0,1,5\nc int - - 1 0,1,5\nd int - - 1 0,1,5\n", { 0, 5, 1, 0, -1 } },
		{ "of two the other one", GUS_CORE_BIND_ROTATE,
		  "a int - - 1 1,5\nb int - - 1 1,5\nc int - - 1 1,5\nd int - - 1 0\n", { 1, 5, 1, 0, -1 } },
		{ "loads with three ports as all others", GUS_CORE_BIND_SLOTS,
		  "a load rsi x1 4 2,3,4\nb load rsi x1 4 2,3,4\nc load rsi x1 4 2,3,4\n", { 4, 3, 4, -1 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		make(cases[i].text);
		m.c.port_binding = cases[i].policy;
		run();
		for (size_t n = 0; n < 9 && cases[i].ports[n] >= 0; n++)
			if (port_of(n) != cases[i].ports[n])
				fail_msg("%s: uop %zu takes port %d, not %d", cases[i].what, n, port_of(n),
					cases[i].ports[n]);
		drop();
	}
}

/* By slot with uops that wait: `root` takes 50 cycles, and so many wait for it on ports 1, 2 and 3, or one lower.
 * The next four come in a cycle of their own, and see those that wait at its start. */
static void ports_by_slot_with_others_waiting(void **state)
{
	static const struct { unsigned waiting[3]; int even, odd; } cases[] = {
		{ { 0, 0, 0 }, 3, 2 },
		{ { 0, 2, 1 }, 1, 3 },          /* the second is not the neighbour, but the second fewest */
		{ { 0, 1, 2 }, 1, 2 },
		{ { 1, 0, 1 }, 2, 3 },          /* of two seconds the higher */
		{ { 2, 0, 2 }, 2, 3 },
		{ { 3, 0, 3 }, 2, 2 },          /* three behind: odd slots take the first as well */
		{ { 3, 0, 2 }, 2, 3 },
		{ { 2, 1, 5 }, 2, 1 },
		{ { 4, 4, 1 }, 3, 3 },
		{ { 3, 4, 1 }, 3, 1 },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		char text[1024];
		int n = snprintf(text, sizeof(text), "root int - r1 50 6\n");
		unsigned before = 1, first = i % 2;

		for (unsigned port = 0; port < 3; port++)
			for (unsigned k = 0; k < cases[i / 2].waiting[port]; k++, before++)
				n += snprintf(text + n, sizeof(text) - (size_t)n, "w%u int r1 r2 1 %u\n", before,
					      first + port);
		for (; before < 16; before++)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "f%u int - r3 1 7\n", before);
		for (unsigned k = 0; k < 4; k++)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "t%u int - r4 1 %u,%u,%u\n", k, first,
				      first + 1, first + 2);
		make(text);
		m.c.port_binding = GUS_CORE_BIND_SLOTS;
		run();
		for (unsigned k = 0; k < 4; k++)
			if (port_of(16 + k) != (k % 2 ? cases[i / 2].odd : cases[i / 2].even) + (int)first - 1)
				fail_msg("case %zu from port %u: slot %u takes port %d", i / 2, first, k,
					port_of(16 + k));
		drop();
	}
}

/* The same of the other policies. Ranks are by the counts of a cycle earlier, so none waits since then. */
static void ports_by_rank_with_others_waiting(void **state)
{
	static const struct { uint32_t policy; unsigned waiting[3]; int ports[5]; } cases[] = {
		{ GUS_CORE_BIND_RANKS, { 0, 0, 0 }, { 3, 2, 1, 3, 3 } },
		{ GUS_CORE_BIND_RANKS, { 1, 2, 0 }, { 3, 1, 2, 3, 3 } },
		{ GUS_CORE_BIND_RANKS, { 0, 4, 4 }, { 1, 3, 2, 1, 1 } },        /* four behind takes part */
		{ GUS_CORE_BIND_RANKS, { 0, 5, 4 }, { 1, 3, 1, 3, 1 } },        /* five behind does not */
		{ GUS_CORE_BIND_RANKS, { 0, 5, 5 }, { 1, 1, 1, 1, 1 } },
		{ GUS_CORE_BIND_ROTATE, { 0, 0, 0 }, { 1, 3, 2, 1, 3 } },
		{ GUS_CORE_BIND_ROTATE, { 1, 0, 2 }, { 2, 3, 1, 2, 3 } },
		{ GUS_CORE_BIND_ROTATE, { 2, 2, 1 }, { 3, 2, 1, 3, 2 } },
		{ GUS_CORE_BIND_ROTATE, { 1, 3, 1 }, { 1, 3, 2, 1, 3 } },       /* two behind */
		{ GUS_CORE_BIND_ROTATE, { 1, 1, 4 }, { 1, 1, 1, 1, 1 } },       /* three behind */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[1024];
		int n = snprintf(text, sizeof(text), "root int - r1 50 6\n");
		unsigned before = 1;

		for (unsigned port = 0; port < 3; port++)
			for (unsigned k = 0; k < cases[i].waiting[port]; k++, before++)
				n += snprintf(text + n, sizeof(text) - (size_t)n, "w%u int r1 r2 1 %u\n", before,
					      port + 1);
		for (; before < 20; before++)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "f%u int - r3 1 7\n", before);
		for (unsigned k = 0; k < 5; k++)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "t%u int - r4 1 1,2,3\n", k);
		make(text);
		m.c.issue_width = 5;
		m.c.port_binding = cases[i].policy;
		run();
		for (unsigned k = 0; k < 5; k++)
			if (port_of(20 + k) != cases[i].ports[k])
				fail_msg("case %zu: slot %u takes port %d", i, k, port_of(20 + k));
		drop();
	}
}

/* Two uops wait on port 2 for the root, so the next two are bound to port 1. Bound, the second goes a cycle later;
 * where ports are not bound, port 2 takes it at once. */
static void unbound_ports_take_from_each_other(void **state)
{
	static const char text[] = "a int - r1 50 0\nb int r1 r2 1 2\nc int r1 r2 1 2\nd int - r3 1 0\n"
				   "e int - r4 1 1,2\nf int - r4 1 1,2\ng int - r4 1 1\nh int - r4 1 1,2\n";

	(void)state;
	make(text);
	run();
	assert_int_equal(port_of(4), 1);
	assert_int_equal(port_of(5), 1);
	assert_int_equal(dispatched(4), 2);
	assert_int_equal(dispatched(5), 3);
	drop();
	make(text);
	m.c.port_binding = GUS_CORE_BIND_ANY;
	run();
	assert_int_equal(port_of(4), 1);
	assert_int_equal(dispatched(4), 2);
	assert_int_equal(port_of(5), 2);
	assert_int_equal(dispatched(5), 2);
	assert_int_equal(port_of(6), 1);        /* g may not take port 2; h may, and overtakes nobody */
	assert_int_equal(dispatched(6), 3);
	assert_int_equal(port_of(7), 2);
	assert_int_equal(dispatched(7), 3);
	assert_int_equal(m.r.dispatched[1], 2);
	assert_int_equal(m.r.dispatched[2], 4);
	drop();
}

/* Ports that are not bound take from each other, but not from another scheduler, and not what they cannot execute. a
 * and b wait for port 0, which is busy until 6; c lies behind them, and is taken by the port that may. */
static void unbound_ports_keep_to_their_kind(void **state)
{
	static const char rules[] = "uarch test isa x86-64 \"two schedulers\"\nlike ufs-haswell\n"
				    "source test \"made up\"\nport fp0 test\n";

	(void)state;
	for (unsigned parts = 0; parts < 2; parts++) {
		make_on(rules, "r int - r1 1 0\na int - - 1 0\nb int - - 1 0\nw int - - 1 2\n"
			       "x int - - 1 2\ny int - - 1 2\nc int - - 1 0,fp0\nd int - - 1 0,3\n");
		m.p->uops[0].port_cycles = 5;
		m.c.port_binding = GUS_CORE_BIND_ANY;
		m.c.rs_int = parts ? 100 : 0;
		run();
		assert_int_equal(dispatched(1), 6);
		assert_int_equal(dispatched(2), 7);
		assert_int_equal(port_of(7), 3);
		assert_int_equal(dispatched(7), 2);
		assert_int_equal(port_of(6), 8);
		assert_int_equal(dispatched(6), 2);
		drop();
	}
	/* c is bound to p0, as two wait at fp0; that has another scheduler, and leaves it there. */
	for (unsigned parts = 0; parts < 2; parts++) {
		make_on(rules, "r int - r1 30 1\na int r1 - 1 fp0\nb int r1 - 1 fp0\nw int - - 1 0\n"
			       "x int - - 1 0\nc int - - 1 0,fp0\n");
		m.p->uops[3].port_cycles = 9;
		m.c.port_binding = GUS_CORE_BIND_ANY;
		m.c.rs_int = parts ? 100 : 0;
		run();
		assert_int_equal(port_of(5), parts ? 0 : 8);
		assert_int_equal(dispatched(5), parts ? 11 : 2);
		drop();
	}
}

/* Integer uops in turn, whoever waits: w0 to w2 wait for r at port 1, and t0 to t4 are bound past them as if they were
 * not there; with three entries a port they go past that port, and with two w2 itself is not issued before w0 has
 * gone. */
static void integer_ports_in_turn(void **state)
{
	static const struct { uint32_t entries; int ports[5]; uint64_t t0; } cases[] = {
		{ 0, { 1, 2, 3, 1, 2 }, 24 }, { 4, { 1, 2, 3, 2, 3 }, 24 }, { 3, { 2, 3, 2, 3, 2 }, 21 },
		{ 2, { 2, 3, 2, 3, 1 }, 23 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		make("r int - r1 20 0\nw0 int r1 r2 1 1\nw1 int r1 r2 1 1\nw2 int r1 r2 1 1\n"
		     "t0 int r1 - 1 1,2,3\nt1 int r1 - 1 1,2,3\nt2 int r1 - 1 1,2,3\nt3 int r1 - 1 1,2,3\n"
		     "t4 int r1 - 1 1,2,3\n");
		m.c.port_binding = GUS_CORE_BIND_TURNS;
		m.c.rs_int = 100;
		m.c.rs_int_port = cases[i].entries;
		run();
		for (size_t t = 0; t < 5; t++)
			if (port_of(4 + t) != cases[i].ports[t])
				fail_msg("%u entries: t%zu takes port %d, not %d", cases[i].entries, t,
					port_of(4 + t), cases[i].ports[t]);
		/* With two entries w2 comes behind w0, a cycle after that was dispatched, and t0 to t2 with it. */
		assert_int_equal(dispatched(1), 21);
		assert_int_equal(dispatched(3), 23);
		assert_int_equal(dispatched(4), cases[i].t0);
		drop();
	}
}

/* Those with a narrower choice than others are no one's turn, and nobody's is theirs: of two like branches each takes
 * another port, and the additions between them go on with theirs. */
static void narrow_choices_take_no_turns(void **state)
{
	static const int ports[] = { 1, 0, 2, 4, 3, 0, 1 };

	(void)state;
	make("r int - r1 20 5\na int r1 - 1 1,2,3\nb int r1 - 1 0,4\nc int r1 - 1 1,2,3\nd int r1 - 1 0,4\n"
	     "e int r1 - 1 1,2,3\nf int r1 - 1 0,4\ng int r1 - 1 1,2,3\n");
	m.c.port_binding = GUS_CORE_BIND_TURNS;
	m.c.rs_int = 100;
	run();
	for (uint32_t i = 0; i < 7; i++)
		if (port_of(1 + i) != ports[i])
			fail_msg("%c takes port %d, not %d", 'a' + (char)i, port_of(1 + i), ports[i]);
	drop();
}

/* Vector uops have no turns: b goes to fp1 beside a on fp0, and c is taken by the same, as the other one is busy. */
static void vector_ports_take_no_turns(void **state)
{
	static const char rules[] = "uarch test isa x86-64 \"two schedulers\"\nlike ufs-haswell\n"
				    "source test \"made up\"\nport fp0 test\nport fp1 test\n";

	(void)state;
	make_on(rules, "r int - r1 1 0\na int - - 1 fp0\nb int - - 1 fp0,fp1\nc int - - 1 fp0,fp1\n");
	m.p->uops[1].port_cycles = 5;
	m.c.port_binding = GUS_CORE_BIND_TURNS;
	m.c.rs_int = 100;
	run();
	assert_int_equal(dispatched(1), 1);
	assert_int_equal(dispatched(2), 1);
	assert_int_equal(port_of(3), port_of(2));
	assert_int_equal(dispatched(3), 2);
	drop();
	/* They are no one's turn: s and t take ports 1 and 2. Nor have their ports two entries only: all are issued at
	 * once. */
	make_on(rules, "r int - r1 9 0\ns int - - 1 1,2,3\na int r1 - 1 fp0,fp1\nt int - - 1 1,2,3\n"
		       "b int r1 - 1 fp0,fp1\nc int r1 - 1 fp0\ne int r1 - 1 fp0\nd int - - 1 3\n");
	m.c.port_binding = GUS_CORE_BIND_TURNS;
	m.c.rs_int = 100;
	m.c.rs_int_port = 2;
	run();
	assert_int_equal(port_of(1), 1);
	assert_int_equal(port_of(3), 2);
	assert_int_equal(dispatched(7), 2);
	drop();
}

/* Dispatch. */

/* c, older than d, has its operand later than d has: d goes first. Of e and f, which wait for the same, the older. */
static void the_oldest_that_is_ready(void **state)
{
	(void)state;
	make("a int - r1 9 0\nb int - r2 4 2\nc int r1 - 1 1\nd int r2 - 1 1\ne int r1 - 1 1\nf int r1 - 1 1\n");
	run();
	assert_int_equal(dispatched(0), 1);
	assert_int_equal(dispatched(1), 1);
	assert_int_equal(dispatched(2), 10);
	assert_int_equal(dispatched(3), 5);
	assert_int_equal(dispatched(4), 11);
	assert_int_equal(dispatched(5), 12);
	drop();
}

/* Ports are asked once, the lowest first: who reads what took no time goes in the same cycle on a higher one. */
static void results_that_take_no_time(void **state)
{
	(void)state;
	make("a int - r1 0 3\nb int r1 r2 1 5\nc int r1 r3 1 2\n");
	run();
	assert_int_equal(dispatched(0), 1);
	assert_int_equal(dispatched(1), 1);
	assert_int_equal(dispatched(2), 2);
	drop();
}

/* A divider that is busy for ten cycles; additions on the same port pass by. Completed is dispatched and latency. */
static void units_and_ports_that_are_kept(void **state)
{
	(void)state;
	make("a div - r1 12 0 10\nb div - r2 12 0 10\nc int - r3 1 0\nd int - r4 0 0\ne div - r5 12 0 10\n");
	run();
	assert_int_equal(dispatched(0), 1);
	assert_int_equal(dispatched(1), 11);
	assert_int_equal(dispatched(2), 2);
	assert_int_equal(dispatched(3), 3);
	assert_int_equal(dispatched(4), 21);
	assert_int_equal(m.event[1].completed, 23);
	assert_int_equal(m.event[2].completed, 3);
	assert_int_equal(m.event[3].completed, 3);
	assert_int_equal(m.r.dispatched[0], 5);
	assert_int_equal(m.r.slots, 5);
	drop();
	/* Who has a choice keeps the port: both for three cycles. */
	make("a load rsi x1 4 2,3 3\nb load rsi x1 4 2,3 3\nc int - r3 1 2\nd int - r3 1 3\n");
	run();
	assert_int_equal(dispatched(0), 1);
	assert_int_equal(dispatched(1), 1);
	assert_int_equal(dispatched(2), 4);
	assert_int_equal(dispatched(3), 4);
	drop();
	/* A port that is kept does not keep those behind it. */
	make("a load rsi x1 4 2,3 9\nb int - r1 1 5\nc int r1 r1 1 5\nd int r1 r1 1 6\n");
	run();
	assert_int_equal(dispatched(2), 2);
	assert_int_equal(dispatched(3), 3);
	drop();
	/* No figure is one cycle. */
	make("a int - r1 1 1\nb int - r1 1 1\n");
	m.p->uops[0].port_cycles = 0;
	run();
	assert_int_equal(dispatched(0), 1);
	assert_int_equal(dispatched(1), 2);
	drop();
}

/* A unit behind ports 0 to 2, busy for ten cycles with the first uop: then it is the older one's turn, though the
 * younger one's port is asked first. */
static void a_unit_of_several_ports(void **state)
{
	static const struct { const char *what, *between; unsigned older, younger; } cases[] = {
		{ "both are there", "", 11, 21 },
		{ "the older one's port is kept", "k load rsi x1 4 2,4 15\n", 21, 11 },
		{ "the older one's port has an older uop, ready in that cycle", "k int - r5 10 3\nw int r5 - 1 2\n",
		  21, 11 },
		{ "which is ready a cycle before", "k int - r5 9 3\nw int r5 - 1 2\n", 11, 21 },
		{ "which waits for another unit", "k div - r6 12 4 50\nw div - r7 12 2 10\n", 11, 21 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[256];
		uint32_t n;

		snprintf(text, sizeof(text), "f div - r1 12 0 10\n%so div - r2 12 2 10\ny div - r3 12 1 10\n",
			 cases[i].between);
		make(text);
		n = m.p->uops_n;
		m.p->uops[n - 2].unit = m.p->uops[n - 1].unit = m.p->uops[0].unit;
		if (n == 5)
			m.p->uops[2].unit = m.p->uops[2].unit ? m.p->uops[1].unit : 0;
		m.c.issue_width = 8;
		run();
		if (dispatched(n - 2) != cases[i].older || dispatched(n - 1) != cases[i].younger)
			fail_msg("%s: the older in %d, the younger in %d", cases[i].what, (int)dispatched(n - 2),
				 (int)dispatched(n - 1));
		drop();
	}
}

/* Waiting. */

/* Times around a turn of the wheel of times, which has 2048 cycles, and several turns away. */
static void long_latencies(void **state)
{
	static const unsigned latencies[] = { 0, 1, 2, 2045, 2046, 2047, 2048, 2049, 4095, 4096, 9999 };

	(void)state;
	for (size_t i = 0; i < sizeof(latencies) / sizeof(*latencies); i++) {
		char text[128];

		snprintf(text, sizeof(text), "a int - r1 %u 1\nb int r1 r2 1 2\nc int r2 r3 1 1\n", latencies[i]);
		make(text);
		run();
		assert_int_equal(dispatched(0), 1);
		assert_int_equal(dispatched(1), 1 + latencies[i]);
		assert_int_equal(dispatched(2), 2 + latencies[i]);
		drop();
	}
}

/* An input that is needed late (the addend of a multiplication and addition): the uop goes so many cycles sooner,
 * but not before what it needs at once is there, and not before the cycle behind its issue. */
static void late_operands(void **state)
{
	static const struct { int late; uint64_t consumer; } cases[] = {
		{ 0, 11 }, { 1, 10 }, { 4, 7 }, { 5, 6 }, { 6, 6 }, { 9, 6 }, { 20, 6 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		make("a mul - r1 10 0\nb int - r2 5 1\nc fma r1,r2 r3 4 2\n");
		m.p->flows[m.p->uops[2].in].cycles = (int16_t)cases[i].late;
		run();
		if (dispatched(2) != cases[i].consumer)
			fail_msg("%d late: cycle %u", cases[i].late, (unsigned)dispatched(2));
		drop();
	}
	/* The same where the producer has gone before the consumer is issued: cycle 1 and 3. */
	make("a mul - r1 10 0\nf1 int - - 1 3\nf2 int - - 1 3\nf3 int - - 1 3\nf4 int - - 1 4\nf5 int - - 1 4\n"
	     "f6 int - - 1 4\nf7 int - - 1 4\nf8 int - - 1 5\nf9 int - - 1 5\n"
	     "f10 int - - 1 5\nf11 int - - 1 5\nc fma r1 r3 4 2\n");
	m.p->flows[m.p->uops[12].in].cycles = 3;
	run();
	assert_int_equal(issued(12), 3);
	assert_int_equal(dispatched(12), 1 + 10 - 3);
	drop();
}

/* Both producers have gone when their reader is issued: it waits for the later, in whatever order it names them. */
static void two_producers_that_have_gone(void **state)
{
	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		char text[256];

		snprintf(text, sizeof(text), "a int - r1 40 1\nb int - r2 2 2\n1 int - - 1 3\n2 int - - 1 3\n"
			 "3 int - - 1 4\n4 int - - 1 4\n5 int - - 1 5\n6 int - - 1 5\nc int %s - 1 6\n",
				swapped ? "r2,r1" : "r1,r2");
		make(text);
		run();
		assert_int_equal(issued(8), 2);
		assert_int_equal(dispatched(8), 41);
		drop();
	}
}

/* Two results of one uop that come at different times: who reads both waits for the later, in whatever order it
 * names them. */
static void two_results(void **state)
{
	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		make(swapped ? "a int - r1,flags 1 0\nb int flags,r1 - 1 1\n" :
			       "a int - r1,flags 1 0\nb int r1,flags - 1 1\n");
		m.p->flows[m.p->uops[0].out].cycles = 7;
		run();
		assert_int_equal(dispatched(1), 8);
		drop();
	}
}

/* What comes next: op 0, then 1 so many times, then 2 and so on to the last. */
struct sequence { unsigned at, times, ops; };

static bool next_of_sequence(void *context, struct gus_core_step *step)
{
	struct sequence *s = context;

	if (s->at == s->times + s->ops - 1)
		return false;
	*step = (struct gus_core_step){ .op = s->at == 0 ? 0 : s->at <= s->times ? 1 : s->at - s->times + 1 };
	s->at++;
	step->last = s->at == s->times + s->ops - 1;
	return true;
}

/* A port passes by all that wait for its divider, however many they are: those that are ready are kept 64 a word. */
static void many_wait_for_a_unit(void **state)
{
	static const unsigned waiting[] = { 4, 61, 62, 63, 64, 126, 127, 190 };

	(void)state;
	for (size_t i = 0; i < sizeof(waiting) / sizeof(*waiting); i++) {
		struct sequence s = { 0, waiting[i], 3 };
		const struct gus_core_source source = { &s, next_of_sequence };
		size_t last = waiting[i] + 1;

		make("a div - r1 12 0 100\nb div - r2 12 0 100\nc int - r3 1 0\n");
		m.o.source = &source;
		run();
		assert_int_equal(m.event[last].op, 2);
		assert_int_equal(dispatched(last), issued(last) + 1);
		assert_int_equal(dispatched(last - 1), 1 + 100 * waiting[i]);
		drop();
	}
}

/* With a ROB of 8 the ring has 128 uops. The writer of r9 is uop 0; uop 128, which lies where it lay, waits for a
 * root of 50 cycles, and 129 reads r9: it waits for nobody. */
static void producers_of_long_ago(void **state)
{
	struct sequence s = { 0, 126, 5 };
	const struct gus_core_source source = { &s, next_of_sequence };

	(void)state;
	make("a int - r9 1 0\nb int - - 1 1\nc int - r1 50 0\nd int r1 r2 1 3\ne int r9 - 1 4\n");
	m.c.rob = 8;
	m.o.source = &source;
	run();
	assert_int_equal(m.events_n, 130);
	assert_int_equal(m.event[127].op, 2);
	assert_int_equal(dispatched(128), dispatched(127) + 50);
	assert_int_equal(dispatched(129), issued(129) + 1);
	drop();
}

/* Issue. */

/* A root holds up retirement until cycle 101; those behind it take entries of one buffer and are done long before.
 * So many as it has are issued at once, the next one in the cycle behind that in which the first of them retires. */
static void each_buffer_ends(void **state)
{
	static const struct {
		const char *setting, *line;     /* line: without its ID */
		unsigned size, fit;             /* fit: of the line, beside the root */
		enum gus_core_reason reason;
	} cases[] = {
		{ "rob", "nop - - - -", 6, 5, GUS_CORE_ROB },
		{ "branch_buffer", "jne flags - 1 6", 5, 5, GUS_CORE_BRANCH_BUFFER },
		{ "load_buffer", "load rsi x1 4 2,3", 5, 5, GUS_CORE_LOAD_BUFFER },
		{ "store_buffer", "store rsi;x1 - 1+1 2,3+4", 5, 5, GUS_CORE_STORE_BUFFER },
		{ "int_renames", "int - r2 1 1", 5, 5, GUS_CORE_REGISTERS },
		{ "int_renames", "int - r2,r3 1 1", 5, 2, GUS_CORE_REGISTERS },
		{ "vector_renames", "add - x2 1 1", 6, 5, GUS_CORE_REGISTERS },
		{ "mask_renames", "add - k2 1 1", 5, 5, GUS_CORE_REGISTERS },
		{ "renames", "add - k2 1 1", 6, 5, GUS_CORE_REGISTERS },
		{ "renames", "int - r2 1 1", 6, 5, GUS_CORE_REGISTERS },
		{ "renames", "int - r2,k2 1 1", 6, 2, GUS_CORE_REGISTERS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[1024];
		int n = snprintf(text, sizeof(text), "root sqrt - x0 100 0\n");
		uint64_t stopped = 0;
		struct gus_error err = { 0 };

		for (unsigned k = 0; k < 10; k++)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "%u %s\n", k, cases[i].line);
		make(text);
		assert_int_equal(gus_core_config_set(&m.c, cases[i].setting, cases[i].size, &err), 0);
		run();
		for (size_t k = 0; k < m.events_n; k++)
			if (m.event[k].op && (m.event[k].issued < 90) != (m.event[k].op <= cases[i].fit))
				fail_msg("%s %u: op %u is issued in cycle %u", cases[i].setting, cases[i].size,
					m.event[k].op,
					 (unsigned)m.event[k].issued);
		for (size_t k = 0; k < m.cycles_n; k++)
			stopped += m.cycle[k].cycle >= 10 && m.cycle[k].cycle <= 101 &&
				m.cycle[k].stop == cases[i].reason;
		assert_int_equal(stopped, 92);
		for (size_t k = 0; k < m.events_n; k++)
			if (m.event[k].op == cases[i].fit + 1 || m.event[k].op == cases[i].fit + 2)
				assert_int_equal(m.event[k].issued, 102); /* two of them retire with the root */
		drop();
	}
}

/* Entries of the schedulers are free with the dispatch, in the next cycle. The root takes none here; four that wait
 * for it fill a scheduler of four. Those of another scheduler go on. */
static void schedulers_end(void **state)
{
	static const char rules[] = "uarch test isa x86-64 \"schedulers of their own\"\nlike ufs-haswell\n"
				    "source test \"made up\"\nport alu0 test\nport fp0 test\nport agu0 test\n";
	static const struct { const char *setting, *kind, *other; } cases[] = {
		{ "rs_int", "alu0", "fp0" }, { "rs_int", "p1", "agu0" }, { "rs_vector", "fp0", "agu0" },
		{ "rs_memory", "agu0", "alu0" }, { "rs", "alu0", NULL }, { "rs", "agu0", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *other = cases[i].other ? cases[i].other : cases[i].kind;
		char text[512];
		struct gus_error err = { 0 };

		/* The root is dispatched in 1, when it is alone; then come the four, one of another kind, the fifth. */
		snprintf(text, sizeof(text), "root int - r1 30 %s\n1 int - - 1 %s\n2 int - - 1 %s\n3 int - - 1 %s\n"
			 "4 int r1 - 1 %s\n5 int r1 - 1 %s\n6 int r1 - 1 %s\n7 int r1 - 1 %s\n8 int - - 1 %s\n"
			 "9 int r1 - 1 %s\n",
			 cases[i].kind, other, other, other, cases[i].kind, cases[i].kind, cases[i].kind,
				cases[i].kind, other,
			 cases[i].kind);
		make_on(rules, text);
		assert_int_equal(gus_core_config_set(&m.c, cases[i].setting, 4, &err), 0);
		m.c.issue_width = 1;
		run();
		/* Waiting ones are dispatched from 31 on, and each leaves room for the next cycle. */
		for (size_t k = 4; k < 8; k++)
			assert_int_equal(issued(k), k);
		assert_int_equal(dispatched(4), 31);
		if (cases[i].other) {
			assert_int_equal(issued(8), 8);
			assert_int_equal(issued(9), 32);
		} else {
			assert_int_equal(issued(8), 32);
		}
		assert_int_equal(m.cycle[20].stop, GUS_CORE_RS);
		if (strcmp(cases[i].setting, "rs") == 0) {
			assert_int_equal(m.cycle[1].free_rs, 3);
			assert_int_equal(m.cycle[20].free_rs, 0);
			assert_int_equal(m.cycle[32].free_rs, 1);
		}
		drop();
	}
}

/* A load with its operation is one slot and two entries of the scheduler, a store as well; also where it has parts. */
static void fused_uops_take_two_entries(void **state)
{
	static const char rules[] = "uarch test isa x86-64 \"schedulers of their own\"\nlike ufs-haswell\n"
				    "source test \"made up\"\nport agu0 test\nport agu1 test\n"
				    "port fp0 test\nport fp1 test\n";
	static const struct { const char *setting, *ports; } parts[] = {
		{ "rs_memory", "agu0+agu1" }, { "rs_vector", "fp0+fp1" }, { "rs_int", "p1+p2" }, { "rs", "agu0+p1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		for (unsigned size = 3; size <= 4; size++) {
			struct gus_error err = { 0 };
			char text[256];

			snprintf(text, sizeof(text),
				"root int - rsi 30 p0\na store rsi;rsi - 1+1 %s\nb store rsi;rsi - 1+1 %s\n",
				 parts[i].ports, parts[i].ports);
			make_on(rules, text);
			assert_int_equal(gus_core_config_set(&m.c, parts[i].setting, size, &err), 0);
			m.c.issue_width = 1;
			run();
			assert_int_equal(issued(1), 1);
			assert_int_equal(issued(3), size == 4 ? 2 : 32);
			drop();
		}
	for (unsigned size = 3; size <= 4; size++) {
		make("root int - rsi 30 0\na load+add rsi;x1 x2 4+3 2,3+1\nb load+add rsi;x1 x2 4+3 2,3+1\n");
		assert_int_equal(m.p->ops[1].slots, 1);
		m.c.rs = size;
		m.c.issue_width = 1;
		run();
		/* The first waits in 1; the second fits beside it, or comes when the first one's load went in 31. */
		assert_int_equal(issued(1), 1);
		assert_int_equal(dispatched(1), 31);
		assert_int_equal(dispatched(2), 35);
		assert_int_equal(issued(3), size == 4 ? 2 : 32);
		drop();
	}
}

/* What needs more entries than there are gets them when there is nobody else; what needs none passes even then. */
static void a_slot_larger_than_the_scheduler(void **state)
{
	(void)state;
	make("a load+add rsi;x1 x2 4+3 2,3+1\nb nop - - - -\nc int - - 1 1\n");
	m.c.rs = 1;
	run();
	assert_int_equal(issued(0), 0);
	assert_int_equal(issued(2), 0);
	assert_int_equal(issued(3), 6); /* the addition is dispatched in 5 */
	drop();
}

/* More stores in flight than the engine keeps (1024, less what one op may add) stop issue as a full buffer does. */
/* Microcode: its uops leave one by one, as it would wait for itself else. */
static void an_op_larger_than_the_rob(void **state)
{
	(void)state;
	make("a load+vadd rsi,rdi;x1,x3 x2 4+3 2,3+1\nb int - - 1 1\n");
	m.c.rob = 1;
	run();
	assert_int_equal(issued(0), 0);
	assert_int_equal(issued(1), 6);  /* the word is there in 5, and its entry free behind that */
	assert_int_equal(issued(2), 11);
	drop();
	/* One that has just room keeps all until it ends: the addition retires in 8. */
	make("a load+vadd rsi,rdi;x1,x3 x2 4+3 2,3+1\nb int - - 1 1\n");
	m.c.rob = 2;
	run();
	assert_int_equal(issued(1), 0);
	assert_int_equal(issued(2), 9);
	drop();
}

static void stores_without_end(void **state)
{
	struct sequence s = { 0, 1100, 2 };
	const struct gus_core_source source = { &s, next_of_sequence };
	size_t early = 0;

	(void)state;
	make("root sqrt - x0 1000 0\nst store rsi;x1 - 1+1 2,3+4\n");
	m.o.source = &source;
	run();
	for (size_t k = 1; k < m.events_n; k += 2)
		early += m.event[k].issued < 1001;
	assert_int_equal(early, 1024 - 4);
	assert_int_equal(m.r.stop[GUS_CORE_STORE_BUFFER] > 700, 1);
	drop();
}

/* Nor are there more than 4095 slots, however many a ROB without end would take. */
static void slots_without_end(void **state)
{
	struct sequence s = { 0, 4500, 2 };
	const struct gus_core_source source = { &s, next_of_sequence };
	size_t early = 0;

	(void)state;
	make("root sqrt - x0 2000 0\nn nop - - - -\n");
	m.o.source = &source;
	run();
	for (size_t k = 0; k < m.events_n; k++)
		early += m.event[k].issued < 2001;
	assert_int_equal(early, 4095);
	assert_int_equal(m.events_n, 4501);
	drop();
}

/* An idiom makes its register anew: who reads it does not wait for the root. It and the nop need no port, complete
 * when they are issued and retire a cycle later. */
static void idioms_need_nobody(void **state)
{
	(void)state;
	make("a int - r1 30 0\nb nop - r1 - -\nc int r1 - 1 1\nd nop - - - -\n");
	run();
	assert_int_equal(port_of(1), -1);
	assert_int_equal(dispatched(2), 1);
	assert_int_equal(m.event[3].completed, 0);
	drop();
	make("d nop - - - -\n");
	run();
	assert_int_equal(m.event[0].retired, 1);
	assert_int_equal(m.r.cycles, 2);
	drop();
}

/* Turns op n into a move that the renamer may do, of its first input to its first output. */
static void may_be_eliminated(unsigned n)
{
	struct gus_op *op = &m.p->ops[n];

	op->flags |= GUS_OP_ELIMINATED;
	op->move_from = m.p->flows[m.p->uops[op->uop].in].reg;
	op->move_to = m.p->flows[m.p->uops[op->uop].out].reg;
}

/* Two slots for registers with several names; what is done by the renamer has no port. */
static void eliminated_moves(void **state)
{
	static const struct { const char *line; bool move, eliminated; } ops[] = {
		{ "mov r1 r2 1 1", true, true },        /* r1 r2 */
		{ "mov r2 r3 1 1", true, true },        /* r1 r2 r3: still one register */
		{ "mov r4 r5 1 1", true, true },        /* and r4 r5: two */
		{ "mov r6 r7 1 1", true, false },       /* a third is one too many */
		{ "mov r3 r8 1 1", true, true },        /* another name of the first is not */
		{ "mov r9 r9 1 1", true, true },        /* nor is one to itself */
		{ "int r0 r2 1 1", false, false },      /* r1 r3 r8 */
		{ "int r0 r2 1 1", false, false },      /* r2 is not among them any more */
		{ "int r0 r3 1 1", false, false },      /* r1 r8 */
		{ "mov r6 r7 1 1", true, false },       /* so there are still two */
		{ "int r0 r1 1 1", false, false },      /* r8 alone */
		{ "mov r6 r7 1 1", true, true },        /* and r6 r7 */
		{ "mov r0 r10 1 1", true, false },
		{ "mov r6 r5 1 1", true, true },        /* r5 is no name of r4 any more, but of r6 */
		{ "mov r0 r10 1 1", true, true },
		{ "mov r4 r11 1 1", true, false },
	};
	char text[1024];
	int n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%zu %s\n", i, ops[i].line);
	make(text);
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (ops[i].move)
			may_be_eliminated((unsigned)i);
	m.c.move_elimination_slots = 2;
	run();
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if ((port_of(i) < 0) != ops[i].eliminated)
			fail_msg("%zu (%s) takes port %d", i, ops[i].line, port_of(i));
	drop();
}

/* Without a figure there are slots for all, and moves that have no uop to execute need none. */
static void moves_without_slots(void **state)
{
	(void)state;
	make("a mov r1 r2 1 1\nb mov r3 r4 1 1\nc mov r5 r6 1 1\n");
	for (unsigned i = 0; i < 3; i++)
		may_be_eliminated(i);
	run();
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(port_of(i), -1);
	drop();
	make("a nop r1 r2 - -\nb nop r3 r4 - -\n");
	m.c.move_elimination_slots = 1;
	run();
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(port_of(i), -1);
	drop();
}

/* Who reads the copy waits for the producer of the original, no cycle more; also what the move writes besides. */
static void an_eliminated_move_waits_for_its_source(void **state)
{
	(void)state;
	for (unsigned eliminated = 0; eliminated < 2; eliminated++) {
		make("a int - r1 20 0\nb int - r2 40 2\nc mov r1 r2,flags 1 1\nd int r2 - 1 3\ne int flags - 1 4\n"
		     "f int r1 r1 1 5\ng int r2 - 1 6\n");
		if (eliminated)
			may_be_eliminated(2);
		run();
		assert_int_equal(dispatched(3), eliminated ? 21 : 22);
		assert_int_equal(dispatched(4), eliminated ? 21 : 22);
		assert_int_equal(dispatched(5), 21);
		assert_int_equal(dispatched(6), eliminated ? 21 : 22);
		drop();
	}
}

/* One slot. What the move writes besides its destination is no name of the register: r1 and r2 are. */
static void flags_are_no_name(void **state)
{
	(void)state;
	make("a mov r1 r2,flags 1 1\nb int - r2 1 2\nc mov r3 r4 1 1\nd mov r5 r6 1 1\n");
	may_be_eliminated(0);
	may_be_eliminated(2);
	may_be_eliminated(3);
	m.c.move_elimination_slots = 1;
	run();
	assert_int_equal(port_of(0), -1);
	assert_int_equal(port_of(2), -1);
	assert_int_equal(port_of(3), 1);
	drop();
}

/* What stops issue until it is done. */

static bool always(void *context, uint32_t op, uint64_t iteration)
{
	(void)context;
	(void)op;
	(void)iteration;
	return true;
}

/* The branch is dispatched in 6, done in 7, and the right path comes 15 cycles later. It retires in 7, so that what
 * is empty in 8 to 21 is so for its sake; in 22 issue goes on, in 24 the last retires. */
static void mispredicted_branches(void **state)
{
	const struct gus_core_branch branch = { NULL, always };

	(void)state;
	make("r int - flags 5 0\nj jne flags - 1 6\nc int - - 1 1\n");
	m.o.branch = &branch;
	m.c.mispredict_penalty = 15;
	run();
	assert_int_equal(m.event[1].completed, 7);
	assert_int_equal(issued(2), 22);
	assert_int_equal(m.r.stop[GUS_CORE_MISPREDICT], 22);
	assert_int_equal(m.r.commit[GUS_COMMIT_FLUSHED], 14);
	assert_int_equal(m.r.commit[GUS_COMMIT_DRAINED], 2);
	assert_int_equal(m.cycle[8].op, 2); /* what is to come */
	drop();
	/* A branch that no port executes is done when it is issued. */
	make("j jne flags - 1 6\nc int - - 1 1\n");
	m.o.branch = &branch;
	m.c.mispredict_penalty = 15;
	m.p->uops[0].ports = 0;
	run();
	assert_int_equal(issued(1), 15);
	drop();
}

/* A serialising op is issued when all before it has retired, in 21, and is done in 25: then the next is. */
static void serialising_ops(void **state)
{
	(void)state;
	make("r int - r1 20 0\ns int - r2 3 1\nc int - - 1 1\n");
	m.p->ops[1].flags |= GUS_OP_SERIALISING;
	m.c.mispredict_penalty = 15;
	run();
	assert_int_equal(issued(1), 21);
	assert_int_equal(m.event[1].completed, 25);
	assert_int_equal(issued(2), 25);
	assert_int_equal(m.r.stop[GUS_CORE_SERIALISED], 25);
	assert_int_equal(m.r.commit[GUS_COMMIT_FLUSHED], 0);
	drop();
}

/* The end of an iteration ends the group that is issued, where it is in the way. */
static void ends_of_iterations(void **state)
{
	(void)state;
	for (unsigned boundary = 0; boundary < 2; boundary++) {
		make("a nop - - - -\nb nop - - - -\nc nop - - - -\n");
		m.o.fetch = GUS_CORE_FETCH_LOOP;
		m.o.iterations = 4;
		m.c.loop_boundary = boundary;
		run();
		assert_int_equal(issued(3), boundary ? 1 : 0);
		assert_int_equal(issued(11), boundary ? 3 : 2);
		assert_int_equal(m.r.stop[GUS_CORE_BOUNDARY], boundary ? 4 : 0);
		drop();
	}
}

/* Retirement and what is told of cycles. */

/* Ten nops are issued four a cycle and retire three a cycle, the first in the cycle behind its issue. */
static void widths(void **state)
{
	static const uint64_t issue[] = { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2 }, retire[] = { 1, 1, 1, 2, 2, 2, 3, 3, 3, 4 };

	(void)state;
	make("0 nop - - - -\n1 nop - - - -\n2 nop - - - -\n3 nop - - - -\n4 nop - - - -\n5 nop - - - -\n6 nop - - - -\n"
	     "7 nop - - - -\n8 nop - - - -\n9 nop - - - -\n");
	m.c.retire_width = 3;
	run();
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(issued(i), issue[i]);
		assert_int_equal(m.event[i].retired, retire[i]);
	}
	assert_int_equal(m.r.slots, 10);
	assert_int_equal(m.r.cycles, 5);
	assert_int_equal(m.r.stop[GUS_CORE_NOTHING], 2);
	assert_int_equal(m.r.stop[GUS_CORE_FRONT_END], 3);
	assert_int_equal(m.r.commit[GUS_COMMIT_DRAINED], 1); /* cycle 0: nothing was there to retire */
	assert_int_equal(m.r.commit[GUS_COMMIT_COMPUTE], 4);
	for (size_t i = 0; i < m.cycles_n; i++)
		assert_int_equal(m.cycle[i].stall, GUS_CORE_NOTHING); /* something retires, or there is nothing */
	/* The oldest at the end of each cycle; of the last there is none. */
	assert_int_equal(m.cycle[0].op, 0);
	assert_int_equal(m.cycle[1].op, 3);
	assert_int_equal(m.cycle[3].op, 9);
	assert_int_equal(m.cycle[4].op, UINT32_MAX);
	assert_int_equal(m.cycle[4].iteration, 0);
	assert_int_equal(m.cycle[4].retired, 1);
	assert_int_equal(m.cycle[1].free_rob + m.cycle[1].free_rs, 0); /* of buffers without end nothing is told */
	drop();
}

/* The delay between issue and dispatch. */
static void issue_delay(void **state)
{
	(void)state;
	for (unsigned delay = 1; delay < 4; delay++) {
		make("a int - r1 1 1\nb int r1 r1 1 1\n");
		m.c.issue_delay = delay;
		run();
		assert_int_equal(dispatched(0), delay);
		assert_int_equal(dispatched(1), delay + 1);
		drop();
	}
}

static void far_away(void *context, const struct gus_core_access *access, enum gus_hit *level, enum gus_tlb *tlb)
{
	(void)context;
	(void)access;
	*level = GUS_HIT_L2;
	*tlb = GUS_TLB_HIT;
}

/* Why the oldest does not retire: it runs, it waits for its port, its operand comes later than its producer was
 * complete, its line is not in L1. */
static void why_it_stalls(void **state)
{
	const struct gus_core_memory memory = { NULL, far_away, NULL };

	(void)state;
	make("a div - r1 8 0 8\nb div - r1 8 0 8\n");
	run();
	assert_int_equal(m.cycle[5].state, GUS_COMMIT_STALLED);
	assert_int_equal(m.cycle[5].stall, GUS_CORE_EXECUTION);
	assert_int_equal(m.cycle[8].stall, GUS_CORE_EXECUTION);
	drop();
	/* b waits behind a for five cycles: a is done after one. */
	make("a int - r1 1 2\nb int - r2 1 2\n");
	m.p->uops[0].port_cycles = 6;
	run();
	assert_int_equal(m.event[0].retired, 2);
	assert_int_equal(m.cycle[4].stall, GUS_CORE_EXECUTION);
	assert_int_equal(m.cycle[4].op, 1);
	assert_int_equal(dispatched(1), 7);
	drop();
	make("a int - r1 1 2\nb int r1 r2 1 3\n");
	m.p->flows[m.p->uops[0].out].cycles = 10;
	run();
	assert_int_equal(dispatched(1), 11);
	assert_int_equal(m.cycle[4].stall, GUS_CORE_OPERAND);
	assert_int_equal(m.cycle[10].stall, GUS_CORE_OPERAND);
	assert_int_equal(m.cycle[11].stall, GUS_CORE_EXECUTION);
	drop();
	make("a load rsi r1 4 2\nb int r1 - 20 3\n");
	m.o.memory = &memory;
	run();
	assert_int_equal(m.cycle[3].stall, GUS_CORE_MEMORY);
	assert_int_equal(dispatched(1), 1 + m.c.l2_latency);
	assert_int_equal(m.cycle[m.c.l2_latency + 5].stall, GUS_CORE_EXECUTION);
	drop();
}

static void forget(void *context)
{
	(void)context;
}

/* The steady state, from now to eternity: so many cycles for so many iterations, by argument, and all counts are of
 * these. Most take several iterations to come back to the same state. */
static void steady_states(void **state)
{
	static const struct {
		const char *what, *text, *setting;
		uint32_t value;
		uint64_t cycles, iterations;
	} cases[] = {
		{ "five slots, four a cycle",
		  "a nop - - - -\nb nop - - - -\nc nop - - - -\nd nop - - - -\ne nop - - - -\n", "rob", 20, 5, 4 },
		{ "three uops on two ports", "a int - - 1 1,2\nb int - - 1 1,2\nc int - - 1 1,2\n", "rob", 20, 3, 2 },
		{ "the same in turn", "a int - - 1 1,2\nb int - - 1 1,2\nc int - - 1 1,2\n", "port_binding", 1, 3, 2 },
		{ "two uops on three ports", "a int - - 1 1,2,3\nb int - - 1 1,2,3\n", "port_binding", 1, 2, 3 },
		{ "a chain", "a int r1 r1 3 1\nb int r1 r1 4 2\n", "rs", 10, 7, 1 },
		{ "a divider", "a div - r1 20 0 7\nb div - r2 20 0 7\nc int - - 1 0\n", "rs", 10, 14, 1 },
		{ "a port that is kept", "a load rsi x1 4 2,3 3\nb load rsi x1 4 2,3 3\nc load rsi x1 4 2,3 3\n",
		  "rob", 12, 9, 2 },
		{ "one at a time", "a int - r1 6 1\n", "rob", 1, 8, 1 },
		{ "two at a time", "a int - r1 6 1\n", "rob", 2, 8, 2 },
		{ "a store a cycle", "a store rsi;r1 - 1+1 2+4\nb store rdi;r1 - 1+1 3+5\n", "l1d_stores", 1, 2, 1 },
		{ "a serialising op", "a int - r1 6 1\nb nop - - - -\n", "issue_width", 4, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };
		uint64_t uops = 0, expected = cases[i].cycles, per = cases[i].iterations;

		make(cases[i].text);
		m.c.rob = 64; /* the machine ends somewhere, or the front end would run ever farther ahead */
		m.c.store_buffer = 20;
		m.c.l1d_stores = 0;
		assert_int_equal(gus_core_config_set(&m.c, cases[i].setting, cases[i].value, &err), 0);
		if (!per) {
			/* Dispatched a cycle behind its issue, done in six more, and the nop comes in that cycle; both
			 * retire in the next, in which the op is issued again. */
			m.p->ops[0].flags |= GUS_OP_SERIALISING;
			expected = 8;
			per = 1;
		}
		m.o.listener = NULL;
		m.o.iterations = 0;
		run();
		if (!m.r.periodic || m.r.steady_cycles * per != m.r.steady_iterations * expected)
			fail_msg("%s: %u cycles for %u iterations", cases[i].what, (unsigned)m.r.steady_cycles,
				 (unsigned)m.r.steady_iterations);
		for (unsigned p = 0; p < m.p->ports_n; p++)
			uops += m.r.dispatched[p];
		for (uint32_t n = 0; n < m.p->uops_n; n++)
			uops -= m.p->uops[n].ports ? m.r.steady_iterations : 0;
		assert_int_equal(uops, 0);
		drop();
	}
}

/* What cannot run. */
static void refused(void **state)
{
	struct gus_core_memory memory = { NULL, far_away, NULL };
	struct gus_error err = { 0 };

	(void)state;
	make("a int - r1 1 7\n");
	m.p->ports_n = 8;
	assert_int_equal(gus_core_run(m.p, &m.c, &m.o, &m.r, &err), 0);
	m.p->uops[0].ports = 1 << 8;
	assert_int_equal(gus_core_run(m.p, &m.c, &m.o, &m.r, &err), -1);
	assert_non_null(strstr(err.text, "uop 0"));
	m.p->uops[0].ports = 1;
	m.o.memory = &memory;
	m.o.iterations = 0;
	m.o.listener = NULL;
	assert_int_equal(gus_core_run(m.p, &m.c, &m.o, &m.r, &err), 0);
	/* Answers that depend on those before are never the same again. */
	memory.begin = forget;
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_core_run(m.p, &m.c, &m.o, &m.r, &err), -1);
	assert_non_null(strstr(err.text, "number of iterations"));
	m.p->ops_n = 0;
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_core_run(m.p, &m.c, &m.o, &m.r, &err), -1);
	assert_non_null(strstr(err.text, "empty"));
	m.p->ops_n = 1;
	drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_by_policy),
		cmocka_unit_test(ports_by_slot_with_others_waiting),
		cmocka_unit_test(ports_by_rank_with_others_waiting),
		cmocka_unit_test(unbound_ports_take_from_each_other),
		cmocka_unit_test(unbound_ports_keep_to_their_kind),
		cmocka_unit_test(integer_ports_in_turn),
		cmocka_unit_test(narrow_choices_take_no_turns),
		cmocka_unit_test(vector_ports_take_no_turns),
		cmocka_unit_test(the_oldest_that_is_ready),
		cmocka_unit_test(results_that_take_no_time),
		cmocka_unit_test(units_and_ports_that_are_kept),
		cmocka_unit_test(a_unit_of_several_ports),
		cmocka_unit_test(long_latencies),
		cmocka_unit_test(late_operands),
		cmocka_unit_test(two_producers_that_have_gone),
		cmocka_unit_test(two_results),
		cmocka_unit_test(many_wait_for_a_unit),
		cmocka_unit_test(producers_of_long_ago),
		cmocka_unit_test(each_buffer_ends),
		cmocka_unit_test(schedulers_end),
		cmocka_unit_test(fused_uops_take_two_entries),
		cmocka_unit_test(a_slot_larger_than_the_scheduler),
		cmocka_unit_test(an_op_larger_than_the_rob),
		cmocka_unit_test(stores_without_end),
		cmocka_unit_test(slots_without_end),
		cmocka_unit_test(idioms_need_nobody),
		cmocka_unit_test(eliminated_moves),
		cmocka_unit_test(moves_without_slots),
		cmocka_unit_test(an_eliminated_move_waits_for_its_source),
		cmocka_unit_test(flags_are_no_name),
		cmocka_unit_test(mispredicted_branches),
		cmocka_unit_test(serialising_ops),
		cmocka_unit_test(ends_of_iterations),
		cmocka_unit_test(widths),
		cmocka_unit_test(issue_delay),
		cmocka_unit_test(why_it_stalls),
		cmocka_unit_test(steady_states),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
