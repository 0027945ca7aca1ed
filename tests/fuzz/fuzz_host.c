/* SPDX-License-Identifier: MIT */
/* Fuzz target of what is read of processes and files of others, and of the machine: maps, stat and status, ELF notes,
 * sysfs. Of a process the input is in turn the whole text, or only the name or path that a hostile process chooses
 * itself, written as the kernel writes it; whatever that is, what the kernel wrote around it has to be found. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/foreign_file.h"
#include "base/notes.h"
#include "collector/host/build_id.h"
#include "collector/host/host.h"
#include "collector/host/procfs.h"
#include "collector/host/text.h"
#include "tests/fuzz/foreign_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct foreign_file file;

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void whole_maps(const uint8_t *bytes, size_t size)
{
	char *text = gus_strndup((const char *)bytes, size);
	const char *at = text, *before = text, *end = text + strlen(text);
	struct gus_mapping m;

	while (gus_mapping_next(&at, &m)) {
		demand(at > before && at <= end);
		demand(m.start <= m.end && m.path >= before && m.path + m.path_length <= end);
		demand(!memchr(m.path, '\n', m.path_length));
		before = at;
	}
	demand(at == before);
	free(text);
}

/* As the kernel writes a path or name, a newline becomes "\012" or "\n"; a name has at most 15 bytes. */
static char *written(const uint8_t *bytes, size_t size, const char *newline, size_t most)
{
	struct gus_vec(char) out = { 0 };

	for (size_t i = 0; i < size && i < most && bytes[i]; i++)
		if (bytes[i] == '\n' && newline)
			gus_vec_append(&out, newline, strlen(newline));
		else
			gus_vec_push(&out, (char)bytes[i]);
	gus_vec_push(&out, '\0');
	return out.v;
}

/* The path is what the process chose, but for blanks before it, and the next line is the next one. */
static void chosen_path(const uint8_t *bytes, size_t size)
{
	char *path = written(bytes, size, "\\012", 4096), *text = gus_format(
		"7f0000001000-7f0000003000 r-xp 00002000 08:01 77 %26s%s\n"
		"7f0000003000-7f0000004000 rw-s 00000000 00:00 0 \n", "", path);
	const char *at = text, *shown = path + strspn(path, " ");
	struct gus_mapping m;

	demand(gus_mapping_next(&at, &m));
	demand(m.start == 0x7f0000001000 && m.end == 0x7f0000003000 && m.offset == 0x2000 && m.major == 8 &&
	       m.minor == 1 && m.inode == 77);
	demand(m.path_length == strlen(shown) && memcmp(m.path, shown, m.path_length) == 0);
	demand(gus_mapping_next(&at, &m));
	demand(m.start == 0x7f0000003000 && !m.path_length && !gus_mapping_next(&at, &m));
	free(text);
	free(path);
}

static void whole_task(const uint8_t *bytes, size_t size)
{
	const uint8_t *middle = memchr(bytes, '\0', size);
	char *stat = gus_strndup((const char *)bytes, size), *status;
	size_t used = middle ? (size_t)(middle - bytes) + 1 : size;
	struct gus_rights rights;
	struct gus_task t = { 0 };

	status = gus_strndup((const char *)bytes + used, size - used);
	demand(!gus_task_rights_parse(status, &rights) || rights.groups_n <= GUS_RIGHTS_GROUPS);
	demand(gus_task_inner_parse(status) >= 0);
	if (gus_task_parse(stat, status, &t))
		demand(t.tgid > 0 && memchr(t.comm, '\0', sizeof(t.comm)));
	free(stat);
	free(status);
}

static void chosen_name(const uint8_t *bytes, size_t size)
{
	char *raw = written(bytes, size, NULL, 15), *escaped = written(bytes, size, "\\n", 15);
	char *stat = gus_format("42 (%s) S 7 8 9 10 11 2097152 1 2 3 4 5 6 7 8 20 0 3 0 4711 1 1 1\n", raw);
	char *status = gus_format("Name:\t%s\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t41\nNgid:\t0\nPid:\t42\n"
				  "PPid:\t7\nTracerPid:\t0\nUid:\t0\t1001\t1002\t1003\n"
				  "Gid:\t2000\t2001\t2002\t2003\nFDSize:\t64\nGroups:\t5 6 \n"
				  "NStgid:\t41\t8\t3\nNSpid:\t42\t9\t4\nNSpgid:\t1\t2\t5\n", escaped);
	struct gus_rights rights;
	struct gus_task t = { 0 };

	demand(gus_task_parse(stat, status, &t));
	demand(t.tgid == 41 && t.ppid == 7 && t.uid == 0 && t.state == 'S' && t.start == 4711 && t.kernel_thread);
	demand(strcmp(t.comm, raw) == 0);
	demand(gus_task_rights_parse(status, &rights) && rights.uid == 1001 && rights.gid == 2001);
	demand(rights.groups_n == 2 && rights.groups[1] == 6);
	demand(gus_task_inner_parse(status) == 4);
	free(stat);
	free(status);
	free(raw);
	free(escaped);
}

