/* Merged trees: what is alike, and held alike, is one node. A node has a name, the bytes in it and below it, how many objects or
   goroutines, perhaps one of its objects, by how much it has grown, and what is below it, the most first. */
import { make, number, bytes, signed, heap, swatch, objectLink, shareBar, place } from './base.js';

const SHOWN = 50; /* nodes below one, at first */

function node(name) {
	return { name, bytes: 0, count: 0, growth: 0, below: new Map() };
}

/* Sorts what is below each node. */
function finish(top) {
	const left = [top];
	while (left.length > 0) {
		const one = left.pop();
		one.below = [...one.below.values()].sort((a, b) => b.bytes - a.bytes || b.growth - a.growth);
		left.push(...one.below);
	}
	return top;
}

/* The tree of ROWS, each with the names of its frames, from the outermost on. */
export function fromFrames(name, rows) {
	const top = node(name);
	for (const row of rows) {
		let one = top;
		for (const frame of [null, ...row.frames]) {
			if (frame !== null) {
				if (!one.below.has(frame))
					one.below.set(frame, node(frame));
				one = one.below.get(frame);
			}
			one.bytes += row.bytes;
			one.count += row.count;
			one.growth += row.growth || 0;
		}
		one.object = one.object || row.object;
	}
	return finish(top);
}

/* The tree of merged dominators, as `goheap dominators --merged --json' has them: each row after the one that it is below. */
export function fromDominators(rows) {
	const top = node('');
	const open = [top];
	rows.forEach((row, i) => {
		const one = Object.assign(node(row.type), { bytes: row.retained, count: row.objects, object: row.object, type: row.type });
		open.length = row.depth + 1;
		open[row.depth].below.set(i, one);
		open.push(one);
		top.bytes += row.depth === 0 ? row.retained : 0;
	});
	return finish(top);
}

/* The node of TOP to which WHERE leads, numbers of nodes with dots between; with those above it. */
export function find(top, where) {
	const chain = [top];
	for (const part of where === undefined || where === '' ? [] : where.split('.')) {
		const next = chain.at(-1).below[part];
		if (!next)
			break;
		chain.push(next);
	}
	return chain;
}

function change(one) {
	return make('span', { class: one.growth > 0 ? 'grow' : one.growth < 0 ? 'shrink' : 'faint' }, signed(one.growth, bytes));
}

function cells(one, options) {
	return [make('td', { class: 'n' }, options.counts ? number(one.count) : bytes(one.bytes)),
		make('td', { class: 'n extra' }, shareBar(options.counts ? one.count : one.bytes, options.whole)),
		...(options.grows ? [make('td', { class: 'n' }, change(one))] : []),
		...(options.counts ? [] : [make('td', { class: 'n extra' }, number(one.count))])];
}

function label(one) {
	return [one.type ? make('span', {}, swatch(one.type), make('a', { href: place('instances', one.type) }, one.type)) : one.name,
		...(one.object ? [' ', objectLink(one.object, one.count > 1 ? 'the largest' : one.object)] : [])];
}

function row(one, depth, options) {
	const name = make('td', { class: 'name' });
	const line = make('tr', {}, ...cells(one, options), name);
	let below = null;
	line.closeBelow = () => below && button.click();
	const button = make('button', { type: 'button', class: 'twist', 'aria-expanded': 'false', 'aria-label': `What is below ${one.name}`, onclick: () => {
		if (below) {
			below.forEach(each => { each.closeBelow(); each.remove(); });
			below = null;
		} else {
			below = lines(one, depth + 1, options, SHOWN);
			line.after(...below);
		}
		button.textContent = below ? '▾' : '▸';
		button.setAttribute('aria-expanded', String(below !== null));
	} }, '▸');
	name.style.paddingLeft = 18 * Math.min(depth, 24) + 'px';
	name.append(one.below.length > 0 ? button : make('span', { class: 'twist' }), ...label(one));
	return line;
}

/* Rows for what is below ONE, and for the rest, when there is much, one that shows it. */
function lines(one, depth, options, limit) {
	const list = one.below.slice(0, limit).map(each => row(each, depth, options));
	if (one.below.length > limit) {
		const rest = make('tr', {}, make('td', { colspan: 5 }, make('button', { type: 'button', class: 'more', onclick: () => {
			const more = lines({ below: one.below.slice(limit) }, depth, options, limit * 4);
			rest.replaceWith(...more);
			rest.closeBelow = () => more.forEach(each => { each.closeBelow(); each.remove(); });
		} }, `Show more of ${number(one.below.length)}`)));
		rest.closeBelow = () => {};
		list.push(rest);
	}
	return list;
}

/* The tree below TOP as a table, in which each row opens. COUNTS: of goroutines, and not bytes. */
export function treeTable(top, text, options = {}) {
	const how = { whole: heap.bytes, ...options };
	const heads = [how.counts ? ['Goroutines', 'n'] : [how.head || 'Bytes', 'n'], ['Share', 'n extra'], ...(how.grows ? [['Growth', 'n']] : []),
		...(how.counts ? [] : [['Objects', 'n extra']]), [how.name || 'Name', 'name']];
	return make('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': text }, make('table', { class: 'tree' },
		make('caption', { class: 'unseen' }, text), make('thead', {}, make('tr', {}, ...heads.map(([head, kind]) =>
			make('th', { scope: 'col', class: kind }, head)))), make('tbody', {}, ...lines(top, 0, how, SHOWN))));
}
