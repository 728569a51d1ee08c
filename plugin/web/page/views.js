/* The views, but for those that are pictures: each makes what main is to show, of the parts of its address. */
import { make, number, plural, bytes, heap, ask, canAsk, ROWS, place, short, swatch, typeLink, instancesLink, objectLink, goroutineLink, goroutineLinks, ownFrame, frameList, linked, shareBar, percent, rootText, rootNode, table, waitAt } from './base.js';
import { mergedDominators, treeTable } from './tree.js';
import { changes, growthColumn, changeColumn, before, growthSince, growthCell, growthColumns, sameObject, stackOf } from './compare.js';
import { goroutine } from './goroutine.js';
import { holders } from './holders.js';
import { values } from './value.js';
import { stringsLooked } from './recording.js';

export const title = (text, note) => make('h1', { tabindex: '-1' }, text, note ? make('small', {}, ' ' + note) : '');

/* Something that is there when the server has answered; until then, and if it does not, that is said, the latter below HEAD. */
export function later(promise, show, tag = 'div', head = '') {
	const element = make(tag, {}, make(tag === 'div' ? 'p' : tag, { class: 'wait' }, tag === 'div' ? 'Working' : ''));
	promise.then(show).then(shown => element.replaceChildren(...[shown].flat()),
		error => element.replaceChildren(head, make('p', { class: error.isMissing ? 'faint' : 'wrong' }, error.message)));
	return element;
}

/* Suspects. */

function finding(one) {
	const links = [];
	if (one.example && one.type)
		links.push(objectLink(one.example, `Open a ${one.type}`));
	if (one.root)
		links.push(rootNode(one.root));
	for (const [, name] of one.finding.matchAll(/ goroutines in (\S+) at /g))
		links.push(make('a', { href: place('search', name) }, `Goroutines in ${short(name)}`));
	for (const [, id] of one.finding.matchAll(/ goroutine (\d+) in /g))
		links.push(goroutineLink(id, `Goroutine ${id}`));
	return make('li', {}, make('p', {}, one.finding),
		make('div', {}, shareBar(one.bytes, heap.bytes), ' of the heap'),
		one.parts && one.parts.length > 0 ? table(one.parts, [
			{ head: 'Bytes', kind: 'n', show: part => bytes(part.bytes) },
			{ head: 'Objects', kind: 'n', show: part => number(part.objects) },
			{ head: 'Made of', kind: 'name', show: part => typeLink(part.type) },
		], { label: 'Its parts' }) : '',
		make('ul', { class: 'facts' }, ...links.map(link => make('li', {}, link))));
}

export function suspects() {
	return [title('Likely leaks', heap.older ? 'since the older dump' : ''),
		later(ask('suspects'), rows => rows.length > 0 ? make('ol', { class: 'findings' }, ...rows.map(finding))
			: make('p', {}, heap.older ? 'Nothing to tell: nothing has grown by much of the heap. See '
				: 'Nothing to tell: nothing keeps much of the heap by itself. See ',
			...(heap.older ? [make('a', { class: 'inline', href: place('growth') }, 'what has grown at all'), ', or '] : []),
			make('a', { class: 'inline', href: place('dominators') }, 'what keeps most alive'), '.'))];
}

/* Types, and the other ways to group. */

export const groupings = { type: 'Type', site: 'Allocation site', root: 'Variable or stack', path: 'Way that holds it', size: 'Size' };

export function choices(label, names, current, link) {
	return make('nav', { class: 'choices', 'aria-label': label }, ...Object.entries(names).map(([key, text]) =>
		make('a', { href: link(key), 'aria-current': key === current ? 'true' : undefined }, text)));
}

function groupName(by) {
	return row => by === 'type' ? typeLink(row.type) : String(row[by]);
}

/* ROWS with their growth, and after them what is gone. */
function compared(rows, changed, by) {
	const here = new Set(rows.map(row => row[by]));
	const gone = [...changed.values()].filter(row => row.change === 'gone' && !here.has(row[by])).map(row => ({ ...row, retained: 0 }));
	return [...rows.map(row => ({ bytes_growth: 0, ...changed.get(row[by]), ...row })), ...gone];
}

