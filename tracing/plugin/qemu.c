/* SPDX-License-Identifier: MIT */
/* The plugin of QEMU's user-mode emulators that writes a trace of the program they run:
 *
 *	qemu-x86_64 -plugin gusprof-qemu.so,out=FILE[,OPTION...] PROGRAM
 *
 * Code is handed over when it is translated; what is executed only appends to buffers of its thread. The lock is held
 * for translation and for writing. One tracer a process, as QEMU's callbacks for translation have no context.
 *
 * A process that is forked off goes on untraced, and what is executed is executed natively: that is QEMU's doing. Both
 * are said on stderr and in the trace. Where somebody listens for further traces (follow), what is executed has the
 * emulator before it, and what is forked off has a trace of its own (children): see follow.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/index.h"
#include "base/text.h"
#include "collector/host/procfs.h"
#include "config.h"
#include "proto/varint.h"
#include "tracing/confine/calls.h"
#include "tracing/plugin/calls.h"
#include "tracing/plugin/follow.h"
#include "tracing/plugin/options.h"
#include "tracing/plugin/origins.h"
#include "tracing/plugin/qemu_plugin.h"
#include "tracing/plugin/replaying.h"
#include "tracing/plugin/steps.h"

#define EXPORT __attribute__((visibility("default")))
#define VCPUS 16384     /* threads at a time */
#define PAGE 4096       /* of x86 */
#define X86_LONGEST 15
#define TB_INSNS 4096   /* QEMU has at most 512 */
#define HIGH_FD 1000
#define NOTICES 4
#define PROGRAM_MAX 255
#define TURNS 2         /* of string instructions in a replay, for each instruction that its window may have */

/* What happens in processes that are forked off, in memory that all of them share. */
struct children {
	atomic_uint forks, programs;
	char first[PROGRAM_MAX + 1];    /* of the programs */
};

static struct {
	qemu_plugin_id_t id;
	pthread_mutex_t lock;
	atomic_bool over;               /* nothing is traced any more */
	bool confined;                  /* of a replay: before its first instruction */
	enum gus_translated_isa isa;
	bool full;
	struct gus_tracer_options options;
	struct gus_trace_writer *writer; /* NULL: ended, or the process is a fork */
	struct gus_strings known;       /* blocks by address and bytes: ... */
	struct gus_vec(struct gus_translated *) codes; /* ... number 1 is the first here */
	struct gus_bytes key;
	struct gus_origins origins;
	atomic_bool remapped;           /* what is mapped has to be read anew */
	atomic_ullong distance;         /* from the program's addresses to ours */
	struct children *children;      /* shared with all that are forked off */
	char *became;                   /* the program that takes the place of this one, which ended the trace */
	struct gus_vec(struct gus_steps *) streams; /* all there were; they stay until the end */
	struct gus_steps *_Atomic of_vcpu[VCPUS];
	unsigned vcpus;                 /* those that there were are below that */
	unsigned running;               /* streams that are not over, under the lock */
	atomic_bool wanted_bare;        /* code is to be translated without callbacks: see look_at_callbacks */
	atomic_bool forked;             /* and has not come back from the fork yet */
	const char *target;             /* "x86_64" */
	char *self;                     /* the program's path, from "/" on; NULL: not known yet */
	uint64_t ignored;               /* signals that the program ignores; bit 0 is signal 1 */
	int fd;                         /* that the trace is written to, where it goes on if the program closes it */
	atomic_bool interrupted;        /* it was ended for that, or for a program that could not be executed */
	int child;                      /* what the trace of a fork goes to, while it happens; else -1 */
	struct gus_replaying replaying;
} tracer = { .lock = PTHREAD_MUTEX_INITIALIZER, .child = -1 };

/* Translated vector code leaves the upper halves of the host's registers dirty, which makes each SSE instruction of
 * QEMU's own floating-point code wait for them on some CPUs: 4 to 17 times slower, as was measured. All of them are the
 * caller's here. */
