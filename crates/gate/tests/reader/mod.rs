//! The code that reads headers in the kernel, compiled for this machine and run beside the
//! simulator's: any bytes, cut anywhere (`fuzz/fuzz_targets/gate.rs` does the same with an engine).

mod rules;

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use super::kernel::packets::{frame, ipv4, ipv6, tcp_header, udp};
use super::machine::compile;
use rules::{SEEN, Seen};

/// Random numbers: xorshift (Marsaglia 2003).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

/// Packets of every kind that the code has a branch for.
fn whole() -> Vec<(u16, Vec<u8>)> {
    let quic = |first: u8, version: u32, id: u8| {
        let mut payload = vec![0; 1250];
        (payload[0], payload[5]) = (first, id);
        payload[1..5].copy_from_slice(&version.to_be_bytes());
        udp(&payload)
    };
    let skip = |next: u8, rest: &[u8]| [&[next, 0, 0, 0, 0, 0, 0, 0][..], rest].concat();
    let first = |protocol: u8, rest: &[u8]| [&[protocol, 0, 0, 1, 0, 0, 0, 0][..], rest].concat();
    let initial = quic(0xc3, 1, 8);
    vec![
        (4, ipv4(6, 0, &tcp_header(2))),
        (6, ipv6(6, &tcp_header(0x11))),
        (4, ipv4(17, 0, &initial)),
        (4, ipv4(17, 0x2000, &initial)),
        (6, ipv6(17, &initial)),
        (4, ipv4(17, 0, &quic(0xd3, 0x6b33_43cf, 20))),
        (4, ipv4(17, 0, &quic(0x83, 1, 0))),
        (4, ipv4(17, 0, &quic(0x43, 1, 0))),
        (6, ipv6(0, &skip(17, &initial))),
        (6, ipv6(0, &skip(60, &skip(43, &skip(17, &initial))))),
        (6, ipv6(44, &first(17, &initial))),
        (6, ipv6(135, &skip(6, &tcp_header(2)))),
        (4, ipv4(50, 0, &[0; 60])),
        (6, ipv6(47, &[0; 60])),
    ]
}

/// A packet: whether a frame is around it, the type of what is in that, and the bytes.
struct Case {
    ethernet: bool,
    kind: u16,
    bytes: Vec<u8>,
    linear: usize,
    /// Where the IP packet is, if the frame is as it was made.
    ip: Option<usize>,
}

fn case(draw: &mut Draw, (version, ip): &(u16, Vec<u8>)) -> Case {
    let mut ip = ip.clone();
    for _ in 0..draw.below(4) {
        // most of what is read lies at the front
        let most = if draw.below(2) == 0 { ip.len().min(64) } else { ip.len() };
        let at = draw.below(most);
        ip[at] = match draw.below(4) {
            0 => ip[at] ^ (1 << draw.below(8)),
            1 => [0, 1, 6, 17, 20, 21, 43, 44, 60, 135, 255][draw.below(11)],
            _ => draw.below(256) as u8,
        };
    }
    if draw.below(3) == 0 {
        let left = draw.below(ip.len() + 1);
        ip.truncate(left);
    }
    let kind: u16 = if *version == 4 { 0x0800 } else { 0x86dd };
    let (ethernet, mut bytes, start) = match draw.below(4) {
        0 => (false, ip, 0),
        1 => (true, frame(0x8100, &[&[0, 5][..], &kind.to_be_bytes(), &ip].concat()), 18),
        _ => (true, frame(kind, &ip), 14),
    };
    let mut ip = Some(start);
    if ethernet && draw.below(8) == 0 {
        let at = draw.below(bytes.len().min(18));
        bytes[at] = draw.below(256) as u8;
        ip = None;
    }
    let cut = draw.below(2 * bytes.len() + 1);
    let linear = cut.min(bytes.len());
    Case { ethernet, kind, bytes, linear, ip }
}

fn seen(program: &Path, cases: &[Case]) -> Vec<Seen> {
    let mut input = Vec::new();
    for Case { ethernet, kind, bytes, linear, .. } in cases {
        input.extend((bytes.len() as u32).to_ne_bytes());
        input.extend((*linear as u32).to_ne_bytes());
        input.extend(kind.to_be_bytes());
        input.extend(u16::from(*ethernet).to_ne_bytes());
        input.extend(bytes);
    }
    let mut run = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program that was built starts");
    let (mut write, mut read) =
        (run.stdin.take().expect("a pipe"), run.stdout.take().expect("a pipe"));
    let writing = std::thread::spawn(move || write.write_all(&input));
    let mut output = Vec::new();
    read.read_to_end(&mut output).expect("it writes");
    let status = run.wait().expect("it ends");
    writing.join().expect("it does not panic").expect("the program reads all");
    assert!(status.success(), "{status}: a read beyond the packet, or of an odd address");
    let (answers, rest) = output.as_chunks::<SEEN>();
    assert!(rest.is_empty() && answers.len() == cases.len());
    answers.iter().map(Seen::new).collect()
}

/// What both readers see is the same, whatever part of the packet is linear; no read goes beyond
/// what was checked.
#[test]
fn the_kernel_reads_headers_as_the_simulator_does() {
    let program = compile("main");
    let mut draw = Draw(0x2545_F491_4F6C_DD1D);
    let whole = whole();
    let mut cases: Vec<Case> =
        (0..40_000).map(|at| case(&mut draw, &whole[at % whole.len()])).collect();
    let answers = seen(&program, &cases);
    for (case, answer) in cases.iter().zip(&answers) {
        if let Some(ip) = case.ip.and_then(|from| case.bytes.get(from..)) {
            answer.within(case.ip.unwrap_or(0)).compare(ip);
        }
    }
    for case in &mut cases {
        case.linear = case.bytes.len();
    }
    assert!(seen(&program, &cases) == answers, "the linear part changes what is seen");
    let initials = answers.iter().filter(|answer| answer.is_initial()).count();
    assert!(initials > 2_000, "{initials}");
}
