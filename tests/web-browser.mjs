// What a person does with the page of `goheap web', in Chromium: prints a line for each thing that is found.
//
//	web-browser.mjs PLAYWRIGHT AXE ADDRESS TYPE [one|large|report|objects|leaked|FUNCTION]
//
// PLAYWRIGHT is the folder of playwright-core, AXE the script of axe-core, and TYPE what to look for. The views are looked at
// on three screens, or on one, also where a heap is too large for all its strings to be listed; as a report has them; TYPE is
// addresses of objects, or nothing, whose views are printed; or what is looked for is goroutines in FUNCTION that hold most.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [, , playwright, axe, address, type, screen] = process.argv;
const { chromium } = createRequire(import.meta.url)(playwright);
const rules = readFileSync(axe, 'utf8');
const browser = await chromium.launch({
	executablePath: '/usr/bin/chromium',
	args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
		'--disable-component-update', '--disable-sync'],
});

async function settle(page) {
	await page.waitForFunction(() => document.querySelector('main').dataset.shown === location.hash && document.querySelector('main h1') && !document.querySelector('main .wait'), null, { timeout: 120000 });
}

async function open(page, view) {
	await page.goto(address + '#/' + view);
	await settle(page);
}

async function begin(width, colorScheme) {
	const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
	const page = await context.newPage();
	const own = address.startsWith('file:') ? address : new URL(address).origin;
	const outside = url => !url.startsWith(own);
	page.setDefaultTimeout(120000);
	page.on('console', message => console.log('console', message.type(), message.text()));
	page.on('pageerror', error => console.log('error', error.message));
	page.on('dialog', dialog => { console.log('dialog', dialog.message()); dialog.dismiss(); });
	page.on('request', request => { if (outside(request.url())) console.log('outside', request.url()); });
	return page;
}

async function click(page, selector) {
	const before = page.url();
	await page.click(selector);
	await page.waitForFunction(url => location.href !== url, before);
	await settle(page);
}

/* From the first suspect to what holds an object of it. */
async function follow(page) {
	await open(page, 'suspects');
	await click(page, `.findings a:has-text("Open a ${type}")`);
	const path = await page.$$eval('.path li', items => items.map(item => item.innerText));
	console.log('path', path.some(step => step.includes('main.Session')), path.at(-1).includes(type));
	await click(page, '.path li:nth-last-child(2) a >> nth=1');
	console.log('up', await page.textContent('h1'));
	await page.goBack();
	await settle(page);
	console.log('back', (await page.textContent('h1')).includes(type));
}

/* How many objects of the type there are, by its row of the table; and how many are listed one by one. */
async function count(page) {
	await open(page, 'types');
	const row = page.locator('main tbody tr', { has: page.getByText(type, { exact: true }) });
	console.log('objects', await row.locator('td').nth(5).innerText());
	await row.locator('a', { hasText: type }).click();
	await page.waitForFunction(() => location.hash.includes('instances'));
	await settle(page);
	for (let i = 0; i < 4 && await page.locator('button:has-text("Show more")').count() > 0; i++) {
		await page.click('button:has-text("Show more")');
		await settle(page);
	}
	console.log('instances', await page.locator('main tbody tr').count());
}

/* By the keyboard alone. */
async function search(page, text) {
	await open(page, 'suspects');
	await page.keyboard.press('/');
	await page.keyboard.type(text);
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => location.hash.includes('search'));
	await settle(page);
	console.log('search', await page.locator('main td', { hasText: text }).count());
	await page.keyboard.press('Tab');
	await page.evaluate(() => document.activeElement.blur());
	await page.keyboard.press('5');
	await page.waitForFunction(() => location.hash === '#/types');
	console.log('key', 'types');
}

async function twist(page) {
	await open(page, 'dominators');
	const before = await page.locator('main tbody tr').count();
	await page.click('button.twist >> nth=0');
	await page.waitForFunction(n => document.querySelectorAll('main tbody tr').length > n, before);
	const shown = await page.getAttribute('button.twist', 'aria-expanded');
	await page.click('button.twist >> nth=0');
	await page.waitForFunction(n => document.querySelectorAll('main tbody tr').length === n, before);
	console.log('tree', shown);
}

/* Down the flame graph to what the requests have, and what that is; and the same in the merged tree and map. */
async function merge(page) {
	await open(page, 'flame');
	await click(page, '.flame a:has-text("body ([]uint8)")');
	console.log('flame', (await page.textContent('main p')).replace(/, [0-9.]+%.*/, ''));
	await open(page, 'dominators');
	for (let opened = 0; opened < 12 && await page.locator('button.twist[aria-expanded=false]').count() > 0; opened++)
		await page.click('button.twist[aria-expanded=false] >> nth=0');
	const row = page.locator('main tbody tr', { has: page.getByText(type, { exact: true }) });
	console.log('merged', await row.locator('td').nth(3).innerText(), (await row.locator('td').nth(2).innerText()).replace(' new', ''));
	await open(page, 'map');
	console.log('map growth', (await page.getAttribute('.map a >> nth=0', 'title')).replace(/.*, /s, ''));
	await click(page, '.map a >> nth=0');
	console.log('map', (await page.textContent('main p.choices')).includes('main.Server'));
}

