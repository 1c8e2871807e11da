/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reads the headers of a packet. */
#ifndef TIDEGATE_PARSE_H
#define TIDEGATE_PARSE_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>

#define ETH_IPV4 0x0800
#define ETH_IPV6 0x86dd
#define ETH_VLAN 0x8100
#define ETH_QINQ 0x88a8
#define ETH_PPPOE 0x8864

#define IP_HOP_BY_HOP 0
#define IP_IPIP 4
#define IP_TCP 6
#define IP_UDP 17
#define IP_6IN4 41
#define IP_ROUTING 43
#define IP_FRAGMENT 44
#define IP_GRE 47
#define IP_ESP 50
#define IP_AH 51
#define IP_DESTINATION 60
#define IP_MOBILITY 135

#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_ACK 0x10

#define QUIC_V1 1
#define QUIC_V2 0x6b3343cf
/* RFC 9000, 14.1: the shortest datagram with an ack-eliciting Initial. */
#define QUIC_INITIAL_BYTES 1200
#define QUIC_PORT 443

/* VLAN tags and IPv6 extension headers that are skipped, at most. */
#define MAX_TAGS 2
#define MAX_EXTENSIONS 6

enum kind {
	KIND_TCP,
	KIND_QUIC_INITIAL,
	KIND_UDP,
	KIND_OPAQUE,
	KIND_FRAGMENT,
	KIND_OTHER_IP,
	KIND_NOT_IP,
	KIND_MALFORMED,
};

struct seen {
	__u32 l3;		/* where the IP header starts */
	__u32 l4;		/* where the header after it starts */
	__u32 udp_bytes;
	__u8 kind;
	__u8 flags;		/* of TCP */
	__u8 version;		/* of IP */
	__u8 protocol;
	__be16 ports[2];	/* source, destination */
};

/* All headers that are read end before this offset. */
#define FARTHEST 0x3fff

/* Copies bytes of the packet. Headers are nearly always in the linear part, and
 * then no helper is called. `at` is even, as are the offsets of all headers. */
static __always_inline int load(struct __sk_buff *skb, __u32 at, void *to, __u32 bytes)
{
	void *from = (void *)(long)skb->data + (at & FARTHEST);

	if (from + bytes <= (void *)(long)skb->data_end) {
		__builtin_memcpy(to, __builtin_assume_aligned(from, 2), bytes);
		return 0;
	}
	return bpf_skb_load_bytes(skb, at, to, bytes);
}

/* Looks at the first long header of a UDP payload (RFC 9000, 17.2.2; RFC 9369, 3.2). */
static __always_inline bool is_initial(struct __sk_buff *skb, const struct seen *seen)
{
	struct { __u8 first; __u8 version[4]; } __attribute__((packed)) head;
	__u32 version, type;

	if (seen->udp_bytes < QUIC_INITIAL_BYTES || load(skb, seen->l4 + 8, &head, sizeof(head)))
		return false;
	version = (__u32)head.version[0] << 24 | (__u32)head.version[1] << 16 |
		  (__u32)head.version[2] << 8 | head.version[3];
	type = head.first >> 4 & 3;
	/* a long header; the bit below its form may be either (RFC 9287) */
	return (head.first & 0x80) &&
	       ((version == QUIC_V1 && type == 0) || (version == QUIC_V2 && type == 1));
}

static __always_inline void parse_transport(struct __sk_buff *skb, struct seen *seen)
{
	struct { __be16 ports[2]; __u8 skip[8]; __u8 offset; __u8 flags; } tcp;
	struct { __be16 ports[2]; __be16 length; __be16 check; } udp;

	switch (seen->protocol) {
	case IP_TCP:
		if (load(skb, seen->l4, &tcp, sizeof(tcp)))
			return;
		seen->ports[0] = tcp.ports[0];
		seen->ports[1] = tcp.ports[1];
		seen->flags = tcp.flags;
		seen->kind = KIND_TCP;
		return;
	case IP_UDP:
		if (load(skb, seen->l4, &udp, sizeof(udp)))
			return;
		seen->ports[0] = udp.ports[0];
		seen->ports[1] = udp.ports[1];
		seen->udp_bytes = bpf_ntohs(udp.length) < 8 ? 0 : bpf_ntohs(udp.length) - 8;
		seen->kind = is_initial(skb, seen) ? KIND_QUIC_INITIAL : KIND_UDP;
		return;
	case IP_ESP:
	case IP_AH:
	case IP_IPIP:
	case IP_6IN4:
	case IP_GRE:
		/* session-control, VI-A: neither SYN nor FIN is visible */
		seen->kind = KIND_OPAQUE;
		return;
	default:
		seen->kind = KIND_OTHER_IP;
	}
}

