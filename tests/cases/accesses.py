# SPDX-License-Identifier: MIT
"""accesses.py views|sharing GUSPROF FILE SYMFS: every view of the accesses that tests/cases/make_accesses.c plants has
what was planted and nothing else. What that is stands here once more, sample by sample; rows, quantiles and intervals
are put together from it in the plainest way that there is, with the binomial distribution in integers."""
import csv
import json
import math
import subprocess
import sys

HEAP, TABLE, STACK = 0x555500000000, 0x2000, 0x7ffd00000000
L1 = dict(source="L1", snoop="none", tlb="L1")
L3 = dict(source="L3", snoop="hit", tlb="L2")
HITM = dict(source="L3", snoop="HITM", tlb="L1")
RAM = dict(source="memory", snoop="miss", tlb="L2")
NOTHING = dict(source=None, snoop=None, tlb=None)


def samples(n, line, tid, address, where, access, first=0, step=0, locked=None, page=4096, pid=500, shared=False):
    """n samples; address None: it is not told; where: module and symbol."""
    module, symbol = where or (None, None)
    return [dict(line=line, tid=tid, address=address, module=module, symbol=symbol, locked=locked, page=page, pid=pid,
                 shared=shared, cycles=first + i * step if first else None, **access) for i in range(n)]


def load(source):
    return dict(source, access="load")


def store(source):
    return dict(source, access="store")


heap, table, stack = ("[heap]", None), ("/var/lib/shape/table.bin", None), ("[stack]", None)


def planted(own):
    counters, numbers = own + ("planted_counters",), own + ("planted_table",)
    return (
        samples(101, 23, 501, HEAP + 0x1000, heap, load(L1), 4, 1) +
        samples(9, 23, 501, HEAP + 0x3040, heap, load(RAM), 200, 20) +
        samples(30, 14, 502, HEAP + 0x1038, heap, load(L3), 40) +
        samples(5, 14, 502, HEAP + 0x3fff, heap, load(HITM), 90) +
        samples(4, 14, 502, HEAP + 0x212345, heap, load(L3), 40, page=2 << 20) +
        samples(8, 13, 501, TABLE + 0x80, table, load(L3), 50, pid=None, shared=True) +
        samples(8, 13, 600, TABLE + 0x80, table, load(L3), 50, pid=None, shared=True) +
        samples(3, 13, 600, TABLE + 0xc0, table, store(L1), locked=True, pid=None, shared=True) +
        samples(7, 13, 600, HEAP + 0x1000, heap, store(L1), pid=600) +
        samples(6, 22, 501, "counters", counters, store(L1)) +
        samples(2, 22, 501, "table", numbers, load(L1), 5) +
        samples(2, 22, 501, STACK + 0x40, stack, load(L1), 5) +
        samples(10, 33, 501, HEAP + 0x5000, heap, dict(NOTHING, access=None)) +
        samples(12, 33, 501, None, None, load(L1), 7) +
        samples(14, 33, 501, None, None, dict(NOTHING, access=None)))


def place(sample, bytes_):
    if sample["address"] is None:
        return (None, None, None, False)
    address = sample["address"]
    if not isinstance(address, str): # of the maker's own variables, which the kernel puts where it likes
        address = address // bytes_ * bytes_
    return (address, bytes_, sample["pid"], sample["shared"])


# What makes rows, of a sample and of a row of the report.
def shown_place(row):
    d = row["data"]
    address = None if d["address"] is None else int(d["address"], 16)
    if d["module"] and d["module"].endswith("make-accesses"):
        address = {"planted_counters": "counters", "planted_table": "table"}[d["symbol"]]
    return (address, d["bytes"], d["pid"], d["shared"])


parts = {
    "data-source": (lambda s: s["source"], lambda r: r["data"]["source"]),
    "snoop": (lambda s: s["snoop"], lambda r: r["data"]["snoop"]),
    "tlb": (lambda s: s["tlb"], lambda r: r["data"]["tlb"]),
    "access": (lambda s: s["access"], lambda r: r["data"]["access"]),
    "locked": (lambda s: s["locked"], lambda r: r["data"]["locked"]),
    "data-line": (lambda s: place(s, 64), shown_place),
    "data-page": (lambda s: place(s, s["page"]), shown_place),
    "data-module": (lambda s: s["module"], lambda r: r["data"]["module"]),
    "data-symbol": (lambda s: (s["module"], s["symbol"]), lambda r: (r["data"]["module"], r["data"]["symbol"])),
    "line": (lambda s: s["line"], lambda r: r["line"]),
    "thread": (lambda s: s["tid"], lambda r: r["tid"]),
    "process": (lambda s: 600 if s["tid"] == 600 else 500, lambda r: r["pid"]),
}


