#!/bin/bash
# SPDX-License-Identifier: MIT
# gusprof model -- COMMAND that gets SIGTERM while the command runs in the emulator says that it was ended, and the
# command is over as well.
. "$(dirname "$0")/lib.sh"
[[ -e $GUS_BUILDDIR/tracing/plugin/gusprof-qemu.so ]] || skip "the plugin for QEMU was not built"
command -v qemu-x86_64 >/dev/null || skip "qemu-x86_64 is not installed (package qemu-user)"

"$GUSPROF" model --uarch skylake -- /bin/bash -c 'echo "$BASHPID" >began; while :; do :; done' >out 2>err &
pid=$!
for _ in {1..600}; do [[ -s began ]] && break; sleep 0.1; done
kill -TERM "$pid"
wait "$pid"
shown=err ok "it dies by the signal" is $? 143
shown=err ok "it says so" is "$(grep -c '^gusprof: ended by SIGTERM before the command was over' err)" 1
for _ in {1..100}; do kill -0 "$(cat began)" 2>/dev/null || break; sleep 0.1; done
ok "the command is over" test ! -e "/proc/$(cat began)"
shown=err ok "no pipe is called broken" is "$(grep -c 'Broken pipe' err)" 0
((failed == 0))
