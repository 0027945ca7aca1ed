# SPDX-License-Identifier: MIT
# Checks a document of gusprof report --topdown --format json: parts add up to the total, event by event and in time,
# and the first level of each to one. Prints a line a kind of cores: PMU, evidence, parts, counts, shares.
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    document = json.load(f)
assert document["schema"] == "gusprof.topdown/1"
for kind in document["kinds"]:
    total, parts = kind["total"], kind["parts"]
    for event, count in total["counts"].items():
        assert sum(p["counts"][event] for p in parts) == count, (event, count)
    assert sum(p["readings"] for p in parts) == total["readings"] > 0
    assert abs(sum(p["share_of_slots"] for p in parts) - 1) < 1e-6
    for part in parts + [total]:
        known = [n for n in part["nodes"] if n["level"] == 1 and n["unit"] == "slots"]
        assert known and abs(sum(n["share"] for n in known) + part["slots"]["left"] - 1) < 1e-6, part["slots"]
    for before, after in zip(parts, parts[1:]):
        assert document["by"] != "time" or before["to_ns"] == after["from_ns"]
    first = {n["name"]: n["share"] for n in total["nodes"] if n["level"] == 1}
    print(kind["pmu"], kind["evidence"], f"parts={len(parts)}",
          " ".join(f"{e}={c}" for e, c in sorted(total["counts"].items()) if e != "cycles"),
          " ".join(f"{name}={share:.3f}" for name, share in first.items()))
