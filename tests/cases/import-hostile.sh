#!/bin/bash
# SPDX-License-Identifier: MIT
# Files of perf's that lie about themselves: an answer or one sentence, within memory and time.
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip "python3 is not installed"
# Sanitizers take memory of their own, in terabytes of addresses.
grep -qa '__asan_init' "$GUSPROF" && export GUS_UNBOUNDED=1
check "hostile files" python3 "$scripts/perfdata_hostile.py"
cat out
# A file that may not become so large is an error as others are, and leaves nothing behind.
PYTHONDONTWRITEBYTECODE=1 python3 - "$scripts" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from perfdata import *
m = Made()
e = m.event("cycles", IP | TIME)
for i in range(20000):
    m.sample(e, ip=i * i * 7919 % 1000003, time=i)
open("large.data", "wb").write(m.file())
END
(ulimit -f 4; exec "$GUSPROF" import -q -i large.data -o full.gus 2>said)
check "no room is an error" test $? = 125
check "in one line, which leaves nothing" test "$(grep -c 'too large' said) $(ls -A | grep -c full)" = "1 0"
# Of a folder each file is of the one to whom the first belongs, or is left out and told.
if [ "$(id -u)" = 0 ]; then
	mkdir folder && cp large.data folder/data && tail -c 24 large.data >folder/data.0
	"$GUSPROF" script -i folder 2>/dev/null >said
	check "all files of a folder" test "$(wc -l <said)" = 20001
	chown 1 folder/data.0
	"$GUSPROF" report -i folder 2>/dev/null >said
	check "none of another owner's" test "$(grep -c '^# 20000 samples\|corrupt in 1 place' said)" = 2
fi
exit $failed
