#!/bin/bash
# SPDX-License-Identifier: MIT
# Recordings that are cut, corrupt, foreign or newer: report and dump say so and never crash. A quick selection; every
# cut of 64 KiB and 2,000 flips are tests/bench/truncate-flip.
: "${GUS_DEMO:?}"
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip "python3 is not installed"
if ! "$GUSPROF" record -q -F 1000 -- "$GUS_DEMO" 1 >out 2>err; then
	skip "cannot record here: $(head -1 err)"
fi

cat >damage.py <<'P'
import os, random, subprocess, sys
prog = os.environ["GUSPROF"]
whole = open("gusprof.data", "rb").read()
size = len(whole)
random.seed(1)

def run(name, data):
    open("damaged.data", "wb").write(data)
    results = [subprocess.run([prog, verb, "damaged.data"], capture_output=True, text=True, errors="replace")
               for verb in ("report", "dump")]
    for r in results:
        assert 0 <= r.returncode < 126, (name, r.returncode, r.stderr[-500:])
        assert "was cut" in r.stdout + r.stderr or "is corrupt" in r.stdout + r.stderr or \
               "not a gusprof recording" in r.stderr, (name, r.stdout[:300], r.stderr[:300])
    return results

for n in sorted({0, 1, 7, 8, 23, 24, 25, 63, 64, size - 1, size - 24, size - 25} |
                {random.randrange(size) for _ in range(40)}):
    run("cut at %d of %d" % (n, size), whole[:n])
print("ok: cuts are told")
for n in [8, 12, 16, 24, 28, 64, size - 1, size - 24] + [random.randrange(size) for _ in range(40)]:
    run("flip at %d" % n, whole[:n] + bytes([whole[n] ^ 1 << random.randrange(8)]) + whole[n + 1:])
print("ok: flips are told")
P
python3 damage.py || problem "damaged recordings"

printf '\x89GUS\r\n\x1a\n\x02\x00\x00\x00\x00\x00\x00\x00' >newer.data
python3 - <<'P' || exit 1
# XXH64 of 16 bytes, from the algorithm's specification, to seal a preamble of version 2.
M = (1 << 64) - 1
P1, P2, P3, P4, P5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
rot = lambda x, r: ((x << r) | (x >> (64 - r))) & M
data = open("newer.data", "rb").read()
h = (P5 + len(data)) & M
for i in (0, 8):
    k = int.from_bytes(data[i:i + 8], "little")
    k = rot(k * P2 & M, 31) * P1 & M
    h = (rot(h ^ k, 27) * P1 + P4) & M
for shift, mul in ((33, P2), (29, P3), (32, None)):
    h ^= h >> shift
    h = h * mul & M if mul else h
open("newer.data", "ab").write(h.to_bytes(8, "little"))
P
"$GUSPROF" report newer.data >out 2>err
if [ $? = 125 ] && grep -q "format version 2.0" err; then
	echo "ok: a newer version is refused as such"
else
	problem "newer version"; cat err
fi
echo "PERFILE2 and so on" >foreign.data
"$GUSPROF" report foreign.data >out 2>err
if [ $? = 125 ] && grep -q "not a gusprof recording" err; then
	echo "ok: a foreign file is refused as such"
else
	problem "foreign"; cat err
fi
exit $failed
