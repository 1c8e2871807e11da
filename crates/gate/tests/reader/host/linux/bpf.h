/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* In the place of the kernel's header: what parse.h reads of a packet, with pointers of this
 * machine's length. */
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
};

#endif
