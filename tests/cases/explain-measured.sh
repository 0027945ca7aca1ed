#!/bin/sh
# SPDX-License-Identifier: MIT
# gusprof explain of recordings whose top-down tree was measured by groups of counters: it uses that tree, and says so.
# Recordings of perf's that are made here byte by byte (explain_measured.py), whose trees are therefore known, and
# recordings of machines that are played (tests/machine), which have windows as well: of 1000 slots 400 retire, 100
# are bad, 200 wait for the front end and 300 for the back end, while the program chases pointers. And what is said
# first of how good a recording is.
. "$(dirname "$0")/lib.sh"
played=$GUS_BUILDDIR/gusprof-played target=$GUS_BUILDDIR/tests/machine/played-target
program=$GUS_BUILDDIR/tests/machine/golden-target
[ -x "$played" ] && [ -x "$target" ] && [ -x "$program" ] || { echo "there is no $played"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "the tables are taken for a machine of x86-64"; exit 77; }
command -v python3 >/dev/null || { echo "there is no python3"; exit 77; }
shown='err out'

# address PROGRAM NAME; at NAME: where it is in ours. make FILE KIND NAME=ADDRESS...: a recording of perf's.
cp "$program" it
address() { nm "$1" | sed -n "s/^\([0-9a-f]*\) . $2\$/\1/p"; }
at() { echo "$1=$(address it "$1")"; }
make() { python3 "$scripts/explain_measured.py" make "$1" "$work/${from:-it}" "$2" $3; }
# what OPTION...: the words of the quality section.
what()
{
	"$gusprof" explain --format json "$@" >json 2>err &&
		python3 -c 'import json; print(*[q["what"] for q in json.load(open("json"))["quality"]])' >out
}
two="$(at chase) $(at divide)"

# The tree of perf's counters: of the whole and of each function, as the bytes have it.
make plain plain "$two"
"$gusprof" explain -i plain --format json >json 2>err
ok "slots of perf's: explained" is $? 0
judge() { python3 "$scripts/explain_measured.py" check json chase divide; }
ok "slots of perf's: the figures are those of the bytes" judge
"$gusprof" explain -i plain >out 2>err
ok "in words: explained" is $? 0
ok "in words: the whole is measured" says '^# measured by groups of counters, the whole of it, 400 ' out
ok "in words: so is a function" says '^  tree *measured, .* of its function: 300 readings (Intel Golden Cove' out
ok "in words: its share" says '^  backend_bound *80.0% .* not resolvable$' out
ok "in words: no gains, and why" says '^# nothing is modelled, .* plain has no windows of what the program' out
ok "in words: what is not measured is no 0" says '^# not measured: fetch_latency, .*ports_utilization' out
"$gusprof" import -o imported plain >out 2>err
ok "imported: it is" is $? 0
"$gusprof" explain -i imported --format json >json 2>err
ok "imported: the same figures" judge
make other other "$two"
"$gusprof" explain -i other >out 2>err
ok "a CPU that no table knows: one error" is $? 125
ok "a CPU that no table knows: nothing is told" test ! -s out

# What is said first, where it matters; the recording above has none of that.
make lossy lossy "$two"
ok "lost and paused" what -i lossy
ok "lost and paused: it is said" says '^lost throttled no_model$' out
make flat flat "$(nm -S it | awk '$3 ~ /[tT]/ && $2 > "00000000000000ff" && !seen[$1]++ { print $4 "=" $1 }' |
	head -n 40 | tr '\n' ' ')"
ok "forty functions" what -i flat
ok "forty functions: flat, and few samples in each" says '^few_samples_of_region flat no_model$' out
if strip -o stripped it 2>/dev/null; then
	from=stripped
	make nameless plain "$two"
	ok "without names" what -i nameless
	ok "without names: it is said" says '^no_names no_model$' out
fi

# With windows: machines that are played.
GUS_PLAYED=$(address "$target" played_load),$(address "$target" played_next),$(address "$target" played_branch)
GUS_PLAYED=$GUS_PLAYED,$(address "$target" played_loop)
export GUS_PLAYED
play()
{
	GUS_MACHINE=pebs "$played" record -o "$1" "$2" -- "$target" "$3" >out 2>err </dev/null
	ok "$1: it is recorded" is $? 0
}

# Counters beside the samples: of the whole alone, and regions have the model's own tree.
play beside --topdown=1 1500
"$gusprof" explain -i beside >out 2>err
ok "beside: explained" is $? 0
ok "beside: the whole is measured" says '^# measured by groups of counters, the whole of it, [0-9]* readings' out
ok "beside: of a region the tree is modelled" says "^  tree *modelled, by the core engine's own slots" out
ok "beside: what contradicts it, with both figures" says \
	'^# the model contradicts what was measured: backend_bound has [0-9.]* % of its slots, and 30.0 % by the' out
ok "beside: there is a verdict" says '^  verdict *[a-z]* [a-zA-Z0-9 ]*: if they cost nearly nothing' out
"$gusprof" explain -i beside --format json >json 2>err
cat >check.py <<'P'
import json
import sys

doc = json.load(open("json"))
whole, = doc["topdown_measured"]
shares = {n["name"]: n["share"] for n in whole["nodes"]}
assert abs(shares["retiring"] - 0.4) < 1e-4 and abs(shares["backend_bound"] - 0.3) < 1e-4, shares
nodes = {d["node"]: d for d in doc["topdown_disputes"]}
assert nodes["backend_bound"]["modelled"] > 0.5 and abs(nodes["backend_bound"]["measured"][1] - 0.3) < 1e-4, nodes
region = doc["regions"][0]
assert region["topdown_evidence"] == sys.argv[1], region
if sys.argv[1] == "modelled":
    assert region["topdown_measured"] is None and region["topdown"]["backend_bound"] > 0.5, region
    assert region["verdict"] and not region["topdown_disputes"], region
else:
    by = region["topdown_measured"]
    assert abs(region["topdown"]["backend_bound"] - 0.3) < 1e-4 and by["modelled"]["backend_bound"] > 0.5, region
    assert region["topdown"]["l1_bound"] is None, region["topdown"]
    labels = {c["node"]: c["label"] for c in region["causal"]}
    assert labels["retiring"] == "ruled out" and labels["memory_bound"] == "confirmed", labels
    assert region["verdict"] is None and "counters contradict" in region["withheld"], region
P
ok "beside: the same as JSON" python3 check.py modelled

# Counts that samples bring along: each function has its own tree, against which gains are held.
play along --topdown=samples 1500
"$gusprof" explain -i along >out 2>err
ok "along: explained" is $? 0
ok "along: the function's tree is measured" says '^  tree *measured, .* of its function: [0-9]* readings' out
ok "along: the model's is beside it" says '^  backend_bound *30.0% *[0-9 to.]* *[789][0-9.]*%  *43%' out
ok "along: so far apart no verdict is told" says '^  verdict *withheld: counters contradict the model by more' out
"$gusprof" explain -i along --format json >json 2>err
ok "along: the same as JSON" python3 check.py measured

# What the model is of is said as well.
ok "along: what is said" what -i along
ok "along: the model's part" says 'covered table model_error$' out
ok "another CPU" what -i along --uarch skylake
ok "another CPU: it is said" says 'covered table other_cpu model_error$' out
play brief --topdown=samples 300
ok "a short one" what -i brief
ok "a short one: it is said" says '^short few_samples ' out
finish
