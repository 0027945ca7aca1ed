#!/bin/bash
# SPDX-License-Identifier: MIT
# A module that asks for more than its size allows costs only its own names, and the report says so, as text and JSON.
: "${GUS_DEMO:?}"
. "$(dirname "$0")/lib.sh"

command -v objcopy >/dev/null || skip "objcopy (binutils) is not installed"
objcopy --remove-section .note.gnu.build-id "$GUS_DEMO" program || skip "objcopy cannot change the demo"
if ! "$GUSPROF" record -q -F 1000 -- ./program 1 >out 2>err; then
	skip "cannot record here: $(head -1 err)"
fi
"$GUSPROF" report --by line >out 2>err
! grep -q "were cut" out err && grep -q "program " out || { problem "before"; cat out err; }

# An abbreviation with 300 attributes, for an entry of one byte. In what is recorded: without a build id no file that
# was written later is taken for it.
{ printf '\1\x11\0'; for _ in {1..300}; do printf '\x3c\x19'; done; printf '\0\0\0'; } >abbrev
printf '\x08\0\0\0\4\0\0\0\0\0\x08\1' >info
objcopy --strip-debug --add-section .debug_abbrev=abbrev --add-section .debug_info=info program hostile &&
	cp hostile program || skip "objcopy cannot add sections"
"$GUSPROF" record -q -F 1000 -- ./program 1 >out 2>err || { problem "record"; cat err; }
said="names of 1 module were cut: $PWD/program: its debug information asks for more work than a file of its size may"
"$GUSPROF" report --by line >out 2>err || problem "report --by line"
grep -qF "# WARNING: $said" out || { problem "report says what was cut"; head -20 out; cat err; }
"$GUSPROF" report --by line --format json >out 2>err || problem "report --by line --format json"
grep -qF "\"$said\"" out && grep -qF "$said" err || { problem "notices have what was cut"; cat out err; }
# One of the program's own: the kernel's code cannot be had everywhere.
"$GUSPROF" report --dso program --format json >out 2>err || problem "report --dso program"
function=$(grep -o '"function": "[a-z_]*"' out | head -1 | cut -d'"' -f4)
"$GUSPROF" annotate "$function" >out 2>err || problem "annotate $function"
grep -qF "# WARNING: $said" out || { problem "annotate says what was cut"; head -20 out; cat err; }
echo "ok: what was cut is told"
exit $failed
