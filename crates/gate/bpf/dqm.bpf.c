// SPDX-License-Identifier: MIT OR Apache-2.0
/* Dual-queue management at an outgoing interface (dqm, II): drops packets that
 * open a connection with a probability that grows with the queue length.
 *
 * The length is that of the interface's own queue, read here; the table of
 * probabilities is written by the controller from tidegate_core's curve. */
#include "common.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define ONE (1 << 16)
/* Longest idle time, in packet transmission times: after 2^20 of them any
 * average is zero. */
#define IDLE_BITS 20

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
static __always_inline __u64 average_of(struct observed *kept, __u32 length, __u64 now)
{
	__u64 average = kept->average, then = kept->average_at_ns;
	__u64 fresh = (__u64)length << 16;

	if (length == 0)
		average = decayed(average, now > then ? now - then : 0);
	else if (fresh > average)
		average += (fresh - average) * settings.ewma_weight >> 16;
	else
		average -= (average - fresh) * settings.ewma_weight >> 16;
	kept->average = average;
	kept->average_at_ns = now;
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

/* What the curve goes by, for a packet that does not join the queue itself. */
static __always_inline __u64 present(const struct observed *kept, __u32 length, __u64 now)
{
	__u64 then = kept->average_at_ns;

	if (settings.ewma_weight == ONE)
		return (__u64)length << 16;
	return length ? kept->average : decayed(kept->average, now > then ? now - then : 0);
}

/* Whether a packet that leaves opens a connection that was not asked about where its SYN came in. */
static __always_inline bool asks(const struct seen *seen)
{
	if (seen->kind == KIND_QUIC_INITIAL)
		return settings.quic_cells;
	return seen->flags & TCP_SYN && !(settings.syn_in && seen->flags & TCP_ACK);
}

/* The packet opens a connection. */
static __noinline enum fate connection(struct __sk_buff *skb, const struct seen *seen,
				       const struct control *control, __u64 average)
{
	if (!leased(control, now_ns(control)))
		return FATE_LAPSED;
	if (!lost(average))
		return FATE_ADMITTED;
	if (exempt(skb, seen))
		return FATE_EXEMPT;
	return control->enforce ? FATE_CONNECTION : FATE_WOULD_REFUSE;
}

/* The same, counted. */
static __always_inline enum fate counted(struct __sk_buff *skb, const struct seen *seen,
					 const struct control *control, __u64 average,
					 struct tally *mine)
{
	enum fate fate = connection(skb, seen, control, average);

	mine->arrived += 1;
	if (fate != FATE_CONNECTION && fate != FATE_WOULD_REFUSE)
		mine->admitted += 1;
	return fate;
}

SEC("tc")
int tidegate_dqm(struct __sk_buff *skb)
{
	struct control *control_now;
	struct observed *kept;
	struct tally *mine;
	struct seen seen;
	__u64 average;
	__u32 length, zero = 0;
	enum fate fate;

	control_now = bpf_map_lookup_elem(&control, &zero);
	mine = bpf_map_lookup_elem(&tally, &zero);
	kept = bpf_map_lookup_elem(&observed, &zero);
	if (!control_now || !mine || !kept || !queue_length(skb, &length))
		return TC_ACT_UNSPEC;
	if (!kept->seen)
		kept->seen = 1;
	/* only an average depends on time */
	average = settings.ewma_weight == ONE ? (__u64)length << 16 :
						average_of(kept, length, now_ns(control_now));
	parse(skb, settings.ethernet, &seen);
	fate = plain_fate(seen.kind);
	if (asks(&seen))
		fate = counted(skb, &seen, control_now, average, mine);
	note(mine, fate, skb);
	return fate == FATE_CONNECTION ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

/* At the ingress of the interface: the SYN of a download. If it is dropped here, the server has no
 * half-open connection; its SYN+ACK, where it was not, is not asked about again. */
SEC("tc")
int tidegate_dqm_in(struct __sk_buff *skb)
{
	struct control *control_now;
	struct observed *kept;
	struct tally *mine;
	struct seen seen;
	__u32 length, zero = 0;
	enum fate fate;

	parse(skb, settings.ethernet, &seen);
	if (!settings.syn_in || (seen.flags & (TCP_SYN | TCP_ACK)) != TCP_SYN)
		return TC_ACT_UNSPEC;
	control_now = bpf_map_lookup_elem(&control, &zero);
	mine = bpf_map_lookup_elem(&tally, &zero);
	kept = bpf_map_lookup_elem(&observed, &zero);
	if (!control_now || !mine || !kept || !queue_length(skb, &length))
		return TC_ACT_UNSPEC;
	fate = counted(skb, &seen, control_now, present(kept, length, now_ns(control_now)), mine);
	/* the bytes by fate are those that leave */
	mine->packets[fate] += 1;
	return fate == FATE_CONNECTION ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}
