/* SPDX-License-Identifier: MIT */
/* What -p, -t and -C mean, what /proc says, and what becomes side band of it. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/foreign_file.h"
#include "collector/host/build_id.h"
#include "collector/host/procfs.h"
#include "collector/session/living.h"
#include "collector/target/target.h"

static void numbers(void **state)
{
	static const struct { const char *text; size_t n; } cases[] = {
		{ "1", 1 }, { "1,2", 2 }, { "7,7,7", 1 }, { "", 0 }, { ",", 0 }, { "1,", 0 }, { ",1", 0 }, { "0", 0 },
		{ "-1", 0 }, { "+1", 0 }, { " 1", 0 }, { "1 ", 0 }, { "0x10", 0 }, { "1;2", 0 }, { "99999999999", 0 },
		{ "99999999999999999999999", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };
		struct gus_target t;
		int rc;

		gus_target_init(&t);
		rc = gus_target_add(&t, GUS_TARGET_PROCESSES, cases[i].text, &err);
		assert_int_equal(rc, cases[i].n ? 0 : -1);
		assert_int_equal(err.code, cases[i].n ? GUS_OK : GUS_E_USAGE);
		if (cases[i].n)
			assert_int_equal(t.watches.n, cases[i].n);
		gus_target_free(&t);
	}
}

static void one_kind_at_a_time(void **state)
{
	struct gus_error err = { 0 };
	struct gus_target t;
	char *text;

	(void)state;
	gus_target_init(&t);
	assert_int_equal(gus_target_add(&t, GUS_TARGET_PROCESSES, "5", &err), 0);
	assert_int_equal(gus_target_add(&t, GUS_TARGET_PROCESSES, "6,5", &err), 0);
	text = gus_target_describe(&t);
	assert_string_equal(text, "process 5, process 6");
	free(text);
	assert_int_equal(gus_target_add(&t, GUS_TARGET_THREADS, "7", &err), -1);
	assert_int_equal(err.code, GUS_E_USAGE);
	gus_target_free(&t);
}

static void cpu_lists(void **state)
{
	static const struct { const char *text; int rc; } cases[] = {
		{ "0", 0 }, { "0-0", 0 }, { "0,0", 0 }, { "", -1 }, { "x", -1 }, { "0-", -1 }, { "0,", -1 },
			{ "-0", -1 },
		{ "1-0", -1 }, { "0 ", -1 }, { "60000", -1 }, { "0-60000", -1 }, { "99999999999999999999", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };
		struct gus_target t;

		gus_target_init(&t);
		assert_int_equal(gus_target_set_cpus(&t, cases[i].text, &err), cases[i].rc);
		assert_int_equal(err.code, cases[i].rc ? GUS_E_USAGE : GUS_OK);
		gus_target_free(&t);
	}
}

static void tasks(void **state)
{
	struct gus_tids tids = { 0 };
	struct gus_task t;
	int status, go[2];
	pid_t pid;

	(void)state;
	assert_true(gus_task_read(getpid(), &t));
	assert_int_equal(t.tgid, getpid());
	assert_int_equal(t.ppid, getppid());
	assert_int_equal(t.uid, getuid());
	assert_false(t.kernel_thread || gus_task_ended(&t));
	assert_true(t.start > 0);
	assert_true(gus_tids_of(getpid(), &tids));
	assert_int_equal(tids.v[0], getpid());
	gus_vec_free(&tids);

	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		char byte;

		_exit(read(go[0], &byte, 1) != 1);
	}
	assert_int_equal(write(go[1], "", 1), 1);
	while (gus_task_read(pid, &t) && !gus_task_ended(&t))
		usleep(1000);
	assert_int_equal(t.state, 'Z');
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_false(gus_task_read(pid, &t));
	assert_false(gus_tids_of(pid, &tids));
	close(go[0]);
	close(go[1]);
}

/* A file is read to its end if that is not too far; how far maps goes, its process decides. */
static void long_files(void **state)
{
	char path[] = "/tmp/gusprof-test-XXXXXX", bytes[10000], *text;
	int fd = mkstemp(path);
	size_t size = 0;

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	assert_true(fd >= 0 && write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes));
	close(fd);
	text = gus_procfs_read_most(path, sizeof(bytes), &size);
	assert_int_equal(size, sizeof(bytes));
	assert_memory_equal(text, bytes, size);
	assert_int_equal(text[size], '\0');
	free(text);
	errno = 0;
	assert_null(gus_procfs_read_most(path, sizeof(bytes) - 1, &size));
	assert_int_equal(errno, EFBIG);
	unlink(path);
	assert_null(gus_procfs_read_most(path, sizeof(bytes), &size));
	assert_int_equal(errno, ENOENT);
}

