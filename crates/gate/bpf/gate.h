/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Structures that the programs share with the controller (src/shared.rs).
 * If the two layouts differ, the build fails. */
#ifndef TIDEGATE_GATE_H
#define TIDEGATE_GATE_H

#include <linux/types.h>

#define AT(type, field, offset) \
	_Static_assert(__builtin_offsetof(struct type, field) == (offset), \
		       #type "." #field " is not where the controller expects it")
#define SIZE(type, bytes) \
	_Static_assert(sizeof(struct type) == (bytes), #type " has another size")

/* Which packet opens a session. */
enum opener { OPENER_SYN = 0, OPENER_SYN_ACK = 1, OPENER_EITHER = 2 };
/* How admissions are spaced. */
enum limiter_kind { LIMITER_COUNTER = 0, LIMITER_TOKEN_BUCKET = 1, LIMITER_SAVING_BUCKET = 2 };
/* A view by client: none; openers; also the bytes that leave to it, or from it. */
enum who_uses { WHO_NONE = 0, WHO_OPENS = 1, WHO_DOWN = 2, WHO_UP = 3 };
/* How the end of a session is counted once. */
enum ends { ENDS_EVERY = 0, ENDS_CELLS = 1, ENDS_FLOW_MAP = 2 };

/* tidegate_core::law::session::Knobs */
struct knobs {
	__u64 allowance;
	__u64 token_interval_ns;
	__u64 token_depth_ns;
	__u32 pass_all;
	__u32 shut;		/* number of hashes, of 2^32, that are not eligible */
	__u32 phase;		/* first eligible hash */
	__u32 bypass;		/* fill of the bucket, of 2^16, from which they are admitted too */
	__u32 share;		/* connections of a client in a round; zero: any number */
	__u32 round;		/* number of the round */
	__u32 spare;		/* what a client opens beyond its share gets tokens that would be lost */
	__u32 young;		/* of the simulator's datapath; here the settings say it */
};
SIZE(knobs, 56);
AT(knobs, allowance, 0);
AT(knobs, token_interval_ns, 8);
AT(knobs, token_depth_ns, 16);
AT(knobs, pass_all, 24);
AT(knobs, shut, 28);
AT(knobs, phase, 32);
AT(knobs, bypass, 36);
AT(knobs, share, 40);
AT(knobs, round, 44);
AT(knobs, spare, 48);
AT(knobs, young, 52);

/* The decision about a packet; indexes `packets` and `bytes`. */
enum fate {
	FATE_OTHER = 0,		/* TCP that neither opens nor ends a session */
	FATE_ADMITTED,		/* opened a session */
	FATE_EXEMPT,		/* opened one that is never refused */
	FATE_REFUSED,		/* was refused */
	FATE_WOULD_REFUSE,	/* would have been refused, but the gate only observes */
	FATE_CEILING,		/* admitted: the refused share was at its ceiling */
	FATE_LAPSED,		/* admitted: the lease of the controller had lapsed */
	FATE_END,		/* a FIN or a reset */
	FATE_QUIC_ADMITTED,	/* a QUIC Initial that passed */
	FATE_QUIC_REFUSED,	/* one that was refused */
	FATE_UDP,		/* other UDP: its sessions are not visible */
	FATE_OPAQUE,		/* encrypted or in a tunnel: sessions not visible */
	FATE_FRAGMENT,		/* a later fragment: no TCP header */
	FATE_OTHER_IP,		/* ICMP and the like */
	FATE_NOT_IP,		/* ARP and the like */
	FATE_MALFORMED,		/* truncated or not understood; passed */
	FATE_CONNECTION,	/* refused by the length of the queue (DQM) */
	FATE_QUIC,		/* QUIC of a connection that is known */
	FATES
};

/* Counted per CPU; only grows. */
struct tally {
	__u64 arrived;
	__u64 admitted;
	__u64 departed;
	__u64 resets;
	__u64 eligible;		/* of those that arrived */
	__u64 watched_bytes;	/* of sampled flows */
	__u64 young_bytes;	/* of these, bytes of young flows */
	__u64 incoming_bytes;	/* that the program at ingress saw */
	__u64 served;		/* clients with an admitted connection, once in a round */
	__u64 waited;		/* clients that were refused before that */
	__u64 let_in;		/* clients that were let in, and what took a token beyond a share */
	__u64 inside;		/* openers of clients that were in already */
	__u64 answered;		/* admitted sessions of which more than the SYNs was seen */
	__u64 idle_ended;	/* sessions of QUIC of which nothing came for a while */
	__u64 asked;		/* openers that dual-queue management decided about */
	__u64 drawn;		/* packets for whose flow it was drawn whether its counter counts them */
	__u64 packets[FATES];
	__u64 bytes[FATES];
};
SIZE(tally, 128 + 2 * 8 * 18);
AT(tally, arrived, 0);
AT(tally, admitted, 8);
AT(tally, departed, 16);
AT(tally, resets, 24);
AT(tally, eligible, 32);
AT(tally, young_bytes, 48);
AT(tally, incoming_bytes, 56);
AT(tally, served, 64);
AT(tally, answered, 96);
AT(tally, drawn, 120);
AT(tally, packets, 128);

/* Set before the program is loaded; constant from then on. */
struct settings {
	__u32 opener;
	__u32 limiter;
	__u32 ends;
	__u32 ethernet;		/* packets start with an Ethernet header */
	__u32 quic_cells;	/* cells of connections of QUIC; zero: Initials are only counted */
	__u32 read_queue;	/* the queue length of the device may be read */
	__u32 test_clock;	/* time is what `control.test_now_ns` says */
	__u32 end_words;	/* words of 64 cells in one generation of ends */
	__u32 queue_limit;	/* DQM: last entry of the table; zero: there is none */
	__u32 service_ns;	/* DQM: transmission time of one packet */
	__u32 ewma_weight;	/* DQM: weight of a new length, of 2^16 */
	__u32 hashed;		/* a hash of its flow decides whether an opener is eligible */
	__u64 salt;
	__u32 young_cells;	/* counters of packets, a multiple of 8; zero: none */
	__u32 young_packets;	/* a flow is young for this many counted packets */
	__u32 young_sample;	/* one flow in this many is sampled */
	__u32 ends_of_peer;	/* a session ends with the FIN that comes in, not the one that leaves */
	__u32 syn_in;		/* a download opens with the SYN that comes in, not the SYN+ACK that leaves */
	__u32 client_cells;	/* cells of clients; zero: each connection is judged by itself */
	__u32 client_idle;	/* ticks of 2^20 ns after which a client is no longer let in */
	__u32 client_prefix4;	/* bits of an IPv4 address that name a client */
	__u32 client_prefix6;	/* the same of IPv6, 64 at most */
	__u32 answer_words;	/* words of 64 cells for sessions without an answer; zero: none */
	__u32 client_wait;	/* ticks after which a client that was refused is overdue */
	__u32 answers_by_age;	/* counters of packets tell of sessions with an answer, not cells */
	__u32 quic_idle_ms;	/* a connection of QUIC has ended when nothing came for so long */
	__u32 young_k;		/* one packet in 2^k is counted, and the first two of a flow */
	__u32 follow;		/* visits: ticks after an end in which one begins; zero: there are none */
	__u32 visit;		/* ticks that a visit goes on after each end */
	__u32 who;		/* a view by client: enum who_uses */
	__u32 unused;
};
SIZE(settings, 128);
AT(settings, ends, 8);
AT(settings, test_clock, 24);
AT(settings, ewma_weight, 40);
AT(settings, hashed, 44);
AT(settings, salt, 48);
AT(settings, young_sample, 64);
AT(settings, ends_of_peer, 68);
AT(settings, syn_in, 72);
AT(settings, client_cells, 76);
AT(settings, client_prefix6, 88);
AT(settings, answer_words, 92);
AT(settings, client_wait, 96);
AT(settings, answers_by_age, 100);
AT(settings, quic_idle_ms, 104);
AT(settings, follow, 112);
AT(settings, who, 120);

/* Written by the controller at any time, each field whole. */
struct control {
	__u64 lease_ns;		/* the controller's decisions hold until then */
	__u32 knobs;		/* which of the two entries of `knobs` is in force */
	__u32 enforce;		/* zero: decide and count, but refuse nothing */
	__u32 end_generation;	/* which half of the cells takes new ends */
	__u32 ceiling;		/* refused share of arrivals, of 2^16; more are admitted */
	__u64 test_now_ns;
};
SIZE(control, 32);
AT(control, lease_ns, 0);
AT(control, knobs, 8);
AT(control, enforce, 12);
AT(control, end_generation, 16);
AT(control, ceiling, 20);
AT(control, test_now_ns, 24);

/* Written by the program; all CPUs share it. */
struct observed {
	__u32 min_queue;	/* fewest packets that waited; the controller resets it */
	__u32 seen;		/* whether the qdisc could be read */
};
SIZE(observed, 8);

#endif
