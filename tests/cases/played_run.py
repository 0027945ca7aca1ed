# SPDX-License-Identifier: MIT
# played_run.py ROWS JUDGED BASE MOST: compares what `report --stacks --format csv` says of a program that is mapped at
# BASE with what gusprof-golden judges. The first three instructions and what each waits for are to be the same, and of
# all of the time MOST points at most may be at other instructions.
import csv
import sys

rows, judged, base, most = sys.argv[1], sys.argv[2], int(sys.argv[3], 16), float(sys.argv[4])
WAITS = {"FL-MB", "ST-L1", "DR-L1", "DR-SQ"}


def first_wait(parts):
    """What most of it is, of what both say: what goes with a miss of L1 is one thing here."""
    named = {}
    for name, share in parts.items():
        event = next((e for e in WAITS if e in name.split("+")), name)
        named[event] = named.get(event, 0) + share
    return max(named, key=named.get)


golden = {}
for line in open(judged):
    if line.startswith("#  "):
        address, component, estimated, _ = line[3:].split("\t")
        at = golden.setdefault(int(address, 16), {})
        at[component] = at.get(component, 0) + float(estimated.split()[1])
report = {}
for row in csv.DictReader(open(rows)):
    if not row["offset"]:
        continue
    address = base + int(row["offset"])
    if address not in golden:  # a test and its branch are one: the judge has the test, the report the branch
        before = max((a for a in golden if a < address), default=address)
        address = before if address - before < 8 else address
    at = report.setdefault(address, {})
    at[row["component"]] = at.get(row["component"], 0) + float(row["part"])

off = 0
for address in sorted(set(golden) | set(report)):
    a, b = (sum(x.get(address, {}).values()) for x in (report, golden))
    off += 50 * abs(a - b)
    if abs(a - b) > 0.002:
        print("%x: report %.4f, judged %.4f" % (address, a, b))
print("all: %.2f points are elsewhere, %g may be" % (off, most))
wrong = off > most or not golden


def top(cells):
    return sorted(cells, key=lambda a: -sum(cells[a].values()))[:3]


for a, b in zip(top(report), top(golden)):
    known = {k: v for k, v in report[a].items() if k != "unknown"}
    told = first_wait(known) if known else "unknown"
    print("%x %s, judged %x %s" % (a, told, b, first_wait(golden[b])))
    wrong |= a != b or told != first_wait(golden[b])
sys.exit(wrong)