static __always_inline void parse_ipv4(struct __sk_buff *skb, struct seen *seen)
{
	struct { __u8 version_ihl, tos; __be16 length, id, fragment; __u8 ttl, protocol; } ip;
	__u32 header;

	if (load(skb, seen->l3, &ip, sizeof(ip)))
		return;
	header = (ip.version_ihl & 0xf) * 4;
	if (ip.version_ihl >> 4 != 4 || header < 20)
		return;
	seen->version = 4;
	if (ip.fragment & bpf_htons(0x1fff)) {
		seen->kind = KIND_FRAGMENT;
		return;
	}
	seen->protocol = ip.protocol;
	seen->l4 = seen->l3 + header;
	parse_transport(skb, seen);
}

static __always_inline void parse_ipv6(struct __sk_buff *skb, struct seen *seen)
{
	struct { __u8 version, skip[5]; __u8 next, hops; } ip;
	struct { __u8 next, length; __be16 fragment; } ext;
	__u8 next;

	if (load(skb, seen->l3, &ip, sizeof(ip)) || ip.version >> 4 != 6)
		return;
	seen->version = 6;
	seen->l4 = seen->l3 + 40;
	next = ip.next;
	for (int i = 0; i < MAX_EXTENSIONS; i++) {
		if (next != IP_HOP_BY_HOP && next != IP_ROUTING && next != IP_DESTINATION &&
		    next != IP_MOBILITY && next != IP_FRAGMENT)
			break;
		if (load(skb, seen->l4, &ext, sizeof(ext)))
			return;
		if (next == IP_FRAGMENT) {
			if (ext.fragment & bpf_htons(0xfff8)) {
				seen->kind = KIND_FRAGMENT;
				return;
			}
			seen->l4 += 8;
		} else {
			seen->l4 += (ext.length + 1) * 8;
		}
		next = ext.next;
	}
	seen->protocol = next;
	parse_transport(skb, seen);
}

static __always_inline void parse(struct __sk_buff *skb, bool ethernet, struct seen *seen)
{
	__be16 type = skb->protocol;

	__builtin_memset(seen, 0, sizeof(*seen));
	seen->kind = KIND_MALFORMED;
	if (ethernet) {
		seen->l3 = 14;
		if (load(skb, 12, &type, sizeof(type)))
			return;
		for (int i = 0; i < MAX_TAGS; i++) {
			if (type != bpf_htons(ETH_VLAN) && type != bpf_htons(ETH_QINQ))
				break;
			if (load(skb, seen->l3 + 2, &type, sizeof(type)))
				return;
			seen->l3 += 4;
		}
	}
	if (type == bpf_htons(ETH_IPV4))
		parse_ipv4(skb, seen);
	else if (type == bpf_htons(ETH_IPV6))
		parse_ipv6(skb, seen);
	else
		seen->kind = type == bpf_htons(ETH_PPPOE) ? KIND_OPAQUE : KIND_NOT_IP;
}

/* Source and destination address, IPv4 ones in the first four bytes of each. */
struct addresses {
	__u8 from[16];
	__u8 to[16];
};

static __always_inline int addresses(struct __sk_buff *skb, const struct seen *seen,
				     struct addresses *both)
{
	__builtin_memset(both, 0, sizeof(*both));
	if (seen->version == 6)
		return load(skb, seen->l3 + 8, both, 32);
	return load(skb, seen->l3 + 12, both->from, 4) ?: load(skb, seen->l3 + 16, both->to, 4);
}

#endif
