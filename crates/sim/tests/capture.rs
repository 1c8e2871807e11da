//! Captures: what a port sent, read back by the library that reads real ones.

use crate::common::*;
use etherparse::{Ipv4Header, Ipv4HeaderSlice, TcpHeader, UdpHeader};
use pcap_file::DataLink;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::blocks::name_resolution::Record;
use pcap_file::pcapng::{Block, PcapNgReader};
use tidegate_core::units::Time;
use tidegate_model::Scenario;
use tidegate_sim::{BuildError, Column, Custom, Data, Progress, Results, Simulation};

/// A run with a capture of one port, drained after every so many events.
fn captured(scenario: &Scenario, port: &str, events: u64) -> (Results, Vec<u8>) {
    let custom = Custom { capture: Some(port.to_owned()), ..Custom::default() };
    let mut run = Simulation::new(scenario, 1, custom).expect("the scenario can be built");
    let mut file = Vec::new();
    while run.advance(Time::NEVER, events).expect("nothing fails") == Progress::Paused {
        file.extend(run.drain_capture());
    }
    file.extend(run.drain_capture());
    (run.finish(), file)
}

/// One packet of a capture: nanoseconds, headers as captured, length on the wire.
struct Sent {
    at_ns: u128,
    ip: Ipv4Header,
    rest: Vec<u8>,
    length: u32,
}

impl Sent {
    fn tcp(&self) -> TcpHeader {
        TcpHeader::from_slice(&self.rest).expect("a TCP header").0
    }

    /// Bytes behind the headers.
    fn payload(&self) -> usize {
        self.length as usize - Ipv4Header::MIN_LEN - self.rest.len()
    }
}

fn read(file: &[u8]) -> Vec<Sent> {
    let mut reader = PcapNgReader::new(file).expect("a capture");
    let mut sent = Vec::new();
    while let Some(block) = reader.next_block() {
        let Block::EnhancedPacket(packet) = block.expect("a whole block") else { continue };
        let slice = Ipv4HeaderSlice::from_slice(&packet.data).expect("an IPv4 header");
        let ip = slice.to_header();
        assert_eq!(ip.header_checksum, ip.calc_header_checksum());
        assert_eq!(u32::from(ip.total_len), packet.original_len);
        let rest = packet.data[Ipv4Header::MIN_LEN..].to_vec();
        let (at_ns, length) = (packet.timestamp.as_nanos(), packet.original_len);
        sent.push(Sent { at_ns, ip, rest, length });
    }
    sent
}

fn one(class: &str) -> Scenario {
    load(&format!("{LINK}\n[traffic.one]\narrivals = {{ at = [\"0s\"] }}\n{class}"), &[])
}

/// What is sent of one flow of 1500 B in segments of 536 B, and when, by hand.
#[test]
fn a_flow_is_captured_with_its_bytes_and_times() {
    let class =
        "size = \"1500B\"\ntransport = { tcp = { profile = \"ns2-2006\", header = \"40B\" } }";
    let sent = read(&captured(&one(class), "bottleneck", 10).1);
    let told: Vec<(u32, usize, bool, bool, bool)> = sent
        .iter()
        .map(|packet| {
            let tcp = packet.tcp();
            (tcp.sequence_number, packet.payload(), tcp.syn, tcp.ack, tcp.fin)
        })
        .collect();
    let expected = [
        (0, 0, true, false, false),
        (1, 0, false, true, false),
        (1, 536, false, true, false),
        (537, 536, false, true, false),
        // a round trip later, with Nagle: the short segment with the FIN
        (1073, 428, false, true, true),
        // the other end closes too: its FIN is acknowledged (RFC 9293, figure 12)
        (1502, 0, false, true, false),
    ];
    assert_eq!(told, expected);
    // 1 ms and 40 B at 100 Mbit/s to the port
    assert_eq!(sent[0].at_ns, 1_003_200);
    assert_eq!((sent[0].ip.source, sent[0].ip.destination), ([10, 0, 0, 3], [10, 0, 0, 4]));
    let ports = (sent[0].tcp().source_port, sent[0].tcp().destination_port);
    assert_eq!(ports, (1024, 5001), "flow 0");
    // the second segment follows when the first is through: 576 B at 10 Mbit/s
    assert_eq!(sent[3].at_ns - sent[2].at_ns, 460_800);
    assert_eq!(sent[5].tcp().acknowledgment_number, 2);

    let back = read(&captured(&one(class), "bottleneck.reverse", 10).1);
    let told: Vec<(u32, u32, bool, bool)> = back
        .iter()
        .map(|packet| packet.tcp())
        .map(|tcp| (tcp.sequence_number, tcp.acknowledgment_number, tcp.syn, tcp.fin))
        .collect();
    // a FIN counts for one
    let expected = [
        (0, 1, true, false),
        (1, 537, false, false),
        (1, 1073, false, false),
        (1, 1502, false, false),
        (1, 1502, false, true),
    ];
    assert_eq!(told, expected);
    assert_eq!((back[0].tcp().source_port, back[0].tcp().destination_port), (5001, 1024));
}

