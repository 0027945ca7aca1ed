#!/bin/sh
# SPDX-License-Identifier: MIT
# Stacks by unwind tables, at each instruction that a program executes, from the first one of its loader on: what is
# found is what was called and has not returned. At most two in 1,000 may be wrong: what jumps out of its frame
# (longjmp, the end of a throw) is described by its tables as where it goes, and the code of crti.o and crtbegin.o,
# which runs once, has none.
. "$(dirname "$0")/lib.sh"
steps=$(cd "$GUS_BUILDDIR" && pwd)/tests/accuracy/stack-steps
[ -x "$steps" ] || skip "no single steps on this machine"
target=$(cd "$GUS_BUILDDIR" && pwd)/tests/cases/unwind-target
static=$(cd "$GUS_BUILDDIR" && pwd)/tests/cases/unwind-static

per=500
# walk LEAST OPTIONS PROGRAM: all but one in $per are right, and at least so many were asked about.
walk()
{
	least=$1
	shift
	timeout 120 "$steps" "$@" >out 2>err
	[ $? -le 1 ] && awk -v least="$least" -v per="$per" '
		/ right / { a = 1; exit !($1 + $5 >= least && $3 * per <= $1 + $5) }
		END { if (!a) exit 1 }' out
}

whole() { awk '/ right / { exit !($5 > 10 && $5 < 100) }' out; }
cut() { awk '/ right / { exit !($5 > $1) }' out; }

ok "a program with libraries, from its loader on" walk 80000 "$target"
ok "what is cut is what a handler on another stack interrupted" whole
ok "a static program" walk 20000 "$static"
cp "$target" stripped && strip --strip-all stripped || skip "no strip"
ok "one without symbols" walk 80000 ./stripped
ok "a copy of 256 bytes cuts most, and what is found is right" walk 80000 -b 256 "$target"
ok "which is said of each" cut
if command -v g++ >/dev/null; then
	cat >throw.cc <<'END'
#include <stdexcept>
struct noisy { int *n; ~noisy() { ++*n; } };
static int __attribute__((noinline)) deep(int n, int *count)
{
	noisy x{count};
	if (!n)
		throw std::runtime_error("end");
	return deep(n - 1, count) + 1;
}
int main()
{
	int count = 0;
	try {
		deep(5, &count);
	} catch (const std::exception &) {
		return count != 6;
	}
	return 1;
}
END
	g++ -O2 -fomit-frame-pointer -static-libstdc++ -static-libgcc -o throw throw.cc || exit 99
	per=200 # half of what this one does is to leave frames
	ok "a C++ program that throws" walk 50000 ./throw
else
	echo "# no g++: no C++ program was looked at"
fi
finish
