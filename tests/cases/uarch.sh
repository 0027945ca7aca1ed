#!/bin/bash
# SPDX-License-Identifier: MIT
# gusprof uarch from outside: what there is, what an instruction gets, and what a table with a fault is told.
. "$(dirname "$0")/lib.sh"

# gives WHAT STATUS PATTERN COMMAND...: the status, and a line of the output that matches.
gives()
{
	local what=$1 status=$2 pattern=$3
	shift 3
	"$@" >out 2>&1
	local got=$?
	[[ $got == "$status" ]] && grep -qE -- "$pattern" out && return
	echo "FAILED: $what: status $got, and the output is"
	head -5 out
	failed=1
}

gives "the list has Skylake" 0 '^[ *] skylake +x86-64 .* skl$' "$GUSPROF" uarch list
gives "and Neoverse" 0 '^[ *] neoverse-n1 +arm64 ' "$GUSPROF" uarch list
gives "an add on Skylake" 0 'uops 1 latency 1 uses p0156:1' "$GUSPROF" uarch explain --uarch skl 4801c8
gives "several words" 0 '^c5fd58c1 +vaddpd ymm0, ymm0, ymm1' "$GUSPROF" uarch explain --uarch skx 48 01 c8 0xc5fd58c1
gives "ports of the other add" 0 'VADDPD \(YMM, YMM, YMM\)' "$GUSPROF" uarch explain --uarch skx c5fd58c1
gives "what the CPU has not gets bounds" 0 'bounds +class fp_add: uops' \
	"$GUSPROF" uarch explain --uarch hsw 62f1fd4858c1
gives "an instruction that is cut" 0 'bytes are missing' "$GUSPROF" uarch explain --uarch skl 48
gives "bytes that are none" 129 'pairs of hexadecimal digits' "$GUSPROF" uarch explain --uarch skl 4x
gives "a CPU that is none" 129 'neither a CPU nor a file called skylacke' "$GUSPROF" uarch explain --uarch skylacke 90
gives "no such thing to do" 129 "takes list, show, .* or import, not 'tell'" "$GUSPROF" uarch tell
gives "what is of show alone" 129 '--forms is for show; here the action is list' "$GUSPROF" uarch --forms
gives "an import of no CPU" 129 'import needs --arch' "$GUSPROF" uarch import mine.uarch

cat >mine.uarch <<'E'
uarch mine isa x86-64 "Skylake with a faster multiplier"
like skylake
source me "an experiment"
form "IMUL (R64, R64)" uops 1 latency 2 uses p1:1 source me
E
gives "a table of one's own" 0 'uops 1 latency 2 uses p1:1 source me' \
	"$GUSPROF" uarch --uarch mine.uarch explain 480fafc1
gives "the rest is Skylake's" 0 'uops 1 latency 1 uses p0156:1' "$GUSPROF" uarch --uarch mine.uarch explain 4801c8
gives "is good" 0 'mine.uarch: a good table of Skylake with' "$GUSPROF" uarch check mine.uarch
sed 's/p1:1/p9:1/' mine.uarch >bad.uarch
gives "a port that is none" 1 'bad.uarch, line 4: there is no group p9' "$GUSPROF" uarch check bad.uarch
echo 'group p0123 = p0+p1+p2+p3' >>mine.uarch
gives "groups that are not closed" 1 'overlap, so their union must be a group' "$GUSPROF" uarch check mine.uarch

# What show prints is a table, and the same one.
"$GUSPROF" uarch show znver4 --forms >shown.uarch && "$GUSPROF" uarch show shown.uarch --forms >again.uarch
gives "what is shown can be loaded" 0 'a good table of AMD Zen 4' "$GUSPROF" uarch check shown.uarch
diff <(sort shown.uarch) <(sort again.uarch) >out || { echo "FAILED: shown twice, it differs"; head -5 out; failed=1; }
((failed == 0))