/// A window is told of in the unit that the SYNs name (RFC 7323, 2.2), and those of SYNs in bytes. A
/// receiver of Linux offers 45 whole segments of 1448 B first: half of a buffer of 128 KiB. What it tells of then is no more than its buffer of 32 MiB, whose unit is
/// 2^10 B, and does not take back what it told of before. A receiver of the RFCs offers all.
#[test]
fn windows_are_those_that_are_offered() {
    let class = "size = \"1MB\"\ntransport = { tcp = { profile = \"linux\" } }";
    let back = read(&captured(&one(class), "bottleneck.reverse", 10).1);
    let first = back[0].tcp();
    assert!(first.syn);
    assert_eq!(first.options.as_slice()[..3], [3, 3, 10]);
    assert_eq!(first.window_size, 45 * 1448);
    let mut edge = 0;
    for tcp in back[1..].iter().map(Sent::tcp).filter(|tcp| !tcp.fin) {
        let offered = u32::from(tcp.window_size) << 10;
        assert!((45 * 1448..=32 << 20).contains(&offered), "{offered}");
        // rounded up to a unit each time
        assert!(tcp.acknowledgment_number + offered + 1024 > edge);
        edge = edge.max(tcp.acknowledgment_number + offered);
    }
    assert!(edge > 1_000_000, "{edge}: all has been offered");

    let class = class.replace("linux", "rfc");
    let back = read(&captured(&one(&class), "bottleneck.reverse", 10).1);
    assert!(back.iter().all(|packet| packet.tcp().window_size == u16::MAX));
}

/// The file says where its packets come from: its interface is the port, with the capacity of
/// the link, 10 Mbit/s; time stamps are nanoseconds, and the hosts have their names.
#[test]
fn a_capture_names_the_port_and_the_nodes() {
    let class = "size = \"1500B\"";
    let file = captured(&one(class), "bottleneck", 10).1;
    let mut reader = PcapNgReader::new(&file[..]).expect("a capture");
    let mut names = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::NameResolution(block) = block.expect("a whole block") {
            for record in block.records {
                let Record::Ipv4(record) = record else { panic!("addresses are IPv4") };
                names.push((record.ip_addr.to_vec(), record.names[0].to_string()));
            }
        }
    }
    let [interface] = reader.interfaces() else { panic!("one port, one interface") };
    assert_eq!(interface.linktype, DataLink::RAW);
    for option in [
        InterfaceDescriptionOption::IfName("bottleneck".into()),
        InterfaceDescriptionOption::IfSpeed(10_000_000),
        InterfaceDescriptionOption::IfTsResol(9),
    ] {
        assert!(interface.options.contains(&option), "{option:?}");
    }
    assert!(names.contains(&(vec![10, 0, 0, 3], "source1".to_owned())), "{names:?}");
    assert!(names.contains(&(vec![10, 0, 0, 4], "sink1".to_owned())), "{names:?}");
}

