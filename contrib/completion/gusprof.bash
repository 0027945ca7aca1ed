# SPDX-License-Identifier: MIT
# Bash completion of gusprof. It knows no option by itself but asks the program that is about to be run, so it cannot
# fall behind it: --list-verbs gives a verb a line; --list-options VERB gives, separated by tabs, an option, the name of
# its argument, and the words that may stand for it. Of these, @file, @dir and @command stand for what they say.
# shellcheck shell=bash

# The lines of stdin, each a word, that begin with $1; $2 is put before them again.
_gusprof_matching()
{
	local word
	while IFS= read -r word; do
		[[ -n $word && $word == "$1"* ]] && COMPREPLY+=("${2-}$word")
	done
}

# _gusprof_words CHOICES ARGUMENT CURRENT: completes an argument.
_gusprof_words()
{
	local choices=$1 argument=$2 current=$3 before=
	case $choices in
	@file) argument=FILE choices=;;
	@dir) argument=DIR choices=;;
	@command)
		mapfile -t COMPREPLY < <(compgen -c -- "$current"; compgen -d -- "$current")
		return;;
	esac
	if [[ -n $choices ]]; then
		if [[ $current == *,* ]]; then # a list: its last word
			before=${current%,*},
			current=${current##*,}
		fi
		_gusprof_matching "$current" "$before" < <(tr -s ' ' '\n' <<<"$choices")
	elif [[ $argument == *FILE* ]]; then
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
	elif [[ $argument == *DIR* ]]; then
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
	fi
}

_gusprof()
{
	local program=${1/#\~/$HOME} current=${COMP_WORDS[COMP_CWORD]} previous='' verb=${COMP_WORDS[1]-}
	local i option argument choices over=0 takes=0 own_choices=''
	local -A arguments=() words=()

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_gusprof_matching "$current" < <("$program" --list-verbs 2>/dev/null; printf '%s\n' --help --version)
		return
	fi
	if [[ $verb == help ]]; then
		((COMP_CWORD == 2)) && _gusprof_matching "$current" < <("$program" --list-verbs 2>/dev/null)
		return
	fi

	# Tabs are blanks to read, which would swallow empty fields; another separator is not.
	while IFS=$'\x1f' read -r option argument choices; do
		if [[ -z $option ]]; then
			own_choices=$choices
		else
			arguments[$option]=$argument
			words[$option]=$choices
		fi
	done < <("$program" --list-options "$verb" 2>/dev/null | tr '\t' '\037')

	# Where are we: in the options, behind one that takes an argument, or in the command and its arguments?
	for ((i = 2; i < COMP_CWORD; i++)); do
		option=${COMP_WORDS[i]}
		if ((takes)); then
			[[ $option == = ]] || takes=0
		elif [[ $option == -- ]]; then
			over=$((i + 1)); break
		elif [[ $option == -* ]]; then
			argument=${arguments[$option]-}
			# An argument that may be left out, "[=MODE]", is only ever joined by "=".
			[[ -n $argument && ( $argument != '['* || ${COMP_WORDS[i + 1]} == = ) ]] &&
				takes=1 previous=$option
		else
			over=$i; break
		fi
	done
	((takes)) && [[ $current == = ]] && current=

	if ((over && COMP_CWORD > over)); then
		# The command's own arguments: its own completion where there is one.
		if [[ $own_choices == @command ]] && declare -F _command_offset >/dev/null; then
			_command_offset "$over"
		else
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -- "$current")
		fi
	elif ((takes)); then
		_gusprof_words "${words[$previous]}" "${arguments[$previous]}" "$current"
	elif [[ $current == -* && $over == 0 ]]; then
		_gusprof_matching "$current" < <(printf '%s\n' "${!arguments[@]}" | grep '^--' | LC_ALL=C sort)
	else
		_gusprof_words "$own_choices" '' "$current"
	fi
}

complete -F _gusprof gusprof
