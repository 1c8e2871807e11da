/* Sends flows of constant rate through a queue law of Linux before a link.
 *
 *     queue LEFT STEPS < LOAD
 *
 * LOAD: the link's rate in bit/s, how long it runs in s, a seed; then for each flow its start and
 * the time between two packets in s, their size in bytes, and their ECN codepoint. LEFT gets four
 * numbers for each packet that left: flow, when it was sent and when its transmission ended in ns,
 * whether it is marked. STEPS gets two for each run of the law's timer: when, and its probability
 * in units of 2^-32. Compile with -include kernel.h and SOURCE, the source of the law.
 */
#include <stdio.h>

struct Qdisc_ops pfifo_qdisc_ops;
struct Qdisc_ops *law;

#include SOURCE

/* a clock that starts at 0 would make the first packet look like none */
static const u64 begin = NSEC_PER_SEC;
static u64 now, chance;
static struct hrtimer *timer;

u64 ktime_get_ns(void) { return now; }

/* splitmix64 */
u32 get_random_u32(void)
{
    u64 x = (chance += 0x9E3779B97F4A7C15ULL);

    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return (u32)((x ^ (x >> 31)) >> 32);
}

void hrtimer_start(struct hrtimer *it, u64 due, int mode)
{
    (void)mode;
    timer = it;
    it->due = due;
}

struct Qdisc *qdisc_create_dflt(void *queue, const struct Qdisc_ops *ops, u32 parent, void *extack)
{
    struct Qdisc *made = calloc(1, sizeof(*made));

    (void)queue, (void)parent, (void)extack;
    made->priv = calloc(1, (size_t)ops->priv_size + 1);
    return made;
}

struct flow { double start, every; u32 size; u8 ecn; u64 sent, due; };

static void keep(FILE *file, const s64 *row, size_t count)
{
    if (fwrite(row, sizeof(*row), count, file) != count)
        exit(3);
}

/* The next packet of the flow that sends next; they are few. */
static struct flow *next_flow(struct flow *flows, int count)
{
    struct flow *first = flows;

    for (int n = 1; n < count; n++)
        if (flows[n].due < first->due)
            first = &flows[n];
    return first;
}

static struct sk_buff *packet(struct flow *from, u64 number)
{
    struct sk_buff *skb = calloc(1, sizeof(*skb));

    skb->len = skb->cb.pkt_len = from->size;
    skb->truesize = 2304; /* as an Ethernet driver's */
    skb->ip.tos = from->ecn;
    skb->flow = number;
    skb->sent = now;
    from->sent++;
    from->due = begin + (u64)((from->start + from->sent * from->every) * 1e9 + 0.5);
    return skb;
}

int main(int words, char **word)
{
    double rate, until;
    int count = 0;
    static struct flow flows[1000];
    FILE *left = words == 3 ? fopen(word[1], "wb") : NULL;
    FILE *steps = words == 3 ? fopen(word[2], "wb") : NULL;

    if (!left || !steps || scanf("%lf %lf %lu", &rate, &until, &chance) != 3)
        return 2;
    for (; count < 1000; count++) {
        struct flow *it = &flows[count];

        if (scanf("%lf %lf %u %hhu", &it->start, &it->every, &it->size, &it->ecn) != 4)
            break;
        it->due = begin + (u64)(it->start * 1e9 + 0.5);
    }
    now = begin;
    start_module();
    struct Qdisc *sch = qdisc_create_dflt(NULL, law, 0, NULL);
    if (!count || law->init(sch, NULL, NULL))
        return 2;

    const u64 end = begin + (u64)(until * 1e9);
    u64 free_at = UINT64_MAX;
    struct sk_buff *served = NULL, *dropped = NULL;
    for (;;) {
        struct flow *sender = next_flow(flows, count);

        now = min_t(u64, timer->due, min_t(u64, free_at, sender->due));
        if (now >= end)
            break;
        if (timer->due == now) {
            struct tc_dualpi2_xstats found;
            struct gnet_dump dump = { &found };

            timer->function(timer);
            law->dump_stats(sch, &dump);
            keep(steps, (s64[]){ now - begin, found.prob }, 2);
            continue;
        }
        if (served && free_at == now) {
            bool marked = (served->ip.tos & INET_ECN_MASK) == INET_ECN_CE;

            keep(left, (s64[]){ served->flow, served->sent - begin, now - begin, marked }, 4);
            free(served);
            served = NULL;
            free_at = UINT64_MAX;
        } else {
            law->enqueue(packet(sender, sender - flows), sch, &dropped);
            for (struct sk_buff *next; dropped; dropped = next) {
                next = dropped->next;
                free(dropped);
            }
        }
        if (!served && (served = law->dequeue(sch)))
            free_at = now + (u64)(served->len * 8e9 / rate + 0.5);
    }
    return fclose(left) || fclose(steps) ? 3 : 0;
}
