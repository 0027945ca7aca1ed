# SPDX-License-Identifier: MIT
"""Keeps an interpreter busy with a bit of everything: arithmetic, containers, strings, expressions, classes."""
import json
import re
import sys


class Body:
    def __init__(self, x, v):
        self.x, self.v = x, v

    def step(self, others, dt):
        for other in others:
            d = other.x - self.x
            if d:
                self.v += dt * d / (abs(d) ** 3 + 0.1)
        self.x += self.v * dt


def primes(n):
    sieve = bytearray([1]) * n
    for i in range(2, int(n ** 0.5) + 1):
        if sieve[i]:
            sieve[i * i::i] = bytes(len(range(i * i, n, i)))
    return sum(1 for i in range(2, n) if sieve[i])


def words(n):
    state, counts = 12345, {}
    for _ in range(n):
        state = (state * 1103515245 + 12345) % 2147483648
        word = "w%d" % (state >> 16 & 4095)
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def main(rounds):
    total = 0
    for r in range(rounds):
        total += primes(300000)
        top = words(200000)
        text = json.dumps(top)
        total += len(re.findall(r'"w(\d)\1*\d*", (\d+)', text))
        total += len(json.loads(text))
        bodies = [Body(i * 1.5, 0.1 * (i % 3)) for i in range(40)]
        for _ in range(60):
            for body in bodies:
                body.step(bodies, 0.01)
        total += int(sum(body.x for body in bodies))
        total += len("".join(chr(97 + (i * r) % 26) for i in range(100000)).replace("ab", "x").split("z"))
    print(total)


main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
