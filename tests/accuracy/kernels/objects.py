# SPDX-License-Identifier: MIT
"""Objects, dictionaries, lists and strings in Python: accounts that pay each other, and a report of them."""
import sys


class Account:
	def __init__(self, name, money):
		self.name, self.money, self.log = name, money, []

	def pay(self, other, amount):
		if amount > self.money:
			raise ValueError(self.name)
		self.money -= amount
		other.money += amount
		self.log.append((other.name, amount))
		if len(self.log) > 20:
			self.log = sorted(self.log, key=lambda entry: -entry[1])[:10]


def chances(state):
	while True:
		state = (state * 1103515245 + 12345) & 0x7fffffff
		yield state >> 8


def report(accounts):
	rows = {}
	for account in accounts.values():
		for name, amount in account.log:
			rows.setdefault(name[-1], []).append(f"{account.name}:{amount:05d}")
	return sum(hash_of(" ".join(sorted(row))) for row in rows.values())


def hash_of(text):
	value = 7
	for letter in text[:200]:
		value = (value * 31 + ord(letter)) % 1000003
	return value


def main():
	draw = chances(1)
	accounts = {i: Account(f"name-{i * 37 % 1000}", 1000) for i in range(1000)}
	refused = total = 0
	for _ in range(int(sys.argv[1])):
		for _ in range(2000):
			one, other = accounts[next(draw) % 1000], accounts[next(draw) % 1000]
			try:
				one.pay(other, next(draw) % 300)
			except ValueError:
				refused += 1
		total += report(accounts)
	print(refused, total)


main()
