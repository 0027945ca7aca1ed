#!/bin/bash
# SPDX-License-Identifier: MIT
# gusprof report from outside: a recording of the demo, whose five functions take a fifth of the time each, in every
# view and format. Needs a perf_event clock and python3 to read JSON.
: "${GUS_DEMO:?}"
. "$(dirname "$0")/lib.sh"
make=$(cd "$GUS_BUILDDIR" && pwd)/tests/cases/make-calls
status() { local what=$1 want=$2; shift 2; "$@" >out 2>err; local got=$?
	if [ $got = "$want" ]; then echo "ok: $what"; else
		problem "$what: status $got, not $want"; head -5 out err; fi; }

command -v python3 >/dev/null || skip "python3 is not installed"
if ! "$GUSPROF" record --trace off -q -F 2000 -g -- "$GUS_DEMO" 2 >out 2>err; then
	skip "cannot record here: $(head -1 err)"
fi

cat >schema.py <<'P'
import json, sys
keys = ["module", "build_id", "function", "file", "line", "offset", "text", "samples", "time_ns", "cycles", "share",
        "ci95", "stack", "evidence"]
d = json.load(open(sys.argv[1]))
assert d["schema"] == "gusprof.report/1"
rec, total, rows = d["recording"], d["total"], d["rows"]
for k in ["host", "cpu", "uarch", "tier", "event", "samples", "lost", "throttled", "time_ns", "overhead_pct",
          "truncated"]:
    assert k in rec, k
assert not rec["truncated"] and rec["corrupt"] == 0 and rec["samples"] > 500
for r in rows:
    assert list(r)[:len(keys)] == keys, list(r)
    assert 0 <= r["ci95"][0] <= r["share"] <= r["ci95"][1] <= 1
    assert set(r["stack"]) == set(r["evidence"])
    if r["cycles"] is not None:
        assert sum(r["stack"].values()) == r["cycles"]
# The parts are the whole, exactly.
for k in ["samples", "time_ns", "cycles"]:
    if total[k] is not None:
        assert sum(r[k] for r in rows) == total[k], k
assert abs(sum(r["share"] for r in rows) - 1) < 1e-6
if rec["unit"] == "ns":
    assert total["time_evidence"] == "observed" and total["cycles_evidence"] in ("inferred", "unknown")
P
for by in function module line instruction thread process comm; do
	"$GUSPROF" report --by $by --format json >$by.json 2>err || problem "report --by $by: $(head -1 err)"
	check "--by $by: keys, identities, intervals" python3 schema.py $by.json
done

check "the demo's five functions have about a fifth each" python3 - <<'P'
import json
rows = [r for r in json.load(open("function.json"))["rows"] if (r["module"] or "").endswith("/demo")]
whole = sum(r["share"] for r in rows)
share = {r["function"]: r["share"] / whole for r in rows}
for f in ["fma_chain", "pointer_chase", "random_branch", "divider", "store_burst"]:
    assert 0.14 < share[f] < 0.26, share
P
check "lines have files and numbers" python3 - <<'P'
import json
rows = json.load(open("line.json"))["rows"]
assert sum(r["share"] for r in rows if r["file"] and r["file"].endswith("demo.c") and r["line"]) > 0.5
P
check "instructions have text" python3 - <<'P'
import json
rows = json.load(open("instruction.json"))["rows"]
assert all(r["text"] and r["text"] != "(bad)" for r in rows if (r["module"] or "").endswith("/demo"))
assert all(r["offset"] is not None for r in rows)
P
"$GUSPROF" report -g --format json >graph.json 2>err
check "main's total holds most, and it calls the five" python3 - <<'P'
import json
d = json.load(open("graph.json"))
main = [r for r in d["rows"] if r["function"] == "main"]
assert main and main[0]["total"] > 0.5 * d["total"]["weight"], main
assert len([c for c in main[0]["callees"] if c["weight"] > 0.08 * d["total"]["weight"]]) >= 5
P

# Trees.
cat >trees.py <<'P'
"""Checks each tree of a report: its parts add up, in weight and in samples, and its roots are what they are of."""
import json, sys
def check(tree, weight, samples, limit):
    assert tree[0]["depth"] == 0 and tree[0]["kind"] == "root" and tree[0]["function"] is None
    assert (tree[0]["weight"], tree[0]["samples"]) == (weight, samples), tree[0]
    open = []
    sums = [n["own"] + n["omitted"]["weight"] for n in tree]
    counts = [n["own_samples"] + n["omitted"]["samples"] for n in tree]
    for i, n in enumerate(tree):
        del open[n["depth"]:]
        assert len(open) == n["depth"], n
        if open:
            sums[open[-1]] += n["weight"]
            counts[open[-1]] += n["samples"]
            assert n["weight"] >= limit, n
        open.append(i)
    assert sums == [n["weight"] for n in tree] and counts == [n["samples"] for n in tree]
    return [(n["depth"], n["function"]) for n in tree]
