#!/bin/bash
# SPDX-License-Identifier: MIT
# docs/cases/correlation.c: each version computes the same, and the model says of each on one table what the page says:
# what limits the loop that the time goes to. The compiler is the machine's own, so only what follows from the source is
# looked at.
. "$(dirname "$0")/lib.sh"
command -v cc >/dev/null && command -v python3 >/dev/null || skip "needs a C compiler and Python"
command -v qemu-x86_64 >/dev/null || skip "needs qemu-x86_64"
grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo || skip "needs a CPU with AVX2 and FMA"
cc -O3 -mavx2 -mfma -g "$GUS_SRCDIR/docs/cases/correlation.c" -o correlation -lm 2>err || exit 99

ok 'all versions compute the same' ./correlation check
ok 'no version is none' sh -c './correlation v7 2>err; test $? = 2'

# limit VERSION: share of the time, and the capacity that gains most, of the loop with most of the time, by the table.
limit()
{
	"$gusprof" model --uarch znver4 --sensitivity --trace-options length=5000000 --format json \
		-o model.json -- ./correlation "$1" 0 2>err || return 1
	python3 - >out <<'END'
import json
hot = max(json.load(open("model.json"))["regions"], key=lambda r: r["cycles"])
print(hot["function"], max(hot["sensitivity"], key=hot["sensitivity"].get))
END
}
limited_by() # VERSION CAPACITY
{
	limit "$1" && grep -qxF "$1 $2" out
}
ok 'v2 by what is stored and loaded again' limited_by v2 'store forwarding'
ok 'v3 by L2' limited_by v3 'bandwidth L2'
ok 'v4 by loads' limited_by v4 'ports fp4+fp5'
ok 'v5 by registers that were spilled' limited_by v5 'store forwarding'
ok 'v6 by the multipliers themselves' limited_by v6 'ports fp0+fp1'
finish
