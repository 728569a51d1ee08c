/* What has changed since the older dump: what grew, what is new, and what is gone. */
import { make, number, bytes, signed, heap, ask, place, typeLink, objectLink, goroutineLinks, ownFrame, frameList, table } from './base.js';
import { title, later, choices, groupings } from './views.js';

/* Rows that are asked for, so that few are missing on one side. */
export const ENOUGH = 10000;

const changeText = (value, show) => make('span', { class: value > 0 ? 'grow' : value < 0 ? 'shrink' : 'faint' }, value === 0 ? '0' : signed(value, show));

/* The column of a growth that is in the rows' KEY. */
export const growthColumn = (head, key, show, extra) => ({ head, kind: 'n' + (extra ? ' extra' : ''), value: row => row[key], show: row => changeText(row[key], show) });

export const changeColumn = { head: 'Change', kind: 'tight extra', show: row => row.change || '' };

/* What the older dump has in answer to a question that is asked of the other, too: its rows by KEY_OF. Null without one. */
export async function before(name, parameters, keyOf) {
	if (!heap.older)
		return null;
	try {
		const rows = await ask(name, { ...parameters, older: '' });
		return { keyOf, rows: new Map(rows.map(row => [keyOf(row), row])), isWhole: !(rows.length >= parameters.limit) };
	} catch (error) {
		/* What is asked about may not have been there. */
		return { keyOf, rows: new Map(), isWhole: error.isAnswer === true };
	}
}

/* By how much FIELD of ROW has grown since OLDER, which before() gave; undefined if that is not known. */
export function growthSince(older, row, field) {
	const previous = older.rows.get(older.keyOf(row));
	return previous || older.isWhole ? row[field] - (previous ? previous[field] : 0) : undefined;
}

const isNew = (older, row) => older.isWhole && !older.rows.has(older.keyOf(row));

/* The growth of a row as a cell shows it. */
export function growthCell(older, row, field, show) {
	const growth = growthSince(older, row, field);
	return growth === undefined ? '' : [changeText(growth, show), isNew(older, row) ? make('span', { class: 'faint' }, ' new') : ''];
}

/* The column of the growth of FIELD since OLDER; none without one. */
export const growthColumns = (older, field, show) => older === null ? [] : [{ head: 'Growth', kind: 'n extra',
	value: row => growthSince(older, row, field) ?? 0, show: row => growthCell(older, row, field, show) }];

/* The same object, as far as can be told: Go's collector does not move any, but another may have come to its place. */
export const sameObject = row => row.object + ' ' + row.type;

/* How the groups of the heap have changed, by their names. Nothing without an older dump. */
export async function changes(by) {
	const rows = heap.older ? await ask('diff', { by, limit: ENOUGH }) : [];
	return new Map(rows.map(row => [row[by], row]));
}

/* By types and the other ways to group objects, as `goheap diff' has it. */
function objects(by) {
	return later(ask('diff', { by, limit: ENOUGH }), rows => table(rows, [
		{ ...growthColumn('Bytes', 'bytes_growth', bytes), first: true },
		growthColumn('Retained', 'retained_growth', bytes),
		growthColumn('Objects', 'objects_growth', number),
		{ head: 'Bytes now', kind: 'n extra', value: row => row.bytes, show: row => bytes(row.bytes) },
		changeColumn,
		{ head: 'Keeps most', kind: 'tight extra', show: row => row.largest ? objectLink(row.largest) : '' },
		{ head: groupings[by], kind: 'name', value: row => row[by], show: row => by === 'type' ? typeLink(row.type) : String(row[by]) },
	], { label: 'Growth', none: 'Nothing has changed.' }));
}

/* Puts together what has one KEY_OF in NOW and in BEFORE, and by how much each of FIELDS has grown; but for what has not
   changed. What is missing on a side that is WHOLE is not there. */
function merge(now, before, keyOf, fields) {
	const isWhole = rows => rows.length < ENOUGH;
	const older = new Map(before.map(row => [keyOf(row), row]));
	const merged = [];
	function add(row, after, previous, whole) {
		if ((!after || !previous) && !whole)
			return;
		const grown = { ...row, change: !previous ? 'new' : !after ? 'gone' : '' };
		for (const field of fields)
			grown[field + '_growth'] = (after ? after[field] : 0) - (previous ? previous[field] : 0);
		grown.count = after ? after[fields[0]] : 0;
		if (fields.some(field => grown[field + '_growth'] !== 0))
			merged.push(grown);
	}
	for (const row of now) {
		add(row, row, older.get(keyOf(row)), isWhole(before));
		older.delete(keyOf(row));
	}
	for (const row of older.values())
		add(row, null, row, isWhole(now));
	return merged;
}

export const stackOf = row => row.status + '\n' + row.frames.map(frame => `${frame.function} ${frame.file}:${frame.line}`).join('\n');

function goroutineGrowth() {
	return later(Promise.all([ask('goroutines', { group: '' }), ask('goroutines', { group: '', older: '' })]), ([now, before]) =>
		table(merge(now, before, stackOf, ['count']), [
			{ ...growthColumn('Goroutines', 'count_growth', number), first: true },
			{ head: 'Now', kind: 'n', value: row => row.count, show: row => number(row.count) },
			changeColumn,
			{ head: 'Status', kind: 'tight extra', show: row => row.status },
			{ head: 'Stack', kind: 'name', show: row => make('details', {}, make('summary', {}, row.frames.length > 0 ? ownFrame(row.frames).function : '?'),
				frameList(row.frames), row.change === 'gone' ? '' : make('p', { class: 'mono' }, 'goroutines ', ...goroutineLinks(row.goroutines.slice(0, 20)))) },
		], { label: 'Stacks with more or fewer goroutines than before', none: 'As many goroutines have the same stacks as before.' }));
}

function stringGrowth() {
	const all = { limit: ENOUGH };
	return later(Promise.all([ask('strings', all), ask('strings', { ...all, older: '' })]), ([now, before]) =>
		table(merge(now, before, row => row.text, ['bytes', 'copies']), [
			{ ...growthColumn('Bytes', 'bytes_growth', bytes), first: true },
			growthColumn('Copies', 'copies_growth', number),
			changeColumn,
			{ head: 'First', kind: 'tight extra', show: row => row.change === 'gone' ? '' : objectLink(row.object) },
			{ head: 'Text', kind: 'name', show: row => row.text.length > 300 ? row.text.slice(0, 300) + '…' : row.text },
		], { label: 'Strings that take more or less than before', none: 'No strings take more or less than before.',
			caption: now.length === ENOUGH || before.length === ENOUGH ? `Among the ${number(ENOUGH)} that take most, now and before.` : '' }));
}

export function growth(by = 'type') {
	const since = heap.older ? make('p', { class: 'faint' }, 'Since ', make('b', {}, heap.older.split('/').pop()), ' the heap has grown by ', changeText(heap.bytes - heap.older_bytes, bytes),
		', what is reachable by ', changeText(heap.reachable - heap.older_reachable, bytes), ', the number of objects by ', changeText(heap.objects - heap.older_objects, number), '.') : '';
	return [title('Growth', 'since the older dump'), since,
		choices('Grouped by', { ...groupings, goroutines: 'Goroutines', strings: 'Strings' }, by, key => place('growth', key)),
		!heap.older ? make('p', {}, 'There is no older dump: goheap web DUMP OLD')
			: by === 'goroutines' ? goroutineGrowth() : by === 'strings' ? stringGrowth() : objects(by)];
}
