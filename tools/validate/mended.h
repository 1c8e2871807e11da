// What ns-3 3.44 departs from in the RFCs, mended in classes of its own: see docs/validation.md.

#pragma once

#include <map>

#include "ns3/internet-module.h"

namespace mended
{

using namespace ns3;

// Tells of each segment that is sent or newly known to have arrived.
class Segments : public TcpRateLinux
{
  public:
    Callback<void, TcpTxItem*> sent;
    Callback<void, TcpTxItem*> arrived;

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
};

// A sender whose scoreboard is that of RFC 6675. ns-3's own departs from it in three places:
//
// - a repair that a block says has arrived counts as in flight until everything before it has
//   arrived too (section 4, SetPipe: only what has not);
// - a segment that was repaired once is not repaired in a later recovery (section 5, step 4.3:
//   HighRxt starts anew);
// - the last segment is never repaired where nothing else can be sent (section 4, NextSeg, rule 4).
class Socket : public TcpSocketBase
{
  public:
    Socket()
    {
        auto segments = CreateObject<Segments>();
        segments->sent = MakeCallback(&Socket::Leaves, this);
        segments->arrived = MakeCallback(&Socket::Arrived, this);
        m_rateOps = segments;
        TraceConnectWithoutContext("CongState", MakeCallback(&Socket::Changes, this));
    }

  protected:
    uint32_t BytesInFlight() const override
    {
        m_tcb->m_bytesInFlight = TcpSocketBase::BytesInFlight() - m_forgotten;
        return m_tcb->m_bytesInFlight;
    }

    uint32_t SendDataPacket(SequenceNumber32 number, uint32_t size, bool withAck) override
    {
        m_number = number;
        return TcpSocketBase::SendDataPacket(number, size, withAck);
    }

    void ReceivedAck(Ptr<Packet> packet, const TcpHeader& header) override
    {
        TcpSocketBase::ReceivedAck(packet, header);
        Rescue();
    }

    void ReTxTimeout() override
    {
        m_forgotten = 0; // ns-3 itself forgets now what was repaired
        TcpSocketBase::ReTxTimeout();
    }

  private:
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

    // It was not sent again, as far as ns-3 knows, and nothing of that is in flight.
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

    // Rule 4: the last segment that has not arrived, once in a recovery.
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
                SendDataPacket(last->first, m_tcb->m_segmentSize, true);
                return;
            }
        }
    }

    std::map<SequenceNumber32, TcpTxItem*> m_outstanding;
    SequenceNumber32 m_number{0};
    SequenceNumber32 m_rescued{0};
    uint32_t m_forgotten{0};
};

// A sender's socket, where ns-3's factory has only its own.
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

} // namespace mended