export function types(by = 'type') {
	return [title('Parts of the heap'),
		choices('Grouped by', groupings, by, key => place('types', key)),
		later(Promise.all([ask('histogram', { by, limit: 10000 }), changes(by)]), ([rows, changed]) => table(compared(rows, changed, by), [
			{ head: 'Bytes', kind: 'n', first: true, value: row => row.bytes, show: row => bytes(row.bytes) },
			{ head: 'Share', kind: 'n extra', show: row => shareBar(row.bytes, heap.bytes) },
			...(heap.older ? [growthColumn('Growth', 'bytes_growth', bytes), changeColumn] : []),
			{ head: 'Retained', kind: 'n', value: row => row.retained, show: row => bytes(row.retained) },
			{ head: 'Objects', kind: 'n extra', value: row => row.objects, show: row => number(row.objects) },
			{ head: 'Keeps most', kind: 'tight extra', show: row => row.largest ? objectLink(row.largest) : '' },
			{ head: groupings[by], kind: 'name', value: row => row[by], show: groupName(by) },
		], { label: 'The heap by ' + groupings[by].toLowerCase(), caption: 'Retained are the bytes that would go with them, those of others too.' }))];
}

const objectColumns = older => [
	{ head: 'Retained', kind: 'n', show: row => bytes(row.retained) },
	{ head: 'Share', kind: 'n extra', show: row => shareBar(row.retained, heap.bytes) },
	...growthColumns(older, 'retained', bytes),
	{ head: 'Size', kind: 'n extra', show: row => bytes(row.size) },
	{ head: 'Object', kind: 'tight', show: row => objectLink(row.object) },
	{ head: 'Type', kind: 'name', show: row => typeLink(row.type) },
];

/* A list of which the server gives the first, and more when that is asked for; beside what the older dump has, by KEY_OF. */
export function growing(name, parameters, draw, keyOf, first = ROWS) {
	let limit = first;
	const element = make('div', {});
	function fill() {
		const question = { ...parameters, limit };
		/* Garbage keeps nothing alive, which goheap says in other words. */
		const asked = ask(name, question).catch(error => name === 'dominators' && error.isAnswer ? [] : Promise.reject(error));
		element.append(later(Promise.all([asked, before(name, question, keyOf)]), ([rows, older]) => {
			const shown = [draw(rows, older)];
			if (rows.length === limit && limit < 10000 && canAsk(name, { ...parameters, limit: limit * 10 }))
				shown.push(make('button', { type: 'button', class: 'more', onclick: () => {
					limit *= 10;
					element.replaceChildren();
					fill();
				} }, 'Show more'));
			return shown;
		}));
	}
	fill();
	return element;
}

export function instances(type) {
	return [title([swatch(type), type].length > 0 ? make('span', {}, 'Objects of ', swatch(type), type) : ''),
		growing('instances', { type }, (rows, older) => table(rows, objectColumns(older), { rows: 10000, label: 'Objects of ' + type }), sameObject)];
}

/* The tree of dominators, a row for each object, and rows below it when it is opened. */

function twist(row, line, depth, grows) {
	const question = { address: row.object, limit: ROWS };
	if (!canAsk('dominators', question))
		return make('span', { class: 'twist' });
	const button = make('button', { type: 'button', class: 'twist', 'aria-expanded': 'false', 'aria-label': `Objects that ${row.object} keeps alive` }, '▸');
	let below = null;
	button.addEventListener('click', async () => {
		if (below) {
			below.forEach(one => one.closeBelow());
			below.forEach(one => one.remove());
			below = null;
		} else {
			below = [];
			const [rows, older] = await waitAt(button, Promise.all([ask('dominators', question), grows ? before('dominators', question, sameObject) : null]));
			below = rows.map(one => treeRow(one, depth + 1, older));
			if (rows.length === 0)
				button.replaceWith(make('span', { class: 'twist' }));
			if (rows.length === ROWS)
				below.push(moreRow(row, depth + 1));
			line.after(...below);
		}
		button.textContent = below ? '▾' : '▸';
		button.setAttribute('aria-expanded', below ? 'true' : 'false');
	});
	line.closeBelow = () => {
		if (below && below.length > 0)
			button.click();
	};
	return button;
}

function moreRow(row, depth) {
	const cell = make('td', { colspan: 5 }, objectLink(row.object, 'All that it keeps alive'));
	cell.style.paddingLeft = 18 * depth + 'px';
	const line = make('tr', {}, cell);
	line.closeBelow = () => {};
	return line;
}

