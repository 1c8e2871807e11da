/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* For each packet of the standard input, writes what is seen of it. */
#include <stdio.h>

#include "read.c"

struct head {
	__u32 length;
	__u32 linear;
	__be16 protocol;
	__u16 ethernet;
};

int main(void)
{
	static unsigned char bytes[MOST];
	struct seen seen;
	struct head head;

	while (fread(&head, sizeof(head), 1, stdin) == 1) {
		if (head.length > MOST || fread(bytes, 1, head.length, stdin) != head.length)
			return 1;
		read_packet(bytes, head.length, head.linear, head.ethernet, head.protocol, &seen);
		fwrite(&seen, sizeof(seen), 1, stdout);
	}
	return 0;
}
