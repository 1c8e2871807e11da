/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tells the controller the clock that the programs read. */
#ifndef TIDEGATE_CLOCK_H
#define TIDEGATE_CLOCK_H

#include "common.h"

/* The clock of the kernel, which is not that of a controller in a time namespace. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} clock SEC(".maps");

SEC("tc")
int tidegate_clock(struct __sk_buff *skb)
{
	__u32 zero = 0;
	__u64 *now = bpf_map_lookup_elem(&clock, &zero);

	if (now)
		*now = bpf_ktime_get_ns();
	return TC_ACT_UNSPEC;
}

#endif
