//! The registry of laws: every law has its arm and its line here.
