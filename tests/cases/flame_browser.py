# SPDX-License-Identifier: MIT
"""What tests/cases/flamegraph-browser.sh looks at. Of small.html (make_calls.c) main calls [unknown] 2 %, qsort 15 %,
recurse 25 % and work 48 %, and has 10 % itself; its stacks have five rows."""
import os
import sys
import time

from browser import Browser

ROW = 18
failed = []
number = 0


def ok(what, condition, *shown):
	global number
	number += 1
	print(f"{'ok' if condition else 'not ok'} {number} - {what}", *(() if condition else shown))
	if not condition:
		failed.append(what)


class Graph:
	"""A page by what people see of it."""

	def __init__(self, browser, path, link=""):
		self.browser, self.rows = browser, 5
		browser.open(path, link)
		browser.until("document.body && document.body.dataset.ready")

	def text(self, name):
		return self.browser.value(f"document.getElementById('{name}').innerText")

	def list(self, name):
		return self.browser.value(f"[...document.getElementById('{name}').children].map((e) => e.textContent)")

	def rect(self):
		return self.browser.value("(() => { const r = document.getElementById('graph').getBoundingClientRect();"
			"return [r.left, r.top, r.width, r.height]; })()")

	def place(self, share, row, inverted=False):
		"""Of a share of the width in a row, counted from the root's."""
		left, top, width, _ = self.rect()
		return left + share * width, top + ROW * (row if inverted else self.rows - 1 - row) + ROW / 2

	def point(self, share, row, **more):
		self.browser.mouse(*self.place(share, row, **more))
		return "" if self.hidden("tip") else self.text("tip")

	def click(self, share, row, **more):
		self.browser.mouse(*self.place(share, row, **more), click=True)

	def press(self, name):
		x, y = self.browser.value(f"(() => {{ const r = document.getElementById('{name}')"
			".getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()")
		self.browser.mouse(x, y, click=True)

	def colour(self, share, row, inverted=False):
		left, top, width, _ = self.rect()
		x, y = share * width, ROW * (row if inverted else self.rows - 1 - row) + 2
		return self.browser.value(f"[...document.getElementById('boxes').getContext('2d')"
			f".getImageData({x}, {y}, 1, 1).data].slice(0, 4)")

	def hidden(self, name):
		return self.browser.value(f"document.getElementById('{name}').hidden")

	def link(self):
		return self.browser.value("location.hash")

	def picture(self, name):
		if os.environ.get("GUS_PICTURES"):
			self.browser.picture(os.path.join(os.environ["GUS_PICTURES"], name + ".png"))


def opened(b):
	g = Graph(b, "small.html")
	ok("the page opens without a complaint", not b.troubles(), b.troubles())
	ok("its heading is the command", g.text("title") == "./app --fast", g.text("title"))
	ok("it says what it is of", g.text("summary") == "8 samples of cpu-clock, 100.00 ms of CPU time in 1.000 s",
	   g.text("summary"))
	ok("colours are explained, with shares", g.list("legend") == ["program 75.00 %", "library 19.00 %",
	   "kernel 4.00 %", "unknown 2.00 %"], g.list("legend"))
	ok("without a notice there is none", g.hidden("notices"))
	ok("all is in view", g.list("crumbs") == ["all"], g.list("crumbs"))
	ok("a box is painted where main is", g.colour(0.5, 1)[3] == 255)
	ok("with its name", b.value(f"new Set([...document.getElementById('boxes').getContext('2d').getImageData("
	   f"3, {ROW * 3}, 40, {ROW - 1}).data].filter((_, i) => i % 4 === 0)).size") > 8)
	ok("and nothing above what main takes itself", g.colour(0.95, 2)[3] == 0, g.colour(0.95, 2))
	ok("kinds of modules have colours of their own", len({tuple(g.colour(x, row)) for x, row in
	   ((0.5, 1), (0.1, 2), (0.01, 2), (0.43, 3))}) == 4)
	tip = g.point(0.6, 2)
	ok("a box says what it is", tip.split("\n") == ["work", "from", "/opt/app (program)", "with callees",
	   "48.00 ms, 3 samples", "of all", "48.00 %", "itself", "40.00 ms, 40.00 %"], tip.split("\n"))
	ok("and so does the line below", g.text("status").startswith("work: from /opt/app (program)"), g.text("status"))
	ok("what is left of a neighbour's edge is another", g.point(0.418, 2).startswith("recurse"), g.point(0.418, 2))
	ok("and to the right of it", g.point(0.422, 2).startswith("work"), g.point(0.422, 2))
	ok("beside all boxes nothing is said", g.point(0.95, 2) == "")
	ok("facts of the recording", "example" in b.value("document.getElementById('facts').textContent"))
	rows = b.value("[...document.querySelectorAll('#functions tr')].map((r) => "
		"[...r.children].map((c) => c.textContent))")
	ok("functions by their own time", rows[:2] == [["40.00 %", "48.00 %", "work", "/opt/app"],
	   ["25.00 %", "25.00 %", "recurse", "/opt/app"]], rows[:2])
	g.picture("opened")
	g = Graph(b, "off.html")
	tip = g.point(0.6, 2)
	ok("of time off the CPU times are counted", "48.00 ms, 3 times off the CPU\n" in tip, tip)


