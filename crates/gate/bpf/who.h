/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What became of each client, where the settings ask for that: the clients of which a packet came last,
 * by address or prefix. A client that was not heard of for longest makes room for a new one. */
#ifndef TIDEGATE_WHO_H
#define TIDEGATE_WHO_H

#include "hash.h"

/* Used only if the settings say so; its size is set before the load. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct who_key);
	__type(value, struct who);
} whose SEC(".maps");

/* The counts of the sender or of the receiver. */
static __always_inline struct who *who_is(struct __sk_buff *skb, const struct seen *seen,
					  bool to_client)
{
	struct who_key key = { .version = seen->version };
	struct who fresh = {}, *found;

	if (end_prefix(skb, seen, to_client, &key.prefix))
		return 0;
	found = bpf_map_lookup_elem(&whose, &key);
	if (found)
		return found;
	bpf_map_update_elem(&whose, &key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&whose, &key);
}

/* An opener was admitted, or refused. */
static __noinline void note_who(struct __sk_buff *skb, const struct seen *seen, bool refused,
				const struct control *control)
{
	struct who *who;
	__u64 now, since;

	if (!settings.who)
		return;
	who = who_is(skb, seen, answers(seen));
	if (!who)
		return;
	now = now_ns(control);
	__sync_fetch_and_add(&who->came, 1);
	if (refused) {
		__sync_fetch_and_add(&who->refused, 1);
		if (!who->since_ns)
			who->since_ns = now ?: 1;
	} else if (who->since_ns) {
		/* of two admissions at once one counts; another processor may have read the clock later */
		since = __sync_lock_test_and_set(&who->since_ns, 0);
		if (since && now > since)
			__sync_fetch_and_add(&who->waited_ns, now - since);
	}
}

/* A packet leaves: to a client, or from one. */
static __noinline void note_used(struct __sk_buff *skb, const struct seen *seen)
{
	struct who *who;

	if (settings.who < WHO_DOWN || seen->kind == KIND_NOT_IP || seen->kind == KIND_MALFORMED)
		return;
	who = who_is(skb, seen, settings.who == WHO_DOWN);
	if (who)
		__sync_fetch_and_add(&who->bytes, skb->len);
}

#endif
