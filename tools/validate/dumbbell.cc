// Transfers over a dumbbell in ns-3: the counterpart of flows.tcl.
//
//   dumbbell KEY VALUE...      the keys and their defaults are in `Options`
//
// `flows` names a file with a flow on each line: start in seconds, size in bytes (-1: without
// end), and the pair of hosts that it runs between. Prints what was measured as JSON; everything
// counts from time 0.
//
// For tests of one flow: `lost` lists segments by number, from 0, each as often as it is to be
// lost, and with `sent` every data packet is printed as it leaves: time, number, and segments in
// flight without it and in the window.
//
// The queue disc of the bottleneck holds all packets that wait, and the device behind it only the
// one in transmission: ns-3's own flow control would let the device take one more.

#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include "controls.h"
#include "corrected.h"

using namespace ns3;

namespace
{

using Options = std::map<std::string, std::string>;

Options options{
    {"flows", ""},          {"until", "10"},       {"seed", "1"},
    {"pairs", "1"},         {"rate", "10Mbps"},    {"delay", "23ms"},
    {"access_rate", "97Mbps"}, {"access_delay", "1ms"}, {"loss", "0"},
    {"buffer", "100"},      {"queue", "Fifo"},     {"mss", "1460"},
    {"initial_window", "10"}, {"control", "NewReno"}, {"recovery", "Classic"},
    {"sack", "0"},          {"delayed_ack", "0"},  {"min_rto", "1s"},
    {"limited", "1"},       {"ecn", "0"},           {"hystart", "0"},      {"initial_ssthresh", "0"},
    {"corrected", "1"},          {"lost", ""},           {"sent", "0"},
};

double
Number(const std::string& key)
{
    return std::stod(options.at(key));
}

bool
Set(const std::string& key)
{
    return options.at(key) == "1";
}

// The name of the class of the control, or of its recovery.
std::string
Class(const std::string& part)
{
    return "ns3::Tcp" + options.at(part.empty() ? "control" : "recovery") + part;
}

// A data packet that left: what `sent` prints of it.
struct Departure
{
    double time;
    double number;
    double flight;
    double window;
};

// A transfer and what became of it.
struct Flow
{
    double start;
    int64_t size;
    uint32_t pair;
    double closed{-1};
    uint64_t again{0};
    SequenceNumber32 highest{0};
    int64_t left{0};
    uint32_t flight{0};
    uint32_t window{0};
    std::vector<Departure> sent;
    Ptr<Socket> socket;
    Ptr<PacketSink> sink;
};

// The bottleneck's counters.
struct Port
{
    uint64_t departed{0};
    double area{0};
    double last{0};
    uint32_t waiting{0};

    void Waiting(uint32_t, uint32_t now)
    {
        const double time = Simulator::Now().GetSeconds();
        area += waiting * (time - last);
        last = time;
        waiting = now;
    }
};

// Loses data packets at random behind the link.
class DataLoss : public ErrorModel
{
  public:
    explicit DataLoss(double share)
        : m_share(share),
          m_draw(CreateObject<UniformRandomVariable>())
    {
    }

  private:
    bool DoCorrupt(Ptr<Packet> packet) override
    {
        return packet->GetSize() > 100 && m_draw->GetValue() < m_share;
    }

    void DoReset() override
    {
    }

    double m_share;
    Ptr<UniformRandomVariable> m_draw;
};

// Loses listed segments, each as often as it is listed.
class ListedLoss : public ErrorModel
{
  public:
    explicit ListedLoss(const std::string& list)
    {
        std::istringstream numbers(list);
        for (uint32_t number; numbers >> number;)
        {
            m_due.insert(number);
        }
    }

