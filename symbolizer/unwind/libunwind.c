/* SPDX-License-Identifier: MIT */
#include "symbolizer/unwind/libunwind.h"

#include <libunwind.h>
#include <stdlib.h>
#include <string.h>

#include "proto/varint.h"
#include "symbolizer/unwind/cfi.h"
#include "symbolizer/unwind/vetted.h"

/* What libunwind itself finds entries with: exported, in no header, and of the same form since 1.0. */
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *info, unw_proc_info_t *proc,
				       int need_unwind_info, void *arg);

/* The made-up addresses. Entries refer to functions by 32 bits, so both lie in 2 GiB; they are in the upper half, where
 * no program has its stack. */
#define CODE ((uint64_t)1 << 63)
#define ROOM ((uint64_t)1 << 30)
#define TEXT (CODE + ROOM)
/* All functions begin where they do within 64 bytes, since entries of the PLT look at the lowest bits. */
#define FUNCTION_ALIGN 64
/* Bytes of entries after which all is forgotten: what libunwind and we remember would not end. */
#define TEXT_MOST ((size_t)16 << 20)
#define TEXT_A_STEP 16 /* bytes of an entry that are written in the time of a step */
#define ANEW_STEPS 8192 /* what forgetting all takes, in steps */
#define RULES 8192 /* addresses whose rules libunwind remembers, at some 300 bytes each */

enum { DWARF_REGS = 17 };

/* A function that was met. */
struct key {
	const struct gus_cfi *cfi;
	uint64_t low;
};

struct met {
	uint64_t at, size;        /* made up */
	uint64_t text;            /* its row of a table, behind which its entry is; 0 if it was refused */
};

struct gus_libunwind {
	unw_addr_space_t space;
	struct gus_index keys;
	struct gus_vec(struct met) met;
	struct gus_bytes text;
	uint64_t code_used;
	/* Of the step that is under way. */
	const struct gus_cfi *cfi;
	const struct met *function;
	uint64_t address, ip;     /* in the file; made up */
	const struct gus_unwind_view *view;
	const struct gus_unwind_regs *regs;
	struct gus_budget *work;
	uint64_t wanted;          /* registers of the caller */
	bool beyond, below;       /* something of the stack that was not copied was asked for, or below its end */
	bool refused;             /* the entry was not what libunwind may see */
};

/* What libunwind calls. */

static int read_stack(struct gus_libunwind *s, uint64_t at, unw_word_t *value)
{
	const struct gus_unwind_view *view = s->view;
	uint64_t offset = at - view->stack_at;

	if (at >= view->stack_at && offset < view->stack_bytes && view->stack_bytes - offset >= sizeof(*value)) {
		memcpy(value, (const uint8_t *)view->stack + offset, sizeof(*value));
		return 0;
	}
	/* A signal may have interrupted a stack that lies lower than the copied one. Where no stack can be, nothing was
	 * cut off. */
	s->below |= at < s->regs->v[UNW_X86_64_RSP];
	s->beyond |= at >= s->regs->v[UNW_X86_64_RSP] && (int64_t)at >= 0;
	return -UNW_EINVAL;
}

static int access_memory(unw_addr_space_t space, unw_word_t at, unw_word_t *value, int write, void *context)
{
	struct gus_libunwind *s = context;

	(void)space;
	if (write || !gus_budget_charge(s->work, 1))
		return -UNW_EINVAL;
	if (at < TEXT || at >= TEXT + ROOM)
		return read_stack(s, at, value);
	if (at - TEXT >= s->text.n || s->text.n - (at - TEXT) < sizeof(*value))
		return -UNW_EINVAL;
	memcpy(value, s->text.v + (at - TEXT), sizeof(*value));
	return 0;
}

static int access_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write, void *context)
{
	struct gus_libunwind *s = context;

	(void)space;
	if (write || number < 0 || number >= DWARF_REGS || !(s->regs->known >> number & 1))
		return -UNW_EBADREG;
	*value = number == UNW_X86_64_RIP ? s->ip : s->regs->v[number];
	return 0;
}

static int find_procedure(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *proc, int need_unwind_info,
			  void *context)
{
	struct gus_libunwind *s = context;
	const struct met *f = s->function;
	unw_dyn_info_t info = { .start_ip = f->at, .end_ip = f->at + f->size, .format = UNW_INFO_FORMAT_REMOTE_TABLE };
	int rc;

	/* Rules are run up to an address, and those of another one may be worse. */
	s->refused |= !gus_vetted_row(s->cfi, s->address, s->work);
	if (s->refused || ip != s->ip)
		return -UNW_EINVAL;
	info.u.rti.segbase = f->at;
	info.u.rti.table_data = f->text;
	info.u.rti.table_len = 1;
	rc = UNW_OBJ(dwarf_search_unwind_table)(space, ip, &info, proc, need_unwind_info, context);
	s->refused |= rc < 0;
	return rc;
}

static void put_procedure(unw_addr_space_t space, unw_proc_info_t *proc, void *context)
{
	(void)space, (void)proc, (void)context;
}

static int no_list(unw_addr_space_t space, unw_word_t *list, void *context)
{
	(void)space, (void)list, (void)context;
	return -UNW_ENOINFO;
}

static int no_float(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int write, void *context)
{
	(void)space, (void)number, (void)value, (void)write, (void)context;
	return -UNW_EBADREG;
}

static int no_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *context)
{
	(void)space, (void)cursor, (void)context;
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t space, unw_word_t at, char *name, size_t size, unw_word_t *offset, void *context)
{
	(void)space, (void)at, (void)name, (void)size, (void)offset, (void)context;
	return -UNW_ENOINFO;
}

