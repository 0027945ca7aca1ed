#!/bin/bash
# SPDX-License-Identifier: MIT
# gusprof annotate from outside: the demo's functions, whose loops are known, and a program made here with inlined and
# nested code, two functions of one name, without its source, without debug information, and changed. Needs a perf_event
# clock and python3; what needs a C compiler is left out without one.
: "${GUS_DEMO:?}"
. "$(dirname "$0")/lib.sh"

# refuse WHAT STATUS PATTERN ARGUMENT...: a first line on standard error that matches, nothing on standard output.
refuse()
{
	local what=$1 status=$2 pattern=$3 got
	shift 3
	"$GUSPROF" annotate "$@" >out 2>err
	got=$?
	cp err said
	if [[ $got == "$status" && ! -s out ]] && head -1 err | grep -qE -- "^gusprof: .*$pattern"; then
		echo "ok: $what"
	else
		problem "$what: status $got"; head -3 out err
	fi
}

command -v python3 >/dev/null || skip "python3 is not installed"
if ! "$GUSPROF" record --trace off -q -e cpu-clock -F 2000 -- "$GUS_DEMO" 1 >out 2>err; then
	skip "cannot record here: $(head -1 err)"
fi

cat >annotated.py <<'P'
import json, sys
# Keys, order and identities of an annotation, whatever the function; returns it.
ROW = ["module", "function", "offset", "address", "text", "label", "target", "to", "file", "line", "source_function",
       "inlined", "time_ns", "cycles", "samples", "weight", "share", "ci95", "loop", "depth", "hot", "aside",
       "branch", "evidence"]
def load(path):
    d = json.load(open(path))
    assert d["schema"] == "gusprof.annotate/1"
    assert list(d) == ["schema", "recording", "total", "skid", "skid_test", "functions", "rows"]
    ids = [l["loop"] for f in d["functions"] for l in f["loops"]]
    assert ids == list(range(1, len(ids) + 1))
    for f in d["functions"]:
        rows = [r for r in d["rows"]
                if r["module"] == f["module"] and f["offset"] <= r["offset"] < f["offset"] + f["size"]]
        assert [r["offset"] for r in rows] == sorted({r["offset"] for r in rows})
        for k in ["samples", "weight", "time_ns", "cycles"]:
            assert f[k] is None or sum(r[k] for r in rows) == f[k], k
        assert abs(sum(r["share"] for r in rows) - 1) < 1e-6
        for r in rows:
            assert list(r) == ROW and r["text"]
            assert 0 <= r["ci95"][0] <= r["share"] <= r["ci95"][1] <= 1
            assert r["evidence"]["share"] == "observed"
        loops = {l["loop"]: l for l in f["loops"]}
        for l in f["loops"]:
            def around(n):
                while n and n != l["loop"]:
                    n = loops[n]["outer"]
                return n
            inside = [r for r in rows if around(r["loop"])]
            assert sum(r["weight"] for r in inside) == l["weight"] and sum(r["samples"] for r in inside) == l["samples"]
            assert len([r for r in inside if not r["aside"]]) == l["instructions"]
            assert l["depth"] == (loops[l["outer"]]["depth"] + 1 if l["outer"] else 1)
            assert l["head"] in [r["offset"] for r in inside] and l["ci95"][0] <= l["share"] <= l["ci95"][1]
        for l in f["lines"]:
            mine = [r for r in rows
                    if (r["file"], r["line"], r["source_function"]) == (l["file"], l["line"], l["function"])]
            assert mine and sum(r["weight"] for r in mine) >= l["weight"]
    return d
def reported(path, function):
    return [r for r in json.load(open(path))["rows"] if r["function"] == function]
P

"$GUSPROF" report --no-inline --format json >report.json 2>err
# Of user code alone: else it may be the kernel's, which clears the demo's pages,
# and that has no code to show everywhere.
"$GUSPROF" record --trace off -q -e cpu-clock:u -F 2000 -o user.data -- "$GUS_DEMO" 1 >out 2>err ||
	problem "user code alone: $(head -1 err)"
"$GUSPROF" report -i user.data --no-inline --format json >user.json 2>err
"$GUSPROF" annotate -i user.data --format json >hottest.json 2>err || problem "the hottest: $(head -1 err)"
check "without a name it is the hottest function" python3 - <<'P'
import json
from annotated import load
first = [r for r in json.load(open("user.json"))["rows"] if r["function"]][0]
f = load("hottest.json")["functions"]
assert len(f) == 1 and (f[0]["function"], f[0]["module"]) == (first["function"], first["module"])
P
for f in fma_chain pointer_chase random_branch divider store_burst; do
	"$GUSPROF" annotate $f --format json >$f.json 2>err || problem "$f: $(head -1 err)"
	check "$f: what the report shows, taken apart" python3 - $f <<'P'
