/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The limiter of openers, as tidegate_core::law::session::bucket. */
#ifndef TIDEGATE_BUCKET_H
#define TIDEGATE_BUCKET_H

#include "common.h"

/* One token in this many is of the reserve for clients that are overdue. */
#define RESERVE 4

/* tidegate_core::law::session::Spent, and other state between openers. */
struct spent {
	struct bpf_spin_lock lock;
	__u32 turn;		/* the interval of the sums below */
	__u64 admitted;
	__u64 token_due_ns;
	__u64 arrived;
	__u64 refused;
	__u64 reserve_due_ns;
};

/* How an opener asks for a token. */
enum standing { REFUSED, WAITS, ELIGIBLE, OVERDUE, LET_IN };

/* A sum that stays at its largest value where it would wrap. */
static __always_inline __u64 sum(__u64 one, __u64 other)
{
	return one + other < one ? ~0ULL : one + other;
}

/* The same of a product. */
static __always_inline __u64 product(__u64 one, __u64 other)
{
	__u64 low = (__u64)(__u32)one * (__u32)other;
	__u64 middle = (one >> 32) * (__u32)other + (other >> 32) * (__u32)one;

	if ((one >> 32 && other >> 32) || middle >> 32)
		return ~0ULL;
	return sum(middle << 32, low);
}

/* Whether the reserve has a token for a client that is overdue; if so, takes it. */
static __always_inline bool reserved(struct spent *spent, __u64 interval, __u64 depth, __u64 now)
{
	__u64 taken = spent->reserve_due_ns > now ? spent->reserve_due_ns - now : 0;

	interval = product(interval, RESERVE);
	if (depth < interval)
		depth = interval;
	if (taken > depth)
		taken = depth;
	if (interval > depth - taken)
		return false;
	spent->reserve_due_ns = sum(now, sum(taken, interval));
	return true;
}

/* A token bucket that stores the time at which it will be full (ITU-T I.371,
 * annex A). An opener that waits gets a token if the bucket is nearly full; that of a
 * client that is in needs none. */
static __always_inline bool take_token(struct spent *spent, const struct knobs *knobs, __u64 now,
				       enum standing asks)
{
	__u64 interval = knobs->token_interval_ns, depth = knobs->token_depth_ns;
	__u64 taken = spent->token_due_ns > now ? spent->token_due_ns - now : 0, saved;
	bool fits;

	if (interval == 0)
		return asks != WAITS;
	if (depth < interval)
		depth = interval;
	/* the bucket holds the tokens of one epoch */
	saved = settings.limiter == LIMITER_SAVING_BUCKET ? product(interval, knobs->allowance) : 0;
	if (depth < saved)
		depth = saved;
	if (taken > depth)
		taken = depth;
	fits = asks != WAITS || depth - taken >= product(depth >> 16, knobs->bypass);
	fits = fits && interval <= depth - taken;
	fits |= asks == OVERDUE && reserved(spent, interval, depth, now);
	if (fits)
		taken = sum(taken, interval);
	spent->token_due_ns = sum(now, taken);
	return fits;
}

#endif
