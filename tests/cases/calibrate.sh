#!/bin/bash
# SPDX-License-Identifier: MIT
# Calibrations from outside: which one a host has, what is told of those that are not its, what they leave as it is,
# and what measuring is refused. The calibrations are made up here, so that it is known what they change.
. "$(dirname "$0")/lib.sh"

imul=480fafc0 # imul rax, rax: as many cycles as its latency
export GUSPROF_DATA=$work/data
unset XDG_DATA_HOME

# What this machine is told by, and where its calibration would be.
"$GUSPROF" calibrate --check >out 2>err
ok "without a calibration the status is 1" is $? 1
ok "it says so" says '^this machine is not calibrated$' out
kept=$(sed -n 's/^it would be //p' out)
sed -n 's/^  \([a-z]*\)  *\(.*\)/valid \1 "\2"/p' out >key
ok "there is a place for it" test -n "$kept"
ok "it was not made by looking" not test -e "$GUSPROF_DATA"
ok "a machine has nine parts" is "$(wc -l <key)" 9
# told WHAT CONDITION: it is so of the document d in "out".
told()
{
	if ! type python3 >/dev/null 2>&1; then
		echo "# python3 is not installed: $1"
		return
	fi
	ok "$1" python3 -c '
import json, sys
d = json.load(open("out"))
sys.exit(not eval("(" + sys.argv[1] + ")"))' "$2"
}
"$GUSPROF" calibrate --check --format json >out 2>err
ok "in JSON: the status is 1 as well" is $? 1
ok "in JSON: it is a document" says '"schema": "gusprof.calibrated/1"' out
told "in JSON: it says what the text says" \
	"d['calibrated'] is False and d['title'] is d['why'] is None and d['file'] == '$kept' and len(d['valid']) == 9"

base=skylake form='"IMUL (R64, R64)" uops 1 latency 77 uses p1:1'
if [[ $("$GUSPROF" uarch list | sed -n 's/^\* \([a-z0-9-]*\) .*/\1/p') != '' ]]; then
	own=$("$GUSPROF" uarch list | sed -n 's/^\* \([a-z0-9-]*\) .*/\1/p')
else
	own=
fi
# made FILE: a calibration with this machine's key, in which imul takes 77 cycles.
made()
{
	{
		echo "uarch $base-calibrated isa x86-64 \"Made up as calibrated on here\""
		cat key
		echo "like $base"
		echo 'source calibrated "made up"'
		echo "form $form source calibrated"
		echo 'param rob 99 entries calibrated'
		echo 'fit rob 99 98.5..99.5 entries residual 0.01 confidence high "a test"'
		echo 'fit rs none entries confidence none "nobody asked"'
		echo end
	} >"$1"
}
# cycles ARG...: of an imul.
cycles() { "$GUSPROF" model "$@" --block $imul 2>err | sed -n 's/^ *\([0-9.]*\)  cycles an iteration.*/\1/p'; }
# same FILE ARG...: the same bytes as in the file, in three formats.
same() { for f in text json csv; do "$GUSPROF" model "${@:2}" --format $f --block $imul; done 2>&1 | cmp -s - "$1"; }
all_formats() { for f in text json csv; do "$GUSPROF" model "$@" --format $f --block $imul; done >"$work/before" 2>&1; }

all_formats --uarch znver3
cp before other
[[ $own ]] && all_formats --uarch nominal && cp before nominal

