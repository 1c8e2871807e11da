/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reads packets with the code of the kernel's programs. A read beyond the linear part that the
 * code has not checked ends the program: behind that part is memory that nobody may touch. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../bpf/parse.h"

#define MOST 65536

void read_packet(const unsigned char *bytes, __u32 length, __u32 linear, bool ethernet,
		 __be16 protocol, struct seen *seen)
{
	static unsigned char *end;
	struct __sk_buff skb = { .protocol = protocol, .len = length, .whole = bytes };
	unsigned char *start;

	if (!end) {
		start = mmap(0, 2 * MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (start == MAP_FAILED || mprotect(start + MOST, MOST, PROT_NONE))
			abort();
		end = start + MOST;
	}
	if (linear > length || linear > MOST)
		abort();
	/* headers of a packet lie at even addresses */
	start = end - linear - (linear & 1);
	memcpy(start, bytes, linear);
	skb.data = (long)start;
	skb.data_end = (long)(start + linear);
	parse(&skb, ethernet, seen);
}
