/* Merged trees: what is alike, and held alike, is one node. A node has a name, the bytes in it and below it, how many objects or
   goroutines, perhaps one of its objects, by how much it has grown, if that is known, and what is below it, the most first. */
import { make, number, bytes, signed, heap, ask, hue, typeLink, objectLink, shareBar } from './base.js';

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
		for (const each of one.below)
			left.push(each);
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
function fromDominators(rows) {
	const top = node('the heap');
	const open = [top];
	rows.forEach((row, i) => {
		const one = Object.assign(node(row.type), { bytes: row.retained, count: row.objects, object: row.object, type: row.type, holder: row.holder });
		open.length = row.depth + 1;
		open[row.depth].below.set(i, one);
		open.push(one);
		top.bytes += row.depth === 0 ? row.retained : 0;
	});
	return finish(top);
}

/* What holds a node, without what differs from one dump to the next: how many goroutines, their numbers, addresses. */
const holderOf = one => (one.holder || '').replace(/^([\d,]+ goroutines in |goroutine \d+, )/, '').replace(/, and [\d,]+ more roots?$/, '')
	.replace(/ \(\w+, 0x[0-9a-f]+\)$/, '');

/* For each node below NOW the one below BEFORE that is the same: of the same type, and held alike; of what has none, of the same
   type. And those that are left. */
function pair(now, before) {
	const found = new Map();
	let left = before;
	for (const keyOf of [one => one.type + '\n' + holderOf(one), one => one.type]) {
		const byKey = Map.groupBy(left, keyOf);
		for (const one of now.filter(each => !found.has(each))) {
			const list = byKey.get(keyOf(one));
			if (list && list.length > 0)
				found.set(one, list.shift());
		}
		left = [...byKey.values()].flat();
	}
	return { found, left };
}

/* Notes by how much what is below NOW has grown since BEFORE, and adds what is gone. What is missing in a tree that is not whole
   may be there nonetheless. */
function compare(now, before, isWhole, wasWhole) {
	const work = [[now, before]];
	now.growth = now.bytes - before.bytes;
	while (work.length > 0) {
		const [one, previous] = work.pop();
		const { found, left } = pair(one.below, previous ? previous.below : []);
		for (const each of one.below) {
			const same = found.get(each);
			each.growth = same ? each.bytes - same.bytes : wasWhole ? each.bytes : undefined;
			each.change = same || !wasWhole ? '' : 'new';
			work.push([each, same]);
		}
		if (isWhole)
			one.below.push(...left.map(gone => ({ ...gone, bytes: 0, count: 0, growth: -gone.bytes, change: 'gone', object: undefined, below: [] })));
	}
	return now;
}

/* The tree of what keeps what alive, by types; with its growth if there is an older dump. */
export async function mergedDominators() {
	const limit = 10000, question = { merged: '', limit };
	const [rows, older] = await Promise.all([ask('dominators', question), heap.older ? ask('dominators', { ...question, older: '' }) : null]);
	const now = fromDominators(rows);
	return older ? compare(now, fromDominators(older), rows.length < limit, older.length < limit) : now;
}

/* The colour of a box: by its name or, if there is an older dump, red for what has grown and green for what has become less. */
export function colour(one, grows) {
	if (!grows)
		return `hsl(${hue(one.name)} var(--box-strength) var(--box-light))`;
	const growth = one.growth || 0;
	const share = one.bytes > 0 ? Math.min(1, Math.abs(growth) / one.bytes) : 0;
	return `hsl(${growth >= 0 ? 6 : 140} ${Math.round(75 * share)}% var(--box-light))`;
}

export const legend = grows => grows ? make('p', { class: 'faint' }, 'Red has grown since the older dump, the stronger the more; green has become less.') : '';

/* The same for a title. */
export const growthText = (one, grows, show = bytes) => !grows || one.growth === undefined ? ''
	: one.growth === 0 ? ', no change' : `, ${signed(one.growth, show)}`;

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

function nodeChange(one, show) {
	return one.growth === undefined ? '' : make('span', { class: one.growth > 0 ? 'grow' : one.growth < 0 ? 'shrink' : 'faint' }, signed(one.growth, show),
		one.change ? make('span', { class: 'faint' }, ' ' + one.change) : '');
}

function cells(one, options) {
	return [make('td', { class: 'n' }, options.counts ? number(one.count) : bytes(one.bytes)),
		make('td', { class: 'n extra' }, shareBar(options.counts ? one.count : one.bytes, options.whole)),
		...(options.grows ? [make('td', { class: 'n' }, nodeChange(one, options.counts ? number : bytes))] : []),
		...(options.counts ? [] : [make('td', { class: 'n extra' }, number(one.count))])];
}

function label(one) {
	return [one.type ? typeLink(one.type) : make('span', {}, one.name),
		...(one.object ? [' ', objectLink(one.object, one.count > 1 ? 'the largest' : one.object)] : []),
		...(one.holder ? [make('div', { class: 'faint' }, (one.holder.startsWith('in several ways') ? 'held ' : 'held by ') + one.holder)] : [])];
}

function mergedRow(one, depth, options) {
	const name = make('td', { class: 'name' });
	const line = make('tr', {}, ...cells(one, options), name);
	let below = null;
	line.closeBelow = () => below && button.click();
	const button = make('button', { type: 'button', class: 'twist', 'aria-expanded': 'false', 'aria-label': `Entries below ${one.name}`, onclick: () => {
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
	const list = one.below.slice(0, limit).map(each => mergedRow(each, depth, options));
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