def zoomed(b):
	g = Graph(b, "small.html")
	g.click(0.6, 2)
	ok("a click zooms", g.list("crumbs") == ["all", "main", "work"], g.list("crumbs"))
	ok("the view has a link", g.link().startswith("#zoom="), g.link())
	ok("the box takes the whole width", g.point(0.02, 2).startswith("work") and g.point(0.98, 2).startswith("work"))
	ok("and so do its callers", g.point(0.02, 1).startswith("main"))
	ok("which are paler", 50 < g.colour(0.5, 1)[3] < 200 and g.colour(0.5, 2)[3] == 255, g.colour(0.5, 1))
	tip = g.point(0.03, 3)
	ok("shares of the view are told", "of the view\n8.33 %" in tip and "of all\n4.00 %" in tip, tip)
	ok("one sample is one", "4.00 ms, 1 sample\n" in tip, tip)
	link = g.link()
	g.picture("zoomed")
	g.click(0.02, 3)
	b.value("history.back()")
	b.until("document.getElementById('crumbs').children.length === 3")
	ok("a step back undoes one zoom", g.link() == link, g.link())
	b.value("history.back()")
	b.until("document.getElementById('crumbs').children.length === 1")
	ok("a step back shows all again", g.link() == "", g.link())
	g = Graph(b, "small.html", link)
	ok("a link leads to what was seen", g.list("crumbs") == ["all", "main", "work"], g.list("crumbs"))
	g.browser.value("document.querySelectorAll('#crumbs button')[1].click()")
	ok("a click above goes to a caller", g.list("crumbs") == ["all", "main"], g.list("crumbs"))
	g.press("reset")
	ok("and the button to all", g.list("crumbs") == ["all"], g.list("crumbs"))
	ok("which it is of no use for then", b.value("document.getElementById('reset').disabled"))
	g = Graph(b, "small.html", "#zoom=99.1&search=%5Bx")
	ok("a link to nothing shows all", g.list("crumbs") == ["all"] and not b.troubles(), b.troubles())


def searched(b):
	g = Graph(b, "small.html")
	before = g.colour(0.1, 2)
	b.key("/")
	b.type("QSort")
	ok("a capital makes a difference", g.text("matched") == "0.00 % in 0 functions", g.text("matched"))
	b.key("Escape")
	b.key("f", modifiers=2)
	b.type("qsort")
	ok("each stack that has it counts once", g.text("matched") == "19.00 % in 1 function", g.text("matched"))
	ok("what was found has another colour", g.colour(0.1, 2) != before, before)
	ok("and what was not has its own", g.colour(0.5, 1) != g.colour(0.1, 2))
	ok("the view has a link", g.link() == "#search=qsort", g.link())
	g.picture("searched")
	b.key("Escape")
	ok("Escape ends the search", g.text("matched") == "" and g.colour(0.1, 2) == before, g.colour(0.1, 2))
	ok("in the link as well", g.link() == "", g.link())
	b.key("/")
	b.type("wo|rec")
	ok("an expression", g.text("matched") == "73.00 % in 2 functions", g.text("matched"))
	b.type("(")
	ok("a wrong one is told", g.text("matched").startswith("no regular expression: ") and
	   b.value("document.getElementById('search').getAttribute('aria-invalid')") == "true", g.text("matched"))
	ok("and does no harm", not b.troubles(), b.troubles())
	b.key("Escape")
	b.key("/")
	for letter in "/i":
		b.key(letter)
	ok("letters that mean something elsewhere are typed here", b.value("document.getElementById('search').value")
	   == "/i" and b.value("document.getElementById('invert').ariaPressed") == "false")
	b.key("Escape")
	for modifiers in (1, 2, 4):
		b.key("i", modifiers=modifiers)
	ok("with Alt, Ctrl or Meta they are the browser's", b.value("document.getElementById('invert').ariaPressed") ==
	   "false")
	b.value("document.querySelector('#functions button').click()")
	ok("a function of the table is searched for", g.text("matched") == "48.00 % in 1 function", g.text("matched"))
	g = Graph(b, "small.html", "#search=cmp%3Bare")
	ok("a link to a search", g.text("matched") == "19.00 % in 1 function", g.text("matched"))


