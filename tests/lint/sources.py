# SPDX-License-Identifier: MIT
"""What the checks in Python share: the project's own C files, their includes, and how a check ends."""
import os
import re
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
top = os.path.realpath(os.path.join(os.environ.get("srcdir") or os.path.join(here, "../.."), "."))
library_folders = ("base", "proto", "collector", "symbolizer", "model", "attribution", "tracing", "cli")
_findings = []


def fail(text):
	_findings.append(text)
	print(text)


def finish():
	if _findings:
		print(f"{len(_findings)} findings")
	sys.exit(1 if _findings else 0)


def files():
	"""As tests/lint/lib.sh lists them."""
	script = f'. "{here}/lib.sh"; files'
	return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()


def read(path):
	with open(os.path.join(top, path), encoding="utf-8") as f:
		return f.read()


def library_files():
	return [f for f in files() if f.endswith((".c", ".h")) and f.split("/")[0] in library_folders]


def without_comments(text):
	"""C without its comments; lines keep their numbers."""
	return re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)


def includes(text):
	"""(line, header) of each include of the project's own."""
	for number, line in enumerate(without_comments(text).split("\n"), 1):
		m = re.match(r'[ \t]*#[ \t]*include[ \t]*"([^"]*)"', line)
		if m:
			yield number, m.group(1)


def room(path):
	"""The folder that a file lives in; "cli" of cli/main.c."""
	return os.path.dirname(path)


def design_table():
	"""The table of rooms in DESIGN.md, section 2: room -> the rooms and headers that it may include, as written."""
	table = {}
	for line in read("DESIGN.md").split("\n"):
		m = re.match(r"\| `([a-z/]+)` \|[^|]*\| ?([^|]*)\|$", line)
		if m:
			table[m.group(1).rstrip("/")] = re.findall(r"`([a-z0-9_/.*-]+)`", m.group(2))
	return table