  private:
    bool DoCorrupt(Ptr<Packet> packet) override
    {
        auto inner = packet->Copy();
        PppHeader link;
        Ipv4Header network;
        TcpHeader tcp;
        inner->RemoveHeader(link);
        inner->RemoveHeader(network);
        inner->RemoveHeader(tcp);
        if (inner->GetSize() == 0)
        {
            return false;
        }
        const uint32_t mss = Number("mss");
        const auto found = m_due.find((tcp.GetSequenceNumber().GetValue() - 1) / mss);
        const bool lost = found != m_due.end();
        if (lost)
        {
            m_due.erase(found);
        }
        return lost;
    }

    void DoReset() override
    {
    }

    std::multiset<uint32_t> m_due;
};

void
SetTcp()
{
    const auto control = TypeId::LookupByName(Class(""));
    const auto recovery = TypeId::LookupByName(Class("Recovery"));
    const uint32_t mss = Number("mss");
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(control));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(recovery));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(Number("initial_window")));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(Set("delayed_ack") ? 2 : 1));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocket::ConnCount", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8000 * mss));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(Set("sack")));
    // its clock of timestamps counts whole milliseconds
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Time(options.at("min_rto"))));
    // BBR's draft, 4.2.1, paces the first window too; by default ns-3 does not
    Config::SetDefault("ns3::TcpSocketState::PaceInitialWindow", BooleanValue(Set("corrected")));
    const auto ecn = Set("ecn") ? TcpSocketState::On : TcpSocketState::Off;
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", EnumValue(ecn));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(Set("limited")));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(Set("hystart")));
    if (Number("initial_ssthresh") > 0)
    {
        Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold",
                           UintegerValue(Number("initial_ssthresh") * mss));
    }
}

void
SetQueues()
{
    Config::SetDefault("ns3::CoDelQueueDisc::UseEcn", BooleanValue(Set("ecn")));
    Config::SetDefault("ns3::FqCoDelQueueDisc::UseEcn", BooleanValue(Set("ecn")));
    Config::SetDefault("ns3::PieQueueDisc::UseEcn", BooleanValue(Set("ecn")));
    // RFC 8289, 5.6 spares a queue of one packet; ns-3 only one of less than MinBytes
    Config::SetDefault("ns3::CoDelQueueDisc::MinBytes",
                       UintegerValue(static_cast<uint32_t>(Number("mss")) + 41));
}

// Each flow its own queue: no two meet by the hash.
class ByPort : public PacketFilter
{
  private:
    bool CheckProtocol(Ptr<QueueDiscItem> item) const override
    {
        return DynamicCast<Ipv4QueueDiscItem>(item) != nullptr;
    }

    int32_t DoClassify(Ptr<QueueDiscItem> item) const override
    {
        TcpHeader tcp;
        item->GetPacket()->PeekHeader(tcp);
        return tcp.GetDestinationPort();
    }
};

// The bottleneck's queue, above a device that takes a packet only when the link is free.
Ptr<QueueDisc>
Discipline(Ptr<PointToPointNetDevice> device)
{
    device->AggregateObject(CreateObject<NetDeviceQueueInterface>());

    TrafficControlHelper helper;
    const auto name = options.at("queue");
    const QueueSizeValue size{QueueSize(options.at("buffer") + "p")};
    if (name == "FqCoDel")
    {
        helper.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "MaxSize", size, "Flows",
                                UintegerValue(65536));
    }
    else
    {
        helper.SetRootQueueDisc("ns3::" + name + "QueueDisc", "MaxSize", size);
    }
    auto queue = helper.Install(device).Get(0);
    if (name == "FqCoDel")
    {
        queue->AddPacketFilter(CreateObject<ByPort>());
    }
    return queue;
}

