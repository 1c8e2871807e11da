/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* In the place of libbpf's header: the helpers that the programs call. */
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

#define SEC(name)
#define __ksym
#undef __weak
#define __weak __attribute__((weak))
#undef __noinline
#define __noinline __attribute__((noinline))
#define bpf_ksym_exists(name) false

/* A map is a struct of types, as libbpf has it; where its values lie is the machine's affair. */
#define __uint(name, value) int (*name)[value]
#define __type(name, value) __typeof__(value) *name
#define HOST_MAP(map) \
	(map), sizeof(*(map)->type) / sizeof(int), sizeof(*(map)->key), sizeof(*(map)->value), \
		sizeof(*(map)->max_entries) / sizeof(int)

void *host_find(const void *map, __u32 type, __u32 key_bytes, __u32 value_bytes, __u32 entries,
		const void *key);
long host_put(const void *map, __u32 type, __u32 key_bytes, __u32 value_bytes, __u32 entries,
	      const void *key, const void *value);
long host_delete(const void *map, __u32 type, __u32 key_bytes, __u32 value_bytes, __u32 entries,
		 const void *key);
#define bpf_map_lookup_elem(map, key) host_find(HOST_MAP(map), key)
#define bpf_map_update_elem(map, key, value, flags) host_put(HOST_MAP(map), key, value)
#define bpf_map_delete_elem(map, key) host_delete(HOST_MAP(map), key)

/* One thread runs the programs, and their clock is the test's. */
#define bpf_spin_lock(lock) ((void)(lock))
#define bpf_spin_unlock(lock) ((void)(lock))
#define bpf_ktime_get_ns() 0ULL
#define bpf_get_prandom_u32() 0U
#define bpf_loop(times, call, state, flags) \
	({ for (__u32 at_ = 0; at_ < (times) && !call(at_, state); at_++); })

#endif