struct gus_libunwind *gus_libunwind_new(void)
{
	unw_accessors_t accessors = {
		.find_proc_info = find_procedure, .put_unwind_info = put_procedure, .get_dyn_info_list_addr = no_list,
		.access_mem = access_memory, .access_reg = access_register, .access_fpreg = no_float,
		.resume = no_resume, .get_proc_name = no_name,
	};
	struct gus_libunwind *s = gus_zalloc(sizeof(*s));

	gus_index_init(&s->keys, sizeof(struct key));
	s->space = unw_create_addr_space(&accessors, 0);
	if (!s->space)
		gus_alloc_failed(sizeof(*s));
	unw_set_cache_size(s->space, RULES, 0);
	unw_set_caching_policy(s->space, UNW_CACHE_GLOBAL);
	return s;
}

static void forget(struct gus_libunwind *s)
{
	gus_index_free(&s->keys);
	gus_vec_free(&s->met);
	gus_vec_free(&s->text);
	s->code_used = 0;
}

void gus_libunwind_free(struct gus_libunwind *s)
{
	if (!s)
		return;
	forget(s);
	unw_destroy_addr_space(s->space);
	free(s);
}

/* The rule of an address is remembered as long as the address means the same. */
static void begin_anew(struct gus_libunwind *s)
{
	forget(s);
	gus_index_init(&s->keys, sizeof(struct key));
	unw_flush_cache(s->space, 0, 0);
}

/* A function's place among the made-up ones, and its entry as libunwind is to read it. */
static struct met meet(struct gus_libunwind *s, const struct gus_cfi_text *text)
{
	uint64_t at = s->code_used + (text->low - s->code_used) % FUNCTION_ALIGN;
	struct met f = { .at = CODE + at, .size = text->high - text->low };

	s->code_used = at + f.size;
	f.text = TEXT + s->text.n;
	if (!gus_vetted_write(&s->text, TEXT, text, f.at))
		f.text = 0;
	return f;
}

/* NULL if it is larger than a function is. */
static const struct met *find_met(struct gus_libunwind *s, const struct gus_cfi *cfi,
				  const struct gus_cfi_text *text)
{
	const struct key key = { cfi, text->low };
	uint32_t number = gus_index_find(&s->keys, &key);

	if (number != GUS_INDEX_NONE)
		return &s->met.v[number];
	if (text->high - text->low > GUS_LIMIT_FUNCTION)
		return NULL;
	/* Writing it down is work, too, and what was forgotten is written again. */
	if (!gus_budget_charge(s->work, (text->initial_n + text->program_n) / TEXT_A_STEP))
		return NULL;
	if (s->text.n > TEXT_MOST || s->code_used > ROOM - GUS_LIMIT_FUNCTION - FUNCTION_ALIGN) {
		if (!gus_budget_charge(s->work, ANEW_STEPS))
			return NULL;
		begin_anew(s);
	}
	gus_index_add(&s->keys, &key, NULL);
	gus_vec_push(&s->met, meet(s, text));
	return &s->met.v[s->met.n - 1];
}

/* Where one was saved below the stack pointer, it is restored already, or not changed yet. */
static void read_registers(struct gus_libunwind *s, unw_cursor_t *cursor, struct gus_unwind_regs *regs)
{
	struct gus_unwind_regs next = { .machine = regs->machine };

	for (int i = 0; i < DWARF_REGS; i++) {
		unw_word_t value;

		if (!(s->wanted >> i & 1))
			continue;
		s->below = false;
		if (unw_get_reg(cursor, i, &value) != 0) {
			if (!s->below || !(regs->known >> i & 1))
				continue;
			value = regs->v[i];
		}
		next.v[i] = value;
		next.known |= (uint64_t)1 << i;
	}
	*regs = next;
}

static enum gus_callers why(const struct gus_libunwind *s)
{
	if (s->work->cut)
		return GUS_CALLERS_WORK;
	return s->beyond && !s->refused ? GUS_CALLERS_STACK : GUS_CALLERS_BAD;
}

static enum gus_callers take(struct gus_libunwind *s, struct gus_unwind_regs *regs)
{
	unw_cursor_t cursor;
	unw_word_t ip, sp;
	int rc;

	if (unw_init_remote(&cursor, s->space, s) != 0)
		return GUS_CALLERS_BAD;
	rc = unw_step(&cursor);
	/* Where an entry does not help, libunwind guesses: that is ours to do. */
	if (rc < 0 || s->refused || s->work->cut)
		return why(s);
	if (rc == 0)
		return GUS_CALLERS_WHOLE;
	if (unw_get_reg(&cursor, UNW_X86_64_RIP, &ip) != 0 || unw_get_reg(&cursor, UNW_X86_64_RSP, &sp) != 0)
		return why(s);
	read_registers(s, &cursor, regs);
	return GUS_CALLERS_UNTOLD;
}

enum gus_callers gus_libunwind_step(struct gus_libunwind *s, const struct gus_cfi *table,
				     const struct gus_cfi_text *text, uint64_t address,
				     const struct gus_unwind_view *view, struct gus_budget *work, uint64_t wanted,
				     struct gus_unwind_regs *regs)
{
	const struct gus_unwind_regs before = *regs;

	s->work = work;
	s->function = find_met(s, table, text);
	if (!s->function || !s->function->text)
		return work->cut ? GUS_CALLERS_WORK : GUS_CALLERS_BAD;
	s->cfi = table;
	s->address = address;
	s->ip = s->function->at + (address - text->low);
	s->view = view;
	s->regs = &before;
	s->wanted = wanted | (uint64_t)1 << UNW_X86_64_RIP | (uint64_t)1 << UNW_X86_64_RSP;
	s->beyond = s->below = s->refused = false;
	return take(s, regs);
}