static inline void clean_uppers(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx"))
		__asm__ volatile("vzeroupper" ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
				 "xmm8", "xmm9", "xmm10",
				 "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

static void complain(const struct gus_error *err)
{
	gus_text_print(stderr, "gusprof: %s\n", err->text);
}

/* A thread marks its stream while it changes it. Whoever ends the trace sets over, makes all threads see that, and
 * waits for the marks to go. So the many need no barrier. */
static bool enter(struct gus_steps *s)
{
	atomic_store_explicit(&s->busy, true, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&tracer.over, memory_order_relaxed))
		return true;
	atomic_store_explicit(&s->busy, false, memory_order_release);
	return false;
}

static void leave(struct gus_steps *s)
{
	atomic_store_explicit(&s->busy, false, memory_order_release);
}

/* Under the lock. */
static struct gus_steps *new_stream(unsigned vcpu)
{
	struct gus_steps *s = gus_alloc(sizeof(*s));

	gus_steps_init(s, (uint32_t)tracer.streams.n, &tracer.options.windows);
	if (tracer.options.replay)
		s->turns_most = TURNS * tracer.options.windows.length;
	gus_vec_push(&tracer.streams, s);
	atomic_store(&tracer.of_vcpu[vcpu], s);
	tracer.vcpus = vcpu >= tracer.vcpus ? vcpu + 1 : tracer.vcpus;
	tracer.running++;
	return s;
}

/* Under the lock. */
static void end_stream(struct gus_steps *s)
{
	if (s->over)
		return;
	s->over = true;
	tracer.running--;
}

/* Callbacks cost eight times what the emulator does alone, also those that do nothing. When no thread has a window to
 * come, or in a process that is not traced, the emulator is asked to forget what it has translated, and what is
 * translated anew has none but guards. It does that when it has stopped all threads, and calls us (instrument_anew). A
 * thread that begins later brings all back; the little that it executes before it is stopped for that is not counted.
 *
 * Guards: QEMU 7.2 has a pointer to the callbacks of the instruction whose helpers may access memory; an instruction
 * that leaves its block from within (a return) leaves it set, and to forget translations frees what it points to. The
 * next helper that accesses memory then crashes the emulator, as was seen in one of three runs of gzip. An instruction
 * with a callback sets the pointer before its helpers run and takes it back behind them. So all have one, if only one
 * that is for neither reads nor writes, which costs nothing where no helper is called; all but branches, whose helpers
 * access no memory, and which would leave it set again. */
static void instrument_anew(qemu_plugin_id_t id);

static void look_at_callbacks(bool bare)
{
	if (atomic_exchange(&tracer.wanted_bare, bare) != bare)
		qemu_plugin_reset(tracer.id, instrument_anew);
}

static struct gus_steps *late_stream(unsigned vcpu)
{
	struct gus_steps *s;

	pthread_mutex_lock(&tracer.lock);
	s = new_stream(vcpu);
	pthread_mutex_unlock(&tracer.lock);
	return s;
}

static inline struct gus_steps *stream_of(unsigned vcpu)
{
	struct gus_steps *s = vcpu < VCPUS ? atomic_load_explicit(&tracer.of_vcpu[vcpu], memory_order_acquire) : NULL;

	return s || vcpu >= VCPUS ? s : late_stream(vcpu);
}

/* The end. */

static void wait_for_all(void)
{
	size_t n;

	atomic_store(&tracer.over, true);
	syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	pthread_mutex_lock(&tracer.lock);
	n = tracer.streams.n;
	pthread_mutex_unlock(&tracer.lock);
	for (size_t i = 0; i < n; i++) {
		struct gus_steps *s;

		pthread_mutex_lock(&tracer.lock);
		s = tracer.streams.v[i];
		pthread_mutex_unlock(&tracer.lock);
		while (atomic_load_explicit(&s->busy, memory_order_acquire))
			sched_yield();
	}
}

/* It is not known before the program runs. */
static int name_program(struct gus_error *err)
{
	const char *path = tracer.origins.named || tracer.options.replay ? NULL : qemu_plugin_path_to_binary();
	int rc = path ? gus_origins_name(&tracer.origins, path, tracer.writer, err) : 0;

	free((char *)path);
	return rc;
}

/* Under the lock. What was written stays readable whatever goes wrong. */
static void write_stream(struct gus_steps *s, enum gus_trace_next last, struct gus_error *err)
{
	if (!tracer.writer || !s->steps.n)
		return;
	if (name_program(err) == 0 && gus_steps_write(s, tracer.writer, &tracer.origins, last, err) == 0)
		return;
	complain(err);
	gus_trace_writer_abandon(tracer.writer);
	tracer.writer = NULL;
	atomic_store(&tracer.over, true);
}

/* What the trace is not, in sentences that the caller frees; there is room for NOTICES. */
static size_t take_notices(char **notices)
{
	unsigned forks = atomic_load(&tracer.children->forks), programs = atomic_load(&tracer.children->programs);
	size_t n = 0;

	if (forks)
		notices[n++] = gus_format("%u process%s forked off, and not traced", forks, forks == 1 ? " was" :
					  "es were");
	if (programs)
		notices[n++] = gus_format("%u program%s executed by what was forked off, natively and not traced; the "
					  "first was %.*s",
					  programs, programs == 1 ? " was" : "s were", PROGRAM_MAX,
						  tracer.children->first);
	if (tracer.became)
		notices[n++] = gus_format("the program became %s is executed natively and not traced", tracer.became);
	if (tracer.origins.full)
		notices[n++] = gus_format("more mappings than a trace may tell of: some code has a wrong origin, or "
					  "none");
	return n;
}

static void finish(void)
{
	Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;
	struct gus_error err = { 0 };
	char *notices[NOTICES];

	wait_for_all();
	pthread_mutex_lock(&tracer.lock);
	for (size_t i = 0; i < tracer.streams.n; i++) {
		struct gus_steps *s = tracer.streams.v[i];

		if (!tracer.full)
			write_stream(s, GUS_TRACE_NEXT_UNKNOWN, &err);
		total.seen += s->seen;
		total.omitted += s->omitted;
	}
	total.n_notices = take_notices(notices);
	total.notices = notices;
	total.streams = tracer.streams.n;
	total.full = tracer.full;
	gus_replaying_tell(&tracer.replaying, &total);
	if (tracer.writer && gus_trace_writer_finish(tracer.writer, &total, &err) != 0)
		complain(&err);
	tracer.writer = NULL;
	pthread_mutex_unlock(&tracer.lock);
	while (total.n_notices)
		free(notices[--total.n_notices]);
}

static void on_exit_of_program(qemu_plugin_id_t id, void *context)
{
	(void)id;
	(void)context;
	finish();
}

/* Executing. */

/* Under the lock. */
static bool is_full(void)
{
	uint64_t most = tracer.options.max_size;

	return tracer.writer && !tracer.full && most && gus_trace_writer_size(tracer.writer) >= most;
}

/* A full buffer, or a window that is over. When the file is as large as it may be, the emulator is asked for code
 * without callbacks, and the trace ends when it has stopped all threads for that. */
static void write_out(struct gus_steps *s, enum gus_trace_next last)
{
	struct gus_error err = { 0 };
	bool full = false, bare;

	pthread_mutex_lock(&tracer.lock);
	write_stream(s, last, &err);
	if (is_full()) {
		gus_text_print(stderr, "gusprof: %s has its %llu bytes; the rest of the program is not traced\n",
			       tracer.options.out ? tracer.options.out : "the trace",
			       (unsigned long long)tracer.options.max_size);
		full = tracer.full = true;
		atomic_store(&tracer.over, true);
	}
	if (gus_steps_are_over(s))
		end_stream(s);
	bare = !tracer.running && !tracer.options.replay;
	pthread_mutex_unlock(&tracer.lock);
	if (full || bare)
		look_at_callbacks(true);
}

/* A snapshot that is replayed does not go on behind its window: what it would call is not to be done twice. */
static void __attribute__((noreturn)) end_replay(void)
{
	finish();
	_exit(0);
}

/* The system calls of what replays a snapshot: those of the loader, and the one at which the window ends. */
static void on_replayed_call(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
			     uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	enum gus_replaying_next next = gus_replaying_call(&tracer.replaying, number, a1, a2);
	struct gus_steps *s = stream_of(vcpu);

	(void)id, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
	if (next == GUS_REPLAYING_BEGINS)
		atomic_store(&tracer.over, false);
	if (next == GUS_REPLAYING_ENDS && s && tracer.replaying.at)
		gus_steps_cut(s, tracer.replaying.at, tracer.isa);
	if (next == GUS_REPLAYING_ENDS)
		end_replay();
}

static void execute(struct gus_steps *s, struct gus_translated *code)
{
	enum gus_trace_next last;

	if (gus_steps_due(s, code, &last)) {
		write_out(s, last);
		if (tracer.options.replay && s->seen >= s->to) {
			gus_replaying_window_over(&tracer.replaying);
			leave(s);
			end_replay();
		}
	}
	gus_steps_execute(s, code);
}

static void on_block(unsigned vcpu, void *context)
{
	struct gus_steps *s = stream_of(vcpu);

	if (s && enter(s)) {
		if (!gus_steps_note(s, context))
			execute(s, context);
		leave(s);
	}
	clean_uppers();
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *context)
{
	struct gus_steps *s = stream_of(vcpu);

	if (s && enter(s)) {
		uint32_t size = 1u << qemu_plugin_mem_size_shift(info);
		bool store = qemu_plugin_mem_is_store(info);

		if (!gus_steps_note_access(s, context, address, size, store))
			gus_steps_access(s, context, address, size, store);
		leave(s);
	}
	clean_uppers();
}

static void on_thread_begin(qemu_plugin_id_t id, unsigned vcpu)
{
	(void)id;
	if (vcpu >= VCPUS) {
		fprintf(stderr, "gusprof: more than %d threads at a time; the others are not traced\n", VCPUS);
		return;
	}
	pthread_mutex_lock(&tracer.lock);
	new_stream(vcpu);
	pthread_mutex_unlock(&tracer.lock);
	if (!atomic_load(&tracer.over))
		look_at_callbacks(false);
}

static void on_thread_end(qemu_plugin_id_t id, unsigned vcpu)
{
	struct gus_steps *s = vcpu < VCPUS ? atomic_load(&tracer.of_vcpu[vcpu]) : NULL;
	struct gus_error err = { 0 };

	(void)id;
	if (!s || !enter(s))
		return;
	pthread_mutex_lock(&tracer.lock);
	write_stream(s, GUS_TRACE_NEXT_UNKNOWN, &err);
	end_stream(s);
	gus_steps_free(s);
	atomic_store(&tracer.of_vcpu[vcpu], NULL);
	pthread_mutex_unlock(&tracer.lock);
	leave(s);
}

/* Translating. */

static void read_maps(void)
{
	size_t size;
	char *text = gus_procfs_read("/proc/self/maps", &size);

	if (text)
		gus_origins_update(&tracer.origins, text);
	free(text);
}

/* Under the lock. Where code of a snapshot is from, the snapshot says. */
static struct gus_origin *origin_of(uint64_t address, uint64_t host)
{
	struct gus_origin *origin;

	if (!host || tracer.options.replay)
		return NULL;
	atomic_store(&tracer.distance, host - address);
	if (atomic_exchange(&tracer.remapped, false))
		read_maps();
	origin = gus_origins_find(&tracer.origins, host, address);
	if (origin)
		return origin;
	read_maps();
	return gus_origins_find(&tracer.origins, host, address);
}

/* The one block of this address and these bytes, however often they are translated. */
static struct gus_translated *code_of(const struct gus_trace_block *b, uint64_t host)
{
	struct gus_translated *code;
	uint32_t number;

	pthread_mutex_lock(&tracer.lock);
	tracer.key.n = 0;
	gus_vec_append(&tracer.key, (const uint8_t *)&b->address, sizeof(b->address));
	gus_vec_append(&tracer.key, (const uint8_t *)&b->insns, sizeof(b->insns));
	gus_vec_append(&tracer.key, b->lengths, b->insns);
	gus_vec_append(&tracer.key, b->bytes, b->size);
	number = gus_strings_add_n(&tracer.known, (const char *)tracer.key.v, tracer.key.n);
	if (number > tracer.codes.n)
		gus_vec_push(&tracer.codes, gus_translated_new(b, tracer.isa));
	code = tracer.codes.v[number - 1];
	if (code->number == GUS_TRANSLATED_NEW)
		code->origin = origin_of(b->address, host);
	pthread_mutex_unlock(&tracer.lock);
	return code;
}

static bool is_wanted(uint64_t address)
{
	const struct gus_tracer_options *o = &tracer.options;

	if (o->replay && gus_replaying_is_loader(address))
		return false;
	for (size_t i = 0; i < o->starts.n; i++)
		if (address >= o->starts.v[i] && address < o->ends.v[i])
			return true;
	return !o->starts.n;
}

/* Instructions from..to of what is translated, all in the ranges, are a block of ours. */
static void instrument(struct qemu_plugin_tb *tb, size_t from, size_t to)
{
	uint8_t lengths[TB_INSNS], bytes[TB_INSNS * GUS_TRACE_INSN_BYTES];
	struct gus_trace_block b = { .lengths = lengths, .bytes = bytes, .insns = (uint32_t)(to - from) };
	struct gus_translated *code;

	for (size_t i = from; i < to; i++) {
		const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		size_t size = qemu_plugin_insn_size(insn);

		lengths[i - from] = (uint8_t)size;
		memcpy(bytes + b.size, qemu_plugin_insn_data(insn), size);
		b.size += (uint32_t)size;
	}
	b.address = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, from));
	code = code_of(&b, (uintptr_t)qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, from)));
	if (from == 0)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, code);
	else
		qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, from), on_block,
						       QEMU_PLUGIN_CB_NO_REGS, code);
	/* Branches that are not believed at all have no accesses, and need no guard. */
	for (size_t i = from; i < to; i++)
		if (code->insns[i - from].believe)
			qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_access,
							 QEMU_PLUGIN_CB_NO_REGS,
							 QEMU_PLUGIN_MEM_RW, &code->insns[i - from]);
}