void
Watch(Ptr<PointToPointNetDevice> device, Ptr<QueueDisc> queue, Port& port)
{
    auto link = device->GetObject<NetDeviceQueueInterface>()->GetTxQueue(0);
    static std::function<void(Ptr<const Packet>)> begins;
    static std::function<void(Ptr<const Packet>)> ends;
    begins = [&port, link](Ptr<const Packet>) {
        port.departed += 1;
        link->Stop();
    };
    // the device is free only when its own handler has returned
    ends = [link](Ptr<const Packet>) { Simulator::ScheduleNow(&NetDeviceQueue::Wake, link); };
    device->TraceConnectWithoutContext("PhyTxBegin", Callback<void, Ptr<const Packet>>(begins));
    device->TraceConnectWithoutContext("PhyTxEnd", Callback<void, Ptr<const Packet>>(ends));
    queue->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&Port::Waiting, &port));
}

void
Fill(Flow* flow, Ptr<Socket> socket, uint32_t)
{
    const auto mss = static_cast<int64_t>(Number("mss"));
    while (flow->left != 0)
    {
        const auto chunk = flow->left < 0 ? 10 * mss : std::min(10 * mss, flow->left);
        if (socket->GetTxAvailable() < chunk || socket->Send(Create<Packet>(chunk)) <= 0)
        {
            return;
        }
        flow->left -= flow->left < 0 ? 0 : chunk;
    }
    socket->SetSendCallback(MakeNullCallback<void, Ptr<Socket>, uint32_t>());
    socket->Close();
}

void
Connected(Flow* flow, Ptr<Socket> socket)
{
    socket->SetSendCallback(MakeBoundCallback(&Fill, flow));
    Fill(flow, socket, 0);
}

// The sender's FIN is acknowledged: what tidegate calls closed.
void
State(Flow* flow, TcpSocket::TcpStates_t, TcpSocket::TcpStates_t now)
{
    if (flow->closed < 0 && (now == TcpSocket::FIN_WAIT_2 || now == TcpSocket::TIME_WAIT))
    {
        flow->closed = Simulator::Now().GetSeconds();
    }
}

void
Sent(Flow* flow, Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    if (packet->GetSize() == 0)
    {
        return;
    }
    if (Set("sent"))
    {
        const double mss = Number("mss");
        const double number = (header.GetSequenceNumber().GetValue() - 1) / mss;
        const double now = Simulator::Now().GetSeconds();
        flow->sent.push_back({now, number, flow->flight / mss, flow->window / mss});
    }
    const auto end = header.GetSequenceNumber() + packet->GetSize();
    if (end > flow->highest)
    {
        flow->highest = end;
    }
    else
    {
        flow->again += 1;
    }
}

void
Remember(uint32_t* place, uint32_t, uint32_t now)
{
    *place = now;
}

void
Begin(Flow* flow, Ptr<Node> from, InetSocketAddress to)
{
    flow->left = flow->size;
    const auto own = TcpSocketFactory::GetTypeId();
    flow->socket = Set("corrected") ? corrected::CreateSocket(from, Class(""), Class("Recovery"))
                                 : Socket::CreateSocket(from, own);
    flow->socket->SetConnectCallback(MakeBoundCallback(&Connected, flow),
                                     MakeNullCallback<void, Ptr<Socket>>());
    flow->socket->TraceConnectWithoutContext("State", MakeBoundCallback(&State, flow));
    flow->socket->TraceConnectWithoutContext("Tx", MakeBoundCallback(&Sent, flow));
    flow->socket->TraceConnectWithoutContext("BytesInFlight",
                                             MakeBoundCallback(&Remember, &flow->flight));
    flow->socket->TraceConnectWithoutContext("CongestionWindow",
                                             MakeBoundCallback(&Remember, &flow->window));
    flow->socket->Bind();
    flow->socket->Connect(to);
}

// A link whose device keeps what waits; without flow control it gets no queue disc of its own.
PointToPointHelper
Link(const std::string& rate, const std::string& delay)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
    link.DisableFlowControl();
    return link;
}

std::vector<Flow>
ReadFlows()
{
    std::ifstream list(options.at("flows"));
    std::vector<Flow> flows;
    for (Flow flow; list >> flow.start >> flow.size >> flow.pair;)
    {
        flows.push_back(flow);
    }
    return flows;
}

