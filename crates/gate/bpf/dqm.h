/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Dual-queue management at an outgoing interface (dqm, II): drops packets that
 * open a connection with a probability that grows with the queue length. It comes
 * behind session control, and the settings say whether it is there.
 *
 * The length is that of the interface's own queue; the table of probabilities is
 * written by the controller from tidegate_core's curve. */
#ifndef TIDEGATE_DQM_H
#define TIDEGATE_DQM_H

#include "common.h"

#define ONE (1 << 16)
/* Longest idle time, in packet transmission times: after 2^20 of them any
 * average is zero. */
#define IDLE_BITS 20

/* The average length; all CPUs share it. */
struct averaged {
	__u64 average;		/* packets x 2^16 */
	__u64 at_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct averaged);
} averages SEC(".maps");

/* Drop probability at 0, 1, ... `queue_limit` packets, of 2^32 - 1. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u32);
} shares SEC(".maps");

/* The average after an idle time: (1 - w)^m times the average, m = idle time over the
 * transmission time of a packet (Floyd and Jacobson 1993, 4). */
static __always_inline __u64 decayed(__u64 average, __u64 idle_ns)
{
	__u64 left = ONE - settings.ewma_weight;
	__u64 m = settings.service_ns ? idle_ns / settings.service_ns : 0;

	if (m >> IDLE_BITS)
		return 0;
	for (int i = 0; i < IDLE_BITS; i++) {
		if (m >> i & 1)
			average = average * left >> 16;
		left = left * left >> 16;
	}
	return average;
}

/* Updates the average with the length at a packet's arrival (packets x 2^16). */
static __always_inline __u64 average_of(struct averaged *kept, __u32 length, __u64 now)
{
	__u64 average = kept->average, then = kept->at_ns;
	__u64 fresh = (__u64)length << 16;

	if (length == 0)
		average = decayed(average, now > then ? now - then : 0);
	else if (fresh > average)
		average += (fresh - average) * settings.ewma_weight >> 16;
	else
		average -= (average - fresh) * settings.ewma_weight >> 16;
	kept->average = average;
	kept->at_ns = now;
	return average;
}

static __always_inline bool lost(__u64 average)
{
	__u32 at = average >> 16, *share;

	if (at > settings.queue_limit)
		at = settings.queue_limit;
	share = bpf_map_lookup_elem(&shares, &at);
	return share && *share && bpf_get_prandom_u32() <= *share;
}

/* What the curve goes by: the length or its average (packets x 2^16). A packet that `joins` the
 * queue moves the average. */
static __always_inline __u64 measure(__u32 length, bool joins, const struct control *control)
{
	struct averaged *kept;
	__u32 zero = 0;
	__u64 now, then;

	if (settings.ewma_weight == ONE)
		return (__u64)length << 16;
	kept = bpf_map_lookup_elem(&averages, &zero);
	if (!kept)
		return 0;
	now = now_ns(control);
	if (joins)
		return average_of(kept, length, now);
	then = kept->at_ns;
	return length ? kept->average : decayed(kept->average, now > then ? now - then : 0);
}

/* Whether a packet that leaves opens a connection that was not asked about where its SYN came in. */
static __always_inline bool asks(const struct seen *seen)
{
	if (seen->kind == KIND_QUIC_INITIAL)
		return settings.quic_cells;
	return seen->flags & TCP_SYN && !(settings.syn_in && seen->flags & TCP_ACK);
}

/* What becomes of a packet that opens a connection and that session control lets pass. */
static __noinline enum fate connection(struct __sk_buff *skb, const struct seen *seen,
				       const struct control *control, __u64 measured,
				       struct tally *mine)
{
	mine->asked += 1;
	if (!leased(control, now_ns(control)) || !lost(measured) || exempt(skb, seen))
		return FATE_ADMITTED;
	return control->enforce ? FATE_CONNECTION : FATE_WOULD_REFUSE;
}

/* Whether dual-queue management drops a packet, which session control lets pass: one that leaves,
 * or the SYN of a download, which comes in and joins no queue here. */
static __always_inline bool refuses(struct __sk_buff *skb, const struct seen *seen, bool leaves,
				    struct tally *mine, enum fate *fate)
{
	struct control *control_now;
	__u32 length, zero = 0;
	enum fate found;
	__u64 measured;

	if (!settings.queue_limit)
		return false;
	control_now = bpf_map_lookup_elem(&control, &zero);
	if (!control_now || !queue_length(skb, &length))
		return false;
	measured = measure(length, leaves, control_now);
	if (leaves && !asks(seen))
		return false;
	found = connection(skb, seen, control_now, measured, mine);
	if (found != FATE_ADMITTED)
		*fate = found;
	return found == FATE_CONNECTION;
}

#endif
