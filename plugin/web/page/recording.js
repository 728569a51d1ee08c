/* What a report has in place of a server: answers to what the page asks, which goheap has recorded in it. */

const recorded = new Map(); /* by question: whether it was answered, and the bytes of the answer, or of why there is none */
const decoder = new TextDecoder();

export const isReport = document.getElementById('recording') !== null;

const questionOf = (name, parameters) => `${name}?${Object.entries(parameters).map(pair => pair.join('=')).join('&')}`;

/* Reads it: for each answer a line that says what it is to and how many bytes it has, and these. */
export async function readRecording() {
	if (!isReport)
		return;
	const packed = Uint8Array.from(atob(document.getElementById('recording').textContent), letter => letter.charCodeAt(0));
	const bytes = new Uint8Array(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer());
	for (let next = 0; next < bytes.length;) {
		const start = bytes.indexOf(10, next) + 1;
		const { question, answered, size } = JSON.parse(decoder.decode(bytes.subarray(next, start)));
		next = start + size;
		recorded.set(question, { answered, bytes: bytes.subarray(start, next) });
	}
}

/* The strings that are recorded: those that take most, and how many were asked for. */
function recordedStrings() {
	const limit = [10000, 1000, 100].find(rows => recorded.has(questionOf('strings', { limit: rows })));
	return { limit, lines: limit ? decoder.decode(recorded.get(questionOf('strings', { limit })).bytes).split('\n').filter(line => line !== '') : [] };
}

/* Of how many strings those are that match a pattern; 0 if of all. */
export function stringsLooked() {
	const { limit, lines } = recordedStrings();
	return isReport && lines.length === limit ? limit : 0;
}

/* Strings that match are looked for here. */
const isMatching = (name, parameters) => name === 'strings' && 'grep' in parameters && !('older' in parameters);

export const isRecorded = (name, parameters) => isMatching(name, parameters) || recorded.has(questionOf(name, parameters));

/* The text of an answer, or of why there is none, and whether it is one. Undefined if it was not recorded. */
export function recall(name, parameters) {
	if (isMatching(name, parameters)) {
		const pattern = new RegExp(parameters.grep);
		return { answered: true, text: recordedStrings().lines.filter(line => pattern.test(JSON.parse(line).text)).slice(0, parameters.limit).join('\n') };
	}
	const found = recorded.get(questionOf(name, parameters));
	return found && { answered: found.answered, text: decoder.decode(found.bytes) };
}
