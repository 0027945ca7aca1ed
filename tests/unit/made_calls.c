/* SPDX-License-Identifier: MIT */
#include "made_calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "made_mapping.h"

#define SIZE 0x100u

static char *text(const char *constant)
{
	return (char *)(uintptr_t)constant;
}

static void add_map(struct gus_space *space, const char *path, uint64_t start)
{
	const struct made_mapping m = { .pid = 10, .start = start, .length = 0x1000, .path = path };
	struct made_mmap r;

	gus_space_add(space, made_mmap(&r, &m));
}

/* Functions one behind the other; in the last of the program's two others are inlined. */
static void add_names(struct gus_symbols *symbols, const char *path, char **texts, uint32_t functions, uint32_t inlined)
{
	Gusprof__EmbeddedFunction f[4], *list[4];
	Gusprof__EmbeddedChain chain = GUSPROF__EMBEDDED_CHAIN__INIT, *chains[] = { &chain };
	Gusprof__EmbeddedLines lines = GUSPROF__EMBEDDED_LINES__INIT, *all[] = { &lines };
	uint32_t names[] = { 6, 5, 4 }, none[] = { 0, 0, 0 };
	Gusprof__Embedded e = GUSPROF__EMBEDDED__INIT;

	for (uint32_t i = 0; i < functions; i++) {
		f[i] = (Gusprof__EmbeddedFunction)GUSPROF__EMBEDDED_FUNCTION__INIT;
		f[i].offset = f[i].address = i * SIZE;
		f[i].size = SIZE;
		f[i].name = i + 1;
		list[i] = &f[i];
	}
	chain.n_functions = chain.n_files = chain.n_lines = 3;
	chain.functions = names;
	chain.files = chain.lines = none;
	lines.offset = 3 * SIZE;
	lines.size = SIZE;
	e.path = text(path);
	e.n_texts = functions + inlined;
	e.texts = texts;
	e.n_functions = functions;
	e.functions = list;
	e.n_chains = e.n_lines = inlined ? 1 : 0;
	e.chains = chains;
	e.lines = all;
	assert_true(gus_symbols_add_embedded(symbols, &e));
}

static void add_kernel(struct gus_symbols *symbols)
{
	Gusprof__KernelSymbols kernel = GUSPROF__KERNEL_SYMBOLS__INIT;
	Gusprof__Symbol one = GUSPROF__SYMBOL__INIT, *list[] = { &one };

	one.address = KERNEL;
	one.size = SIZE;
	one.name = text("do_syscall_64");
	kernel.n_symbols = 1;
	kernel.symbols = list;
	gus_symbols_add_kernel(symbols, &kernel);
}

struct made_calls *made_calls_new(void)
{
	static const Gusprof__Header header = GUSPROF__HEADER__INIT;
	static const Gusprof__Event event = GUSPROF__EVENT__INIT;
	static const char *const nowhere[] = { NULL };
	char *program[] = { text("main"), text("work"), text("help"), text("nest"), text("middle"), text("inner") };
	char *library[] = { text("qsort"), text("cmp;are") }, *other[] = { text("qsort") };
	struct made_calls *m = gus_zalloc(sizeof(*m));
	struct gus_profile *p = &m->profile;

	m->header = header;
	m->event = event;
	m->event.name = text("cpu-clock");
	m->event.unit = text("ns");
	m->events[0] = &m->event;
	m->header.n_events = 1;
	m->header.events = m->events;
	p->header = &m->header;
	p->chains = true;
	p->space = gus_space_new();
	add_map(p->space, "/opt/app", MAIN);
	add_map(p->space, "/opt/lib/libsort.so.6", SORT);
	add_map(p->space, "/opt/lib/libalt.so", OTHER_SORT);
	add_map(p->space, "/opt/odd/", ODD);
	add_map(p->space, "[vdso]", VDSO);
	gus_space_ready(p->space);
	p->symbols = gus_symbols_new(&(struct gus_symbols_options){ .debug_dirs = nowhere }, NULL);
	add_names(p->symbols, "/opt/app", program, 4, 2);
	add_names(p->symbols, "/opt/lib/libsort.so.6", library, 2, 0);
	add_names(p->symbols, "/opt/lib/libalt.so", other, 1, 0);
	add_kernel(p->symbols);
	gus_vec_push(&p->threads, (struct gus_thread){ .pid = 10, .tid = 10, .comm = "app" });
	gus_vec_push(&p->threads, (struct gus_thread){ .pid = 10, .tid = 11, .comm = "worker" });
	gus_vec_push(&p->comms, "app");
	gus_vec_push(&p->comms, "worker");
	gus_vec_push(&p->paths, (struct gus_path){ 0 });
	return m;
}

void made_calls_free(struct made_calls *m)
{
	gus_calls_free(&m->calls);
	gus_vec_free(&m->profile.cells);
	gus_vec_free(&m->profile.paths);
	gus_vec_free(&m->profile.threads);
	gus_vec_free(&m->profile.comms);
	gus_symbols_free(m->profile.symbols);
	gus_space_free(m->profile.space);
	free(m);
}

static struct gus_place place_of(const struct made_calls *m, uint64_t address)
{
	return gus_space_find(m->profile.space, 10, 0, address, address >= KERNEL ? GUS_MODE_KERNEL :
			      GUS_MODE_USER);
}

uint32_t made_path(struct made_calls *m, uint32_t caller, uint64_t address)
{
	uint32_t depth = m->profile.paths.v[caller].depth + 1;

	gus_vec_push(&m->profile.paths, (struct gus_path){ caller, depth, place_of(m, address) });
	return (uint32_t)m->profile.paths.n - 1;
}

struct gus_cell *made_sample(struct made_calls *m, uint32_t caller, uint64_t address, uint64_t weight)
{
	struct gus_cell cell = { .path = caller, .place = place_of(m, address), .samples = 1, .weight = weight };

	cell.weight2 = (double)weight * (double)weight;
	gus_vec_push(&m->profile.cells, cell);
	m->profile.samples++;
	m->profile.weight += weight;
	m->profile.weight2 += cell.weight2;
	return &m->profile.cells.v[m->profile.cells.n - 1];
}

void made_calls_add_up(struct made_calls *m, bool inlines)
{
	gus_calls_make(&m->calls, &m->profile, &(struct gus_calls_options){ .inlines = inlines });
}
