// SPDX-License-Identifier: MIT OR Apache-2.0
/* Session control at an outgoing interface (session-control, III-B and IV): the
 * per-packet half of every session law, as tidegate_core::law::session::Admit. Behind it is
 * dual-queue management, where the settings have it.
 *
 * It decides about packets that open a session and passes all others. It keeps
 * no state per flow, unless the settings ask for a map of ended flows. Once the
 * controller's lease has lapsed, everything passes. */
#include "bucket.h"
#include "clock.h"
#include "common.h"
#include "dqm.h"
#include "ends.h"
#include "hash.h"
#include "quic.h"
#include "who.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* One entry is in force, the other is written. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct knobs);
} knobs_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct spent);
} spent_map SEC(".maps");

/* tidegate_core::law::session::young: packets of a flow since it was admitted, a
 * byte each, eight in a word. The controller fills them before the start. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} young SEC(".maps");

/* tidegate_core::law::session::clients: what is known of the clients with one hash. Time and round
 * are whole: a client that is back when a shorter number has gone round would be taken for one
 * that stayed. */
struct client {
	__u64 until;		/* until when it is let in, or since when it waits; zero: neither */
	__u32 round;
	__u16 taken;		/* connections admitted in the round */
	__u8 marks;
	__u8 unused;
};

/* Marks: it was refused in the round; it was refused, and has not been let in since; its visit has
 * begun. */
enum { CLIENT_REFUSED = 1, CLIENT_WAITS = 2, CLIENT_VISITS = 4 };
/* A wait of so many ticks begins anew: who asks then is somebody else perhaps. */
#define FORGOTTEN (1 << 22)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct client);
} clients SEC(".maps");

/* A bit for each admitted session of which no packet has come in behind its SYNs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} unanswered SEC(".maps");

/* The cell of a client; none: each connection is judged by itself. The low half of the hash
 * decides eligibility. */
static __always_inline struct client *client_cell(__u64 hash)
{
	__u32 place = (hash >> 32) * settings.client_cells >> 32;

	return settings.client_cells ? bpf_map_lookup_elem(&clients, &place) : 0;
}

/* Whether it is let in; where visits are admitted: whether what it opens is of one. */
static __always_inline bool is_in(const struct client *client, __u64 now)
{
	__u64 left = client->until - (now >> 20), most = settings.client_idle;

	if (settings.follow)
		most = client->marks & CLIENT_VISITS ? settings.visit : settings.follow;
	return !(client->marks & CLIENT_WAITS) && client->until && left && left <= most;
}

/* Whether the client waits, and has for at least so many ticks. */
static __always_inline bool waited(const struct client *client, __u64 now, __u32 ticks)
{
	__u64 since = (now >> 20) - client->until;

	return client->marks & CLIENT_WAITS && since >= ticks && since < FORGOTTEN;
}

/* A connection has ended: what its client opens now follows. The lock is held. */
static __always_inline void follow(struct client *client, __u64 now)
{
	bool goes_on = client->marks & CLIENT_VISITS && is_in(client, now);

	client->until = (now >> 20) + (goes_on ? settings.visit : settings.follow) ?: 1;
	client->marks &= goes_on ? ~CLIENT_WAITS : ~(CLIENT_WAITS | CLIENT_VISITS);
}

/* How an opener asks, with its client in the present round; `hash` is that which decides whether it
 * is eligible. The lock is held. */
static __always_inline enum standing standing(struct client *client, const struct knobs *knobs,
					      __u64 now, __u32 hash)
{
	bool eligible = knobs->shut == 0 || hash - knobs->phase < -knobs->shut;

	if (!client)
		return eligible ? ELIGIBLE : WAITS;
	if (client->round != knobs->round) {
		client->round = knobs->round;
		client->taken = 0;
		client->marks &= CLIENT_WAITS | CLIENT_VISITS;
	}
	if (knobs->share && client->taken >= knobs->share)
		return knobs->spare ? WAITS : REFUSED;
	if (is_in(client, now)) {
		if (!settings.follow)
			return LET_IN;
		if (!(client->marks & CLIENT_VISITS)) {
			client->marks |= CLIENT_VISITS;
			client->until = (now >> 20) + settings.visit ?: 1;
		}
		return ELIGIBLE;
	}
	if (waited(client, now, settings.client_wait))
		return OVERDUE;
	return eligible ? ELIGIBLE : WAITS;
}

