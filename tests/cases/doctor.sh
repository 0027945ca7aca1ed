#!/bin/sh
# SPDX-License-Identifier: MIT
# gusprof doctor from outside: its verdict agrees with what record does, its JSON is whole,
# and what it must name is there.
. "$(dirname "$0")/lib.sh"
said=out

"$gusprof" doctor >out 2>err
status=$?
"$gusprof" record -q -- true >record.out 2>record.err
recorded=$?
ok "exit status 0 or 1" test $status -le 1
ok "0 if and only if record works" is $((recorded == 0)) $((status == 0))
ok "it says nothing on stderr" is "$(cat err)" ""
if [ $status = 0 ]; then
	ok "the verdict comes first" sh -c 'head -n 1 out | grep -q "^Tier [ABC]\. "'
	tier=$(sed -nE '1s/^Tier (.)\..*/\1/p' out)
	ok "it is the tier of a recording" \
		is "$("$gusprof" dump | sed -nE 's/.*[ {]tier "(.)".*/\1/p' | head -n 1)" "$tier"
	ok "what a sample costs is said" says '^A sample of .* takes about [1-9][0-9]* ns\|told from noise'
else
	ok "the verdict comes first" sh -c 'head -n 1 out | grep -q "^Nothing can be recorded: "'
fi
ok "what would change it is said" says '^What would change most: \|^No setting of this machine would'
for group in Events Rights Settings Names Machine; do
	ok "group $group" says "^$group\$"
done
for check in software-clocks raw-counters cycles precise-cycles ibs spe branch-stack topdown-slots perf_event_paranoid \
	capabilities seccomp lockdown mlock perf_event_max_sample_rate nmi_watchdog kallsyms vdso cpu uarch hypervisor \
	container kernel; do
	ok "check $check, once, with a mark" is "$(grep -cE "^  [-+!.] $check +[^ ]" out)" 1
done
ok "what does not work says whose doing it is" \
	is "$(grep -E '^  - ' out | grep -vcE '\((permission|hardware|hypervisor|kernel|busy)\)')" 0

"$gusprof" doctor --format json >out 2>err
ok "JSON: the same status" is $? $status
ok "JSON: its schema" says '"schema": "gusprof.doctor/1"'
if python3 -c '' 2>/dev/null; then
	python3 - <<'END' >json.out 2>&1
import json
d = json.load(open("out"))
assert list(d) == ["schema", "by", "usable", "tier", "why", "cause", "command", "event", "sample_cost_ns",
                   "cost_percent_at_1000_hz", "machine", "findings"], list(d)
assert d["usable"] == (d["tier"] is not None)
assert d["tier"] in ("A", "B", "C", None)
names = [f["name"] for f in d["findings"]]
assert len(names) == len(set(names)) >= 22, names
for f in d["findings"]:
    assert list(f) == ["group", "name", "status", "cause", "text", "command"], f
    assert f["status"] in ("ok", "limited", "no", "info"), f
    assert f["cause"] in (None, "permission", "hardware", "hypervisor", "kernel", "busy"), f
    assert f["status"] != "no" or f["cause"], f
    assert f["text"] and len(f["text"]) > 3, f
END
	ok "JSON: keys and values" test $? = 0
	sed 's/^/    /' json.out
else
	echo "# python3 is not installed: the JSON was not looked into"
fi

while IFS='|' read -r want text options; do
	# shellcheck disable=SC2086 # the options are words
	"$gusprof" doctor $options >out 2>err
	ok "doctor $options: status $want" is $? "$want"
	ok "doctor $options: says '$text'" says "$text" err
done <<LIST
129|unknown.*--bogus|--bogus
129|text or json|--format csv
129|takes no argument|something
129|--cpu needs --plan|--cpu znver4
129|no events are known of such a CPU; --cpu is one of skylake, .*-v3|--plan --cpu i486
129|Zen 4 (znver4) has no pebs: its modes are ibs, lbr, timer|--plan --cpu znver4 --mode pebs
LIST

