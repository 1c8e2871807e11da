/* What a queue law of Linux asks of its kernel, for a program with a clock of its own.
 *
 * The source of the law is compiled as it is. Packets have a length, an ECN codepoint and the two
 * instants that are measured. Locks, netlink and filters do nothing: the program has one thread, and
 * the law keeps the settings that it starts with.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8, __u8;
typedef uint16_t u16, __u16, __be16;
typedef uint32_t u32, __u32;
typedef uint64_t u64, __u64;
typedef int8_t __s8;
typedef int16_t __s16;
typedef int32_t s32, __s32;
typedef int64_t s64, __s64, ktime_t;
#include <linux/pkt_sched.h>

/* the language */
#define ENOMEM 12
#define EINVAL 22
#define __init
#define __exit
#define __rcu
#define __read_mostly
#define U32_MAX UINT32_MAX
#define NSEC_PER_USEC 1000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_SEC 1000000000ULL
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, to) ((x) = (to))
#define unlikely(x) (x)
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define max_t(type, a, b) ((type)(a) > (type)(b) ? (type)(a) : (type)(b))
#define clamp_t(type, x, low, high) min_t(type, max_t(type, x, low), high)
#define do_div(number, by) ((number) /= (by))
#define upper_32_bits(x) ((u32)((u64)(x) >> 32))
#define lower_32_bits(x) ((u32)(x))
#define IS_ERR_OR_NULL(x) (!(x))
#define container_of(at, type, field) ((type *)((char *)(at) - offsetof(type, field)))
static inline u64 mul_u32_u32(u32 a, u32 b) { return (u64)a * b; }

/* chance and time */
u32 get_random_u32(void);
u64 ktime_get_ns(void);
static inline ktime_t ktime_add_ns(ktime_t at, u64 ns) { return at + ns; }
enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };
struct hrtimer {
    u64 due;
    enum hrtimer_restart (*function)(struct hrtimer *);
};
void hrtimer_start(struct hrtimer *timer, u64 due, int mode);
#define CLOCK_MONOTONIC 1
#define HRTIMER_MODE_ABS_PINNED 0
#define HRTIMER_MODE_ABS_PINNED_SOFT 0
#define hrtimer_setup(timer, to, clock, mode) ((timer)->function = (to))
#define hrtimer_set_expires(timer, at) ((timer)->due = (at))
#define hrtimer_cancel(timer) ((void)(timer))
#define timer_container_of(it, timer, field) container_of(timer, __typeof__(*(it)), field)

/* packets */
struct iphdr { u8 tos; };
struct ipv6hdr { u8 tos; };
struct qdisc_skb_cb { u32 pkt_len; u16 pkt_segs; unsigned char data[32]; };
struct sk_buff {
    struct sk_buff *next;
    u32 len, truesize, priority;
    struct qdisc_skb_cb cb;
    struct iphdr ip;
    u64 flow, sent;
};
typedef u64 netdev_features_t;
#define NETIF_F_GSO_MASK 0
#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86DD
#define htons(x) ((__be16)(x))
#define qdisc_skb_cb(skb) (&(skb)->cb)
#define qdisc_cb_private_validate(skb, size) ((void)(skb))
#define qdisc_pkt_len(skb) ((skb)->cb.pkt_len)
#define skb_protocol(skb, vlan) ((void)(skb), htons(ETH_P_IP))
#define skb_network_offset(skb) ((void)(skb), 14)
#define pskb_may_pull(skb, length) ((void)(length), true)
#define skb_try_make_writable(skb, length) ((void)(length), 0)
#define ip_hdr(skb) (&(skb)->ip)
#define ipv6_hdr(skb) ((struct ipv6hdr *)&(skb)->ip)
#define ipv4_get_dsfield(header) ((header)->tos)
#define ipv6_get_dsfield(header) ((header)->tos)
#define skb_is_gso(skb) ((void)(skb), false)
#define skb_gso_segment(skb, features) ((void)(features), (struct sk_buff *)NULL)
#define netif_skb_features(skb) ((void)(skb), (netdev_features_t)0)
#define skb_list_walk_safe(first, skb, after) for (; (skb); (skb) = (after))
#define skb_mark_not_on_list(skb) ((skb)->next = NULL)
#define consume_skb(skb) free(skb)

