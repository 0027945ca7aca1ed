# SPDX-License-Identifier: MIT
"""The suite of kernels (tests/kernels/suite), timed here and modelled: what accuracy and experiment have in common.

A variant is a kernel, a way to compile it and a place for its data, such as "gemm@o3 L1". Its times and its modelled
figures are kept in files, each as soon as it is known, so that a run that was stopped goes on where it was, and so that
other tables are tried against the same times. What is kept goes with the bytes of the kernel's function, and modelled
figures with the table's text as well: what they are not of is passed over.
"""
import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import re
import struct
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "accuracy"))
import kernel_runs  # noqa: E402

SUITE = os.environ.get("GUS_SUITE", os.path.join(kernel_runs.BUILD, "tests/kernels/suite/suite"))
PLACES = ("L1", "L2", "L3", "memory")
# Instructions that a variant executes at least before what counts, so that caches and predictors know the kernel, and
# of what counts: whole passes of both.
WARM_UP, COUNTED = 8000000, 200000
Skipped = kernel_runs.Skipped


@dataclasses.dataclass(frozen=True)
class Variant:
    name: str       # gemm@o3
    place: str
    bytes: int
    n: int
    steps: int      # of a pass
    symbol: str
    start: int      # the function's code, which is the region of interest
    end: int
    code: str       # a digest of it

    @property
    def key(self):
        return f"{self.name} {self.place}"

    @property
    def kernel(self):
        return self.name.split("@")[0]

    @property
    def way(self):
        return self.name.split("@")[1]


class Image:
    """The bytes of a program that is not moved when it is loaded, by address."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        table, size, count = struct.unpack_from("<Q", self.data, 32)[0], *struct.unpack_from("<HH", self.data, 54)
        headers = [struct.unpack_from("<IIQQQQQQ", self.data, table + i * size) for i in range(count)]
        self.loaded = [(h[3], h[2], h[5]) for h in headers if h[0] == 1]

    def read(self, start, end):
        for address, offset, size in self.loaded:
            if address <= start < address + size:
                return self.data[offset + start - address:offset + min(end - address, size)]
        return b""


def symbols():
    """Name to start and end of the suite's functions."""
    found = {}
    for line in kernel_runs.run("nm", "-S", SUITE).splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tT":
            found[words[3]] = (int(words[0], 16), int(words[0], 16) + int(words[1], 16))
    return found


def variants():
    """All of them, with the sizes that fit this machine's caches."""
    if not os.path.exists(SUITE):
        raise Skipped(f"skipped: {SUITE} is not built; make -C build tests/kernels/suite/suite")
    where, image, found = symbols(), Image(SUITE), []
    for line in kernel_runs.run(SUITE, "list", "host").splitlines():
        name, place, size, _, n, steps, _, symbol = line.split()
        start, end = where[symbol]
        code = hashlib.sha256(image.read(start, end)).hexdigest()[:16]
        found.append(Variant(name, place, int(size), int(n), int(steps), symbol, start, end, code))
    return found


def add_selection(parser):
    parser.add_argument("--uarch", action="append", metavar="TABLE")
    parser.add_argument("--places", default="L1,L2", help="of L1,L2,L3,memory; all")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="about one variant of N, always the same")
    parser.add_argument("--times", metavar="FILE")
    parser.add_argument("--models", metavar="FILE")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="each variant is timed so often, in turn")
    parser.add_argument("--seconds", type=float, default=0.3, help="of each time, at most")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="models that run at a time")
    parser.add_argument("names", nargs="*", metavar="NAME", help="KERNEL, @WAY or KERNEL@WAY")


def selected(o, whole=False):
    """What the options ask for; a sample is of variants, or of kernels and places with all ways of each."""
    places = PLACES if o.places == "all" else o.places.split(",")
    if set(places) - set(PLACES):
        sys.exit(f"there is no place {sorted(set(places) - set(PLACES))[0]}; it is one of {', '.join(PLACES)}")
    everything = variants()
    for name in o.names:
        if not any(is_called(v, name) for v in everything):
            sys.exit(f"there is no kernel {name}, see {SUITE} list")
    return [v for v in everything if v.place in places and
            zlib.crc32(f"{v.kernel} {v.place}".encode() if whole else v.key.encode()) % o.every == 0 and
            (not o.names or any(is_called(v, name) for name in o.names))]


def is_called(v, name):
    return name in (v.name, v.kernel, "@" + v.way)


class Kept:
    """A file of figures by name; without a path it is forgotten in the end."""

    def __init__(self, path):
        self.path, self.of = path, {}
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                self.of = json.load(f)

    def put(self, key, what):
        self.of[key] = what
        if not self.path:
            return
        with open(self.path + ".new", "w", encoding="utf-8") as f:
            json.dump(self.of, f, indent=0, sort_keys=True)
        os.replace(self.path + ".new", self.path)


# Times.

