#!/bin/bash
# SPDX-License-Identifier: MIT
# gusprof model of a command that becomes another program, or forks: the program behind it is traced as well.
. "$(dirname "$0")/lib.sh"
set -o pipefail
cases=$GUS_BUILDDIR/tests/cases
target=$cases/traced-target execs=$cases/model-execs
command -v qemu-x86_64 >/dev/null || skip "qemu-x86_64 is not installed (package qemu-user)"
[[ -e $GUS_BUILDDIR/tracing/plugin/gusprof-qemu.so && -x $target ]] || skip "the plugin for QEMU was not built"
command -v python3 >/dev/null || skip "python3 is not installed"

# model ARGUMENT...: the command's output in "out", what else is said in "err", the report in "report".
model() { timeout 120 "$GUSPROF" model --uarch skylake --format json -o report "$@" >out 2>err; }

# holds WHAT CONDITION: it does for the report, which is m; p are its programs' names, in their order.
holds()
{
	shown='out err' ok "$1" python3 -c '
import json, sys
m = json.load(open("report"))
p = [one["name"] for one in m["programs"]]
of = lambda name: sum(r["instructions"] for r in m["regions"] if r["function"] == name)
if not eval(sys.argv[1]):
    print(m["programs"], m["notices"], m["trouble"])
    sys.exit(1)' "$2"
}

# A shell that becomes its last command. `spin` has 3 N + 1 instructions.
model -- sh -c "exec $target spin 1000 7"
ok "exec: the status is that of the program behind it" is $? 7
holds "exec: both programs are there" 'p == ["sh", "traced-target"]'
holds "exec: one process" 'len(set(one["pid"] for one in m["programs"])) == 1'
holds "exec: all of it was traced" 'of("spin") == 3001 and m["trouble"] is None and m["notices"] == []'
holds "exec: programs have the whole between them" \
	'sum(one["instructions"] for one in m["programs"]) == m["instructions"]'
holds "exec: of the time, too" 'abs(sum(one["share"] for one in m["programs"]) - 1) < 1e-6'
ok "exec: its output is its own" is "$(<out)" $'before\nafter'
timeout 120 "$GUSPROF" model --uarch skylake -- sh -c "exec $target spin 1000 0" >out 2>err
ok "exec: the text has a line for each" grep -qE '^ +[0-9.]+% +[0-9.]+% +[0-9.]+ +[0-9]+  traced-target$' err

model -- env -u NONE GUS_TEST=1 nice -n 1 timeout 60 true
holds "wrappers: each of them" 'p == ["env", "nice", "timeout"]'
holds "a fork is said" 'any("forked off" in n for n in m["notices"])'

printf '#!/bin/sh -e\nexec "$0-2" "$@" last\n' >script
printf '#!%s/script-3 one two\n' "$PWD" >script-2
printf '#!%s print\n' "$execs" >script-3
chmod +x script script-2 script-3
model -- ./script first
holds "scripts of scripts: what interprets them" 'p == ["sh", "model-execs"] and m["trouble"] is None'
./script first >native
ok "scripts of scripts: their words are the kernel's" is "$(<out)" "$(<native)"

# Ways that no shell has.
same() # HOW: the program behind it says the same as natively, and is traced
{
	model -- "$execs" "$1" "$execs" print word
	"$execs" "$1" "$execs" print word >native
	ok "$1: it says the same" is "$(<out)" "$(<native)"
	holds "$1: it is traced" 'p == ["model-execs"] * 2 and m["trouble"] is None and m["notices"] == []'
}
same by-fd
same renamed
same itself
same threads

# Who closes all files closes the trace, too; it goes on in another one.
model -- "$execs" closed "$execs" print word
ok "closed: it says the same" is "$(<out)" "passed word"
holds "closed: it is traced" 'p == ["model-execs"] * 4 and m["trouble"] is None and m["notices"] == []'
holds "closed: 1997 calls of close are" 'of("__GI___close") + of("close") + of("__close") > 3 * 1997'
model --children -- sh -c "$execs closed $target spin 1000 0; true"
holds "closed: what a child executes after it is traced" 'p[-1] == "traced-target" and of("spin") == 3001'
model -- "$execs" signals /usr/bin/env "$execs" told
ok "ignored and blocked signals stay so behind two programs" is "$(<out)" "1 1 0 1"
model -- "$execs" signals "$execs" heeds /usr/bin/env "$execs" told
ok "but for those that one of them heeds again" is "$(<out)" "1 0 0 1"
model -- "$execs" refused "$execs"
"$execs" refused "$execs" >native
ok "what cannot be executed fails as the kernel has it" is "$(<out)" "$(<native)"
holds "and the trace goes on" 'p == ["model-execs"] and m["trouble"] is None and m["notices"] == []'
model -- env LD_LIBRARY_PATH=/nonexistent LD_TEST_A=a,b /usr/bin/printenv LD_LIBRARY_PATH LD_TEST_A
ok "what is for the loader reaches the program" is "$(<out)" $'/nonexistent\na,b'
model -- sh -c "GUS_A= GUS_B='x y' exec $execs print"
ok "and so does all else" is "$(<out)" "(null) "

