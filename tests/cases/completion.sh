#!/bin/bash
# SPDX-License-Identifier: MIT
# The bash completion offers what the program's own table has, at the right places.
set -u
export LC_ALL=C
top=${srcdir:-$(dirname "$0")/../..}
gusprof=${GUSPROF:-$PWD/gusprof}
[[ -x $gusprof ]] || { echo "skipped: there is no program at $gusprof"; exit 77; }
. "$top/contrib/completion/gusprof.bash"
failures=0
dir=$(mktemp -d) && cd "$dir" || exit 99
trap 'rm -rf "$dir"' EXIT
mkdir recordings && : >one.data

# offered WORD...: what is offered for the last word, sorted, on one line.
offered()
{
	COMP_WORDS=("$gusprof" "$@") COMP_CWORD=$# COMPREPLY=()
	_gusprof "$gusprof" "${@: -1}" ''
	printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"} | sort | paste -sd ' '
}

# expect WANTED WORD...
expect()
{
	local wanted=$1 got
	shift
	got=$(offered "$@")
	[[ $got == "$wanted" ]] && return
	printf 'gusprof %s<TAB>: got "%s", expected "%s"\n' "$*" "$got" "$wanted"
	failures=$((failures + 1))
}

# has WANTED WORD...: it is among what is offered
has()
{
	local wanted=$1 got
	shift
	got=$(offered "$@")
	[[ " $got " == *" $wanted "* ]] && return
	printf 'gusprof %s<TAB>: "%s" is not in "%s"\n' "$*" "$wanted" "$got"
	failures=$((failures + 1))
}

# Verbs.
expect "record report" re
expect "$({ "$gusprof" --list-verbs; echo --help; echo --version; } | sort | paste -sd ' ')" ""
expect "doctor dump" help d

# All options of each verb are offered, and no others.
for verb in $("$gusprof" --list-verbs | grep -vx help); do
	expect "$("$gusprof" --list-options "$verb" | cut -f1 | grep '^--' | sort | paste -sd ' ')" "$verb" --
done
expect "--output" record --ou

# Arguments: words, lists of words, files, folders; joined or not.
expect "json" report --format j
expect "json" report --format = j
expect "samples,name" report --sort samples,n
expect "one.data" report -i one
expect "one.data recordings" report --input = ""
expect "recordings" report --symfs ""

# The command, and what follows it.
has "true" record -- tru
has "true" record -F 99 tru
expect "one.data" record -F 99 -- cat on
expect "one.data" record cat --x on
expect "" record --max-size ""
((failures == 0))
