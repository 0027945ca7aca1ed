/* SPDX-License-Identifier: MIT */
/* What a flame graph is made of, without a page: stacks as a tree, the same from their leaves, what is drawn where,
 * what a search finds. All of it is a function of its arguments, and tests call it without a browser.
 *
 * The data have each node once, in the order of a walk from the root that takes a node before its callees. A node is
 * four numbers: its frame, how many levels up from the node before it its caller is (0: that node itself), and its own
 * weight and samples. Weights of 2^53 and more lose their last digits here, as numbers do in JavaScript. */
'use strict';

const NARROWEST = 0.5; // pixels of a box; what is narrower shares one with its neighbours
const NONE = -1;

/* The stacks as they were called. Nodes are numbers; 0 is the root, of all. */
class Calls {
	constructor(data) {
		const n = data.nodes.length / 4 + 1;

		this.names = data.frames;
		this.size = n;
		this.frames = new Int32Array(n).fill(NONE);
		this.parents = new Int32Array(n).fill(NONE);
		this.depths = new Int32Array(n);
		this.ends = new Int32Array(n); // behind the last node below it
		this.selves = new Float64Array(n);
		this.totals = new Float64Array(n);
		this.counts = new Float64Array(n);    // samples, with those of all below
		this.ownCounts = new Float64Array(n);
		this.read(data.nodes);
		this.add();
	}

	read(nodes) {
		for (let i = 1, at = 0; i < this.size; i++, at += 4) {
			let parent = i - 1;

			for (let up = nodes[at + 1]; up > 0; up--)
				parent = this.parents[parent];
			this.frames[i] = nodes[at];
			this.parents[i] = parent;
			this.depths[i] = this.depths[parent] + 1;
			this.selves[i] = nodes[at + 2];
			this.ownCounts[i] = nodes[at + 3];
		}
	}

	/* Callees stand behind their callers, so from the end on each is whole when it is added. */
	add() {
		for (let i = this.size - 1; i >= 0; i--) {
			const parent = this.parents[i];

			this.totals[i] += this.selves[i];
			this.counts[i] += this.ownCounts[i];
			this.ends[i] = Math.max(this.ends[i], i + 1);
			if (parent === NONE)
				continue;
			this.totals[parent] += this.totals[i];
			this.counts[parent] += this.counts[i];
			this.ends[parent] = Math.max(this.ends[parent], this.ends[i]);
		}
	}

	frame(i) { return this.frames[i]; }
	parent(i) { return this.parents[i]; }
	depth(i) { return this.depths[i]; }
	total(i) { return this.totals[i]; }
	samples(i) { return this.counts[i]; }
	self(i) { return this.selves[i]; }

	children(i) {
		const found = [];

		for (let c = i + 1; c < this.ends[i]; c = this.ends[c])
			found.push(c);
		return found;
	}
}

/* The same from the leaves: below the root what was executed, below that who called it. A node is a set of stacks, and
 * its callers are found when they are asked for: most are narrower than a pixel and never are. */
class Callers {
	constructor(calls) {
		this.calls = calls;
		this.names = calls.names;
		this.nodes = [];
		const leaves = [];

		for (let i = 1; i < calls.size; i++)
			if (calls.selves[i] > 0)
				leaves.push(i);
		this.nodes.push({ frame: NONE, parent: NONE, depth: 0, total: calls.total(0), samples: calls.samples(0),
			leaves, ats: leaves, below: null });
	}

	frame(i) { return this.nodes[i].frame; }
	parent(i) { return this.nodes[i].parent; }
	depth(i) { return this.nodes[i].depth; }
	total(i) { return this.nodes[i].total; }
	samples(i) { return this.nodes[i].samples; }
	/* What began here: of a leaf all of it is its own, and callers have none. */
	self(i) { return this.nodes[i].depth === 1 ? this.nodes[i].total : 0; }

	children(i) {
		if (!this.nodes[i].below)
			this.nodes[i].below = this.group(i);
		return this.nodes[i].below;
	}

	/* The heaviest first, as who looks from the leaves looks for these. */
	group(i) {
		const node = this.nodes[i], groups = new Map();

		for (let k = 0; k < node.leaves.length; k++) {
			const leaf = node.leaves[k], at = node.ats[k], frame = this.calls.frames[at];
			let group = groups.get(frame);

			if (frame === NONE)
				continue; // the root: this stack has no more callers
			if (!group) {
				group = { frame, parent: i, depth: node.depth + 1, total: 0, samples: 0,
					leaves: [], ats: [], below: null };
				groups.set(frame, group);
			}
			group.total += this.calls.selves[leaf];
			group.samples += this.calls.ownCounts[leaf];
			group.leaves.push(leaf);
			group.ats.push(this.calls.parents[at]);
		}
		return [...groups.values()].sort((a, b) => b.total - a.total || a.frame - b.frame)
			.map((group) => this.nodes.push(group) - 1);
	}
}

