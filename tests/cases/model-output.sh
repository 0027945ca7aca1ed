#!/bin/bash
# SPDX-License-Identifier: MIT
# Where the report of gusprof model goes, and where what a command prints goes: never both to the same place.
. "$(dirname "$0")/lib.sh"
set -o pipefail
target=$GUS_BUILDDIR/tests/cases/traced-target
command -v qemu-x86_64 >/dev/null || skip "qemu-x86_64 is not installed (package qemu-user)"
[[ -e $GUS_BUILDDIR/tracing/plugin/gusprof-qemu.so && -x $target ]] || skip "the plugin for QEMU was not built"
command -v python3 >/dev/null || skip "python3 is not installed"

is_json() { python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["schema"] == "gusprof.traced/1"' "$1"; }
is_report() { grep -q ' on skylake (modelled: nothing was measured)$' "$1"; }
is_empty() { [[ ! -s $1 ]]; }
model() { "$GUSPROF" model --uarch skylake "$@" >out 2>err; }
printed=$'before\nafter'

model -- "$target" spin 1000 0
ok "a command's standard output is its own" is "$(<out)" "$printed"
ok "the report is on standard error" is_report err
ok "beside what the command says there" grep -qx trouble err

model --format json -- "$target" spin 1000 0
ok "JSON: its standard output is its own" is "$(<out)" "$printed"
ok "JSON: what it says there has a line of its own" is "$(head -n 1 err)" trouble
sed -i 1d err
ok "JSON: nothing else is beside it" is_json err

# What forks, and what has no symbols, is told in lines beside a text; beside JSON there are none.
model --format json -- sh -c 'cat /dev/null | cat'
ok "JSON stands alone on standard error also where there is something to be told" is_json err
ok "which is told in it" grep -q 'forked off' err
model -- sh -c 'cat /dev/null | cat'
ok "and beside a text" grep -q '^gusprof: .*forks' err

model -- sh -c '[ ! -e /proc/self/fd/3 ]' 3<&-
ok "a command has no descriptor of ours" is $? 0
"$GUSPROF" model --uarch skylake -- sh -c 'echo lost; [ ! -e /proc/self/fd/1 ]' >&- 2>err
ok "nor for a standard output that is closed" is $? 0
ok "which it cannot write to" is "$(grep -cx lost err)" 0
ok "though the report is written" is_report err

model -o - --format json -- "$target" spin 1000 0
ok "-o -: the report alone is on standard output" is_json out
ok "-o -: what the command prints there is on standard error" is "$(sort err)" $'after\nbefore\ntrouble'

model -o report -- "$target" spin 1000 3
ok "-o FILE: the status is the command's" is $? 3
ok "-o FILE: the report is in the file" is_report report
ok "-o FILE: not elsewhere" is "$(cat out err | grep -c skylake)" 0
ok "-o FILE: its mode is that of any text" is "$(stat -c %a report)" "$(printf '%o' $((0666 & ~$(umask))))"
model -o report --format json -- "$target" spin 1000 0
ok "-o FILE: what was there is kept" is_report report.old
ok "-o FILE: and the new one is there" is_json report

# A window that no thread reaches is our trouble, and no wrong use.
model --trace-options start=1000000000000 -- "$target" spin 1000 3
ok "a window that is never reached: status" is $? 125
ok "a window that is never reached: why" grep -q 'traced, as each thread ended before .* (start=)' err

# A copy of the program alone, as somebody makes who takes it elsewhere: what it lacks is a part of itself, and neither
# an option is wrong nor a process gone.
cp "$(command -v "$GUSPROF")" alone || exit 1
for verb in model compare; do
	if ./alone $verb -o probe -- "$target" spin 1000 0 >out 2>err; then
		echo "# $verb: there is an installation beside which the copy is not alone"
		continue
	fi
	./alone $verb -o report -- "$target" spin 1000 3 >out 2>err
	ok "$verb: no plugin: the status" is $? 125
	ok "$verb: no plugin: what, where and what to do" \
		grep -q '^gusprof: cannot trace: /.*/gusprof-qemu.so, .* install gusprof again' err
	ok "$verb: no plugin: in one line" is "$(wc -l <err)" 1
	ok "$verb: no plugin: the command is not begun" is_empty out
	sleep 60 &
	children=$!
	./alone $verb -p $children >out 2>err
	ok "$verb: nothing to replay with: the status" is $? 125
	ok "$verb: nothing to replay with: that is said" \
		grep -q '^gusprof: cannot replay snapshots: /.*/gusprof-replay, ' err
	ok "$verb: nothing to replay with: in one line" is "$(wc -l <err)" 1
	kill -KILL $children
	wait $children 2>/dev/null
	children=
done

# Before the command is begun.
model -o none/report -- touch begun
ok "a folder that is not there: status" is $? 125
ok "a folder that is not there: one line" is "$(wc -l <err)" 1
ok "a folder that is not there: the command was not begun" not test -e begun
model -o broken -- ./nothing
ok "without a report there is no file" not test -e broken
if [[ -w /dev/full ]]; then
	model -o /dev/full -- "$target" spin 1000 0
	ok "a full disk: status" is $? 125
	ok "a full disk is told" grep -q '^gusprof: cannot write the report to /dev/full: No space' err
	"$GUSPROF" model --uarch skylake -o - -- "$target" spin 1000 0 >/dev/full 2>err
	ok "a full standard output: status" is $? 125
fi

# A descriptor that was closed when we were started is nobody's.
rm -f closed
"$GUSPROF" model --uarch skylake -o closed -- "$target" spin 1000 7 >&- 2>err
ok "-o FILE without a standard output: the status" is $? 7
ok "-o FILE without a standard output: the report" is_report closed

# All else has nobody beside it.
model --block 4801c8
ok "code is on standard output" grep -q 'cycles an iteration' out
ok "and nothing on standard error" is_empty err
model -o code --block 4801c8
ok "-o FILE: code is in the file" grep -q 'cycles an iteration' code
ok "-o FILE: and not on standard output" is_empty out
model -o code --format csv --block 4801c8
ok "-o FILE: CSV is in the file" grep -q ',' code
finish
