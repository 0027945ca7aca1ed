/* SPDX-License-Identifier: MIT */
#include "collector/session/made.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/ascending.h"
#include "base/error.h"
#include "base/foreign_file.h"
#include "collector/host/mapped.h"
#include "collector/host/procfs.h"
#include "proto/sample.h"

#define NS 1000000000ull
#define WAIT_FIRST (NS / 10)    /* between looks for a map; doubles */
#define WAIT_LAST (5 * NS)
#define SLACK (2 * NS)          /* by which a file may be older than its process: clocks are read one after the other */
#define GROWTH_MOST 4096        /* looks at a file that are kept; of more, every second one is */

struct hit { uint32_t family, zero; uint64_t address; };

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

void gus_made_init(struct gus_made *m, size_t files)
{
	*m = (struct gus_made){ .start_realtime = clock_ns(CLOCK_REALTIME),
				.files_most = files < GUS_MADE_FILES ? (uint32_t)files : GUS_MADE_FILES };
	gus_index_init(&m->pids, sizeof(uint32_t));
	gus_index_init(&m->hits, sizeof(struct hit));
}

static void drop_file(struct gus_made *m, int fd)
{
	if (fd < 0)
		return;
	close(fd);
	m->files--;
}

static void close_file(struct gus_made_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	gus_vec_free(&f->growth);
}

static void close_folder(struct gus_made *m, struct gus_maker *k)
{
	drop_file(m, k->folder);
	k->folder = -1;
}

void gus_made_free(struct gus_made *m)
{
	for (size_t i = 0; i < m->makers.n; i++) {
		close_file(&m->makers.v[i].map);
		close_file(&m->makers.v[i].dump);
		close_folder(m, &m->makers.v[i]);
		free(m->makers.v[i].rights);
		free(m->makers.v[i].trouble);
	}
	gus_vec_free(&m->makers);
	gus_vec_free(&m->latest);
	for (size_t i = 0; i < m->news.n; i++)
		drop_file(m, m->news.v[i].dump);
	gus_vec_free(&m->news);
	gus_vec_free(&m->early);
	gus_index_free(&m->pids);
	gus_index_free(&m->hits);
	*m = (struct gus_made){ 0 };
}

/* Makers. */

static struct gus_maker *maker_of(const struct gus_made *m, uint32_t pid)
{
	uint32_t number = gus_index_find(&m->pids, &pid);

	return number == GUS_INDEX_NONE || !m->latest.v[number] ? NULL : &m->makers.v[m->latest.v[number] - 1];
}

/* Whoever had the number before has ended, or is another program now. */
static void set_maker(struct gus_made *m, uint32_t pid, uint32_t value)
{
	struct gus_maker *before = maker_of(m, pid);
	bool is_new;
	uint32_t number = gus_index_add(&m->pids, &pid, &is_new);

	if (before)
		before->gone = true;
	if (is_new)
		gus_vec_push(&m->latest, 0);
	m->latest.v[number] = value;
	m->last_pid = 0;
	m->last = 0;
}

/* The maker that pid is from now on; NULL if there is no room. A family has the number of its first member. */
static struct gus_maker *add_maker(struct gus_made *m, uint32_t pid, uint64_t since, const struct gus_maker *parent)
{
	uint32_t family = parent ? parent->family : (uint32_t)m->makers.n;

	if (m->makers.n >= GUS_MADE_MAKERS) {
		m->left_out++;
		return NULL;
	}
	gus_vec_push(&m->makers, (struct gus_maker){ .pid = pid, .family = family, .since = since, .wait = WAIT_FIRST,
						     .folder = -1, .map = { .fd = -1 }, .dump = { .fd = -1 } });
	set_maker(m, pid, (uint32_t)m->makers.n);
	return &m->makers.v[m->makers.n - 1];
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Whether the kernel's name of a mapping is one for memory that no file has the code of: a runtime's own. */
static bool is_made(const char *path)
{
	static const char *const own[] = { "//anon", "/dev/zero", "/anon_hugepage", "/memfd:", "/SYSV", "[heap]",
					   "[stack", "[anon" };

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (begins(path, own[i]))
			return true;
	return !*path;
}

/* Whether it is "jit-PID.dump". */
static bool is_dump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t digits = name && begins(name, "/jit-") ? strspn(name + 5, "0123456789") : 0;

