/* TEXT with the numbers of characters that are not seen, or turn the direction of what is around them. */
export const visible = text => typeof text !== 'string' ? text : text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
	letter => '\\u' + letter.charCodeAt(0).toString(16).padStart(4, '0'));
