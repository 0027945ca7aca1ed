/* SPDX-License-Identifier: MIT */
/* A B-tree: `btree KEYS`, in thousands. They are put in by chance, each is followed by two that are looked for, and by
 * a walk over the eight that come next. A node has at most 15 keys and 16 children, some four lines of a cache. */
#include <string.h>

#include "chance.h"

enum { HALF = 7, MOST = 2 * HALF + 1 };

struct node {
	uint32_t n;
	uint32_t leaf;
	uint64_t keys[MOST];
	struct node *children[MOST + 1];
};

static struct node *node_make(uint32_t leaf)
{
	struct node *node = chance_room(1, sizeof(*node));

	node->leaf = leaf;
	return node;
}

/* The first place whose key is not less. */
static uint32_t place(const struct node *node, uint64_t key)
{
	uint32_t i = 0;

	while (i < node->n && node->keys[i] < key)
		i++;
	return i;
}

/* The child at i is full: its middle key comes up, what is behind that becomes its neighbour. */
static void split(struct node *parent, uint32_t i)
{
	struct node *child = parent->children[i], *right = node_make(child->leaf);

	right->n = HALF;
	memcpy(right->keys, child->keys + HALF + 1, HALF * sizeof(*right->keys));
	memcpy(right->children, child->children + HALF + 1, (HALF + 1) * sizeof(*right->children));
	child->n = HALF;
	memmove(parent->keys + i + 1, parent->keys + i, (parent->n - i) * sizeof(*parent->keys));
	memmove(parent->children + i + 2, parent->children + i + 1, (parent->n - i) * sizeof(*parent->children));
	parent->keys[i] = child->keys[HALF];
	parent->children[i + 1] = right;
	parent->n++;
}

static void insert(struct node **root, uint64_t key)
{
	struct node *node = *root;

	if (node->n == MOST) {
		node = node_make(0);
		node->children[0] = *root;
		*root = node;
		split(node, 0);
	}
	for (;;) {
		uint32_t i = place(node, key);

		if (i < node->n && node->keys[i] == key)
			return;
		if (node->leaf) {
			memmove(node->keys + i + 1, node->keys + i, (node->n - i) * sizeof(*node->keys));
			node->keys[i] = key;
			node->n++;
			return;
		}
		if (node->children[i]->n == MOST) {
			split(node, i);
			i += node->keys[i] < key;
		}
		node = node->children[i];
	}
}

static int has(const struct node *node, uint64_t key)
{
	for (;;) {
		uint32_t i = place(node, key);

		if (i < node->n && node->keys[i] == key)
			return 1;
		if (node->leaf)
			return 0;
		node = node->children[i];
	}
}

/* The sum of at most `left` keys from `from` on. */
static uint64_t walk(const struct node *node, uint64_t from, uint32_t *left)
{
	uint64_t sum = 0;

	for (uint32_t i = place(node, from); *left; i++) {
		if (!node->leaf)
			sum += walk(node->children[i], from, left);
		if (i == node->n || *left == 0)
			break;
		sum += node->keys[i];
		--*left;
	}
	return sum;
}

static void drop(struct node *node)
{
	for (uint32_t i = 0; !node->leaf && i <= node->n; i++)
		drop(node->children[i]);
	free(node);
}

int main(int argc, char **argv)
{
	struct node *root = node_make(1);
	uint64_t sum = 0;

	for (unsigned left = 1000 * chance_passes(argc, argv); left; left--) {
		uint64_t key = chance() & 0xfffffff;
		uint32_t next = 8;

		insert(&root, key);
		sum += (unsigned)has(root, key ^ 1) + (unsigned)has(root, chance() & 0xfffffff);
		sum += walk(root, key, &next);
	}
	printf("btree %llu\n", (unsigned long long)sum);
	drop(root);
	return 0;
}
