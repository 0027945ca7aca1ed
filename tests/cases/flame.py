# SPDX-License-Identifier: MIT
"""What is in a flame graph's page: `flame.py PAGE check` looks at it as a browser's parser would, `folded` prints its
stacks, `totals` samples and weight, `names` the frames' names, one a line."""
import base64
import hashlib
import html.parser
import json
import re
import sys

KINDS = ["program", "library", "kernel", "jit", "inlined", "unknown", "task"]


class Page(html.parser.HTMLParser):
	"""The elements, the text of those whose text is not markup, and the policy."""

	def __init__(self, text):
		super().__init__(convert_charrefs=True)
		self.elements, self.texts, self.policy, self.inside = [], {}, "", None
		self.attributes = []
		self.feed(text)
		self.close()

	def handle_starttag(self, tag, attributes):
		attributes = dict(attributes)
		self.elements.append(tag)
		self.attributes += [(tag, name, value) for name, value in attributes.items()]
		if tag in ("script", "style", "title"):
			self.inside = tag + (" data" if attributes.get("id") == "data" else "")
			assert self.inside not in self.texts, f"two of {self.inside}"
			self.texts[self.inside] = ""
		if attributes.get("http-equiv") == "Content-Security-Policy":
			self.policy = attributes["content"]

	def handle_endtag(self, tag):
		if self.inside and self.inside.split()[0] == tag:
			self.inside = None

	def handle_data(self, data):
		if self.inside:
			self.texts[self.inside] += data


def read(path):
	with open(path, "rb") as f:
		text = f.read().decode("utf-8") # all of it is UTF-8
	page = Page(text)
	return text, page, json.loads(page.texts["script data"])


def nodes(data):
	"""(path of frames, weight, samples) of each node."""
	path, flat = [], data["nodes"]
	for frame, up, weight, samples in zip(*(flat[i::4] for i in range(4))):
		assert 0 <= up <= len(path), "up beyond the root"
		del path[len(path) - up:]
		path.append(frame)
		yield list(path), weight, samples


def frames(data):
	flat = data["frames"]
	texts = data["strings"]
	return [(texts[a], texts[b], KINDS[c]) for a, b, c in zip(flat[::3], flat[1::3], flat[2::3])]


def by_bytes(frame):
	return frame[0].encode(), frame[1].encode(), KINDS.index(frame[2])


def check(text, page, data):
	allowed = {"html", "head", "meta", "title", "style", "body", "header", "h1", "p", "ul", "div", "label", "input",
		   "output", "button", "nav", "ol", "main", "canvas", "footer", "details", "summary", "dl", "table",
		   "thead", "tbody", "tr", "th", "noscript", "script"}
	assert set(page.elements) <= allowed, set(page.elements) - allowed
	assert page.elements.count("script") == 2
	for tag, name, value in page.attributes:
		assert not name.startswith("on"), (tag, name)
		assert name not in ("src", "href", "style", "srcdoc", "action"), (tag, name)
	for kind, inside in (("script", "script"), ("style", "style")):
		digest = base64.b64encode(hashlib.sha256(page.texts[inside].encode()).digest()).decode()
		assert f"{kind}-src 'sha256-{digest}'" in page.policy, f"{kind} is not what the policy lets run"
	assert "default-src 'none'" in page.policy and "unsafe" not in page.policy
	raw = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1)
	assert not re.search(r"[<>&'\u2028\u2029]", raw), "markup in the data"
	harmful = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ufeff]"
	assert not re.search(harmful, text)
	assert data["schema"] == "gusprof.flame/1"
	names = frames(data)
	# What was made harmless reads otherwise than what was sorted.
	assert any("?" in f[0] for f in names) or names == sorted(names, key=by_bytes)
	assert len(set(names)) == len(names)
	seen, before = set(), []
	for path, _, _ in nodes(data):
		assert path > before and tuple(path) not in seen, "siblings are out of order"
		seen.add(tuple(path))
		before = path


def main():
	text, page, data = read(sys.argv[1])
	what = sys.argv[2]
	if what == "check":
		check(text, page, data)
	elif what == "folded":
		names = [name.replace(";", ":") for name, _, _ in frames(data)]
		lines = [(";".join(names[f] for f in path), w) for path, w, n in nodes(data) if n]
		print("".join(f"{stack} {w}\n" for stack, w in sorted(lines, key=lambda l: l[0].encode())), end="")
	elif what == "totals":
		print(sum(n for _, _, n in nodes(data)), sum(w for _, w, _ in nodes(data)))
	elif what == "names":
		for name, module, kind in frames(data):
			print(name, module, kind, sep="\t")
	elif what == "data":
		print(json.dumps({k: data[k] for k in sys.argv[3:]}, ensure_ascii=False))
	elif what == "script":
		print(page.texts["script"], end="")


main()
