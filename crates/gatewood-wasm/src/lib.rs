//! Gatewood in a browser: the library in WebAssembly, asked by a page with messages of bytes.
//!
//! - [`Session`]: the rows and the model that a page works with, and the questions that it may ask.
//! - [`message`]: a JSON object and bytes after it, in one piece.
//! - `bridge`: the functions that the page calls, and those that it gives. All `unsafe` is there.

#[allow(unsafe_code)]
mod bridge;
pub mod message;
mod session;

pub use session::Session;