/* The goroutine that waits to send, from its stack: what it waits for, and to the object that its frame points to. */
async function goroutine(page) {
	await open(page, 'goroutines');
	await page.click('summary:has-text("chan send")');
	await click(page, 'details[open] p.mono a >> nth=0');
	const row = page.locator('.calls li', { hasText: 'runtime.chansend1' }).locator('tbody tr', { hasText: 'chan ' });
	console.log('goroutine', (await page.textContent('main')).includes('send on 0x'), await row.count() > 0);
	await row.locator('td a').first().click();
	await page.waitForFunction(() => location.hash.includes('object'));
	await settle(page);
	console.log('slot', (await page.textContent('h1')).includes(`chan *${type}`));
}

/* From the first page to the goroutines that hold most, to one of them, and to what its frame has. */
async function holders(page, name) {
	await open(page, 'suspects');
	await click(page, `.findings > li:first-child a:has-text("Goroutines in ${name}")`);
	const group = page.locator('details', { hasText: name }).first();
	console.log('goroutines', await group.locator('b').first().innerText());
	await group.locator('summary').click();
	await click(page, 'details[open] p.mono a >> nth=0');
	const call = page.locator('.calls > li', { hasText: name });
	console.log('line', (await call.locator('div.faint').first().innerText()).split('/').pop());
	console.log('type', await call.locator('tbody tr', { hasText: type }).count() > 0);
	await open(page, 'suspects');
	await click(page, `.findings > li:first-child a:has-text("Open a ${type}")`);
	console.log('way', (await page.textContent('.path')).includes('goroutine '));
}

/* All entries of a map, with their keys and values. */
async function entries(page) {
	await open(page, 'instances/' + encodeURIComponent('map[string]*main.Session'));
	await click(page, 'main tbody td a.mono >> nth=0');
	await page.click('button:has-text("Show all")');
	await settle(page);
	const rows = page.locator('table:has(caption:has-text("map[string]*main.Session")) tbody tr');
	console.log('entries', await rows.count());
	console.log('entry', (await rows.filter({ hasText: '"visitor 77"' }).innerText()).replace(/0x[0-9a-f]+/, 'ADDRESS').replace(/\s+/g, ' '));
}

/* From an object up to what holds it, step by step, to a root. */
async function climb(page) {
	await open(page, 'suspects');
	await click(page, `.findings a:has-text("Open a ${type}")`);
	/* It remembers what it has asked. */
	await page.reload();
	await settle(page);
	const tree = page.locator('table:has(caption:has-text("Pointers to it, and to their holders"))');
	let climbed = 0, free;
	const held = new Promise(resolve => { free = resolve; });
	await page.route('**/api/referrers*', route => held.then(() => route.continue()));
	await tree.locator('button.twist[aria-expanded=false]').first().click();
	console.log('busy', await tree.locator('button.twist[aria-busy=true]').count());
	free();
	await tree.locator('button.twist[aria-expanded=true]').first().waitFor();
	console.log('busy', await tree.locator('button.twist[aria-busy=true]').count());
	for (; climbed < 12 && await tree.locator('tr', { hasText: 'root' }).count() === 0; climbed++) {
		await tree.locator('button.twist[aria-expanded=false]').first().click();
		await tree.locator('button.twist[aria-busy=true]').first().waitFor({ state: 'detached' });
	}
	console.log('climb', climbed > 0 && climbed < 12, (await tree.textContent()).includes('main.Session'));
}

/* What has grown since the older dump, in each view. */
async function compare(page) {
	await open(page, 'growth');
	const row = page.locator('main tbody tr', { has: page.getByText(type, { exact: true }) });
	console.log('grown', await row.locator('td').nth(2).innerText());
	await open(page, 'types');
	console.log('growth', await row.locator('td').nth(2).innerText());
	await open(page, 'dominators/objects');
	console.log('object growth', await page.locator('main tbody tr', { hasText: 'main.Server' }).locator('td').nth(2).innerText());
	if (screen !== 'large') {
		await open(page, 'growth/strings');
		while (await page.locator('button:has-text("Show more")').count() > 0)
			await page.click('button:has-text("Show more")');
		console.log('new text', await page.locator('main tbody tr', { hasText: /visitor 77$/ }).locator('td').nth(2).innerText());
	}
	await open(page, 'growth/goroutines');
	console.log('stacks', await page.locator('main tbody tr', { hasText: 'main.(*Server).answer' }).locator('td').nth(0).innerText());
}