import sys
from annotated import load, reported
f = load(sys.argv[1] + ".json")["functions"][0]
r, = reported("report.json", sys.argv[1])
for k in ["module", "build_id", "offset", "samples", "weight", "time_ns", "cycles", "share", "ci95"]:
    assert f[k] == r[k], (k, f[k], r[k])
P
	check "$f: its loop has its time" python3 - $f <<'P'
import sys
from annotated import load
d = load(sys.argv[1] + ".json")
f = d["functions"][0]
assert len(f["loops"]) == 1 and f["loops"][0]["share"] > 0.95 and not f["loops"][0]["irreducible"], f["loops"]
assert sum(r["share"] for r in d["rows"] if r["hot"]) > 0.5
if f["lines"]:
    assert sum(l["share"] for l in f["lines"]) > 0.95 and f["lines"][0]["file"].endswith("demo.c")
assert d["skid"] and d["recording"]["samples"] > 300
for t in d["skid_test"] or []:
    assert t["samples"] == sum(t["at"]) + t["farther"] + t["before"] and len(t["at"]) == 4, t
    if t["slow"] == "load" and max(t["at"]) >= 0.95 * t["samples"] > 0:
        assert ["the one", "the first instruction", "the second", "the third"][t["at"].index(max(t["at"]))] in d["skid"]
labels = {r["offset"]: r["label"] for r in d["rows"] if r["label"]}
assert labels and list(labels.values()) == list(range(1, len(labels) + 1))
jumps = [r for r in d["rows"] if r["target"] in labels]
assert jumps and all(r["text"].endswith(" L%d" % labels[r["target"]]) or
                     r["text"].endswith(",L%d" % labels[r["target"]]) or
                     r["text"].endswith(", L%d" % labels[r["target"]]) for r in jumps)
P
done
check "instructions read as objdump's addresses" python3 - <<'P'
import json
rows = {r["offset"]: r for r in json.load(open("divider.json"))["rows"]}
for at, r in rows.items():
    assert r["address"] - at == rows[min(rows)]["address"] - min(rows)
P

for part in 0%-40% 40%-100%; do
	"$GUSPROF" annotate --percent-limit 0 --time $part --format json >part.$part.json 2>err ||
		problem "--time: $(head -1 err)"
done
"$GUSPROF" annotate --percent-limit 0 --comm demo --event 0 --format json >all.json 2>err ||
	problem "--comm: $(head -1 err)"
check "--time: the parts of each function add up to it" python3 - <<'P'
from annotated import load
whole, parts = load("all.json"), [load("part.0%-40%.json"), load("part.40%-100%.json")]
assert all(p["recording"]["filtered"] for p in parts) and not whole["recording"]["filtered"]
assert sum(p["total"]["samples"] for p in parts) == whole["total"]["samples"]
for f in whole["functions"]:
    mine = [g for p in parts for g in p["functions"] if (g["module"], g["offset"]) == (f["module"], f["offset"])]
    assert sum(g["samples"] for g in mine) == f["samples"] > 0, f["function"]
P
refuse "--comm: a name that no thread had" 125 'no samples that the options leave' --comm nobody
refuse "--tid takes numbers" 129 'takes thread numbers' --tid x
refuse "--time outside the recording" 129 'within the recording' --time 20-10
refuse "--event: one that was not recorded" 129 "has no event 'no-such'" --event no-such
"$GUSPROF" annotate divider >text 2>err
check "text: the source line beside the instruction" grep -q ';.*demo\.c:115 .*quotient = dividend' text
check "text: the loop and its share" \
	grep -qE '^# loop 1: (9[5-9]|100)\.[0-9]+% \(.*head at [0-9a-f]+ \(L[0-9]+\), demo\.c:' text
check "text: skid is told once" test "$(grep -c '^# skid: ' text)" = 1
check "text: hot instructions are marked" grep -qE '^ +[0-9.]+% +[0-9.]+% \.\. +[0-9.]+% +[0-9]+ \* ' text
"$GUSPROF" annotate --no-source divider >bare 2>err
check "--no-source: the same without source lines" \
	sh -c '! grep -q "demo\.c:115 " bare && grep -v "  ; " text | cmp - bare'
"$GUSPROF" annotate divider --format csv >csv 2>err
check "csv: the same figures" python3 - <<'P'
import csv, json
rows, wanted = list(csv.DictReader(open("csv"))), json.load(open("divider.json"))["rows"]
assert len(rows) == len(wanted)
for a, b in zip(rows, wanted):
    for k in ["offset", "address", "samples", "weight", "depth", "label", "target", "line", "loop", "time_ns"]:
        assert a[k] == ("" if b[k] is None else str(b[k])), (k, a[k], b[k])
    assert a["text"] == b["text"] and abs(float(a["share"]) - b["share"]) < 1e-6 and a["hot"] == str(int(b["hot"]))
