# SPDX-License-Identifier: MIT
# What the cases share. Each sources it before anything else, and then stands in a folder of its own, $work, which goes
# away at its end with the processes in $children. $gusprof, which is $GUSPROF to its children, is the program.
# For sh and bash.
#
# A case that tells each check counts them: ok, and at the end finish. One that tells only what fails calls problem, and
# ends with test $failed = 0.
# shellcheck shell=sh
set -u
LC_ALL=C
GUSPROF_CACHE= # what one case finds out, no other one is to know,
GUSPROF_DATA=  # nor what this machine was calibrated to be
export LC_ALL GUSPROF_CACHE GUSPROF_DATA
scripts=$(cd "$(dirname "$0")" && pwd) || exit 99
gusprof=${GUSPROF:-gusprof}
case $gusprof in
*/*) gusprof=$(cd "$(dirname "$gusprof")" && pwd)/$(basename "$gusprof") ;;
esac
GUSPROF=$gusprof
export GUSPROF
# perf keeps copies of the programs that it recorded in the home folder, and gusprof finds them there: it is a folder
# without any. Compilers and interpreters that are installed in the user's stay known.
user_home=${HOME-}
PYENV_ROOT=${PYENV_ROOT:-$user_home/.pyenv}
RUSTUP_HOME=${RUSTUP_HOME:-$user_home/.rustup}
CARGO_HOME=${CARGO_HOME:-$user_home/.cargo}
export PYENV_ROOT RUSTUP_HOME CARGO_HOME
children=
failed=0
n=0
shown='out err' # the files that a check which fails shows
said=err        # the file that says looks into
work=$(mktemp -d) || exit 99
own_home=$(mktemp -d) || exit 99
HOME=$own_home
export HOME
cleanup() { :; } # for a case to define anew, if it has more to clean up
trap 'cleanup; for child in $children; do kill -KILL "$child" 2>/dev/null; done; rm -rf "$work" "$own_home"' EXIT
trap 'exit 99' HUP INT TERM # so that what is left behind is cleaned up then, too
cd "$work" || exit 99

# ok WHAT CONDITION...: one check, with its number.
ok()
{
	n=$((n + 1))
	what=$1
	shift
	if "$@"; then
		echo "ok $n - $what"
	else
		echo "not ok $n - $what"
		# shellcheck disable=SC2086 # the files are words
		head -n 40 $shown 2>/dev/null | sed 's/^/    /'
		failed=1
	fi
}

# The end of a case with checks that are counted.
finish()
{
	echo "1..$n"
	exit $failed
}

skip()
{
	echo "skipped: $*"
	exit 77
}

# skip_if_refused STATUS: what gusprof ended with, and said in "err", may be that this user may not sample or count.
skip_if_refused()
{
	[ "$1" = 125 ] || return 0
	grep -qE 'permission|refused|no event delivers|perf_event_(open|paranoid)|seccomp|security module' err ||
		return 0
	echo "skipped: this user may not use perf_event_open here:"
	cat err
	exit 77
}

problem()
{
	printf 'FAILED: %s\n' "$*"
	failed=1
}

# check WHAT COMMAND...: it succeeds. Its output is in "out" and "err".
check()
{
	what=$1
	shift
	if "$@" >out 2>err; then
		echo "ok: $what"
	else
		problem "$what"
		head -n 5 out err
	fi
}

# expect WHAT PATTERN [FILE]: a line of "out", or of the file, is that.
expect()
{
	grep -qE -e "$2" "${3:-out}" && return
	problem "$1: no line like $2 in"
	head -n 40 "${3:-out}"
}

# Conditions.
is() { [ "$1" = "$2" ] || { echo "    is $1, not $2"; return 1; }; }
not() { ! "$@"; }
says() { grep -q -e "$1" "${2:-$said}"; }
between()
{
	awk -v x="$1" -v lo="$2" -v hi="$3" 'BEGIN { exit !(x != "" && x + 0 >= lo && x + 0 <= hi) }' ||
		{ echo "    '$1' is not in $2 .. $3"; return 1; }
}

# wait_for CONDITION...: until it holds; a minute at most, which no machine needs that is only busy.
wait_for()
{
	tries=0
	until "$@" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 1200 ] || return 1
		sleep 0.05
	done
}

# ran PID: clock ticks of CPU time that it has had, of which a hundred are a second. How long it takes to get so many is
# up to what else runs, so cases wait for these rather than for seconds.
ran() { sed 's/.*) //' "/proc/$1/stat" | { read -r _ _ _ _ _ _ _ _ _ _ _ user system _ && echo $((user + system)); }; }
has_run() { [ "$(ran "$1")" -ge "$2" ]; }
# run_on PID TICKS: until it has had so many more.
run_on() { wait_for has_run "$1" $(($(ran "$1") + $2)); }

# state PID: as ps has it, such as R, S, T or Z.
state() { sed 's/.*) \(.\).*/\1/' "/proc/$1/stat"; }
in_state() { [ "$(state "$1")" = "$2" ]; }

# is_sanitized PROGRAM: whether it has AddressSanitizer. qemu-user touches all that this reserves, and so takes all the
# memory of the machine, until the kernel kills it, or somebody else.
is_sanitized() { grep -q __asan_init "$1"; }