static void mappings(void **state)
{
	static const char text[] =
		"5580-55a0 r-xp 00001000 fd:01 1234                       /usr/bin/a name with blanks\n"
		"7f00-7f01 rw-s 00000000 00:05 9 /dev/zero (deleted)\n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n"
		"1000-2000 ---p 00000000 00:00 0 \n"
		"garbage\n";
	struct gus_mapping m;
	const char *at = text;
	char path[32];

	(void)state;
	assert_true(gus_mapping_next(&at, &m));
	assert_true(m.start == 0x5580 && m.end == 0x55a0 && m.offset == 0x1000);
	assert_true(m.major == 0xfd && m.minor == 1 && m.inode == 1234);
	assert_int_equal(m.protection, PROT_READ | PROT_EXEC);
	assert_int_equal(m.flags, MAP_PRIVATE);
	assert_int_equal(m.path_length, strlen("/usr/bin/a name with blanks"));
	assert_memory_equal(m.path, "/usr/bin/a name with blanks", m.path_length);
	assert_true(gus_mapping_next(&at, &m));
	assert_int_equal(m.flags, MAP_SHARED);
	assert_int_equal(m.protection, PROT_READ | PROT_WRITE);
	assert_memory_equal(m.path, "/dev/zero (deleted)", m.path_length);
	assert_true(gus_mapping_next(&at, &m));
	assert_true(m.start == 0xffffffffff600000 && m.protection == PROT_EXEC);
	assert_true(gus_mapping_next(&at, &m));
	assert_int_equal(m.path_length, 0);
	assert_false(gus_mapping_next(&at, &m));
	at = "";
	assert_false(gus_mapping_next(&at, &m));
	/* a newline in a path, and what only looks like one's beginning */
	at = "1000-2000 r--p 00000000 fd:01 7 /a\\012b\\01\n";
	assert_true(gus_mapping_next(&at, &m));
	assert_int_equal(gus_mapping_path(&m, path), strlen("/a\nb\\01"));
	assert_string_equal(path, "/a\nb\\01");
	/* a line that stops anywhere is no mapping, or one without a path */
	for (const char *cut = text; *cut && *cut != '\n'; cut++) {
		char *line = gus_strndup(text, (size_t)(cut - text));

		at = line;
		if (gus_mapping_next(&at, &m))
			assert_true(m.path + m.path_length <= line + strlen(line));
		free(line);
	}
}

/* A file of the least that an ELF file with a build id needs. */
static int make_elf(const uint8_t *id, uint32_t size, uint16_t segments)
{
	uint8_t bytes[256] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };
	const uint64_t table = 64, notes = 128, notes_size = 16 + size;
	const uint16_t each = 56;
	const uint32_t type = 4, note[] = { 4, size, 3, 0x00554e47 };
	int fd = memfd_create("elf", MFD_CLOEXEC);

	memcpy(bytes + 32, &table, 8);
	memcpy(bytes + 54, &each, 2);
	memcpy(bytes + 56, &segments, 2);
	memcpy(bytes + 64, &type, 4);
	memcpy(bytes + 64 + 8, &notes, 8);
	memcpy(bytes + 64 + 32, &notes_size, 8);
	memcpy(bytes + 128, note, 16);
	memcpy(bytes + 144, id, size);
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	return fd;
}

