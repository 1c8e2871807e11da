/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Maps and functions that the programs use. */
#ifndef TIDEGATE_COMMON_H
#define TIDEGATE_COMMON_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "gate.h"
#include "kernel.h"
#include "parse.h"

#define NEVER_REFUSED_NETWORKS 1024

const volatile struct settings settings = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct control);
} control SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tally);
} tally SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct observed);
} observed SEC(".maps");

/* Never refused: networks and ports of either end. */
struct network4 { __u32 bits; __u8 address[4]; };
struct network6 { __u32 bits; __u8 address[16]; };

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, NEVER_REFUSED_NETWORKS);
	__type(key, struct network4);
	__type(value, __u32);
} networks4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, NEVER_REFUSED_NETWORKS);
	__type(key, struct network6);
	__type(value, __u32);
} networks6 SEC(".maps");

/* One bit per port. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 65536 / 64);
	__type(key, __u32);
	__type(value, __u64);
} ports SEC(".maps");

static __always_inline __u64 now_ns(const struct control *control)
{
	return settings.test_clock ? control->test_now_ns : bpf_ktime_get_ns();
}

/* The controller grants a minute at most. A lease that ends later was written by another
 * clock, as in a time namespace, and would not lapse when the controller dies. */
#define LONGEST_LEASE_NS 61000000000ULL

static __always_inline bool leased(const struct control *control, __u64 now)
{
	return now < control->lease_ns && control->lease_ns - now <= LONGEST_LEASE_NS;
}

static __always_inline bool port_listed(__be16 port)
{
	__u16 number = bpf_ntohs(port);
	__u32 word = number / 64;
	__u64 *bits = bpf_map_lookup_elem(&ports, &word);

	return bits && *bits >> (number % 64) & 1;
}

/* Whether the packet is never refused. */
static __always_inline bool exempt(struct __sk_buff *skb, const struct seen *seen)
{
	struct addresses both;

	if (port_listed(seen->ports[0]) || port_listed(seen->ports[1]))
		return true;
	if (addresses(skb, seen, &both))
		return false;
	if (seen->version == 6) {
		struct network6 key = { .bits = 128 };

		__builtin_memcpy(key.address, both.from, 16);
		if (bpf_map_lookup_elem(&networks6, &key))
			return true;
		__builtin_memcpy(key.address, both.to, 16);
		return bpf_map_lookup_elem(&networks6, &key);
	}
	struct network4 key = { .bits = 32 };

	__builtin_memcpy(key.address, both.from, 4);
	if (bpf_map_lookup_elem(&networks4, &key))
		return true;
	__builtin_memcpy(key.address, both.to, 4);
	return bpf_map_lookup_elem(&networks4, &key);
}

/* Packets in the qdisc of the device, without this one, which comes before it;
 * false if the kernel or the settings do not allow the read. Without the kernel's types (BTF) nobody
 * knows where the length is, and a loader refuses a program that asks. */
static __always_inline bool queue_length(struct __sk_buff *skb, __u32 *packets)
{
#ifdef TIDEGATE_WITHOUT_TYPES
	return false;
#else
	struct sk_buff *kernel;
	struct net_device *dev;
	struct Qdisc *qdisc;

	if (!settings.read_queue || !bpf_ksym_exists(bpf_cast_to_kern_ctx) ||
	    !bpf_ksym_exists(bpf_rdonly_cast))
		return false;
	kernel = bpf_cast_to_kern_ctx(skb);
	dev = kernel->dev;
	qdisc = bpf_rdonly_cast(dev->qdisc, bpf_core_type_id_kernel(struct Qdisc));
	*packets = qdisc->q.qlen;
	return true;
#endif
}

static __always_inline void note(struct tally *mine, enum fate fate, const struct __sk_buff *skb)
{
	mine->packets[fate] += 1;
	mine->bytes[fate] += skb->len;
}

static __always_inline enum fate plain_fate(__u8 kind)
{
	switch (kind) {
	case KIND_TCP:
	case KIND_QUIC_INITIAL: return FATE_OTHER;
	case KIND_UDP: return FATE_UDP;
	case KIND_OPAQUE: return FATE_OPAQUE;
	case KIND_FRAGMENT: return FATE_FRAGMENT;
	case KIND_OTHER_IP: return FATE_OTHER_IP;
	case KIND_NOT_IP: return FATE_NOT_IP;
	default: return FATE_MALFORMED;
	}
}

#endif
