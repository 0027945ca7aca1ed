/* SPDX-License-Identifier: MIT */
/* Tables of uops: which buffers each type takes, when fusion is undone, and what a faulty one is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "made_program.h"
#include "model/code/program.h"
#include "model/code/uoptable.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "symbolizer/insn/insn.h"

static char *read_data(const char *name, size_t *size)
{
	const char *top = getenv("GUS_SRCDIR");
	char path[4096], *text;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/%s", top ? top : ".", name);
	f = fopen(path, "re");
	if (!f)
		return NULL;
	text = calloc(1, 65536);
	*size = fread(text, 1, 65535, f);
	fclose(f);
	return text;
}

/* Palomares 2015, Table 7.8: branch, load, store buffers, registers, ROB, RS (which is a uop each). */
static void what_each_type_takes(void **state)
{
	static const struct {
		const char *line;
		int branch, loads, stores, ints, vectors, rob, uops;
	} cases[] = {
		{ "1 jmp - - 1 5", 1, 0, 0, 0, 0, 1, 1 },
		{ "1 jne flags - 1 5", 1, 0, 0, 0, 0, 1, 1 },
		{ "1 cmp+jle rdx,rax flags 1 5", 1, 0, 0, 1, 0, 1, 1 },
		{ "1 int rax rbx 1 0,1,5", 0, 0, 0, 1, 0, 1, 1 },
		{ "1 int rax rbx,flags 1 0,1,5", 0, 0, 0, 1, 0, 1, 1 },
		{ "1 add x1,x2 x2 3 1", 0, 0, 0, 0, 1, 1, 1 },
		{ "1 load+add rsi;x2 x2 4+3 2,3+1", 0, 1, 0, 0, 1, 2, 2 },
		{ "1 load+int rsi;rax rax 4+1 2,3+0,1,5", 0, 1, 0, 1, 0, 2, 2 },
		{ "1 load rsi rax 4 2,3", 0, 1, 0, 1, 0, 1, 1 },
		{ "1 load rsi,rdi x15 4 2,3", 0, 1, 0, 0, 1, 1, 1 },
		{ "1 nop - - - -", 0, 0, 0, 0, 0, 1, 1 },
		{ "1 nop - rax - -", 0, 0, 0, 1, 0, 1, 1 },
		{ "1 nop - x1 - -", 0, 0, 0, 0, 1, 1, 1 },
		{ "1 store rsi;x8 - 1+3 2,3+4", 0, 0, 1, 0, 0, 2, 2 },
	};
	struct gus_uarch *u = made_table("ufs-sandybridge");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_program *p = made_program_of_uops(u, cases[i].line);
		const struct gus_op *op = p->ops;

		assert_int_equal(p->ops_n, 1);
		assert_int_equal(p->insns_n, 1);
		assert_int_equal((op->flags & GUS_OP_BRANCH) != 0, cases[i].branch);
		assert_int_equal((op->flags & GUS_OP_TAKEN) != 0, cases[i].branch);
		assert_int_equal(op->loads, cases[i].loads);
		assert_int_equal(op->stores, cases[i].stores);
		assert_int_equal(op->results[GUS_REGFILE_INT], cases[i].ints);
		assert_int_equal(op->results[GUS_REGFILE_VECTOR], cases[i].vectors);
		assert_int_equal(op->rob, cases[i].rob);
		assert_int_equal(op->uops_n, cases[i].uops);
		assert_int_equal(op->slots, 1);
		gus_program_free(p);
	}
	gus_uarch_free(u);
}

/* Ivy Bridge keeps fused uops together in the ROB, and gives idioms no registers. */
static void what_ivy_bridge_saves(void **state)
{
	struct gus_uarch *u = made_table("ufs-ivybridge");
	struct gus_program *p = made_program_of_uops(u,
						     "1 load+add rsi;x2 x2 4+3 2,3+1\n2 nop - x1 - -\n3 nop x1 x4 - "
		"-\n4 store rsi;x8 - 1+3 2,3+4\n");

	(void)state;
	assert_int_equal(p->ops[0].rob, 1);
	assert_int_equal(p->ops[1].results[GUS_REGFILE_VECTOR], 0);
	assert_true(p->ops[1].flags & GUS_OP_IDIOM);
	assert_true(p->ops[2].flags & GUS_OP_ELIMINATED);
	assert_int_equal(p->ops[2].move_to, p->flows[p->uops[p->ops[2].uop].out].reg);
	assert_int_equal(p->ops[3].rob, 1);
	assert_int_equal(p->ops[3].slots, 1);
	gus_program_free(p);
	gus_uarch_free(u);
}

/* The thesis' examples: MULPS (%rax),%xmm0; MULPS (%rax,%r10,8),%xmm0; the same with VMULPS and three operands; a store
 * with an indexed address. */
