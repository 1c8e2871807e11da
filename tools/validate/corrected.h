// Classes that correct ns-3 3.44 where it departs from RFCs: see docs/validation.md.

#pragma once

#include <algorithm>
#include <dlfcn.h>
#include <map>

#include "ns3/internet-module.h"

namespace ns3
{

// Replaces ns-3's own function, and does the same faster for a segment that is sent again unchanged.
// The wheel is built with assertions. One of them (in GetPacketFromList) compares the list of
// unacknowledged segments with itself at every step through it. With thousands of segments behind a
// lost repair that takes tens of milliseconds for each repair, and a run does not end.
TcpTxItem*
TcpTxBuffer::CopyFromSequence(uint32_t size, const SequenceNumber32& number)
{
    const auto same = [&](TcpTxItem* item) { return item->m_startSeq == number; };
    const bool again = number < m_firstByteSeq + m_sentSize;
    const auto end = m_sentList.end();
    const auto found = again ? std::find_if(m_sentList.begin(), end, same) : end;
    if (found == end || (*found)->m_packet->GetSize() != std::min(size, SizeFromSequence(number)))
    {
        using Own = TcpTxItem* (*)(TcpTxBuffer*, uint32_t, const SequenceNumber32&);
        static const auto own = reinterpret_cast<Own>(
            dlsym(RTLD_NEXT, "_ZN3ns311TcpTxBuffer16CopyFromSequenceEjRKNS_14SequenceNumberIjiEE"));
        return own(this, size, number);
    }
    if (!(*found)->m_retrans)
    {
        (*found)->m_retrans = true;
        m_retrans += (*found)->m_packet->GetSize();
    }
    (*found)->m_lastSent = Simulator::Now();
    return *found;
}

} // namespace ns3

namespace corrected
{

using namespace ns3;

// Reports each segment that is sent or newly known to have arrived, and takes each sample of the
// delivery rate as its draft and BBR's draft do. ns-3
//
// - keeps the starting point of the last acknowledgement's sample (draft-cheng-iccrg-delivery-rate-
//   estimation, 3.3: each is taken anew), so that of two segments sent between two acknowledgements
//   the second counts twice the data over the interval of the first;
// - counts a segment that is no longer lost as newly lost (BBR's draft, 4.2.3.4).
class Segments : public TcpRateLinux
{
  public:
    Callback<void, TcpTxItem*> sent;
    Callback<void, TcpTxItem*> arrived;
    Callback<uint32_t> lost;

    const TcpRateSample& GenerateSample(uint32_t delivered,
                                        uint32_t,
                                        bool reneged,
                                        uint32_t before,
                                        const Time& least) override
    {
        auto& kept = const_cast<TcpRateSample&>(
            TcpRateLinux::GenerateSample(delivered, lost(), reneged, before, least));
        m_sample = kept;
        kept.m_priorDelivered = 0;
        kept.m_priorTime = Time();
        return m_sample;
    }

    void SkbSent(TcpTxItem* item, bool first) override
    {
        TcpRateLinux::SkbSent(item, first);
        sent(item);
    }

    void SkbDelivered(TcpTxItem* item) override
    {
        TcpRateLinux::SkbDelivered(item);
        arrived(item);
    }

  private:
    TcpRateSample m_sample;
};

// A sender with the scoreboard of RFC 6675. ns-3's own departs from it in four places:
//
// - a repair that a block says has arrived counts as in flight until everything before it has
//   arrived too (section 4, SetPipe: only what has not);
// - a segment that was repaired once is not repaired in a later recovery (section 5, step 4.3:
//   HighRxt starts anew);
// - the last segment is never repaired where nothing else can be sent (section 4, NextSeg, rule 4);
// - after a timeout the pipe says what is sent (section 5.1: not then; RFC 5681, section 2: nothing
//   beyond what is acknowledged and a window). If the segment that the timer sent again is lost
//   too, ns-3 keeps sending thousands of segments.
class Socket : public TcpSocketBase
{
  public:
    Socket()
    {
        auto segments = CreateObject<Segments>();
        segments->sent = MakeCallback(&Socket::Leaves, this);
        segments->arrived = MakeCallback(&Socket::Arrived, this);
        segments->lost = MakeCallback(&Socket::NewlyLost, this);
        m_rateOps = segments;
        TraceConnectWithoutContext("CongState", MakeCallback(&Socket::Changes, this));
    }

