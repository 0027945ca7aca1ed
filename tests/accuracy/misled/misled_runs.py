# SPDX-License-Identifier: MIT
"""What check and on-a-pmu have in common: the list of docs/misled.md, and how a top-down tree is read."""
import collections
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("GUS_BUILDDIR", os.path.join(TOP, "build"))
GUSPROF = os.environ.get("GUSPROF", os.path.join(BUILD, "gusprof"))
MISLED = os.path.join(BUILD, "tests/accuracy/misled/misled")
LEAST_PART = 0.10       # of the slots: a part that is told
PARENTS = {
    "fetch_latency": "frontend_bound", "fetch_bandwidth": "frontend_bound",
    "branch_mispredicts": "bad_speculation", "machine_clears": "bad_speculation",
    "memory_bound": "backend_bound", "core_bound": "backend_bound",
    "l1_bound": "memory_bound", "l2_bound": "memory_bound", "l3_bound": "memory_bound", "dram_bound": "memory_bound",
    "store_bound": "memory_bound",
    "divider": "core_bound", "serialising": "core_bound", "ports_utilization": "core_bound",
}
LEVEL_1 = ("frontend_bound", "bad_speculation", "backend_bound", "retiring")

Subject = collections.namedtuple("Subject", "entry program way right holds")


class Skipped(Exception):
    """What was missing on this machine."""


def subjects():
    """The rows of docs/misled.md, a subject for each program of an entry."""
    found = []
    with open(os.path.join(TOP, "docs/misled.md"), encoding="utf-8") as f:
        rows = [[c.strip() for c in line.strip().strip("|").split("|")] for line in f if re.match(r"\| \d", line)]
    for entry, programs, right, holds in rows:
        each = programs.split(", ")
        rights, holders = right.split("; "), holds.split(";")
        for i, program in enumerate(each):
            name, way = program.split()
            found.append(Subject(entry, name, way, rights[min(i, len(rights) - 1)].split(),
                                 holders[min(i, len(holders) - 1)].strip()))
    return found


def check_programs():
    if not os.access(MISLED, os.X_OK):
        raise Skipped("skipped: the programs are for x86-64, and made by make tests/accuracy/misled/misled")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 77:
        raise Skipped(done.stdout.strip().splitlines()[-1])
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def told(topdown):
    """What plain top-down names, of shares by node; None: nothing."""
    node = max(LEVEL_1, key=lambda n: topdown.get(n, 0))
    if node == "retiring":
        return None
    first = node
    while True:
        parts = [n for n, parent in PARENTS.items() if parent == node]
        largest = max(parts, key=lambda n: topdown.get(n, 0), default=None)
        if largest is None or topdown.get(largest, 0) < LEAST_PART:
            return node if node != first else None
        node = largest


def tree_says(tree, subject):
    """Whether what the tree names is right, only holds what is, or is wrong; or it is silent."""
    return "silent" if tree is None else "right" if tree in subject.right else \
        "holds" if tree == subject.holds else "wrong"


def chosen(words):
    """The subjects whose program or entry is among the words; all if there are none."""
    return [s for s in subjects() if not words or any(w in (s.program, s.entry.split()[1]) for w in words)]
