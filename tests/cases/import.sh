#!/bin/bash
# SPDX-License-Identifier: MIT
# Recordings of perf that were made value by value (perfdata.py), in every shape: what was put in is what gusprof says.
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip "python3 is not installed"
check "known values" python3 "$scripts/perfdata_known.py"
cat out

# A recording is not what it is made into.
"$GUS_BUILDDIR/tests/cases/make-columns" made plain && "$gusprof" export -q -i made -o mine.data || exit 99
cp mine.data before
"$gusprof" import -q -i mine.data -o mine.data >out 2>err
[ $? = 129 ] || problem 'a recording was imported into itself'
grep -q 'it is the recording that is read; -o FILE names another' err || problem "it says: $(cat err)"
cmp mine.data before >out || problem 'the recording is another now'
[ ! -e mine.data.old ] || problem 'the recording has another name now'
exit $failed