# It is the host's.
mkdir -m 700 data
made "$kept"
chmod 600 "$kept"
ok "what is kept is the host's" is "$(cycles)" 77.00
ok "and by its name" is "$(cycles --uarch host)" 77.00
ok "nothing is said of it" not test -s err
"$GUSPROF" model --block $imul >out 2>err
ok "text names it" says "^calibrated: $kept, from $base, valid for vendor " out
"$GUSPROF" model --block $imul --format json >out
ok "JSON names it" says "\"file\": \"$kept\"" out
ok "it is this machine's" says '"misfit": null' out
"$GUSPROF" model --block $imul --format csv >out
ok "CSV names it in the last field of each line" is "$(grep -vc ",\\(calibration\\|$kept\\)\$" out)" 0
echo $imul | "$GUSPROF" model --batch - 2>err >out
ok "and of batches" is "$(tail -n 1 out | sed 's/.*,//')" "$kept"
"$GUSPROF" model --block $imul --timeline=2 --format csv >out
ok "and of timelines" says ",$kept\$" out
# A recording of another kernel, that is of another machine, is not held against it.
spin=$GUS_BUILDDIR/tests/cases/traced-target
if [[ $own && -x $spin ]] && setarch x86_64 --uname-2.6 true 2>/dev/null &&
	"$GUSPROF" record -q --trace qemu -o here -- "$spin" spin 9000000 0 >out 2>err &&
	setarch x86_64 --uname-2.6 "$GUSPROF" record -q --trace qemu -o there -- "$spin" spin 9000000 0 >out 2>err; then
	"$GUSPROF" compare --format json -i here >out 2>err
	told "a recording of this machine is" "d['whole']['table']['calibration']['file'] == '$kept'"
	"$GUSPROF" compare --format json -i there >out 2>err
	told "one of another kernel is not" "d['whole']['table']['calibration'] is None"
fi
"$GUSPROF" uarch show >out
ok "show has what it says" says '^fit rob 99 98.5..99.5 entries residual 0.01 confidence high "a test"$' out
ok "and what it could not tell" says '^fit rs none entries confidence none "nobody asked"$' out
"$GUSPROF" uarch show --format json >out
ok "show has it in JSON" says '"why": "nobody asked"' out
"$GUSPROF" uarch list >out
ok "the list says that there is one" says "^+ this machine was calibrated: .*$kept" out
"$GUSPROF" calibrate --check >out
ok "check finds it" is $? 0
"$GUSPROF" calibrate --check --format json >out
ok "check finds it in JSON" is $? 0
told "in JSON: and names it" "d['calibrated'] is True and d['title'] == 'Made up as calibrated on here' and
	d['file'] == '$kept' and d['why'] is None"
ok "another CPU is untouched by it, to the byte" same other --uarch znver3
[[ $own ]] && ok "so is nominal" same nominal --uarch nominal
GUSPROF_DATA='' "$GUSPROF" calibrate --check >out
ok "an empty GUSPROF_DATA has none" is $? 1
GUSPROF_DATA=data "$GUSPROF" calibrate --check >out
ok "nor has one that is no path from the root on" is $? 1
ok "and it would be nowhere" not says 'it would be' out
XDG_DATA_HOME=$work/xdg
export XDG_DATA_HOME
mkdir -p -m 700 xdg "$HOME/.local/share"
cp -a data xdg/gusprof
cp -a data "$HOME/.local/share/gusprof"
(
	unset GUSPROF_DATA
	"$GUSPROF" model --block $imul >"$work/by-xdg"
	unset XDG_DATA_HOME
	"$GUSPROF" model --block $imul >"$work/by-home"
)
ok "XDG_DATA_HOME says where" says "^calibrated: $work/xdg/gusprof/" by-xdg
ok "else it is in the home" says "^calibrated: $HOME/.local/share/gusprof/" by-home

# It is never another host's. unfit WHAT SED PATTERN
unfit()
{
	made "$kept"
	sed -i "$2" "$kept"
	chmod 600 "$kept"
	if [[ $own ]]; then
		ok "$1: the nominal table is used" is "$(cycles)" "$(cycles --uarch nominal)"
		cycles >/dev/null
	else
		"$GUSPROF" model --block $imul >out 2>err
	fi
	ok "$1: it says why" says "$3" err
	[[ $own ]] && ok "$1: once" is "$(wc -l <err)" 1
	"$GUSPROF" calibrate --check >out
	ok "$1: check says it too" is $? 1
	"$GUSPROF" calibrate --check --format json >out
	told "$1: and in JSON" 'd["calibrated"] is False and ("is not used: " in d["why"] or "cannot " in d["why"])'
}
unfit "another microcode" 's/^valid microcode .*/valid microcode "0xold"/' \
	"$kept is not used: it is of microcode 0xold, and here it is .*; run 'gusprof calibrate' again"
