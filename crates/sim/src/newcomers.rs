//! Numbers of clients: who opens a flow, for gates that admit clients.

use tidegate_model::scenario::Class;

use crate::transport::table::LAST_CLIENT;

const LAST: u32 = LAST_CLIENT as u32;

/// Numbers for the flows and users of all classes, in the order of their coming.
pub(crate) struct Newcomers {
    /// Those who have an address of their own so far.
    alone: u32,
    /// Numbers for them, from 1; then they are used again.
    room: u32,
    /// The classes whose users share addresses: the first number, how many, and those so far.
    shared: Vec<Option<(u16, u32, u32)>>,
    /// The number of the first of the people whom classes share.
    people: u32,
}

impl Newcomers {
    pub(crate) fn new(classes: &[Class]) -> Newcomers {
        // people have the highest numbers, and those who share addresses the next
        let most = classes.iter().filter_map(|class| class.people.as_ref().map(|all| all.of)).max();
        let mut room = LAST - most.unwrap_or(0).min(LAST / 2);
        let people = room + 1;
        let shared = classes
            .iter()
            .map(|class| {
                // a crowd of classes may use numbers twice, but some are left for the others
                let many = class.clients?;
                room = room.saturating_sub(many).max(LAST / 2);
                Some((room as u16 + 1, many, 0))
            })
            .collect();
        Newcomers { alone: 0, room, shared, people }
    }

    /// The number of the next one who comes of a class, from 1; `person`: who it is.
    pub(crate) fn next(&mut self, class: usize, person: Option<u32>) -> u16 {
        if let Some(person) = person {
            return (self.people + person).min(LAST) as u16;
        }
        if let Some((first, many, come)) = &mut self.shared[class] {
            let number = *first + (*come % *many) as u16;
            *come = come.wrapping_add(1);
            return number;
        }
        let number = 1 + self.alone % self.room;
        self.alone = self.alone.wrapping_add(1);
        number as u16
    }
}
