#!/bin/bash
# SPDX-License-Identifier: MIT
# gusprof report --stacks of two threads that write words of one line, or of two lines: what the model of one thread
# does not know is told as unknown, with the reason.
. "$(dirname "$0")/lib.sh"
target=$GUS_BUILDDIR/tests/cases/shared-target
command -v qemu-x86_64 >/dev/null || skip "qemu-x86_64 is not installed (package qemu-user)"
[[ -e $GUS_BUILDDIR/tracing/plugin/gusprof-qemu.so ]] || skip "the plugin for QEMU was not built"
command -v python3 >/dev/null || skip "python3 is not installed"

# Records it, until there are windows of both threads, each between others of the other one: of three runs one has to be
# undisturbed. Where there are windows enough, record has to have kept some of each.
windows_of()
{
	for try in 1 2 3; do
		rm -f r
		timeout 120 "$GUSPROF" record -q --trace auto --overhead 10 -o r -- "$target" "$1" 2 >out 2>err
		skip_if_refused $?
		"$GUSPROF" dump r | sed -n 's/.*moment { pid [0-9]* tid \([0-9]*\) time \([0-9]*\) .*/\2 \1/p' |
			sort -n | cut -d' ' -f2 | uniq >turns
		(($(wc -l <turns) >= 3)) && return
	done
	(($("$GUSPROF" dump r | grep -c 'moment { pid') < 6)) || problem "no windows of both threads in turns"
	((failed)) && exit 1
	skip "of three runs none had more than some windows"
}

# holds WHAT CONDITION: for the parts of add(), by loop, in units of its time.
holds()
{
	timeout 300 "$GUSPROF" report --stacks --by loop --uarch skylake --format json -i r >json 2>err || {
		problem "no stacks"; cat err; return; }
	shown='json err' ok "$1" python3 -c '
import json, sys
rows = [r for r in json.load(open("json"))["rows"] if r["function"] == "add"]
whole = sum(r["weight"] for r in rows)
unknown = sum(r["stack"].get("unknown", 0) for r in rows) / whole
sys.exit(not eval(sys.argv[1]))' "$2"
}

windows_of one
holds "one line: what is waited for is unknown" 'unknown > .95'
"$GUSPROF" report --stacks --uarch skylake -i r >out 2>err
expect "and why" 'add\+0x.*unknown: shared lines 100%'
windows_of two
holds "two lines: the model knows" 'unknown < .3'
"$GUSPROF" report --stacks --uarch skylake -i r >out 2>err
! grep -q "shared lines" out || problem "lines that are not shared are told to be"

((failed == 0))