unfit "another kernel" 's/^valid kernel .*/valid kernel "2.6.32"/' 'it is of kernel 2.6.32, and here it is '
unfit "another CPU" 's/^valid model .*/valid model "999"/' 'it is of model 999, and here it is '
unfit "another hypervisor" 's/^valid hypervisor .*/valid hypervisor "VAX"/' 'it is of hypervisor VAX, and here it is '
unfit "a key of the future" '/^end/i valid moon "full"' 'it is of moon full, and nothing is known of that here'
unfit "a part of the key is not there" '/^valid kernel/d' 'it does not say of which kernel it is; run'
unfit "one part of the key alone" '/^valid vendor/n; /^valid/d' 'is not used: it does not say of which [a-z]* it is'
unfit "no key at all" '/^valid/d' 'it does not say for which host it is valid'
unfit "a line that is none" "/^end/i $(printf '\033')[31m" 'cannot read the table .*begins no statement'
ok "what it says is harmless" not says "$(printf '\033')" err
unfit "half a line" '/^end/i fit rob 1' 'cannot read the table .* line '

# It may be cut, by a disk that was full or a copy that was not finished. Wherever that is, it is told of and not used.
made "$kept"
cp "$kept" whole.uarch
size=$(wc -c <whole.uarch)
for at in 1 20 70 120 300 $((size / 2)) $((size - 6)) $((size - 5)) $((size - 3)) $((size - 2)); do
	head -c "$at" whole.uarch >"$kept"
	"$GUSPROF" calibrate --check >out
	ok "cut behind $at bytes: it is not used" is $? 1
	ok "cut behind $at bytes: one sentence says what to do" \
		is "$(grep -cE "calibrated: cannot .*; run 'gusprof calibrate' again\$" out)" 1
	head -c "$at" whole.uarch >cut.uarch
	"$GUSPROF" model --uarch cut.uarch --block $imul >out 2>err
	ok "cut behind $at bytes: nor by its name" is "$? $(wc -l <err) $(wc -c <out)" "125 1 0"
done
ok "cut at its end: it is said that it was cut" says "does not end with .end., so a part of it is missing" err
head -c $((size - 1)) whole.uarch >"$kept"
ok "all but the end of the last line is whole" is "$(cycles)" 77.00
grep -v '^valid\|^end' whole.uarch >plain.uarch
ok "a table that is for no host need not end" is "$(cycles --uarch plain.uarch)" 77.00
"$GUSPROF" uarch --uarch whole.uarch --forms show >shown.uarch
ok "what show has of one can be loaded" is "$(cycles --uarch shown.uarch)" 77.00
sed -i '$d' shown.uarch
"$GUSPROF" uarch check shown.uarch >out 2>err
ok "and is cut without its end" says "does not end with .end." out

# Others' are looked at for one sentence, and no more of them than one may have.
made "$kept"
mv "$kept" data/host-0000000000000001.uarch
sed -i 's/^valid microcode .*/valid microcode "0xold"/' data/host-0000000000000001.uarch
awk 'BEGIN { for (i = 0; i < 170000; i++) printf "# %097d\n", 0 }' >data/host-0000000000000002.uarch
chmod 600 data/*.uarch
cp -p data/host-0000000000000002.uarch data/host-0000000000000003.uarch
"$GUSPROF" calibrate --check >out
ok "others: one is told of" says 'is not used: it is of microcode 0xold' out
ok "others: it is said that there are more" says '(there are more, which were not looked at)' out
rm data/host-000000000000000?.uarch

# A file that is named is taken wherever it was made, and said to be another's.
made elsewhere.uarch
sed -i 's/^valid microcode .*/valid microcode "0xold"/' elsewhere.uarch
ok "a file of another host is taken" is "$(cycles --uarch elsewhere.uarch)" 77.00
"$GUSPROF" model --uarch elsewhere.uarch --block $imul >out
ok "it is said not to be this one" says 'which is not this machine: it is of microcode 0xold' out
"$GUSPROF" model --uarch elsewhere.uarch --block $imul --format json >out
ok "in JSON, too" says '"misfit": "it is of microcode 0xold' out