P
for format in text csv json; do
	"$GUSPROF" annotate divider --format $format >1 2>err
	LC_ALL=de_DE.UTF-8 "$GUSPROF" annotate -s divider -i gusprof.data --format $format >2 2>err
	check "$format: the same input, the same bytes" cmp 1 2
done
at=$(python3 -c 'import json; print(hex(json.load(open("divider.json"))["rows"][5]["offset"]))')
check "an offset within names the function" sh -c "'$GUSPROF' annotate $at --dso demo --format csv 2>err | cmp - csv"
check "so does a part of its name" sh -c "'$GUSPROF' annotate ivide --format csv 2>err | cmp - csv"
"$GUSPROF" annotate --percent-limit 10 --format json >all.json 2>err
check "all above a limit, the hottest first" python3 - <<'P'
from annotated import load
f = load("all.json")["functions"]
assert {x["function"] for x in f} >= {"fma_chain", "pointer_chase", "random_branch", "divider", "store_burst"}
assert [x["weight"] for x in f] == sorted((x["weight"] for x in f), reverse=True) and all(x["share"] >= 0.1 for x in f)
P

# A kernel function: its code, or why not.
kernel=$(python3 -c '
import json
r = [r for r in json.load(open("report.json"))["rows"] if r["module"] == "[kernel]" and r["function"]]
print(r[0]["function"] if r else "")')
if [[ $kernel ]]; then
	if "$GUSPROF" annotate "$kernel" --dso '[kernel]' --format json >kernel.json 2>err; then
		check "a kernel function, in assembly" python3 -c 'from annotated import load; load("kernel.json")'
	else
		refuse "a kernel function, or why not" 125 "cannot read the code of $kernel in \[kernel\]: .+" \
			"$kernel" --dso '[kernel]'
	fi
else
	echo "skipped: no kernel function was sampled"
fi

refuse "no such function" 129 'no function called nothing was sampled' nothing
refuse "one in another module" 129 'no function called divider' divider --dso libc.so.6
refuse "several by a part" 129 'functions are meant by _; name one' _
check "they are listed" sh -c 'grep -qE "^ +[0-9.]+%  (fma_chain|store_burst) at 0x[0-9a-f]+ in /" said'
refuse "no module" 129 'no sample in a function of these modules' --dso no-such-module
refuse "nobody has so much" 129 'no function has 99\.9 %' --percent-limit 99.9
refuse "a limit and a name" 129 '--percent-limit and SYMBOL exclude each other' --percent-limit 5 divider
refuse "no number" 129 "--percent-limit takes a percentage up to 100, not '5x'" --percent-limit 5x
refuse "two names" 129 "takes one SYMBOL, not 'b'" a b
refuse "the same name twice" 129 "-s and SYMBOL exclude each other" -s a b
refuse "an unknown format" 129 '--format takes' --format xml
refuse "no such file" 125 'nothing\.here' -i nothing.here
refuse "not a recording" 125 'annotated\.py' -i annotated.py
check "help" "$GUSPROF" annotate --help
if [[ -w /dev/full ]]; then
	"$GUSPROF" annotate divider >/dev/full 2>err
	[[ $? == 125 ]] || problem "a full disk looks like success"
fi

if ! command -v cc >/dev/null; then
	echo "skipped: no C compiler for what comes after"
	exit $failed
fi
cat >one.c <<'C'
#include <time.h>
static inline __attribute__((always_inline)) unsigned mix(unsigned x)
{
	return (x * 2654435761u) ^ (x >> 7);
}
static __attribute__((noinline)) unsigned work(unsigned n)
{
	unsigned x = n;

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < 1000; k++) {
			x = mix(x + k);
			__asm__ volatile("" : "+r"(x));
		}
	return x;
}
unsigned other(unsigned n);
int main(void)
{
	unsigned x = 1;

	while (clock() < CLOCKS_PER_SEC * 2 / 5)
		x += work(100) + other(100);
	return x == 42;
}
C
cat >two.c <<'C'
static __attribute__((noinline)) unsigned work(unsigned n)
{
	for (unsigned i = 0; i < n * 100; i++)
		__asm__ volatile("" : "+r"(n));
	return n;
}
unsigned other(unsigned n)
{
	return work(n) + 1;
}
C
if ! cc -O1 -g -Wl,--build-id -o prog one.c two.c 2>err ||
	! "$GUSPROF" record --trace off -q -e cpu-clock -F 2000 -o prog.data -- ./prog 2>err; then
	problem "a program of our own: $(head -1 err)"
	exit 1