  protected:
    uint32_t BytesInFlight() const override
    {
        m_tcb->m_bytesInFlight = TcpSocketBase::BytesInFlight() - m_forgotten;
        return m_tcb->m_bytesInFlight;
    }

    uint32_t AvailableWindow() const override
    {
        const uint32_t room = TcpSocketBase::AvailableWindow();
        SequenceNumber32 next;
        SequenceNumber32 end;
        if (m_tcb->m_congState != TcpSocketState::CA_LOSS || room == 0 ||
            !m_txBuffer->NextSeg(&next, &end, false))
        {
            return room;
        }
        const uint32_t ahead = next - m_txBuffer->HeadSequence();
        return ahead + m_tcb->m_segmentSize > Window() ? 0 : room;
    }

    uint32_t SendDataPacket(SequenceNumber32 number, uint32_t size, bool withAck) override
    {
        m_number = number;
        return TcpSocketBase::SendDataPacket(number, size, withAck);
    }

    void ReceivedAck(Ptr<Packet> packet, const TcpHeader& header) override
    {
        m_lostBefore = m_txBuffer->GetLost();
        TcpSocketBase::ReceivedAck(packet, header);
        Rescue();
    }

    void ReTxTimeout() override
    {
        m_forgotten = 0; // ns-3 now drops its own record of repairs
        TcpSocketBase::ReTxTimeout();
    }

  private:
    uint32_t NewlyLost()
    {
        const uint32_t lost = m_txBuffer->GetLost();
        return lost > m_lostBefore ? lost - m_lostBefore : 0;
    }

    void Leaves(TcpTxItem* item)
    {
        m_outstanding[m_number] = item;
    }

    void Arrived(TcpTxItem* item)
    {
        const auto first = m_outstanding.begin();
        if (first != m_outstanding.end() && first->first < m_txBuffer->HeadSequence())
        {
            m_outstanding.erase(first); // acknowledged: ns-3 is about to delete it
        }
        else
        {
            Forget(item);
        }
    }

    // Makes ns-3 take the segment as not sent again, and not in flight.
    void Forget(TcpTxItem* item)
    {
        if (item->m_retrans)
        {
            item->m_retrans = false;
            m_forgotten += item->GetSeqSize();
        }
    }

    // Step 4.3: the first repair sets both HighRxt and RescueRxt.
    void Changes(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
    {
        if (now == TcpSocketState::CA_RECOVERY)
        {
            for (auto& [number, item] : m_outstanding)
            {
                Forget(item);
            }
            m_rescued = m_txBuffer->HeadSequence() + m_tcb->m_segmentSize;
        }
    }

    // Rule 4: the last segment that has not arrived, once in a recovery; ns-3 may have sent it
    // already, by its rule 3, where no block is left.
    void Rescue()
    {
        SequenceNumber32 next;
        SequenceNumber32 end;
        const auto head = m_txBuffer->HeadSequence();
        if (m_tcb->m_congState != TcpSocketState::CA_RECOVERY || head <= m_rescued ||
            AvailableWindow() < m_tcb->m_segmentSize || m_txBuffer->NextSeg(&next, &end, true))
        {
            return;
        }
        for (auto last = m_outstanding.rbegin(); last != m_outstanding.rend(); ++last)
        {
            if (!last->second->IsSacked())
            {
                m_rescued = m_recover;
                if (!last->second->m_retrans)
                {
                    SendDataPacket(last->first, m_tcb->m_segmentSize, true);
                }
                return;
            }
        }
    }

    std::map<SequenceNumber32, TcpTxItem*> m_outstanding;
    SequenceNumber32 m_number{0};
    SequenceNumber32 m_rescued{0};
    uint32_t m_forgotten{0};
    uint32_t m_lostBefore{0};
};

// Creates a sender's socket: ns-3's factory knows only its own class.
inline Ptr<ns3::Socket>
CreateSocket(Ptr<Node> node, const std::string& control, const std::string& recovery)
{
    auto tcp = node->GetObject<TcpL4Protocol>();
    auto socket = CreateObject<Socket>();
    socket->SetNode(node);
    socket->SetTcp(tcp);
    socket->SetRtt(CreateObject<RttMeanDeviation>());
    socket->SetCongestionControlAlgorithm(ObjectFactory(control).Create<TcpCongestionOps>());
    socket->SetRecoveryAlgorithm(ObjectFactory(recovery).Create<TcpRecoveryOps>());
    tcp->AddSocket(socket);
    return socket;
}

} // namespace corrected