/// The checksums are right for the payload of zeros that is not stored.
#[test]
fn checksums_are_right() {
    let class = "size = \"20kB\"\ntransport = { tcp = { profile = \"linux\" } }";
    for packet in read(&captured(&one(class), "bottleneck", 1000).1) {
        let tcp = packet.tcp();
        let zeros = vec![0; packet.payload()];
        assert_eq!(Ok(tcp.checksum), tcp.calc_checksum_ipv4(&packet.ip, &zeros));
    }
    let class = "size = \"20kB\"\ntransport = { udp = { rate = \"1Mbit\" } }";
    let sent = read(&captured(&one(class), "bottleneck", 1000).1);
    assert_eq!(sent.len(), 21);
    for packet in sent {
        let (udp, _) = UdpHeader::from_slice(&packet.rest).expect("a UDP header");
        let zeros = vec![0; packet.payload()];
        assert_eq!(usize::from(udp.length), 8 + packet.payload());
        assert_eq!(Ok(udp.checksum), udp.calc_checksum_ipv4(&packet.ip, &zeros));
    }
}

/// A busy port with everything on it.
fn busy() -> Scenario {
    let text = format!(
        "{LINK}\n[port.bottleneck]\ngate = {{ law = \"close-probe\", refuse = \"rst\" }}\n\
         [[change]]\nwhat = \"bottleneck.rate\"\nat = \"10s\"\nto = \"3Mbit\"\n\
         [traffic.web]\narrivals = {{ poisson = \"200/s\" }}\nopaque_share = 0.1\n\
         size = {{ pareto = {{ mean = \"10kB\", shape = 1.5 }} }}\n\
         [traffic.down]\narrivals = {{ every = \"100ms\" }}\nsize = \"3kB\"\ndirection = \"download\"\n\
         transport = {{ tcp = {{ profile = \"linux\" }} }}\n\
         [traffic.long]\narrivals = {{ at = [\"0s\"] }}\nsize = \"unlimited\"\nstop = \"20s\"\n\
         [traffic.background]\narrivals = {{ at = [\"1s\"] }}\n\
         transport = {{ udp = {{ rate = \"500kbit\" }} }}\n"
    );
    load(&text, &[("topology.dumbbell.bottleneck.loss", "0.01")])
}

fn total(results: &Results, port: usize, name: &str) -> f64 {
    column(&results.port_totals, name)[port]
}

/// Every packet that the port counts is in the file, with its bytes, in order.
#[test]
fn a_capture_holds_what_the_port_counts() {
    for (number, port) in ["bottleneck", "bottleneck.reverse", "access.sink1"].iter().enumerate() {
        let (results, file) = captured(&busy(), port, 997);
        let number = if number == 2 { 4 } else { number };
        let sent = read(&file);
        assert!(sent.len() > 5000);
        assert_eq!(sent.len() as f64, total(&results, number, "departed_packets"), "{port}");
        let bytes: u64 = sent.iter().map(|packet| u64::from(packet.length)).sum();
        assert_eq!(bytes as f64, total(&results, number, "departed_bytes"), "{port}");
        assert!(sent.is_sorted_by_key(|packet| packet.at_ns));
    }
}

/// Flows are told apart though their slots are used again.
#[test]
fn every_flow_has_ports_of_its_own() {
    let (results, file) = captured(&busy(), "access.source1", 1000);
    let flows = column(&results.flows, "flow").len();
    let mut openers: Vec<(u16, u16)> = read(&file)
        .iter()
        .filter(|packet| packet.ip.protocol == etherparse::IpNumber::TCP)
        .map(Sent::tcp)
        .filter(|tcp| tcp.syn)
        .map(|tcp| (tcp.source_port, tcp.destination_port))
        .collect();
    openers.sort_unstable();
    openers.dedup();
    let opaque = flows as f64 * 0.1;
    assert!(openers.len() as f64 > flows as f64 - 1.3 * opaque, "{} of {flows}", openers.len());
    assert!(openers.len() < flows);
}

