//! What a receiver hands back of the headers that laws write into packets. The receiver itself
//! knows none of them.
//!
//! | header   | handed back                     | of two segments that one acknowledgement covers |
//! |----------|---------------------------------|-------------------------------------------------|
//! | Blitz    | of a packet beyond a hole alone | the newer                                       |
//! | XCP      | always                          | the sum (draft-falk-xcp-spec-03, 3.2)           |
//! | any else | always                          | the newer                                       |

use tidegate_core::packet::{Ext, XcpHeader};

/// What of a header is handed back; `beyond`: a packet before its own has not come.
#[inline]
pub(super) fn told_of(header: &Ext, beyond: bool) -> &Ext {
    match header {
        // of a burst only packets beyond a hole show that there is a hole
        Ext::Priority { .. } if !beyond => &Ext::None,
        header => header,
    }
}

/// One header for two segments.
pub(super) fn together(older: Ext, newer: Ext) -> Ext {
    match (older, newer) {
        // f32::MAX: no port has seen the header
        (Ext::Xcp(one), Ext::Xcp(two)) if one.delta < f32::MAX && two.delta < f32::MAX => {
            Ext::Xcp(XcpHeader { delta: one.delta + two.delta, ..two })
        }
        (older, Ext::None) => older,
        (_, newer) => newer,
    }
}
