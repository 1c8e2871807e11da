// The yardstick of `tidegate bench` in htsim: long NewReno transfers over a dumbbell.
//
//     yardstick-htsim STARTS SECONDS
//
// STARTS is a file with the start of a flow, in seconds, on each line. Prints what it did and the
// CPU time of the simulation alone, as the last line, in JSON. htsim routes at the source: a packet
// has the list of all queues and pipes of its way. Its window is in bytes of packets of 1500 B,
// and its timers are looked at every 10 ms.

#include <ctime>
#include <fstream>
#include <iostream>
#include <vector>

#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

static uint64_t hops = 0;

// A pipe that counts the packets that cross it.
class Counted : public Pipe {
public:
    Counted(double ms, EventList& events) : Pipe(timeFromUs(ms * 1000), events) {}
    void receivePacket(Packet& packet) override {
        hops++;
        Pipe::receivePacket(packet);
    }
};

// A link one way: a queue, and the delay behind it.
struct Link {
    Queue queue;
    Counted pipe;
    Link(int mbit, double ms, int packets, EventList& events)
        : queue(speedFromMbps((uint64_t)mbit), memFromPkt(packets), events, nullptr),
          pipe(ms, events) {}
};

static Route* way(std::vector<Link*> links, PacketSink* end) {
    Route* route = new Route();
    for (Link* link : links) {
        route->push_back(&link->queue);
        route->push_back(&link->pipe);
    }
    // a source adds no end of its own
    route->push_back(end);
    return route;
}

static double cpu() {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    std::vector<double> starts;
    std::ifstream listed(argv[1]);
    for (double start; listed >> start;) starts.push_back(start);
    double seconds = std::stod(argv[2]);

    EventList& events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(seconds));
    Packet::set_packet_size(1500);
    TcpRtxTimerScanner timers(timeFromMs(10), events);
    // its limit counts the packet in transmission
    const int bottleneck = 3333 + 1, access = 100000;
    Link forward(1000, 18, bottleneck, events), back(1000, 18, bottleneck, events);
    std::vector<TcpSink*> sinks;
    for (double start : starts) {
        auto link = [&] { return new Link(10000, 1, access, events); };
        TcpSrc* source = new TcpSrc(nullptr, nullptr, events);
        TcpSink* sink = new TcpSink();
        source->set_ssthresh(40 * 1500);
        timers.registerTcp(*source);
        Route* out = way({link(), &forward, link()}, sink);
        Route* in = way({link(), &back, link()}, source);
        source->connect(*out, *in, *sink, timeFromSec(start));
        sinks.push_back(sink);
    }

    double begun = cpu();
    while (events.doNextEvent()) {}
    double spent = cpu() - begun;

    uint64_t bytes = 0;
    for (TcpSink* sink : sinks) bytes += sink->_cumulative_ack;
    // packets of 1500 B carry 1460 B
    double goodput = bytes * 8.0 * 1460 / 1500 / seconds / 1e6;
    std::cout << "{\"packet_hops\": " << hops << ", \"goodput_mbit_s\": " << goodput
              << ", \"cpu_s\": " << spent << "}" << std::endl;
}