static void on_no_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *context)
{
	(void)vcpu, (void)info, (void)address, (void)context;
}

/* See look_at_callbacks. */
static void guard(struct qemu_plugin_tb *tb, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (gus_believe_of(tracer.isa, qemu_plugin_insn_data(insn), (uint32_t)qemu_plugin_insn_size(insn)) &
		    GUS_BELIEVE_ALL)
			qemu_plugin_register_vcpu_mem_cb(insn, on_no_access, QEMU_PLUGIN_CB_NO_REGS,
							 (enum qemu_plugin_mem_rw)0, NULL);
	}
}

/* An x86 instruction that goes on in the next page, and is not the first, is taken back by the emulator after it has
 * been told to us, with only those bytes that were read till then; the next translation begins with it. How long it
 * would have been is not known, so the last one is a block by itself if the longest would go on there: if it was taken
 * back, its callback went with it. Counted with the others it would be executed twice, which was 43 of 100,000 for a
 * short run of gzip. */
static bool may_be_taken_back(const struct qemu_plugin_insn *last)
{
	uint64_t address = qemu_plugin_insn_vaddr(last);
	bool x86 = tracer.isa == GUS_TRANSLATED_X86_64 || tracer.isa == GUS_TRANSLATED_X86_32;

	return x86 && (address + X86_LONGEST - 1) / PAGE != address / PAGE;
}

