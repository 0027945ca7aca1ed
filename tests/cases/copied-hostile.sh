#!/bin/bash
# SPDX-License-Identifier: MIT
# Stacks that a recording keeps, of a file whose unwind tables take much work for each frame: it is asked no more when
# that is spent, by chance no sooner or later, and the report says how many stacks that cost. Deep stacks of a plain one
# lose nothing.
. "$(dirname "$0")/lib.sh"
[[ $(uname -m) = x86_64 ]] || skip "libunwind, whose work this is about, unwinds stacks of its own machine only"
made=$GUS_BUILDDIR/tests/bench/made-hostile
count() { grep -o "\"$1\": *[0-9]*" | head -1 | grep -o '[0-9]*$'; }

"$made" . reads 2600 1 && "$made" . plain 100 1 || problem "no recordings were made"
timeout 120 "$gusprof" report --no-cache -i reads.gus -g --format json >first 2>err || problem "report failed: $(<err)"
timeout 120 "$gusprof" report --no-cache -i reads.gus -g --format json >second 2>err
cmp -s first second || problem "two reports of the same recording differ"
work=$(count work <first)
((${work:-0} > 100 && work < 2600)) || problem "of 2600 stacks that cost much $work were left"
timeout 120 "$gusprof" report --no-cache -i plain.gus -g --format json >plain 2>err
[[ $(count work <plain) = 0 && $(count copy <plain) = 100 ]] || problem "plain stacks were lost"
test $failed = 0
