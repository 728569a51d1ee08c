/* Which view is shown, and how the user gets to it. */
import { make, at, number, bytes, heap, ask, place, forgetCommands } from './base.js';
import { suspects, types, instances, dominators, object, strings, goroutines, search, title } from './views.js';
import { map } from './map.js';
import { flame } from './flame.js';
import { growth } from './compare.js';
import { query } from './query.js';

const views = { suspects, map, flame, types, instances, dominators, object, strings, goroutines, search, growth, query };

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
	return { name: name in views ? name : 'suspects', parts: parts.filter(part => part !== '') };
}

let first = true;

function show() {
	const { name, parts } = parse(location.hash);
	forgetCommands();
	at('views').replaceChildren(...Object.entries(tabs).map(([key, text]) =>
		make('a', { href: place(key), 'aria-current': key === (within[name] || name) ? 'page' : undefined }, text)));
	let shown;
	try {
		shown = views[name](...parts);
	} catch {
		shown = [title('There is no such view')];
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

function tellAbout(info) {
	heap.file = heap.process ? 'process ' + heap.process : info.file.split('/').pop();
	const fact = (label, value) => make('span', {}, label + ' ', make('b', {}, value));
	at('about').replaceChildren(make('b', { title: heap.process ? '' : info.file }, heap.file), fact('Go', String(info.go_version || '?').replace(/^go/, '')), fact('heap', bytes(heap.bytes)),
		fact('objects', number(heap.objects)), fact('goroutines', number(info.goroutines)));
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

addEventListener('hashchange', show);
/* What the page is about, and then the view. */
async function start() {
	const [source] = await ask('source');
	Object.assign(heap, { path: source.file, program: source.program, process: source.process, older: source.older, bytes: source.bytes, objects: source.objects });
	if (source.older)
		tabs.growth = 'Growth';
	tabs.query = 'Query';
	const [info] = await ask('info');
	tellAbout(info);
	show();
}

start().catch(error => at('main').replaceChildren(make('p', { class: 'wrong' }, error.message)));