static void build_ids(void **state)
{
	static const uint8_t id[20] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 };
	uint8_t got[20];
	int fd = make_elf(id, 20, 1);

	(void)state;
	assert_int_equal(gus_file_build_id(fd, got), 20);
	assert_memory_equal(got, id, 20);
	/* cut anywhere: never a crash, and nothing once the note is not whole */
	for (int size = 255; size >= 0; size--) {
		assert_int_equal(ftruncate(fd, size), 0);
		assert_int_equal(gus_file_build_id(fd, got), size >= 164 ? 20 : 0);
	}
	close(fd);
	fd = make_elf(id, 8, 1);
	assert_int_equal(gus_file_build_id(fd, got), 8);
	close(fd);
	fd = make_elf(id, 20, 0);
	assert_int_equal(gus_file_build_id(fd, got), 0);
	close(fd);
	fd = make_elf(id, 20, 60000);
	assert_int_equal(gus_file_build_id(fd, got), 0);
	close(fd);
}

/* All notes of a file together have 64 KiB to be looked at, whatever its headers say: those that go beyond are passed
 * over, and a short one behind them is found. */
static void many_notes(void **state)
{
	static const struct { uint64_t sizes[3]; uint8_t want; } cases[] = {
		{ { 32768, 32768, 24 }, 2 }, { { 32768, 32769, 24 }, 3 }, { { 65536, 24, 24 }, 0 },
		{ { 65537, 24, 24 }, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int fd = make_elf((const uint8_t[20]){ 1 }, 20, 3);
		uint8_t got[20];

		assert_int_equal(ftruncate(fd, 0x70000), 0);
		for (uint64_t k = 0; k < 3; k++) {
			const uint64_t at = (k + 1) << 17;
			const uint64_t header[] = { 4, at, 0, 0, cases[i].sizes[k], 0, 0 };
			const uint8_t note[24] = { 4, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0,
						   (uint8_t)(k + 1) };

			assert_int_equal(pwrite(fd, header, sizeof(header), (off_t)(64 + 56 * k)), sizeof(header));
			if (k) /* the first has zeros only */
				assert_int_equal(pwrite(fd, note, sizeof(note), (off_t)at), sizeof(note));
		}
		got[0] = 0;
		assert_int_equal(gus_file_build_id(fd, got), cases[i].want ? 8 : 0);
		assert_int_equal(got[0], cases[i].want);
		close(fd);
	}
}

/* What is told of this very process has its name, and its code where it really is. */
static void living(void **state)
{
	struct gus_sideband s = { 0 };
	struct gus_living l;
	bool named = false, mapped = false;
	uint64_t here = (uint64_t)(uintptr_t)living;
	struct gus_tids threads = { 0 };

	(void)state;
	gus_living_init(&l);
	gus_living_add(&l, getpid());
	gus_living_add(&l, 0x7ffffff0); /* nobody */
	gus_living_describe(&l, 100, UINT64_MAX / 2, 200, &s);
	assert_int_equal(l.pids.n, 1);
	for (size_t i = 0; i < s.records.n; i++) {
		const Gusprof__Record *r = s.records.v[i];

		if (r->kind_case == GUSPROF__RECORD__KIND_COMM) {
			assert_int_equal(r->comm->time, 100);
			named |= strncmp(r->comm->name, "test_target", 11) == 0 && r->comm->pid == (uint32_t)getpid();
		} else {
			assert_int_equal(r->kind_case, GUSPROF__RECORD__KIND_MMAP);
			assert_true(r->mmap->protection & PROT_EXEC);
			mapped |= here >= r->mmap->start && here < r->mmap->start + r->mmap->length &&
				  strstr(r->mmap->path, "test_target");
		}
	}
	assert_true(named && mapped);
	gus_sideband_clear(&s);
	gus_living_describe(&l, 100, 0, 200, &s); /* born since the recording began: not before it was looked at */
	assert_int_equal(s.records.v[0]->comm->time, 200);
	assert_true(gus_living_threads(&threads, &l));
	assert_int_equal(threads.v[0], getpid());
	gus_vec_free(&threads);
	gus_sideband_free(&s);
	gus_living_free(&l);
	gus_living_init(&l);
	assert_false(gus_living_threads(&threads, &l));
	gus_living_free(&l);
}

/* As a user whom the kernel does not give the files themselves: maps a page of one, deletes it, and has itself
 * described, where the kernel's "NAME (deleted)" is the name of a pipe: to open that would be to do something. Its
 * status is 0 if the pipe was not opened, 77 if it could not be tried. */
static int describe_deleted(const char *path, const char *other)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd = open(path, O_RDONLY);
	struct gus_sideband s = { 0 };
	struct gus_living l;
	char event[512];
	ssize_t n;

	if (watch < 0 || fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return 77;
	if (unlink(path) != 0 || inotify_add_watch(watch, other, IN_OPEN) < 0)
		return 1;
	gus_living_init(&l);
	gus_living_add(&l, getpid());
	gus_living_describe(&l, 100, 0, 200, &s);
	n = read(watch, event, sizeof(event));
	gus_sideband_free(&s);
	gus_living_free(&l);
	return n > 0 ? 2 : 0;
}

static void deleted_files(void **state)
{
	char folder[] = "/tmp/gusprof-test-XXXXXX", *paths[2];
	int status;
	pid_t pid;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < 2; i++) {
		FILE *f;

		paths[i] = gus_format("%s/file%s", folder, i ? " (deleted)" : "");
		if (i) {
			assert_true(mkfifo(paths[i], 0666) == 0 && chmod(paths[i], 0666) == 0);
			continue;
		}
		f = fopen(paths[i], "w");
		assert_true(f && fputs("not an ELF file", f) >= 0 && fclose(f) == 0);
	}
	assert_int_equal(chmod(folder, 0777), 0);
	pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setuid(65534) != 0))
			_exit(77);
		_exit(describe_deleted(paths[0], paths[1]));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	unlink(paths[0]);
	unlink(paths[1]);
	rmdir(folder);
	free(paths[0]);
	free(paths[1]);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(); /* no inotify, or no code from this place */
	assert_int_equal(status, 0);
}

