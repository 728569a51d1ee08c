/* What all views share: elements, numbers, links, tables, and what is asked of the server. Whatever comes from a heap
   is text: nothing here makes markup of it. */

import { visible } from './visible.js';

export function make(tag, attributes, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {})) {
		if (name.startsWith('on'))
			element.addEventListener(name.slice(2), value);
		else if (value !== false && value !== undefined && value !== null)
			element.setAttribute(name, value === true ? '' : name === 'title' || name === 'aria-label' ? visible(value) : value);
	}
	element.append(...children.filter(child => child !== null && child !== undefined && child !== '').map(visible));
	return element;
}

export const at = id => document.getElementById(id);
export const number = n => n.toLocaleString('en-US');
export const plural = (n, word) => number(n) + ' ' + word + (n === 1 ? '' : 's');

export function bytes(n) {
	const units = ['B', 'kB', 'MB', 'GB', 'TB'];
	let unit = 0;
	for (; n >= 1000 && unit < units.length - 1; unit++)
		n /= 1000;
	return (unit === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)) + ' ' + units[unit];
}

export const signed = (n, show) => (n > 0 ? '+' : n < 0 ? '−' : '') + show(Math.abs(n));
export const percent = (part, whole) => (whole > 0 ? (100 * part / whole).toFixed(1) : '0.0') + '%';

/* The whole heap, as `goheap info' has it. */
export const heap = { bytes: 0 };

/* The server. */

const answers = new Map();