/* The frames from the root to a node, without the root: what it is called in a link, as its number in one of the trees
 * means nothing in the other. */
function pathOf(tree, node) {
	const path = [];

	for (let i = node; tree.parent(i) !== NONE; i = tree.parent(i))
		path.push(tree.frame(i));
	return path.reverse();
}

/* The node at the end of a path, or where it leaves the tree. */
function nodeAt(tree, path) {
	let node = 0;

	for (const frame of path) {
		const next = tree.children(node).find((child) => tree.frame(child) === frame);

		if (next === undefined)
			break;
		node = next;
	}
	return node;
}

/* What is drawn of a tree when one node takes the whole width: boxes {node, row, x, width}, rows from the root's, 0,
 * in which boxes stand from left to right. A box without a node (-1) is a run of several that are too narrow, within
 * one. Callers of the node take the whole width as well. */
function layOut(tree, zoomed, width) {
	const rows = [], scale = tree.total(zoomed) > 0 ? width / tree.total(zoomed) : 0, todo = [];
	const put = (row, box) => {
		while (rows.length <= row)
			rows.push([]);
		rows[row].push(box);
	};

	for (let i = tree.parent(zoomed); i !== NONE; i = tree.parent(i))
		put(tree.depth(i), { node: i, row: tree.depth(i), x: 0, width });
	todo.push({ node: zoomed, x: 0 });
	for (let at = 0; at < todo.length; at++) { // level by level, so that each row is in order
		const box = todo[at], row = tree.depth(box.node);

		put(row, { node: box.node, row, x: box.x, width: tree.total(box.node) * scale });
		layOutChildren(tree, box, scale, todo, (narrow) => put(row + 1, narrow));
	}
	for (const row of rows)
		row.sort((a, b) => a.x - b.x);
	return rows;
}

function layOutChildren(tree, box, scale, todo, putNarrow) {
	const row = tree.depth(box.node) + 1;
	let x = box.x, from = NONE;
	const end = () => {
		if (from !== NONE && x - from >= NARROWEST)
			putNarrow({ node: NONE, within: box.node, row, x: from, width: x - from });
		from = NONE;
	};

	for (const child of tree.children(box.node)) {
		const width = tree.total(child) * scale;

		if (width >= NARROWEST) {
			end();
			todo.push({ node: child, x });
		} else if (from === NONE) {
			from = x;
		}
		x += width;
	}
	end();
}

/* The box of a row that has a place, or null. */
function boxAt(row, x) {
	let low = 0, high = row ? row.length : 0;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (row[middle].x + row[middle].width <= x)
			low = middle + 1;
		else
			high = middle;
	}
	return row && low < row.length && row[low].x <= x ? row[low] : null;
}

/* As ripgrep: a pattern without capitals finds either case. */
function patternOf(text) {
	return new RegExp(text, /\p{Lu}/u.test(text.replace(/\\./gu, '')) ? 'u' : 'iu');
}

/* A pattern for one name; of a long one it is the beginning, as patterns must not be long either. */
function exactly(name) {
	const most = 1000, text = name.slice(0, most).replace(/[\ud800-\udbff]$/u, '');

	return `^${text.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&')}${name.length > most ? '' : '$'}`;
}

/* Which frames a pattern means, and what of the whole has one of them on its stack: each stack counts once. */
function search(calls, pattern) {
	const means = calls.names.map((frame) => pattern.test(frame.name)), inside = new Uint8Array(calls.size);
	let weight = 0;

	for (let i = 1; i < calls.size; i++) {
		inside[i] = inside[calls.parents[i]] || means[calls.frames[i]] ? 1 : 0;
		if (inside[i])
			weight += calls.selves[i];
	}
	return { means, weight, frames: means.filter(Boolean).length };
}

/* Each frame's own weight, and with all that it calls: on a stack where it stands several times, once. */
function functions(calls) {
	const found = calls.names.map((name, frame) => ({ frame, self: 0, total: 0 }));
	const open = new Int32Array(calls.names.length), stack = [];

	for (let i = 1; i < calls.size; i++) {
		const frame = calls.frames[i];

		while (stack.length && calls.ends[stack[stack.length - 1]] <= i)
			open[calls.frames[stack.pop()]]--;
		found[frame].self += calls.selves[i];
		if (!open[frame])
			found[frame].total += calls.totals[i];
		open[frame]++;
		stack.push(i);
	}
	return found.sort((a, b) => b.self - a.self || b.total - a.total || a.frame - b.frame);
}

