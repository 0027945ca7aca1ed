#!/bin/bash
# SPDX-License-Identifier: MIT
# What is replayed is foreign code, and it can leave the emulator: guest and emulator share an address space. So that
# must not get it anything. With addresses not randomised, it is known where the emulator's own code lies; a target
# writes machine code of its own to there, which creates a file and ends with status 77. Seen: it is executed (77, so
# that this test does not only miss), and there is no file. Of a process that lives, and of a recording.
. "$(dirname "$0")/lib.sh"
set -o pipefail
cases=$GUS_BUILDDIR/tests/cases
target=$cases/escape-target replay=$cases/replay-process
[[ -x $target ]] || skip "snapshots are replayed on x86-64 only"
[[ -x $GUS_BUILDDIR/tracing/plugin/gusprof-qemu.so ]] ||
	skip "the plugin for QEMU was not built: no shared objects, or headers of a kernel before 4.14"
command -v qemu-x86_64 >/dev/null || skip "qemu-x86_64 is not installed (package qemu-user)"
setarch -R true 2>/dev/null || skip "addresses cannot be left as they are: setarch -R"
pid=
stop() { [[ -z $pid ]] || { kill -KILL "$pid"; wait "$pid"; } 2>/dev/null; pid=; }
cleanup() { stop; }
chmod 755 "$work"
begin()
{
	"$@" >/dev/null 2>&1 &
	pid=$!
	computes() { [[ $(readlink "/proc/$pid/exe") == "$1" ]] && has_run "$pid" 2; }
	wait_for computes "$1" || problem "$*: the target does not begin"
}

# Where an emulator that replays has memory that it may write and execute, in $code. It is looked at from outside.
find_code()
{
	local emulator
	emulator=$(ps -o pid= --ppid "$replayer" 2>/dev/null | head -n 1)
	code=$(sed -nE 's/^([0-9a-f]+)-[0-9a-f]+ rwxp 00000000 00:00 0.*/\1/p' "/proc/${emulator// /}/maps" \
		2>/dev/null | head -n 1)
	[[ -n $code ]]
}

begin "$cases/replay-target" plain
setarch -R "$replay" qemu "$pid" 1 0 100000000 long >/dev/null 2>out &
replayer=$!
wait_for find_code || { kill $replayer; skip "no memory of the emulator can be seen: $(cat out) (root can)"; }
kill $replayer
wait $replayer 2>/dev/null
stop

begin "$target" "$code"
setarch -R "$replay" qemu "$pid" 4 5 100000 t >out 2>&1
grep -q 'ended with status 77' out || { problem "the attack does not reach the emulator"; cat out; }
setarch -R "$GUSPROF" model -p "$pid" --snapshots 3 --spread 5 --window 100000 >out 2>&1
[[ -e escaped ]] && problem "code of a living target got out"

# The same target, in a recording. Where it is met in its handler, a window ends with that.
export -f ran has_run wait_for run_on
recorded=
for try in 1 2 3 4 5 6; do
	setarch -R "$GUSPROF" record -o r --keep-memory --trace-window 100000 -p "$pid" \
		-- bash -c "run_on $pid 100" >out 2>&1 || break
	setarch -R "$replay" r rr >recorded 2>&1
	recorded=yes
	grep -q 'status 77' recorded && break
done
# And by record itself.
setarch -R "$GUSPROF" record -v -o w --trace-window 100000 -p "$pid" -- bash -c "run_on $pid 100" >out 2>&1
[[ -e escaped ]] && problem "code of a target that is recorded got out"
stop
if [[ -n $recorded ]]; then
	grep -q 'status 77' recorded ||
		{ problem "the recorded attack does not reach the emulator"; cat out recorded; }
	setarch -R "$GUSPROF" model -i r >out 2>&1
	[[ -e escaped ]] && problem "code of a recording got out"
	if ((EUID == 0)); then # one of somebody else is not even replayed, unless one asks for it
		chown 12345 r
		"$GUSPROF" model -i r >out 2>&1
		expect "another's recording" 'r has snapshots, which are code, .* \(--replay\)'
		grep -q 'windows\? of up to' out && problem "another's recording is replayed"
		"$GUSPROF" model --replay -i r >out 2>&1
		grep -q -e '--replay' out && problem "another's recording is not replayed where one asks for it"
	fi
else
	echo "recording does not work here, so no recorded attack was tried: $(head -n 1 out)"
fi
((failed == 0))
