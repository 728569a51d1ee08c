/* What points to an object, and to that, up to the roots: all ways that hold it. */
import { make, ask, canAsk, ROWS, typeLink, objectLink, rootNode, waitAt } from './base.js';
import { later } from './views.js';

const fieldText = pointers => pointers.slice(0, 3).map(one => one.field || '+' + one.offset).join(', ') +
	(pointers.length > 3 ? ` and ${pointers.length - 3} more` : '');

/* The nearest to a root first, as far as that is known: roots, then what is on the shortest way. */
function sorted(found, way) {
	const first = found.referrers.filter(one => way.has(one.object));
	return [...found.roots.map(root => ({ root })), ...first, ...found.referrers.filter(one => !way.has(one.object))];
}

/* A row for what holds something, ABOVE which are the objects that it leads to. */
function holderRow(one, depth, above, way) {
	const name = make('td', { class: 'name' });
	name.style.paddingLeft = 18 * Math.min(depth, 24) + 'px';
	const line = make('tr', {}, name, make('td', { class: 'name' }, one.root ? 'root' : fieldText(one.pointers)));
	line.closeBelow = () => {};
	if (one.root || above.includes(one.object)) {
		name.append(make('span', { class: 'twist' }), ...(one.root ? [rootNode(one.root)] : [typeLink(one.type), ' ', objectLink(one.object), ' (again)']));
		return line;
	}
	let below = null;
	const question = { address: one.object, limit: ROWS };
	const button = !canAsk('referrers', question) ? make('span', { class: 'twist' }) : make('button', { type: 'button', class: 'twist', 'aria-expanded': 'false', 'aria-label': `Pointers to ${one.object}`, onclick: async () => {
		if (below) {
			below.forEach(each => { each.closeBelow(); each.remove(); });
			below = null;
		} else {
			below = [];
			const [found] = await waitAt(button, ask('referrers', question));
			below = rows(found, depth + 1, [...above, one.object], way);
			line.after(...below);
		}
		button.textContent = below ? '▾' : '▸';
		button.setAttribute('aria-expanded', String(below !== null));
	} }, '▸');
	line.closeBelow = () => below && button.click();
	name.append(button, typeLink(one.type), ' ', objectLink(one.object), way.has(one.object) ? make('span', { class: 'faint' }, ' the shortest way') : '');
	return line;
}

function rows(found, depth, above, way) {
	const list = sorted(found, way).map(one => holderRow(one, depth, above, way));
	if (found.referrers.length === ROWS && canAsk('referrers', { address: above.at(-1), limit: 10000 })) {
		const rest = make('tr', {}, make('td', { colspan: 2 }, make('a', { href: `#/object/${above.at(-1)}/all` }, 'All that points to it')));
		rest.closeBelow = () => {};
		list.push(rest);
	}
	if (list.length === 0) {
		const none = make('tr', {}, make('td', { colspan: 2, class: 'faint' }, 'Nothing points to it: it is garbage.'));
		none.closeBelow = () => {};
		list.push(none);
	}
	return list;
}

/* Of the object at ADDRESS, whose shortest way is WAY, rows of `goheap path'; LIMIT of what points to it. */
export function holders(address, way, limit = ROWS) {
	const on = new Set((way || []).map(one => one.object));
	return later(ask('referrers', { address, limit }), ([found]) => make('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': 'Pointers to it' },
		make('table', { class: 'tree' }, make('caption', { class: 'unseen' }, 'Pointers to it, and to their holders'),
			make('thead', {}, make('tr', {}, make('th', { scope: 'col', class: 'name' }, 'Holder'), make('th', { scope: 'col', class: 'name' }, 'In'))),
			make('tbody', {}, ...rows(found, 0, [address], on)))));
}