/* Notes what became of the connection of a client. The lock is held. */
static __always_inline void note_client(struct client *client, bool admitted,
					enum standing asks, __u64 now, struct tally *tally)
{
	if (!client)
		return;
	if (admitted) {
		tally->let_in += asks != LET_IN;
		if (!settings.follow)
			client->until = (now >> 20) + settings.client_idle ?: 1;
		else if (client->marks & CLIENT_WAITS)
			client->until = 0;
		client->marks &= ~CLIENT_WAITS;
		tally->served += client->taken == 0;
		if (client->taken < 0xffff)
			client->taken += 1;
	} else {
		tally->waited += !(client->marks & CLIENT_REFUSED) && client->taken == 0;
		if (!is_in(client, now) && !waited(client, now, 0)) {
			client->until = now >> 20;
			client->marks |= CLIENT_WAITS;
		}
		client->marks |= CLIENT_REFUSED;
	}
}

/* Decides about a packet that opens a session, by the hash of its client, and of its flow. */
static __always_inline enum fate decide(const struct control *control, __u64 now,
					bool never_refused, __u64 of_client, __u64 of_flow,
					struct tally *tally)
{
	struct knobs *knobs;
	struct spent *spent;
	struct client *client = client_cell(of_client);
	__u32 hash = client && !settings.follow ? of_client : of_flow;
	enum fate fate = FATE_ADMITTED;
	enum standing asks;
	__u32 turn = control->turn, entry = turn & 1, zero = 0;
	__u64 ceiling = control->ceiling;

	knobs = bpf_map_lookup_elem(&knobs_map, &entry);
	spent = bpf_map_lookup_elem(&spent_map, &zero);
	if (!knobs || !spent)
		return FATE_ADMITTED;
	struct knobs mine = *knobs;

	bpf_spin_lock(&spent->lock);
	asks = standing(client, &mine, now, hash);
	tally->eligible += asks == ELIGIBLE;
	tally->inside += asks == LET_IN;
	if (spent->turn != turn) {
		spent->turn = turn;
		spent->admitted = spent->arrived = spent->refused = 0;
	}
	spent->arrived += 1;
	if (never_refused)
		fate = FATE_EXEMPT;
	else if (mine.pass_all || asks == LET_IN)
		fate = FATE_ADMITTED;
	else if (asks == REFUSED)
		fate = FATE_REFUSED;
	else if (settings.limiter == LIMITER_COUNTER)
		fate = asks != WAITS && spent->admitted < mine.allowance ? FATE_ADMITTED : FATE_REFUSED;
	else
		fate = take_token(spent, &mine, now, asks) ? FATE_ADMITTED : FATE_REFUSED;
	if (fate == FATE_REFUSED && (spent->refused + 1) << 16 > ceiling * spent->arrived)
		fate = FATE_CEILING;
	if (fate == FATE_REFUSED)
		spent->refused += 1;
	else if (fate != FATE_EXEMPT)
		spent->admitted += 1;
	if (fate != FATE_EXEMPT)
		note_client(client, fate != FATE_REFUSED, asks, now, tally);
	bpf_spin_unlock(&spent->lock);
	return fate;
}

/* A session was admitted, or `answers` that was: a packet comes in behind its SYNs. That of a
 * forged address has none. */
static __noinline void watch_answer(struct __sk_buff *skb, const struct seen *seen, bool answers,
				    struct tally *mine)
{
	__u32 words = settings.answer_words, at;
	__u64 *cell, bit, mixed;