/* What is translated first is gusprof-replay itself: by then the emulator has opened all that it needs, and not an
 * instruction has been executed. */
static void confine(void)
{
	struct gus_error err = { 0 };

	tracer.confined = true;
	if (gus_confine_calls(tracer.options.root, &err) == 0)
		return;
	complain(&err);
	_exit(1);
}

/* The program's own path, before it can go to another folder, and where its memory is. */
static void find_self(const struct qemu_plugin_tb *tb)
{
	const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, 0);
	const char *path = qemu_plugin_path_to_binary();

	atomic_store(&tracer.distance, (uintptr_t)qemu_plugin_insn_haddr((struct qemu_plugin_insn *)(uintptr_t)insn) -
		     qemu_plugin_insn_vaddr(insn));
	tracer.self = path ? realpath(path, NULL) : NULL;
	if (!tracer.self)
		tracer.self = gus_strdup("");
	free((char *)path);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	if (tracer.options.replay && !tracer.confined)
		confine();
	if (tracer.options.follow && !tracer.self)
		find_self(tb);
	if (atomic_load(&tracer.wanted_bare)) {
		guard(tb, 0, n);
		return;
	}
	for (size_t from = 0, to; from < n; from = to) {
		bool wanted = is_wanted(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, from)));

		for (to = from + 1; to < n && to - from < TB_INSNS; to++) {
			const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, to);

			if (is_wanted(qemu_plugin_insn_vaddr(insn)) != wanted ||
			    (to + 1 == n && may_be_taken_back(insn)))
				break;
		}
		if (wanted)
			instrument(tb, from, to);
		else
			guard(tb, from, to);
	}
}

