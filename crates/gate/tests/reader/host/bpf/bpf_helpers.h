/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* In the place of libbpf's header: the one helper that parse.h calls. */
#ifndef TIDEGATE_HOST_HELPERS_H
#define TIDEGATE_HOST_HELPERS_H

#include <string.h>

#undef __always_inline
#define __always_inline inline __attribute__((always_inline))

static inline long bpf_skb_load_bytes(const struct __sk_buff *skb, __u32 at, void *to, __u32 bytes)
{
	if (at > skb->len || bytes > skb->len - at)
		return -1;
	memcpy(to, skb->whole + at, bytes);
	return 0;
}

#endif