def turned(b):
	g = Graph(b, "small.html")
	b.key("i")
	ok("from the leaves: the button is pressed", b.value("document.getElementById('invert').ariaPressed") == "true")
	ok("the heaviest is first, below the root's row", g.point(0.2, 1, inverted=True).startswith("work\n"),
	   g.point(0.2, 1, inverted=True))
	ok("then the next", g.point(0.45, 1, inverted=True).startswith("recurse\n"))
	ok("below it, who called it", g.point(0.2, 2, inverted=True).startswith("main\n"))
	tip = g.point(0.7, 1, inverted=True)
	ok("of all stacks that end there", tip.startswith("cmp;are\n") and "19.00 %" in tip, tip)
	ok("of which nothing else is their own", "itself" not in tip and "in these stacks" in tip, tip)
	g.click(0.7, 1, inverted=True)
	ok("a click zooms", g.list("crumbs") == ["all", "cmp;are"] and "inverted=1" in g.link(), g.link())
	g.picture("leaves")
	link = g.link()
	g = Graph(b, "small.html", link)
	ok("a link leads there", g.list("crumbs") == ["all", "cmp;are"], g.list("crumbs"))
	g.press("invert")
	ok("and the button back", g.list("crumbs") == ["all"] and g.link() == "", g.link())


def by_keys(b):
	g = Graph(b, "small.html")
	b.value("document.getElementById('graph').focus()")
	for key, name in (("ArrowUp", "main"), ("ArrowUp", "work"), ("ArrowLeft", "recurse"), ("ArrowLeft", "qsort"),
			  ("ArrowRight", "recurse"), ("ArrowRight", "work"), ("ArrowRight", "work"),
			  ("ArrowDown", "main"), ("ArrowUp", "work"), ("ArrowUp", "do_syscall_64"),
			  ("ArrowUp", "do_syscall_64")):
		b.key(key)
		ok(f"{key}: {name}", g.text("status").startswith(f"{name}: "), g.text("status"))
	b.key("ArrowDown")
	b.key("Enter")
	ok("Enter zooms", g.list("crumbs") == ["all", "main", "work"], g.list("crumbs"))
	b.key("Backspace")
	ok("Backspace goes to the caller", g.list("crumbs") == ["all", "main"], g.list("crumbs"))
	b.key("Home")
	ok("Home to all", g.list("crumbs") == ["all"], g.list("crumbs"))
	b.key("Backspace")
	b.key("ArrowDown")
	ok("behind the root is nothing", g.list("crumbs") == ["all"] and g.text("status").startswith("all: "))
	ok("a reader of screens is told of it", b.value("document.getElementById('status').getAttribute('role')") ==
	   "status" and b.value("document.documentElement.lang") == "en")
	ok("no complaint", not b.troubles(), b.troubles())


