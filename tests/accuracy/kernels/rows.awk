# SPDX-License-Identifier: MIT
# Rows of commas in awk: sums and extremes by town and by day, and text that is put together.
BEGIN { FS = "," }
NR > 1 {
	sum[$2] += $4 * $5
	count[$2]++
	if (!($2 in most) || $5 > most[$2])
		most[$2] = $5
	split($3, day, "-")
	by_month[day[1] "-" day[2]] += $5
	if ($6 ~ /^[a-f]+[^aeiou]*e/)
		named[substr($6, 1, 3)]++
	$4 = ""
	width += length($0)
}
END {
	for (town in sum)
		all += sum[town] / count[town] + most[town]
	for (month in by_month)
		months++
	for (name in named)
		names++
	printf "%.3f %d %d %d\n", all, months, names, width
}