# A round counts if at least so many of its samples do, and is tried so often until it does.
SAMPLES, TRIES = 5, 4


def time_once(v, seconds, rounds):
    words = kernel_runs.run(SUITE, "time", v.name, str(v.bytes), str(seconds), str(rounds)).split()
    return {"least": float(words[3]), "median": float(words[4]), "kept": int(words[5]), "taken": int(words[6]),
            "a_cycle": float(words[7])}


def time_all(chosen, kept, rounds, seconds):
    """Cycles a pass. One variant after the other, and that in rounds, so that what disturbs the machine for a while
    does not meet all of what is known of one. On many machines a core has two threads, and the other one is somebody
    else's: what was timed beside it is what a half of the core takes. So the most rounds a cycle that the probe ever
    went are what it is to go beside all others, and what was timed beside fewer is timed again, some times."""
    most = max((r.get("a_cycle", 0) for known in kept.of.values() for r in known["rounds"]), default=0)
    for number in range(rounds):
        for i, v in enumerate(chosen):
            known = kept.of.get(v.key, {})
            if known.get("code") != v.code or known.get("bytes") != v.bytes:
                known = {"code": v.code, "bytes": v.bytes, "rounds": []}
            tries = 0
            while sum(counts(r, most) for r in known["rounds"]) <= number and tries < TRIES and \
                    len(known["rounds"]) < TRIES * rounds:
                say(f"timing, round {number + 1} of {rounds}", i, len(chosen))
                known["rounds"].append(time_once(v, seconds, most))
                most = max(most, known["rounds"][-1]["a_cycle"])
                tries += 1
                kept.put(v.key, known)
    return {v.key: best_time(v, kept.of[v.key]["rounds"], most) for v in chosen}


def counts(r, most):
    return r["kept"] >= SAMPLES and r.get("a_cycle", 0) >= 0.9 * most


def best_time(v, rounds, most):
    """The least of what was undisturbed, where there is such. A pass that is a part of the steps is another part each
    time, and the least of those might be of the easiest part: there it is the least median. Where the clock itself was
    stopped, which is seen now and then, a round has hardly any samples that count, or one far below its median."""
    alone = [r for r in rounds if counts(r, most)]
    calm = alone or [r for r in rounds if r["kept"]] or rounds
    median = min(r["median"] for r in calm)
    least = min([r["least"] for r in calm if r["least"] >= 0.9 * median] + [median])
    return {"cycles": least if v.steps >= v.n // 2 else median, "undisturbed": sum(r["kept"] for r in alone),
            "spread": median / least - 1}


def say(what, i, n):
    if sys.stderr.isatty():
        print(f"\r{what}: {i + 1} of {n}\033[K", end="" if i + 1 < n else "\n", file=sys.stderr, flush=True)


# Models.

def table_digest(table):
    return hashlib.sha256(kernel_runs.run(kernel_runs.PROGRAM, "uarch", "show", table).encode()).hexdigest()[:16]


def traced_run(v, passes, *options):
    with tempfile.TemporaryDirectory(prefix="gusprof-suite-") as folder:
        report = os.path.join(folder, "report")
        kernel_runs.run(kernel_runs.PROGRAM, "model", "--format", "json", "--rows", "10000", "-o", report, *options,
                        "--trace-options", f"range={v.start:x}-{v.end:x}", "--", SUITE, "run", v.name, str(v.bytes),
                        str(passes))
        with open(report, encoding="utf-8") as f:
            return json.load(f)


