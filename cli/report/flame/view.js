/* What of the page moves. All text of the recording gets into the page as text: textContent and fillText, no markup. */
const ROW = 18;        // pixels of a row
const PADDING = 4;     // of the text in a box
const NAME_SHOWN = 600; // letters of a name in the tip; the rest is in the title of the line below, and in the data
const CRUMBS = 8;
const FUNCTIONS = 100;  // rows of the table

const $ = (id) => document.getElementById(id);

function element(kind, text, name) {
	const made = document.createElement(kind);

	if (text !== undefined)
		made.textContent = text;
	if (name)
		made.className = name;
	return made;
}

class Page {
	constructor(data) {
		this.data = data;
		this.calls = new Calls(data);
		this.callers = null;  // made when it is first asked for
		this.tree = this.calls;
		this.zoomed = 0;
		this.focused = null;  // the box under the keyboard, by its node
		this.found = null;    // what the search found
		this.canvas = $('boxes');
		this.pen = this.canvas.getContext('2d');
		this.dark = window.matchMedia('(prefers-color-scheme: dark)');
		this.colours = new Map();
		this.rows = [];
	}

	get inverted() { return this.tree !== this.calls; }

	nameOf(node) { return node === 0 ? 'all' : this.data.frames[this.tree.frame(node)].name; }

	begin() {
		this.showFacts();
		this.showLegend();
		this.showFunctions();
		this.listen();
		this.follow();
	}

	/* The view that the link names. */
	follow() {
		const view = readLink(window.location.hash);

		this.choose(view.inverted);
		this.zoomed = nodeAt(this.tree, view.zoom);
		$('search').value = view.search;
		this.find(view.search);
		this.lay(true);
	}

	/* Links to what is seen; a step back undoes a zoom, not a letter of a search. */
	link(step) {
		const hash = writeLink({ search: $('search').value, zoom: pathOf(this.tree, this.zoomed),
			inverted: this.inverted });
		const place = hash || window.location.pathname + window.location.search;

		if (hash !== window.location.hash)
			window.history[step ? 'pushState' : 'replaceState'](null, '', place);
	}

	choose(inverted) {
		if (inverted && !this.callers)
			this.callers = new Callers(this.calls);
		this.tree = inverted ? this.callers : this.calls;
		$('invert').setAttribute('aria-pressed', String(inverted));
	}

	invert() {
		this.choose(!this.inverted);
		this.zoomed = 0;
		this.focused = null;
		this.link(true);
		this.lay(true);
	}

	zoom(node) {
		if (node === this.zoomed)
			return;
		this.zoomed = node;
		this.focused = node;
		this.link(true);
		this.lay(true);
	}

	/* Text above the graph. */

	showFacts() {
		const all = this.data.facts, list = $('facts');

		$('title').textContent = this.data.title;
		$('summary').textContent = this.data.summary;
		if (this.data.whole)
			$('summary').append(`; ${this.data.whole} of it in whole stacks`);
		for (const [what, text] of all)
			list.append(element('dt', what), element('dd', text));
		for (const text of this.data.notices)
			$('notices').append(element('li', text));
		$('notices').hidden = !this.data.notices.length;
	}

	showLegend() {
		const weights = new Map(), names = Object.keys(KINDS);

		for (let i = 1; i < this.calls.size; i++) {
			const kind = this.data.frames[this.calls.frame(i)].kind;

			weights.set(kind, (weights.get(kind) || 0) + this.calls.self(i));
		}
		$('legend').replaceChildren();
		for (const kind of names.filter((k) => weights.has(k))) {
			const share = percent(weights.get(kind), this.calls.total(0));
			const item = element('li', `${KINDS[kind].label} ${share}`);
			const colour = element('span', '', 'colour');

			colour.style.background = colourOf({ kind, name: kind }, this.dark.matches);
			item.prepend(colour);
			$('legend').append(item);
		}
	}

