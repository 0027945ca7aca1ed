# SPDX-License-Identifier: MIT
"""A Chromium without a screen, driven through two pipes by the DevTools protocol: opens pages, moves its mouse, presses
its keys, takes pictures and tells what went wrong in it."""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time


def program():
	"""The browser that there is, or None."""
	for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
		if shutil.which(name):
			return shutil.which(name)
	return None


class Browser:
	def __init__(self, width=1200, height=800, wait=60):
		self.wait, self.number, self.bytes, self.events = wait, 0, b"", []
		self.home = tempfile.mkdtemp(prefix="gusprof-browser-")
		theirs_in, self.to = os.pipe()
		self.source, theirs_out = os.pipe()

		# It reads from descriptor 3 and writes to 4; these may be others of ours: by way of higher ones.
		def become():
			a, b = os.dup2(theirs_in, 100), os.dup2(theirs_out, 101)
			os.dup2(a, 3)
			os.dup2(b, 4)

		self.process = subprocess.Popen(
			[program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
			 "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={self.home}",
			 f"--window-size={width},{height}", "about:blank"],
			preexec_fn=become, pass_fds=(3, 4, theirs_in, theirs_out), stdout=subprocess.DEVNULL,
			stderr=open(os.path.join(self.home, "stderr"), "wb"), start_new_session=True)
		os.close(theirs_in)
		os.close(theirs_out)
		pages = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
		page = pages[0] if pages else self.call("Target.createTarget", url="about:blank")
		attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
		self.session = attached["sessionId"]
		for domain in ("Page", "Runtime", "Log", "Network"):
			self.call(f"{domain}.enable")
		self.size(width, height)

	def size(self, width, height, scale=1):
		self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
			  mobile=False)

	def message(self, until):
		while b"\0" not in self.bytes:
			if not select.select([self.source], [], [], max(0, until - time.monotonic()))[0]:
				raise TimeoutError("the browser does not answer")
			more = os.read(self.source, 1 << 20)
			if not more:
				raise EOFError("the browser has ended")
			self.bytes += more
		text, self.bytes = self.bytes.split(b"\0", 1)
		return json.loads(text)

	def call(self, method, **parameters):
		self.number += 1
		call = {"id": self.number, "method": method, "params": parameters}
		if getattr(self, "session", None):
			call["sessionId"] = self.session
		os.write(self.to, json.dumps(call).encode() + b"\0")
		until = time.monotonic() + self.wait
		while True:
			got = self.message(until)
			if got.get("id") == self.number:
				if "error" in got:
					raise RuntimeError(f"{method}: {got['error']}")
				return got["result"]
			self.events.append(got)

	def open(self, path, link=""):
		"""Opens a file and waits until it has run."""
		self.events = []
		self.call("Page.navigate", url="about:blank")
		self.call("Page.navigate", url=f"file://{os.path.abspath(path)}{link}")
		self.until("document.readyState === 'complete' && location.protocol === 'file:'")

	def until(self, condition):
		end = time.monotonic() + self.wait
		while not self.value(condition):
			if time.monotonic() > end:
				raise TimeoutError(f"never true: {condition}")
			time.sleep(0.05)

	def value(self, expression):
		got = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
		if "exceptionDetails" in got:
			raise RuntimeError(f"{expression}: {got['exceptionDetails']}")
		return got["result"].get("value")

	def mouse(self, x, y, click=False):
		self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
		if click:
			for kind in ("mousePressed", "mouseReleased"):
				self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

	def key(self, key, modifiers=0, text=None):
		"""Presses a key by its name ("ArrowUp"); a letter is typed as well. Modifiers: 2 is Ctrl."""
		text = text if text is not None else key if len(key) == 1 and not modifiers else ""
		codes = {"Enter": 13, "Escape": 27, "Backspace": 8, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
			 "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}
		code = codes.get(key, ord(key.upper()) if len(key) == 1 else 0)
		self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code,
			  modifiers=modifiers)
		self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code,
			  modifiers=modifiers)

	def type(self, text):
		self.call("Input.insertText", text=text)

	def dark(self, yes):
		self.call("Emulation.setEmulatedMedia",
			  features=[{"name": "prefers-color-scheme", "value": "dark" if yes else "light"}])

	def picture(self, path):
		with open(path, "wb") as f:
			f.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

	def troubles(self):
		"""What the page threw, wrote on its console, was refused, or asked of anyone but the files of this
		machine. That a test reads what is painted is its own affair."""
		self.value("0")
		found = []
		for e in self.events:
			p = e.get("params", {})
			if e["method"] == "Runtime.exceptionThrown":
				found.append(f"thrown: {p['exceptionDetails']}")
			elif e["method"] == "Runtime.consoleAPICalled":
				found.append(f"console: {p['args']}")
			elif e["method"] == "Log.entryAdded" and "willReadFrequently" not in p["entry"]["text"]:
				found.append(f"log: {p['entry']['text']}")
			elif e["method"] == "Page.javascriptDialogOpening":
				found.append(f"dialog: {p['message']}")
			elif e["method"] == "Network.requestWillBeSent" and \
					not p["request"]["url"].startswith(("file:", "about:")):
				found.append(f"request: {p['request']['url']}")
		return found

	def close(self):
		try:
			os.killpg(self.process.pid, signal.SIGKILL)
		except ProcessLookupError:
			pass
		self.process.wait()
		os.close(self.to)
		os.close(self.source)
		shutil.rmtree(self.home, ignore_errors=True)