/* The same name has the same number in every page: FNV-1a (32 bits) of its UTF-16 units, mixed once more, as names
 * that differ in their last letter alone would be neighbours. */
function hashOf(name) {
	let hash = 0x811c9dc5;

	for (let i = 0; i < name.length; i++)
		hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
	hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
	return (hash ^ (hash >>> 13)) >>> 0;
}

/* Hue, saturation and lightness, each with its width: how far a name's hash moves it. */
const KINDS = {
	program: { label: 'program', hue: [4, 24], saturation: 74 },
	library: { label: 'library', hue: [36, 18], saturation: 78 },
	kernel: { label: 'kernel', hue: [266, 24], saturation: 46 },
	jit: { label: 'made at run time', hue: [120, 36], saturation: 42 },
	inlined: { label: 'inlined', hue: [186, 26], saturation: 52 },
	unknown: { label: 'unknown', hue: [220, 6], saturation: 6 },
	task: { label: 'task', hue: [214, 8], saturation: 40 },
};

/* The page's data as they are used: a frame is the numbers of a name, a module and a kind, in this order. */
function decode(data) {
	const kinds = Object.keys(KINDS), frames = [];

	for (let i = 0; i < data.frames.length; i += 3)
		frames.push({ name: data.strings[data.frames[i]], module: data.strings[data.frames[i + 1]],
			kind: kinds[data.frames[i + 2]] });
	return { ...data, frames };
}

function colourOf(frame, dark) {
	const kind = KINDS[frame.kind], hash = hashOf(frame.name);
	const hue = kind.hue[0] + (hash % 1024) / 1023 * kind.hue[1];
	const lightness = (dark ? 26 : 68) + ((hash >>> 10) % 1024) / 1023 * (dark ? 10 : 14);

	return `hsl(${hue.toFixed(1)} ${dark ? Math.round(kind.saturation * 0.7) : kind.saturation}% ` +
		`${lightness.toFixed(1)}%)`;
}

function percent(part, whole) {
	return whole > 0 ? `${(100 * part / whole).toFixed(2)} %` : '0.00 %';
}

/* As gusprof's own reports have times. */
function timeOf(ns) {
	const units = [[1e9, 3, 's'], [1e6, 2, 'ms'], [1e3, 1, 'us'], [1, 0, 'ns']];
	const [scale, digits, unit] = units.find((u) => ns >= u[0]) || units[3];

	return `${(ns / scale).toFixed(digits)} ${unit}`;
}

/* Digits in threes, in every locale alike. */
function grouped(number) {
	return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/gu, ',');
}

function counted(number, one, many = `${one}s`) {
	return `${grouped(number)} ${number === 1 ? one : many}`;
}

function amount(weight, data) {
	return data.nsPerWeight ? timeOf(weight * data.nsPerWeight) : `${grouped(weight)} ${data.unit}`;
}

/* A text that is too long for a line, without its middle. */
function shortened(text, most) {
	const half = Math.floor((most - 1) / 2);

	return text.length <= most ? text : `${text.slice(0, half)}…${text.slice(text.length - half)}`;
}

/* The longest beginning of a text that fits a width, with an ellipsis if it is not all; "" where not two letters fit.
 * measure tells the width of a text. */
function fitted(text, width, measure) {
	let low = 0, high = Math.min(text.length - 1, Math.floor(width)); // no letter is narrower than a pixel

	if (text.length <= width && measure(text) <= width)
		return text;
	while (low < high) {
		const middle = (low + high + 1) >> 1;

		if (measure(`${text.slice(0, middle)}…`) <= width)
			low = middle;
		else
			high = middle - 1;
	}
	if (low > 0 && /[\ud800-\udbff]/u.test(text[low - 1]))
		low--; // not through the middle of a character
	return low < 2 ? '' : `${text.slice(0, low)}…`;
}

/* The view as a link has it: #search=WORD&zoom=1.2.3&inverted=1, and back. */
function readLink(hash) {
	const words = new URLSearchParams(hash.replace(/^#/u, ''));
	const path = words.get('zoom') || '';

	return { search: words.get('search') || '', inverted: words.get('inverted') === '1',
		zoom: /^\d+(\.\d+)*$/u.test(path) ? path.split('.').map(Number) : [] };
}

function writeLink(view) {
	const words = new URLSearchParams();

	if (view.search)
		words.set('search', view.search);
	if (view.zoom.length)
		words.set('zoom', view.zoom.join('.'));
	if (view.inverted)
		words.set('inverted', '1');
	return words.toString() ? `#${words}` : '';
}
