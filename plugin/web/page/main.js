/* Which view is shown, and how the user gets to it. */
import { make, at, number, bytes, percent, heap, ask, place, webCommand, forgetCommands } from './base.js';
import { suspects, types, instances, dominators, object, strings, goroutines, search, title } from './views.js';
import { map } from './map.js';
import { flame } from './flame.js';
import { growth } from './compare.js';
import { query } from './query.js';
import { isReport, readRecording } from './recording.js';

const views = { suspects, map, flame, types, instances, dominators, object, strings, goroutines, search, growth, query, __proto__: null };

/* Those that the line at the top leads to. */
const tabs = { suspects: 'Suspects', map: 'Map', flame: 'Flame graph', dominators: 'Dominators', types: 'Types', strings: 'Strings', goroutines: 'Goroutines' };

/* Which of them a view belongs to that is not among them. */
const within = { instances: 'types', object: 'dominators' };

function parse(hash) {
	const [name, ...parts] = hash.replace(/^#\/?/, '').split('/').map(part => {
		try {
			return decodeURIComponent(part);
		} catch {
			return part;
		}
	});
	return { name: name || 'suspects', parts: parts.filter(part => part !== '') };
}

let first = true;

function showView() {
	const { name, parts } = parse(location.hash);
	forgetCommands();
	at('views').replaceChildren(...Object.entries(tabs).map(([key, text]) =>
		make('a', { href: place(key), 'aria-current': key === (within[name] || name) ? 'page' : undefined }, text)));
	let shown;
	try {
		shown = views[name](...parts);
	} catch {
		shown = [title('There is no such view'), make('p', {}, 'The address was typed wrongly, or cut. The views are listed above; ', make('a', { class: 'inline', href: place('suspects') }, 'suspects'), ' are the first.')];
	}
	at('main').replaceChildren(...[shown].flat());
	at('main').dataset.shown = location.hash;
	const head = at('main').querySelector('h1');
	document.title = (head ? head.textContent + ' · ' : '') + (heap.file || 'goheap');
	/* On a phone there is not room for all of them. */
	const tab = at('views').querySelector('[aria-current]');
	if (tab)
		at('views').scrollLeft = tab.offsetLeft - (at('views').clientWidth - tab.offsetWidth) / 2;
	if (!first) {
		scrollTo(0, 0);
		at('main').focus({ preventScroll: true });
		at('status').textContent = head ? head.textContent : name;
	}
	first = false;
}

function tellAbout() {
	const fact = (label, value) => make('span', {}, label + ' ', make('b', {}, value));
	heap.file = heap.process ? 'process ' + heap.process : heap.path.split('/').pop();
	at('about').replaceChildren(make('b', { title: heap.process ? '' : heap.path }, heap.file),
		...(heap.older ? [make('span', {}, 'since ', make('b', { title: heap.older }, heap.older.split('/').pop()))] : []),
		fact('Go', heap.version.replace(/^go/, '') || '?'), fact('heap', bytes(heap.bytes)), fact('objects', number(heap.objects)),
		fact('garbage', bytes(heap.bytes - heap.reachable)), fact('goroutines', number(heap.goroutines)), fact('typed', percent(heap.typed, heap.bytes)));
	if (isReport)
		at('keys').before(make('p', {}, 'A report: what is grey is not in it; ', make('code', {}, webCommand()), ' shows it.'));
}

addEventListener('keydown', event => {
	if (event.ctrlKey || event.metaKey || event.altKey)
		return;
	const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
	if (event.key === 'Escape' && typing) {
		document.activeElement.blur();
	} else if (!typing && event.key === '/') {
		event.preventDefault();
		at('search').focus();
		at('search').select();
	} else if (!typing && event.key >= '1' && event.key <= '9' && Object.keys(tabs)[event.key - 1]) {
		location.hash = place(Object.keys(tabs)[event.key - 1]);
	}
});

at('find').addEventListener('submit', event => {
	event.preventDefault();
	const text = at('search').value.trim();
	if (text !== '')
		location.hash = place('search', text);
});

/* What the page is about, and then the view. */
async function start() {
	await readRecording();
	const [{ file: path, ...source }] = await ask('source');
	Object.assign(heap, { path, ...source });
	if (heap.older)
		tabs.growth = 'Growth';
	if (!isReport)
		tabs.query = 'Query';
	tellAbout();
	addEventListener('hashchange', showView);
	showView();
}

start().catch(error => at('main').replaceChildren(make('p', { class: 'wrong' }, error.message)));