function treeRow(row, depth, older) {
	const line = make('tr', {});
	const name = make('td', { class: 'name' });
	line.closeBelow = () => {};
	name.style.paddingLeft = 18 * Math.min(depth, 24) + 'px';
	name.append(row.retained > row.size ? twist(row, line, depth, older !== null) : make('span', { class: 'twist' }), typeLink(row.type), ' ', objectLink(row.object));
	line.append(make('td', { class: 'n' }, bytes(row.retained)), make('td', { class: 'n extra' }, shareBar(row.retained, heap.bytes)),
		...(older === null ? [] : [make('td', { class: 'n extra' }, ...[growthCell(older, row, 'retained', bytes)].flat())]),
		make('td', { class: 'n extra' }, bytes(row.size)), name);
	return line;
}

export function objectTree(rows, label, older = null) {
	return make('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': label }, make('table', { class: 'tree' },
		make('caption', { class: 'unseen' }, label), make('thead', {}, make('tr', {},
			...[['Retained', 'n'], ['Share', 'n extra'], ...(older === null ? [] : [['Growth', 'n extra']]), ['Size', 'n extra'], ['Object', 'name']].map(([head, kind]) =>
				make('th', { scope: 'col', class: kind }, head)))),
		make('tbody', {}, ...rows.map(row => treeRow(row, 0, older)))));
}

export const merging = { merged: 'Merged by type', objects: 'Object by object' };

export function dominators(how = 'merged') {
	return [title('Largest retained sizes', 'objects, and what would go with them'), choices('Objects', merging, how, key => place('dominators', key)),
		how === 'merged' ? later(mergedDominators(), top => treeTable(top, 'Types by what would go with them',
			{ head: 'Retained', name: 'Type', grows: Boolean(heap.older) }))
			: growing('dominators', {}, (rows, older) => objectTree(rows.filter(row => row.dominator === null), 'Objects by what would go with them', older), sameObject, 1000)];
}

/* An object. */

function step(one, isLast) {
	return make('li', { class: isLast ? 'here' : '' }, typeLink(one.type), ' ', objectLink(one.object),
		isLast ? '' : make('div', { class: 'faint' }, 'in ', one.field || '+' + one.offset));
}

function pathList(found) {
	if (!found.root)
		return make('p', {}, 'Nothing: it is garbage, no root leads to it.');
	return make('ol', { class: 'path' }, make('li', { class: 'root' }, rootNode(found.root)), ...found.path.map((one, i) =>
		one.skipped ? make('li', { class: 'faint' }, plural(one.skipped, 'more object')) : step(one, i === found.path.length - 1)));
}

/* What would go with the object, and by how much that has grown. */
function retained(one) {
	const question = { of: one.object };
	return later(Promise.all([ask('retained', question), before('retained', question, sameObject)]), ([[row], older]) => row === undefined ? 'garbage'
		: ['would go with it ', make('b', {}, bytes(row.retained)), `, ${percent(row.retained, heap.bytes)} of the heap`,
			...(older ? [', ', ...[growthCell(older, row, 'retained', bytes)].flat(), ' since the older dump'] : [])], 'li');
}

export function object(address, all = '') {
	return [later(ask('objects', { address }), ([one]) => [
		title(make('span', {}, swatch(one.type), one.type), one.object),
		make('ul', { class: 'facts' }, make('li', {}, 'size ', make('b', {}, bytes(one.size))),
			retained(one), make('li', {}, instancesLink(one.type, 'all of its type')),
			one.offset > 0 ? make('li', {}, `${address} is ${plural(one.offset, 'byte')} into it`) : ''),
		make('div', { class: 'columns' },
			make('section', {}, make('h2', {}, 'Value'), values(one),
				make('h2', {}, 'Objects that it keeps alive', make('small', {}, ' would go with it')),
				growing('dominators', { address: one.object }, (rows, older) => rows.length > 0 ? objectTree(rows, 'Objects that it keeps alive', older)
					: make('p', { class: 'faint' }, 'Nothing else.'), sameObject)),
			make('section', {}, make('h2', {}, 'Retaining path', make('small', {}, ' the shortest way')),
				later(ask('path', { address: one.object, limit: 40 }), ([found]) => [pathList(found),
					make('h2', {}, 'Pointers to it', make('small', {}, ' open each to go on to what holds that')),
					holders(one.object, found.path, all === 'all' ? 10000 : undefined)]))),
	], 'div', title('Object ' + address))];
}