/* Traces begin. */

/* The emulator's own command line, in which the program's is. (It does not know its program yet.) */
static size_t read_command(char *text, size_t size, char **words, size_t room)
{
	FILE *f = fopen("/proc/self/cmdline", "re");
	size_t length = f ? fread(text, 1, size - 1, f) : 0, n = 0;

	if (f)
		fclose(f);
	text[length] = '\0';
	for (size_t at = 0; at < length && n < room; at += strlen(text + at) + 1)
		words[n++] = text + at;
	return n;
}

/* The program has the same table of open files. What is handed to us leaves its place for a high one, where programs
 * rarely look, and is not for those that it executes. */
static int take_fd(int fd, struct gus_error *err)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

	if (high < 0 && errno == EINVAL) /* fewer are allowed */
		high = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (high < 0)
		return gus_fail_errno(err, errno, "cannot write the trace to fd %d", fd);
	close(fd);
	return high;
}

static struct gus_trace_writer *create_writer(const Gusprof__Header *header, const Gusprof__Trace *about,
					      struct gus_error *err)
{
	const struct gus_tracer_options *o = &tracer.options;
	struct gus_trace_writer *w = NULL;

	tracer.fd = o->out ? -1 : take_fd(o->fd, err);
	if (o->out)
		w = gus_trace_writer_create(o->out, header, about, err);
	else if (tracer.fd >= 0)
		w = gus_trace_writer_create_fd(tracer.fd, header, about, err);
	if (w && o->plain)
		gus_trace_writer_plain(w);
	return w;
}

