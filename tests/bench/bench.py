# SPDX-License-Identifier: MIT
"""What the scripts of this folder share: where the program is, running things, statistics."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
GUSPROF = os.path.abspath(os.environ.get("GUSPROF", os.path.join(TOP, "build", "gusprof")))
DEMO = os.path.abspath(os.environ.get("GUS_DEMO", os.path.join(os.path.dirname(GUSPROF), "contrib", "demo", "demo")))


def need(*programs):
    """Ends with 77, as a skipped test does, if a program is missing."""
    for program in programs:
        if subprocess.run(["sh", "-c", 'command -v "$1"', "sh", program], stdout=subprocess.DEVNULL).returncode:
            print(f"skipped: {program} was not found")
            sys.exit(77)


def run(argv, **more):
    """Runs to the end; standard output is returned as text. A failure ends the script with what was said."""
    more.setdefault("stdout", subprocess.PIPE)
    done = subprocess.run(argv, stderr=subprocess.PIPE, **more)
    if done.returncode:
        sys.exit(f"{' '.join(argv)}: exit status {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return done.stdout.decode(errors="replace") if done.stdout is not None else ""


def report(data, *options):
    """The report of a recording as an object."""
    return json.loads(run([GUSPROF, "report", "-i", data, "--format", "json", *options]))


def compile_workload(folder, source, compiler, *options):
    program = os.path.join(folder, os.path.splitext(source)[0])
    run([compiler, "-O2", "-g", *options, "-o", program, os.path.join(HERE, "workloads", source)])
    return program


def folder():
    """A folder for what a script makes; it goes away with the object."""
    return tempfile.TemporaryDirectory(prefix="gusprof-bench-", dir=os.environ.get("TMPDIR"))


def machine():
    """One line that says what the figures were measured on."""
    model = "unknown CPU"
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    u = os.uname()
    return f"{model}, {os.cpu_count()} CPUs, {u.sysname} {u.release} {u.machine}"


def mean(values):
    return sum(values) / len(values)


def deviation(values):
    m = mean(values)
    return math.sqrt(sum((v - m) ** 2 for v in values) / (len(values) - 1))


def interval(values, draws=4000, seed=1):
    """Mean and its 95 % interval. The wider of Student's and the bootstrap's: CPU times have a long right tail, which
    the first takes for noise and the second for news."""
    n, m = len(values), mean(values)
    half = student(n - 1) * deviation(values) / math.sqrt(n)
    rng = random.Random(seed)
    means = sorted(mean(rng.choices(values, k=n)) for _ in range(draws))
    low, high = means[int(draws * 0.025)], means[int(draws * 0.975)]
    return m, min(m - half, low), max(m + half, high)


def student(df):
    """The 97.5 % point of Student's t, by the expansion of Cornish and Fisher around the normal one; good to 1 % from
    4 degrees of freedom on."""
    z = 1.959964
    return (z + (z ** 3 + z) / (4 * df) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * df ** 2)
            + (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * df ** 3))
