// SPDX-License-Identifier: MIT OR Apache-2.0
/* Session control at an outgoing interface (session-control, III-B and IV): the
 * per-packet half of every session law, as tidegate_core::law::session::Admit.
 *
 * It decides about packets that open a session and passes all others. It keeps
 * no state per flow, unless the settings ask for a map of ended flows. Once the
 * controller's lease has lapsed, everything passes. */
#include "common.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* One entry is in force, the other is written. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct knobs);
} knobs_map SEC(".maps");

/* tidegate_core::law::session::Spent, and other state between openers. */
struct spent {
	struct bpf_spin_lock lock;
	__u32 turn;		/* the interval of the sums below */
	__u64 admitted;
	__u64 token_due_ns;
	__u64 arrived;
	__u64 refused;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct spent);
} spent_map SEC(".maps");

/* Two generations of cells of one bit: the ends seen lately. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64);
} ended SEC(".maps");

struct flow {
	struct addresses both;
	__be16 ports[2];
};

/* Used only if the settings say so; its size is set before the load. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct flow);
	__type(value, __u8);
} ended_flows SEC(".maps");

/* tidegate_core::law::session::young: packets of a flow since it was admitted, a
 * byte each, eight in a word. The controller fills them before the start. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} young SEC(".maps");

/* A token bucket that stores the time at which it will be full (ITU-T I.371,
 * annex A). A flow that is not eligible gets a token if the bucket is nearly full. */
static __always_inline bool take_token(struct spent *spent, const struct knobs *knobs, __u64 now,
				       bool eligible)
{
	__u64 interval = knobs->token_interval_ns, depth = knobs->token_depth_ns;
	__u64 taken = spent->token_due_ns > now ? spent->token_due_ns - now : 0;
	bool fits;

	if (interval == 0)
		return eligible;
	if (depth < interval)
		depth = interval;
	/* the bucket holds the tokens of one epoch */
	if (settings.limiter == LIMITER_SAVING_BUCKET && depth < interval * knobs->allowance)
		depth = interval * knobs->allowance;
	if (taken > depth)
		taken = depth;
	fits = eligible || depth - taken >= (depth >> 16) * knobs->bypass;
	fits = fits && interval <= depth - taken;
	if (fits)
		taken += interval;
	spent->token_due_ns = now + taken < now ? ~0ULL : now + taken;
	return fits;
}

/* Decides about a packet that opens a session. */
static __always_inline enum fate decide(const struct control *control, __u64 now,
					bool never_refused, __u64 hash, struct tally *tally)
{
	struct knobs *knobs;
	struct spent *spent;
	enum fate fate = FATE_ADMITTED;
	bool eligible;
	__u32 turn = control->knobs, entry = turn & 1, zero = 0;
	__u64 ceiling = control->ceiling;

	knobs = bpf_map_lookup_elem(&knobs_map, &entry);
	spent = bpf_map_lookup_elem(&spent_map, &zero);
	if (!knobs || !spent)
		return FATE_ADMITTED;
	struct knobs mine = *knobs;

	eligible = mine.shut == 0 || (__u32)hash - mine.phase < -mine.shut;
	tally->eligible += eligible;
	bpf_spin_lock(&spent->lock);
	if (spent->turn != turn) {
		spent->turn = turn;
		spent->admitted = spent->arrived = spent->refused = 0;
	}
	spent->arrived += 1;
	if (never_refused)
		fate = FATE_EXEMPT;
	else if (mine.pass_all)
		fate = FATE_ADMITTED;
	else if (settings.limiter == LIMITER_COUNTER)
		fate = eligible && spent->admitted < mine.allowance ? FATE_ADMITTED : FATE_REFUSED;
	else
		fate = take_token(spent, &mine, now, eligible) ? FATE_ADMITTED : FATE_REFUSED;
	if (fate == FATE_REFUSED && (spent->refused + 1) << 16 > ceiling * spent->arrived)
		fate = FATE_CEILING;
	if (fate == FATE_REFUSED)
		spent->refused += 1;
	else if (fate != FATE_EXEMPT)
		spent->admitted += 1;
	bpf_spin_unlock(&spent->lock);
	return fate;
}

static __always_inline __u64 mix(__u64 mixed, __u64 word)
{
	mixed = (mixed ^ word) * 0x9e3779b97f4a7c15ULL;
	return mixed ^ mixed >> 29;
}