/* RFC 3168: only a packet with ECT can carry CE */
enum { INET_ECN_NOT_ECT, INET_ECN_ECT_1, INET_ECN_ECT_0, INET_ECN_CE, INET_ECN_MASK = 3 };
static inline int INET_ECN_set_ce(struct sk_buff *skb)
{
    if (!(skb->ip.tos & INET_ECN_MASK))
        return 0;
    skb->ip.tos |= INET_ECN_CE;
    return 1;
}

/* a queue */
struct qdisc_skb_head { struct sk_buff *head, *tail; u32 qlen; };
struct gnet_stats_queue_ { u32 qlen, backlog, drops, overlimits; };
struct netlink_ext_ack;
struct nlattr;
struct gnet_dump { void *to; };
struct tcf_proto;
struct tcf_block;
struct qdisc_walker;
struct Qdisc;
struct Qdisc_class_ops {
    struct Qdisc *(*leaf)(struct Qdisc *, unsigned long);
    unsigned long (*find)(struct Qdisc *, u32);
    struct tcf_block *(*tcf_block)(struct Qdisc *, unsigned long, struct netlink_ext_ack *);
    unsigned long (*bind_tcf)(struct Qdisc *, unsigned long, u32);
    void (*unbind_tcf)(struct Qdisc *, unsigned long);
    void (*walk)(struct Qdisc *, struct qdisc_walker *);
};
struct Qdisc_ops {
    char id[16];
    const struct Qdisc_class_ops *cl_ops;
    int priv_size;
    int (*enqueue)(struct sk_buff *, struct Qdisc *, struct sk_buff **);
    struct sk_buff *(*dequeue)(struct Qdisc *);
    struct sk_buff *(*peek)(struct Qdisc *);
    int (*init)(struct Qdisc *, struct nlattr *, struct netlink_ext_ack *);
    void (*destroy)(struct Qdisc *);
    void (*reset)(struct Qdisc *);
    int (*change)(struct Qdisc *, struct nlattr *, struct netlink_ext_ack *);
    int (*dump)(struct Qdisc *, struct sk_buff *);
    int (*dump_stats)(struct Qdisc *, struct gnet_dump *);
    void *owner;
};
struct Qdisc {
    struct qdisc_skb_head q, gso_skb;
    struct gnet_stats_queue_ qstats;
    u64 sent_packets;
    u32 limit, handle, flags;
    void *dev_queue;
    void *priv;
};
struct qdisc_walker {
    int stop, skip, count;
    int (*fn)(struct Qdisc *, unsigned long, struct qdisc_walker *);
};
struct tcf_result { u32 classid; };
extern struct Qdisc_ops pfifo_qdisc_ops;
extern struct Qdisc_ops *law;
/* An Ethernet packet of 1500 B with its header of 14 B. */
#define psched_mtu(device) 1514U
#define qdisc_dev(sch) NULL
#define qdisc_priv(sch) ((sch)->priv)
#define THIS_MODULE NULL
#define TCQ_F_DEQUEUE_DROPS 0
#define register_qdisc(ops) ((law = (ops)), 0)
#define unregister_qdisc(ops) ((void)(ops))
#define module_init(start) int start_module(void) { return start(); }
#define module_exit(end)
#define MODULE_DESCRIPTION(text)
#define MODULE_AUTHOR(text)
#define MODULE_LICENSE(text)
#define MODULE_VERSION(text)
#define MODULE_ALIAS_NET_SCH(name) struct Qdisc
enum { NET_XMIT_SUCCESS, NET_XMIT_DROP, __NET_XMIT_STOLEN = 0x10000, __NET_XMIT_BYPASS = 0x20000 };
enum qdisc_drop_reason {
    QDISC_DROP_OVERLIMIT,
    QDISC_DROP_CONGESTED,
    QDISC_DROP_L4S_STEP_NON_ECN,
};

