/* SPDX-License-Identifier: MIT */
/* A search tree that is kept flat by chance: `treap CHANGES`, in thousands. Nodes come from malloc and go back to it:
 * of some 30,000 keys each change takes one out if it is there, and puts it in if not. */
#include "chance.h"

enum { KEYS = 60000 };

struct node { struct node *left, *right; uint32_t key, weight; };

/* What is below `key` goes to *low, the rest to *high. */
static void split(struct node *tree, uint32_t key, struct node **low, struct node **high)
{
	while (tree)
		if (tree->key < key) {
			*low = tree;
			low = &tree->right;
			tree = tree->right;
		} else {
			*high = tree;
			high = &tree->left;
			tree = tree->left;
		}
	*low = *high = NULL;
}

/* All of `low` is below all of `high`; the greater weight is on top. */
static struct node *join(struct node *low, struct node *high)
{
	struct node *tree = NULL, **at = &tree;

	while (low && high)
		if (low->weight > high->weight) {
			*at = low;
			at = &low->right;
			low = low->right;
		} else {
			*at = high;
			at = &high->left;
			high = high->left;
		}
	*at = low ? low : high;
	return tree;
}

/* 1 if the key is there then. */
static int change(struct node **tree, uint32_t key)
{
	uint32_t weight = (uint32_t)chance();
	struct node **at = tree, *node;

	while (*at && (*at)->key != key)
		at = key < (*at)->key ? &(*at)->left : &(*at)->right;
	if (*at) {
		node = *at;
		*at = join(node->left, node->right);
		free(node);
		return 0;
	}
	for (at = tree; *at && (*at)->weight >= weight;)
		at = key < (*at)->key ? &(*at)->left : &(*at)->right;
	node = malloc(sizeof(*node));
	if (!node)
		exit(99);
	node->key = key;
	node->weight = weight;
	split(*at, key, &node->left, &node->right);
	*at = node;
	return 1;
}

int main(int argc, char **argv)
{
	struct node *tree = NULL;
	uint64_t sum = 0;

	for (unsigned left = 1000 * chance_passes(argc, argv); left; left--) {
		uint32_t key = chance_below(KEYS);

		sum += change(&tree, key) ? key : 1;
	}
	printf("treap %llu\n", (unsigned long long)sum);
	while (tree) {
		struct node *top = tree;

		tree = join(top->left, top->right);
		free(top);
	}
	return 0;
}