def fitted(b):
	g = Graph(b, "small.html")
	light, page = g.colour(0.5, 1), b.value("getComputedStyle(document.body).backgroundColor")
	g.point(0.6, 2)
	b.size(500, 600)
	b.until("document.getElementById('boxes').width <= 500")
	ok("what was said of a box that moved is gone", g.hidden("tip"))
	for _ in range(50): # the page is laid out anew before it is drawn anew
		said = g.point(0.6, 2)
		if said.startswith("work"):
			break
		time.sleep(0.1)
	ok("boxes follow the window", said.startswith("work"), said)
	ok("nothing is wider than it", b.value("document.documentElement.scrollWidth") <= 500)
	g.picture("narrow")
	b.size(800, 600, scale=2)
	b.until("document.getElementById('boxes').width > 1000")
	ok("on a fine screen it is as fine", b.value("(() => { const c = document.getElementById('boxes');"
	   "return c.width === 2 * c.clientWidth && c.height === 2 * c.clientHeight; })()"))
	b.size(1200, 800)
	b.until("document.getElementById('boxes').width === document.getElementById('boxes').clientWidth")
	b.dark(True)
	b.until(f"getComputedStyle(document.body).backgroundColor !== '{page}'")
	b.until(f"String([...document.getElementById('boxes').getContext('2d').getImageData({g.rect()[2] / 2}, "
		f"{ROW * 3 + 2}, 1, 1).data]) !== '{','.join(map(str, light))}'")
	ok("in the dark there are darker colours", sum(g.colour(0.5, 1)[:3]) < sum(light[:3]), light)
	g.picture("dark")
	b.dark(False)


def harmless(b):
	g = Graph(b, "hostile.html")
	ok("hostile names: no complaint, nothing is asked for", not b.troubles(), b.troubles())
	ok("the heading is text", g.text("title") == "</title><script>alert(1)</script> --fast", g.text("title"))
	ok("and so is the title", b.value("document.title") == "</title><script>alert(1)</script> --fast - flame graph")
	ok("no name became an element", b.value("document.querySelectorAll('img, b, h1 *, #functions b').length") == 0)
	for details in range(3):
		b.value(f"document.querySelectorAll('details')[{details}].open = true")
	names = b.value("[...document.querySelectorAll('#functions button')].map((e) => e.textContent)")
	ok("names are read as they are", {"</script><b>bold</b>", "operator<", "__proto__", "constructor", "$&"} <=
	   set(names), names)
	ok("a long one is cut", max(map(len, names)) <= 200)
	g.picture("hostile")
	found = b.value("[...document.querySelectorAll('#functions button')].map((e) => { e.click(); "
		"return document.getElementById('matched').textContent; })")
	ok("each is found by its row", all(t.endswith(" in 1 function") for t in found), found)
	for step in range(60):
		b.mouse(20 * step, 180, click=True)
		b.key("Home")
	ok("pointing and clicking do no harm", not b.troubles(), b.troubles())
	b.value("document.body.append(Object.assign(document.createElement('script'), { textContent: 'hacked = 1' }))")
	b.value("document.body.insertAdjacentHTML('beforeend', '<img src=\"x:\" onerror=\"hacked = 1\">')")
	b.value("document.body.append(Object.assign(document.createElement('script'), { src: 'file:///x.js' }))")
	ok("what others would put there is not run", b.value("typeof hacked") == "undefined")
	ok("the policy says so", sum("Content Security Policy" in t for t in b.troubles()) >= 2, b.troubles())


def narrow(b):
	"""Of 1,200 pixels [unknown] has 40; what qsort and recurse have together is one more; then comes work."""
	g = Graph(b, "thin.html")
	run = (2000 + 24) / 60048
	ok("what is too narrow is told to be several", g.point(run, 2).startswith("several, too narrow"),
	   g.point(run, 2))
	b.mouse(20, 5)
	ok("beside the graph nothing is told", g.hidden("tip"))
	b.value("document.getElementById('graph').focus()")
	for key, name in (("ArrowUp", "main"), ("ArrowUp", "work"), ("ArrowLeft", "[unknown]"), ("ArrowRight", "work")):
		b.key(key)
		ok(f"over it, {key}: {name}", g.text("status").startswith(f"{name}: "), g.text("status"))
	g.click(run, 2)
	ok("a click on it gives its caller the width", g.list("crumbs") == ["all", "main"] and not b.troubles(),
	   (g.list("crumbs"), b.troubles()))


