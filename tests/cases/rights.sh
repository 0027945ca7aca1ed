#!/bin/bash
# SPDX-License-Identifier: MIT
# What a stranger can have gusprof do when somebody with more rights uses it on the stranger's recordings, programs and
# processes: nothing that the stranger could not. And what an ordinary user gets of root's: one clear error. The
# stranger is user 12345, whom only root can become; who is not root tries what needs none, and the rest is named.
. "$(dirname "$0")/lib.sh"
builddir=${GUS_BUILDDIR:?}
shown='out err'
placeholder=/the-name-of-a-source-that-the-case-chooses-________________________________________________________________
skipped=()
stranger=12345

# Copies, in a folder that everybody can enter: the build folder may be its owner's alone.
chmod 755 "$work"
built=$gusprof # with its plugin beside it
cp "$(command -v "$gusprof")" gusprof && gusprof=$work/gusprof || exit 1
cp "$builddir/tests/cases/rights-public" "$builddir/tests/cases/rights-secret" . || exit 1

# run SECONDS COMMAND...: sets status; 124 if it hung.
run()
{
	timeout -k 1 "$@" >out 2>err </dev/null
	status=$?
}
as_stranger="setpriv --reuid=$stranger --regid=$stranger --clear-groups --inh-caps=-all --bounding-set=-all"
theirs() { $as_stranger "$@"; }
# named_source PROGRAM NEW SOURCE: a copy whose debug information says that its code stands in SOURCE.
named_source()
{
	local name=$3
	while ((${#name} < ${#placeholder})); do name=/$name; done
	sed "s|$placeholder|$name|" "$1" >"$2" && chmod 755 "$2"
}
one_error() { is "$(grep -c '^gusprof: ' err)" 1; }
no_secret() { ! grep -q TOP-SECRET out err; }

mkdir closed home && chmod 700 closed && chmod 755 home || exit 1
for _ in 1 2 3 4 5 6 7 8; do echo '/* TOP-SECRET */'; done >closed/secret
sed 's/TOP-SECRET/all may read this/' closed/secret >public.c
named_source rights-public home/spy "$work/closed/secret"
named_source rights-public home/honest "$work/public.c"

# --- What waits, or is a stranger's, in the folder that one is in. Anybody can try this.
mkdir here && cd here && mkfifo fifo gusprof.data || exit 1
run 5 "$gusprof" report
ok "a FIFO is no recording, and is not waited for" is $status 125
ok "and that is said" says "it is not a regular file"
run 5 "$gusprof" model --elf fifo --function main
ok "nor is it a program" is $status 125
run 5 "$gusprof" model -- ./fifo
ok "nor a command to trace" test $status -gt 124
cp "$builddir/tests/cases/rights-public" program || exit 1
printf '#!/bin/sh\ntouch ran\n' >qemu-x86_64 && cp qemu-x86_64 qemu-aarch64 && chmod +x qemu-*
PATH=.:$PATH run 20 "$built" model -- ./program 1
PATH=:$PATH run 20 "$built" model -- ./program 1
ok "an emulator is not looked for in the folder that we are in" test ! -e ran
run 20 "$built" model --emulator ./qemu-x86_64 -- ./program 1
[[ $(uname -m) != x86_64 ]] || ok "unless one says so" test -e ran
cd ..

# --- Recordings and processes of a stranger, looked at by root.

# recorded_by_stranger NAME: home/NAME.data, which they made of home/NAME.
recorded_by_stranger()
{
	(cd home && theirs "$gusprof" record -q -F 2000 -o "$1.data" -- "./$1" 200000) >out 2>err
	status=$?
	skip_if_refused $status
	ok "stranger records $1" is $status 0
}
recorded_by_root()
{
	local pid
	$as_stranger "home/$1" &
	pid=$!
	children="$children $pid"
	wait_for has_run $pid 1
	run 20 "$gusprof" record -q -F 2000 -o "$1.of-root" -p $pid -- sleep 0.5
	ok "root records the stranger's $1" is $status 0
	kill -KILL $pid
}
shows_source() { grep -q 'all may read this' out; }

sources()
{
	recorded_by_stranger spy
	run 20 "$gusprof" annotate -i home/spy.data
	ok "annotate of a stranger's recording works" is $status 0
	ok "shows the function" says public_function out
	ok "shows no line of a file that they may not read" no_secret
	ok "and says why" says "cannot read the source .*closed/secret: not readable by the recording's owner"
	run 20 "$gusprof" annotate -i home/spy.data --format json
	ok "nor does JSON" no_secret
	run 20 "$gusprof" script -i home/spy.data -F +srcline
	ok "nor do a sample's lines" no_secret
	timeout 20 "$gusprof" annotate -i - <home/spy.data >out 2>err
	ok "the same where it is redirected: the function" says public_function out
	ok "and no such line" no_secret
	mkfifo home/pipe && chown $stranger home/pipe
	timeout 20 cat home/spy.data >home/pipe &
	timeout 20 "$gusprof" annotate -i - <home/pipe >out 2>err
	wait $!
	ok "and through the stranger's pipe: the function" says public_function out
	ok "and no such line" no_secret
	recorded_by_stranger honest
	run 20 "$gusprof" annotate -i home/honest.data
	ok "shows what they may read" shows_source

	chown $stranger home/spy home/honest
	recorded_by_root spy
	run 20 "$gusprof" annotate -i spy.of-root
	ok "annotate of root's recording of a stranger's program works" is $status 0
	ok "shows the function" says public_function out
	ok "shows no line of a file that the program's owner may not read" no_secret
	recorded_by_root honest
	run 20 "$gusprof" annotate -i honest.of-root
	ok "shows what they may read" shows_source
}

# --- A process that sees another file at a path than root does: a stranger's own mounts hide root's.
namespaces()
{
	local pid wrapper
	cp rights-secret closed/program
	$as_stranger unshare --user --map-root-user --mount --pid --fork sh -c "mount -t tmpfs none $work/closed &&
		cp $work/rights-public $work/closed/program && exec $work/closed/program" &
	wrapper=$!
	children="$children $wrapper"
	wait_for grep -q . "/proc/$wrapper/task/$wrapper/children"
	pid=$(cat "/proc/$wrapper/task/$wrapper/children")
	pid=${pid// /}
	children="$children $pid"
	wait_for has_run "$pid" 5
	run 20 "$gusprof" record -q -F 2000 -o apart.data -p "$pid" -- sleep 0.5
	ok "root records a process in namespaces of its own" is $status 0
	run 20 "$gusprof" report -i apart.data
	ok "it has samples of the program" grep -q 's  program ' out
	ok "which get no names from root's file at its path" not says secret_function out
	ok "but those of its own file, which the recording has" says public_function out
	run 20 "$gusprof" record -q -F 2000 --embed=none -o bare.data -p "$pid" -- sleep 0.5
	run 20 "$gusprof" report -i bare.data
	ok "without them it gets none" not says 'secret_function\|public_function' out
	ok "and it is said why" says "closed/program is not the file that was mapped"
	run 20 "$gusprof" annotate -i apart.data secret_function
	ok "nor can these be annotated" is $status 129
	if command -v qemu-x86_64 >/dev/null && [[ $(uname -m) == x86_64 ]]; then
		run 60 "$built" model -p "$pid" --snapshots 1
		ok "model -p of it works" is $status 0
		ok "and does not name them either" not says secret_function out
	fi
	kill -KILL "$pid" $wrapper
	run 20 "$gusprof" record -q -F 2000 -o here.data -- closed/program 200000
	run 20 "$gusprof" report -i here.data
	ok "what root runs there has them" says secret_function out
}

# --- What a stranger has put where root writes. Links are the stranger's, as they could make them.
outputs()
{
	mkdir sticky && chmod 1777 sticky || exit 1
	theirs ln -s "$work/closed" sticky/folder
	theirs ln -s "$work/closed/secret" sticky/link
	theirs ln -s "$work/closed/secret" sticky/other
	cp closed/secret closed/before
	ln closed/secret sticky/hard
	theirs mkfifo sticky/fifo

	run 20 "$gusprof" stat -o sticky/link -- true
	ok "stat -o does not write through a stranger's link" cmp -s closed/secret closed/before
	ok "but takes its place" says task-clock sticky/link
	run 20 "$gusprof" stat -o sticky/folder/new -- true
	ok "nor into where one leads" test ! -e closed/new
	run 20 "$gusprof" stat -o sticky/hard -- true
	ok "stat -o does not write into a file that has another name" cmp -s closed/secret closed/before
	ok "but makes a new one" says task-clock sticky/hard
	run 20 "$gusprof" stat -o sticky/fifo -- true
	ok "stat -o does not wait for the reader of a FIFO" is $status 129
	ok "but says that it is one" says "it exists and is not a regular file"

	run 20 "$gusprof" record -q -o sticky/folder/new -- true
	ok "record -o does not write into where a stranger's link leads" is "$(ls closed)" "before
secret"
	ok "but says whose it is" says "a symbolic link on the way belongs to user $stranger"
	run 20 "$gusprof" record -q -o sticky/other -- true
	ok "record -o takes the place of a stranger's link" is "$status $(stat -c %u:%a sticky/other)" "0 0:600"
	ok "which is kept beside it" is "$(readlink sticky/other.old)" "$work/closed/secret"
	run 20 "$gusprof" record -q --control fifo:sticky/fifo -- true
	ok "a stranger's control FIFO among all users' files is not used" is $status 125
	ok "but it is said whose it is" says "FIFO in a folder of all users belongs to user $stranger"
}

# --- What an ordinary user is told of what is root's: one line, and nothing of what is in there.
refusals()
{
	local sleeper words what
	cp "$gusprof" set-user-id && chmod u+s set-user-id
	run 20 $as_stranger ./set-user-id doctor
	ok "set-user-ID: it does nothing" is "$status $(grep -c 'cannot run set-user-ID' err)" "125 1"
	run 20 "$gusprof" record -q -o roots.data -- true
	chmod 644 closed/*
	mkfifo -m 600 roots.fifo
	sleep 100 &
	sleeper=$!
	children="$children $sleeper"
	while read -r -a words; do
		run 20 $as_stranger "$gusprof" "${words[@]}"
		what=${words[*]//$work/}
		ok "${what//$sleeper/PID}: one error" test $status -gt 124 -a "$(grep -c . err)" = 1 -a ! -s out
	done <<E
record -p $sleeper
record -t $sleeper
record --trace auto -p $sleeper
stat -p $sleeper
model -p $sleeper
model -p 2
report -i $work/roots.data
annotate -i $work/roots.data
dump $work/roots.data
model -i $work/roots.data
report -i $work/closed/secret
uarch show $work/closed/secret
model --elf $work/closed/program --function main
record -o $work/new -- true
record -o $work/closed/new -- true
stat -o $work/new -- true
stat -o $work/closed/new -- true
record --control fifo:$work/roots.fifo -- true
record --control fifo:$work/closed/fifo -- true
record -- $work/closed/program
stat -- $work/closed/program
model -- $work/closed/program
E
	kill $sleeper
}

if (($(id -u) != 0)) || ! theirs true 2>/dev/null; then
	skipped+=("a stranger's recordings and processes, as root")
else
	chown $stranger:$stranger home
	sources
	outputs
	refusals
	if $as_stranger unshare --user --map-root-user --mount --pid --fork mount -t tmpfs none "$work/closed"; then
		namespaces
	else
		skipped+=("a process in namespaces of its own, which this kernel does not let users make")
	fi
fi

echo "1..$n"
((${#skipped[@]} == 0)) || echo "not tried, as this user or machine does not let us: ${skipped[*]}"
exit $failed
