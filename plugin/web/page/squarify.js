/* Squarified treemap (Bruls, Huizing, van Wijk): rows along the shorter side, each as long as the boxes in it stay
   near to squares. */
export function squarify(items, box, place) {
	let { x, y, w, h } = box;
	let left = items.reduce((sum, item) => sum + item.retained, 0);
	for (let first = 0; first < items.length && left > 0 && w > 0 && h > 0;) {
		const side = Math.min(w, h), scale = w * h / left;
		let sum = 0, end = first, worst = Infinity;
		for (; end < items.length; end++) {
			const total = sum + items[end].retained * scale;
			const largest = items[first].retained * scale, smallest = items[end].retained * scale;
			const ratio = Math.max(side * side * largest / (total * total), total * total / (side * side * smallest));
			if (ratio > worst)
				break;
			worst = ratio;
			sum = total;
		}
		const thick = sum / side;
		let along = 0;
		for (let i = first; i < end; i++) {
			const long = items[i].retained * scale / thick;
			place(items[i], w >= h ? { x, y: y + along, w: thick, h: long } : { x: x + along, y, w: long, h: thick });
			along += long;
			left -= items[i].retained;
		}
		if (w >= h) { x += thick; w -= thick; } else { y += thick; h -= thick; }
		first = end;
	}
}
