#!/bin/sh
# SPDX-License-Identifier: MIT
# Pathologies of whole programs: two programs of the same four functions, in one of which each has something wrong that
# explain is to name, with a place and a cost, and in the other has not; a program that lives in the runtime of OpenMP;
# and the table of all rows, beside the document that has it.
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || { echo "the table is taken for a machine of x86-64"; exit 77; }
shown='err out'

cat >sick.c <<'P'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define N 4096
static double numbers[N];
enum { ALL = 1 << 15 }; /* 128 KiB */
static uint32_t next[ALL], order[ALL];
static union { uint32_t half[2]; uint64_t whole; } pair;
static double until;
static double now(void) { return (double)clock() / CLOCKS_PER_SEC; }

__attribute__((noinline)) double sum(int n)
{
	double s[4] = { 0 };

	while (n--)
#ifdef WELL
		for (int i = 0; i < N; i += 16)
			for (int k = 0; k < 16; k += 8)
				__asm__ volatile("addsd (%0), %%xmm0\naddsd 8(%0), %%xmm1\naddsd 16(%0), %%xmm2\n"
						 "addsd 24(%0), %%xmm3\naddsd 32(%0), %%xmm4\naddsd 40(%0), %%xmm5\n"
						 "addsd 48(%0), %%xmm6\naddsd 56(%0), %%xmm7" :: "r"(&numbers[i + k]) :
						 "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
#else
		for (int i = 0; i < N; i++)
			s[0] += numbers[i];
#endif
	return s[0] + s[1];
}

__attribute__((noinline)) uint32_t walk(int n)
{
	uint32_t at = 0;

	while (n--)
#ifdef WELL
		at += next[n & 1023];
#else
		at = next[at];
#endif
	return at;
}

__attribute__((noinline)) uint64_t put(int n)
{
	volatile uint32_t *half = pair.half;
	volatile uint64_t *whole = &pair.whole;
	uint64_t s = 1;

	while (n--) {
#ifdef WELL
		*whole = s;
#else
		half[0] = (uint32_t)s;
		half[1] = 1;
#endif
		s = *whole + 1;
	}
	return s;
}

__attribute__((noinline)) uint64_t choose(int n)
{
	uint64_t s = 0, seed = 1;

	while (n--) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
#ifdef WELL
		if (seed >> 33 != 1)
#else
		if (seed >> 40 & 1)
#endif
			__asm__ volatile("add $1, %0" : "+r"(s));
	}
	return s;
}

int main(void)
{
	double s = 0;

	for (int i = 0; i < N; i++)
		numbers[i] = clock();
	for (uint32_t i = 0; i < ALL; i++)
		order[i] = i;
	srand(1);
	for (uint32_t i = ALL - 1; i > 0; i--) {
		uint32_t k = (uint32_t)rand() % i, t = order[i];

		order[i] = order[k];
		order[k] = t;
	}
	for (uint32_t i = 0; i < ALL; i++)
		next[order[i]] = order[(i + 1) % ALL];
	for (int f = 0, round = 0; round < 64; f = ++round & 3) /* in turns, so that windows meet all of them */
		for (until = now() + 0.03; now() < until;)
			s += f == 0 ? sum(100) : f == 1 ? walk(100000) : f == 2 ? (double)put(100000) :
				(double)choose(100000);
	printf("%g\n", s);
	return 0;
}
P
${CC:-cc} -O1 -g -o sick sick.c 2>err && ${CC:-cc} -O1 -g -DWELL -o well sick.c 2>>err ||
	skip "no compiler: $(head -n 1 err)"
cat >labels.py <<'P'
import json, sys
want = {"sum": "reduction_chain", "walk": "load_chain", "put": "blocked_forwarding", "choose": "mispredicted_branch"}
sick = sys.argv[2] == "sick"
seen, told = {}, set()
for r in json.load(open(sys.argv[1]))["regions"]:
    for p in r["pathologies"]:
        assert p["worth"] == (p["cost"] >= 0.05) == (p["stop"] is None), p
        assert p["ci95"][0] <= p["cost"] + 1e-9 <= p["ci95"][1] + 2e-9, p
        if p["worth"]:
            seen.setdefault(r["function"], set()).add(p["label"])
            assert p["where"] is None or p["where"].startswith(r["function"] + "+0x"), p
    if not r["withheld"]:
        told.add(r["function"])
    costs = [p["cost"] for p in r["pathologies"]]
    assert costs == sorted(costs, reverse=True), costs
    print(r["function"], r["withheld"], r["pathologies"])
# Of a busy machine there are few windows, and what they contradict is withheld.
assert len(told & want.keys()) >= 2, told
for function, label in want.items():
    assert function not in told or (label in seen.get(function, set())) == sick, (function, label, seen)
P
for which in sick well; do
	"$gusprof" explain --uarch skylake --format json -o $which.json -- ./$which >out 2>err
	ok "$which: explained" is $? 0
	python3 labels.py $which.json $which >out 2>err
	ok "$which: what is wrong with each function is named, and nothing that is not" is $? 0
done

cat >team.c <<'P'
#include <omp.h>
int main(void)
{
	double begin = omp_get_wtime();
	volatile double s = 0;

	while (omp_get_wtime() < begin + 1.5)
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
		for (int i = 0; i < 64; i++)
			if (i == 0)
				for (int k = 0; k < 3000; k++)
					s += k;
	return 0;
}
P
if ${CC:-cc} -O1 -fopenmp -o team team.c 2>err; then
	"$gusprof" explain --uarch skylake --format json -o team.json -- ./team >out 2>err
	ok "OpenMP: explained" is $? 0
	grep -q '"label": "openmp_runtime"' team.json
	ok "OpenMP: time in its runtime is told" is $? 0
fi

"$gusprof" explain --pathologies >list 2>err
ok "the table" is $? 0
cat >documented.py <<'P'
import sys
rows = {}
for line in open(sys.argv[1]):
    if line.startswith("| `"):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        rows[cells[0].strip("`")] = cells[1:]
name, listed = None, {}
for line in open("list"):
    if line.startswith("#"):
        continue
    key, text = line.rstrip("\n").split(": ", 1)
    if not key.startswith(" "):
        name = key
        listed[name] = [text]
    elif key.strip() == "not detectable here":
        listed[name] += ["not detectable here", text]
    else:
        listed[name].append(text)
assert listed == rows, set(listed) ^ set(rows) or [(n, listed[n], rows[n]) for n in listed if listed[n] != rows[n]]
P
python3 documented.py "$scripts/../../docs/pathologies.md" >out 2>err
ok "docs/pathologies.md has the same rows" is $? 0
finish
