#!/bin/bash
# SPDX-License-Identifier: MIT
# gusprof model of a process that sleeps says so when the first try has failed, and tries as often as it would.
. "$(dirname "$0")/lib.sh"
[[ -e $GUS_BUILDDIR/tracing/plugin/gusprof-qemu.so ]] || skip "the plugin for QEMU was not built"
command -v qemu-x86_64 >/dev/null || skip "qemu-x86_64 is not installed (package qemu-user)"

sleep 300 &
pid=$!
until [[ $(cut -d" " -f2,3 "/proc/$pid/stat") == "(sleep) S" ]]; do sleep 0.05; done
timeout 60 "$GUSPROF" model --uarch skylake -p "$pid" --snapshots 2 >out 2>err
status=$?
kill "$pid"
grep -qE 'ptrace|not permitted' err && skip "processes cannot be traced here: $(cat err)"
slept="none of its 1 threads computed within 2000 ms; they sleep or wait in the kernel"
shown=err ok "it fails" is $status 125
shown=err ok "the first try is told, and how many there are" is "$(grep -c "$slept; tries left: 1\$" err)" 1
shown=err ok "the last one is the error" is "$(tail -n 1 err)" \
	"gusprof: cannot take a snapshot of process $pid: $slept"
shown=err ok "nothing else is said" is "$(wc -l <err)" 2
((failed == 0))