/* A question that nobody has foreseen. */
async function query(page) {
	await open(page, 'query');
	await page.fill('#sql', `SELECT count(*) AS n FROM objects WHERE type = '${type}'`);
	await page.keyboard.press('Control+Enter');
	await page.waitForFunction(() => location.hash.includes('count'));
	await settle(page);
	console.log('query', await page.locator('main tbody td').innerText());
}

/* A question that takes too long for who asked it. */
async function leave(page) {
	const asked = page.waitForRequest(request => request.url().includes('refs'));
	await page.goto(address + '#/query/' + encodeURIComponent('SELECT count(*) FROM refs a, refs b, refs c'));
	await asked;
	console.log('wait', await page.locator('main .wait').count());
	await open(page, 'types');
}

/* What a report has not is grey, and says what shows it; and what holds an object is found by its address. */
async function recorded(page) {
	await open(page, 'query/SELECT%201');
	console.log('missing', (await page.textContent('main')).includes('goheap web '));
	await open(page, 'types');
	console.log('grey', await page.locator('main .absent').evaluateAll(all => all.every(one => one.title.startsWith('goheap web ') && one.tagName === 'SPAN')));
	await open(page, 'strings/visitor%2077%24');
	console.log('pattern', await page.locator('main tbody td', { hasText: /visitor 77$/ }).count());
}

/* Of each object of a list the text of its view. */
async function objects(page, addresses) {
	for (const one of addresses.split(',')) {
		await open(page, 'object/' + one);
		console.log('object', one, (await page.innerText('main')).replace(/\s+/g, ' '));
	}
}

/* Goroutines that wait for each other. */
async function circles(page) {
	await open(page, 'goroutines/leaked');
	for (const text of await page.locator('main ol > li').allInnerTexts())
		console.log('circle', text.replace(/\s+/g, ' '));
}

/* Of an address that leads nowhere it is said. */
async function mistype(page) {
	for (const [view, head] of [['nosuch', 'There is no such view'], ['constructor', 'There is no such view'],
		['goroutines/constructor', 'There is no such view'], ['object/0x1', 'Object 0x1']]) {
		await open(page, view);
		if (await page.textContent('h1') !== head)
			console.log('mistyped', view, await page.textContent('main'));
	}
}

async function look(page, width, scheme, views) {
	for (const view of views) {
		await open(page, view);
		const found = await page.evaluate(async source => {
			(0, eval)(source);
			return (await axe.run()).violations.map(one => `${one.id}: ${one.nodes[0].html}`);
		}, rules).catch(error => [error.message]);
		for (const violation of found)
			console.log('axe', width, scheme, view, violation);
		if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth))
			console.log('wide', width, scheme, view);
		if (await page.evaluate(() => /[\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText)))
			console.log('direction', view);
		if (await page.locator('main .wrong, main h1:has-text("no such view")').count() > 0)
			console.log('wrong', view, await page.textContent('main'));
		if (process.env.SCREENSHOTS)
			await page.screenshot({ path: `${process.env.SCREENSHOTS}/${view.replace(/\W/g, '_').slice(0, 30)}-${width}-${scheme}.png` });
	}
}

try {
	const page = await begin(1366, 'light');
	const isReport = screen === 'report';
	const told = { objects, leaked: circles }[screen];
	const isHeld = screen && screen !== 'one' && screen !== 'large' && !isReport && !told;
	if (isHeld) {
		await holders(page, screen);
	} else if (told) {
		await told(page, type);
	} else if (type) {
		await follow(page);
		if (!isReport)
			await count(page);
		await search(page, 'visitor 77');
		await twist(page);
		await merge(page);
		await goroutine(page);
		if (!isReport)
			await entries(page);
		await climb(page);
		await compare(page);
		if (isReport) {
			await recorded(page);
		} else {
			await query(page);
			await leave(page);
		}
	}
	await mistype(page);
	await open(page, 'types');
	const first = await page.getAttribute('main tbody td a', 'href');
	/* A server's types have long names. */
	const views = isHeld ? ['suspects', 'types'] : ['suspects', 'map', 'map/merged/0', 'map/objects', 'flame', 'flame/paths/0', 'flame/sites', 'flame/stacks', 'dominators', 'dominators/objects', 'types', 'types/site', 'types/path', 'strings', 'goroutines', 'goroutines/memory', 'goroutines/waits',
		'goroutines/leaked', 'goroutines/1', 'search/main', first.slice(2), ...(isReport ? [] : ['query', 'query/SELECT%20*%20FROM%20objects%20LIMIT%2020']),
		...(type ? ['growth', 'growth/path', 'growth/strings', 'growth/goroutines'] : [])];
	const screens = told ? [] : isHeld ? [[390, 'light']] : !type ? [[390, 'light']] : screen === 'one' ? [[1366, 'light']] : [[390, 'dark'], [1366, 'light'], [2560, 'dark']];
	for (const [width, scheme] of screens)
		await look(await begin(width, scheme), width, scheme, views);
	console.log('end');
} catch (error) {
	console.log('failed', error.message);
}
await browser.close();
