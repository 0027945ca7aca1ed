# SPDX-License-Identifier: MIT
# Records in jq: grouped, added up, and their texts taken apart.
[.[] | select(.score > 100) | . + { first: (.tags[0] // "none"), n: (.tags | length) }]
| group_by(.first[0:1])
| map({ key: .[0].first[0:1], n: map(.n) | add, best: max_by(.score).id,
	words: (map(.text | split(" ") | map(select(length > 4)) | length) | add),
	mean: ((map(.score) | add) / length | floor) })
| sort_by(-.n)
| .[]
