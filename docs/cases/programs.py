# SPDX-License-Identifier: MIT
"""Counts in a dictionary, and a sort by them: what docs/cases/programs.md has python3 do."""
import random
random.seed(1)
class Item:
    __slots__ = ("key", "value")
    def __init__(self, key, value):
        self.key = key
        self.value = value
def work(n):
    items = [Item(random.randrange(n), i) for i in range(n)]
    count = {}
    for item in items:
        count[item.key] = count.get(item.key, 0) + item.value
    total = 0
    for item in sorted(items, key=lambda item: item.key):
        total = (total * 31 + count[item.key]) % 1000000007
    return total
for i in range(10):
    print(work(200000))
