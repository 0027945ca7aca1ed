#!/bin/sh
# SPDX-License-Identifier: MIT
# Some dozens of kills of all that watches or runs something: nothing of ours is left, and nobody is disturbed. The
# hundreds are in tests/bench/kills, which says what it looks for; here a machine may be as slow as it likes.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
[ -x "$GUS_BUILDDIR/tests/cases/kill-target" ] || skip "kill-target was not built"
"$gusprof" record -q -- true >out 2>err
skip_if_refused $?

"$scripts/../bench/kills" --kills 4 --lanes 4 --patience 20 --signals KILL,TERM,STOP+CONT,TSTP+CONT
