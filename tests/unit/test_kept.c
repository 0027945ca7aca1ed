/* SPDX-License-Identifier: MIT */
/* Files that are held open while they are recorded. This process maps some, as a watched one would. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "collector/host/build_id.h"
#include "collector/session/kept.h"

#define SIZE 4096

static char folder[] = "/tmp/gusprof-kept-XXXXXX";

static int enter_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/gusprof-kept-XXXXXX");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

struct mapped { void *at; char *path; struct stat st; };

/* A file of that name with that text, mapped. */
static struct mapped map_file(const char *name, const char *text)
{
	struct mapped m = { .path = gus_format("%s/%s", folder, name) };
	int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	assert_true(fd >= 0 && write(fd, text, strlen(text)) > 0 && ftruncate(fd, SIZE) == 0);
	m.at = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(m.at != MAP_FAILED && fstat(fd, &m.st) == 0);
	close(fd);
	return m;
}

static void unmap(struct mapped *m)
{
	munmap(m->at, SIZE);
	free(m->path);
}

static Gusprof__Mmap record_of(const struct mapped *m, pid_t pid)
{
	Gusprof__Mmap r = GUSPROF__MMAP__INIT;

	r.pid = (uint32_t)pid;
	r.start = (uintptr_t)m->at;
	r.length = SIZE;
	r.path = m->path;
	r.inode = m->st.st_ino;
	r.major = major(m->st.st_dev);
	r.minor = minor(m->st.st_dev);
	return r;
}

static int open_kept(const struct gus_kept *k, const Gusprof__Mmap *r)
{
	return gus_kept_open(k, r->build_id.data, r->build_id.len, r->inode, r->major, r->minor);
}

/* Whether it is held, with that text; "" for not held. */
static void expect(const struct gus_kept *k, const Gusprof__Mmap *r, const char *text)
{
	char read_text[16] = "";
	int fd = open_kept(k, r);

	assert_int_equal(fd >= 0, *text != '\0');
	if (fd < 0)
		return;
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_true(pread(fd, read_text, sizeof(read_text) - 1, 0) > 0);
	assert_string_equal(read_text, text);
	close(fd);
}

static void a_file_outlives_its_name_and_its_mapping(void **state)
{
	struct mapped a = map_file("a", "one"), b;
	Gusprof__Mmap r = record_of(&a, getpid()), other;
	struct gus_kept k;

	(void)state;
	gus_kept_init(&k);
	expect(&k, &r, "");
	gus_kept_note(&k, &r);
	assert_int_equal(unlink("a"), 0);
	b = map_file("a", "two");
	munmap(a.at, SIZE);
	expect(&k, &r, "one");
	other = record_of(&b, getpid());
	expect(&k, &other, "");
	gus_kept_note(&k, &other);
	expect(&k, &other, "two");
	gus_kept_note(&k, &other);
	assert_int_equal(k.n, 2);
	gus_kept_free(&k);
	free(a.path);
	unmap(&b);
}

/* Without a name anywhere. */
static void deleted_files_and_memory_are_held(void **state)
{
	struct mapped a = map_file("a", "one"), m = { 0 };
	Gusprof__Mmap r = record_of(&a, getpid());
	int fd = memfd_create("code", MFD_CLOEXEC);
	struct gus_kept k;

	(void)state;
	if (geteuid() != 0)
		skip(); /* map_files is root's */
	gus_kept_init(&k);
	assert_int_equal(unlink("a"), 0);
	gus_kept_note(&k, &r);
	expect(&k, &r, "one");
	assert_true(write(fd, "mem", 3) == 3 && ftruncate(fd, SIZE) == 0 && fstat(fd, &m.st) == 0);
	m.at = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
	m.path = gus_strdup("/memfd:code (deleted)");
	r = record_of(&m, getpid());
	close(fd);
	gus_kept_note(&k, &r);
	expect(&k, &r, "mem");
	gus_kept_free(&k);
	unmap(&a);
	unmap(&m);
}

/* The path of a process that has ended serves, if the file is the same. */
static void a_process_that_has_ended_named_a_file(void **state)
{
	struct mapped a = map_file("a", "one"), b;
	pid_t pid = fork();
	Gusprof__Mmap r, other;
	struct gus_kept k;

	(void)state;
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	gus_kept_init(&k);
	r = record_of(&a, pid);
	gus_kept_note(&k, &r);
	expect(&k, &r, "one");
	b = map_file("b", "two");
	other = record_of(&b, pid);
	other.path = a.path;
	gus_kept_note(&k, &other);
	expect(&k, &other, "");
	gus_kept_free(&k);
	unmap(&a);
	unmap(&b);
}

