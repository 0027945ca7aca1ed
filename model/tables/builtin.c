/* SPDX-License-Identifier: MIT */
/* The files of model/uarch/ as constants, by the assembler: a compiler would take minutes over megabytes of array. The
 * list is made by model/local.mk, sorted by name. */
#include "model/tables/builtin.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "model/tables/uarch.h"

#define TEXT(symbol, file, path) \
	__asm__(".pushsection .rodata\n" \
		"gus_text_" #symbol ": .incbin \"" path "\"\n" \
		"gus_text_end_" #symbol ": .byte 0\n" \
		".popsection\n"); \
	extern const char gus_text_##symbol[] __asm__("gus_text_" #symbol); \
	extern const char gus_text_end_##symbol[] __asm__("gus_text_end_" #symbol);
#include "model/tables/builtin_list.h"
#undef TEXT

static const struct {
	const char *file, *start, *end;
} texts[] = {
#define TEXT(symbol, file, path) { file, gus_text_##symbol, gus_text_end_##symbol },
#include "model/tables/builtin_list.h"
#undef TEXT
};
#define TEXTS (sizeof(texts) / sizeof(*texts))

static const char suffix[] = ".uarch";

/* Whether file is what a table calls name: the same, or with .uarch behind it. */
static bool called(const char *file, const char *name)
{
	size_t size = strlen(name);

	return strncmp(file, name, size) == 0 && (!file[size] || strcmp(file + size, suffix) == 0);
}

static const char *get(void *context, const char *name, size_t *size)
{
	(void)context;
	for (size_t i = 0; i < TEXTS; i++)
		if (called(texts[i].file, name)) {
			*size = (size_t)(texts[i].end - texts[i].start);
			return texts[i].start;
		}
	return NULL;
}

const struct gus_uarch_texts gus_uarch_builtin = { get, NULL };

/* What stands behind the first line that begins with word. */
static const char *line_of(const char *text, const char *end, const char *word, size_t *size)
{
	size_t word_size = strlen(word);

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		stop = stop ? stop : end;
		if ((size_t)(stop - text) > word_size && memcmp(text, word, word_size) == 0 && text[word_size] == ' ') {
			*size = (size_t)(stop - text) - word_size - 1;
			return text + word_size + 1;
		}
		text = stop < end ? stop + 1 : end;
	}
	*size = 0;
	return NULL;
}

/* Names of tables are those of their files; they are kept without the ending in the list as well. */
static const char *const names[] = {
#define TEXT(symbol, file, path)
#define TABLE(name) name,
#include "model/tables/builtin_list.h"
#undef TABLE
#undef TEXT
	NULL,
};

const char *gus_uarch_builtin_name(size_t i)
{
	return i < sizeof(names) / sizeof(*names) ? names[i] : NULL;
}

static bool among(const char *list, size_t size, const char *word)
{
	size_t word_size = strlen(word);

	for (const char *end = list + size; list < end;) {
		const char *stop = memchr(list, ' ', (size_t)(end - list));

		stop = stop ? stop : end;
		if ((size_t)(stop - list) == word_size && strncasecmp(list, word, word_size) == 0)
			return true;
		list = stop < end ? stop + 1 : end;
	}
	return false;
}

const char *gus_uarch_builtin_find(const char *name)
{
	for (size_t i = 0; names[i]; i++)
		if (strcasecmp(names[i], name) == 0)
			return names[i];
	for (size_t i = 0; names[i]; i++) {
		size_t size = 0, alias_size;
		const char *text = get(NULL, names[i], &size),
			*aliases = line_of(text, text + size, "alias", &alias_size);

		if (aliases && among(aliases, alias_size, name))
			return names[i];
	}
	return NULL;
}
