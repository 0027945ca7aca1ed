#!/bin/sh
# SPDX-License-Identifier: MIT
# gusprof explain on a recording of a program that chases pointers: what would bring its time back, as text and as JSON;
# and what it cannot explain.
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || { echo "the table is taken for a machine of x86-64"; exit 77; }
shown='err out'
demo=${GUS_DEMO:?}

"$gusprof" record -o r -- "$demo" 3 >out 2>err
ok "the demo is recorded" is $? 0
"$gusprof" explain --uarch skylake -i r --full-names >out 2>err
ok "it is explained" is $? 0
cp out first
ok "how much is executed comes first" says '^# [0-9.]* % of the time is in code that [0-9]* windows of it executed' out
ok "there is a verdict" says '^  verdict  ' out
ok "the tree has level 1" says '^  backend_bound  *[0-9.]*%  *[0-9]*%  [0-9]* % ([0-9]* ' out
"$gusprof" explain --uarch skylake --format json -i r >json 2>err
ok "as JSON" is $? 0
cat >check.py <<'P'
import json
doc = json.load(open("json"))
assert doc["schema"] == "gusprof.explain/1" and doc["regions"], doc
top = ["frontend_bound", "bad_speculation", "backend_bound", "retiring"]
parts = {"backend_bound": ["memory_bound", "core_bound"],
         "memory_bound": ["l1_bound", "l2_bound", "l3_bound", "dram_bound", "store_bound"]}
for r in doc["regions"]:
    t = r["topdown"]
    assert abs(sum(t[n] for n in top) - 1) < 1e-6, t
    for n, of in parts.items():
        assert abs(t[n] - sum(t[p] for p in of)) < 1e-6, t
    for c in r["causal"]:
        assert c["speedup"] is None or c["ci95"][0] <= c["speedup"] + 1e-9 <= c["ci95"][1] + 2e-9, c
    assert (r["verdict"] is None) == (r["withheld"] is not None), r
assert abs(sum(r["share"] for r in doc["regions"]) - doc["explained"]) < 1e-6
P
python3 check.py >out 2>err
ok "parts add up, and intervals have their values" is $? 0
cat >shared.uarch <<'T'
uarch shared isa x86-64 "Skylake, with a bandwidth of memory"
like skylake
source made "made for this test"
param memory_bandwidth 5 bytes made
T
"$gusprof" explain --uarch shared.uarch --what-if contention,squash --format json -i r >json 2>err
ok "what-ifs as JSON" is $? 0
cat >check.py <<'P'
import json
doc = json.load(open("json"))
lost = 0
for r in doc["regions"]:
    w = r["what_if"]
    assert [(c["level"], c["share"]) for c in w["contention"]] == [
        ("memory", 0.25), ("memory", 0.5), ("memory", 0.75), ("l3", 0.5)], w
    for c in w["contention"]:
        if c["level"] == "l3": # of which the table says nothing
            assert c["loss"] is None and c["ci95"] is None, c
            continue
        assert c["ci95"][0] <= c["loss"] <= c["ci95"][1], c
    loss = [c["loss"] for c in w["contention"][:3]]
    assert -0.01 <= loss[0] <= loss[1] + 0.01 and loss[1] <= loss[2] + 0.01, loss
    s = w["squash"]
    assert s["ci95"][0] <= s["share"] <= s["ci95"][1] and s["refill"] > 0, s
    assert (s["resolution"] is None) == (s["cycles"] == 0), s
    if r["function"] == "random_branch":
        lost = s["share"]
assert lost > 0.3, lost
P
python3 check.py >out 2>err
ok "losses grow with shares, and a branch that nobody foresees costs most of its time" is $? 0
{ cat shared.uarch; echo 'fit mispredict_penalty 16 15..17 cycles residual 9000000 confidence low "made"'; } \
	>endless.uarch