void
Print(const std::vector<Flow>& flows, const Port& port, Ptr<QueueDisc> queue, double until)
{
    const auto& stats = queue->GetStats();
    std::cout.precision(12);
    std::cout << "{\"departed\": " << port.departed
              << ", \"drops\": " << stats.nTotalDroppedPackets
              << ", \"marked\": " << stats.nTotalMarkedPackets << ", \"queue_mean\": "
              << (port.area + port.waiting * (until - port.last)) / until << ", \"flows\": [";
    const char* comma = "";
    for (const auto& flow : flows)
    {
        std::cout << comma << "{\"closed\": " << flow.closed << ", \"again\": " << flow.again
                  << ", \"delivered\": " << flow.sink->GetTotalRx() << ", \"sent\": [";
        const char* before = "";
        for (const auto& each : flow.sent)
        {
            std::cout << before << "[" << each.time << ", " << each.number << ", " << each.flight
                      << ", " << each.window << "]";
            before = ", ";
        }
        std::cout << "]}";
        comma = ", ";
    }
    std::cout << "]}\n";
}

void
Run()
{
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(Number("seed"));
    SetTcp();
    SetQueues();
    auto flows = ReadFlows();

    NodeContainer routers;
    routers.Create(2);
    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4NixVectorHelper());
    stack.Install(routers);
    auto middle = Link(options.at("rate"), options.at("delay"));
    auto bottleneck = middle.Install(routers);
    auto device = DynamicCast<PointToPointNetDevice>(bottleneck.Get(0));
    auto queue = Discipline(device);
    if (Number("loss") > 0)
    {
        bottleneck.Get(1)->SetAttribute("ReceiveErrorModel",
                                        PointerValue(CreateObject<DataLoss>(Number("loss"))));
    }
    if (!options.at("lost").empty())
    {
        bottleneck.Get(1)->SetAttribute(
            "ReceiveErrorModel",
            PointerValue(CreateObject<ListedLoss>(options.at("lost"))));
    }
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(bottleneck);
    addresses.NewNetwork();

    const auto access = Link(options.at("access_rate"), options.at("access_delay"));
    std::vector<Ptr<Node>> sources;
    std::vector<Ptr<Node>> sinks;
    std::vector<Ipv4Address> places;
    for (uint32_t pair = 0; pair < Number("pairs"); ++pair)
    {
        NodeContainer ends;
        ends.Create(2);
        stack.Install(ends);
        for (auto side : {0, 1})
        {
            auto link = side == 0 ? PointToPointHelper(access).Install(ends.Get(0), routers.Get(0))
                                  : PointToPointHelper(access).Install(routers.Get(1), ends.Get(1));
            auto given = addresses.Assign(link);
            addresses.NewNetwork();
            if (side == 1)
            {
                places.push_back(given.GetAddress(1));
            }
        }
        sources.push_back(ends.Get(0));
        sinks.push_back(ends.Get(1));
    }

    Port port;
    Watch(device, queue, port);
    uint16_t number = 5000;
    for (auto& flow : flows)
    {
        InetSocketAddress to(places.at(flow.pair), ++number);
        auto sink = PacketSinkHelper("ns3::TcpSocketFactory", to).Install(sinks.at(flow.pair));
        flow.sink = DynamicCast<PacketSink>(sink.Get(0));
        Simulator::Schedule(Seconds(flow.start), &Begin, &flow, sources.at(flow.pair), to);
    }
    const double until = Number("until");
    Simulator::Stop(Seconds(until));
    Simulator::Run();
    Print(flows, port, queue, until);
    Simulator::Destroy();
}

} // namespace

int
main(int argc, char* argv[])
{
    for (int place = 1; place + 1 < argc; place += 2)
    {
        if (options.count(argv[place]) == 0)
        {
            std::cerr << "unknown key " << argv[place] << "\n";
            return 2;
        }
        options[argv[place]] = argv[place + 1];
    }
    Run();
    return 0;
}