static int create(struct gus_error *err)
{
	const struct gus_tracer_options *o = &tracer.options;
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Trace about = GUSPROF__TRACE__INIT;
	char text[4096], *words[256];

	header.producer = (char *)PACKAGE_STRING;
	header.command = words;
	header.n_command = read_command(text, sizeof(text), words, sizeof(words) / sizeof(*words));
	about.front_end = (char *)"qemu";
	about.target = (char *)(uintptr_t)tracer.target;
	about.range_start = o->starts.v;
	about.range_end = o->ends.v;
	about.n_range_start = about.n_range_end = o->starts.n;
	about.skip = o->windows.start;
	about.length = o->windows.length;
	about.every = o->windows.every;
	about.max_size = o->max_size;
	about.pid = tracer.origins.pid;
	tracer.writer = create_writer(&header, &about, err);
	return tracer.writer ? 0 : -1;
}

/* Another trace begins, in which none of the code has been told. Under the lock. */
static void begin_trace(int fd)
{
	struct gus_error err = { 0 };

	for (size_t i = 0; i < tracer.codes.n; i++)
		tracer.codes.v[i]->number = GUS_TRANSLATED_NEW;
	gus_origins_begin(&tracer.origins, (uint32_t)getpid());
	tracer.options.fd = fd;
	tracer.full = false;
	if (create(&err) != 0)
		complain(&err);
	atomic_store(&tracer.over, !tracer.writer);
}

/* After an interruption: threads go on in their windows. */
static void begin_again(void)
{
	int fd = gus_follow_connect(tracer.options.follow);

	if (fd < 0)
		return;
	pthread_mutex_lock(&tracer.lock);
	begin_trace(fd);
	pthread_mutex_unlock(&tracer.lock);
}

/* What the program asks of the system. */

/* Text of the program's memory, if all of it is there. */
static bool read_text(uint64_t address, char *text, size_t size)
{
	return gus_follow_read_text(atomic_load(&tracer.distance), address, text, size);
}

/* On stderr, unless the trace's word is enough. */
static void __attribute__((format(printf, 1, 2))) announce(const char *format, ...)
{
	va_list args;

	if (tracer.options.quiet)
		return;
	va_start(args, format);
	gus_text_vprint(stderr, format, args);
	va_end(args);
}

/* Says once, in whichever process, that programs are executed without us. */
static void announce_program(const char *path)
{
	if (atomic_fetch_add(&tracer.children->programs, 1))
		return;
	snprintf(tracer.children->first, sizeof(tracer.children->first), "%.*s", PROGRAM_MAX, path);
	announce("gusprof: what was forked off executes %s: natively, and not traced, as others will be\n", path);
}

/* The trace is ended, and goes on in another one when the call that is about to be made has come back. */
static void interrupt(void)
{
	finish();
	atomic_store(&tracer.interrupted, true);
}

/* Becomes the emulator with the next program, whose trace goes to a connection that stands before this one ends. NULL:
 * this trace is over all the same, as the kernel has refused the emulator what it may not refuse the program; or why it
 * cannot be. */
static const char *follow(const struct gus_follow_call *call)
{
	int fd = gus_follow_connect(tracer.options.follow);
	const char *why;
	struct gus_follow f;

	if (fd < 0)
		return "cannot be traced, as nobody listens any more,";
	why = gus_follow_prepare(&f, call, atomic_load(&tracer.distance), tracer.self && *tracer.self ? tracer.self :
				 NULL, tracer.isa, fd);
	if (!why) {
		fcntl(fd, F_SETFD, 0);
		interrupt();
		gus_follow_execute(&f, tracer.ignored);
		announce("gusprof: the emulator could not be started for what the program becomes: %s\n",
			 strerror(errno));
	}
	close(fd);
	gus_follow_free(&f);
	return why;
}

