// The yardstick of `tidegate bench` in ns-3: long NewReno transfers over a dumbbell.
//
//   yardstick STARTS SECONDS
//
// STARTS is a file with the start of a flow, in seconds, on each line. Prints what it did and the
// CPU time of the simulation alone, as one line of JSON. Compiled for UNISON (-DTHREADS=N) it runs
// on N threads.

#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#ifdef THREADS
#include "ns3/mtp-module.h"
#endif

using namespace ns3;

namespace
{

constexpr uint32_t kPayload = 1460;

double
CpuSeconds()
{
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

// TCP as the yardstick has it: no SACK, no timestamps, an ACK for every packet.
void
SetTcp()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kPayload));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(40 * kPayload));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 23));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 23));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
}

NetDeviceContainer
Join(Ptr<Node> one, Ptr<Node> two, const char* rate, const char* delay, const char* buffer)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(buffer));
    return link.Install(one, two);
}

// Packets that a device has sent: what its queue took in.
uint64_t
Sent(const NetDeviceContainer& link, uint32_t end)
{
    auto queue = DynamicCast<PointToPointNetDevice>(link.Get(end))->GetQueue();
    return queue->GetTotalReceivedPackets();
}

} // namespace

int
main(int argc, char* argv[])
{
    if (argc != 3)
    {
        std::cerr << "usage: yardstick STARTS SECONDS\n";
        return 2;
    }
    std::ifstream list(argv[1]);
    const double seconds = std::stod(argv[2]);
#ifdef THREADS
    MtpInterface::Enable(THREADS);
#endif
    SetTcp();

    NodeContainer routers;
    routers.Create(2);
    // global routing looks through a list of all networks at every hop: this one looks nothing up
    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4NixVectorHelper());
    stack.Install(routers);
    std::vector<NetDeviceContainer> links{
        Join(routers.Get(0), routers.Get(1), "1Gbps", "18ms", "3333p")};
    std::vector<Ptr<PacketSink>> sinks;
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    // no queueing discipline above the device: the device's own queue is the buffer
    TrafficControlHelper discipline;
    auto number = [&](const NetDeviceContainer& link) {
        auto given = addresses.Assign(link);
        addresses.NewNetwork();
        discipline.Uninstall(link);
        return given;
    };
    number(links[0]);
    for (double start; list >> start;)
    {
        NodeContainer ends;
        ends.Create(2);
        stack.Install(ends);
        auto left = Join(ends.Get(0), routers.Get(0), "10Gbps", "1ms", "1000000p");
        auto right = Join(routers.Get(1), ends.Get(1), "10Gbps", "1ms", "1000000p");
        number(left);
        InetSocketAddress to(number(right).GetAddress(1), 5000);
        links.push_back(left);
        links.push_back(right);

        auto sink = PacketSinkHelper("ns3::TcpSocketFactory", to).Install(ends.Get(1));
        sinks.push_back(DynamicCast<PacketSink>(sink.Get(0)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", to);
        bulk.SetAttribute("SendSize", UintegerValue(kPayload));
        bulk.Install(ends.Get(0)).Start(Seconds(start));
    }

    Simulator::Stop(Seconds(seconds));
    const double begin = CpuSeconds();
    const auto began = std::chrono::steady_clock::now();
    Simulator::Run();
    const double cpu = CpuSeconds() - begin;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;

    uint64_t hops = 0;
    for (const auto& link : links)
    {
        hops += Sent(link, 0) + Sent(link, 1);
    }
    uint64_t bytes = 0;
    for (const auto& sink : sinks)
    {
        bytes += sink->GetTotalRx();
    }
    std::cout << "{\"packet_hops\": " << hops << ", \"cpu_s\": " << cpu
              << ", \"wall_s\": " << took.count()
              << ", \"goodput_mbit_s\": " << bytes * 8 / seconds / 1e6 << "}\n";
    Simulator::Destroy();
    return 0;
}