def passes_of(v, table, kept):
    """Passes of the warm-up, instructions of these, and passes that count: of any table the same."""
    known = kept.of.get(f"passes {v.key}")
    if known and [known[k] for k in ("code", "bytes", "aim")] == [v.code, v.bytes, WARM_UP]:
        return known
    count = traced_run(v, 1, "--uarch", table, "--lanes", "none", "--engine", "stream")["instructions"]
    known = {"code": v.code, "bytes": v.bytes, "aim": WARM_UP, "counted": max(1, -(-COUNTED // count)),
             "warm_up": max(1, -(-WARM_UP // count)), "instructions": count}
    if known["warm_up"] > 1:
        known["instructions"] = traced_run(v, known["warm_up"], "--uarch", table, "--lanes", "none", "--engine",
                                           "stream")["instructions"]
    return known


def hot_loop(document):
    """The region of a loop with the most cycles: its instructions that most rounds execute."""
    loops = [r for r in document["regions"] if r["loop"] is not None]
    if not loops:
        return None
    region = max(loops, key=lambda r: r["cycles"])
    executed = {}
    for row in region["rows"]:
        executed[row["address"]] = executed.get(row["address"], 0) + row["executed"]
    most = max(executed.values(), default=0)
    return {"loop": region["loop"], "share": region["cycles"] / document["cycles"],
            "instructions": region["instructions"] / document["instructions"],
            "addresses": sorted(a for a, n in executed.items() if 2 * n > most)}


def model(v, table, kept):
    """Cycles, instructions and what else is known of a pass in caches and predictors that know the kernel."""
    passes = passes_of(v, table, kept)
    d = traced_run(v, passes["warm_up"] + passes["counted"], "--uarch", table, "--engine", "core", "--warm-up",
                   str(passes["instructions"]))
    n = passes["counted"]
    error = d["expected_error"] or {}
    return passes, {
        "stream": d["cycles"] / n, "core": d["core_cycles"] and d["core_cycles"] / n,
        "instructions": d["instructions"] / n,
        "saved": {k: s / n for k, s in kernel_runs.sensitivity_cycles(d).items()},
        "hits": {m: d["memory"][m] / n for m in PLACES}, "walks": d["memory"]["page_walks"] / n,
        "mispredicted": d["branches"]["mispredicted"] / n, "branches": d["branches"]["executed"] / n,
        "coverage": d["coverage"], "told": error.get("p90_pct"), "hot": hot_loop(d),
    }


def model_all(chosen, tables, kept, jobs):
    """By table and variant."""
    digests = {t: table_digest(t) for t in tables}
    found, todo = {t: {} for t in tables}, []
    for t in tables:
        for v in chosen:
            known = kept.of.get(f"{t} {v.key}")
            if known and [known[k] for k in ("code", "bytes", "table")] == [v.code, v.bytes, digests[t]]:
                found[t][v.key] = known
            else:
                todo.append((t, v))
    with concurrent.futures.ThreadPoolExecutor(max(1, jobs)) as pool:
        running = {pool.submit(model, v, t, kept): (t, v) for t, v in todo}
        try:
            for i, done in enumerate(concurrent.futures.as_completed(running)):
                t, v = running[done]
                say("modelling", i, len(todo))
                passes, figures = done.result()
                kept.of[f"passes {v.key}"] = passes
                found[t][v.key] = {"code": v.code, "bytes": v.bytes, "table": digests[t], **figures}
                kept.put(f"{t} {v.key}", found[t][v.key])
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return found, len(todo)


# llvm-mca.

INSN = re.compile(r"\t(.+?)\s*# encoding: \[([0-9a-fxA,]+)\]")


def newest_llvm():
    """Folder of the newest llvm-mca, and its version; None if there is none."""
    folders = [f for f in os.environ.get("PATH", "").split(":") if os.access(os.path.join(f, "llvm-mca"), os.X_OK)]
    if os.path.isdir("/usr/lib"):
        folders += [f"/usr/lib/{d}/bin" for d in os.listdir("/usr/lib")
                    if re.fullmatch(r"llvm-\d+", d) and os.path.exists(f"/usr/lib/{d}/bin/llvm-mca")]
    found = []
    for folder in folders:
        text = kernel_runs.run(os.path.join(folder, "llvm-mca"), "--version")
        version = re.search(r"version (\d+)\.(\d+)\.(\d+)", text)
        if version and os.access(os.path.join(folder, "llvm-mc"), os.X_OK):
            found.append((tuple(map(int, version.groups())), folder))
    return (max(found)[1], ".".join(map(str, max(found)[0]))) if found else None


def loop_text(llvm, image, addresses):
    """The instructions at these addresses, as llvm-mc prints them."""
    code = image.read(addresses[0], addresses[-1] + 16)
    given = " ".join(f"0x{byte:02x}" for byte in code)
    with tempfile.NamedTemporaryFile("w", prefix="gusprof-suite-") as f:
        f.write(given)
        f.flush()
        # Its exit status is that of the last bytes, which may be half of an instruction that is not asked for.
        lines = kernel_runs.run("sh", "-c", '"$0" --disassemble -triple=x86_64 -show-encoding "$1" 2>/dev/null || :',
                                os.path.join(llvm, "llvm-mc"), f.name).splitlines()
    at, wanted, text = addresses[0], set(addresses), []
    for line in lines:
        found = INSN.match(line)
        if found:
            if at in wanted:
                text.append(found.group(1))
            at += len(found.group(2).split(","))
    return text if len(text) == len(addresses) else None


def mca(llvm, cpu, image, hot):
    """Cycles an instruction of the hot loop, or None where llvm-mca does not take it."""
    text = hot and loop_text(llvm, image, hot["addresses"])
    if not text:
        return None
    with tempfile.NamedTemporaryFile("w", prefix="gusprof-suite-", suffix=".s") as f:
        f.write("\n".join(text) + "\n")
        f.flush()
        shown = kernel_runs.run("sh", "-c", '"$0" "-mcpu=$1" -iterations=200 "$2" 2>/dev/null || :',
                                os.path.join(llvm, "llvm-mca"), cpu, f.name)
    found = re.search(r"^Total Cycles:\s+(\d+)", shown, re.M)
    return int(found.group(1)) / 200 / len(text) if found else None