/* Shells try one folder after the other, so only what can be executed counts. If this process is the traced one its
 * trace ends here: nobody is asked when another program takes its place. */
static void on_program(const struct gus_follow_call *call)
{
	char path[4096];
	struct stat st;
	bool is_traced;
	const char *why = NULL;

	if (!read_text(call->path, path, sizeof(path)) ||
	    fstatat(call->folder, path, &st, call->flags & AT_EMPTY_PATH) != 0 || !S_ISREG(st.st_mode) ||
	    faccessat(call->folder, path, X_OK, call->flags & AT_EMPTY_PATH) != 0)
		return;
	pthread_mutex_lock(&tracer.lock);
	is_traced = tracer.writer != NULL;
	pthread_mutex_unlock(&tracer.lock);
	if (!is_traced) {
		announce_program(path);
		return;
	}
	if (tracer.options.follow) {
		why = follow(call);
		if (!why || !*why)
			return;
	}
	tracer.became = why ? gus_format("%s, which %s and", path, why) : gus_format("%s, which", path);
	announce("gusprof: the program becomes %s is executed natively: the trace ends here\n", tracer.became);
	if (tracer.options.follow)
		interrupt();
	else
		finish();
}

/* What may end the program is not waited for with steps in hand. */
static void on_kill(unsigned vcpu)
{
	struct gus_steps *s = stream_of(vcpu);

	if (!s || !enter(s))
		return;
	write_out(s, GUS_TRACE_NEXT_UNKNOWN);
	leave(s);
}

/* Whether a call takes a descriptor away. */
static bool closes(enum gus_system_call call, uint64_t a1, uint64_t a2, int fd)
{
	switch (call) {
	case GUS_CALL_CLOSE:
		return (int)a1 == fd;
	case GUS_CALL_CLOSE_RANGE:
		return (unsigned)a1 <= (unsigned)fd && (unsigned)fd <= (unsigned)a2;
	case GUS_CALL_DUP:
		return (int)a2 == fd;
	default:
		return false;
	}
}

static void on_call(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
		    uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	enum gus_system_call call = gus_system_call_of(tracer.isa, number);

	(void)id, (void)a6, (void)a7, (void)a8;
	if ((call == GUS_CALL_FORK || (call == GUS_CALL_CLONE && gus_system_call_clones(a1))) &&
	    !tracer.options.children && atomic_fetch_add(&tracer.children->forks, 1) == 0)
		announce("gusprof: the program forks; its children are not traced%s\n", tracer.options.follow ?
			 " (--children traces them)" : "");
	if (call == GUS_CALL_EXECVE)
		on_program(&(struct gus_follow_call){ AT_FDCWD, 0, a1, a2, a3 });
	if (call == GUS_CALL_EXECVEAT)
		on_program(&(struct gus_follow_call){ (int)a1, (int)a5, a2, a3, a4 });
	if (call == GUS_CALL_KILL)
		on_kill(vcpu);
	if (tracer.options.follow && call == GUS_CALL_SIGACTION)
		tracer.ignored = gus_follow_heed(tracer.ignored, a1, a2, atomic_load(&tracer.distance));
	if (tracer.options.follow && closes(call, a1, a2, tracer.fd) && !atomic_load(&tracer.over))
		interrupt();
}

static void on_return(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result)
{
	enum gus_system_call call = gus_system_call_of(tracer.isa, number);

	(void)id, (void)vcpu;
	if (atomic_load_explicit(&tracer.forked, memory_order_relaxed)) { /* now the emulator can be asked */
		atomic_store(&tracer.forked, false);
		look_at_callbacks(atomic_load(&tracer.over));
	}
	if (call == GUS_CALL_MAPS)
		atomic_store(&tracer.remapped, true);
	if ((call == GUS_CALL_EXECVE || call == GUS_CALL_EXECVEAT) && tracer.became) {
		announce("gusprof: it did not become that (error %lld), and goes on%s\n", (long long)-result,
			 tracer.options.follow ? "" : " without a trace");
		free(tracer.became);
		tracer.became = NULL;
	}
	if (atomic_load_explicit(&tracer.interrupted, memory_order_relaxed) &&
	    atomic_exchange(&tracer.interrupted, false))
		begin_again();
}

static void register_callbacks(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_init_cb(id, on_thread_begin);
	qemu_plugin_register_vcpu_exit_cb(id, on_thread_end);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_syscall_cb(id, tracer.options.replay ? on_replayed_call : on_call);
	if (!tracer.options.replay)
		qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
	qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
}