static inline void __skb_queue_head(struct qdisc_skb_head *list, struct sk_buff *skb)
{
    skb->next = list->head;
    list->head = skb;
    if (!list->tail)
        list->tail = skb;
    list->qlen++;
}
static inline struct sk_buff *__qdisc_dequeue_head(struct qdisc_skb_head *list)
{
    struct sk_buff *skb = list->head;

    if (!skb)
        return NULL;
    list->head = skb->next;
    if (!list->head)
        list->tail = NULL;
    list->qlen--;
    skb->next = NULL;
    return skb;
}
static inline int qdisc_enqueue_tail(struct sk_buff *skb, struct Qdisc *sch)
{
    if (sch->q.tail)
        sch->q.tail->next = skb;
    else
        sch->q.head = skb;
    sch->q.tail = skb;
    sch->q.qlen++;
    sch->qstats.backlog += qdisc_pkt_len(skb);
    return NET_XMIT_SUCCESS;
}
static inline int __qdisc_drop(struct sk_buff *skb, struct sk_buff **dropped)
{
    skb->next = *dropped;
    *dropped = skb;
    return NET_XMIT_DROP;
}
static inline int qdisc_drop(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **dropped)
{
    sch->qstats.drops++;
    return __qdisc_drop(skb, dropped);
}
#define qdisc_drop_reason(skb, sch, dropped, why) ((void)(why), qdisc_drop(skb, sch, dropped))
#define qdisc_dequeue_drop(sch, skb, why) ((void)(why), free(skb))
#define rtnl_qdisc_drop(skb, sch) free(skb)
#define qdisc_dequeue_internal(sch, direct) __qdisc_dequeue_head(&(sch)->q)
#define skb_peek(list) ((list)->head)
#define qdisc_peek_head(sch) ((sch)->q.head)
#define qdisc_qlen(sch) ((sch)->q.qlen)
#define qdisc_qlen_inc(sch) ((sch)->q.qlen++)
#define qdisc_qlen_dec(sch) ((sch)->q.qlen--)
#define qdisc_qstats_backlog_inc(sch, skb) ((sch)->qstats.backlog += qdisc_pkt_len(skb))
#define qdisc_qstats_backlog_dec(sch, skb) ((sch)->qstats.backlog -= qdisc_pkt_len(skb))
#define qdisc_qstats_overlimit(sch) ((sch)->qstats.overlimits++)
#define qdisc_qstats_drop(sch) ((sch)->qstats.drops++)
#define qdisc_bstats_update(sch, skb) ((sch)->sent_packets++)
#define qdisc_tree_reduce_backlog(sch, packets, bytes) ((void)(sch))
#define qdisc_reset_queue(sch) ((void)(sch))
#define qdisc_put(sch) free(sch)
struct Qdisc *qdisc_create_dflt(void *queue, const struct Qdisc_ops *ops, u32 parent, void *extack);

/* locks, filters, netlink */
typedef int spinlock_t;
#define rcu_read_lock()
#define rcu_read_unlock()
#define rcu_dereference_bh(x) (x)
#define spin_lock(lock) ((void)(lock))
#define spin_unlock(lock) ((void)(lock))
#define qdisc_lock(sch) ((spinlock_t *)(sch))
#define qdisc_root_sleeping(sch) (sch)
#define sch_tree_lock(sch)
#define sch_tree_unlock(sch)
#define tcf_block_get(block, filters, sch, extack) 0
#define tcf_block_put(block) ((void)(block))
#define tcf_classify_qdisc(skb, filters, found, compat) ((void)(found), -1)
#define WARN_ON_ONCE(condition) ((void)(condition))
struct netlink_range_validation { u64 min, max; };
struct nla_policy { int type; };
enum { NLA_U8, NLA_U32 };
#define NLA_POLICY_MIN(kind, least) { .type = (kind) }
#define NLA_POLICY_MAX(kind, most) { .type = (kind) }
#define NLA_POLICY_RANGE(kind, least, most) { .type = (kind) }
#define NLA_POLICY_FULL_RANGE(kind, range) { .type = (kind) }
#define NL_SET_ERR_MSG_MOD(extack, text) ((void)(extack))
#define nla_len(attribute) ((void)(attribute), 0)
#define nla_parse_nested(to, most, from, policy, extack) ((void)(to), (void)(policy), -EINVAL)
#define nla_get_u32(attribute) ((void)(attribute), 0U)
#define nla_get_u8(attribute) ((void)(attribute), 0)
#define nla_nest_start_noflag(skb, kind) ((struct nlattr *)NULL)
#define nla_nest_end(skb, nest) 0
#define nla_nest_cancel(skb, nest) ((void)(nest))
#define nla_put_u32(skb, kind, value) ((void)(value), 0)
#define nla_put_u8(skb, kind, value) ((void)(value), 0)
#define gnet_stats_copy_app(dump, from, size) (memcpy((dump)->to, from, size), 0)
