/* SPDX-License-Identifier: MIT */
#include "symbolizer/elf/split.h"

#include <dwarf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/foreign_file.h"
#include "symbolizer/elf/package.h"

static const char folder[] = "/proc/self/fd";

bool gus_split_is(const Dwarf_Die *unit)
{
	uint8_t type;

	return dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) == 0 && type == DW_UT_skeleton;
}

static char *text_of(Dwarf_Die *unit, unsigned code)
{
	Dwarf_Attribute attribute;
	const char *text = dwarf_formstring(dwarf_attr(unit, code, &attribute));

	return text && strnlen(text, PATH_MAX) < PATH_MAX ? (char *)(uintptr_t)text : NULL;
}

static char *name_of(Dwarf_Die *unit)
{
	char *name = text_of(unit, DW_AT_dwo_name);

	return name ? name : text_of(unit, DW_AT_GNU_dwo_name);
}

static char *path_of(Dwarf_Die *unit)
{
	const char *name = name_of(unit), *dir = text_of(unit, DW_AT_comp_dir);

	if (!name || !*name)
		return NULL;
	if (*name == '/')
		return gus_strdup(name);
	return dir && *dir == '/' ? gus_format("%s/%s", dir, name) : NULL;
}

/* A file without a name that has what was read of e, and zeros for the rest. */
static int copy_of(const struct gus_elf *e)
{
	int fd = memfd_create("split", MFD_CLOEXEC);
	size_t done = 0;

	while (fd >= 0 && done < e->size) {
		ssize_t put = write(fd, e->bytes + done, e->size - done);

		if (put <= 0)
			break;
		done += (size_t)put;
	}
	if (fd >= 0 && done == e->size)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* A descriptor whose number has as many digits as there is room for; takes fd. */
static int with_digits(int fd, size_t digits)
{
	int least = 1, other;

	for (size_t i = 1; i < digits && i < 4; i++)
		least *= 10;
	other = fcntl(fd, F_DUPFD_CLOEXEC, least);
	close(fd);
	return other;
}

/* Puts a path in the place of text, as long as text is, with slashes before it. */
static bool put_path(char *text, const char *path)
{
	size_t room = strlen(text), length = strlen(path);

	if (length > room)
		return false;
	memset(text, '/', room - length);
	memcpy(text + room - length, path, length);
	return true;
}

/* Lets the unit name the descriptor. The path fits in the place of the name, or the folder in that of the directory and
 * the number in that of the name. Everything keeps its length, as text may be between other values of the entry. */
static bool redirect(Dwarf_Die *unit, int fd)
{
	char *name = name_of(unit), *dir = text_of(unit, DW_AT_comp_dir), path[64], number[16];

	snprintf(path, sizeof(path), "%s/%d", folder, fd);
	snprintf(number, sizeof(number), "%d", fd);
	if (put_path(name, path))
		return true;
	if (!dir || strlen(number) > strlen(name) || strlen(number) + 1 == strlen(name) || !put_path(dir, folder))
		return false;
	put_path(name, number);
	if (strlen(number) < strlen(name))
		*name = '.'; /* else it would be the root's */
	return true;
}

/* Whether libdw will now find the descriptor and nothing else: the two texts may have lain in the same bytes. */
static bool leads_to(Dwarf_Die *unit, int fd)
{
	char *path = path_of(unit);
	struct stat there, here;
	bool same = path && strspn(path, "/") && strstr(path, folder + 1) == path + strspn(path, "/") &&
		    fstat(fd, &here) == 0 && stat(path, &there) == 0 && here.st_ino == there.st_ino &&
		    here.st_dev == there.st_dev;

	free(path);
	return same;
}

struct kept {
	char *text, *copy;
};

static struct kept keep(char *text)
{
	return (struct kept){ text, text ? gus_strdup(text) : NULL };
}

static void put_back(struct kept *k)
{
	if (k->text)
		memcpy(k->text, k->copy, strlen(k->copy));
	free(k->copy);
}

/* Lets libdw open the file at fd as the other one of the unit. */
static bool join(Dwarf_Die *unit, int fd, Dwarf_Die *body)
{
	struct kept name = keep(name_of(unit)), dir = keep(text_of(unit, DW_AT_comp_dir));
	bool found;

	memset(body, 0, sizeof(*body));
	found = redirect(unit, fd) && leads_to(unit, fd) &&
		dwarf_cu_info(unit->cu, NULL, NULL, NULL, body, NULL, NULL, NULL) == 0 && body->cu;
	put_back(&dir);
	put_back(&name);
	return found;
}

/* The files are named by the program, so its owner may have to read them as well. */
static struct gus_elf *open_named(const struct gus_elf *holder, const char *path)
{
	struct gus_rights owner, rights;
	struct gus_elf *e;

	gus_rights_of_user(&owner, holder->stat.st_uid, "the program's owner");
	rights = gus_rights_common(holder->rights, &owner);
	e = gus_elf_open_as(path, &rights, NULL, NULL);
	if (e)
		e->total = holder->total;
	return e;
}

static void find_package(struct gus_split_package *p, const struct gus_elf *holder, const struct gus_elf *code)
{
	const char *const beside[] = { code->path, holder->path };

	for (size_t i = 0; !p->sought && !p->e && i < sizeof(beside) / sizeof(*beside); i++) {
		char *path = gus_format("%s.dwp", beside[i]);

		p->e = open_named(holder, path);
		free(path);
	}
	p->sought = true;
}

static struct gus_elf *find_file(struct gus_split_package *p, struct gus_elf *holder, const struct gus_elf *code,
				 Dwarf_Die *unit)
{
	char *path = path_of(unit);
	struct gus_elf *e = path ? open_named(holder, path) : NULL;
	uint64_t number;

	free(path);
	if (e)
		return e;
	find_package(p, holder, code);
	if (!p->e || dwarf_cu_info(unit->cu, NULL, NULL, NULL, NULL, &number, NULL, NULL) != 0)
		return NULL;
	e = gus_package_unit(p->e, number);
	if (p->e->trouble)
		holder->trouble = p->e->trouble;
	return e;
}

bool gus_split_open(struct gus_split *s, struct gus_split_package *p, struct gus_elf *holder,
		    const struct gus_elf *code, Dwarf_Die *unit, Dwarf_Die *body)
{
	const char *name = name_of(unit);
	bool found = false;
	int fd;

	s->e = name ? find_file(p, holder, code, unit) : NULL;
	if (!s->e)
		return false;
	if (gus_vet_open(&s->vet, s->e) && s->e->size <= GUS_LIMIT_ELF_READ && (fd = copy_of(s->e)) >= 0) {
		fd = with_digits(fd, strlen(name) < 3 ? strlen(name) : 3);
		found = fd >= 0 && gus_vet_units(&s->vet) && join(unit, fd, body);
		if (fd >= 0)
			close(fd);
	}
	return found && dwarf_tag(body) == DW_TAG_compile_unit;
}

void gus_split_close(struct gus_split *s)
{
	if (!s->e)
		return;
	gus_vet_close(&s->vet);
	gus_elf_close(s->e);
}

void gus_split_package_close(struct gus_split_package *p)
{
	gus_elf_close(p->e);
}