/* All threads stand still. What is wanted may have changed since it was asked for, and was not asked for again
 * then: the emulator takes one such wish at a time. */
static void instrument_anew(qemu_plugin_id_t id)
{
	if (tracer.full)
		finish();
	register_callbacks(id);
}

/* Forks: nobody may hold the lock while one happens, and the child's file is the parent's. */

/* Where the child's trace is to go stands before the child does, so that whoever reads traces has it when it has no
 * other. If there is no fork after all, it is a trace of which nothing came. */
static void before_fork(void)
{
	pthread_mutex_lock(&tracer.lock);
	tracer.child = tracer.options.children && tracer.writer ? gus_follow_connect(tracer.options.follow) : -1;
}

static void after_fork(void)
{
	if (tracer.child >= 0)
		close(tracer.child);
	tracer.child = -1;
	pthread_mutex_unlock(&tracer.lock);
}

/* The threads of the streams are not here, and the one that is has a new one. */
static void forget_streams(void)
{
	for (size_t i = 0; i < tracer.streams.n; i++) {
		gus_steps_free(tracer.streams.v[i]);
		free(tracer.streams.v[i]);
	}
	for (unsigned i = 0; i < tracer.vcpus; i++)
		atomic_store(&tracer.of_vcpu[i], NULL);
	tracer.streams.n = 0;
	tracer.running = tracer.vcpus = 0;
}

/* A trace of this process alone: none of the code has been told in it. */
static void begin_child(void)
{
	forget_streams();
	begin_trace(tracer.child);
}

static void after_fork_in_child(void)
{
	atomic_store(&tracer.over, true);
	gus_trace_writer_abandon(tracer.writer); /* else a pipe would have no end until this process has */
	tracer.writer = NULL;
	for (size_t i = 0; i < tracer.streams.n; i++)
		atomic_store(&tracer.streams.v[i]->busy, false);
	if (tracer.child >= 0)
		begin_child();
	tracer.child = -1;
	atomic_store(&tracer.forked, true);
	pthread_mutex_unlock(&tracer.lock);
}

static int install(const qemu_info_t *info, int argc, char **argv, struct gus_error *err)
{
	if (info->system_emulation)
		return gus_fail(err, GUS_E_UNSUPPORTED, "only programs can be traced, not whole systems: use qemu-%s",
				info->target_name);
	if (gus_tracer_options_parse(&tracer.options, argc, argv, err) != 0)
		return -1;
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0)
		return gus_fail_errno(err, errno,
				      "cannot trace: this kernel has no expedited membarrier (Linux 4.14 has)");
	if (pthread_atfork(before_fork, after_fork, after_fork_in_child) != 0)
		return gus_fail(err, GUS_E_SYSTEM, "cannot trace: there is no memory to watch for forks");
	tracer.isa = strcmp(info->target_name, "x86_64") == 0 ? GUS_TRANSLATED_X86_64 :
		strcmp(info->target_name, "i386") == 0 ? GUS_TRANSLATED_X86_32 :
		strcmp(info->target_name, "aarch64") == 0 ? GUS_TRANSLATED_ARM64 : GUS_TRANSLATED_OTHER;
	gus_strings_init(&tracer.known);
	gus_origins_init(&tracer.origins, (uint32_t)getpid());
	tracer.children = mmap(NULL, sizeof(*tracer.children), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			       0);
	if (tracer.children == MAP_FAILED)
		return gus_fail_errno(err, errno, "cannot trace: there is no memory to share with what is forked off");
	atomic_store(&tracer.over, tracer.options.replay); /* until the snapshot is loaded */
	tracer.target = info->target_name;
	tracer.ignored = tracer.options.follow ? gus_follow_ignored() : 0;
	if (create(err) == 0)
		return 0;
	if (!tracer.options.follow)
		return -1;
	/* It has become this program when nobody could say yet that its trace would not be taken: since it has another
	 * user by now, or there are too many. It would have run without us, so it runs without a trace. */
	complain(err);
	*err = (struct gus_error){ 0 };
	atomic_store(&tracer.over, true);
	return 0;
}

EXPORT int qemu_plugin_version = QEMU_API;

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	struct gus_error err = { 0 };

	tracer.id = id;
	if (install(info, argc, argv, &err) != 0) {
		complain(&err);
		gus_origins_free(&tracer.origins);
		gus_tracer_options_free(&tracer.options);
		return -1;
	}
	register_callbacks(id);
	return 0;
}
