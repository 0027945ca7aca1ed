# SPDX-License-Identifier: MIT
import json, re
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def words(n): return sorted({re.sub(r"[0-9]", "x", str(i * 7919 % 4001)) for i in range(n)}, key=lambda w: w[::-1])
for i in range(16):
    fib(21); words(20000); json.loads(json.dumps([{"a": list(range(50)), "b": str(k)} for k in range(2000)]))
