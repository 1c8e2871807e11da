//! A host of one's own: a window of ten datagrams, sent again from the first missing one after a
//! second. A datagram is a letter, a number and data.

use std::collections::VecDeque;

use tidegate_core::host::{Ends, Host, Mark, Order, Phase, Report, Transfer};
use tidegate_core::units::Time;

const WINDOW: u32 = 10;
const WAIT: Time = Time::from_secs(1);
const TRIES: u32 = 8;
const HEADER: usize = 5;

pub struct Simple {
    /// Whether it sends the data.
    sends: bool,
    /// Bytes of data, and how many of them a datagram takes.
    size: u64,
    part: u64,
    /// The next number to be sent, or the one that is expected.
    next: u32,
    acked: u32,
    tries: u32,
    deadline: Time,
    /// Letters and numbers that are to be sent before any data.
    due: VecDeque<(u8, u32)>,
    report: Report,
}

/// Makes the two ends of a connection.
pub fn connect(transfer: &Transfer) -> Ends {
    let end = |client: bool| Simple {
        sends: client != transfer.download,
        size: transfer.size.unwrap_or(u64::MAX),
        part: u64::from(transfer.datagram) - HEADER as u64,
        next: 0,
        acked: 0,
        tries: 0,
        // the client is polled at once, and says hello
        deadline: if client { transfer.start } else { Time::NEVER },
        due: VecDeque::new(),
        report: Report {
            phase: if client { Phase::Opening } else { Phase::Waiting },
            ..Report::default()
        },
    };
    Ends { client: Box::new(end(true)), server: Box::new(end(false)) }
}

impl Simple {
    /// The number behind the last datagram of data.
    fn end(&self) -> u32 {
        u32::try_from(self.size.div_ceil(self.part)).unwrap_or(u32::MAX)
    }
}

impl Host for Simple {
    fn receive(&mut self, now: Time, datagram: &[u8], _: Mark) {
        let Some(&[letter, number @ ..]) = datagram.first_chunk::<HEADER>() else { return };
        let number = u32::from_be_bytes(number);
        if self.report.phase == Phase::Over {
            return;
        }
        if matches!(self.report.phase, Phase::Waiting | Phase::Opening) {
            (self.report.phase, self.deadline) = (Phase::Open, now + WAIT);
        }
        match letter {
            b'h' if self.sends => {}
            b'h' => self.due.push_back((b'a', 0)),
            b'a' => {
                self.tries = 0;
                self.acked = self.acked.max(number);
                self.deadline = now + WAIT;
            }
            _ => {
                if number == self.next {
                    self.next += 1;
                    self.report.delivered += (datagram.len() - HEADER) as u64;
                    self.report.complete |= letter == b'e';
                }
                self.due.push_back((b'a', self.next));
                self.deadline = now + WAIT * u64::from(TRIES);
            }
        }
    }

    fn transmit(&mut self, _: Time, datagram: &mut Vec<u8>) -> Option<Mark> {
        let open = self.sends && self.report.phase == Phase::Open;
        let (letter, number) = match self.due.pop_front() {
            Some(due) => due,
            None if !open || self.next > self.end().min(self.acked + WINDOW - 1) => return None,
            None => {
                self.next += 1;
                (if self.next > self.end() { b'e' } else { b'd' }, self.next - 1)
            }
        };
        datagram.push(letter);
        datagram.extend(number.to_be_bytes());
        if letter == b'd' {
            let left = self.size - u64::from(number) * self.part;
            datagram.resize(HEADER + left.min(self.part) as usize, 0);
        }
        Some(Mark::None)
    }

    fn wake(&mut self) -> Time {
        self.deadline
    }

    fn poll(&mut self, now: Time, order: Order) -> Report {
        if order == Order::Stop && self.size == u64::MAX {
            self.size = u64::from(self.next) * self.part;
        }
        self.report.complete |= self.sends && self.acked > self.end();
        if self.deadline <= now {
            self.tries += 1;
            self.deadline = now + WAIT;
            match self.report.phase {
                Phase::Opening => self.due.push_back((b'h', 0)),
                Phase::Open if self.sends => self.next = self.acked,
                _ => self.tries = TRIES,
            }
        }
        if self.tries >= TRIES && !self.report.complete {
            self.report.failed = true;
        }
        if self.report.complete && self.report.phase == Phase::Open {
            // who has the last word waits, for the case that it gets lost
            self.report.phase = if self.sends { Phase::Over } else { Phase::Closing };
        }
        if order == Order::Abort || self.tries >= TRIES {
            self.report.phase = Phase::Over;
        }
        if self.report.phase == Phase::Over {
            self.deadline = Time::NEVER;
        }
        self.report.window = Some(u64::from(WINDOW) * (self.part + HEADER as u64));
        self.report
    }
}