static size_t mappings_of(const struct gus_sideband *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->records.n; i++)
		n += s->records.v[i]->kind_case == GUSPROF__RECORD__KIND_MMAP;
	return n;
}

/* How many mappings there are, others decide; how many are kept has limits, and what is not is counted. */
static void crowded_processes(void **state)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Task fork = GUSPROF__TASK__INIT;
	struct gus_sideband s = { 0 };
	struct gus_living l;
	size_t all;

	(void)state;
	gus_living_init(&l);
	gus_living_add(&l, getpid());
	gus_living_describe(&l, 100, 0, 200, &s);
	all = mappings_of(&s);
	assert_true(all >= 3 && !l.left_out); /* the program, the C library, the vdso */
	gus_sideband_clear(&s);
	l.process_most = 1; /* is reached by the first, whatever its length */
	gus_living_describe(&l, 100, 0, 200, &s);
	assert_int_equal(mappings_of(&s), 1);
	assert_int_equal(l.left_out, all - 1);
	gus_sideband_clear(&s);
	l.process_most = SIZE_MAX;
	l.most = 1; /* by the process's name */
	gus_living_describe(&l, 100, 0, 200, &s);
	assert_int_equal(mappings_of(&s), 0);
	assert_int_equal(l.left_out, 2 * all - 1);

	l.left_out = 0;
	l.remembers = true;
	l.most = SIZE_MAX;
	record.kind_case = GUSPROF__RECORD__KIND_FORK;
	record.fork = &fork;
	gus_living_note(&l, &record);
	assert_int_equal(l.past.records.n, 1);
	l.most = l.past.bytes + 1;
	gus_living_note(&l, &record);
	gus_living_note(&l, &record);
	record.kind_case = GUSPROF__RECORD__KIND_EXIT; /* is not remembered anyhow */
	gus_living_note(&l, &record);
	assert_int_equal(l.past.records.n, 2);
	assert_int_equal(l.left_out, 1);
	gus_sideband_free(&s);
	gus_living_free(&l);
}

/* A parent that maps code, a child of its that is born and ends before the next file begins, and a process of which
 * nothing was ever said: the next file has the child's birth and its parent's code again, the one after it has
 * neither. */
