/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Structures that the programs share with the controller: the build makes those of Rust of them
 * (build/layout.rs, src/shared.rs). A field has its comment above it. */
#ifndef TIDEGATE_GATE_H
#define TIDEGATE_GATE_H

#include <linux/types.h>

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
	/* Opening packets that came. */
	__u64 arrived;
	/* Of these, how many passed. */
	__u64 admitted;
	/* Sessions that ended. */
	__u64 departed;
	/* Sessions that were reset. */
	__u64 resets;
	/* Of the openers, how many were eligible. */
	__u64 eligible;
	/* Bytes of sampled flows. */
	__u64 watched_bytes;
	/* Of these, bytes of young flows. */
	__u64 young_bytes;
	/* Bytes that the program at ingress saw. */
	__u64 incoming_bytes;
	/* Clients with an admitted connection, once in a round. */
	__u64 served;
	/* Clients that were refused before that. */
	__u64 waited;
	/* Clients that were let in, and connections beyond a share that took a token. */
	__u64 let_in;
	/* Openers of clients that were in already. */
	__u64 inside;
	/* Admitted sessions of which a packet came in behind the SYNs. */
	__u64 answered;
	/* Sessions of QUIC of which nothing came for a while. */
	__u64 idle_ended;
	/* Openers that dual-queue management decided about. */
	__u64 asked;
	/* Packets for whose flow it was drawn whether its counter counts them. */
	__u64 drawn;
	/* Packets by fate. */
	__u64 packets[FATES];
	/* Bytes by fate. */
	__u64 bytes[FATES];
};

/* Set before a program is loaded; constant from then on. */
struct settings {
	/* Which packet opens a session: `enum opener`. */
	__u32 opener;
	/* How admissions are spaced: `enum limiter_kind`. */
	__u32 limiter;
	/* How the end of a session is counted once: `enum ends`. */
	__u32 ends;
	/* Whether packets start with an Ethernet header. */
	__u32 ethernet;
	/* Cells of connections of QUIC; zero: Initials are only counted. */
	__u32 quic_cells;
	/* Whether the length of the interface's queue may be read. */
	__u32 read_queue;
	/* Whether `control.test_now_ns` replaces the clock. */
	__u32 test_clock;
	/* Words of 64 cells in one generation of ends. */
	__u32 end_words;
	/* Dual queue: the last entry of the table of shares; zero: there is none. */
	__u32 queue_limit;
	/* Dual queue: transmission time of one packet, ns. */
	__u32 service_ns;
	/* Dual queue: weight of a new length, of 2^16. */
	__u32 ewma_weight;
	/* Whether a hash of its flow decides whether an opener is eligible. */
	__u32 hashed;
	/* A secret of the hashes: others cannot choose flows by their cell. */
	__u64 salt;
	/* Counters of packets by which young flows are known, a multiple of 8; zero: none. */
	__u32 young_cells;
	/* A flow is young for this many counted packets. */
	__u32 young_packets;
	/* One flow in this many is sampled. */
	__u32 young_sample;
	/* Whether a session ends with the FIN that comes in, or with the one that leaves. */
	__u32 ends_of_peer;
	/* Whether a download opens with the SYN that comes in, or with the SYN+ACK that leaves. */
	__u32 syn_in;
	/* Cells of clients; zero: each connection is judged by itself. */
	__u32 client_cells;
	/* Ticks of 2^20 ns after which a client that opens no connection is no longer let in. */
	__u32 client_idle;
	/* Bits of an IPv4 address that name a client. */
	__u32 client_prefix4;
	/* Bits of an IPv6 address that name a client, 64 at most. */
	__u32 client_prefix6;
	/* Words of 64 cells for admitted sessions without an answer; zero: answers are not counted. */
	__u32 answer_words;
	/* Ticks after which a client that was refused is overdue. */
	__u32 client_wait;
	/* Whether the counters of young flows tell of sessions with an answer. */
	__u32 answers_by_age;
	/* A connection of QUIC has ended when nothing came for so long, ms. */
	__u32 quic_idle_ms;
	/* One packet in `2^k` is counted for young flows, and the first two of each. */
	__u32 young_k;
	/* Visits: ticks after the end of a connection in which one begins; zero: there are none. */
	__u32 follow;
	/* Ticks that a visit goes on after each end. */
	__u32 visit;
	/* A view by client: `enum who_uses`. */
	__u32 who;
	/* A multiple of eight bytes. */
	__u32 unused;
};

/* Written by the controller at any time, each field whole. */
struct control {
	/* Decisions hold until then, by the monotonic clock, ns. */
	__u64 lease_ns;
	/* The interval that runs; its last bit says which knobs are in force. */
	__u32 turn;
	/* Zero: decide and count, but refuse nothing. */
	__u32 enforce;
	/* Which half of the cells takes new ends. */
	__u32 end_generation;
	/* Largest refused share of an interval's arrivals, of 2^16. */
	__u32 ceiling;
	/* The time, in tests. */
	__u64 test_now_ns;
};

/* The queue of the interface, as a program read it. */
struct observed {
	/* Fewest waiting packets since the last reset. */
	__u32 min_queue;
	/* Whether the queue was read since. */
	__u32 seen;
};

/* Of a client in the map `whose`. */
struct who_key {
	/* Its address or prefix, as in `end_prefix`. */
	__u64 prefix;
	/* Of IP: 4 or 6. */
	__u32 version;
	/* A multiple of eight bytes. */
	__u32 unused;
};

/* What became of it. */
struct who {
	/* Openers. */
	__u64 came;
	/* Of these, refused; also those that would have been. */
	__u64 refused;
	/* Bytes that left to it or from it. */
	__u64 bytes;
	/* From first refusals to the admissions after them. */
	__u64 waited_ns;
	/* Of the refusal since which it waits; zero: it does not. */
	__u64 since_ns;
};

#endif