static void build_ids_tell_files_apart(void **state)
{
	uint8_t id[20], wrong[20] = { 1 };
	struct mapped a = map_file("a", "no build id in it");
	Gusprof__Mmap r = record_of(&a, getpid());
	struct gus_kept k;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	memset(id, 7, sizeof(id));
	gus_kept_init(&k);
	r.build_id.data = wrong;
	r.build_id.len = sizeof(wrong);
	gus_kept_note(&k, &r); /* is not that file */
	expect(&k, &r, "");
	gus_kept_give(&k, fd, id, sizeof(id), 0, 0, 0);
	assert_int_equal(k.n, 1);
	r.build_id.data = id;
	fd = open_kept(&k, &r);
	assert_true(fd >= 0);
	close(fd);
	r.build_id.len = 19;
	assert_int_equal(open_kept(&k, &r), -1);
	r.build_id.len = 0;
	r.inode = 0;
	assert_int_equal(open_kept(&k, &r), -1);
	gus_kept_free(&k);
	unmap(&a);
}

/* This program itself, which has one, by its own and by others of the same length and of another. */
static void the_build_id_is_read_of_the_file(void **state)
{
	uint8_t id[GUS_BUILD_ID_MAX];
	struct mapped a = { .path = gus_format("%s/copy", folder) };
	Gusprof__Mmap r;
	struct gus_kept k;
	char *command = gus_format("cp /proc/%d/exe copy", (int)getpid());
	size_t size;
	int fd;

	(void)state;
	assert_int_equal(system(command), 0);
	fd = open("copy", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && fstat(fd, &a.st) == 0);
	size = gus_file_build_id(fd, id);
	a.at = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(a.at != MAP_FAILED);
	close(fd);
	if (size < 2) {
		print_message("skipped: this linker gives no build id\n");
		skip();
	}
	gus_kept_init(&k);
	r = record_of(&a, getpid());
	r.build_id.data = id;
	r.build_id.len = size - 1;
	gus_kept_note(&k, &r);
	assert_int_equal(open_kept(&k, &r), -1);
	r.build_id.len = size;
	for (size_t i = 0; i < size; i += size - 1) {
		for (unsigned change = 1; change <= 0x80; change <<= 7) {
			id[i] ^= (uint8_t)change;
			gus_kept_note(&k, &r);
			assert_int_equal(open_kept(&k, &r), -1);
			id[i] ^= (uint8_t)change;
		}
	}
	assert_int_equal(k.n, 0);
	gus_kept_note(&k, &r);
	fd = open_kept(&k, &r);
	assert_true(fd >= 0 && k.n == 1);
	close(fd);
	gus_kept_free(&k);
	free(command);
	unmap(&a);
}

static size_t open_files(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 4096; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void no_more_are_held_than_there_is_room_for(void **state)
{
	const uint8_t id[20] = { 0 };
	size_t before = open_files();
	struct gus_kept k;

	(void)state;
	gus_kept_init(&k);
	assert_true(k.most <= GUS_KEPT_MOST && k.most > 0);
	k.most = 3;
	for (uint64_t i = 1; i <= 5; i++)
		gus_kept_give(&k, open("/proc/self/exe", O_RDONLY | O_CLOEXEC), id, 0, i, 0, 0);
	gus_kept_give(&k, open("/proc/self/exe", O_RDONLY | O_CLOEXEC), id, 0, 1, 0, 0); /* has it */
	gus_kept_give(&k, open("/proc/self/exe", O_RDONLY | O_CLOEXEC), id, 0, 0, 0, 0); /* is none */
	assert_int_equal(k.n, 3);
	assert_int_equal(k.left_out, 2);
	assert_int_equal(open_files(), before + 3);
	gus_kept_free(&k);
	assert_int_equal(open_files(), before);
}

/* Of those that the hard limit allows, to which the soft one rises. */
static void half_of_the_descriptors_stay_free(void **state)
{
	(void)state;
	for (unsigned soft = 10; soft <= 40; soft += 30) {
		struct rlimit limit = { 0 };
		struct gus_kept k;
		size_t used = open_files();
		pid_t pid = fork(); /* a hard limit does not rise again */
		int status;

		if (pid == 0) {
			limit.rlim_cur = used + soft;
			limit.rlim_max = used + 40;
			if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
				_exit(2);
			gus_kept_init(&k);
			_exit(k.most >= 18 && k.most <= 20 ? 0 : 1);
		}
		waitpid(pid, &status, 0);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_outlives_its_name_and_its_mapping, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(deleted_files_and_memory_are_held, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(a_process_that_has_ended_named_a_file, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(build_ids_tell_files_apart, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(the_build_id_is_read_of_the_file, enter_folder, leave_folder),
		cmocka_unit_test(no_more_are_held_than_there_is_room_for),
		cmocka_unit_test(half_of_the_descriptors_stay_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