static void where_fusion_is_undone(void **state)
{
	static const char *const lines[] = {
		"1 load+mul rax;x0 x0 4+5 2,3+0", "1 load+mul rax,r10;x0 x0 4+5 2,3+0",
			"1 load+vmul rax,r10;x0 x0 4+5 2,3+0",
		"1 store rsi,rdi;x8 - 1+3 2,3+4",
	};
	static const struct { const char *uarch; int slots[4]; } cases[] = {
		{ "ufs-sandybridge", { 1, 2, 2, 2 } }, { "ufs-ivybridge", { 1, 2, 2, 2 } },
			{ "ufs-haswell", { 1, 1, 2, 1 } },
		{ "skylake", { 1, 1, 1, 1 } },
	};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		struct gus_uarch *u = made_table(cases[c].uarch);

		for (size_t i = 0; i < 4; i++) {
			struct gus_program *p = made_program_of_uops(u, lines[i]);

			if (p->ops[0].slots != cases[c].slots[i])
				fail_msg("%s on %s: %d slots", lines[i], cases[c].uarch, p->ops[0].slots);
			assert_int_equal(p->uops[1].slot, p->ops[0].slots - 1);
			gus_program_free(p);
		}
		gus_uarch_free(u);
	}
}

static void what_uops_are_made(void **state)
{
	struct gus_uarch *u = made_table("ufs-haswell");
	struct gus_program *p = made_program_of_uops(u,
						     "# a comment\n\n9 load+div rsi,rdi;x2,x2 x2 4+21 2,3+0 -+20 # and "
		"here\r\n"
					   "b store rax;rdx - 1+3 p2,3,7+4\nc load rsi x3 7 2,3 2\nd sub+jne rdi "
						   "rdi,flags 1 6");
	const struct gus_uop *load = &p->uops[0], *div = load + 1, *address = div + 1, *data = address + 1,
		*wide = data + 1;

	(void)state;
	assert_int_equal(p->insns_n, 4);
	assert_string_equal(p->insns[0].text, "9 load+div");
	assert_int_equal(p->insns[0].info.class, GUS_INSN_FP_DIV);
	assert_int_equal(p->insns[3].op, 3);
	assert_string_equal(p->port_names[4], "p4");
	assert_true(p->loop);
	assert_int_equal(load->kind, GUS_UOP_LOAD);
	assert_int_equal(load->ports, 1 << 2 | 1 << 3);
	assert_int_equal(load->in_n, 2);
	assert_int_equal(p->flows[load->out].reg, GUS_TEMP);
	assert_int_equal(p->flows[load->out].cycles, 4);
	assert_int_equal(div->in_n, 3); /* x2 twice and the word */
	assert_int_equal(div->latency, 21);
	assert_int_equal(div->unit, 1);
	assert_int_equal(div->unit_cycles, 20);
	assert_int_equal(p->flows[div->out].cycles, 21);
	assert_int_equal(address->kind, GUS_UOP_STORE_ADDRESS);
	assert_int_equal(address->ports, 1 << 2 | 1 << 3 | 1 << 7);
	assert_int_equal(data->kind, GUS_UOP_STORE_DATA);
	assert_int_equal(data->latency, 3);
	assert_int_equal(wide->unit, 0);
	assert_int_equal(wide->port_cycles, 2);
	assert_int_equal(p->ops[3].flags, GUS_OP_BRANCH | GUS_OP_CONDITIONAL | GUS_OP_TAKEN);
	gus_program_free(p);
	gus_uarch_free(u);
}

static void what_is_wrong_is_said(void **state)
{
	static const struct { const char *text, *says; } cases[] = {
		{ "", "loop: there is no instruction" },
		{ "# nothing\n", "there is no instruction" },
		{ "1 int rax rbx 1", "loop:1: expected ID TYPE INPUTS OUTPUTS LATENCY PORTS" },
		{ "1 int rax rbx 1 0 0 0", "loop:1: too many columns, from '0'" },
		{ "1 int rax rbx 1 0\n1 int rax rbx 1 0", "loop:2: the ID is there twice: '1'" },
		{ "1 int rax rbx 1 9", "loop:1: ufs-sandybridge has no port '9'; its first is p0, its last p5" },
		{ "1 int rax rbx 1 0,0", "the same port twice: '0'" },
		{ "1 int rax rbx 1 0,", "a port is missing behind ','" },
		{ "1 int rax rbx 1 -", "no ports in" },
		{ "1 int rax rbx x 0", "a latency is a number of cycles, not 'x'" },
		{ "1 int rax rbx 10000 0", "a latency is a number of cycles, not '10000'" },
		{ "1 int rax rbx -1 0", "a latency is a number of cycles, not '-1'" },
		{ "1 int rax rbx 1+1 0", "the latencies of this type are one" },
		{ "1 int rax rbx 1 0 x", "EXCLUSIVE is a number of cycles, not 'x'" },
		{ "1 int rax, rbx 1 0", "a register is missing behind ','" },
		{ "1 int ,rax rbx 1 0", "the name of a register is missing" },
		{ "1 store rsi rbx 1+3 2+4", "the inputs of this type are ADDRESS;DATA, not 'rsi'" },
		{ "1 store rsi;x1 rbx 1+3 2+4", "a store has no outputs" },
		{ "1 store rsi;x1 - 4 2+4", "the latencies of this type are two, joined by a plus, not '4'" },
		{ "1 store rsi;x1 - 1+3 2", "the ports of this type are two" },
		{ "1 load+ rsi x1 4 2", "this is no type: 'load+'" },
		{ "1 +load rsi x1 4 2", "this is no type: '+load'" },
		{ "1 jmp+add rsi x1 4 2", "this is no type: 'jmp+add'" },
		{ "1 add+mul rsi x1 4 2", "this is no type: 'add+mul'" },
		{ "1 load+store rsi x1 4 2", "this is no type: 'load+store'" },
		{ "1 nop - - 1 -", "a nop has no latency and no ports" },
		{ "1 nop rax,rbx rcx - -", "a nop with inputs is a move" },
		{ "1 int rax rbx\x01 1 0", "this is no text: byte 0x01" },
		{ "1 int rax r\xc3\xa4x 1 0", "this is no text: byte 0xc3" },
		{ "1 int a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a b 1 0", "more registers than an instruction may have" },
	};
	struct gus_uarch *u = made_table("ufs-sandybridge");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };

		assert_null(gus_uoptable_program(u, "loop", cases[i].text, strlen(cases[i].text), &err));
		if (!strstr(err.text, cases[i].says))
			fail_msg("'%s' is told: %s", cases[i].text, err.text);
	}
	gus_uarch_free(u);
}