# Plans: of this machine as its tier is, and of others on any.
"$gusprof" doctor --plan >out 2>err
ok "a plan of this machine: status 0" is $? 0
ok "it says nothing on stderr" is "$(cat err)" ""
if [ "${tier:-C}" = C ]; then
	ok "without a PMU it says so" says '^There is no PMU to be had here (tier [C-]), so the kernel'
	ok "and has the clock" says ' always  *heights .* cpu-clock$'
	ok "of instructions' heights it infers" says '^  heights inferred '
	ok "of loads that miss it knows nothing" says '^  ST-L1   unknown '
	# What needs a PMU is an error then, whatever this CPU is, and the timer is none.
	for mode in ibs spe pebs; do
		"$gusprof" doctor --plan --mode $mode >out 2>err
		ok "a plan of this machine, mode $mode: status 129" is $? 129
		ok "mode $mode: it says what was asked, and what --cpu is for" says "^gusprof: --mode $mode.*--cpu " err
		ok "mode $mode: there is no plan of another" is "$(cat out)" ""
	done
	"$gusprof" doctor --plan --mode timer >out 2>err
	ok "a plan of this machine, mode timer: status 0" is $? 0
fi
# Turns have commas between them, and counters are those that a thread has: of Skylake's eight half with SMT.
"$gusprof" doctor --plan --cpu skx --smt on >out 2>err
ok "with SMT no counter above 3" is "$(grep -c ' 0-7 ' out)" 0
ok "top-down is of both threads" says ' INT_MISC.RECOVERY_CYCLES_ANY$'
ok "and it says whose half it is" says '^The slots of a core are shared by two threads: '
"$gusprof" doctor --plan --cpu skx --smt off >out 2>err
ok "without SMT all eight" says ' 0-7 '
ok "top-down is of one thread" says ' INT_MISC.RECOVERY_CYCLES$'
ok "and it says nothing of two" is "$(grep -c 'two threads' out)" 0
"$gusprof" doctor --plan --cpu graniterapids >out 2>err
ok "turns are a list" says '^  turns [0-9],[0-9]'
ok "what fires behind the branch says so" says 'ALL_BRANCHES_COST (its samples are of the instruction behind the'
"$gusprof" doctor --plan --cpu lunarlake >out 2>err
ok "Skymont has six fixed counters" says '^Skymont, .* 8 general and 6 fixed counters'
while IFS='|' read -r cpu cores; do
	"$gusprof" doctor --plan --cpu "$cpu" >out 2>err
	ok "a plan of $cpu: status 0" is $? 0
	ok "$cpu: kinds of cores" is "$(grep -c '^What would be known$' out)" "$cores"
	ok "$cpu: heights are always on" is "$(grep -cE '^  always +heights' out)" "$cores"
	ok "$cpu: each of the nine has a verdict" is "$(grep -E '^  (DR|FL|ST)-[A-Z1]+ +' out |
		grep -cE ' (observed|inferred|unknown) +[a-z]')" $((cores * 9))
done <<LIST
skylake-avx512|1
icelake-server|1
sapphirerapids|1
graniterapids|1
alderlake|2
lunarlake|2
arrowlake|2
znver2|1
znver4|1
znver5|1
neoverse-n1|1
neoverse-n2|1
neoverse-v1|1
neoverse-v2|1
neoverse-n3|1
neoverse-v3|1
skx|1
LIST
"$gusprof" doctor --plan --cpu lunarlake --width 60 >out 2>err
ok "a plan fits 60 cells" is "$(awk 'length($0) > 60' out)" ""
"$gusprof" doctor --plan --cpu lunarlake --format json >out 2>err
ok "a plan as JSON: status 0" is $? 0
if python3 -c '' 2>/dev/null; then
	python3 - <<'END' >json.out 2>&1
import json
d = json.load(open("out"))
assert list(d) == ["schema", "by", "cpu", "mode", "smt", "nmi_watchdog", "why", "cores"], list(d)
assert (d["schema"], d["cpu"], d["mode"]) == ("gusprof.plan/1", "lunarlake", "tpebs")
assert [c["pmu"] for c in d["cores"]] == ["cpu_core", "cpu_atom"]
for c in d["cores"]:
    events = [e for g in c["groups"] for e in g["events"]]
    assert [k["of"] for k in c["known"]][0] == "heights" and len(c["known"]) == 10
    assert all(k["by"] for k in c["known"] if k["evidence"] != "unknown")
    names = {e["name"] for e in events}
    assert all(set(k["by"]) <= names for k in c["known"]), c["known"]
    assert all(g["always"] or g["turns"] for g in c["groups"])
    assert all(int(e["config"], 16) >= 0 and e["source"] for e in events)
END
	ok "a plan as JSON: keys and values" test $? = 0
	sed 's/^/    /' json.out
fi

finish