static void living_recalls(void **state)
{
	static const uint32_t parent = 0x7ffffff0, child = 0x7ffffff1; /* nobody */
	Gusprof__Mmap code = GUSPROF__MMAP__INIT;
	Gusprof__Task birth = GUSPROF__TASK__INIT;
	Gusprof__Record mmap = GUSPROF__RECORD__INIT, fork = GUSPROF__RECORD__INIT;
	struct gus_sideband s = { 0 };
	struct gus_living l;

	(void)state;
	code.pid = code.tid = parent;
	code.time = 10;
	code.path = (char *)(uintptr_t)"/bin/sort";
	mmap.kind_case = GUSPROF__RECORD__KIND_MMAP;
	mmap.mmap = &code;
	birth.pid = birth.tid = child;
	birth.ppid = birth.ptid = parent;
	birth.time = 20;
	fork.kind_case = GUSPROF__RECORD__KIND_FORK;
	fork.fork = &birth;

	gus_living_init(&l);
	l.remembers = true;
	gus_living_add(&l, 0x7ffffff2);
	gus_living_note(&l, &mmap);
	gus_living_note(&l, &fork);
	gus_living_describe(&l, 100, UINT64_MAX / 2, 200, &s);
	assert_int_equal(s.records.n, 2);
	assert_int_equal(s.records.v[0]->kind_case, GUSPROF__RECORD__KIND_MMAP);
	assert_int_equal(s.records.v[0]->mmap->time, 10);
	assert_string_equal(s.records.v[0]->mmap->path, "/bin/sort");
	assert_int_equal(s.records.v[1]->kind_case, GUSPROF__RECORD__KIND_FORK);
	assert_int_equal(s.records.v[1]->fork->pid, child);
	gus_sideband_clear(&s);
	gus_living_describe(&l, 100, UINT64_MAX / 2, 200, &s);
	assert_int_equal(s.records.n, 0);
	gus_sideband_free(&s);
	gus_living_free(&l);
}

/* Many that have ended are forgotten, those that live are not; but for a further file, all are wanted. */
static void living_forgets(void **state)
{
	uint32_t own = (uint32_t)getpid();
	struct gus_living l;

	(void)state;
	for (unsigned remembers = 0; remembers < 2; remembers++) {
		gus_living_init(&l);
		l.remembers = remembers;
		gus_living_add(&l, (pid_t)own);
		for (uint32_t i = 0; i < 10000; i++)
			gus_living_add(&l, (pid_t)(0x70000000 + i)); /* nobody */
		assert_true(remembers ? l.pids.n == 10001 : l.pids.n < 2000);
		assert_int_not_equal(gus_index_find(&l.pids, &own), GUS_INDEX_NONE);
		gus_living_free(&l);
	}
}

/* A child of ours with these users (real, effective, saved), group and a further group of it; its rights. */
static struct gus_rights rights_with(uid_t real, uid_t effective, uid_t saved)
{
	const gid_t more[] = { 77, 88 };
	struct gus_rights r;
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (setgroups(2, more) != 0 || setresgid(66, 0, 0) != 0 || setresuid(real, effective, saved) != 0 ||
		    write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	assert_true(gus_task_rights(pid, &r));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return r;
}

/* A program that is set-user-ID for root still does what its caller names. */
static void rights_of_tasks(void **state)
{
	struct gus_rights r;

	(void)state;
	assert_true(gus_task_rights(getpid(), &r));
	assert_false(r.limited);
	assert_false(gus_task_rights(0x7fffffff, &r));
	assert_true(r.limited && r.uid == 65534 && r.gid == 65534 && !r.groups_n);
	if (geteuid() != 0) {
		print_message("not tried: other users' processes, which only root can make\n");
		return;
	}
	r = rights_with(0, 0, 0);
	assert_false(r.limited);
	r = rights_with(12345, 0, 0);
	assert_true(r.limited && r.uid == 12345 && r.gid == 66 && r.groups_n == 2);
	assert_true(r.groups[0] == 77 && r.groups[1] == 88);
	r = rights_with(0, 12345, 0);
	assert_true(r.limited && r.uid == 12345 && r.gid == 0);
	r = rights_with(0, 0, 12345);
	assert_true(r.limited && r.uid == 12345);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(one_kind_at_a_time),
		cmocka_unit_test(cpu_lists),
		cmocka_unit_test(tasks),
		cmocka_unit_test(long_files),
		cmocka_unit_test(mappings),
		cmocka_unit_test(build_ids),
		cmocka_unit_test(rights_of_tasks),
		cmocka_unit_test(many_notes),
		cmocka_unit_test(living),
		cmocka_unit_test(deleted_files),
		cmocka_unit_test(crowded_processes), cmocka_unit_test(living_recalls), cmocka_unit_test(living_forgets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
