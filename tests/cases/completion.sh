#!/bin/bash
# SPDX-License-Identifier: MIT
# The bash completion offers what the program's own table has, at the right places.
. "$(dirname "$0")/lib.sh"
[[ -x $gusprof ]] || skip "there is no program at $gusprof"
. "$scripts/../../contrib/completion/gusprof.bash"
mkdir recordings && : >one.data

# offered WORD...: what is offered for the last word, sorted, on one line.
offered()
{
	COMP_WORDS=("$gusprof" "$@") COMP_CWORD=$# COMPREPLY=()
	_gusprof "$gusprof" "${@: -1}" ''
	printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"} | sort | paste -sd ' '
}

# offers WANTED WORD...
offers()
{
	local wanted=$1 got
	shift
	got=$(offered "$@")
	[[ $got == "$wanted" ]] && return
	problem "gusprof $*<TAB>: got '$got', expected '$wanted'"
}

# has WANTED WORD...: it is among what is offered
has()
{
	local wanted=$1 got
	shift
	got=$(offered "$@")
	[[ " $got " == *" $wanted "* ]] && return
	problem "gusprof $*<TAB>: '$wanted' is not in '$got'"
}

# Verbs.
offers "record report" re
offers "$({ "$gusprof" --list-verbs; echo --help; echo --version; } | sort | paste -sd ' ')" ""
offers "diff doctor dump" help d

# All options of each verb are offered, and no others.
for verb in $("$gusprof" --list-verbs | grep -vx help); do
	offers "$("$gusprof" --list-options "$verb" | cut -f1 | grep '^--' | sort | paste -sd ' ')" "$verb" --
done
offers "--output" record --ou

# Arguments: words, lists of words, files, folders; joined or not.
offers "json" report --format j
offers "json" report --format = j
offers "samples,name" report --sort samples,n
offers "one.data" report -i one
offers "one.data recordings" report --input = ""
offers "recordings" report --symfs ""

# The command, and what follows it.
has "true" record -- tru
has "true" record -F 99 tru
offers "one.data" record -F 99 -- cat on
offers "one.data" record cat --x on
offers "" record --max-size ""
((failed == 0))
