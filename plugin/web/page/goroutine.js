/* One goroutine: what it waits for, its calls, and the objects that their frames point to. */
import { make, number, plural, bytes, heap, ask, linked, place, typeLink, objectLink, goroutineLink, shareBar, table } from './base.js';
import { title, later } from './views.js';

const seconds = ns => ns > 0 ? ` for ${(ns / 1e9).toFixed(1)} s` : '';

function waitingText(wait) {
	return linked([wait.operation || wait.kind, wait.object ? `on ${wait.object}` : '', wait.type ? `of ${wait.type}` : '',
		wait.capacity !== null ? `(${wait.length} of ${wait.capacity} in its buffer)` : '', wait.locked === 1 ? 'which is locked' : '',
		wait.counter !== null ? `counter ${wait.counter}` : '', wait.descriptor !== null ? `file descriptor ${wait.descriptor}` : '']
		.filter(Boolean).join(' '));
}

function facts(id, one, memory, waits) {
	return [make('p', {}, one.reason || one.status, seconds(one.waited), later(ask('goroutines', { leaked: '' }), rows => rows.some(row => row.id === Number(id)) ? make('b', { class: 'grow' }, '; it can never go on') : '', 'span'),
		...(one.creator !== null ? ['; created by goroutine ', goroutineLink(one.creator)] : [])),
	waits.length > 0 ? make('ul', {}, ...waits.filter(wait => wait.kind !== 'other').map(wait => make('li', {}, ...waitingText(wait)))) : '',
	make('p', {}, 'Its stack keeps alive ', shareBar(memory.bytes || 0, heap.bytes), ` of the heap, ${bytes(memory.bytes || 0)}.`)];
}

function slotTable(slots) {
	return table(slots, [
		{ head: 'Keeps alive', kind: 'n extra', show: slot => slot.bytes === null ? '' : bytes(slot.bytes) },
		{ head: 'Variable', kind: 'name tight', show: slot => slot.variable || slot.slot },
		{ head: 'Object', kind: 'tight', show: slot => slot.object ? objectLink(slot.object) : slot.value },
		{ head: 'Type', kind: 'name', show: slot => slot.type ? typeLink(slot.type) : 'not in the heap' },
	], { label: 'Pointers in the frame' });
}

function call(frame, slots) {
	const own = frame.inlined ? [] : slots.filter(slot => slot.depth === frame.depth);
	return make('li', {}, make('span', { class: 'mono' }, frame.function), frame.inlined ? make('span', { class: 'faint' }, ' inlined') : '',
		frame.file ? make('div', { class: 'faint' }, `${frame.file}:${frame.line}`) : '', own.length > 0 ? slotTable(own) : '');
}

export function goroutine(id) {
	return [title('Goroutine ' + id), later(Promise.all(['goroutine', 'held', 'waiting', 'frames', 'slots'].map(name => ask(name, { of: id }))), ([[one], [memory], waits, frames, slots]) => one === undefined ? make('p', {}, 'There is no goroutine of this number; see ', make('a', { class: 'inline', href: place('goroutines') }, 'those that there are'), '.') : [
		...facts(id, one, memory, waits), make('h2', {}, 'Calls', make('small', {}, ` innermost first; ${plural(slots.filter(slot => slot.object).length, 'pointer')} to objects`)),
		make('ol', { class: 'calls' }, ...frames.map(frame => call(frame, slots))),
		frames.length === 0 ? make('p', { class: 'faint' }, `Its stack cannot be read; ${number(slots.length)} slots.`) : ''])];
}
