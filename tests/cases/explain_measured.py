# SPDX-License-Identifier: MIT
# Recordings of perf's for explain-measured.sh, from byte vectors, and what explain has to say of them.
#
#	explain_measured.py make FILE PROGRAM KIND [FUNCTION=ADDRESS...]
#	explain_measured.py check JSON FIRST SECOND
#
# A Sapphire Rapids counts `perf record -e '{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,
# topdown-be-bound}:S'`, 400 samples of 10 ms. Each brings along what its group has counted so far, of 100000 slots more
# than the one before: three of four are in the first function, the fourth is in the second. KIND: plain; other, whose
# CPU no table knows; flat, where all functions have as many samples; lossy, where the kernel lost and paused.
import json
import struct
import sys

from perfdata import FORMAT_ENABLED, FORMAT_GROUP, FORMAT_ID, FORMAT_RUNNING, IDENTIFIER, IP, PERIOD, READ, TID, TIME, \
    Made

SAMPLES, SLOTS = 400, 100000
# Events of perf's names for the group: event and umask, and of 100000 slots how many in the first and the second.
EVENTS = [("slots", 0x400, SLOTS, SLOTS), ("topdown-retiring", 0x8000, 40000, 10000),
          ("topdown-bad-spec", 0x8100, 10000, 6000), ("topdown-fe-bound", 0x8200, 20000, 4000),
          ("topdown-be-bound", 0x8300, 30000, 80000)]
NODES = ["retiring", "bad_speculation", "frontend_bound", "backend_bound"]
FIRST, SECOND = (dict(zip(NODES, shares)) for shares in ((0.4, 0.1, 0.2, 0.3), (0.1, 0.06, 0.04, 0.8)))
WHOLE = {node: 0.75 * FIRST[node] + 0.25 * SECOND[node] for node in NODES}


def code_of(elf):
    """Address, offset and size of the first segment that is executed."""
    at, = struct.unpack_from("<Q", elf, 32)
    size, n = struct.unpack_from("<HH", elf, 54)
    for i in range(n):
        kind, flags, offset, address, _, length = struct.unpack_from("<IIQQQQ", elf, at + i * size)
        if kind == 1 and flags & 1:
            return address, offset, length
    raise SystemExit("the program has no code")


def build_id_of(elf):
    """By which files of other machines are known."""
    note = elf.index(struct.pack("<III4s", 4, 20, 3, b"GNU"))
    return elf[note + 16:note + 36]


def make(path, program, kind, functions):
    m = Made()
    group = FORMAT_GROUP | FORMAT_ID | FORMAT_ENABLED | FORMAT_RUNNING
    made = [m.event(name, IDENTIFIER | IP | TID | TIME | READ | PERIOD, type=4, config=config, ids=[10 + i],
                    period=SLOTS, read_format=group, sample_id_all=1, mmap=1, comm=1, exclude_kernel=1)
            for i, (name, config, *_) in enumerate(EVENTS)]
    with open(program, "rb") as f:
        elf = f.read()
    address, offset, length = code_of(elf)
    m.comm(100, 100, "it", time=1, exec=True)
    m.mmap2(100, address, length, offset, program, build_id=build_id_of(elf), time=2)
    if kind == "lossy":
        m.lost(10, 123, time=3)
        m.throttle(10, 4)
    sums, places, time = [0] * len(EVENTS), list(functions.values()), 10
    for i in range(SAMPLES):
        which = i % len(places) if kind == "flat" else int(i % 4 == 3)
        sums = [s + counts[min(which, 1)] for s, (_, _, *counts) in zip(sums, EVENTS)]
        time += 10 ** 7
        m.sample(made[0], ip=places[which], pid=100, tid=100, time=time, period=SLOTS, identifier=10,
                 read=[len(sums), time, time] + [w for k, s in enumerate(sums) for w in (s, 10 + k)])
    m.all_features()
    m.feature("cpuid", m.string("GenuineIntel,6,1,1" if kind == "other" else "GenuineIntel,6,143,8"))
    with open(path, "wb") as f:
        f.write(m.file())


def near(a, b):
    return a is not None and abs(a - b) < 1e-9


def check(path, *functions):
    with open(path) as f:
        doc = json.load(f)
    assert doc["schema"] == "gusprof.explain/1" and doc["samples"] == SAMPLES and doc["covered"] == 0, doc
    whole, = doc["topdown_measured"]
    assert whole["evidence"] == "measured" and whole["readings"] == SAMPLES, whole
    assert near(whole["counted_slots"], SAMPLES * SLOTS), whole
    shares = {n["name"]: n["share"] for n in whole["nodes"]}
    assert set(shares) == set(NODES) and all(near(shares[n], WHOLE[n]) for n in NODES), shares
    assert [r["function"] for r in doc["regions"]] == list(functions), doc["regions"]
    for r, top, samples in zip(doc["regions"], (FIRST, SECOND), (SAMPLES * 3 // 4, SAMPLES // 4)):
        assert r["topdown_evidence"] == "measured", r
        for node, share in r["topdown"].items(): # what the bytes do not hold is no 0
            assert near(share, top[node]) if node in NODES else share is None, (node, share)
        by = r["topdown_measured"]
        assert by["readings"] == r["samples"] == samples, by
        assert all(by["ci95"][n][0] - 1e-9 <= r["topdown"][n] <= by["ci95"][n][1] + 1e-9 for n in NODES), by
        assert all(v is None for v in by["modelled"].values()), by
        assert r["verdict"] is None and "nothing was modelled" in r["withheld"], r
        assert all(c["speedup"] is None and c["ci95"] is None for c in r["causal"]), r
        labels = {c["node"]: c["label"] for c in r["causal"] if c["label"]}
        assert labels == {n: "not resolvable" for n in NODES if r["topdown"][n] >= 0.05}, labels
    assert near(sum(r["share"] for r in doc["regions"]), 1) and near(doc["explained"], 1)
    assert [q["what"] for q in doc["quality"]] == ["no_model"], doc["quality"]


if sys.argv[1] == "make":
    pairs = [pair.split("=") for pair in sys.argv[5:]]
    make(sys.argv[2], sys.argv[3], sys.argv[4], {name: int(at, 16) for name, at in pairs})
else:
    check(*sys.argv[2:])
