#!/bin/bash
# SPDX-License-Identifier: MIT
# The suite of kernels: each in each way and in two sizes has the reference's result, which depends on each of its
# inputs; none is left out by the compiler or calls what a trace of it would not have.
. "$(dirname "$0")/lib.sh"
suite=$GUS_BUILDDIR/tests/kernels/suite/suite
shown='wrong list err'

is_right() # bytes
{
	"$suite" check all "$1" >all 2>err
	local status=$?
	grep -v ' ok: ' all >wrong
	[ $status = 0 ] && [ ! -s wrong ] && [ "$(wc -l <all)" -ge 200 ]
}
kernels() { cut -d@ -f1 list | sort -u; }
functions_are_there() # of the list
{
	nm "$suite" | sed -n 's/.* T //p' | sort -u >symbols
	awk '{ print $8 }' list | sort -u | comm -23 - symbols >wrong
	[ ! -s wrong ]
}
# Undefined symbols and functions of the archives of all ways beside the kernels and the tables of them.
calls_nothing()
{
	nm "$GUS_BUILDDIR"/tests/kernels/suite/libo[23]*.a | grep -E ' [UtT] ' |
		grep -vE ' (suite_[a-z0-9_.]+|__stack_chk_(fail|guard))$' >wrong
	[ ! -s wrong ]
}
# PLACE: the arrays of each take at most the bytes for it, and at least 70 % of these: cubes go by large steps.
places()
{
	awk -v place="$1" '$2 == place && !($4 <= $3 && $4 >= 0.7 * $3 && $6 >= 1 && $6 <= $5)' list >wrong
	[ ! -s wrong ] && [ "$(awk -v place="$1" '$2 == place' list | wc -l)" -ge 200 ]
}
refuses() # what, words of the suite...
{
	local what=$1
	shift
	! "$suite" "$@" 2>err >/dev/null && grep -q "$what" err
}
runs() # variant bytes passes steps: it says that it did so many
{
	[ "$("$suite" run "$1" "$2" "$3" | cut -d' ' -f1,3)" = "$1 $4" ]
}
# Cycles of a pass of a kernel in a size.
cycles() { "$suite" time "$1" "$2" 0.2 | cut -d' ' -f4; }
grows() # kernel: sixteen times the data take four times as long at least, on any machine and however busy
{
	awk -v few="$(cycles "$1" 8K)" -v many="$(cycles "$1" 128K)" 'BEGIN { exit !(few > 0 && many > 4 * few) }'
}

"$suite" list >list
ok "there are forty kernels" [ "$(kernels | wc -l)" = 40 ]
ok "there are 300 variants and more" [ "$(sort -u list | wc -l)" -ge 300 ]
ok "no two are the same" [ -z "$(cut -d' ' -f1,2 list | sort | uniq -d)" ]
for place in L1 L2 L3 memory; do
	ok "each has a size for $place" places $place
done
ok "each has a function of its own, which is the region" functions_are_there
ok "these call nothing, and have all that belongs to them" calls_nothing
for bytes in 5000 16K; do
	ok "all results are the references' and depend on their inputs, in $bytes bytes" is_right $bytes
done
ok "a run does the passes that are asked for" runs transpose@o2 16K 5 160
ok "and of what is long, parts" runs gemm@o3 4M 3 36
ok "a kernel that there is not is refused" refuses "there is no kernel" run gemm@o9 16K 1
ok "so are all ways at once, to be run" refuses "there is no kernel" run gemm 16K 1
ok "so is a size that is none" refuses "no number" run gemm@o2 16X 1
ok "so are too few bytes" refuses "not enough" run gemm@o2 100 1
ok "so is a verb that is none" refuses usage walk gemm@o2 16K 1
if [ "$(uname -m)" = x86_64 ]; then
	for kernel in gemm@o3-fast hash@o3 deriche@o2 crc@o3-unroll; do
		ok "the time of $kernel grows with its data" grows $kernel
	done
fi
finish