# What the emulator cannot be is executed natively, as the kernel would, and that is said.
cp /usr/bin/id raised 2>/dev/null && chmod 4711 raised
if [[ $(id -u) == 0 ]] && command -v setpriv >/dev/null; then
	chmod 755 . && mkdir -m 777 theirs
	cp raised theirs/ && chmod 4755 theirs/raised
	(cd theirs && timeout 120 setpriv --reuid 65534 --regid 65534 --clear-groups "$GUSPROF" model --uarch skylake \
		--format json -o report -- sh -c 'exec ./raised -u' >out 2>err)
	if [[ -s theirs/report ]]; then
		cp theirs/{report,out,err} .
		ok "raised rights: it has them" is "$(<out)" 0
		holds "raised rights: it was not traced, which is said" \
			'p == ["sh"] and any("raised, which has other rights" in n for n in m["notices"])'
	fi
fi
{
	head -c 18 /usr/bin/env
	printf '\267'
	head -c 64 /usr/bin/env | tail -c 45
} >foreign
chmod +x foreign
model -- sh -c 'exec ./foreign'
ok "another machine's: the shell's status" is $? 126
holds "another machine's: it is said" 'any("foreign, which is of another machine" in n for n in m["notices"])'

# Windows are those of each program.
model --trace-options length=2000 -- sh -c "exec $target spin 100000 0"
holds "each program has its window" '[1990 < one["instructions"] < 2300 for one in m["programs"]] == [True, True]'

# Children.
model -- sh -c "$target spin 1000 0; exit 3"
holds "without --children they are not traced" 'p == ["sh"] and of("spin") == 0'
ok "and how they would be is said" grep -q -- '--children' err
model --children -- sh -c "$target spin 1000 0; $target spin 500 0 | cat; exit 3"
ok "--children: the status" is $? 3
holds "--children: all of them" 'sorted(p) == ["cat", "sh", "sh", "sh", "sh", "traced-target", "traced-target"]'
holds "--children: all of them whole" 'm["trouble"] is None and m["notices"] == [] and of("spin") == 3001 + 1501'
holds "--children: a process each" 'len(set(one["pid"] for one in m["programs"])) == 4'
ok "--children: their output" is "$(grep -c '^before$' out)" 2
model --children -- sh -c "for i in 1 2 3 4 5 6 7 8 9 10; do $target spin 20000 0 & done; wait"
holds "--children: ten at the same time" 'of("spin") == 10 * 60001 and m["trouble"] is None'
# Each waits for the one that it has begun, and all of their traces are open at the same time.
cat >nested <<'END'
#!/bin/sh
[ "$1" -eq 0 ] || sh "$0" $(($1 - 1))
true
END
(ulimit -n 24; model --children -- sh nested 16)
ok "--children: more than there are descriptors for: the status" is $? 0
holds "--children: more than there are descriptors for: said" \
	'"ulimit -n" in (m["trouble"] or "") and 8 < len(p) < 33'
(ulimit -Sn 24; model --children -- sh nested 16)
holds "--children: a soft limit is raised" 'len(p) == 33 and m["trouble"] is None'
model --children -- sh -c "$target die 10 0; exit 0"
ok "--children: one that dies: the status is the command's" is $? 0
holds "--children: one that dies is not whole" \
	'[one["name"] for one in m["programs"] if one["trouble"]] == ["traced-target"] and m["trouble"]'
model --children --trace-options length=1000 -- sh -c "sleep 0; $target spin 1000 0"
holds "--children: forked off where no window is open, it has its own" \
	'len(p) == 5 and [one["instructions"] for one in m["programs"] if one["name"] == "traced-target"][0] > 900'
"$GUSPROF" model --children --block 90 >out 2>err
ok "--children is for a command" is $? 129
finish