/* Strings. */

export function strings(pattern = '') {
	const input = make('input', { type: 'search', value: pattern, 'aria-label': 'Those that match the regular expression', placeholder: 'Regular expression' });
	return [title('Strings', pattern !== '' && stringsLooked() > 0 ? `of the ${number(stringsLooked())} that take most` : 'those that take most first'),
		make('form', { onsubmit: event => {
			event.preventDefault();
			location.hash = input.value === '' ? place('strings') : place('strings', input.value);
		} }, input, ' ', make('button', { type: 'submit' }, 'Filter')),
		growing('strings', pattern === '' ? {} : { grep: pattern }, (rows, older) => table(rows, [
			{ head: 'Bytes', kind: 'n', first: true, value: row => row.bytes, show: row => bytes(row.bytes) },
			...growthColumns(older, 'bytes', bytes),
			{ head: 'Copies', kind: 'n', value: row => row.copies, show: row => number(row.copies) },
			{ head: 'Length', kind: 'n extra', value: row => row.length, show: row => number(row.length) },
			{ head: 'First', kind: 'tight extra', show: row => objectLink(row.object) },
			{ head: 'Text', kind: 'name', show: row => row.text.length > 300 ? row.text.slice(0, 300) + '…' : row.text },
		], { rows: 10000, label: 'Strings', none: 'No string matches.' }), row => row.text)];
}

/* Goroutines. */

function group(entry, older = null) {
	const top = ownFrame(entry.frames);
	const ids = entry.goroutines.slice(0, 200);
	const wait = entry.minutes > 0 ? `, ${plural(entry.minutes, 'minute')}` : '';
	const growth = older ? growthSince(older, entry, 'count') : 0;
	return make('details', {}, make('summary', {}, make('b', {}, number(entry.count)), ...(growth ? [' ', ...growthCell(older, entry, 'count', number)] : []), ` [${entry.status}${wait}] `,
		make('span', { class: 'mono' }, top ? top.function : '')),
	make('div', {}, frameList(entry.frames), make('p', { class: 'mono' }, 'goroutines ', ...goroutineLinks(ids), entry.count > ids.length ? '…' : '')));
}

function stacks() {
	const question = { group: '' };
	return later(Promise.all([ask('goroutines', question), before('goroutines', question, stackOf)]), ([rows, older]) => {
		const count = rows.reduce((sum, row) => sum + row.count, 0);
		return [make('p', { class: 'faint' }, `${plural(count, 'goroutine')} in ${plural(rows.length, 'group')} with the same stack`,
			heap.goroutines > count ? `; ${number(heap.goroutines - count)} of Go's own are left out` : ''), ...rows.map(row => group(row, older))];
	});
}

function memory() {
	const question = { memory: '' };
	return later(Promise.all([ask('goroutines', question), before('goroutines', question, row => rootText({ ...row.root, goroutine: 0 }))]), ([rows, older]) => table(rows, [
		{ head: 'Retained', kind: 'n', value: row => row.retained, first: true, show: row => bytes(row.retained) },
		...growthColumns(older, 'retained', bytes),
		{ head: 'Share', kind: 'n extra', show: row => shareBar(row.retained, heap.bytes) },
		{ head: 'Goroutines', kind: 'n', value: row => row.goroutines, show: row => number(row.goroutines) },
		{ head: 'Stack', kind: 'name', show: row => rootNode(row.root) },
	], { label: 'Memory that only their stacks keep alive', none: 'No stack keeps anything alive by itself.' }));
}

function waitText(row) {
	const channels = (row.channels || []).map(one => `${one.operation} ${one.address} ${one.type || ''}`);
	return linked([row.reason, ...channels, row.object, row.container ? `in ${row.container}` : '', row.target]
		.filter(Boolean).join(' '));
}

