/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* In the place of the kernel's header: what the programs read of a packet, with pointers of this
 * machine's length, and the names that they use. */
#ifndef TIDEGATE_HOST_BPF_H
#define TIDEGATE_HOST_BPF_H

#include <stdbool.h>
#include <linux/types.h>

struct __sk_buff {
	long data;		/* the linear part */
	long data_end;
	__be16 protocol;
	__u32 len;		/* of the whole packet, which lies at `whole` */
	const unsigned char *whole;
	__u32 gso_segs;
};

struct bpf_spin_lock {
	__u32 free;
};

enum {
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_LPM_TRIE = 11,
};
#define BPF_F_NO_PREALLOC 1
#define BPF_NOEXIST 1

#endif
