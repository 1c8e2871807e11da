/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernel structures that the programs read. CO-RE takes the offsets of the
 * named fields from the running kernel. */
#ifndef TIDEGATE_KERNEL_H
#define TIDEGATE_KERNEL_H

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct qdisc_skb_head {
	__u32 qlen;
};

struct gnet_stats_queue {
	__u32 qlen;
	__u32 backlog;
	__u32 drops;
};

struct Qdisc {
	struct qdisc_skb_head q;
	struct gnet_stats_queue qstats;
};

struct net_device {
	struct Qdisc *qdisc;
};

struct sk_buff {
	struct net_device *dev;
};

#pragma clang attribute pop

extern void *bpf_cast_to_kern_ctx(void *) __ksym __weak;
extern void *bpf_rdonly_cast(const void *, __u32) __ksym __weak;

#endif
