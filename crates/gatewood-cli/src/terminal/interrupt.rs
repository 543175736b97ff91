//! Ctrl-C: training is asked to stop; anything else ends at once, its temporary file gone.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

static STOP: AtomicBool = AtomicBool::new(false);
static LISTENING: AtomicBool = AtomicBool::new(false);
static TEMPORARY: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Starts to listen for Ctrl-C.
pub(crate) fn on_interrupt() {
    // Without a handler, Ctrl-C just ends the process: files are renamed when whole, so nothing breaks.
    let _ = ctrlc::set_handler(|| {
        if LISTENING.load(Ordering::SeqCst) && !STOP.swap(true, Ordering::SeqCst) {
            return;
        }
        if let Some(path) = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).take() {
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

/// The file to remove when Ctrl-C ends the process.
pub(super) fn set_temporary(path: Option<PathBuf>) {
    *TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner) = path;
}
