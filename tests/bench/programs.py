# SPDX-License-Identifier: MIT
"""Ten programs that are traced, of some ten to hundred million instructions each: the five that
tests/bench/traced-against-cachegrind times, and five more for tests/accuracy/lanes."""
import os
import random
import shutil
import sys

import bench

GEMM = r"""
enum { N = 192 };
static float a[N][N], b[N][N], c[N][N];
int main(void)
{
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			a[i][k] = (float)(i + k), b[i][k] = (float)(i - k);
	for (int t = 0; t < 12; t++)
		for (int i = 0; i < N; i++)
			for (int k = 0; k < N; k++)
				for (int j = 0; j < N; j++)
					c[i][j] += a[i][k] * b[k][j];
	return c[3][5] == 0;
}
"""
CONTAINERS = r"""
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>
int main()
{
	std::map<std::string, unsigned> words;
	std::unordered_map<unsigned, unsigned> counts;
	std::vector<unsigned> sorted;
	unsigned state = 1, sum = 0;

	for (unsigned i = 0; i < 120000; i++) {
		state = state * 1664525u + 1013904223u;
		words["w" + std::to_string(state >> 20)] += i;
		counts[state >> 16]++;
		sorted.push_back(state);
	}
	std::sort(sorted.begin(), sorted.end());
	for (auto &w : words)
		sum += w.second;
	for (auto &c : counts)
		sum ^= c.second * c.first;
	std::printf("%u %u\n", sum, sorted[7]);
}
"""
SCRIPT = """
words = {}
for i in range(60000):
	key = "k%d" % (i * 7919 % 5003)
	words[key] = words.get(key, 0) + i
print(sum(v for k, v in sorted(words.items()) if k.endswith("7")))
"""
QUERIES = ("create table t(a integer, b text, c real);"
           " with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)"
           " insert into t select i, 'row ' || (i * 7919 % 10007), i * 0.5 from n; create index x on t(b);"
           " select count(*), sum(c) from t where b like '%7%';"
           " select b, sum(a) s from t group by b order by s desc limit 3;")
PERL = 'my %h; for my $i (1..60000) { $h{"k".($i * 7919 % 5003)} .= chr(65 + $i % 26); } ' \
       'my $n = 0; for (sort keys %h) { $n++ while $h{$_} =~ /[AEIOU]B?/g } print "$n\\n"'
AWK = '{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) if (n[w] > m) m = n[w]; print m }'


def words(folder, size=1000000):
    """Text that compresses about as text does, the same each time, in lines of ten words."""
    rng = random.Random(1)
    known = ["".join(rng.choice("etaoinshrdlu") for _ in range(rng.randint(2, 9))) for _ in range(4000)]
    path = os.path.join(folder, f"words-{size}")
    with open(path, "w", encoding="ascii") as f:
        written = n = 0
        while written < size:
            n += 1
            written += f.write(known[min(int(rng.expovariate(1 / 600)), 3999)] + (" " if n % 10 else "\n"))
    return path


def compiled(folder, compiler, name, text, *options):
    path = os.path.join(folder, name)
    command = os.environ.get({"gcc": "CC", "g++": "CXX"}[compiler], compiler).split()
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    bench.run([*command, *options, "-o", path + ".out", path])
    return path + ".out"


def made(program, *arguments):
    return lambda folder: [shutil.which(program), *arguments] if shutil.which(program) else None


# By name: what makes the command in a folder; None if a program or compiler for it is missing.
TIMED = {
    "gzip": lambda d: [shutil.which("gzip"), "-9", "-c", words(d)],
    "sqlite3": made("sqlite3", ":memory:", QUERIES),
    "python3": lambda d: [os.path.realpath(sys.executable), "-S", "-E", "-c", SCRIPT],
    "c++": lambda d: [compiled(d, "g++", "containers.cpp", CONTAINERS, "-O2")] if shutil.which("g++") else None,
    "matrix": lambda d: [compiled(d, "gcc", "gemm.c", GEMM, "-O3", "-ffast-math", "-mavx2", "-mfma")],
}
MORE = {
    "bzip2": lambda d: [shutil.which("bzip2"), "-k", "-c", words(d, 200000)] if shutil.which("bzip2") else None,
    "xz": lambda d: [shutil.which("xz"), "-1", "-T1", "-c", words(d, 300000)] if shutil.which("xz") else None,
    "perl": made("perl", "-e", PERL),
    "awk": lambda d: [os.path.realpath(shutil.which("awk")), AWK, words(d)] if shutil.which("awk") else None,
    "sort": lambda d: [shutil.which("sort"), words(d)],
}


def commands(names, folder):
    """(name, command) of each; those that cannot be made are said."""
    for name in names:
        command = {**TIMED, **MORE}[name](folder)
        if command:
            yield name, command
        else:
            print(f"{name}: not run, a program or compiler for it is missing")
