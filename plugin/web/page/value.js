/* The value of an object, as `goheap print --json' has it: a field, an element or an entry a row. */
import { make, ask, canAsk, number, plural, typeLink, objectLink, table } from './base.js';
import { later } from './views.js';

const LIMIT = 100; /* elements and bytes of each value, at first */
const ALL = 10000; /* then */
const INNER = 8;   /* elements of what is in a field */

/* Numbers that JavaScript's do not hold stay exact, where the browser tells how they are written. */
const exact = (key, value, context) =>
	Number.isInteger(value) && !Number.isSafeInteger(value) && context && context.source ? BigInt(context.source) : value;

const has = (value, ...keys) => Object.keys(value).join() === keys.join();

/* The forms that are no struct's: see goheap(1). */
const isMore = value => value !== null && typeof value === 'object' && has(value, 'more');
const isEntry = value => value !== null && typeof value === 'object' && has(value, 'key', 'value');
const isCut = value => value !== null && typeof value === 'object' && has(value, 'start', 'more');
const isPointer = value => has(value, 'type', 'address') && /^0x/.test(value.address);

/* Nodes for LIST, with commas between. */
const listed = list => list.flatMap((one, i) => i === 0 ? one : [', ', ...one]);

/* Nodes for VALUE, in one line. */
function show(value) {
	if (value === null)
		return ['nil'];
	if (typeof value === 'string')
		return [JSON.stringify(value)];
	if (typeof value !== 'object')
		return [String(value)];
	if (Array.isArray(value)) {
		const rest = value.slice(INNER).reduce((sum, one) => sum + (isMore(one) ? one.more : 1), 0);
		return ['[', ...listed([...value.slice(0, INNER), ...(rest > 0 ? [{ more: rest }] : [])]
			.map(one => isEntry(one) ? [...show(one.key), ': ', ...show(one.value)] : show(one))), ']'];
	}
	if (isMore(value))
		return [`… ${number(value.more)} more`];
	if (isPointer(value))
		return [objectLink(value.address), ' ', typeLink(value.type.replace(/^\*/, ''))];
	if (has(value, 'type', 'value'))
		return [value.type, ' ', ...show(value.value)];
	if (isCut(value))
		return [JSON.stringify(value.start), ` … ${plural(value.more, 'byte')} more`];
	if (typeof value.function === 'string')
		return [value.function, ...(value.captured ? [' with ', ...show(value.captured)] : [])];
	return ['{', ...listed(Object.entries(value).map(([name, one]) => [name + ': ', ...show(one)])), '}'];
}

/* Rows of a table: of a struct its fields, with what of POINTERS is in them. */
function rowsOf(value, pointers) {
	const find = name => pointers.find(pointer => pointer.object && pointer.field === name);
	if (Array.isArray(value))
		return value.map((one, i) => isEntry(one) ? { name: show(one.key), value: one.value }
			: isMore(one) ? { name: [], value: one } : { name: [`[${i}]`], value: one, pointer: find(`[${i}]`) });
	return Object.entries(value).map(([name, one]) => ({ name: [name], value: one, pointer: find(name) }));
}

/* Bytes as text, as far as they are. */
function bytesText(value) {
	const known = value.filter(one => typeof one === 'number');
	const text = known.map(one => one >= 0x20 && one < 0x7f ? String.fromCharCode(one) : one === 0x0a ? '\n' : '\\x' + one.toString(16).padStart(2, '0')).join('');
	return [make('pre', { tabindex: '0' }, text), ...value.filter(isMore).map(one => make('p', { class: 'faint' }, show(one)[0]))];
}

function valueTable({ type, value }, pointers) {
	if (Array.isArray(value) && /\]uint8$/.test(type))
		return make('div', {}, make('p', { class: 'faint' }, type), ...bytesText(value));
	if (value === null || typeof value !== 'object' || (!Array.isArray(value) && (isPointer(value) || 'capacity' in value || typeof value.function === 'string')))
		return make('pre', { tabindex: '0' }, type + ' ', ...show(value));
	const isMap = Array.isArray(value) && value.some(isEntry);
	const rows = rowsOf(value, pointers);
	return table(rows, [
		{ head: isMap ? 'Key' : Array.isArray(value) ? 'Element' : 'Field', kind: 'name tight', show: row => row.name },
		{ head: 'Value', kind: 'name value', show: row => show(row.value) },
		...(rows.some(row => row.pointer) ? [{ head: 'Points to', kind: 'name', show: row => row.pointer ? [objectLink(row.pointer.object), ' ', typeLink(row.pointer.type)] : '' }] : []),
	], { label: 'Value', caption: type, rows: 1000, none: 'It has none.' });
}

/* Where no type is known. */
function pointerTable(pointers) {
	return table(pointers, [
		{ head: 'Field', kind: 'name tight', show: row => row.field || '+' + row.offset },
		{ head: 'Object', kind: 'tight', show: row => row.object ? objectLink(row.object) : row.value === '0x0' ? 'nil' : row.value },
		{ head: 'Type', kind: 'name', show: row => row.type ? typeLink(row.type) : '' },
	], { label: 'Pointers', none: 'It has no pointers.' });
}

/* The value of OBJECT, a row of `goheap objects'. */
export function values(object, limit = LIMIT) {
	const element = later(ask('print', { address: object.object, depth: 1, limit }, true).then(text => {
		const answer = JSON.parse(text, exact);
		const isWhole = answer.value === null || !Object.values(answer.value).some(Array.isArray(answer.value) ? isMore : isCut);
		return [valueTable(answer, object.pointers), isWhole || limit === ALL || !canAsk('print', { address: object.object, depth: 1, limit: ALL }) ? ''
			: make('button', { type: 'button', class: 'more', onclick: () => element.replaceWith(values(object, ALL)) }, 'Show all')];
	}, () => pointerTable(object.pointers)), shown => shown);
	return element;
}
