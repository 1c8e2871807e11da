/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The connections of QUIC that were let through, as tidegate_core::law::session::quic: known
 * by a hash of their addresses and ports. Their ends are encrypted, so one of which nothing comes
 * for a while has ended. */
#ifndef TIDEGATE_QUIC_H
#define TIDEGATE_QUIC_H

#include "hash.h"

/* A cell: the lower half of the hash; whether the end of the connection counts; when
 * something of it came last, in ms. Zero: there is none. */
#define END_COUNTS (1ULL << 31)
#define SEEN_MS (END_COUNTS - 1)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} connections SEC(".maps");

static __always_inline __u64 *connection_cell(__u64 hash)
{
	__u32 place = (hash >> 32) * settings.quic_cells >> 32;

	return settings.quic_cells ? bpf_map_lookup_elem(&connections, &place) : 0;
}

static __always_inline __u64 new_cell(__u64 hash, __u64 now)
{
	/* of a connection the tag is never zero */
	return (hash | 1) << 32 | (now / 1000000 & SEEN_MS);
}

static __always_inline bool is_known(__u64 cell, __u64 hash)
{
	return cell && cell >> 32 == (__u32)(hash | 1);
}

/* A packet of a connection that is known. */
static __always_inline void touch(__u64 *cell, __u64 old, __u64 now)
{
	__u64 fresh = (old & ~SEEN_MS) | (now / 1000000 & SEEN_MS);

	if (fresh != old)
		__sync_val_compare_and_swap(cell, old, fresh);
}

/* A connection is let through. What it takes the cell from counts as ended. */
static __always_inline void remember(__u64 *cell, __u64 hash, __u64 now, bool counts,
				     struct tally *mine)
{
	__u64 old = __sync_lock_test_and_set(cell, new_cell(hash, now) | (counts ? END_COUNTS : 0));

	if (old & END_COUNTS)
		mine->idle_ended += 1;
}

/* Whether an Initial of a connection that is not known opens a session here: that of the client of
 * an upload leaves, that of the client of a download comes in. Where downloads are refused at
 * egress, that of their server is the first that is seen. */
static __always_inline bool initial_opens(bool incoming)
{
	if (incoming)
		return settings.opener != OPENER_SYN;
	return !settings.syn_in || settings.opener != OPENER_SYN_ACK;
}

/* Any other packet of UDP: whether it is of a connection that is known. */
static __noinline bool notice(struct __sk_buff *skb, const struct seen *seen, __u64 now)
{
	__u64 mixed = hash(skb, seen, BOTH_WAYS), *cell = connection_cell(mixed), old;

	if (!cell)
		return false;
	old = *cell;
	if (!is_known(old, mixed))
		return false;
	touch(cell, old, now);
	return true;
}

struct sweep {
	__u32 now_ms;
	__u32 ended;
};

static long sweep_cell(__u32 at, struct sweep *sweep)
{
	__u64 *cell = bpf_map_lookup_elem(&connections, &at), old;

	if (!cell)
		return 1;
	old = *cell;
	if (!old || ((sweep->now_ms - (__u32)old) & SEEN_MS) < settings.quic_idle_ms)
		return 0;
	/* a packet may come at this moment */
	if (__sync_val_compare_and_swap(cell, old, 0) == old)
		sweep->ended += (old & END_COUNTS) != 0;
	return 0;
}

#endif
