/* SPDX-License-Identifier: MIT */
#include "cli/screen/shorten.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/screen/cells.h"

static bool fits(const char *text, size_t cells)
{
	return gus_cells(text, strlen(text)) <= cells;
}

static char *cut_end(const char *text, size_t cells, const char *dots)
{
	size_t mark = gus_cells(dots, strlen(dots));
	size_t head = gus_cells_head(text, strlen(text), cells > mark ? cells - mark : 0);

	return gus_format("%.*s%s", (int)head, text, cells >= mark ? dots : "");
}

static char *cut_middle(const char *text, size_t cells, const char *dots)
{
	size_t mark = gus_cells(dots, strlen(dots)), size = strlen(text), head, tail;

	if (cells <= mark)
		return cut_end(text, cells, dots);
	head = gus_cells_head(text, size, (cells - mark + 1) / 2);
	tail = gus_cells_tail(text, size, (cells - mark) / 2);
	return gus_format("%.*s%s%s", (int)head, text, dots, text + tail);
}

/* Whole folders go, as far as that is enough. */
static char *cut_path(const char *text, size_t cells, const char *dots)
{
	size_t mark = gus_cells(dots, strlen(dots));
	const char *at = text;

	while (cells > mark && (at = strchr(at + 1, '/')))
		if (fits(at, cells - mark))
			return gus_format("%s%s", dots, at);
	at = strrchr(text, '/');
	return cut_middle(at && at[1] ? at + 1 : text, cells, dots);
}

/* Names of functions. */

/* How many bytes at this place belong to the name of an operator, so that what looks like a bracket in it is none. */
static size_t operator_size(const char *name, size_t at)
{
	static const char word[] = "operator", signs[] = "<>=!+-*/%^&|~,";
	size_t n = sizeof(word) - 1;

	if (strncmp(name + at, word, n) != 0 || (at && (isalnum((unsigned char)name[at - 1]) || name[at - 1] == '_')))
		return 0;
	if (strncmp(name + at + n, "()", 2) == 0 || strncmp(name + at + n, "[]", 2) == 0)
		return n + 2;
	return n + strspn(name + at + n, signs);
}

/* What stands at one place of a name. */
enum mark { OTHER, OPENS, CLOSES, SCOPE };

/* Whether what stands behind "::" are a Rust function's arguments, and not a part of its name that is in brackets. */
static bool has_arguments(const char *text)
{
	static const char *const parts[] = { "<impl ", "<lambda", "<unnamed" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strncmp(text, parts[i], strlen(parts[i])) == 0)
			return false;
	return *text == '<';
}

/* Of so many bytes, which is more than one of operators, arrows ("-> T") and "::". */
static enum mark next_mark(const char *name, size_t at, size_t *size)
{
	*size = operator_size(name, at);
	if (*size)
		return OTHER;
	*size = 1;
	if (strncmp(name + at, "->", 2) == 0 || strncmp(name + at, "=>", 2) == 0) {
		*size = 2;
		return OTHER;
	}
	if (strncmp(name + at, "::", 2) == 0) {
		*size = 2;
		return has_arguments(name + at + 2) ? OTHER : SCOPE;
	}
	if (strchr("<({[", name[at]))
		return OPENS;
	return strchr(">)}]", name[at]) ? CLOSES : OTHER;
}

/* How deep its brackets are, or -1 if they do not fit each other, and the text is no name as we know them. */
static int depth_of(const char *name)
{
	static const char opening[] = "<({[", closing[] = ">)}]";
	struct gus_vec(char) open = { 0 };
	size_t deepest = 0, size;
	bool good = true;

	for (size_t at = 0; name[at] && good; at += size) {
		enum mark mark = next_mark(name, at, &size);

		if (mark == OPENS)
			gus_vec_push(&open, closing[strchr(opening, name[at]) - opening]);
		if (mark == CLOSES)
			good = open.n && open.v[--open.n] == name[at];
		deepest = open.n > deepest ? open.n : deepest;
	}
	good &= !open.n;
	gus_vec_free(&open);
	return good ? (int)deepest : -1;
}

/* The name with dots in place of what is in brackets that are at least so deep. What tells lambdas and unnamed
 * namespaces apart is not an argument: it stays where it is in no other brackets. */
static char *collapse(const char *name, int depth, const char *dots)
{
	struct gus_vec(char) out = { 0 };
	size_t size, inside = 0; /* where what is in the brackets begins */
	int deep = 0;

	for (size_t at = 0; name[at]; at += size) {
		enum mark mark = next_mark(name, at, &size);
		bool kept = depth == 1 && strncmp(name + at, "(anonymous", 10) == 0;

		if (mark == CLOSES && deep-- == depth) {
			bool shorter = gus_cells(name + inside, at - inside) > gus_cells(dots, strlen(dots));

			gus_vec_append(&out, shorter ? dots : name + inside, shorter ? strlen(dots) : at - inside);
		}
		if (kept)
			size = strcspn(name + at, ")") + 1;
		if (deep < depth)
			gus_vec_append(&out, name + at, size);
		if (mark == OPENS && !kept && ++deep == depth)
			inside = at + 1;
	}
	gus_vec_push(&out, '\0');
	return out.v;
}

struct scopes gus_vec(size_t); /* where each part of a::b::c begins */

