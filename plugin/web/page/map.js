/* The map: a box is an object with all that would go with it; a box that is chosen fills the map. Behind it is the same as a
   table. */
import { make, bytes, heap, ask, canAsk, ROWS, place, short, objectLink, percent } from './base.js';
import { squarify } from './squarify.js';
import { title, later, choices, merging, objectTree } from './views.js';
import { before, growthSince, sameObject } from './compare.js';
import { mergedDominators, find, treeTable, colour, growthText, legend } from './tree.js';

const text = row => `${short(row.type)} · ${bytes(row.retained)}`;

function mapBox(row, where) {
	const link = row.link || (canAsk('dominators', { address: row.object, limit: ROWS }) ? place('map', row.object) : undefined);
	const element = make('a', { class: 'box', href: link, title: `${row.type} ${row.object}\n${bytes(row.retained)}, ${percent(row.retained, heap.bytes)}${row.growth}` });
	Object.assign(element.style, { left: where.x + 'px', top: where.y + 'px', width: where.w + 'px', height: where.h + 'px',
		background: row.colour });
	element.append(make('span', where.w > 40 && where.h > 16 ? {} : { class: 'unseen' }, text(row)));
	return element;
}

/* Garbage is part of the whole heap, though in no box. */
const heapGrowth = () => ({ growth: heap.bytes - heap.older_bytes });

const sumOf = rows => rows.reduce((sum, row) => sum + row.retained, 0);

/* What the blank part of a map of WHOLE bytes is. */
const rest = (rows, whole, what) => whole - sumOf(rows) > whole / 100 ? make('p', { class: 'faint' },
	`The blank part, ${bytes(whole - sumOf(rows))}, is ${what}.`) : '';

/* The share of the map that ROWS take is theirs of WHOLE bytes: the rest is the object's own, or of what is too small. */
function fill(map, rows, whole) {
	const inside = sumOf(rows);
	map.replaceChildren();
	squarify(rows, { x: 0, y: 0, w: map.clientWidth * Math.min(1, whole > 0 ? inside / whole : 0), h: map.clientHeight }, (row, where) => {
		if (where.w >= 3 && where.h >= 3)
			map.append(mapBox(row, where));
	});
}

/* Rows below an object, or without one the topmost; and those of the older dump. */
async function below(address) {
	const question = address ? { address, limit: ROWS } : { limit: 1000 };
	const [rows, older] = await Promise.all([ask('dominators', question), before('dominators', question, sameObject)]);
	const shown = address ? rows : rows.filter(row => row.dominator === null).slice(0, ROWS);
	return { older, rows: shown.map(row => {
		const one = { name: row.type, bytes: row.retained, growth: older ? growthSince(older, row, 'retained') : undefined };
		return { ...row, colour: colour(one, older), growth: growthText(one, older) };
	}) };
}

const ways = current => choices('Objects', merging, current, key => key === 'merged' ? place('map') : place('map', 'objects'));

const frame = () => make('div', { class: 'map', role: 'group', 'aria-label': 'Map of what is kept alive; the table below it says the same' });

/* Of types: a box is what is alike, and kept alive alike. */
function merged(where) {
	const picture = frame();
	return [title('Map', 'what keeps most alive, and what it keeps'), ways('merged'),
		later(mergedDominators(), top => {
			const chain = find(top, where), grows = Boolean(heap.older);
			const chosen = chain.at(-1);
			const steps = where === '' ? [] : where.split('.');
			const step = i => place('map', 'merged', steps.slice(0, i).join('.'));
			const whole = chain.length > 1 ? chosen.bytes : heap.bytes;
			const boxes = chosen.below.slice(0, ROWS).filter(one => one.bytes > 0).map((one, i) => ({ type: one.type, object: one.object, retained: one.bytes,
				colour: colour(one, grows), growth: growthText(one, grows),
				link: one.below.length > 0 ? place('map', 'merged', [...steps, i].join('.')) : undefined }));
			new ResizeObserver(() => fill(picture, boxes, whole)).observe(picture);
			return [make('p', { class: 'choices crumbs' }, make('a', { href: place('map') }, 'Whole heap'),
				...chain.slice(1).flatMap((one, i) => [' › ', make('a', { href: step(i + 1) }, one.type)]), ` ${bytes(whole)}${growthText(chain.length > 1 ? chosen : heapGrowth(), grows)}`), picture,
			rest(boxes, whole, chain.length > 1 ? 'their own bytes, or in more than is drawn' : 'garbage, or in more than is drawn'),
			legend(grows), make('h2', {}, 'As a table'), treeTable(chosen, 'The map as a table', { head: 'Retained', name: 'Type', grows })];
		})];
}

export function map(what = 'merged', where = '') {
	if (what === 'merged')
		return merged(where);
	const address = what === 'objects' ? undefined : what;
	const picture = frame();
	return [title('Map', address ? '' : 'what keeps most alive, and what it keeps'), ways('objects'),
		later(Promise.all([below(address), address ? ask('objects', { address }) : [null]]), ([{ rows, older }, [object]]) => {
			const whole = address ? object.size + sumOf(rows) : heap.bytes;
			new ResizeObserver(() => fill(picture, rows, whole)).observe(picture);
			return [make('p', { class: 'choices crumbs' }, make('a', { href: place('map', 'objects') }, 'Whole heap'), ...(object ? [' › ', objectLink(object.object, object.type)] : []),
				` ${bytes(whole)}${object ? '' : growthText(heapGrowth(), older)}`), picture,
			rest(rows, whole, address ? 'its own bytes' : 'garbage, or in more than is drawn'), legend(older), make('h2', {}, 'As a table'), objectTree(rows, 'The map as a table', older)];
		})];
}