fn bits(columns: &[Column]) -> Vec<Vec<u64>> {
    let values = |data: &Data| match data {
        Data::F64(values) => values.iter().map(|value| value.to_bits()).collect(),
        Data::U64(values) => values.clone(),
        Data::U32(values) | Data::Category { codes: values, .. } => {
            values.iter().map(|&value| u64::from(value)).collect()
        }
    };
    columns.iter().map(|column| values(&column.data)).collect()
}

/// Who reads along changes nothing; and how often it is drained does not matter.
#[test]
fn a_capture_changes_nothing() {
    let plain = run(&busy(), 1);
    for port in ["bottleneck", "access.sink1"] {
        let (results, file) = captured(&busy(), port, 100_000);
        assert_eq!(bits(&results.flows), bits(&plain.flows));
        assert_eq!(bits(&results.ports), bits(&plain.ports));
        assert_eq!(bits(&results.port_totals), bits(&plain.port_totals));
        assert_eq!(results.packet_hops, plain.packet_hops);
        assert!(file == captured(&busy(), port, 7).1);
    }
}

#[test]
fn an_unknown_port_is_refused() {
    let custom = Custom { capture: Some("nowhere".to_owned()), ..Custom::default() };
    let refused = Simulation::new(&busy(), 1, custom).err();
    assert!(matches!(refused, Some(BuildError::NoSuchPort(name)) if name == "nowhere"));
}

/// Requests and answers by hand: a document and one object of ten full segments over one connection,
/// asked for in 400 bytes each, and 46 to close. What the client says counts in its sequence numbers
/// and in what the server acknowledges, whether a packet without data does so or an answer.
#[test]
fn requests_count_in_sequence_numbers() {
    for (profile, server) in [("rfc", "10ms"), ("linux", "10ms"), ("rfc", "0s")] {
        let class = format!(
            "size = \"14480B\"\n\
            pages = {{ document = \"14480B\", objects = 1, connections = 1, server = \"{server}\" }}\n\
            transport = {{ tcp = {{ profile = \"{profile}\", mss = \"1448B\", header = \"52B\" }} }}"
        );
        let said = |port: &str| -> Vec<(u32, u32, usize)> {
            read(&captured(&one(&class), port, 10).1)
                .iter()
                .map(|packet| {
                    let tcp = packet.tcp();
                    (tcp.sequence_number, tcp.acknowledgment_number, packet.payload())
                })
                .collect()
        };
        let client = said("bottleneck.reverse");
        let requests: Vec<_> = client.iter().filter(|&&(.., payload)| payload > 0).collect();
        assert_eq!(requests, [&(1, 1, 400), &(401, 14_481, 400), &(801, 28_961, 46)]);
        // all else continues behind the newest request; nothing goes back
        let mut end = 0;
        for &(sequence, _, payload) in &client {
            assert!(sequence >= end, "{client:?}");
            end = sequence + payload as u32;
        }
        let server = said("bottleneck");
        // of the document, of the object and of the FIN behind both, which the request to close asks for
        for wanted in [(1, 401), (14_481, 801), (28_961, 847)] {
            let has = |&(sequence, acknowledged, _): &(u32, u32, usize)| {
                (sequence, acknowledged) == wanted
            };
            assert!(server.iter().any(has), "{profile}: {wanted:?} of {server:?}");
        }
        let apart = server.iter().filter(|&&(sequence, _, payload)| payload == 0 && sequence > 0);
        assert!(apart.clone().all(|&(_, acknowledged, _)| acknowledged > 1), "{server:?}");
    }
}