static void find_scopes(const char *name, struct scopes *scopes)
{
	size_t size;
	int deep = 0;

	gus_vec_push(scopes, 0);
	for (size_t at = 0; name[at]; at += size) {
		enum mark mark = next_mark(name, at, &size);

		deep += (mark == OPENS) - (mark == CLOSES);
		if (mark == SCOPE && !deep)
			gus_vec_push(scopes, at + size);
	}
}

/* The first scope and as many of the last as fit, or only these; NULL if not even one does. */
static char *drop_scopes(const char *name, size_t cells, const char *dots)
{
	struct scopes scopes = { 0 };
	char *out = NULL;

	find_scopes(name, &scopes);
	for (int with_first = 1; with_first >= 0; with_first--)
		for (size_t i = with_first ? 2 : 1; i < scopes.n; i++) {
			out = gus_format("%.*s%s::%s", with_first ? (int)scopes.v[1] : 0, name, dots,
					 name + scopes.v[i]);
			if (fits(out, cells))
				goto out;
			free(out);
			out = NULL;
		}
out:
	gus_vec_free(&scopes);
	return out;
}

/* Rust's methods begin with their type in brackets, <a::b::Type<u64> as c::Trait>::method, which is no argument but
 * what tells them apart. These are its parts, without arguments of their own. */
struct method { char *type, *trait, *rest; /* trait: NULL if there is none */ };

/* Where the bracket that a name begins with ends, and where its " as " is, 0 if there is none. */
static size_t end_of_type(const char *name, size_t *as)
{
	size_t size;
	int deep = 0;

	*as = 0;
	for (size_t at = 0; name[at]; at += size) {
		enum mark mark = next_mark(name, at, &size);

		deep += (mark == OPENS) - (mark == CLOSES);
		if (!deep)
			return at;
		if (deep == 1 && !*as && strncmp(name + at, " as ", 4) == 0)
			*as = at;
	}
	return 0;
}

static char *collapse_part(const char *from, size_t size, const char *dots)
{
	char *part = gus_strndup(from, size), *flat = collapse(part, 1, dots);

	free(part);
	return flat;
}

static struct method parts_of(const char *name, const char *dots)
{
	struct method m = { 0 };
	size_t as, end = end_of_type(name, &as);

	m.type = collapse_part(name + 1, (as ? as : end) - 1, dots);
	if (as)
		m.trait = collapse_part(name + as + 4, end - as - 4, dots);
	m.rest = collapse_part(name + end + 1, strlen(name + end + 1), dots);
	return m;
}

/* a::b::Type becomes ...::Type; without a scope it stays. */
static char *last_scope(const char *name, const char *dots)
{
	struct scopes scopes = { 0 };
	size_t last;

	find_scopes(name, &scopes);
	last = scopes.v[scopes.n - 1];
	gus_vec_free(&scopes);
	return last ? gus_format("%s::%s", dots, name + last) : gus_strdup(name);
}

/* First the trait loses its scopes, then the type, then the trait all of it; NULL if that is not enough, or the name is
 * another kind of name. */
static char *cut_method(const char *name, size_t cells, const char *dots)
{
	enum { WAYS = 3 };
	struct method m;
	char *type, *trait, *out = NULL;

	if (*name != '<')
		return NULL;
	m = parts_of(name, dots);
	type = last_scope(m.type, dots);
	trait = m.trait ? last_scope(m.trait, dots) : NULL;
	for (int way = 0; way < WAYS; way++) {
		const char *traits[WAYS] = { trait, trait, dots };

		out = gus_format("<%s%s%s>%s", way ? type : m.type, m.trait ? " as " : "", m.trait ? traits[way] : "",
				 m.rest);
		if (fits(out, cells))
			break;
		free(out);
		out = NULL;
	}
	free(m.type);
	free(m.trait);
	free(m.rest);
	free(type);
	free(trait);
	return out;
}

/* The function alone: without scopes, and without arguments behind it. */
static char *bare(const char *name)
{
	struct scopes scopes = { 0 };
	size_t begin, end, size;

	find_scopes(name, &scopes);
	begin = end = scopes.v[scopes.n - 1];
	gus_vec_free(&scopes);
	while (name[end] && (next_mark(name, end, &size) != OPENS || end == begin) && strncmp(name + end, "::", 2) != 0)
		end += size;
	return gus_strndup(name + begin, end - begin);
}

static char *cut_name(const char *name, size_t cells, const char *dots)
{
	char *out = NULL, *alone, *flat;

	for (int depth = depth_of(name); depth > 0; depth--) {
		if (depth == 1 && (out = cut_method(name, cells, dots)))
			return out;
		out = collapse(name, depth, dots);
		if (fits(out, cells))
			return out;
		free(out);
	}
	if (depth_of(name) < 0)
		return cut_middle(name, cells, dots);
	flat = collapse(name, 1, dots);
	out = drop_scopes(flat, cells, dots);
	if (!out) {
		alone = bare(flat);
		out = fits(alone, cells) ? gus_strdup(alone) : cut_middle(alone, cells, dots);
		free(alone);
	}
	free(flat);
	return out;
}

char *gus_shorten(const char *text, enum gus_shorten how, size_t cells, const char *dots)
{
	static char *(*const ways[])(const char *text, size_t cells, const char *dots) = {
		[GUS_SHORTEN_END] = cut_end, [GUS_SHORTEN_MIDDLE] = cut_middle, [GUS_SHORTEN_PATH] = cut_path,
		[GUS_SHORTEN_NAME] = cut_name,
	};

	return fits(text, cells) ? gus_strdup(text) : ways[how](text, cells, dots);
}
