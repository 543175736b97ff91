//! Ctrl-C: training is asked to stop; anything else ends at once, its temporary files removed.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

static STOP: AtomicBool = AtomicBool::new(false);
static LISTENING: AtomicBool = AtomicBool::new(false);
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Starts to listen for Ctrl-C.
pub(crate) fn on_interrupt() {
    // Without a handler, Ctrl-C just ends the process: files are renamed when whole, so nothing breaks.
    let _ = ctrlc::set_handler(|| {
        if LISTENING.load(Ordering::SeqCst) && !STOP.swap(true, Ordering::SeqCst) {
            return;
        }
        for path in TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = std::fs::remove_file(path);
        }
        std::process::exit(130);
    });
}

/// Says whether someone asks [`is_stopped`] now and then.
pub(super) fn set_listening(listening: bool) {
    LISTENING.store(listening, Ordering::SeqCst);
}

/// Whether Ctrl-C was pressed.
pub(super) fn is_stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// A file to remove when Ctrl-C ends the process. Its name is never used again, so that it may be gone by then.
pub(super) fn add_temporary(path: PathBuf) {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).push(path);
}