	showFunctions() {
		const whole = this.calls.total(0);

		for (const f of functions(this.calls).slice(0, FUNCTIONS)) {
			const frame = this.data.frames[f.frame], row = element('tr');
			const button = element('button', shortened(frame.name, 200));

			button.addEventListener('click', () => {
				$('search').value = exactly(frame.name);
				this.searched();
			});
			row.append(element('td', percent(f.self, whole)), element('td', percent(f.total, whole)));
			row.append(element('td'), element('td', shortened(frame.module, 80)));
			row.children[2].append(button);
			$('functions').append(row);
		}
	}

	showCrumbs() {
		const path = [];

		for (let i = this.zoomed; i !== NONE; i = this.tree.parent(i))
			path.unshift(i);
		$('crumbs').replaceChildren();
		path.forEach((node, at) => {
			const left = path.length > CRUMBS && at > 0 && at < path.length - CRUMBS + 2;
			const item = element('li'), button = element('button', shortened(this.nameOf(node), 40));

			if (left && at > 1)
				return;
			if (left) {
				item.append(element('span', `… ${path.length - CRUMBS + 1} more …`));
			} else {
				button.addEventListener('click', () => this.zoom(node));
				if (node === this.zoomed)
					button.setAttribute('aria-current', 'location');
				item.append(button);
			}
			$('crumbs').append(item);
		});
		$('reset').disabled = this.zoomed === 0;
	}

	/* Searching. */

	find(text) {
		this.found = null;
		$('search').removeAttribute('aria-invalid');
		$('matched').textContent = '';
		if (!text)
			return;
		try { // some patterns are refused only when they are looked for
			this.found = search(this.calls, patternOf(text));
		} catch (error) {
			$('search').setAttribute('aria-invalid', 'true');
			$('matched').textContent =
				`no regular expression: ${error.message.replace(/^.*\/[a-z]*: /u, '')}`;
			return;
		}
		$('matched').textContent = `${percent(this.found.weight, this.calls.total(0))} in ` +
			counted(this.found.frames, 'function');
	}

	searched() {
		this.find($('search').value);
		this.link(false);
		this.paint();
	}

	/* Drawing. What is where is found when the view changes; painting is of the rows that can be seen. */

	lay(toRoot) {
		const graph = $('graph'), width = graph.clientWidth;

		$('tip').hidden = true; // what it is beside may be elsewhere now
		this.rows = layOut(this.tree, this.zoomed, width);
		this.height = this.rows.length * ROW;
		$('tall').style.height = `${this.height}px`;
		if (toRoot)
			graph.scrollTop = this.inverted ? 0 : this.height;
		this.showCrumbs();
		this.paint();
		this.say(this.focused === null ? this.zoomed : this.focused);
	}

	/* Where a row is: the root is below, or above in what is seen from the leaves. */
	topOf(row) { return this.inverted ? row * ROW : this.height - (row + 1) * ROW; }

	rowAt(y) { return Math.floor((this.inverted ? y : this.height - y) / ROW); }

	paint() {
		const graph = $('graph'), width = graph.clientWidth, height = graph.clientHeight;
		const ratio = window.devicePixelRatio || 1, begin = performance.now();
		const wide = Math.round(width * ratio), high = Math.round(height * ratio);

		if (this.canvas.width !== wide || this.canvas.height !== high) {
			this.canvas.width = wide;
			this.canvas.height = high;
			this.canvas.style.width = `${width}px`;
			this.canvas.style.height = `${height}px`;
		}
		this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.pen.clearRect(0, 0, width, height);
		this.pen.font = '12px system-ui, sans-serif';
		this.pen.textBaseline = 'middle';
		this.pen.direction = 'ltr';
		for (let row = 0; row < this.rows.length; row++) {
			const top = this.topOf(row) - graph.scrollTop;

			if (top > -ROW && top < height)
				for (const box of this.rows[row])
					this.paintBox(box, top);
		}
		document.body.dataset.painted = (performance.now() - begin).toFixed(1);
	}

