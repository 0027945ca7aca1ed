#!/bin/bash
# SPDX-License-Identifier: MIT
# What a program knows is not in its recording: a secret in its heap, on its stack, in its registers and in its
# environment. Only who asks for memory to be kept has it.
. "$(dirname "$0")/lib.sh"
shown='err found'
target=$GUS_BUILDDIR/tests/cases/secret-target
find=$GUS_BUILDDIR/tests/cases/find-bytes
[[ -x $target ]] || skip "snapshots are taken on x86-64 only"

head -c 16 /dev/urandom >secret
SECRET=$(od -An -tx1 secret | tr -d ' \n')
export SECRET

"$gusprof" record -o data -- "$target" <secret 2>err
skip_if_refused $?
ok "there are windows" says '\[ [1-9][0-9]* windows\? of what it did'
"$find" data <secret >found
ok "all frames were looked at" eval '[[ $(sed -n "s/ frames$//p" found) -gt 10 ]]'
ok "none has the secret" eval '! grep -q "^frame" found'
printf %s "$SECRET" | "$find" data >found
ok "nor what the environment has" eval '! grep -q "^frame" found'

"$gusprof" record -o data --keep-memory -- "$target" <secret 2>err
"$find" data <secret >found
ok "with --keep-memory it is there" grep -q "^frame" found
ok "which says what it is" eval '"$gusprof" record --help | tr -s "\n " "  " | grep -q "all secrets"'
finish
