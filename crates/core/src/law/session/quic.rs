//! Sessions of QUIC, of which a router sees the beginning and nothing else (ours; docs/quic.md).
//!
//! 1. **Opener.** A session is opened by an Initial: that of the client where its data leaves, that
//!    of the server where a download comes back. The client sends more Initials once the server has
//!    answered, under another connection ID (RFC 9000, 7.2), and either end repeats what was lost.
//!    So an Initial opens a session only if its connection is not known here.
//! 2. **Connection.** It is known by its addresses and ports, as a short header does not say how
//!    long its connection ID is.
//! 3. **Refusal.** A refused Initial is dropped in silence, whatever the gate's `refuse` says: its
//!    sender sends it again after one second, then two, and so on.
//! 4. **End.** It is encrypted. A connection of which nothing has come for `idle` has ended; its end
//!    is counted at the law's next update.
//!
//! A table of cells, indexed by a hash of the connection, has the connections. A cell keeps a part
//! of the hash too. If a new connection is admitted into the cell of another one, the other one is
//! forgotten and counts as ended.

use crate::units::Time;

crate::settings! {
    /// How sessions of QUIC are seen.
    #[derive(Copy, Eq)]
    "QuicSessions", check:
    idle: Time = "5s" ["100ms" to "1h"] "A connection has ended when nothing of it has come for so long" ("ours");
    cells: u32 = 65536 [16 to 16777216] "Cells of the table, twelve bytes each" ("ours");
}

/// What is known of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    /// There is none.
    #[default]
    None,
    /// Its opener was admitted, and the queue has not taken it yet.
    Admitted,
    /// It has begun.
    Open,
}

/// One connection.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// The lower half of its hash.
    tag: u32,
    /// When something of it came last, in milliseconds.
    seen: u32,
    state: State,
}

/// The connections of QUIC that were admitted here and have not ended.
#[derive(Clone, Debug)]
pub(super) struct Connections {
    cells: Box<[Cell]>,
    idle: u32,
    /// Cells that are not empty, and connections that were forgotten for others.
    held: u32,
    forgotten: u64,
}

fn ms(now: Time) -> u32 {
    (now.ps() / 1_000_000_000) as u32
}

impl Connections {
    pub(super) fn new(config: Config) -> Connections {
        let cells = vec![Cell::default(); config.cells.max(1) as usize].into_boxed_slice();
        Connections { cells, idle: ms(config.idle), held: 0, forgotten: 0 }
    }

    fn cell(&mut self, hash: u64) -> &mut Cell {
        let place = ((hash >> 32) * self.cells.len() as u64) >> 32;
        &mut self.cells[place as usize]
    }

    /// The cell of a connection that is known.
    fn known(&mut self, hash: u64) -> Option<&mut Cell> {
        let cell = self.cell(hash);
        (cell.tag == hash as u32 && cell.state != State::None).then_some(cell)
    }

    /// Whether an Initial of this connection opens a session.
    pub(super) fn opens(&self, hash: u64) -> bool {
        let place = ((hash >> 32) * self.cells.len() as u64) >> 32;
        let cell = &self.cells[place as usize];
        cell.tag != hash as u32 || cell.state != State::Open
    }

    /// The opener of this connection is admitted.
    pub(super) fn admitted(&mut self, hash: u64, now: Time) {
        let cell = self.cell(hash);
        let before = std::mem::replace(
            cell,
            Cell { tag: hash as u32, seen: ms(now), state: State::Admitted },
        );
        if before.state == State::None {
            self.held += 1;
        } else if before.tag != hash as u32 && before.state == State::Open {
            self.forgotten += 1;
        }
    }

    /// A packet of this connection has come.
    pub(super) fn on_packet(&mut self, hash: u64, now: Time) {
        if let Some(cell) = self.known(hash) {
            cell.seen = ms(now);
        }
    }

    /// The queue has taken a packet of this connection.
    pub(super) fn queued(&mut self, hash: u64) {
        if let Some(cell) = self.known(hash) {
            cell.state = State::Open;
        }
    }

    /// The queue has lost the opener of this connection.
    pub(super) fn lost(&mut self, hash: u64) {
        if let Some(cell) = self.known(hash)
            && cell.state == State::Admitted
        {
            *cell = Cell::default();
            self.held -= 1;
        }
    }

