/* The map: a box is an object with all that would go with it; a box that is chosen fills the map. Behind it is the same as a
   table. */
import { make, bytes, heap, ask, place, hue, objectLink, percent } from './base.js';
import { squarify } from './squarify.js';
import { title, later, objectTree } from './views.js';

const BOXES = 100; /* of an object */

const text = row => `${row.type} · ${bytes(row.retained)}`;

function box(row, where) {
	const element = make('a', { class: 'box', href: place('map', row.object), title: `${row.type} ${row.object}\n${bytes(row.retained)}, ${percent(row.retained, heap.bytes)}` });
	Object.assign(element.style, { left: where.x + 'px', top: where.y + 'px', width: where.w + 'px', height: where.h + 'px',
		background: `hsl(${hue(row.type)} var(--box-strength) var(--box-light))` });
	element.append(make('span', where.w > 40 && where.h > 16 ? {} : { class: 'unseen' }, text(row)));
	return element;
}

/* The share of the map that ROWS take is theirs of WHOLE bytes: the rest is the object's own, or of what is too small. */
function fill(map, rows, whole) {
	const inside = rows.reduce((sum, row) => sum + row.retained, 0);
	map.replaceChildren();
	squarify(rows, { x: 0, y: 0, w: map.clientWidth * Math.min(1, whole > 0 ? inside / whole : 0), h: map.clientHeight }, (row, where) => {
		if (where.w >= 3 && where.h >= 3)
			map.append(box(row, where));
	});
}

/* Rows below an object, or without one the topmost. */
async function below(address) {
	const rows = await ask('dominators', address ? { address, limit: BOXES } : { limit: 1000 });
	return address ? rows : rows.filter(row => row.dominator === null).slice(0, BOXES);
}

export function map(address) {
	const picture = make('div', { class: 'map', role: 'group', 'aria-label': 'Map of what is kept alive; the table below it says the same' });
	return [title('Map', address ? '' : 'what keeps most alive, and what it keeps'),
		later(Promise.all([below(address), address ? ask('objects', { address, limit: 1 }) : [null], address ? ask('path', { address, limit: 100 }) : [null]]), ([rows, [object]]) => {
			const whole = address ? rows.reduce((sum, row) => sum + row.retained, object.size) : heap.bytes;
			new ResizeObserver(() => fill(picture, rows, whole)).observe(picture);
			return [make('p', { class: 'choices' }, make('a', { href: place('map') }, 'Whole heap'), ...(object ? [' › ', objectLink(object.object, object.type),
				` ${bytes(whole)}`] : [])), picture, make('h2', {}, 'As a table'), objectTree(rows, 'What the map shows')];
		})];
}
