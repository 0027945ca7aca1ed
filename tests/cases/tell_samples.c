/* SPDX-License-Identifier: MIT */
/* `tell-samples FILE`: all that a recording says of samples, switches and side band, a line each, in the order of time,
 * for comparing one recording with another. FILE is one of ours, or a perf.data. Fields that are 0 are left out. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "attribution/profile/order.h"
#include "base/error.h"
#include "base/text.h"
#include "collector/perfdata/container.h"
#include "collector/perfdata/import.h"
#include "proto/reader.h"
#include "proto/sample.h"

static void number(const char *name, uint64_t value)
{
	if (value)
		printf(" %s=%" PRIx64, name, value);
}

static void words(const char *name, const uint64_t *v, size_t n)
{
	if (n)
		printf(" %s", name);
	for (size_t i = 0; i < n; i++)
		printf("%c%" PRIx64, i ? ',' : '=', v[i]);
}

static void tell_branches(const struct gus_sample *s)
{
	for (uint32_t i = 0; i < s->branches_n; i++) {
		const struct gus_branch *b = &s->branches[i];

		printf("%s%" PRIx64 "/%" PRIx64 "/%x/%u", i ? "," : " branches=", b->from, b->to, b->flags, b->cycles);
	}
	number("index", s->branch_index);
}

static void tell_sample(void *context, const struct gus_sample *s)
{
	const Gusprof__Header *header = context;

	gus_text_print(stdout, "%llu sample event=%s", (unsigned long long)s->time,
		       s->event < header->n_events ? header->events[s->event]->name : "?");
	number("ip", s->ip);
	number("period", s->period);
	number("pid", s->pid);
	number("tid", s->tid);
	number("cpu", s->cpu);
	number("mode", s->mode);
	number("exact", s->exact);
	words("chain", s->chain, s->chain_n);
	tell_branches(s);
	words("regs", s->regs, s->regs_n);
	words("stack", s->stack, s->stack_n);
	number("told", s->told);
	number("address", s->address);
	number("physical", s->physical);
	number("data_page", s->data_page);
	number("code_page", s->code_page);
	number("data_source", s->data_source);
	number("weight", s->weight);
	number("instruction", s->instruction_latency);
	number("issue", s->issue_latency);
	number("translation", s->translation_latency);
	number("retire", s->retire_latency);
	number("transaction", s->transaction);
	number("cgroup", s->cgroup);
	words("extras", s->extras, s->extras_n);
	number("events", s->events);
	number("callers", s->callers);
	printf("\n");
}

static void tell_switch(void *context, const struct gus_switch *sw)
{
	(void)context;
	printf("%" PRIu64 " switch pid=%u tid=%u cpu=%u out=%u preempt=%u\n", sw->time, sw->pid, sw->tid, sw->cpu,
	       sw->out,
	       sw->preempt);
}

static void tell_mapping(const Gusprof__Mmap *m)
{
	if (m->protection &&
	    !(m->protection & 4)) /* not of code: who has none may write them, and nothing is looked for there */
		return;
	gus_text_print(stdout, "%llu mmap pid=%u tid=%u start=%llx length=%llx offset=%llx kernel=%u path=%s id=",
		       (unsigned long long)m->time, m->pid, m->tid, (unsigned long long)m->start,
		       (unsigned long long)m->length, (unsigned long long)m->offset, m->kernel, m->path);
	for (size_t i = 0; i < m->build_id.len; i++)
		printf("%02x", m->build_id.data[i]);
	if (!m->build_id.len)
		printf("%u:%u:%" PRIu64, m->major, m->minor, m->inode);
	printf("\n");
}

static void tell_task(const char *what, const Gusprof__Task *t)
{
	printf("%" PRIu64 " %s pid=%u ppid=%u tid=%u ptid=%u\n", t->time, what, t->pid, t->ppid, t->tid, t->ptid);
}

static void tell_record(void *context, const Gusprof__Record *r)
{
	(void)context;
	switch (r->kind_case) {
	case GUSPROF__RECORD__KIND_MMAP:
		tell_mapping(r->mmap);
		break;
	case GUSPROF__RECORD__KIND_COMM:
		gus_text_print(stdout, "%llu comm pid=%u tid=%u exec=%u name=%s\n", (unsigned long long)r->comm->time,
			       r->comm->pid, r->comm->tid, r->comm->exec, r->comm->name);
		break;
	case GUSPROF__RECORD__KIND_FORK:
		tell_task("fork", r->fork);
		break;
	case GUSPROF__RECORD__KIND_EXIT:
		tell_task("exit", r->exit);
		break;
	case GUSPROF__RECORD__KIND_KSYMBOL:
		gus_text_print(stdout, "%llu ksymbol address=%llx length=%u type=%u gone=%u name=%s\n",
			       (unsigned long long)r->ksymbol->time, (unsigned long long)r->ksymbol->address,
			       r->ksymbol->length, r->ksymbol->type, r->ksymbol->unregister, r->ksymbol->name);
		break;
	case GUSPROF__RECORD__KIND_LOST:
		printf("%" PRIu64 " lost cpu=%u event=%u count=%" PRIu64 "\n", r->lost->time, r->lost->cpu,
		       r->lost->event, r->lost->count);
		break;
	case GUSPROF__RECORD__KIND_THROTTLE:
		printf("%" PRIu64 " throttle cpu=%u event=%u stop=%u\n", r->throttle->time, r->throttle->cpu,
		       r->throttle->event, r->throttle->stop);
		break;
	default:
		break;
	}
}

static struct gus_reader *open_any(const char *path, struct gus_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct gus_reader *r;
	char magic[8];

	if (fd < 0 || pread(fd, magic, sizeof(magic), 0) != sizeof(magic) || !gus_perfdata_is(magic, sizeof(magic)))
		r = gus_reader_open(path, err);
	else
		r = gus_perfdata_reader(fd, path, err);
	if (fd >= 0)
		close(fd);
	return r;
}

int main(int argc, char **argv)
{
	struct gus_order_sink sink = { .sample = tell_sample, .sw = tell_switch, .record = tell_record,
				       .kinds = ~(1u << GUSPROF__RECORD__KIND_JIT) };
	struct gus_error err = { 0 };
	struct gus_reader *r = argc == 2 ? open_any(argv[1], &err) : NULL;
	uint64_t late = 0;
	int rc;

	if (!r) {
		gus_text_print(stderr, "%s\n", argc == 2 ? err.text : "usage: tell-samples FILE");
		return 2;
	}
	sink.context = (void *)(uintptr_t)gus_reader_header(r);
	rc = gus_order_each(r, SIZE_MAX, &sink, &late, &err);
	if (rc != 0 || late)
		gus_text_print(stderr, "%s\n", late ? "some came too late" : err.text);
	gus_reader_close(r);
	return rc != 0 || late;
}