/* The words by which the same is asked of goheap in a shell. */
function words(name, parameters) {
	const quote = text => /^[\w@%+=:,./*-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
	const operands = ['address', 'type', 'query'];
	const list = Object.entries(parameters).filter(([key]) => !operands.includes(key) && key !== 'older')
		.map(([key, value]) => value === '' ? `--${key}` : `--${key}=${quote(String(value))}`);
	const dump = 'older' in parameters ? [quote(heap.older)] : heap.process ? ['-p', heap.process] : [quote(heap.path || 'DUMP')];
	const of = heap.program ? ['-e', quote(heap.program)] : [];
	return ['goheap', name, ...of, ...(name === 'diff' ? [quote(heap.older), ...dump] : dump), ...list,
		...(name === 'suspects' && heap.older ? [quote(heap.older)] : []),
		...operands.filter(key => key in parameters).map(key => quote(parameters[key]))].join(' ');
}

let shown = [];

/* What the view asks that no other does, and is not answered yet: how to stop it, by address. */
const own = new Map();

/* From now on another view is shown. */
export function forgetCommands() {
	shown = [];
	for (const [url, stop] of own) {
		answers.delete(url);
		stop.abort();
	}
	own.clear();
	at('command').replaceChildren();
}

function tellCommand(line) {
	if (shown.includes(line) || shown.length > 4)
		return;
	shown.push(line);
	at('command').replaceChildren('In a shell: ', ...shown.flatMap((one, i) => i === 0 ? [make('code', {}, one)]
		: ['; ', make('code', {}, one)]));
}

async function load(url, isText, signal) {
	const response = await fetch(url, { credentials: 'same-origin', signal }).catch(() => {
		throw new Error('goheap web has ended: start it again, and open the address that it prints');
	});
	const text = await response.text();
	if (!response.ok || response.headers.get('Content-Type').startsWith('text/x-reason'))
		throw Object.assign(new Error(text.trim()), { isAnswer: response.ok });
	return isText ? text : text.split('\n').filter(line => line !== '').map(line => JSON.parse(line));
}

/* Asks api/NAME, and gives its rows, or with TEXT what it prints. The same is not asked again while it is remembered. */
export function ask(name, parameters = {}, isText = false) {
	const url = `api/${name}?${new URLSearchParams(parameters)}`;
	/* Of what one view asks, what a person would. */
	if (name !== 'source' && name !== 'info' && !('older' in parameters) && (name !== 'sql' || location.hash.startsWith('#/query')))
		tellCommand(words(name, parameters));
	let answer = answers.get(url);
	if (!answer) {
		const stop = new AbortController();
		if (name === 'sql' || 'grep' in parameters)
			own.set(url, stop);
		answer = load(url, isText, stop.signal);
		answers.set(url, answer);
		answer.catch(() => answers.get(url) === answer && answers.delete(url)).then(() => own.get(url) === stop && own.delete(url));
		if (answers.size > 200)
			answers.delete(answers.keys().next().value);
	}
	return answer;
}

/* Waits for PROMISE, and shows that beside BUTTON; and why there is no answer. */
export async function waitAt(button, promise) {
	button.setAttribute('aria-busy', 'true');
	try {
		return await promise;
	} catch (error) {
		button.after(make('span', { class: 'wrong' }, error.message + ' '));
		throw error;
	} finally {
		button.removeAttribute('aria-busy');
	}
}

/* Links. A view's address is what is after the number sign, its parts between slashes. */

export const place = (...parts) => '#/' + parts.map(encodeURIComponent).join('/');

/* The same type has the same colour wherever it is. */
export function hue(name) {
	let hash = 7;
	for (const letter of name)
		hash = (hash * 31 + letter.codePointAt(0)) >>> 0;
	return hash % 360;
}

export function swatch(name) {
	const element = make('span', { class: 'swatch', 'aria-hidden': 'true' });
	element.style.background = `hsl(${hue(name)} 55% var(--swatch-light))`;
	return element;
}

export function typeLink(type) {
	return make('span', { class: 'type' }, swatch(type), make('a', { href: place('instances', type) }, type));
}

export const objectLink = (address, text) => make('a', { href: place('object', address), class: 'mono' }, text || address);

/* TEXT with each address in it as a link. */
export function linked(text) {
	return text.split(/(\b0x[0-9a-f]{5,16}\b)/).map((part, i) => i % 2 === 1 ? objectLink(part) : part);
}

export function shareBar(part, whole) {
	const bar = make('i', {});
	bar.style.width = Math.min(100, Math.max(0, whole > 0 ? 100 * part / whole : 0)) + '%';
	return make('span', {}, make('span', { class: 'share', 'aria-hidden': 'true' }, bar), percent(part, whole));
}

/* NAME without the paths of packages, where there is little room. */
export const short = name => name.replace(/[\w.~-]+\//g, '');

/* What holds an object from outside the heap. */
export function rootText(root) {
	const where = root.file ? ` at ${root.file.split('/').pop()}:${root.line}` : '';
	const perhaps = root.conservative ? ' (perhaps)' : '';
	switch (root.kind) {
	case 'data':
	case 'bss':
		return (root.variable ? root.variable
			: root.global ? `global ${root.global}` + (root.functions && root.functions.length > 0 ? ` of ${root.functions.join(', ')}` : '')
				: `${root.kind} ${root.address}`) + perhaps;
	case 'stack':
		return `goroutine ${root.goroutine}, ${root.function || '?'}${where}` +
			(root.variable ? `, ${root.variable}` : '') + perhaps;
	default:
		return [root.kind, root.what, root.description, root.goroutine ? `goroutine ${root.goroutine}` : '', root.function,
			root.object].filter(Boolean).join(', ') + perhaps;
	}
}

export function rootNode(root) {
	return root.kind === 'stack' ? make('a', { href: place('goroutines', String(root.goroutine)) }, rootText(root)) : make('span', {}, rootText(root));
}

/* Tables. COLUMNS have a head, a kind (n for numbers), show(row), and value(row) to sort by. */
export function table(rows, columns, options = {}) {
	let sorted = columns.findIndex(column => column.first), down = true, count = options.rows || 100;
	const element = make('table', {});
	function heads() {
		return make('tr', {}, ...columns.map((column, i) => make('th', {
			scope: 'col', class: column.kind || '',
			'aria-sort': column.value && i === sorted ? (down ? 'descending' : 'ascending') : undefined,
		}, column.value ? make('button', { type: 'button', onclick: () => {
			down = i === sorted ? !down : true;
			sorted = i;
			draw();
			element.querySelectorAll('th button')[columns.slice(0, i).filter(one => one.value).length].focus();
		} }, column.head) : column.head)));
	}
	function draw() {
		const by = sorted >= 0 ? columns[sorted].value : null;
		const list = by === null ? rows : [...rows].sort((a, b) => {
			const x = by(a), y = by(b);
			return (down ? -1 : 1) * (x > y ? 1 : x < y ? -1 : 0);
		});
		element.replaceChildren(make('caption', { class: options.caption ? '' : 'unseen' }, options.caption || options.label || ''),
			make('thead', {}, heads()),
			make('tbody', {}, ...list.slice(0, count).map(row => make('tr', {},
				...columns.map(column => make('td', { class: column.kind || '' }, ...[column.show(row)].flat()))))));
		if (rows.length === 0)
			element.append(make('tbody', {}, make('tr', {}, make('td', { colspan: columns.length, class: 'faint' }, options.none || 'none'))));
		if (list.length > count)
			element.append(make('tfoot', {}, make('tr', {}, make('td', { colspan: columns.length }, make('button',
				{ type: 'button', class: 'more', onclick: () => { count *= 4; draw(); } }, `Show more of ${number(list.length)}`)))));
	}
	draw();
	return make('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': options.label || options.caption || 'Table' }, element);
}