	return digits && strcmp(name + 5 + digits, ".dump") == 0;
}

static bool has_room(struct gus_made *m)
{
	if (m->files < m->files_most)
		return true;
	m->left_out++;
	return false;
}

static int open_dump(struct gus_made *m, const Gusprof__Mmap *map)
{
	const struct gus_mapped mapped = { .start = map->start, .end = map->start + map->length, .path = map->path,
					   .path_length = strlen(map->path), .build_id = map->build_id.data,
					   .build_id_size = map->build_id.len,
					   .identity = { map->inode, map->major, map->minor } };
	int fd = has_room(m) ? gus_mapped_open((pid_t)map->pid, &mapped) : -1;

	m->files += fd >= 0;
	return fd;
}

/* A file is opened at once, as it may be gone when the reading ends. */
void gus_made_note(struct gus_made *m, const Gusprof__Record *r)
{
	struct gus_made_news n = { .order = m->news.n, .dump = -1 };

	if (r->kind_case == GUSPROF__RECORD__KIND_MMAP) {
		const Gusprof__Mmap *map = r->mmap;

		if (map->kernel || !(is_dump(map->path) || is_made(map->path)))
			return;
		n.kind = GUS_MADE_MAPPED;
		n.time = map->time;
		n.pid = map->pid;
		if (is_dump(map->path))
			n.dump = open_dump(m, map);
	} else if (r->kind_case == GUSPROF__RECORD__KIND_FORK && r->fork->pid != r->fork->ppid) {
		n.kind = GUS_MADE_FORKED;
		n.time = r->fork->time;
		n.pid = r->fork->pid;
		n.ppid = r->fork->ppid;
	} else if (r->kind_case == GUSPROF__RECORD__KIND_COMM && r->comm->exec) {
		n.kind = GUS_MADE_EXECUTED;
		n.time = r->comm->time;
		n.pid = r->comm->pid;
	} else {
		return;
	}
	gus_vec_push(&m->news, n);
}

static void play_mapping(struct gus_made *m, const struct gus_made_news *n)
{
	struct gus_maker *k = maker_of(m, n->pid);

	if (!k)
		k = add_maker(m, n->pid, n->time, NULL);
	if (k && n->time < k->since)
		k->since = n->time;
	if (k && k->dump.fd < 0)
		k->dump.fd = n->dump;
	else
		drop_file(m, n->dump);
}

/* What is later than the news is not touched by it: that was read in the reading before. */
static void play_end(struct gus_made *m, const struct gus_made_news *n)
{
	const struct gus_maker *k = maker_of(m, n->pid);

	if (k && k->since <= n->time)
		set_maker(m, n->pid, 0);
}

static void play_fork(struct gus_made *m, const struct gus_made_news *n)
{
	const struct gus_maker *parent;
	struct gus_maker copy;

	play_end(m, n); /* the number was another's */
	parent = maker_of(m, n->ppid);
	if (!parent || parent->since > n->time || maker_of(m, n->pid))
		return;
	copy = *parent; /* where it is may change */
	add_maker(m, n->pid, n->time, &copy);
}