# Who may write to it may say what it says.
made "$kept"
chmod 622 "$kept"
"$GUSPROF" calibrate --check >out
ok "a file that others may write to is not used" says 'nobody else may write to' out
chmod 600 "$kept"
chmod 777 data
"$GUSPROF" calibrate --check >out
ok "nor one of a folder that others may write to" says 'others may write to the folder' out
chmod 700 data
mv "$kept" data/aside
ln -s "$work/data/aside" "$kept"
"$GUSPROF" calibrate --check >out
ok "nor what a link leads to" says 'not calibrated' out
rm "$kept"
mkfifo "$kept"
timeout 10 "$GUSPROF" calibrate --check >out
ok "nor a FIFO, which would be waited for" is $? 1
rm -f "$kept"
truncate -s 17M "$kept"
chmod 600 "$kept"
"$GUSPROF" calibrate --check >out
ok "nor what is longer than any" says 'bytes at most' out

# Forgetting.
made "$kept"
chmod 600 "$kept"
touch "data/host-0123456789abcdef.uarch"
"$GUSPROF" calibrate --forget >out
ok "what is kept can be forgotten" not test -e "$kept"
ok "of this host alone" test -e data/host-0123456789abcdef.uarch
"$GUSPROF" calibrate --forget >out
ok "once" says 'there is no calibration of this machine' out

# What is refused is refused before anything is measured, which would take longer.
# refused WHAT STATUS PATTERN ARG...
refused()
{
	timeout 10 "$GUSPROF" calibrate "${@:4}" >out 2>err
	ok "$1: refused" is $? "$2"
	ok "$1: it says why" says "$3" err
	ok "$1: in one line" is "$(wc -l <err)" 1
}
# limited WHICH N: under that limit of the shell's ulimit.
limited()
{
	(ulimit "$1" "$2" && exec "$GUSPROF" calibrate -o "$work/table") >out 2>err
	ok "limit $1: refused" is $? 125
	ok "limit $1: it is named" says "ulimit $1" err
	ok "limit $1: in one line" is "$(wc -l <err)" 1
}
refused "quick and full" 129 'exclude each other' --quick --full
refused "check and full" 129 'exclude each other' --check --full
refused "forget and format" 129 'exclude each other' --forget --format json
refused "a CPU that is none" 129 'a number' --cpu x
refused "a folder that is not there" 125 'cannot create the calibration' -o "$work/none/x"
timeout 10 "$GUSPROF" calibrate -o - >&- 2>err
ok "no standard output for the table: refused" is "$? $(grep -c 'standard output: it is closed' err)" "129 1"
GUSPROF_DATA='' refused "no place to keep it" 125 'cannot keep the calibration'
GUSPROF_DATA=/proc/none refused "a place that cannot be made" 125 'cannot make the folder .*; name a file with -o'
if (ulimit -v 300000 && exec "$GUSPROF" --version) >/dev/null 2>&1; then
	limited -v 300000
else
	echo "# limit -v: a program with sanitizers does not begin with so little"
fi
limited -f 1
[[ $(id -u) != 0 ]] && limited -u 1 # which root is not held to
if [[ $(id -u) != 0 ]]; then
	mkdir -m 500 locked
	GUSPROF_DATA=$work/locked refused "a place that may not be written to" 125 'ermission denied'
fi
if type qemu-x86_64 >/dev/null 2>&1 && [[ $(uname -m) = x86_64 ]] && ! is_sanitized "$GUSPROF" &&
	qemu-x86_64 "$GUSPROF" doctor 2>/dev/null | grep -q 'QEMU TCG'; then
	qemu-x86_64 "$GUSPROF" calibrate >out 2>err
	ok "an emulator is no hardware" says 'emulated by QEMU, so what would be timed is a translator' err
fi
finish
