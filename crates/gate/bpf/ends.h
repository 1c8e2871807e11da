/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Counts the end of a session once, though its FIN may come again. */
#ifndef TIDEGATE_ENDS_H
#define TIDEGATE_ENDS_H

#include "hash.h"

/* Two generations of cells of one bit: the ends seen lately. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64);
} ended SEC(".maps");

struct flow {
	struct addresses both;
	__be16 ports[2];
};

/* Used only if the settings say so; its size is set before the load. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct flow);
	__type(value, __u8);
} ended_flows SEC(".maps");

/* Whether this end is new: a FIN that the queue drops is sent again. */
static __noinline bool first_end(struct __sk_buff *skb, const struct seen *seen,
				      const struct control *control)
{
	struct flow flow = {};
	__u32 generation = control->end_generation & 1, words = settings.end_words, at, other;
	__u64 *cell, *old, bit, mixed;

	if (settings.ends == ENDS_EVERY)
		return true;
	if (settings.ends == ENDS_FLOW_MAP) {
		__u8 one = 1;

		if (addresses(skb, seen, &flow.both))
			return true;
		flow.ports[0] = seen->ports[0];
		flow.ports[1] = seen->ports[1];
		return bpf_map_update_elem(&ended_flows, &flow, &one, BPF_NOEXIST) == 0;
	}
	if (words == 0)
		return true;
	mixed = hash(skb, seen, BOTH_WAYS);
	bit = 1ULL << (mixed & 63);
	at = (__u32)(mixed >> 6) % words;
	other = at + (generation ? 0 : words);
	at += generation ? words : 0;
	cell = bpf_map_lookup_elem(&ended, &at);
	old = bpf_map_lookup_elem(&ended, &other);
	if (!cell || !old)
		return true;
	if (*old & bit)
		return false;
	return !(__sync_fetch_and_or(cell, bit) & bit);
}

/* A session that opens may have the addresses and ports of one that has ended: its end is new. */
static __noinline void forget_end(struct __sk_buff *skb, const struct seen *seen)
{
	struct flow flow = {};
	__u32 words = settings.end_words, first, second;
	__u64 *cell, bit, mixed;

	if (settings.ends == ENDS_FLOW_MAP) {
		struct flow back = {};

		if (addresses(skb, seen, &flow.both))
			return;
		flow.ports[0] = back.ports[1] = seen->ports[0];
		flow.ports[1] = back.ports[0] = seen->ports[1];
		__builtin_memcpy(back.both.from, flow.both.to, 16);
		__builtin_memcpy(back.both.to, flow.both.from, 16);
		bpf_map_delete_elem(&ended_flows, &flow);
		bpf_map_delete_elem(&ended_flows, &back);
		return;
	}
	if (settings.ends == ENDS_EVERY || words == 0)
		return;
	mixed = hash(skb, seen, BOTH_WAYS);
	bit = 1ULL << (mixed & 63);
	first = (__u32)(mixed >> 6) % words;
	second = first + words;
	cell = bpf_map_lookup_elem(&ended, &first);
	if (cell && *cell & bit)
		__sync_fetch_and_and(cell, ~bit);
	cell = bpf_map_lookup_elem(&ended, &second);
	if (cell && *cell & bit)
		__sync_fetch_and_and(cell, ~bit);
}

#endif
