#!/bin/bash
# SPDX-License-Identifier: MIT
# gusprof report --stacks of a recording with a trace: what running it came to is kept, and the next report is of that,
# by whatever unit, as long as it is of the same recording, table and program.
. "$(dirname "$0")/lib.sh"
[[ -x $GUS_BUILDDIR/tests/accuracy/micro ]] || skip "the loops are for x86-64"
command -v qemu-x86_64 >/dev/null || skip "qemu-x86_64 is not installed (package qemu-user)"
[[ -e $GUS_BUILDDIR/tracing/plugin/gusprof-qemu.so ]] || skip "the plugin for QEMU was not built"
cp "$GUS_BUILDDIR/tests/accuracy/micro" .
"$GUSPROF" record -q -F 999 --trace qemu --trace-window 100000 -o r -- ./micro divider 1 >out 2>err
skip_if_refused $?
export GUSPROF_CACHE=$PWD/kept

# stacks OPTION...: its output is in out; whether it was found out before is said on stderr, as -v has it.
stacks() { timeout 300 "$GUSPROF" report -v --stacks --uarch skylake "$@" >out 2>err; }
before() { stacks "$@" && grep -q 'stacks were found out before' err; }
anew() { stacks "$@" && ! grep -q 'stacks were found out before' err; }
files() { find "$GUSPROF_CACHE" -name '*.stacks' | wc -l; }
same()
{
	before -i r "$@" || { cp err first-err; echo "it was not found out before"; return 1; }
	cp out second
	stacks --no-cache -i r "$@" && shown='second out' cmp second out
}

ok "the first time it is found out" anew -i r
cp out first
ok "and kept, in a file" test "$(files)" = 1
ok "that is ours alone" test "$(stat -c %a kept/*.stacks)" = 600
ok "the second time it is not" before -i r
ok "and is the same" cmp -s out first
for by in instruction line thread; do
	ok "by $by" same --by $by
done
ok "in JSON" same --format json
ok "as CSV" same --format csv
cp r copy
ok "a copy is the same recording, whatever it is called" before -i copy
ok "and by a pipe" before -i - <r
ok "beside what the model alone has it is another question" anew -i r --vs-model
ok "which is kept as well" same --vs-model
ok "of both" test "$(files)" = 2
ok "another table has other stacks" anew --uarch znver4 -i r
ok "annotate has the same" sh -c '"$GUSPROF" annotate -v --stacks --uarch skylake -i r 2>&1 >/dev/null |
	grep -q "stacks were found out before"'
ok "and diff, of both sides" sh -c '"$GUSPROF" diff --uarch skylake r copy >out 2>err && grep -q "^# total: +0" out'
(cat r; echo x) >longer
ok "another recording is another one" anew -i longer

# What is in the folder is believed only if it is whole, and of what is there now.
spoil() { for f in kept/*.stacks; do printf 'x' | dd of="$f" bs=1 seek="$1" conv=notrunc 2>/dev/null; done; }
for at in 3 9 20 300 2000; do
	spoil $at
	ok "a file with another byte $at is none" anew -i r
	ok "and the report is the same" cmp -s out first
	ok "and kept again" before -i r
done
truncate -s 500 kept/*.stacks
ok "a part is none" anew -i r
ok "and the report is the same" cmp -s out first
touch -d '2 days ago' micro
ok "where the program is another one it is found out anew" anew -i r
ok "and kept again" before -i r

# What is no file is not waited for, and of what changes while it is read nothing is kept.
refused() # FILE
{
	timeout 60 "$GUSPROF" report --stacks --uarch skylake -i "$1" >out 2>err
	[[ $? = 125 ]] && grep -q 'is not a regular file' err
}
mkfifo fifo
ok "a FIFO is refused" refused fifo
ok "and a device" refused /dev/zero
rm kept/*.stacks
cp r changing
(while touch changing; do sleep 0.01; done) 2>/dev/null &
toucher=$!
ok "what changes meanwhile is found out" anew -i changing
kill $toucher
wait $toucher 2>/dev/null
ok "and not kept" test "$(files)" = 0
if ((UID == 0)); then
	ok "what is ours is kept" anew -i r
	cp r theirs
	chown 65534 theirs
	ok "and of the same bytes that are another's nothing is known" anew -i theirs
	ok "which are kept as well" before -i theirs
fi

((failed == 0))
