/* SPDX-License-Identifier: MIT */
#include "symbolizer/kernel/kcore.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ORDER ELFDATA2LSB
#else
#define OWN_ORDER ELFDATA2MSB
#endif

/* Reads as much of size as there is. */
static size_t read_at(int fd, void *out, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size && offset + done <= INT64_MAX) {
		ssize_t got = pread(fd, (char *)out + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

static int read_segments(struct gus_kcore *k, const char *path, struct gus_error *err)
{
	Elf64_Ehdr header;
	Elf64_Phdr p;

	if (read_at(k->fd, &header, sizeof(header), 0) != sizeof(header) || memcmp(header.e_ident, ELFMAG,
		SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != OWN_ORDER ||
		    header.e_type != ET_CORE ||
	    header.e_phentsize != sizeof(p))
		return gus_fail(err, GUS_E_CORRUPT, "cannot read the kernel's code from %s: it is no 64-bit core file",
				path);
	k->machine = header.e_machine;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		if (read_at(k->fd, &p, sizeof(p), header.e_phoff + (uint64_t)i * sizeof(p)) != sizeof(p))
			return gus_fail(err, GUS_E_TRUNCATED,
					"cannot read the kernel's code from %s: it ends within its "
					"headers", path);
		if (p.p_type == PT_LOAD && p.p_filesz)
			gus_vec_push(&k->segments, (struct gus_kcore_segment){ p.p_vaddr, p.p_filesz, p.p_offset });
	}
	return 0;
}

int gus_kcore_open(struct gus_kcore *k, const char *path, struct gus_error *err)
{
	*k = (struct gus_kcore){ .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) };
	if (k->fd < 0)
		return gus_fail_errno(err, errno, "cannot read the kernel's code from %s", path);
	if (read_segments(k, path, err) == 0)
		return 0;
	gus_kcore_close(k);
	return -1;
}

void gus_kcore_close(struct gus_kcore *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
	gus_vec_free(&k->segments);
}

size_t gus_kcore_read(const struct gus_kcore *k, uint64_t address, void *out, size_t size)
{
	for (size_t i = 0; i < k->segments.n; i++) {
		const struct gus_kcore_segment *s = &k->segments.v[i];
		uint64_t at = address - s->address;

		if (address >= s->address && at < s->size)
			return read_at(k->fd, out, size < s->size - at ? size : (size_t)(s->size - at), s->offset + at);
	}
	return 0;
}