static void registers_run_out(void **state)
{
	struct gus_uarch *u = made_table("ufs-sandybridge");
	struct gus_error err = { 0 };
	char text[16384];
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 200; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%d int r%d - 1 0\n", i, i);
	assert_null(gus_uoptable_program(u, "loop", text, n, &err));
	assert_non_null(strstr(err.text, "loop:144: more different registers than there is room for"));
	gus_uarch_free(u);
}

static void the_thesis_loop(void **state)
{
	struct gus_uarch *u = made_table("ufs-sandybridge");
	struct gus_error err = { 0 };
	struct gus_program *p;
	size_t size = 0;
	char *text = read_data("realft2_4_de.uops", &size);
	unsigned slots = 0, loads = 0, stores = 0;

	(void)state;
	if (!text)
		skip();
	p = gus_uoptable_program(u, "realft2_4_de", text, size, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(p->insns_n, 54);
	assert_int_equal(p->uops_n, 58);
	for (uint32_t i = 0; i < p->ops_n; i++) {
		slots += p->ops[i].slots;
		loads += p->ops[i].loads;
		stores += p->ops[i].stores;
	}
	assert_int_equal(slots, 58); /* the four stores are indexed */
	assert_int_equal(loads, 4);
	assert_int_equal(stores, 4);
	assert_true(p->ops[53].flags & GUS_OP_TAKEN);
	gus_program_free(p);
	free(text);
	gus_uarch_free(u);
}

static uint32_t draw(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

/* Whatever is done to a good table, it is one or it is told why not; and what is made of it is whole. */
static void mutations_do_no_harm(void **state)
{
	static const char bytes[] = "0123456789,;+- \n\tjxsrk#lpadoe\0\xff";
	struct gus_uarch *u = made_table("ufs-sandybridge");
	size_t size = 0;
	char *text = read_data("realft2_4_de.uops", &size);
	uint64_t seed = 1;
	unsigned good = 0;

	(void)state;
	if (!text)
		skip();
	for (int round = 0; round < 20000; round++) {
		size_t n = draw(&seed) % 8 == 0 ? draw(&seed) % size : size;
		char *copy = malloc(n ? n : 1);
		struct gus_error err = { 0 };
		struct gus_program *p;

		memcpy(copy, text, n);
		for (uint32_t k = draw(&seed) % 4; n && k > 0; k--)
			copy[draw(&seed) % n] = bytes[draw(&seed) % (sizeof(bytes) - 1)];
		p = gus_uoptable_program(u, "m", copy, n, &err);
		assert_true((p != NULL) == (err.code == GUS_OK));
		assert_true(p || *err.text);
		for (uint32_t i = 0; p && i < p->ops_n; i++)
			assert_true(p->ops[i].uops_n && p->ops[i].uop + p->ops[i].uops_n <= p->uops_n);
		for (uint32_t i = 0; p && i < p->uops_n; i++)
			assert_true(p->uops[i].in + p->uops[i].in_n <= p->flows_n &&
				    p->uops[i].out + p->uops[i].out_n <= p->flows_n);
		good += p != NULL;
		gus_program_free(p);
		free(copy);
	}
	assert_true(good > 1000);
	free(text);
	gus_uarch_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_each_type_takes),
		cmocka_unit_test(what_ivy_bridge_saves),
		cmocka_unit_test(where_fusion_is_undone),
		cmocka_unit_test(what_uops_are_made),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(registers_run_out),
		cmocka_unit_test(the_thesis_loop),
		cmocka_unit_test(mutations_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
