/* Flame graphs, from the top down: of the ways that hold the heap, of where it was allocated, and of goroutines' stacks. A box
   that is chosen takes the whole width. Behind the picture is the same as a table. */
import { make, number, plural, bytes, heap, ask, place, short, percent } from './base.js';
import { title, later, choices } from './views.js';
import { fromFrames, find, treeTable, colour, growthText, legend } from './tree.js';

const ROW = 20;   /* pixels */
const DEPTH = 60; /* rows */

const kinds = { paths: 'Holders', sites: 'Places of allocation', stacks: 'Goroutines' };

/* Ways that hold the heap and, if there is an older dump, how they have grown. */
async function paths() {
	const limit = 10000;
	const [rows, changes] = await Promise.all([ask('histogram', { by: 'path', limit }), heap.older ? ask('diff', { by: 'path', limit }) : []]);
	const growth = new Map(changes.map(row => [row.path, row.bytes_growth]));
	const list = rows.map(row => ({ frames: row.path.split(' -> '), bytes: row.bytes, count: row.objects, object: row.largest, growth: growth.get(row.path) }));
	const gone = changes.filter(row => row.bytes === 0).map(row => ({ frames: row.path.split(' -> '), bytes: 0, count: 0, growth: row.bytes_growth }));
	return fromFrames('the heap', [...list, ...gone]);
}

/* The same of what is asked by NAME, of which LIST makes rows with frames. The older dump may have no answer. */
async function grown(name, parameters, list) {
	const [now, older] = await Promise.all([ask(name, parameters),
		heap.older ? ask(name, { ...parameters, older: '' }).catch(error => error.isAnswer ? [] : Promise.reject(error)) : []]);
	const left = new Map();
	for (const row of list(older)) {
		const key = row.frames.join('\n');
		left.set(key, { frames: row.frames, bytes: 0, count: 0, growth: (left.has(key) ? left.get(key).growth : 0) - row.bytes });
	}
	return [...list(now).map(row => ({ ...row, growth: row.bytes })), ...left.values()];
}

const frameName = frame => frame.function + (frame.file ? ` ${frame.file.split('/').pop()}:${frame.line}` : '');

async function sites() {
	return fromFrames('what was sampled', await grown('profile', {}, rows => rows.filter(row => row.inuse_bytes > 0).map(row =>
		({ frames: row.stack.map(frameName).reverse(), bytes: row.inuse_bytes, count: row.inuse_objects }))));
}

async function stackTree() {
	return fromFrames('all goroutines', await grown('goroutines', { group: '' }, rows => rows.map(row =>
		({ frames: row.frames.map(frame => frame.function).reverse(), bytes: row.count, count: row.count }))));
}

/* How much is in a box, and how it has grown. */
function size(one, kind, grows) {
	const isCount = kind === 'stacks';
	return (isCount ? plural(one.count, 'goroutine') : `${bytes(one.bytes)}, ${plural(one.count, 'object')}`) + growthText(one, grows, isCount ? number : bytes);
}

function flameBox(one, kind, link, grows) {
	return make('a', { class: 'box', href: link, title: `${one.name}\n${size(one, kind, grows)}` }, short(one.name));
}

/* Draws the chain of nodes down to the one that is chosen, each as wide as all, and what is below that. */
function draw(picture, chain, kind, where, grows) {
	const width = picture.clientWidth;
	const steps = where === '' ? [] : where.split('.');
	picture.replaceChildren();
	let deepest = 0;
	function put(one, x, w, depth, path) {
		if (w < 2 || depth > DEPTH)
			return;
		const element = flameBox(one, kind, place('flame', kind, path), grows);
		Object.assign(element.style, { left: x + 'px', top: depth * ROW + 'px', width: w + 'px', height: ROW + 'px', background: colour(one, grows) });
		if (w < 30)
			element.replaceChildren(make('span', { class: 'unseen' }, short(one.name)));
		picture.append(element);
		deepest = Math.max(deepest, depth);
	}
	function below(one, x, w, depth, path) {
		let at = x;
		one.below.forEach((each, i) => {
			const part = one.bytes > 0 ? w * each.bytes / one.bytes : 0;
			const next = path === '' ? String(i) : `${path}.${i}`;
			if (part >= 2 && depth <= DEPTH) {
				put(each, at, part, depth, next);
				below(each, at, part, depth + 1, next);
			}
			at += part;
		});
	}
	chain.forEach((one, i) => put(one, 0, width, i, steps.slice(0, i).join('.')));
	below(chain.at(-1), 0, width, chain.length, where);
	picture.style.height = (deepest + 1) * ROW + 'px';
}

const notes = {
	paths: 'each byte once, below the variable or stack that holds it',
	sites: 'what the program’s own profile has sampled, and is in use',
	stacks: 'from where they began to where they are',
};

export function flame(kind = 'paths', where = '') {
	const picture = make('div', { class: 'flame', role: 'group', 'aria-label': 'Flame graph; the table below it says the same' });
	return [title('Flame graph', notes[kind]), choices('Group by', kinds, kind, key => place('flame', key)),
		later({ paths, sites, stacks: stackTree }[kind](), top => {
			const chain = find(top, where);
			const chosen = chain.at(-1);
			const grows = Boolean(heap.older);
			if (top.bytes === 0)
				return make('p', {}, kind === 'sites' ? 'The dump has no profile of allocations: MemProfileRate was 0.' : 'There is nothing.');
			new ResizeObserver(() => draw(picture, chain, kind, where, grows)).observe(picture);
			const whole = kind === 'paths' ? heap.bytes : kind === 'sites' ? top.bytes : top.count;
			return [make('p', {}, make('b', {}, chosen.name), `: ${size(chosen, kind, grows)}${grows ? ' since the older dump' : ''}, `,
				`${percent(kind === 'stacks' ? chosen.count : chosen.bytes, whole)} of ${kind === 'stacks' ? 'all' : kind === 'paths' ? 'the heap' : 'what was sampled'}`),
			picture, legend(grows), make('h2', {}, 'As a table'),
			treeTable(chosen, 'The flame graph as a table', { counts: kind === 'stacks', grows, whole, name: kind === 'paths' ? 'Held by' : 'Call' })];
		})];
}
