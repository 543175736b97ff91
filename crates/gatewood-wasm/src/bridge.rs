//! The functions that the page calls, and those that it gives.
//!
//! The page asks for room, writes a message there and calls [`ask`]; the answer stays where it is until the next call.

use std::cell::RefCell;

use gatewood::learn::{Observer, Progress};

use crate::Session;

/// What one page works with. WebAssembly has one thread.
#[derive(Default)]
struct Room {
    session: Session,
    request: Vec<u8>,
    answer: Vec<u8>,
}

thread_local! {
    static ROOM: RefCell<Room> = RefCell::default();
}

/// Makes room for a message of so many bytes, and says where it is.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    gatewood::set_clock(page::clock);
    ROOM.with_borrow_mut(|room| {
        room.request.clear();
        room.request.resize(length, 0);
        room.request.as_mut_ptr()
    })
}

/// Answers the message that was written into the room, and says how long the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    ROOM.with_borrow_mut(|room| {
        let request = std::mem::take(&mut room.request);
        room.answer = room.session.answer(&request, &Page);
        room.answer.len()
    })
}

/// Where the last answer is.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    ROOM.with_borrow(|room| room.answer.as_ptr())
}

/// Tells the page how far the work is.
struct Page;

impl Observer for Page {
    fn progress(&self, progress: Progress) {
        #[cfg(all(target_family = "wasm", target_os = "unknown"))]
        page::tell(progress.done as f64, progress.total as f64);
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
        let _ = progress;
    }
}

/// What the page gives.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod page {
    use std::time::Duration;

    #[link(wasm_import_module = "page")]
    unsafe extern "C" {
        fn now() -> f64;
        fn progress(done: f64, total: f64);
    }

    pub(super) fn clock() -> Duration {
        // SAFETY: the page gives this function when it starts the module; it takes and touches nothing.
        let milliseconds = unsafe { now() };
        Duration::from_secs_f64((milliseconds / 1000.0).max(0.0))
    }

    pub(super) fn tell(done: f64, total: f64) {
        // SAFETY: as for `now`.
        unsafe { progress(done, total) }
    }
}