/* A salted hash of the flow; zero: the packet has no addresses. `both_ways`: the
 * same hash for either direction. */
static __always_inline __u64 hash(struct __sk_buff *skb, const struct seen *seen, bool both_ways)
{
	__u64 from = seen->ports[0], to = seen->ports[1], mixed;
	__u64 six[4];
	__u32 four[2];

	mixed = mix(settings.salt, both_ways ? (from ^ to) << 32 | (from + to) : from << 16 | to);
	if (seen->version == 4) {
		if (load(skb, seen->l3 + 12, four, sizeof(four)))
			return 0;
		from = four[0];
		to = four[1];
		mixed = mix(mixed, both_ways ? (from ^ to) << 32 | (__u32)(from + to) :
					       from << 32 | to);
	} else {
		if (load(skb, seen->l3 + 8, six, sizeof(six)))
			return 0;
#pragma unroll
		for (int i = 0; i < 2; i++) {
			from = six[i];
			to = six[i + 2];
			mixed = mix(mixed, both_ways ? from ^ to : from);
			mixed = mix(mixed, both_ways ? from + to : to);
		}
	}
	return mixed ^ mixed >> 32;
}

/* Whether this end is new: a FIN that the queue drops is sent again. */
static __noinline bool first_end(struct __sk_buff *skb, const struct seen *seen,
				      const struct control *control)
{
	struct flow flow = {};
	__u32 generation = control->end_generation & 1, words = settings.end_words, at, other;
	__u64 *cell, *old, bit, mixed;

	if (settings.ends == ENDS_EVERY)
		return true;
	if (settings.ends == ENDS_FLOW_MAP) {
		__u8 one = 1;

		if (addresses(skb, seen, &flow.both))
			return true;
		flow.ports[0] = seen->ports[0];
		flow.ports[1] = seen->ports[1];
		return bpf_map_update_elem(&ended_flows, &flow, &one, BPF_NOEXIST) == 0;
	}
	if (words == 0)
		return true;
	mixed = hash(skb, seen, true);
	bit = 1ULL << (mixed & 63);
	at = (__u32)(mixed >> 6) % words;
	other = at + (generation ? 0 : words);
	at += generation ? words : 0;
	cell = bpf_map_lookup_elem(&ended, &at);
	old = bpf_map_lookup_elem(&ended, &other);
	if (!cell || !old)
		return true;
	if (*old & bit)
		return false;
	return !(__sync_fetch_and_or(cell, bit) & bit);
}

static __always_inline void count_end(struct __sk_buff *skb, const struct seen *seen,
				      const struct control *control, struct tally *mine)
{
	if (!first_end(skb, seen, control))
		return;
	if (seen->flags & TCP_FIN)
		mine->departed += 1;
	else
		mine->resets += 1;
}

static __always_inline void look_at_queue(struct __sk_buff *skb)
{
	struct observed *seen;
	__u32 length, zero = 0;

	if (!queue_length(skb, &length))
		return;
	seen = bpf_map_lookup_elem(&observed, &zero);
	if (seen && (length < seen->min_queue || !seen->seen)) {
		seen->min_queue = length;
		seen->seen = 1;
	}
}

static __always_inline bool opens(__u8 flags)
{
	if (!(flags & TCP_SYN))
		return false;
	if (settings.opener == OPENER_EITHER)
		return true;
	return !!(flags & TCP_ACK) == (settings.opener == OPENER_SYN_ACK);
}

/* The hash of the flow, if the settings need it. */
static __always_inline __u64 hash_of(struct __sk_buff *skb, const struct seen *seen)
{
	if (!settings.hashed && !settings.young_cells)
		return 0;
	if (seen->kind == KIND_NOT_IP || seen->kind == KIND_MALFORMED)
		return 0;
	return hash(skb, seen, false);
}

/* The counter of a flow; none: it is not watched. */
static __always_inline __u8 *young_cell(__u64 hash)
{
	__u64 high = (hash >> 32) * settings.young_sample;
	__u32 place, word;
	__u8 *cells;

	/* the lowest 1/young_sample of all hashes, spread over the cells */
	if (settings.young_cells == 0 || settings.young_sample == 0 || high >> 32)
		return 0;
	place = high * settings.young_cells >> 32;
	word = place / 8;
	cells = bpf_map_lookup_elem(&young, &word);
	return cells ? cells + (place & 7) : 0;
}