/* What would stop the reader at the door is put right, except where bits of leave say not to. */
static void put_right(uint8_t *bytes, size_t size, uint8_t leave)
{
	size_t each = leave & 16 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr), table = 64;

	if (size < table || leave & 32)
		return;
	memcpy(bytes, ELFMAG, SELFMAG);
	bytes[EI_CLASS] = leave & 16 ? ELFCLASS32 : ELFCLASS64;
	bytes[EI_DATA] = ELFDATA2LSB;
	memset(bytes + (leave & 16 ? 28 : 32), 0, leave & 16 ? 4 : 8);
	bytes[leave & 16 ? 28 : 32] = (uint8_t)table;
	bytes[leave & 16 ? 42 : 54] = (uint8_t)each;
	bytes[leave & 16 ? 43 : 55] = 0;
	for (size_t i = 0; i < 2 && !(leave & 64) && table + (i + 1) * each <= size; i++)
		bytes[table + i * each] = PT_NOTE;
}

static void elf_notes(uint8_t *bytes, size_t size, uint8_t leave)
{
	uint8_t id[GUS_BUILD_ID_MAX];
	size_t found = 0;
	const uint8_t *at = gus_notes_build_id(bytes, size, &found);

	demand(!at || (at >= bytes && at + found <= bytes + size));
	put_right(bytes, size, leave);
	foreign_file(&file, bytes, size);
	demand(gus_file_build_id(file.fd, id) <= sizeof(id));
}

static char root[256]; /* of a made-up /sys, which serves all inputs */

static void remove_tree(void)
{
	char *command = gus_format("rm -rf '%s'", root);

	if (system(command) != 0)
		perror(root);
	free(command);
}

static void make_tree(void)
{
	const char *place = getenv("TMPDIR");
	char *command;

	snprintf(root, sizeof(root), "%s/gusprof-fuzz-XXXXXX", place ? place : "/tmp");
	demand(mkdtemp(root) != NULL);
	atexit(remove_tree);
	command = gus_format("cd '%s' && mkdir -p kernel hypervisor devices/system/cpu/cpu0/microcode "
			     "devices/system/cpu/cpu0/regs/identification", root);
	demand(system(command) == 0);
	free(command);
}

/* Its files are the pieces of the input between zero bytes, but for the notes, which may hold such. */
static void fill_tree(const uint8_t *bytes, size_t size)
{
	static const char *const files[] = {
		"kernel/notes", "devices/system/cpu/cpu0/microcode/version",
		"devices/system/cpu/cpu0/regs/identification/midr_el1", "hypervisor/type",
	};

	if (!*root)
		make_tree();
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		const uint8_t *end = !size ? NULL : i ? memchr(bytes, '\0', size) : bytes + size - size / 2;
		size_t length = end ? (size_t)(end - bytes) : size;
		char *path = gus_format("%s/%s", root, files[i]);
		FILE *f = fopen(path, "w");

		free(path);
		if (!f || fwrite(bytes, 1, length, f) != length || fclose(f) != 0)
			abort();
		bytes += length + (i && end);
		size -= length + (i && end);
	}
}

static void sysfs(const uint8_t *bytes, size_t size)
{
	Gusprof__Host *h;

	fill_tree(bytes, size);
	h = gus_host_describe(root);
	demand(h->cpus_online > 0 && h->page_size >= 4096 && *h->machine && *h->boot_id);
	demand(h->kernel_build_id.len <= 4096 && strlen(h->microcode) < 256);
	gusprof__host__free_unpacked(h, NULL);
}

/* Files are read to their last byte, or to the room there is. */
static void files(const uint8_t *bytes, size_t size)
{
	const char *path = foreign_file(&file, bytes, size);
	char line[17], *text;
	size_t got;

	text = gus_procfs_read_most(path, 4096, &got);
	demand(size <= 4096 ? text && got == size && memcmp(text, bytes, size) == 0 : !text && errno == EFBIG);
	demand(!text || text[got] == '\0');
	free(text);
	memset(line, 'x', sizeof(line));
	demand(gus_read_text(path, line, sizeof(line) - 1));
	demand(memchr(line, '\0', sizeof(line) - 1) && line[sizeof(line) - 1] == 'x');
}

/* The live ones of this process: not foreign, but the only ones there are. */
static void own(void)
{
	struct gus_tids tids = { 0 };
	struct gus_texts folders = { 0 };
	struct gus_task t;
	char comm[64];
	size_t size;

	demand(gus_task_read(getpid(), &t) && t.tgid == getpid() && t.ppid == getppid() && !gus_task_ended(&t));
	demand(gus_task_comm(getpid(), comm, sizeof(comm)) && strcmp(comm, t.comm) == 0);
	demand(gus_tids_of(getpid(), &tids) && tids.n && gus_pids_all(&tids) && gus_thread_state(getpid(), getpid()));
	demand(!gus_tids_of(0, &tids) && !gus_thread_state(0, 0) && !gus_procfs_read("/nowhere", &size));
	demand(!gus_task_read(0, &t) && !gus_procfs_read("/", &size) && !gus_read_text("/nowhere", comm, sizeof(comm)));
	gus_folders_below("/proc/self", &folders);
	demand(folders.n > 0);
	for (size_t i = 0; i < folders.n; i++)
		free(folders.v[i]);
	gus_vec_free(&folders);
	gus_vec_free(&tids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const texts[])(const uint8_t *, size_t) = {
		whole_maps, chosen_path, whole_task, chosen_name, sysfs, files,
	};
	uint8_t *copy;

	if (!size) {
		own();
		return 0;
	}
	copy = gus_alloc(size - 1);
	memcpy(copy, data + 1, size - 1);
	if (data[0] % 8 < sizeof(texts) / sizeof(*texts))
		texts[data[0] % 8](copy, size - 1);
	else
		elf_notes(copy, size - 1, data[0]);
	free(copy);
	return 0;
}