function waits() {
	const question = { group: '' };
	return later(Promise.all([ask('waits', question), before('waits', question, row => [row.reason, row.function, row.file, row.line].join())]), ([rows, older]) => table(rows, [
		{ head: 'Goroutines', kind: 'n', first: true, value: row => row.count, show: row => number(row.count) },
		...growthColumns(older, 'count', number),
		{ head: 'Longest', kind: 'n extra', value: row => row.waited, show: row => row.waited > 0 ? (row.waited / 1e9).toFixed(1) + ' s' : '' },
		{ head: 'Waits for', kind: 'name', show: waitText },
		{ head: 'In', kind: 'name', show: row => row.function + (row.file ? ` ${row.file.split('/').pop()}:${row.line}` : '') },
	], { label: 'Waits of goroutines', none: 'No goroutine waits.' }));
}

/* Goroutines that wait for each other: of a deadlock each for the next, which has the mutex. */
function circle(one) {
	const isDeadlock = one.part === 'deadlock';
	const head = !isDeadlock ? 'Only they lead to what they wait for' + (one.alike > 1 ? `; ${number(one.alike)} groups are like this one` : '')
		: `Deadlock: each waits for the next, which ${one.certain ? 'has' : 'perhaps has'} the mutex`;
	return [make('h2', {}, head), make('ol', {}, ...one.members.map(member => make('li', {}, goroutineLink(member.goroutine, `goroutine ${member.goroutine}`),
		' waits: ', ...waitText(member), make('div', { class: 'mono' }, member.function, member.file ? make('span', { class: 'faint' }, ` ${member.file}:${member.line}`) : ''))))];
}

function leaked() {
	/* Without the program deadlocks cannot be told. */
	const circles = ask('waits', { deadlocks: '' }).catch(error => error.isAnswer ? [] : Promise.reject(error));
	return later(Promise.all([circles, ask('goroutines', { leaked: '' })]), ([parts, rows]) => [
		...parts.filter(one => one.members).flatMap(circle), rows.length === 0 ? make('p', {}, 'All other goroutines can go on, as far as can be told.')
			: make('h2', {}, 'Each of those that can never go on'), ...rows.map(single)]);
}

function single(row) {
	return make('details', {}, make('summary', {}, 'goroutine ', goroutineLink(row.id), ` [${row.wait_reason || row.status}] `,
		make('span', { class: 'mono' }, row.frames.length > 0 ? ownFrame(row.frames).function : '')),
	make('div', {}, frameList(row.frames)));
}

const goroutineViews = { stacks: 'Stacks', memory: 'Memory', waits: 'Waits', leaked: 'Can never go on' };

export function goroutines(which = 'stacks') {
	if (/^[0-9]+$/.test(which))
		return goroutine(which);
	return [title('Goroutines'), choices('Goroutines', goroutineViews, which, key => place('goroutines', key)),
		{ stacks, memory, waits, leaked, __proto__: null }[which]()];
}

/* Search. */

const escapePattern = text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

export function search(text) {
	if (/^0x[0-9a-f]+$/i.test(text))
		return object(text);
	const lower = text.toLowerCase();
	return [title('Search: ' + text),
		make('h2', {}, 'Types'),
		later(ask('histogram', { by: 'type', limit: 10000 }), rows => table(rows.filter(row => row.type.toLowerCase().includes(lower)), [
			{ head: 'Bytes', kind: 'n', show: row => bytes(row.bytes) },
			{ head: 'Objects', kind: 'n', show: row => number(row.objects) },
			{ head: 'Type', kind: 'name', show: row => typeLink(row.type) },
		], { rows: 20, label: 'Types', none: 'No type matches.' })),
		make('h2', {}, 'Functions on stacks'),
		later(ask('goroutines', { group: '' }), rows => {
			const found = rows.filter(row => row.frames.some(frame => frame.function.toLowerCase().includes(lower)));
			return found.length > 0 ? found.map(row => group(row)) : make('p', { class: 'faint' }, 'No stack has such a function.');
		}),
		make('h2', {}, 'Strings', stringsLooked() > 0 ? make('small', {}, ` of the ${number(stringsLooked())} that take most`) : ''),
		later(ask('strings', { grep: escapePattern(text), limit: 50 }), rows => table(rows, [
			{ head: 'Bytes', kind: 'n', show: row => bytes(row.bytes) },
			{ head: 'Copies', kind: 'n', show: row => number(row.copies) },
			{ head: 'First', kind: 'tight', show: row => objectLink(row.object) },
			{ head: 'Text', kind: 'name', show: row => row.text.slice(0, 300) },
		], { label: 'Strings', none: 'No string matches.' }))];
}