d = json.load(open(sys.argv[1]))
what = sys.argv[2]
limit = float(sys.argv[3]) / 100 * d["total"]["weight"]
if what == "one":
    names = check(d["tree"], d["total"]["weight"], d["total"]["samples"], limit)
    main = [x for x in names if x[1] == "main"]
    assert len(main) == 1, main
    at = names.index(main[0])
    assert "fma_chain" in [n for depth, n in names[at + 1:] if depth == main[0][0] + 1], names
for r in d["rows"]:
    assert ("tree" in r) == (what != "one")
    if what == "own":
        check(r["tree"], r["weight"], r["samples"], limit)
    if what in ("total", "collapsed"):
        # A function between two calls of another one is in its row, and on no way of the collapsed ones.
        weight = r["total"] if what == "total" else r["tree"][0]["weight"]
        assert weight <= r["total"], r
        check(r["tree"], weight, r["tree"][0]["samples"], limit)
        if r["function"] == "main":
            assert r["tree"][0]["samples"] > 0.5 * d["total"]["samples"]
P
for how in "caller one" "callee own" "callee,0 own 0" "caller,0,fractal one 0" "caller --children total" \
	"callee --children total" "caller --by_comm own" "callee --by_comm own" "caller,1 --by_module own 1" \
	"caller --by_line own" "callee --by_instruction own" "caller --no-inline one" "callee --no-inline own" \
	"callee --children --no-inline total" "caller --children --collapse-recursion collapsed" \
	"caller --collapse-recursion one" "caller --by_function own" "callee,graph,5%,function,percent own 5"; do
	# shellcheck disable=SC2086 # words
	set -- $how
	graph=$1
	shift
	words=
	while [[ $1 == --* ]]; do words="$words ${1/_/ }"; shift; done
	# shellcheck disable=SC2086
	"$GUSPROF" report -g $graph $words --format json >tree.json 2>err || problem "report -g $how: $(head -1 err)"
	check "-g $how: its parts add up" python3 trees.py tree.json "$1" "${2-0.5}"
done
"$GUSPROF" report -g caller,0 --format json >tree.json 2>err || problem "-g caller,0: $(head -1 err)"
"$GUSPROF" report -g caller,0 --format csv >tree.csv 2>err || problem "-g caller,0 as CSV: $(head -1 err)"
check "a tree as CSV is that of JSON, and parents lead to the root" python3 - <<'P'
import csv, json
tree, rows = json.load(open("tree.json"))["tree"], list(csv.DictReader(open("tree.csv")))
assert len(tree) == len(rows) > 5
for number, (node, row) in enumerate(zip(tree, rows)):
    assert int(row["node"]) == number
    for name in ("depth", "samples", "weight", "own_samples", "own"):
        assert int(row[name]) == node[name], (row, node)
    assert (row["function"] or None, row["kind"]) == (node["function"], node["kind"]), (row, node)
    assert int(rows[int(row["parent"])]["depth"]) == node["depth"] - 1 if number else row["parent"] == ""
P
"$GUSPROF" report -g --format csv >rows.csv 2>err
expect "trees of rows are not in CSV, which is said" "CSV has no trees of rows" err
"$GUSPROF" report -q -g rows --format csv >rows2.csv 2>err
check "rows are there" cmp rows.csv rows2.csv

# What is inlined is known without chains as well: rows and trees have it alike.
"$make" flat inlined || problem "the recording was not made"
for how in "callee own" "caller --children total" "callee --children total"; do
	# shellcheck disable=SC2086 # words
	"$GUSPROF" report flat -g ${how% *} --format json >tree.json 2>err || problem "flat: -g $how: $(head -1 err)"
	check "without chains: -g $how: its parts add up" python3 trees.py tree.json "${how##* }" 0.5
	check "without chains: -g $how: rows of what was inlined into" python3 - <<'P'
import json
rows = json.load(open("tree.json"))["rows"]
assert {r["function"]: r["total"] for r in rows} == {"inner": 3000000, "middle": 1000000, "outer": 1000000}, rows
P
done
for least in 20 0; do
	"$GUSPROF" report -g caller,$least >tree$least.txt 2>err
	"$GUSPROF" report -g caller,$least --format json >tree$least.json 2>err
done
check "a tree as text has a line a node, and one for what is left out" python3 - <<'P'
import json, re
for least in "20", "0":
    tree = json.load(open(f"tree{least}.json"))["tree"]
    lines = [l.strip() for l in open(f"tree{least}.txt") if not l.startswith("#")]
    # Numbers stand before the name; a call that is all of its caller's has the name alone.
    names = [re.sub(r"^[0-9.]+% .*? (ms|us|ns|s)  +", "", l) for l in lines if l]
    left = [f"({n['omitted']['nodes']} more)" for n in tree if n["omitted"]["weight"]]
    assert sorted(n for n in names if n.endswith(" more)")) == sorted(left) and (least == "0") == (not left)
    assert len(names) - len(left) == len(tree) - 1 and any(n.endswith("main") for n in names)
    assert any(n["kind"] == "kernel" for n in tree) == any("[k] " in n for n in names)