def high(b):
	"""500 frames, of which some 30 are seen at a time; rows are counted from the root's."""
	g = Graph(b, "deep.html")
	_, top, _, height = g.rect()
	b.mouse(300, top + height - 5)
	ok("where there is no room below, it is said above", b.value("(() => { const r = document.getElementById('tip')"
	   f".getBoundingClientRect(); return r.height > 20 && r.bottom < {top + height - 5} && r.top >= 0; }})()"))
	b.value("document.getElementById('graph').focus()")
	seen = ("(() => { const g = document.getElementById('graph'), top = {top}; return top >= g.scrollTop - 0.5 && "
		"top + 18 <= g.scrollTop + g.clientHeight + 0.5; })()")
	for _ in range(60):
		b.key("ArrowUp")
	ok("keys lead out of view, and the view follows", b.value(seen.replace("{top}", str(18 * (500 - 60)))))
	for row in range(59, 0, -1):
		b.key("ArrowDown")
		if row < 4:
			ok(f"and back, to row {row}", b.value(seen.replace("{top}", str(18 * (500 - row)))))


def others(b):
	g = Graph(b, "many.html")
	times = [float(b.value(f"document.body.dataset.{what}")) for what in ("ready", "painted")]
	ok(f"100,000 stacks: seen after {times[0]:.0f} ms, painted in {times[1]:.0f}", times[0] < 5000, times)
	ok("of 500 functions 100 are listed", b.value("document.querySelectorAll('#functions tr').length") == 100)
	g.picture("many")
	b.key("i")
	b.key("/")
	b.type("7$")
	ok("turned over and searched", g.text("matched").endswith("in 50 functions"), g.text("matched"))
	ok("no complaint", not b.troubles(), b.troubles())
	g = Graph(b, "deep.html")
	ok("500 frames: the root is in view", b.value("(() => { const g = document.getElementById('graph');"
	   "return g.scrollHeight === 501 * 18 && g.scrollTop + g.clientHeight > g.scrollHeight - 2; })()"))
	b.value("document.getElementById('graph').scrollTop = 0")
	b.value("document.getElementById('graph').scrollTop = 9")
	b.until("[...document.getElementById('boxes').getContext('2d').getImageData(99, 8, 1, 1).data][3] === 0")
	ok("half of a row as well", g.colour(0.5, 4)[3] == 255, g.colour(0.5, 4))
	b.value("document.getElementById('graph').scrollTop = 0")
	g.rows = 501
	ok("and the leaf after scrolling", g.point(0.5, 500).startswith("space_0::function_0\n"), g.point(0.5, 500))
	g.click(0.5, 500)
	ok("a long way is shortened", any("more" in c for c in g.list("crumbs")) and len(g.list("crumbs")) <= 9,
	   g.list("crumbs"))
	# Of the one stack a node's number is its depth.
	way = b.value("pathOf(new Calls(decode(JSON.parse($('data').textContent))), 11).join('.')").split(".")
	for depth, shown in ((7, ["all"] + 7 * ["f"]), (8, ["all", "… 2 more …"] + 6 * ["f"]),
			     (11, ["all", "… 5 more …"] + 6 * ["f"])):
		g = Graph(b, "deep.html", "#zoom=" + ".".join(way[:depth]))
		crumbs = ["f" if "function" in c else c for c in g.list("crumbs")]
		ok(f"a way of {depth}: those at its ends", crumbs == shown, crumbs)
	g = Graph(b, "torn.html")
	ok("how much of the stacks is whole", g.text("summary").endswith("; 75.00 % of it in whole stacks"),
	   g.text("summary"))
	g = Graph(b, "flat.html")
	ok("without chains: that is told", "record with -g" in g.text("notices"), g.text("notices"))
	ok("and seen", not g.hidden("notices") and b.value("document.getElementById('notices').offsetHeight") > 10)
	g = Graph(b, "empty.html")
	ok("without samples: that is told", "no samples" in g.text("notices"), g.text("notices"))
	ok("no complaint", not b.troubles(), b.troubles())


def main():
	b = Browser()
	try:
		for part in (opened, zoomed, searched, turned, by_keys, fitted, harmless, narrow, high, others):
			part(b)
	finally:
		b.close()
	print(f"1..{number}")
	sys.exit(bool(failed))


main()
