#!/bin/sh
# SPDX-License-Identifier: MIT
# The programs that mislead top-down compute the same in all their ways, and the scripts about them judge what they are
# shown as docs/misled.md says: trees and verdicts that are made up here, counted ones too.
. "$(dirname "$0")/lib.sh"
misled=$GUS_BUILDDIR/tests/accuracy/misled/misled
about=$scripts/../accuracy/misled
[ -x "$misled" ] || { echo "the programs are for x86-64"; exit 77; }
command -v python3 >/dev/null || { echo "there is no python3"; exit 77; }
"$misled" --list >list || { tail -n 1 list; exit 77; }

ok "the list has 13 programs" is "$(wc -l <list)" 13
while read -r name ways rest; do
	for way in $(echo "$ways" | tr , ' '); do
		"$misled" "$name" "$way" 0.001 2>&1 | sed 's/.*result //'
	done | sort -u >results
	ok "$name: $ways compute the same" is "$(wc -l <results)" 1
done <list
"$misled" loads cure 1 >out 2>err
ok "no such way: an error" says 'no such way: cure'

# A tree of which only the shares differ, a verdict, and cycles of both ways.
cat >made.py <<'P'
import json
import sys

def row(program, right, holds, shares, cause, interval, base):
    return {"subject": ["1 " + program, program, "base", right, holds], "times": {
        "base": {"least": base}, "fixed": {"least": 1.0}}, "region": {"topdown": shares, "causal": [], "withheld": None,
        "verdict": {"cause": cause, "speedup": 1.0, "ci95": interval} if cause else None}}

level_1 = {"frontend_bound": 0, "bad_speculation": 0.1, "backend_bound": 0.6, "retiring": 0.3}
json.dump([
    row("named", ["l2_bound"], "", {**level_1, "memory_bound": 0.5, "core_bound": 0.1, "l1_bound": 0.1,
        "l2_bound": 0.4}, "l2_bound", [0.7, 1.3], 2.3),
    row("holder", ["chains"], "ports_utilization", {**level_1, "core_bound": 0.6, "ports_utilization": 0.6},
        "ports_utilization", [0.7, 1.3], 2.31),
    row("small", ["l2_bound"], "", {**level_1, "memory_bound": 0.35, "l1_bound": 0.099, "l2_bound": 0.098}, None, None,
        2),
    row("silent", ["l2_bound"], "", {**level_1, "retiring": 0.61}, "l2_bound", [0.6, None], 3),
], open("seen", "w", encoding="utf-8"))
P
python3 made.py
"$about/check" --again seen --need-right 0 --need-misled 0 --need-inside-share 0.25 >out 2>err
ok "what is made up is judged" is $? 0
ok "the largest part of the largest" says '^named .* l2_bound right  *l2_bound right .* 1.30  inside *narrow' out
ok "what holds the cause is told apart, and what is outside" \
	says '^holder .* ports_utilization holds  *ports_utilization wrong .* 1.31  outside *narrow' out
ok "parts below a tenth are not told; withheld" says '^small .* memory_bound wrong  *- withheld' out
ok "retiring is silent; an interval without end is wide" says '^silent .* - silent  *l2_bound right .* inside *wide' out
ok "counts" says '^verdict right: 2 of 4 entries; plain top-down wrong or silent: 3 (silent: 1, .*cause: 1)' out
ok "speedups" says '^speedups foretold: 3 of 4; inside: 2, narrow as well: 1' out
"$about/check" --again seen --need-right 7 --need-misled 0 --need-inside-share 0 >out 2>err
ok "fewer than are needed" is $? 1

# A gusprof and a perf that count what is made up.
mkdir bin
cat >bin/gusprof <<'P'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
cat >"$2" <<'J'
{"topdown": [{"counted_slots": 5, "nodes": [{"name": "retiring", "share": 0.9}]},
	{"counted_slots": 9, "nodes": [{"name": "backend_bound", "share": 0.7}, {"name": "retiring", "share": 0.3},
	{"name": "core_bound", "share": 0.6}, {"name": "ports_utilization", "share": 0.5}]}]}
J
P
cat >bin/perf <<'P'
#!/bin/sh
cat >&2 <<'J'
warning
{"metric-value": "60.0", "metric-unit": "%  tma_backend_bound"}
{"metric-value": "40.0", "metric-unit": "%  tma_retiring"}
{"metric-value": "50.0", "metric-unit": "%  tma_memory_bound"}
{"metric-value": "1.0", "metric-unit": "insn per cycle"}
J
P
chmod +x bin/gusprof bin/perf
PATH=$work/bin:$PATH GUSPROF=$work/bin/gusprof "$about/on-a-pmu" --seconds 0.01 chase gather >out 2>err
ok "counted trees are judged" is $? 0
ok "the busiest kind of cores, and perf's" says '^chase .* ports_utilization wrong  *memory_bound wrong' out
ok "what is right is" says '^gather .* ports_utilization right  *memory_bound wrong' out
ok "one of two misleads" says 'wrong or silent of 1 entries' out
printf '#!/bin/sh\necho "no counters here" >&2\nexit 125\n' >bin/gusprof
GUSPROF=$work/bin/gusprof "$about/on-a-pmu" --seconds 0.01 chase >out 2>err
ok "without a PMU it is skipped" is $? 77
ok "and says that nothing was counted" says 'of a simulation alone: no counters here' out
finish
