#!/bin/bash
# SPDX-License-Identifier: MIT
# libunwind, behind the walk that both engines share, finds the true callers at every instruction of a program whose
# calls have every shape, as our own engine does (stack-steps -c), statically linked as well.
. "$(dirname "$0")/lib.sh"
steps=$GUS_BUILDDIR/tests/accuracy/stack-steps
[[ -x $steps ]] || skip "stack-steps is not built: this machine is no x86-64"
for program in unwind-target unwind-static; do
	for engine in "" -c; do
		out=$(timeout 240 "$steps" -n 60000 $engine "$GUS_BUILDDIR/tests/cases/$program" | grep ' right ')
		(($? == 0)) || problem "stack-steps $engine $program said nothing"
		right=${out%% right *} wrong=${out#* right } wrong=${wrong%% wrong *}
		((right > 20000)) || problem "$program $engine: only $right places were asked about: $out"
		((wrong * 500 <= right)) || problem "$program $engine: $wrong of $right stacks are wrong"
	done
done
test $failed = 0