def quantile(ordered, percent):
    """The value, and the interval, whose ends are None where it is open."""
    n = len(ordered)
    if not n:
        return None, None
    chances = [math.comb(n, k) * percent ** k * (100 - percent) ** (n - k) for k in range(n + 1)] # of 100^n
    low = high = None
    below = above = 0
    for k in range(n):
        below += chances[k]
        if below * 1000 > 25 * 100 ** n:
            break
        low = ordered[k]
    for k in range(n, 0, -1):
        above += chances[k]
        if above * 1000 > 25 * 100 ** n:
            break
        high = ordered[k - 1]
    return ordered[-(-n * percent // 100) - 1], [low, high]


def expected(plan, words):
    rows = {}
    for sample in plan:
        rows.setdefault(tuple(parts[w][0](sample) for w in words), []).append(sample)
    result = {}
    for key, of in rows.items():
        cycles = sorted(s["cycles"] for s in of if s["cycles"] is not None)
        median, ninety = quantile(cycles, 50), quantile(cycles, 90)
        result[key] = (len(of), 10 * len(of), len(cycles), *median, *ninety, cycles[-1] if cycles else None,
                       sum(cycles) if cycles else None)
    return result


def run(gusprof, *words):
    return subprocess.run([gusprof, "report", "-q", *words], capture_output=True, text=True, check=True).stdout


def views(gusprof, file, symfs):
    bad = 0
    lists = ["data-source", "snoop", "tlb", "access", "locked", "data-line", "data-page", "data-module",
             "line,data-source", "data-line,thread", "process,data-page,access", "snoop,tlb,access,locked",
             "data-module,data-source", "line,data-page,thread,snoop", "data-symbol", "data-symbol,data-line,access"]
    own = None
    for words in lists:
        # The maker's variables are in its file, which is not under the symfs of the library; lines are.
        options = ["--by", words] + (["--symfs", symfs] if "line" in words.split(",") else [])
        report = json.loads(run(gusprof, "--format", "json", *options, file))
        if own is None:
            own = (next(r["data"]["module"] for r in json.loads(run(gusprof, "--format", "json", "--by",
                   "data-module", file))["rows"] if (r["data"]["module"] or "").endswith("make-accesses")),)
        plan = planted(own)
        words = words.split(",")
        if "line" in words: # no symbols then, so that the two variables are one place for all that is shown
            words = [w for w in words if w != "data-symbol"]
        want, got = expected(plan, words), {}
        for row in report["rows"]:
            loads = row["data"]["loads"]
            key = tuple(parts[w][1](row) if not (own[0] == row["data"]["module"] and w in ("data-line", "data-page")
                        and row["data"]["symbol"] is None) else ("own", row["data"]["bytes"], 500, False)
                        for w in words)
            got.setdefault(key, []).append((row["samples"], row["weight"], loads["timed"], loads["median"],
                                            loads["median_ci95"], loads["ninety"], loads["ninety_ci95"],
                                            loads["longest"], loads["sum"]))
        if "line" in words:
            want = {k: v for k, v in want.items() if not any(isinstance(x, tuple) and x[0] in ("counters", "table")
                                                             for x in k)}
            # They have their names where a cache of build ids has the file.
            got = {k: v for k, v in got.items() if not any(isinstance(x, tuple) and x[0] in ("own", "counters", "table")
                                                           for x in k)}
        for key in sorted(set(want) | set(got), key=str):
            if got.get(key) != ([want[key]] if key in want else None):
                print(f"--by {','.join(words)}: {key}: planted {want.get(key)}, shown {got.get(key)}")
                bad = 1
        if sum(r["samples"] for r in report["rows"]) != len(plan) or report["total"]["samples"] != len(plan):
            print(f"--by {','.join(words)}: the rows do not add up to {len(plan)} samples")
            bad = 1
        # Names and distances are those of the lowest address; a module alone has neither.
        for row in report["rows"]:
            d = row["data"]
            into = {"planted_counters": 72, "planted_table": 800}.get(d["symbol"])
            if d["module"] == table[0] and d["bytes"]:
                into = 0x20c0 if row["samples"] == 3 else 0x2080 # the stores alone, or loads as well
            if not d["bytes"] and d["module"]:
                into = None
                if "data-symbol" not in words and d["symbol"]:
                    print(f"--by {','.join(words)}: {d['module']} alone is {d['symbol']}")
                    bad = 1
            if d["module"] != own[0] or d["symbol"] or not d["bytes"]:
                if d["into"] != into:
                    print(f"--by {','.join(words)}: {d} is {into} bytes in")
                    bad = 1
        # CSV has the same rows.
        lines = list(csv.DictReader(run(gusprof, "--format", "csv", *options, file).splitlines()))
        for line, row in zip(lines, report["rows"], strict=True):
            d, loads = row["data"], row["data"]["loads"]
            pairs = [("samples", row["samples"]), ("data_source", d["source"]), ("snoop", d["snoop"]),
                     ("data_address", d["address"]), ("data_bytes", d["bytes"]), ("data_pid", d["pid"]),
                     ("data_module", d["module"]), ("data_symbol", d["symbol"]), ("access", d["access"]),
                     ("timed_loads", loads["timed"] or None), ("latency_median", loads["median"]),
                     ("latency_median_low", (loads["median_ci95"] or [None])[0]),
                     ("latency_90", loads["ninety"]), ("latency_longest", loads["longest"]),
                     ("latency_sum", loads["sum"])]
            for name, value in pairs:
                if line[name] != ("" if value is None else str(value)):
                    print(f"--by {','.join(words)}: CSV's {name} is {line[name]}, JSON's {value}")
                    bad = 1
    return bad


def sharing(gusprof, file, symfs):
    report = json.loads(run(gusprof, "--format", "json", "--false-sharing", "--symfs", symfs, file))
    names = {501: "worker/1", 502: "worker/2", 503: "worker/3", 504: "worker/4"}

    def access(offset, tid, line, loads, stores, hitm):
        return (offset, tid, names[tid], line, loads + stores, loads, stores, hitm, "apart" if hitm else None)

    want = {
        "0x555500000040": (60, 40, 20, 4, 40, [access(8 * t, 501 + t, 23, 10, 0, 10) for t in range(4)] +
                           [access(8 * t, 501 + t, 14, 0, 5, 0) for t in range(4)]),
        "0x555500000100": (30, 21, 9, 4, 21, [access(0, 501 + t, 23, 7, 0, 7) for t in range(1, 4)] +
                           [access(32, 501, 14, 0, 9, 0)]),
    }
    got = {}
    for line in report["lines"]:
        got[line["address"]] = (line["samples"], line["loads"], line["stores"], line["threads"], line["apart"], [
            (a["offset"], a["tid"], a["comm"], a["line"], a["samples"], a["loads"], a["stores"], a["hitm"],
             a["written"]) for a in line["accesses"]])
        if (line["hitm"], line["bytes"], line["pid"], line["module"]) != (line["apart"], 64, 500, "[heap]"):
            print("wrong:", line)
            return 1
    if got != want or list(got) != sorted(got): # the most held up first
        print("planted:", want)
        print("shown:", got)
        return 1
    total, others = report["total"], report["others"]
    want = dict(samples=657, accesses=657, hitm=148, unknown=7, same=80, likely=0, apart=61, without_address=0)
    if total != want or others != dict(lines=3, unknown=7, same=80, likely=0, apart=0):
        print("sums:", total, others)
        return 1
    # Without the samples of stores nobody knows what was written: the addresses alone speak.
    report = json.loads(run(gusprof, "--format", "json", "--false-sharing", "--event", "0", file))
    seen = {line["address"]: (line["hitm"], line["likely"], line["unknown"]) for line in report["lines"]}
    if seen != {"0x555500000040": (40, 40, 0)} or report["others"]["unknown"] != 21 + 80 + 7:
        print("loads alone:", seen, report["others"])
        return 1
    lines = list(csv.DictReader(run(gusprof, "--format", "csv", "--false-sharing", file).splitlines()))
    first = dict(data_address="0x555500000040", data_bytes="64", data_pid="500", data_module="[heap]", data_symbol="",
                 line_hitm="40", offset="0", size="", samples="10", loads="10", stores="0", hitm="10", written="apart",
                 pid="500", tid="501", comm="worker/1", module="/opt/shape/libshape.so", code_offset="692",
                 function="", file="", line="")
    if lines[0] != first or len(lines) != 12 or [r["stores"] for r in lines[4:8]] != ["5"] * 4 or lines[4]["written"]:
        print("CSV:", lines)
        return 1
    return 0


sys.exit({"views": views, "sharing": sharing}[sys.argv[1]](*sys.argv[2:]))