/* An admitted flow becomes young. */
static __always_inline void rejuvenate(__u64 hash)
{
	__u8 *cell = young_cell(hash);

	if (cell)
		*cell = 0;
}

/* Counts the bytes of young flows among packets that pass. A GSO packet counts
 * as its segments. */
static __always_inline void age(struct __sk_buff *skb, const struct seen *seen, __u64 hash,
				struct tally *mine)
{
	__u32 packets = skb->gso_segs ?: 1, before, bytes;
	__u8 *cell = young_cell(hash);

	if (!cell || seen->kind == KIND_NOT_IP || seen->kind == KIND_MALFORMED)
		return;
	before = *cell;
	*cell = before + packets > 255 ? 255 : before + packets;
	bytes = skb->len - (settings.ethernet ? 14 : 0);
	mine->watched_bytes += bytes;
	if (before < settings.young_packets)
		mine->young_bytes += bytes;
}

/* Admits or refuses a packet that opens a session. */
static __noinline enum fate opener(struct __sk_buff *skb, const struct seen *seen,
					const struct control *control, __u64 hash,
					struct tally *mine)
{
	__u64 now = now_ns(control);
	enum fate fate;

	if (now >= control->lease_ns)
		return FATE_LAPSED;
	fate = decide(control, now, exempt(skb, seen), hash, mine);
	return fate == FATE_REFUSED && !control->enforce ? FATE_WOULD_REFUSE : fate;
}

/* Decides about a packet that may open or end a session. */
static __always_inline enum fate judge(struct __sk_buff *skb, const struct seen *seen, __u64 hash,
				       struct tally *mine)
{
	struct control *control_now;
	__u32 zero = 0;
	enum fate fate;

	control_now = bpf_map_lookup_elem(&control, &zero);
	if (!control_now)
		return FATE_OTHER;
	if (seen->kind == KIND_QUIC_INITIAL) {
		fate = settings.quic ? opener(skb, seen, control_now, hash, mine) : FATE_ADMITTED;
		return fate == FATE_REFUSED ? FATE_QUIC_REFUSED : FATE_QUIC_ADMITTED;
	}
	if (opens(seen->flags)) {
		fate = opener(skb, seen, control_now, hash, mine);
		mine->arrived += 1;
		if (fate != FATE_REFUSED && fate != FATE_WOULD_REFUSE) {
			mine->admitted += 1;
			rejuvenate(hash);
		}
		return fate;
	}
	if (!(seen->flags & (TCP_FIN | TCP_RST)))
		return FATE_OTHER;
	if (!settings.ends_of_peer || !(seen->flags & TCP_FIN))
		count_end(skb, seen, control_now, mine);
	return FATE_END;
}

SEC("tc")
int tidegate_gate(struct __sk_buff *skb)
{
	struct tally *mine;
	struct seen seen;
	enum fate fate;
	__u32 zero = 0;
	__u64 number;

	mine = bpf_map_lookup_elem(&tally, &zero);
	if (!mine)
		return TC_ACT_UNSPEC;
	look_at_queue(skb);
	parse(skb, settings.ethernet, &seen);
	number = hash_of(skb, &seen);
	fate = plain_fate(seen.kind);
	/* most packets neither open nor end a session */
	if (seen.flags & (TCP_SYN | TCP_FIN | TCP_RST) || seen.kind == KIND_QUIC_INITIAL) {
		fate = judge(skb, &seen, number, mine);
		if (fate == FATE_REFUSED || fate == FATE_QUIC_REFUSED) {
			note(mine, fate, skb);
			return TC_ACT_SHOT;
		}
	}
	note(mine, fate, skb);
	age(skb, &seen, number, mine);
	return TC_ACT_UNSPEC;
}

/* At the ingress of the interface: counts ends of sessions whose data leaves by it. */
SEC("tc")
int tidegate_ends(struct __sk_buff *skb)
{
	struct control *control_now;
	struct tally *mine;
	struct seen seen;
	__u32 zero = 0;

	parse(skb, settings.ethernet, &seen);
	if (!(seen.flags & (TCP_FIN | TCP_RST)))
		return TC_ACT_UNSPEC;
	control_now = bpf_map_lookup_elem(&control, &zero);
	mine = bpf_map_lookup_elem(&tally, &zero);
	if (control_now && mine)
		count_end(skb, &seen, control_now, mine);
	return TC_ACT_UNSPEC;
}
