# SPDX-License-Identifier: MIT
# What the checks in this folder share. Each sources it, calls fail for every finding and ends with `finish`.
# shellcheck shell=bash
set -u -o pipefail
export LC_ALL=C
top=$(cd "${srcdir:-$(dirname "${BASH_SOURCE[0]}")/../..}" && pwd -P) || exit 99
gusprof=${GUSPROF:-$PWD/gusprof}
findings=0

fail() { printf '%s\n' "$*"; findings=$((findings + 1)); }

finish()
{
	((findings == 0)) || { echo "$findings findings"; exit 1; }
	exit 0
}

skip() { printf 'skipped: %s\n' "$*"; exit 77; }

# The project's own files, one a line: what git tracks or would track, or, in an unpacked release, everything that
# was not generated.
files()
{
	cd "$top" || exit 99
	if [[ $(git rev-parse --show-toplevel 2>/dev/null) == "$top" ]]; then
		git ls-files --cached --others --exclude-standard
	else
		find . \( -name .git -o -name 'build*' -o -name _build -o -name _inst -o -name autom4te.cache \) \
			-prune -o \
			-type f ! -name Makefile.in ! -name 'configure*' ! -name aclocal.m4 ! -name 'config.h.in*' \
			! -name '*.pb-c.*' ! -name '*.o' ! -name '*.a' -print | sed 's,^\./,,'
		echo configure.ac
	fi | sort -u | while IFS= read -r f; do
		[[ -f $f && ( -z ${GUS_BUILDDIR:-} || $top/$f != "$GUS_BUILDDIR"/* || $GUS_BUILDDIR == "$top" ) ]] &&
			echo "$f"
	done
}

# C without its comments, line numbers kept.
code() { perl -0777 -pe 's{(/\*.*?\*/)|(?<!:)//[^\n]*}{ (my $c = $1 // "") =~ tr/\n//cd; $c }gse' "$1"; }
