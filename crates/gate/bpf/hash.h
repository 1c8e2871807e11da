/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Salted hashes of flows and of clients: others cannot choose the cell of a flow. */
#ifndef TIDEGATE_HASH_H
#define TIDEGATE_HASH_H

#include "common.h"

static __always_inline __u64 mix(__u64 mixed, __u64 word)
{
	mixed = (mixed ^ word) * 0x9e3779b97f4a7c15ULL;
	return mixed ^ mixed >> 29;
}

/* Of which direction of a flow a hash is. */
enum way { FORTH, BACK, BOTH_WAYS };

/* A salted hash of the flow; zero: the packet has no addresses. */
static __always_inline __u64 hash(struct __sk_buff *skb, const struct seen *seen, enum way way)
{
	bool both_ways = way == BOTH_WAYS;
	__u32 first = way == BACK;
	__u64 from = seen->ports[first], to = seen->ports[!first], mixed;
	__u64 six[4];
	__u32 four[2];

	mixed = mix(settings.salt, both_ways ? (from ^ to) << 32 | (from + to) : from << 16 | to);
	if (seen->version == 4) {
		if (load(skb, seen->l3 + 12, four, sizeof(four)))
			return 0;
		from = four[first];
		to = four[!first];
		mixed = mix(mixed, both_ways ? (from ^ to) << 32 | (__u32)(from + to) :
					       from << 32 | to);
	} else {
		if (load(skb, seen->l3 + 8, six, sizeof(six)))
			return 0;
#pragma unroll
		for (int i = 0; i < 2; i++) {
			from = first ? six[i + 2] : six[i];
			to = first ? six[i] : six[i + 2];
			mixed = mix(mixed, both_ways ? from ^ to : from);
			mixed = mix(mixed, both_ways ? from + to : to);
		}
	}
	return mixed ^ mixed >> 32;
}

/* Whether an opener is of the server: a SYN+ACK, or the Initial of QUIC that leaves where the
 * client's is not decided about. That can be told from a client's by its port alone. */
static __always_inline bool answers(const struct seen *seen)
{
	if (seen->kind != KIND_QUIC_INITIAL)
		return seen->flags & TCP_ACK;
	return !settings.syn_in && (settings.opener == OPENER_SYN_ACK ||
				    seen->ports[0] == bpf_htons(QUIC_PORT));
}

/* The bits of an address that name the sender or the receiver; false: the packet has them. */
static __always_inline bool end_prefix(struct __sk_buff *skb, const struct seen *seen,
				       bool to_client, __u64 *prefix)
{
	__u64 of = 0;
	__u32 four = 0;

	if (seen->version == 4) {
		if (load(skb, seen->l3 + (to_client ? 16 : 12), &four, sizeof(four)))
			return true;
		/* of zero bits nothing is left */
		of = settings.client_prefix4 ? bpf_ntohl(four) >> (32 - settings.client_prefix4) : 0;
	} else {
		if (load(skb, seen->l3 + (to_client ? 24 : 8), &of, sizeof(of)))
			return true;
		of = settings.client_prefix6 ? bpf_be64_to_cpu(of) >> (64 - settings.client_prefix6) : 0;
	}
	*prefix = of;
	return false;
}

/* A salted hash of the sender or of the receiver, by its address or prefix. Zero: the packet has no
 * addresses. */
static __always_inline __u64 end_hash(struct __sk_buff *skb, const struct seen *seen, bool to_client)
{
	__u64 of, mixed;

	if (end_prefix(skb, seen, to_client, &of))
		return 0;
	mixed = mix(mix(settings.salt, of), seen->version);
	return mixed ^ mixed >> 32;
}

/* That of the client that opens a session: the sender of a SYN, the receiver of a SYN+ACK. */
static __always_inline __u64 client_hash(struct __sk_buff *skb, const struct seen *seen)
{
	return end_hash(skb, seen, answers(seen));
}

#endif
