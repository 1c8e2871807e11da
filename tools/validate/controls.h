// Controls of ns-3 3.44, corrected to their RFCs or drafts: see docs/validation.md.

#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "ns3/internet-module.h"

namespace
{

using namespace ns3;

// NewReno by RFC 5681, where ns-3's departs from it: the threshold is half of all that is
// outstanding (3.1, eq. 4), without what limited transmit has sent (3.2, step 2); the window
// grows by a whole segment when a whole window is acknowledged (3.1), counted from zero after
// each cut; the acknowledgement that ends recovery does not open the window.
class RfcReno : public TcpNewReno
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id =
            TypeId("ns3::TcpRfcReno").SetParent<TcpNewReno>().AddConstructor<RfcReno>();
        return id;
    }

    uint32_t GetSsThresh(Ptr<const TcpSocketState> state, uint32_t) override
    {
        m_counted = 0;
        const uint32_t outstanding = state->m_highTxMark.Get() - state->m_lastAckedSeq;
        const uint32_t window = state->m_cWnd;
        return std::max(std::min(outstanding, window) / 2, 2 * state->m_segmentSize);
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<RfcReno>(this);
    }

  protected:
    void CongestionAvoidance(Ptr<TcpSocketState> state, uint32_t acknowledged) override
    {
        if (acknowledged > 2)
        {
            return; // ns-3 counts all that recovery has repaired at its end
        }
        m_counted += acknowledged;
        if (m_counted * state->m_segmentSize >= state->m_cWnd)
        {
            m_counted -= state->m_cWnd / state->m_segmentSize;
            state->m_cWnd += state->m_segmentSize;
        }
    }

  private:
    uint32_t m_counted{0};
};

NS_OBJECT_ENSURE_REGISTERED(RfcReno);

// Access to private members of TcpBbr: the arguments of an explicit instantiation may name them.
template <auto Member, typename Name>
struct Reach
{
    friend auto Place(Name)
    {
        return Member;
    }
};

struct Delivered
{
};

struct Extra
{
};

struct RoundStart
{
};

struct Bandwidth
{
};

struct LeastRtt
{
};

struct Quantum
{
};

auto Place(Delivered);
auto Place(Extra);
auto Place(RoundStart);
auto Place(Bandwidth);
auto Place(LeastRtt);
auto Place(Quantum);
template struct Reach<&TcpBbr::m_delivered, Delivered>;
template struct Reach<&TcpBbr::m_extraAcked, Extra>;
template struct Reach<&TcpBbr::m_roundStart, RoundStart>;
template struct Reach<&TcpBbr::m_maxBwFilter, Bandwidth>;
template struct Reach<&TcpBbr::m_minRtt, LeastRtt>;
template struct Reach<&TcpBbr::m_sendQuantum, Quantum>;

// BBR by its draft (draft-cardwell-iccrg-bbr-congestion-control) and Linux, where ns-3's departs
// from them:
//
// - recovery ends with the window of before (4.2.3.4): ns-3's has just restored it when the socket
//   puts the slow-start threshold in its place, which is nearly 2^32 until the queue of startup has
//   been let out, and what was in flight then afterwards;
// - what is acknowledged beyond the bandwidth (Linux, bbr_update_ack_aggregation) is counted in
//   the time that has passed, and until no more comes than that: ns-3 counts whole seconds, and
//   begins anew after 4096 bytes, where Linux does after 2^20 packets;
// - the window is of whole segments, three more than the product, and even (Linux,
//   bbr_quantization_budget): ns-3's is three more.
//
// `corrected::Segments` corrects the rate samples that it gets.
class RfcBbr : public TcpBbr
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("ns3::TcpRfcBbr").SetParent<TcpBbr>().AddConstructor<RfcBbr>();
        return id;
    }

    void CwndEvent(Ptr<TcpSocketState> state, const TcpSocketState::TcpCAEvent_t event) override
    {
        TcpBbr::CwndEvent(state, event);
        if (event == TcpSocketState::CA_EVENT_COMPLETE_CWR)
        {
            state->m_ssThresh = state->m_cWnd;
        }
    }

    // The steps of TcpBbr in their order; Aggregate and Quantise replace two of them.
    void CongControl(Ptr<TcpSocketState> state,
                     const TcpRateOps::TcpRateConnection& connection,
                     const TcpRateOps::TcpRateSample& sample) override
    {
        this->*Place(Delivered()) = connection.m_delivered;
        UpdateBottleneckBandwidth(state, sample);
        if (sample.m_ackedSacked > 0 && sample.m_delivered >= 0)
        {
            Aggregate(sample.m_ackedSacked, state->m_cWnd);
        }
        CheckCyclePhase(state, sample);
        CheckFullPipe(sample);
        CheckDrain(state);
        UpdateRTprop(state);
        CheckProbeRTT(state, sample);
        SetPacingRate(state, GetPacingGain());
        Quantise(state->m_segmentSize);
        SetCwnd(state, sample);
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<RfcBbr>(this);
    }

  private:
    double Rate()
    {
        return (this->*Place(Bandwidth())).GetBest().GetBitRate() / 8.0;
    }

    // TcpBbr adds three quanta to the product.
    void Quantise(double segment)
    {
        const Time least = (this->*Place(LeastRtt())).Get();
        if (least == Time::Max())
        {
            return;
        }
        const double product = GetCwndGain() * Rate() * least.GetSeconds() / segment;
        const double window = 2 * std::ceil((std::ceil(product) + 3) / 2);
        this->*Place(Quantum()) = static_cast<uint32_t>((window - product) * segment / 3);
    }

    void Aggregate(double acknowledged, double window)
    {
        if (this->*Place(RoundStart()) && ++m_rounds >= 5)
        {
            m_rounds = 0;
            m_before = std::exchange(m_most, 0);
        }
        double expected = Rate() * (Simulator::Now() - m_since).GetSeconds();
        if (m_epoch <= expected)
        {
            m_epoch = 0;
            m_since = Simulator::Now();
            expected = 0;
        }
        m_epoch += acknowledged;
        m_most = std::max(m_most, std::min(m_epoch - expected, window));
        (this->*Place(Extra()))[0] = std::max(m_most, m_before);
    }

    uint32_t m_rounds{0};
    double m_most{0};
    double m_before{0};
    double m_epoch{0};
    Time m_since;
};

NS_OBJECT_ENSURE_REGISTERED(RfcBbr);

} // namespace