    /// The connections that have ended since the last call.
    pub(super) fn ended(&mut self, now: Time) -> u64 {
        let mut ended = std::mem::take(&mut self.forgotten);
        if self.held == 0 {
            return ended;
        }
        let (now, idle) = (ms(now), self.idle);
        for cell in &mut self.cells {
            if cell.state != State::None && now.wrapping_sub(cell.seen) >= idle {
                ended += u64::from(cell.state == State::Open);
                *cell = Cell::default();
                self.held -= 1;
            }
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use crate::packet::{Ext, Form};

    /// One token each 10 s, and nothing saved.
    fn scarce() -> Knobs {
        let (token_interval_ns, token_depth_ns) = (10_000_000_000, 10_000_000_000);
        Knobs { token_interval_ns, token_depth_ns, ..Knobs::default() }
    }

    fn gate(opener: Opener, cells: u32) -> Admit {
        let quic = quic::Config { cells, ..quic::Config::default() };
        let (limiter, refusal) = (Limiter::TokenBucket, Refusal::Rst);
        Admit::new(Admission { limiter, opener, refusal, quic: Some(quic), ..Admission::default() })
    }

    fn datagram(flow: u32, form: Form) -> Packet {
        Packet { flow, size: 1228, ext: Ext::Datagram { payload: 0, form }, ..Packet::default() }
    }

    /// Offers a packet to the gate and, if it passes, to a queue that takes it.
    fn offer(admit: &mut Admit, packet: &Packet, at_s: u64, counts: &mut Counts) -> bool {
        let passed = admit.admit(packet, Time::from_secs(at_s), &scarce(), counts) == Verdict::Pass;
        if passed {
            admit.enqueued(packet, counts);
        }
        passed
    }

    fn renew(admit: &mut Admit, at_s: u64, counts: &mut Counts) {
        let moment = Moment { now: Time::from_secs(at_s), queue_bytes: 0 };
        admit.renewed(&moment, &scarce(), counts);
    }

    /// By hand: the first client takes the only token, its further Initials need none, and the second
    /// is refused in silence until there is a token again. Idle for 5 s, the first has ended.
    #[test]
    fn the_first_initial_of_a_connection_opens_its_session() {
        let (mut admit, mut counts) = (gate(Opener::Syn, 4096), Counts::default());
        let first = |flow| datagram(flow, Form::ClientInitial);
        assert!(offer(&mut admit, &first(1), 0, &mut counts));
        assert!(offer(&mut admit, &first(1), 1, &mut counts), "an Initial that is sent again");
        assert!(offer(&mut admit, &datagram(1, Form::Other), 2, &mut counts));
        let refused = admit.admit(&first(2), Time::from_secs(2), &scarce(), &mut counts);
        assert_eq!(refused, Verdict::Drop(Reason::SessionRefused), "no reset");
        assert_eq!((counts.arrived, counts.admitted, counts.departed), (2, 1, 0));
        renew(&mut admit, 6, &mut counts);
        assert_eq!(counts.departed, 0, "4 s after its last packet");
        renew(&mut admit, 7, &mut counts);
        assert_eq!(counts.departed, 1);
        assert!(offer(&mut admit, &first(2), 10, &mut counts), "the next token");
        assert_eq!((counts.arrived, counts.admitted), (3, 2));
    }

    /// The server's Initial opens a download, the client's an upload, and no other packet either.
    #[test]
    fn the_side_of_the_data_says_whose_initial_counts() {
        for (opener, counted) in
            [(Opener::Syn, [1, 0, 0]), (Opener::SynAck, [0, 1, 0]), (Opener::Either, [1, 1, 0])]
        {
            for (form, expected) in
                [Form::ClientInitial, Form::ServerInitial, Form::Other].into_iter().zip(counted)
            {
                let (mut admit, mut counts) = (gate(opener, 16), Counts::default());
                offer(&mut admit, &datagram(1, form), 0, &mut counts);
                assert_eq!(counts.arrived, expected, "{opener:?} {form:?}");
            }
        }
        let opaque = Packet { flags: Flags::OPAQUE, ..datagram(1, Form::ClientInitial) };
        let (mut admit, mut counts) = (gate(Opener::Syn, 16), Counts::default());
        assert!(offer(&mut admit, &opaque, 0, &mut counts));
        assert_eq!(counts.arrived, 0);
    }

    /// An opener that the queue loses leaves nothing behind: its next try asks again. A table of one
    /// cell holds one connection; that of which it forgets counts as ended.
    #[test]
    fn what_is_lost_or_forgotten_does_not_stay_open() {
        let (mut admit, mut counts) = (gate(Opener::Syn, 16), Counts::default());
        let first = datagram(1, Form::ClientInitial);
        let knobs = Knobs { pass_all: 1, ..Knobs::default() };
        admit.admit(&first, Time::ZERO, &knobs, &mut counts);
        admit.dropped(&first, &mut counts);
        assert_eq!((counts.lost_openers, admit.opens(&first)), (1, true));
        let cells = 16;
        for flow in 0..100 {
            let packet = datagram(flow, Form::ClientInitial);
            admit.admit(&packet, Time::from_secs(1), &knobs, &mut counts);
            admit.enqueued(&packet, &mut counts);
        }
        renew(&mut admit, 2, &mut counts);
        assert!(counts.departed >= 100 - cells, "{}", counts.departed);
        renew(&mut admit, 6, &mut counts);
        assert_eq!(counts.departed, 100);
    }
}
