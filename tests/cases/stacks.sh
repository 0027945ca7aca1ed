#!/bin/sh
# SPDX-License-Identifier: MIT
# A recording with branch stacks, made up so that every branch is known: what dump and annotate show of it.
. "$(dirname "$0")/lib.sh"
make=$(cd "$GUS_BUILDDIR" && pwd)/tests/cases/make-stacks
says() { grep -qE -e "$1" "${2:-out}"; } # whose patterns are of the other kind

"$make" stacks || { echo "not ok - the recording was not made"; exit 1; }
"$GUSPROF" dump stacks >out 2>err
ok "dump: the stack, newest first" says \
	'ip 0x401000 user branches 0x401022/0x401000/P/-/-/3 0x401027/0x401022/P/-/-/3 0x40101b/0x401027/P/-/-/3 '
ok "dump: what was mispredicted" says ' 0x401010/0x401005/M/-/-/3 '
ok "dump: which branches were asked for" says 'branch_type 8'

# Of f: the jump over goes each second time; the loop within 9 of 10 times, each fourth time mispredicted;
# that around it 2 of 3.
"$GUSPROF" annotate -i stacks f >out 2>err
ok "annotate: taken each second time" says '1007 +jz L3 +\[taken 50\.00%, mispredicted 0\.00%\]$'
ok "annotate: mispredicted each fourth time" says '1010 +jnz L2 +\[taken 90\.00%, mispredicted 24\.97%\]$'
ok "annotate: a call is always taken" says '1012 +call g +\[mispredicted 0\.00%\]$'
ok "annotate: no branch, nothing said" says '100d +dec rcx$'
"$GUSPROF" annotate -i stacks --format json f >out 2>err
ok "annotate: the counts" says '"mispredicted": 472'
tr -d '\n ' <out >flat
ok "annotate: all of them" \
	says '"branch":\{"executed":2100,"taken":1890,"judged":1890,"mispredicted":472,"evidence":"observed"\}' flat
"$GUSPROF" annotate -i stacks --time 0,0.5 f >out 2>err
ok "annotate: nothing of what the options leave out" says 'options leave|nothing to annotate' err

# Without a name it is the hottest function whose code can be had; f has 480 samples.
hotter='^gusprof: warning: hotter than what is shown, with'
"$make" kernel 600 500 && "$GUSPROF" annotate -i kernel >out 2>err
ok "annotate: the kernel is passed over" says '^# f in /nowhere/app: 480 samples'
ok "annotate: which is told" says \
	"$hotter 67\.48 % of the recording: made_first and 1 more in \[kernel\]: the recording has no copy" err
"$make" kernel 481 479 && "$GUSPROF" annotate -i kernel >out 2>err
ok "annotate: of what is hotter alone" says "$hotter 32\.28 % of the recording: made_first in \[kernel\]: " err
"$make" kernel 479 0 && "$GUSPROF" annotate -i kernel >out 2>err
ok "annotate: of nothing, if nothing is" sh -c '! grep -q hotter err && grep -q "^# f in" out'
for asked in "--tid 11" "--dso [kernel]" made_first; do
	# shellcheck disable=SC2086 # these are words
	"$GUSPROF" annotate -i kernel $asked >out 2>err
	ok "annotate $asked: there is nothing else" test \
		"$? $(grep -c 'cannot read the code of made_first in' err)" = "125 1"
done

# The model: the loop within has 9 of 10 jumps back, of which a quarter is mispredicted;
# g has 2 of 100 instructions or so.
"$GUSPROF" model -i stacks --uarch skylake >out 2>err
ok "model: says what it rests on" says '^What was executed is inferred from 530 branch stacks, 3710 of 3710 stretches'
ok "model: functions and loops by their names" says '^ +[0-9.]+% +[0-9.]+% .* f, loop at \+0x5  \[app\]$'
ok "model: mispredicted at the measured rate" says '10  +[0-9]+ +fused + - +22\.[0-9]+%  jnz '
ok "model: no addresses" says 'without an address, as if they hit L1'
"$GUSPROF" model -i stacks --uarch skylake --format json >out 2>err
tr -d '\n ' <out >flat
ok "model: the same in JSON" \
	says '"inferred":\{"from":"stacks","samples":530,"stacks":530,"ranges":\{"good":3710,"intwomappings":0,' flat
cp out first
"$GUSPROF" model -i stacks --uarch skylake --format json >out 2>err
ok "model: the same bytes each time" cmp -s first out
"$GUSPROF" model -i stacks --uarch neoverse-n1 >out 2>err
ok "model: a table of another ISA is refused" says 'not of the ISA of neoverse-n1' err

finish
