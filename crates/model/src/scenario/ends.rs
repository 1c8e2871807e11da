//! The ends of a connection, of a link and of a row of routers, and the ways between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which way data goes, as its users see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the users.
    #[default]
    Upload,
    /// To the users.
    Download,
}

impl Direction {
    /// The opposite.
    #[must_use]
    pub fn other(self) -> Direction {
        match self {
            Direction::Upload => Direction::Download,
            Direction::Download => Direction::Upload,
        }
    }

    /// At which end of data of this direction the users are.
    pub fn users(self) -> End {
        match self {
            Direction::Upload => End::Sender,
            Direction::Download => End::Receiver,
        }
    }
}

/// An end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The one that sends the data.
    Sender,
    /// The one that receives the data.
    Receiver,
}

/// An end of a link that is spelled out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NodeEnd {
    /// The node `from`.
    From,
    /// The node `to`.
    To,
}

/// A side of routers in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Where the first router is.
    Left,
    /// Where the last router is.
    Right,
}