static int by_time(const void *left, const void *right)
{
	const struct gus_made_news *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void play_news(struct gus_made *m)
{
	static void (*const play[])(struct gus_made *m, const struct gus_made_news *n) = {
		[GUS_MADE_MAPPED] = play_mapping, [GUS_MADE_FORKED] = play_fork, [GUS_MADE_EXECUTED] = play_end,
	};

	if (m->news.n)
		qsort(m->news.v, m->news.n, sizeof(*m->news.v), by_time);
	for (size_t i = 0; i < m->news.n; i++)
		play[m->news.v[i].kind](m, &m->news.v[i]);
	m->news.n = 0;
}

/* Hits. */

static void add_hit(struct gus_made *m, uint32_t family, uint64_t address)
{
	struct hit hit = { family, 0, address };

	if (m->hits.n < GUS_MADE_HITS)
		gus_index_add(&m->hits, &hit, NULL);
	else if (gus_index_find(&m->hits, &hit) == GUS_INDEX_NONE)
		m->hits_full = true;
}

/* The number of the pid's maker + 1, 0 if it is none. Most samples are of the process that the one before was of. */
static uint32_t maker_number(struct gus_made *m, uint32_t pid)
{
	const struct gus_maker *k;

	if (!m->makers.n)
		return 0;
	if (pid != m->last_pid) {
		k = maker_of(m, pid);
		m->last_pid = pid;
		m->last = k ? (uint32_t)(k - m->makers.v) + 1 : 0;
	}
	return m->last;
}

static void add_address(struct gus_made *m, uint32_t pid, uint64_t address)
{
	uint32_t number = maker_number(m, pid);
	struct gus_maker *k;

	if ((int64_t)address < 0) /* the kernel's, or a marker of a chain */
		return;
	if (!number) {
		if (m->early.n < GUS_MADE_EARLY)
			gus_vec_push(&m->early, (struct gus_made_early){ address, pid });
		else
			m->hits_full = true;
		return;
	}
	k = &m->makers.v[number - 1];
	/* It may be code that it has inherited, from one who does nothing but wait. (From whom in between, is not
	 * asked: who makes code executes some.) */
	k->sampled = m->makers.v[k->family].sampled = true;
	add_hit(m, k->family, address);
}

void gus_made_sample(struct gus_made *m, const struct gus_sample *s)
{
	if (s->mode == GUS_MODE_USER)
		add_address(m, s->pid, s->ip);
	/* Callers are looked up a byte before where they go on, but where the kernel interrupted, which is exact. */
	for (uint32_t i = 0; i < s->chain_n; i++) {
		add_address(m, s->pid, s->chain[i] - 1);
		if (s->mode != GUS_MODE_USER)
			add_address(m, s->pid, s->chain[i]);
	}
}

void gus_made_settle(struct gus_made *m)
{
	size_t n = m->early.n;

	play_news(m);
	m->early.n = 0;
	for (size_t i = 0; i < n; i++)
		if (maker_number(m, m->early.v[i].pid))
			add_address(m, m->early.v[i].pid, m->early.v[i].address);
}

uint64_t *gus_made_hits(const struct gus_made *m, uint32_t family, size_t *n)
{
	uint64_t *addresses = gus_alloc((size_t)m->hits.n * sizeof(*addresses) + 1);

	*n = 0;
	for (uint32_t i = 0; i < m->hits.n; i++) {
		const struct hit *hit = gus_index_key(&m->hits, i);

		if (hit->family == family)
			addresses[(*n)++] = hit->address;
	}
	qsort(addresses, *n, sizeof(*addresses), gus_ascending_u64);
	return addresses;
}

void gus_made_forget_hits(struct gus_made *m)
{
	gus_index_free(&m->hits);
	gus_index_init(&m->hits, sizeof(struct hit));
	m->hits_full = false;
}

/* Maps. */

static void set_trouble(struct gus_maker *k, char *trouble)
{
	free(k->trouble);
	k->trouble = trouble;
}

/* Whether the process is still there; what it is like then is noted, and its folder held. */
static bool look_at(struct gus_made *m, struct gus_maker *k)
{
	uint64_t tick = NS / (uint64_t)sysconf(_SC_CLK_TCK), boot = clock_ns(CLOCK_BOOTTIME);
	struct gus_rights rights;
	struct gus_task task;
	char tmp[48];
	pid_t inner;

	if (!gus_task_read((pid_t)k->pid, &task) || gus_task_ended(&task) || (k->rights && task.start != k->start) ||
	    !gus_task_view((pid_t)k->pid, &rights, &inner))
		return false;
	if (!k->rights)
		k->rights = gus_alloc(sizeof(*k->rights));
	*k->rights = rights;
	k->inner = inner ? inner : (pid_t)k->pid;
	k->start = task.start;
	k->born = clock_ns(CLOCK_REALTIME) - (task.start * tick < boot ? boot - task.start * tick : 0);
	if (k->folder >= 0)
		return true;
	snprintf(tmp, sizeof(tmp), "/proc/%u/root/tmp", k->pid);
	k->folder = open(tmp, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	m->files += k->folder >= 0;
	return true;
}

/* What anybody may have put there in a folder that all may write to: the map is the process's own, or it is none. */
static char *objection(const struct stat *st, const struct gus_maker *k, uint64_t not_before)
{
	uint64_t changed = (uint64_t)st->st_mtim.tv_sec * NS + (uint64_t)st->st_mtim.tv_nsec;

	if (st->st_uid != 0 && st->st_uid != (k->rights ? k->rights->uid : geteuid()))
		return gus_format("it belongs to user %u, who is neither the process's nor root",
				  (unsigned)st->st_uid);
	if (changed + SLACK < not_before)
		return gus_strdup("it is older than the process: an earlier one of this number left it");
	return NULL;
}

static void open_map(struct gus_made *m, struct gus_maker *k, const char *root, pid_t number, uint64_t not_before)
{
	char *path = gus_format("perf-%d.map", (int)number), *why;
	struct gus_error err = { 0 };
	struct stat st;
	int fd = gus_foreign_open_below(root, path, k->rights, &st, &err);

	why = fd < 0 ? gus_format("in its /tmp: %s", err.text) : objection(&st, k, not_before);
	if (fd >= 0 && why) {
		char *said = why;

		why = gus_format("/tmp/%s is not taken: %s", path, said);
		free(said);
		close(fd);
	} else if (fd >= 0) {
		k->map.fd = fd;
		m->files++;
	}
	set_trouble(k, why);
	free(path);
}

/* Of a process that has ended its own folder is still there, if we held it; else the map in ours may be its, if it was
 * written since we began. */
static void find_map(struct gus_made *m, struct gus_maker *k)
{
	char root[40];

	if (k->folder < 0 && !has_room(m)) {
		set_trouble(k, gus_strdup("too many files are held already"));
		k->gone = true;
		return;
	}
	k->gone = !look_at(m, k);
	snprintf(root, sizeof(root), "/proc/self/fd/%d", k->folder);
	if (k->folder >= 0)
		open_map(m, k, root, k->inner, k->born);
	else if (!k->gone)
		set_trouble(k, gus_format("its /tmp does not open: %s", strerror(errno)));
	else if (!k->rights)
		open_map(m, k, "/tmp", (pid_t)k->pid, m->start_realtime);
	if (k->gone || k->map.fd >= 0)
		close_folder(m, k);
}

/* Of a long recording the looks become further apart. */
static void thin(struct gus_made_file *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->growth.n; i += 2)
		f->growth.v[n++] = f->growth.v[i];
	f->growth.n = n;
}

/* What is behind the old end was not there at the look before. */
static void note_growth(struct gus_made_file *f, uint64_t records_now)
{
	struct stat st;

	if (f->fd < 0 || fstat(f->fd, &st) != 0)
		return;
	if (st.st_size > 0 && (uint64_t)st.st_size > f->size) {
		if (f->growth.n >= GROWTH_MOST)
			thin(f);
		gus_vec_push(&f->growth, (struct gus_made_growth){ f->size, f->looked });
		f->size = (uint64_t)st.st_size;
	}
	f->looked = records_now;
}

static bool is_due(const struct gus_maker *k, uint64_t now, bool all)
{
	if (k->map.fd >= 0 || k->gone)
		return false;
	return k->sampled ? all || now >= k->next_look : all && k->trouble;
}

void gus_made_look(struct gus_made *m, uint64_t now, uint64_t records_now, bool all)
{
	for (size_t i = 0; i < m->makers.n; i++) {
		struct gus_maker *k = &m->makers.v[i];

		if (is_due(k, now, all)) {
			find_map(m, k);
			k->sampled = false;
			k->next_look = now + k->wait;
			k->wait = k->wait * 2 < WAIT_LAST ? k->wait * 2 : WAIT_LAST;
		}
		note_growth(&k->map, records_now);
		note_growth(&k->dump, records_now);
	}
}
