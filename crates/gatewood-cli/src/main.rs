//! The `gatewood` command.
fn main() {}
