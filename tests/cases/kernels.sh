#!/bin/bash
# SPDX-License-Identifier: MIT
# The kernels that models are held against: each runs, says how many turns it did, and can be found by its symbol.
. "$(dirname "$0")/lib.sh"
kernel=$GUS_BUILDDIR/tests/kernels/kernel
shown='list symbols times err'

all_do_turns()
{
	while read -r name turns _; do
		grep -qx "$name" symbols || return 1
		[ "$("$kernel" "$name" 3)" = "$name $((3 * turns))" ] || return 1
	done <list
}
refuses() # what, words of the kernel...
{
	local what=$1
	shift
	! "$kernel" "$@" 2>err >/dev/null && grep -q "$what" err
}

"$kernel" --list >list
nm "$kernel" | sed -n 's/.* [tT] kernel_//p' | sort >symbols
ok "there are at least 48 kernels beside the pairs" [ "$(grep -vc '^pair_' list)" -ge 48 ]
ok "no two have the same name" [ -z "$(cut -d' ' -f1 list | sort | uniq -d)" ]
ok "each has a function of its name and does its turns in each pass" all_do_turns
ok "a kernel that there is not is refused" refuses "there is no kernel no_such" no_such
ok "a number of passes that is none is refused" refuses usage dot_o2 three
if [ "$(uname -m)" = x86_64 ]; then
	"$kernel" --time pair_sums pair_sums_without >times
	# One chain of four additions takes longer than four chains, on any machine and however busy.
	ok "times tell a chain from four" \
		awk '{ t[$1] = $2 } END { exit !(t["pair_sums"] > 1.5 * t["pair_sums_without"]) }' times
fi
finish