	style(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

	colourOf(node) {
		const frame = this.tree.frame(node);

		if (frame === NONE)
			return this.cached('--all', () => this.style('--all'));
		if (this.found && this.found.means[frame])
			return this.cached('--match', () => this.style('--match'));
		return this.cached(frame, () => colourOf(this.data.frames[frame], this.dark.matches));
	}

	cached(key, make) {
		if (!this.colours.has(key))
			this.colours.set(key, make());
		return this.colours.get(key);
	}

	paintBox(box, top) {
		const pen = this.pen, gap = box.width > 3 ? 1 : 0, run = box.node === NONE;
		const above = !run && this.tree.depth(box.node) < this.tree.depth(this.zoomed);

		pen.globalAlpha = above ? 0.45 : 1;
		pen.fillStyle = run ? this.cached('--run', () => this.style('--run')) : this.colourOf(box.node);
		pen.fillRect(box.x, top, box.width - gap, ROW - 1);
		pen.globalAlpha = 1;
		if (!run && box.width > 20)
			this.paintName(box, top);
		if (!run && box.node === this.focused) {
			pen.strokeStyle = this.cached('--text', () => this.style('--text'));
			pen.lineWidth = 2;
			pen.strokeRect(box.x + 1, top + 1, Math.max(box.width - gap - 2, 1), ROW - 3);
		}
	}

	paintName(box, top) {
		const name = fitted(this.nameOf(box.node), box.width - 2 * PADDING - 1,
			(text) => this.pen.measureText(text).width);

		this.pen.fillStyle = this.cached('--text', () => this.style('--text'));
		if (name)
			this.pen.fillText(name, box.x + PADDING, top + ROW / 2);
	}

	/* What is said of a box. */

	linesOf(node) {
		const tree = this.tree, whole = tree.total(0), frame = tree.frame(node), total = tree.total(node);
		const lines = [[this.inverted && node !== 0 ? 'in these stacks' : 'with callees',
			`${amount(total, this.data)}, ${counted(tree.samples(node), ...this.data.counted)}`],
		['of all', percent(total, whole)]];

		if (this.zoomed !== 0)
			lines.push(['of the view', percent(total, tree.total(this.zoomed))]);
		if (!this.inverted)
			lines.push(['itself',
				`${amount(tree.self(node), this.data)}, ${percent(tree.self(node), whole)}`]);
		if (frame !== NONE) {
			const { module, kind } = this.data.frames[frame];

			lines.unshift(['from', `${shortened(module, 120)} (${KINDS[kind].label})`]);
		}
		return lines;
	}

	/* The line below the graph, which is read out. */
	say(node) {
		const lines = this.linesOf(node).map(([what, text]) => `${what} ${text}`);

		$('status').textContent = `${shortened(this.nameOf(node), 300)}: ${lines.join('; ')}`;
	}

	showTip(box, event) {
		const tip = $('tip'), list = element('dl');

		tip.replaceChildren();
		if (box.node === NONE) {
			tip.append(element('strong', 'several, too narrow to be drawn; a click shows more of them'));
		} else {
			tip.append(element('strong', shortened(this.nameOf(box.node), NAME_SHOWN)));
			for (const [what, text] of this.linesOf(box.node))
				list.append(element('dt', what), element('dd', text));
			tip.append(list);
			this.say(box.node);
		}
		tip.hidden = false;
		this.place(tip, event.clientX, event.clientY);
	}

	/* Beside a point and below it, or above where there is no room. */
	place(tip, x, y) {
		const left = Math.min(x + 14, window.innerWidth - tip.offsetWidth - 8);
		const fits = y + 18 + tip.offsetHeight <= window.innerHeight;

		tip.style.left = `${Math.max(0, left)}px`;
		tip.style.top = `${Math.max(0, fits ? y + 18 : y - tip.offsetHeight - 10)}px`;
	}

	boxUnder(event) {
		const graph = $('graph'), frame = graph.getBoundingClientRect();
		const y = event.clientY - frame.top + graph.scrollTop;

		return y < this.height ? boxAt(this.rows[this.rowAt(y)], event.clientX - frame.left) : null;
	}

	/* What people do. */

	listen() {
		const graph = $('graph');

		graph.addEventListener('mousemove', (event) => {
			const box = this.boxUnder(event);

			this.canvas.style.cursor = box ? 'pointer' : 'default';
			if (box)
				this.showTip(box, event);
			else
				$('tip').hidden = true;
		});
		graph.addEventListener('mouseleave', () => { $('tip').hidden = true; });
		graph.addEventListener('click', (event) => {
			const box = this.boxUnder(event);

			$('tip').hidden = true;
			if (box)
				this.zoom(box.node === NONE ? box.within : box.node);
		});
		graph.addEventListener('scroll', () => this.paint());
		graph.addEventListener('keydown', (event) => this.keyInGraph(event));
		document.addEventListener('keydown', (event) => this.key(event));
		$('search').addEventListener('input', () => this.searched());
		$('reset').addEventListener('click', () => this.zoom(0));
		$('invert').addEventListener('click', () => this.invert());
		new ResizeObserver(() => this.lay(false)).observe(graph);
		window.addEventListener('popstate', () => this.follow());
		window.addEventListener('hashchange', () => this.follow());
		this.dark.addEventListener('change', () => {
			this.colours.clear();
			this.showLegend();
			this.paint();
		});
	}

	key(event) {
		const typing = event.target === $('search');

		if (event.altKey || event.metaKey || (event.ctrlKey && event.key !== 'f'))
			return;
		if ((event.key === 'f' && event.ctrlKey && !typing) || (event.key === '/' && !typing)) {
			$('search').focus();
			$('search').select();
		} else if (event.key === 'Escape') {
			this.escape();
		} else if (event.key === 'i' && !typing) {
			this.invert();
		} else {
			return;
		}
		event.preventDefault();
	}

	/* First the search goes, then the zoom. */
	escape() {
		if ($('search').value) {
			$('search').value = '';
			this.searched();
		} else {
			this.zoom(0);
		}
		$('graph').focus();
	}

	keyInGraph(event) {
		const node = this.focused === null ? this.zoomed : this.focused, down = this.inverted ? 1 : -1;
		const moves = { ArrowDown: () => this.step(node, down), ArrowUp: () => this.step(node, -down),
			ArrowLeft: () => this.beside(node, -1), ArrowRight: () => this.beside(node, 1),
			Enter: () => { this.zoom(node); return node; },
			Backspace: () => { this.zoom(Math.max(0, this.tree.parent(this.zoomed))); return this.zoomed; },
			Home: () => { this.zoom(0); return 0; } };

		if (!(event.key in moves) || event.altKey || event.ctrlKey || event.metaKey)
			return;
		event.preventDefault();
		this.focus(moves[event.key]());
	}

	/* Away from the root (1) to the widest callee, or towards it. */
	step(node, by) {
		let best = node;

		if (by < 0)
			return node === 0 ? node : this.tree.parent(node);
		for (const child of this.tree.children(node))
			if (best === node || this.tree.total(child) > this.tree.total(best))
				best = child;
		return best;
	}

	/* The next box of the row, whoever called it. */
	beside(node, by) {
		const row = (this.rows[this.tree.depth(node)] || []).filter((box) => box.node !== NONE);
		const at = row.findIndex((box) => box.node === node);

		return at >= 0 && row[at + by] ? row[at + by].node : node;
	}

	focus(node) {
		const graph = $('graph'), top = this.topOf(this.tree.depth(node));

		this.focused = node;
		if (top < graph.scrollTop)
			graph.scrollTop = top;
		else if (top + ROW > graph.scrollTop + graph.clientHeight)
			graph.scrollTop = top + ROW - graph.clientHeight;
		this.paint();
		this.say(node);
	}
}

{
	const begin = performance.now();

	new Page(decode(JSON.parse($('data').textContent))).begin();
	document.body.dataset.ready = (performance.now() - begin).toFixed(1);
}
