/* What all views share: elements, numbers, links, tables, and what is asked of the server. Whatever comes from a heap
   is text: nothing here makes markup of it. */

import { visible } from './visible.js';
import { isReport, isRecorded, recall } from './recording.js';

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

/* The whole heap, and what it was read from. */
export const heap = { bytes: 0 };

/* Rows of what is asked of an object or a type, at first. */
export const ROWS = 100;

/* What answers: a server, or a report's recording. */

const answers = new Map();

/* The words by which the same is asked of goheap in a shell. */
function words(name, parameters) {
	const quote = text => /^[\w@%+=:,./*-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
	const operands = ['address', 'type', 'query'];
	const list = Object.entries(parameters).filter(([key]) => !operands.includes(key) && key !== 'older')
		.map(([key, value]) => value === '' ? `--${key}` : `--${key}=${quote(String(value))}`);
	const dump = 'older' in parameters ? [quote(heap.older)] : heap.process ? ['-p', heap.process] : [quote(heap.path || 'DUMP')];
	const of = heap.program ? ['-e', quote(heap.program)] : [];
	return ['goheap', name, ...of, ...(['diff', 'suspects', 'web'].includes(name) && heap.older ? [quote(heap.older), ...dump] : dump), ...list,
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

/* The server's answer, or why there is none. */
async function request(url, signal) {
	const response = await fetch(url, { credentials: 'same-origin', signal }).catch(() => {
		throw new Error('goheap web has ended: start it again, and open the address that it prints');
	});
	const text = await response.text();
	/* A line that is too long for the server is refused by its library, in markup. */
	if (!response.ok)
		throw new Error(response.status === 414 || response.status === 431 ? 'The question is too long' : text.trim());
	return { answered: !response.headers.get('Content-Type').startsWith('text/x-reason'), text };
}

/* Whether that can be asked: of a server all can. */
export const canAsk = (name, parameters) => !isReport || isRecorded(name, parameters);

/* What shows that which is not in a report. */
export const webCommand = () => words('web', {});

async function load(name, parameters, isText, signal) {
	if (!canAsk(name, parameters))
		throw Object.assign(new Error(`This report does not have it: ${webCommand()} shows it.`), { isMissing: true });
	const { answered, text } = isReport ? recall(name, parameters) : await request(`api/${name}?${new URLSearchParams(parameters)}`, signal);
	if (!answered)
		throw Object.assign(new Error(text.trim()), { isAnswer: true });
	return isText ? text : text.split('\n').filter(line => line !== '').map(line => JSON.parse(line));
}

/* What is asked by a name that no command has. */
const unnamed = new Set(['source', 'retained', 'goroutine', 'held', 'waiting', 'frames', 'slots']);

/* Asks NAME, and gives the rows of the answer, or with TEXT what it prints. The same is not asked again while it is
   remembered. */
export function ask(name, parameters = {}, isText = false) {
	const question = JSON.stringify([name, parameters]);
	/* Of what one view asks, what a person would. */
	if (!unnamed.has(name) && !('older' in parameters))
		tellCommand(words(name, parameters));
	let answer = answers.get(question);
	if (!answer) {
		const stop = new AbortController();
		if (name === 'sql' || 'grep' in parameters || 'of' in parameters)
			own.set(question, stop);
		answer = load(name, parameters, isText, stop.signal);
		answers.set(question, answer);
		answer.catch(() => answers.get(question) === answer && answers.delete(question)).then(() => own.get(question) === stop && own.delete(question));
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

/* A link to PARTS, a view that asks NAME; only its TEXT where that cannot be asked. */
function link(parts, style, text, name, parameters) {
	return canAsk(name, parameters) ? make('a', { href: place(...parts), class: style }, text)
		: make('span', { class: style ? style + ' absent' : 'absent', title: `${webCommand()} shows it` }, text);
}

export const instancesLink = (type, text) => link(['instances', type], undefined, text, 'instances', { type, limit: ROWS });

export const typeLink = type => make('span', { class: 'type' }, swatch(type), instancesLink(type, type));

export const objectLink = (address, text) => link(['object', address], 'mono', text || address, 'objects', { address });

export const goroutineLink = (id, text) => link(['goroutines', String(id)], undefined, text || String(id), 'goroutine', { of: id });

/* Links to goroutines, with blanks between. */
export const goroutineLinks = ids => ids.flatMap(id => [goroutineLink(id), ' ']);

/* The first call of FRAMES that is the program's own. */
export const ownFrame = frames => frames.find(frame => frame.language !== 'c' && !/^(runtime|sync|internal|syscall|time|context)[./]/.test(frame.function)) || frames[0];

export function frameList(frames) {
	return make('ol', { class: 'frames' }, ...frames.map(frame => make('li', {}, make('span', { class: 'mono' }, frame.function),
		frame.language === 'c' ? make('span', { class: 'faint' }, ` in C, ${frame.binary || ''}`) : '',
		frame.file ? make('span', { class: 'faint' }, ` ${frame.file}:${frame.line}`) : '')));
}

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
				: `${root.kind} ${root.address}`) + (root.statics ? root.statics.map(one => ` -> ${one.name || 'static ' + one.address} +${one.offset}`).join('') +
			` (${root.kind} ${root.address})` : '') + perhaps;
	case 'stack':
		return `goroutine ${root.goroutine}, ${root.function || '?'}${where}` +
			(root.variable ? `, ${root.variable}` : '') + perhaps;
	default:
		return [root.kind, root.what, root.description, root.goroutine ? `goroutine ${root.goroutine}` : '', root.function,
			root.object].filter(Boolean).join(', ') + perhaps;
	}
}

export function rootNode(root) {
	return root.kind === 'stack' ? goroutineLink(root.goroutine, rootText(root)) : make('span', {}, rootText(root));
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