fi
"$GUSPROF" annotate -i prog.data --format json >prog.json 2>err
check "nested loops and inlined lines" python3 - <<'P'
from annotated import load
d = load("prog.json")
f = d["functions"][0]
outer, inner = f["loops"]
assert f["function"] == "work" and inner["outer"] == outer["loop"]
assert inner["share"] > 0.9 and outer["weight"] >= inner["weight"]
mixed = [r for r in d["rows"] if r["source_function"] == "mix"]
assert mixed and all(r["inlined"] == [{"function": "work", "file": r["file"], "line": 12}] for r in mixed), mixed
lines = {l["line"]: l for l in f["lines"] if l["function"] == "mix"}
assert lines[4]["source"] == "        return (x * 2654435761u) ^ (x >> 7);", lines
assert abs(sum(l["share"] for l in f["lines"]) - 1) < 1e-6
P
"$GUSPROF" annotate -i prog.data >text 2>err
check "the inlined line in text" grep -qE '; one\.c:4 mix < work one\.c:12 +return \(x \* 2654435761u\)' text
check "the nesting in text" sh -c 'grep -qE " \|/2 | /@2 | \|@2 " text && grep -q "^#   loop 2: " text'
refuse "two of a name" 129 '2 functions are meant by work;' -i prog.data work
check "both are listed" test "$(grep -cE '^ +[0-9.]+%  work at 0x[0-9a-f]+ in ' said)" = 2
at=$(sed -n 's/.* work at \(0x[0-9a-f]*\) in .*/\1/p' said | tail -1)
check "and one is taken by its offset" sh -c "'$GUSPROF' annotate -i prog.data $at | grep -q 'two\.c:3 '"
refuse "what is inlined everywhere" 129 "mix was sampled only where it is inlined; .* such as 'work':" -i prog.data mix
"$GUSPROF" report -i prog.data --format json >inlined.json 2>err
check "the parts of an inlined function are the report's" python3 - <<'P'
from annotated import load, reported
mine = sum(r["weight"] for r in load("prog.json")["rows"] if r["source_function"] == "mix")
row, = reported("inlined.json", "mix")
assert mine == row["weight"]
P

# Code that no file holds: the recording brings the vdso along.
cat >clock.c <<'C'
#include <time.h>
int main(void)
{
	struct timespec t, start;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &t);
	while ((t.tv_sec - start.tv_sec) * 1000000000L + t.tv_nsec - start.tv_nsec < 200000000L);
	return 0;
}
C
cc -O1 -o clock clock.c && "$GUSPROF" record --trace off -q -e cpu-clock -F 2000 -o clock.data -- ./clock
if "$GUSPROF" report -i clock.data --no-inline --dso '[vdso]' --format csv 2>err | grep -q '^\[vdso\]'; then
	"$GUSPROF" annotate -i clock.data --dso '[vdso]' --format json >vdso.json 2>err
	check "the vdso's code is the recording's" python3 -c '
from annotated import load
d = load("vdso.json")
assert d["functions"][0]["module"] == "[vdso]" and all(r["text"] for r in d["rows"])'
else
	echo "skipped: the clock is not read in the vdso here"
fi

mv one.c gone.c
"$GUSPROF" annotate -i prog.data >text 2>err
check "without the source: told once" test "$(grep -c 'cannot read the source .*/one\.c: No such file' err)" = 1
check "and the assembly is there, with its lines" sh -c 'grep -qE "; one\.c:4 mix < work one\.c:12$" text'
mkdir -p "root$work" && cp gone.c "root$work/one.c" && cp prog "root$work/prog"
check "--symfs finds it elsewhere" sh -c "'$GUSPROF' annotate -i prog.data --symfs root 2>err | grep -q '2654435761u'"
touch -d '1 hour' gone.c && mv gone.c one.c
"$GUSPROF" annotate -i prog.data >text 2>err
check "a source younger than the program is told of" \
	test "$(grep -c 'one\.c was changed after the program was made' err)" = 1

cp prog kept && cc -O1 -Wl,--build-id -o prog one.c two.c &&
	"$GUSPROF" record --trace off -q -e cpu-clock -F 2000 -o bare.data -- ./prog
"$GUSPROF" annotate -i bare.data >text 2>said
check "without debug information: told, and no source" \
	sh -c 'grep -q "no debug information was found" said && ! grep -q "  ; " text &&
	grep -q "^# loop 1:" text'
refuse "a program that changed" 125 'cannot .*/prog.* names of it and no code.*its file changed since the recording' \
	-i prog.data
refuse "its names are known all the same" 129 '2 functions are meant by work;' -i prog.data -d prog work
cp kept prog
check "the right file again" "$GUSPROF" annotate -i prog.data
size=$(stat -c %s prog.data)
head -c $((size - 40)) prog.data >cut.data
"$GUSPROF" annotate -i cut.data >text 2>err
check "a recording that was cut says so" grep -q 'WARNING: the recording was cut' text
exit $failed