	if (words == 0)
		return;
	mixed = hash(skb, seen, BOTH_WAYS);
	bit = 1ULL << (mixed & 63);
	at = (__u32)(mixed >> 6) % words;
	cell = bpf_map_lookup_elem(&unanswered, &at);
	if (!cell)
		return;
	if (!answers)
		__sync_fetch_and_or(cell, bit);
	else if (*cell & bit && __sync_fetch_and_and(cell, ~bit) & bit)
		mine->answered += 1;
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
	if (flags & TCP_ACK)
		return settings.opener != OPENER_SYN && !settings.syn_in;
	return settings.opener != OPENER_SYN_ACK;
}

/* The hash of the flow, if the settings need it. */
static __always_inline __u64 hash_of(struct __sk_buff *skb, const struct seen *seen, enum way way)
{
	if (!settings.hashed && !settings.young_cells)
		return 0;
	if (seen->kind == KIND_NOT_IP || seen->kind == KIND_MALFORMED)
		return 0;
	return hash(skb, seen, way);
}

/* The counter of a flow, as in tidegate_core::law::session::young; none: it is not watched. */
static __always_inline __u8 *young_cell(__u64 hash)
{
	__u32 high = hash >> 32, count = settings.young_cells, place, word;
	__u8 *cells;

	if (count == 0)
		return 0;
	if (settings.young_sample > 1) {
		if (high % settings.young_sample)
			return 0;
		high /= settings.young_sample;
	}
	/* a division takes longer */
	place = count & (count - 1) ? high % count : high & (count - 1);
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

/* How many of these packets of a flow its counter counts: one in 2^k, and its first two. Which
 * follows by the golden ratio, as in tidegate_core::law::session::young: a random number would
 * cost a call. */
static __always_inline __u32 counted(__u32 packets, __u32 before, struct tally *mine)
{
	__u64 part;

	if (settings.young_k == 0)
		return packets;
	if (before < 2)
		return packets ? 1 : 0;
	mine->drawn += 1;
	part = ~(mine->drawn * 0x9e3779b97f4a7c15ULL) >> (64 - settings.young_k);
	return (part + packets) >> settings.young_k;
}

/* Counts the bytes of young flows among packets that pass. A GSO packet counts as its segments;
 * the SYNs of a flow are one. The first packet behind them says that the other end has answered:
 * this end sends none before, and a forged address never answers. */
static __always_inline void age(struct __sk_buff *skb, const struct seen *seen, __u64 hash,
				struct tally *mine)
{
	__u32 packets = skb->gso_segs ?: 1, before, bytes;
	__u8 *cell = young_cell(hash);

	if (!cell || seen->kind == KIND_NOT_IP || seen->kind == KIND_MALFORMED)
		return;
	before = *cell;
	bytes = skb->len - (settings.ethernet ? 14 : 0);
	mine->watched_bytes += bytes;
	if (before < settings.young_packets)
		mine->young_bytes += bytes;
	/* most packets are of flows that were counted to the end */
	if (before == 255) {
		mine->drawn += settings.young_k != 0;
		return;
	}
	if (before == 1 && seen->flags & TCP_SYN)
		packets = 0;
	else if (before == 1 && settings.answers_by_age && !(seen->flags & TCP_RST))
		mine->answered += 1;
	packets = counted(packets, before, mine);
	*cell = before + packets > 255 ? 255 : before + packets;
}

/* Admits or refuses a packet that opens a session. */
static __noinline enum fate opener(struct __sk_buff *skb, const struct seen *seen,
					const struct control *control, __u64 hash,
					struct tally *mine)
{
	__u64 now = now_ns(control), of_client = 0;
	enum fate fate;

	if (!leased(control, now))
		return FATE_LAPSED;
	if (settings.client_cells)
		of_client = client_hash(skb, seen);
	fate = decide(control, now, exempt(skb, seen), of_client, hash, mine);
	return fate == FATE_REFUSED && !control->enforce ? FATE_WOULD_REFUSE : fate;
}

/* A connection ends: the client is at one of its two ends, and it does not matter at which. Both FINs
 * are looked at, as the next connection may come before the second. */
static __noinline void note_end(struct __sk_buff *skb, const struct seen *seen,
				const struct control *control)
{
	struct client *sender, *receiver;
	struct spent *spent;
	__u64 now = now_ns(control);
	__u32 zero = 0;

	if (!settings.follow || !(seen->flags & TCP_FIN))
		return;
	spent = bpf_map_lookup_elem(&spent_map, &zero);
	sender = client_cell(end_hash(skb, seen, false));
	receiver = client_cell(end_hash(skb, seen, true));
	if (!spent || !sender || !receiver)
		return;
	bpf_spin_lock(&spent->lock);
	follow(sender, now);
	if (receiver != sender)
		follow(receiver, now);
	bpf_spin_unlock(&spent->lock);
}

/* Admits or refuses an opener, and counts it. */
static __always_inline enum fate admission(struct __sk_buff *skb, const struct seen *seen,
					   const struct control *control, __u64 hash,
					   struct tally *mine)
{
	enum fate fate = opener(skb, seen, control, hash, mine);

	mine->arrived += 1;
	note_who(skb, seen, fate == FATE_REFUSED || fate == FATE_WOULD_REFUSE, control);
	if (fate != FATE_REFUSED && fate != FATE_WOULD_REFUSE) {
		mine->admitted += 1;
		forget_end(skb, seen);
		watch_answer(skb, seen, false, mine);
		rejuvenate(hash);
	}
	return fate;
}

/* Decides about an Initial of QUIC. It opens a session if its connection is not known. */
static __always_inline enum fate initial(struct __sk_buff *skb, const struct seen *seen,
					 const struct control *control, bool incoming,
					 struct tally *mine)
{
	__u64 now = now_ns(control), mixed = hash(skb, seen, BOTH_WAYS), old;
	__u64 *cell = connection_cell(mixed);
	enum fate fate = FATE_ADMITTED;

	/* where downloads are refused at egress, the server's Initial is asked about */
	if (!cell || (incoming && !settings.syn_in))
		return FATE_QUIC_ADMITTED;
	old = *cell;
	if (is_known(old, mixed)) {
		touch(cell, old, now);
		return FATE_QUIC_ADMITTED;
	}
	if (initial_opens(incoming)) {
		fate = admission(skb, seen, control,
				 hash_of(skb, seen, incoming ? BACK : FORTH), mine);
		if (fate == FATE_REFUSED)
			return FATE_QUIC_REFUSED;
		remember(cell, mixed, now, fate != FATE_WOULD_REFUSE, mine);
		return fate == FATE_ADMITTED ? FATE_QUIC_ADMITTED : fate;
	}
	remember(cell, mixed, now, false, mine);
	return FATE_QUIC_ADMITTED;
}

/* Decides about a packet that may open or end a session. */
static __always_inline enum fate judge(struct __sk_buff *skb, const struct seen *seen, __u64 hash,
				       struct tally *mine)
{
	struct control *control_now;
	__u32 zero = 0;

	control_now = bpf_map_lookup_elem(&control, &zero);
	if (!control_now)
		return FATE_OTHER;
	if (seen->kind == KIND_QUIC_INITIAL)
		return initial(skb, seen, control_now, false, mine);
	if (opens(seen->flags))
		return admission(skb, seen, control_now, hash, mine);
	if (!(seen->flags & (TCP_FIN | TCP_RST)))
		return FATE_OTHER;
	note_end(skb, seen, control_now);
	if (!settings.ends_of_peer || !(seen->flags & TCP_FIN))
		count_end(skb, seen, control_now, mine);
	return FATE_END;
}

SEC("tc")
int tidegate_gate(struct __sk_buff *skb)
{
	struct control *control_now;
	struct tally *mine;
	struct seen seen;
	enum fate fate;
	__u32 zero = 0;
	__u64 number;
	bool lost;

	mine = bpf_map_lookup_elem(&tally, &zero);
	if (!mine)
		return TC_ACT_UNSPEC;
	look_at_queue(skb);
	parse(skb, settings.ethernet, &seen);
	number = hash_of(skb, &seen, FORTH);
	fate = plain_fate(seen.kind);
	/* most packets neither open nor end a session */
	if (seen.flags & (TCP_SYN | TCP_FIN | TCP_RST) || seen.kind == KIND_QUIC_INITIAL) {
		fate = judge(skb, &seen, number, mine);
		if (fate == FATE_REFUSED || fate == FATE_QUIC_REFUSED) {
			note(mine, fate, skb);
			return TC_ACT_SHOT;
		}
	} else if (seen.kind == KIND_UDP && settings.quic_cells) {
		control_now = bpf_map_lookup_elem(&control, &zero);
		if (control_now && notice(skb, &seen, now_ns(control_now)))
			fate = FATE_QUIC;
	}
	age(skb, &seen, number, mine);
	note_used(skb, &seen);
	lost = refuses(skb, &seen, true, mine, &fate);
	note(mine, fate, skb);
	return lost ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

/* At the ingress of the interface. A download opens with the SYN that comes in: if it is
 * dropped here, the server has no half-open connection. Its data leaves by the interface, so
 * its hash is that of the packets that leave. Ends are counted here too (see `ends_of_peer`). */
SEC("tc")
int tidegate_ends(struct __sk_buff *skb)
{
	struct control *control_now;
	struct tally *mine;
	struct seen seen;
	enum fate fate;
	__u32 zero = 0;
	bool lost;

	mine = bpf_map_lookup_elem(&tally, &zero);
	if (!mine)
		return TC_ACT_UNSPEC;
	mine->incoming_bytes += skb->len;
	parse(skb, settings.ethernet, &seen);
	/* a SYN+ACK goes to a forged address too */
	if ((seen.flags & (TCP_ACK | TCP_RST | TCP_SYN)) == TCP_ACK)
		watch_answer(skb, &seen, true, mine);
	if (!(seen.flags & (TCP_SYN | TCP_FIN | TCP_RST)) &&
	    !(settings.quic_cells && (seen.kind == KIND_QUIC_INITIAL || seen.kind == KIND_UDP)))
		return TC_ACT_UNSPEC;
	control_now = bpf_map_lookup_elem(&control, &zero);
	if (!control_now)
		return TC_ACT_UNSPEC;
	if (seen.kind == KIND_UDP) {
		if (notice(skb, &seen, now_ns(control_now)))
			watch_answer(skb, &seen, true, mine);
		return TC_ACT_UNSPEC;
	}
	if (seen.kind == KIND_QUIC_INITIAL) {
		fate = initial(skb, &seen, control_now, true, mine);
		mine->packets[fate] += 1;
		return fate == FATE_QUIC_REFUSED ? TC_ACT_SHOT : TC_ACT_UNSPEC;
	}
	if (seen.flags & TCP_SYN) {
		if (!settings.syn_in || seen.flags & TCP_ACK)
			return TC_ACT_UNSPEC;
		fate = FATE_OTHER;
		if (settings.opener != OPENER_SYN)
			fate = admission(skb, &seen, control_now, hash_of(skb, &seen, BACK), mine);
		lost = fate == FATE_REFUSED || refuses(skb, &seen, false, mine, &fate);
		/* the bytes by fate are those that leave */
		if (fate != FATE_OTHER)
			mine->packets[fate] += 1;
		return lost ? TC_ACT_SHOT : TC_ACT_UNSPEC;
	}
	note_end(skb, &seen, control_now);
	if (settings.ends_of_peer)
		count_end(skb, &seen, control_now, mine);
	return TC_ACT_UNSPEC;
}

/* Counts the connections of QUIC that have ended; the controller runs it. */
SEC("tc")
int tidegate_sweep(struct __sk_buff *skb)
{
	struct control *control_now;
	struct sweep sweep = {};
	struct tally *mine;
	__u32 zero = 0;

	control_now = bpf_map_lookup_elem(&control, &zero);
	mine = bpf_map_lookup_elem(&tally, &zero);
	if (!control_now || !mine)
		return TC_ACT_UNSPEC;
	sweep.now_ms = now_ns(control_now) / 1000000;
	bpf_loop(settings.quic_cells, sweep_cell, &sweep, 0);
	mine->idle_ended += sweep.ended;
	return TC_ACT_UNSPEC;
}
