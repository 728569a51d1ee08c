# The points of bench-growth, a line each: title, unit, size, processor seconds, peak KiB. Prints a table with the exponent
# of each curve, which is the slope of the line through its points, both in logarithms; and if PICTURE is a name, draws the
# curves in that file as SVG, those of one unit in one panel.

BEGIN {
	FS = "\t"
	split("#1b6ca8 #c8553d #2e7d32 #8e44ad #b8860b #455a64", colours, " ")
}

{
	if (!($1 in count)) {
		title[++titles] = $1
		unit_of[$1] = $2
		if (!($2 in panel)) {
			panel[$2] = ++panels
			unit[panels] = $2
		}
	}
	i = ++count[$1]
	size[$1, i] = $3
	seconds[$1, i] = $4 > 0 ? $4 : 0.01
	memory[$1, i] = $5 / 1024
	if (!($2 in low) || $3 < low[$2])
		low[$2] = $3
	if ($3 > high[$2])
		high[$2] = $3
}

function exponent(name,    i, x, y, n, sx, sy, sxx, sxy) {
	n = count[name]
	for (i = 1; i <= n; i++) {
		x = log(size[name, i])
		y = log(seconds[name, i])
		sx += x
		sy += y
		sxx += x * x
		sxy += x * y
	}
	return n < 2 ? 0 : (n * sxy - sx * sy) / (n * sxx - sx * sx)
}

# Hundredths to a thousand seconds, upwards.
function height(value) {
	return 320 - 60 * log(value * 100) / log(10)
}

function across(name, value,    of) {
	of = unit_of[name]
	return 420 * (panel[of] - 1) + 50 + (high[of] > low[of] ? 180 * log(value / low[of]) / log(high[of] / low[of]) : 0)
}

function draw(    i, j, x, y, name, nth, points) {
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"370\" font-family=\"sans-serif\" font-size=\"11\">\n", \
		420 * panels >picture
	print "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>" >picture
	for (i = 1; i <= panels; i++) {
		x = 420 * (i - 1) + 50
		for (j = -2; j <= 3; j++) {
			y = height(10 ^ j)
			printf "<path d=\"M%d %dh180\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%g s</text>\n", \
				x, y, x - 4, y + 4, 10 ^ j >picture
		}
		printf "<text x=\"%d\" y=\"338\">%s</text>", x, low[unit[i]] >picture
		printf "<text x=\"%d\" y=\"338\" text-anchor=\"end\">%s</text>", x + 180, high[unit[i]] >picture
		printf "<text x=\"%d\" y=\"356\" text-anchor=\"middle\">%s</text>\n", x + 90, unit[i] >picture
	}
	for (i = 1; i <= titles; i++) {
		name = title[i]
		points = ""
		for (j = 1; j <= count[name]; j++)
			points = points sprintf("%.1f,%.1f ", across(name, size[name, j]), height(seconds[name, j]))
		j = ++nth[unit_of[name]]
		printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>", points, colours[j] >picture
		printf "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", 420 * (panel[unit_of[name]] - 1) + 236, \
			30 + 16 * j, colours[j], name >picture
	}
	print "</svg>" >picture
}

END {
	for (i = 1; i <= titles; i++) {
		name = title[i]
		if (unit_of[name] != unit_of[title[i - 1]]) {
			printf "%s%-30s", (i > 1 ? "\n" : ""), unit_of[name]
			for (j = 1; j <= count[name]; j++)
				printf "%9s", size[name, j]
			print "  exponent"
		}
		printf "%-30s", name ", s"
		for (j = 1; j <= count[name]; j++)
			printf "%9.2f", seconds[name, j]
		printf "%10.2f\n%-30s", exponent(name), "  MiB"
		for (j = 1; j <= count[name]; j++)
			printf "%9.1f", memory[name, j]
		print ""
	}
	if (picture != "")
		draw()
}
