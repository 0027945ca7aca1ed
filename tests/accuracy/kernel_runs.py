# SPDX-License-Identifier: MIT
"""The kernels of tests/kernels, timed here and traced: what kernels-time and whatif have in common.

A traced run is of the kernel's own code (ranges by its symbols). The cycles of 2 N passes less those of N are N passes
in caches and predictors that know the kernel, as they are in what is timed.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

BUILD = os.environ.get("GUS_BUILDDIR", "build")
PROGRAM = os.environ.get("GUSPROF", os.path.join(BUILD, "gusprof"))
KERNEL = os.environ.get("GUS_KERNEL", os.path.join(BUILD, "tests/kernels/kernel"))
# Instructions that are traced of a kernel, about, beyond those of its first pass.
INSTRUCTIONS = 100000


class Skipped(Exception):
    """What was missing on this machine."""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 77:
        raise Skipped(done.stdout.strip().splitlines()[-1])
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def check(uarch):
    """Raises Skipped where the kernels cannot be traced or there is no table of this machine."""
    if not shutil.which("qemu-x86_64"):
        raise Skipped("skipped: qemu-x86_64 is not installed (package qemu-user)")
    if uarch == "host" and "this machine's CPU" not in run(PROGRAM, "uarch", "list"):
        raise Skipped("skipped: there is no table of this machine's CPU; name one with --uarch")


def turns():
    """Name to turns of a pass, in the kernel's order."""
    return {w[0]: int(w[1]) for w in (line.split() for line in run(KERNEL, "--list").splitlines())}


def timed(names):
    """Name to cycles a turn (least, median), samples that count and all samples."""
    found = {}
    for line in run(KERNEL, "--time", *names).splitlines():
        name, least, median, kept, taken, _ = line.split()
        found[name] = {"least": float(least), "median": float(median), "kept": int(kept), "taken": int(taken)}
    return found


def ranges():
    """Name to the words that make the tracer look at the kernel's functions and at nothing else."""
    found = {}
    for line in run("nm", "-S", KERNEL).splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tT" and words[3].startswith("kernel_"):
            name = words[3].removeprefix("kernel_").split("__")[0].split(".")[0]
            found.setdefault(name, []).append(
                f"range={int(words[0], 16):x}-{int(words[0], 16) + int(words[1], 16):x}")
    return {name: ",".join(sorted(r)) for name, r in found.items()}


def traced_run(uarch, options, where, name, passes):
    with tempfile.TemporaryDirectory(prefix="gusprof-kernels-") as folder:
        report = os.path.join(folder, "report")
        run(PROGRAM, "model", "--uarch", uarch, "--format", "json", "--rows", "10000", "-o", report, *options,
            "--trace-options", where, "--", KERNEL, name, str(passes))
        with open(report, encoding="utf-8") as f:
            return json.load(f)


def sensitivity_cycles(document):
    """Knob to the cycles that more of it would save."""
    return {k: document["cycles"] - document["cycles"] / (1 + v)
            for k, v in (document["sensitivity"] or {}).items() if v is not None}


def traced(uarch, where, name, turns_of_pass, options=()):
    """Cycles and instructions a turn, and by knob the share of the cycles that more of it would save."""
    first = traced_run(uarch, options, where, name, 1)
    passes = max(1, min(2000, INSTRUCTIONS // max(1, first["instructions"] // 2)))
    few, many = (traced_run(uarch, options, where, name, n) for n in (passes, 2 * passes))
    cycles = many["cycles"] - few["cycles"]
    core = [d.get("core_cycles") for d in (few, many)]
    saved, before = sensitivity_cycles(many), sensitivity_cycles(few)
    return {
        "cycles": cycles / passes / turns_of_pass,
        "core": (core[1] - core[0]) / passes / turns_of_pass if None not in core else None,
        "instructions": (many["instructions"] - few["instructions"]) / passes / turns_of_pass,
        "knobs": {k: (v - before.get(k, 0)) / cycles for k, v in saved.items()},
        "l1_misses": sum(many["memory"][m] - few["memory"][m] for m in ("L2", "L3", "memory")) / passes / turns_of_pass,
        "mispredicted": (many["branches"]["mispredicted"] - few["branches"]["mispredicted"]) / passes / turns_of_pass,
    }


def best(knobs, n=1):
    """The knobs that save the most, with what they save."""
    return sorted(knobs.items(), key=lambda k: (-k[1], k[0]))[:n]


def tau(pairs):
    """Kendall's, of pairs of numbers; ties count for neither."""
    same = other = 0
    for i, (a, b) in enumerate(pairs):
        for c, d in pairs[:i]:
            sign = (a - c) * (b - d)
            same += sign > 0
            other += sign < 0
    return (same - other) / max(1, len(pairs) * (len(pairs) - 1) / 2)
