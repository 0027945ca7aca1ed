#!/bin/bash
# SPDX-License-Identifier: MIT
# A flame graph in a browser: opened, pointed at, clicked, searched, turned over, by mouse and by keys, with names that
# mean something to a browser and with 100,000 stacks. tests/cases/flame_browser.py is what looks; with $GUS_PICTURES, a
# folder, it leaves pictures there.
: "${GUS_BUILDDIR:?}"
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
PYTHONPATH=$scripts python3 -c 'import browser, sys; sys.exit(not browser.program())' || skip "there is no Chromium"
make=$(cd "$GUS_BUILDDIR" && pwd)/tests/cases/make-calls
for kind in small hostile many torn deep flat empty; do
	if ! "$make" $kind $kind || ! "$gusprof" report -q -i $kind --flamegraph $kind.html 2>err; then
		problem "$kind was not made: $(head -n 1 err)"
	fi
done
# As of time off the CPU, which takes rights to record.
sed 's/"counted": \["sample","samples"\]/"counted": ["time off the CPU","times off the CPU"]/' small.html >off.html
# Two functions that are too narrow to be drawn, beside each other.
sed 's/,15000000,/,24000,/; s/,20000000,/,20000,/; s/,5000000,/,4000,/' small.html >thin.html
python3 "$scripts/flame_browser.py" || failed=1
exit $failed