"$gusprof" explain --uarch endless.uarch --what-if squash --format json -i r >json 2>err
ok "a calibration that says it may be off by any factor" is $? 0
cat >check.py <<'P'
import json
ends = [r["what_if"]["squash"]["speedup_ci95"] for r in json.load(open("json"))["regions"]]
assert ends and all(len(e) == 2 and (e[1] is None or e[1] > 1) for e in ends if e[0] != e[1]), ends
P
python3 check.py >out 2>err
ok "such an interval has both ends: slots that are used bound it, else it is null" is $? 0
"$gusprof" explain --uarch shared.uarch --what-if contention=40,squash,contention=40@l3 -i r >out 2>err
ok "a share of memory" says '^  what if   others on memory: 40 % taken: [0-9.-]* % longer ([0-9.-]* to [0-9.-]*)$' out
ok "what is squashed" says '^  what if   squashed: ' out
ok "of L3 the table has no bandwidth" says 'others on L3: not known, as the table has no bandwidth' out
"$gusprof" explain --uarch skylake --what-if vectorise -i r >out 2>err
ok "what vectors would gain, or what is in their way" says '^  vectors   ' out
"$gusprof" explain --uarch skylake --what-if vectorise --format json -i r >json 2>err
cat >check.py <<'P'
import json
found = 0
for r in json.load(open("json"))["regions"]:
    v = r["what_if"]["vectorise"]
    assert r["what_if"]["squash"] is None and r["what_if"]["contention"] is None, r["what_if"]
    if v["in_the_way"]:
        assert "full" not in v, v
        continue
    found += 1
    assert v["quadrant"] in ("both", "fp", "memory", "neither"), v
    for g in (v["partial"], v["full"], v["fp"], v["memory"]):
        assert g["ci95"][0] <= g["gain"] <= g["ci95"][1], v
P
python3 check.py >out 2>err
ok "of each region either what is in the way, or gains" is $? 0
for wrong in contention=0 contention=96 contention=x contention=40@l2 contention=40x squash=1 heat contention= \
	vectorise=1; do
	"$gusprof" explain --what-if "$wrong" -i r >out 2>err
	ok "$wrong: wrong options" is $? 129
	ok "$wrong: one line that says so" is "$(grep -c -- '--what-if' err)" 1
done
"$gusprof" explain --uarch skylake -i r --full-names >again 2>err
cp r gusprof.data
"$gusprof" explain --uarch skylake --full-names >default 2>err
ok "without any input it is gusprof.data" cmp first default
ok "instructions are by their functions" says '^  by  *[a-z_]*+0x[0-9a-f]* [a-z]' first
ok "the same recording gives the same words" cmp first again
"$gusprof" record -o bare --trace off -- "$demo" 0.2 >out 2>err
"$gusprof" explain -i bare >out 2>err
ok "without windows: one error" says 'has no windows of it'
ok "without windows: gusprof failed" is "$("$gusprof" explain -i bare >/dev/null 2>&1; echo $?)" 125
"$gusprof" explain -i nowhere >out 2>err
ok "no recording: one error" says 'nowhere'
"$gusprof" explain --uarch nothing -i r >out 2>err
ok "no such table: wrong options" is $? 129
"$gusprof" explain --uarch skylake -- sh -c "'$demo' 2 >&2; exit 7" >out 2>err
ok "a command: its status" is $? 7
ok "a command: explained, on standard error" says '^  verdict  '
ok "a command: nothing on standard output" test ! -s out
"$gusprof" explain -- ./nowhere >out 2>err
ok "a command that cannot be started" is $? 255
"$GUS_BUILDDIR"/tests/machine/golden-target 60000 ms &
children=$!
"$gusprof" explain --uarch skylake --duration 2 -p $! >out 2>err
ok "a process" is $? 0
ok "a process: explained" says '^  verdict  ' out
"$gusprof" explain -p 4194303 >out 2>err
ok "no such process" is $? 244
"$gusprof" explain -- true >out 2>err
ok "a command that is too short" says "cannot explain 'true': .*gusprof record -- true says more"
finish
