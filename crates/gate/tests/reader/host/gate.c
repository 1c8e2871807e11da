/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The programs of the gate, compiled for this machine: each request of the standard input is a number,
 * the length of what follows, and that; each has an answer of a fixed length. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* the settings are written before a run */
#define const
#include "../../../bpf/gate.bpf.c"
#undef const

enum request { SETTINGS, CONTROL, KNOBS, SHOW, SHOW_INCOMING, SWEEP, TALLY, YOUNG_PLACE };

#define MOST 65536
#define MAPS 32

/* The values of an array, or the keys and values of a hash, one after the other. */
struct store {
	const void *map;
	__u32 entries;		/* of an array: all; of a hash: those that are there */
	unsigned char *bytes;
};

static struct store stores[MAPS];

static struct store *store_of(const void *map, __u32 entries, __u32 each)
{
	for (int i = 0; i < MAPS; i++) {
		if (stores[i].map == map)
			return &stores[i];
		if (!stores[i].map) {
			stores[i] = (struct store){ map, entries, calloc(entries, each) };
			return &stores[i];
		}
	}
	abort();
}

static bool is_hash(__u32 type)
{
	return type == BPF_MAP_TYPE_LRU_HASH || type == BPF_MAP_TYPE_LPM_TRIE;
}

/* The place of a key in a hash; where it is not there: the end. */
static unsigned char *place_of(struct store *store, __u32 key_bytes, __u32 each, const void *key)
{
	unsigned char *at = store->bytes, *end = at + store->entries * each;

	while (at < end && memcmp(at, key, key_bytes))
		at += each;
	return at;
}

void *host_find(const void *map, __u32 type, __u32 key_bytes, __u32 value_bytes, __u32 entries,
		const void *key)
{
	struct store *store;
	__u32 at;

	/* no list of the tests holds what is never refused */
	if (is_hash(type))
		return 0;
	store = store_of(map, entries, value_bytes);
	memcpy(&at, key, sizeof(at));
	return at < store->entries ? store->bytes + (size_t)at * value_bytes : 0;
}

/* Only ended flows are put into a hash, each once. */
long host_put(const void *map, __u32 type, __u32 key_bytes, __u32 value_bytes, __u32 entries,
	      const void *key, const void *value)
{
	__u32 each = key_bytes + value_bytes;
	struct store *store = store_of(map, 0, each);
	unsigned char *at = place_of(store, key_bytes, each, key);
	size_t before = at - store->bytes;

	if (before < (size_t)store->entries * each)
		return -1;
	store->bytes = realloc(store->bytes, before + each);
	memcpy(store->bytes + before, key, key_bytes);
	memcpy(store->bytes + before + key_bytes, value, value_bytes);
	store->entries += 1;
	return 0;
}

long host_delete(const void *map, __u32 type, __u32 key_bytes, __u32 value_bytes, __u32 entries,
		 const void *key)
{
	__u32 each = key_bytes + value_bytes;
	struct store *store = store_of(map, 0, each);
	unsigned char *at = place_of(store, key_bytes, each, key);
	unsigned char *last = store->bytes + (store->entries - 1) * each;

	if (!store->entries || at > last)
		return -1;
	memcpy(at, last, each);
	store->entries -= 1;
	return 0;
}

/* Gives a map its size, as the controller does before it loads the programs. */
#define SIZED(map, count) store_of((map), (count) ? (count) : 1, sizeof(*(map)->value))

static void set_up(const unsigned char *bytes)
{
	struct store *counters;

	memcpy((void *)&settings, bytes, sizeof(settings));
	SIZED(&ended, 2 * settings.end_words);
	SIZED(&clients, settings.client_cells);
	SIZED(&unanswered, settings.answer_words);
	SIZED(&connections, settings.quic_cells);
	counters = SIZED(&young, settings.young_cells / 8);
	/* flows that already exist are not young */
	memset(counters->bytes, 0xff, counters->entries * sizeof(__u64));
}

static int shown(const unsigned char *bytes, __u32 length, int (*program)(struct __sk_buff *))
{
	struct __sk_buff skb = { .len = length, .whole = bytes };

	skb.data = (long)bytes;
	skb.data_end = (long)(bytes + length);
	return program(&skb);
}

/* Where the counter of a flow is; -1: it is not watched. */
static __u64 place_of_young(const unsigned char *bytes)
{
	__u32 zero = 0;
	__u64 hash;
	__u8 *first = bpf_map_lookup_elem(&young, &zero), *cell;

	memcpy(&hash, bytes, sizeof(hash));
	cell = young_cell(hash);
	return cell ? cell - first : ~0ULL;
}

static void answer(enum request request, unsigned char *bytes, __u32 length)
{
	__u32 zero = 0, entry;
	__u64 result = 0;

	switch (request) {
	case SETTINGS:
		set_up(bytes);
		break;
	case CONTROL:
		memcpy(bpf_map_lookup_elem(&control, &zero), bytes, sizeof(struct control));
		break;
	case KNOBS:
		memcpy(&entry, bytes, sizeof(entry));
		memcpy(bpf_map_lookup_elem(&knobs_map, &entry), bytes + 8, sizeof(struct knobs));
		break;
	case SHOW:
		result = shown(bytes, length, tidegate_gate);
		break;
	case SHOW_INCOMING:
		result = shown(bytes, length, tidegate_ends);
		break;
	case SWEEP:
		shown(bytes, length, tidegate_sweep);
		break;
	case YOUNG_PLACE:
		result = place_of_young(bytes);
		break;
	case TALLY:
		fwrite(bpf_map_lookup_elem(&tally, &zero), sizeof(struct tally), 1, stdout);
		return;
	}
	fwrite(&result, sizeof(result), 1, stdout);
}

int main(void)
{
	static unsigned char bytes[MOST] __attribute__((aligned(8)));
	struct { __u32 request, length; } head;

	while (fread(&head, sizeof(head), 1, stdin) == 1) {
		if (head.length > MOST || fread(bytes, 1, head.length, stdin) != head.length)
			return 1;
		answer(head.request, bytes, head.length);
		fflush(stdout);
	}
	return 0;
}
