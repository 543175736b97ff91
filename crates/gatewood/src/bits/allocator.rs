//! An allocator that says in a sentence when memory runs out.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

/// The system's allocator; when it refuses memory, the process ends with an error message and exit code 1.
///
/// Rust aborts the process when an allocation fails. A command that handles files of any size would rather say why it
/// ends. Blocks whose size depends on what a user hands in are asked for with [`crate::memory`] first, so that this is
/// the last resort. For a program's `#[global_allocator]`; a library inside another program has no right to end it.
#[derive(Debug, Clone, Copy, Default)]
pub struct OutOfMemoryError;

#[cold]
fn refuse(bytes: usize) -> ! {
    // No memory is taken here: standard error has no buffer.
    let _ = writeln!(
        std::io::stderr(),
        "error: out of memory: {bytes} more bytes are needed, and the system refuses them"
    );
    std::process::exit(1);
}

// SAFETY: every call goes to the system's allocator with the caller's own arguments, and its answer is handed on; a null
// answer does not return.
unsafe impl GlobalAlloc for OutOfMemoryError {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is the system's too.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() { refuse(layout.size()) } else { block }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above; the block came from the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let block = unsafe { System.alloc_zeroed(layout) };
        if block.is_null() { refuse(layout.size()) } else { block }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let block = unsafe { System.realloc(block, layout, size) };
        if block.is_null() { refuse(size) } else { block }
    }
}
