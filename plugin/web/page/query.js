/* Questions in SQL, as `goheap sql' answers them. */
import { make, at, ask, place, objectLink, table, number, plural } from './base.js';
import { title, later } from './views.js';

const examples = {
	'Types by their bytes': 'SELECT type, count(*) objects, sum(bytes) bytes FROM objects GROUP BY type ORDER BY bytes DESC LIMIT 50',
	'Strings with most copies': 'SELECT copies, length, text FROM strings ORDER BY copies DESC LIMIT 50',
	'Maps with more buckets than entries': 'SELECT object, type, entries, buckets FROM maps WHERE buckets > entries ORDER BY buckets DESC LIMIT 50',
	'Largest retained sizes': 'SELECT bytes, object, type FROM retained JOIN objects ON address = object WHERE holder IS NULL ORDER BY retained.bytes DESC LIMIT 50',
	'Goroutines by the function they are in': 'SELECT function, status, count(*) goroutines FROM goroutines GROUP BY 1, 2 ORDER BY 3 DESC',
};

const isAddress = value => typeof value === 'string' && /^0x[0-9a-f]{5,16}$/.test(value);

/* ROWS as a table, in which addresses are links, and numbers sort. */
export function resultTable(rows, label) {
	const names = rows.length > 0 ? Object.keys(rows[0]) : [];
	return table(rows, names.map(name => {
		const isNumber = rows.every(row => row[name] === null || typeof row[name] === 'number');
		return { head: name, kind: isNumber ? 'n' : isAddress(rows[0][name]) ? 'tight' : 'name', value: row => row[name],
			show: row => isAddress(row[name]) ? objectLink(row[name]) : row[name] === null ? '' : isNumber ? number(row[name]) : String(row[name]) };
	}), { label, none: 'No row.' });
}

function schema() {
	return make('details', {}, make('summary', {}, 'Tables and columns'),
		later(ask('sql', { schema: '' }, true), text => make('pre', { tabindex: '0' }, text.trim())));
}

export function query(text = '') {
	const input = make('textarea', { id: 'sql', rows: '5', spellcheck: 'false', autocomplete: 'off', 'aria-label': 'SELECT statement in SQL', class: 'mono' });
	input.value = text || Object.values(examples)[0];
	const run = event => {
		event.preventDefault();
		location.hash = place('query', at('sql').value.trim());
	};
	input.addEventListener('keydown', event => {
		if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
			run(event);
	});
	return [title('Query', 'the heap as tables, in SQL'),
		make('form', { class: 'query', onsubmit: run }, input, make('button', { type: 'submit' }, 'Run'), make('span', { class: 'faint' }, ' Ctrl-Enter')),
		make('nav', { class: 'choices', 'aria-label': 'Examples' }, ...Object.entries(examples).map(([name, sql]) =>
			make('a', { href: place('query', sql), 'aria-current': sql === text ? 'true' : undefined }, name))),
		schema(),
		text === '' ? '' : later(ask('sql', { query: text }), rows => [make('p', { class: 'faint' }, plural(rows.length, 'row')), resultTable(rows, 'Result')])];
}