P
"$GUSPROF" report -g caller,0 --max-depth 2 --format json >tree.json 2>err
check "--max-depth: no deeper" python3 - <<'P'
import json
tree = json.load(open("tree.json"))["tree"]
assert max(n["depth"] for n in tree) == 2 and any(n["omitted"]["nodes"] for n in tree if n["depth"] == 2)
P
"$GUSPROF" report -G --format json >inverted.json 2>err
"$GUSPROF" report -g caller --format json >tree.json 2>err
check "-G is -g caller" cmp inverted.json tree.json
"$GUSPROF" report gusprof.data --call-graph=caller --format json >inverted.json 2>err
check "and so is --call-graph=caller" cmp inverted.json tree.json
"$GUSPROF" report -g gusprof.data --format json >callers.json 2>err
"$GUSPROF" report -g callee --format json >tree.json 2>err
check "-g does not take a file, and is -g callee" cmp callers.json tree.json
"$GUSPROF" report -g none --format json >none.json 2>err
"$GUSPROF" report --format json >plain.json 2>err
check "-g none is nothing" cmp none.json plain.json

"$GUSPROF" report --format json >again.json 2>err
check "same input, same bytes" cmp function.json again.json
LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 "$GUSPROF" report --format json >locale.json 2>err
check "the same in another locale" cmp function.json locale.json
"$GUSPROF" report --percent-limit 10 --format json >limit.json 2>err
check "what a limit leaves out is told" python3 - <<'P'
import json
a, b = json.load(open("function.json")), json.load(open("limit.json"))
assert b["omitted"]["rows"] == len(a["rows"]) - len(b["rows"]) > 0 and all(r["share"] >= 0.1 for r in b["rows"])
assert sum(r["samples"] for r in b["rows"]) + b["omitted"]["samples"] == a["total"]["samples"] == b["total"]["samples"]
P
"$GUSPROF" report --time 0%-50% --format json >first.json 2>err
"$GUSPROF" report --time 50%-100% --format json >second.json 2>err
check "two halves of the time are the whole" python3 - <<'P'
import json
a, b, c = (json.load(open(f))["total"]["samples"] for f in ("first.json", "second.json", "function.json"))
assert a > 0 and b > 0 and abs(a + b - c) <= 1, (a, b, c)
P
"$GUSPROF" report --format csv >report.csv 2>err
check "CSV has a header and as many rows" python3 - <<'P'
import csv, json
rows = list(csv.DictReader(open("report.csv")))
assert len(rows) == len(json.load(open("function.json"))["rows"])
assert sum(int(r["samples"]) for r in rows) == json.load(open("function.json"))["total"]["samples"]
P
check "a filter for a module that is not there leaves nothing" sh -c \
	'"$GUSPROF" report --dso no-such-module | grep -q "no samples are left"'
check "--comm takes the thread's name" sh -c 'test "$("$GUSPROF" report --comm demo --format csv | wc -l)" -gt 5'
check "dump shows samples and a footer" sh -c '"$GUSPROF" dump >d && grep -q " sample cpu" d && grep -q " footer:" d'

status "no such file" 125 "$GUSPROF" report -i nothing.here
status "not a recording" 125 "$GUSPROF" report -i schema.py
status "an unknown view" 129 "$GUSPROF" report --by colour
status "an unknown option" 129 "$GUSPROF" report --bogus
status "an unknown format" 129 "$GUSPROF" report --format xml
status "an unknown sort key" 129 "$GUSPROF" report --sort beauty
status "an unknown tree" 129 "$GUSPROF" report --call-graph=callar
expect "what it may have been" "not 'callar'; did you mean 'caller'" err
status "a word of perf's" 129 "$GUSPROF" report -g graph,address
expect "what there is instead" "-g has no address: trees are of functions" err
status "a threshold beyond all" 129 "$GUSPROF" report --call-graph=101
status "--max-depth without a tree" 129 "$GUSPROF" report --max-depth 3
status "folded as JSON" 129 "$GUSPROF" report -g folded --format json
status "an absurd time" 129 "$GUSPROF" report --time 20-10
status "an unknown event" 129 "$GUSPROF" report --event no-such-event
status "two recordings" 129 "$GUSPROF" report -i gusprof.data gusprof.data
status "an unknown verb" 129 "$GUSPROF" frobnicate
status "help" 0 "$GUSPROF" report --help
exit $failed
