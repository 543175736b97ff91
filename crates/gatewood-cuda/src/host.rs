//! The stand-in for a device: the same kernels, compiled for the processor where there is a C++ compiler.

use std::alloc::Layout;
use std::ffi::{CString, c_char};
use std::process::Command;
use std::sync::Mutex;

use gatewood::{Error, Result};
use libloading::Library;

use crate::backend::{Backend, Parameters};
use crate::compile;

type Launch = unsafe extern "C" fn(*const c_char, u32, u32, u32, u32, *const u64) -> i32;

/// Kernels on the processor, one at a time.
#[derive(Debug)]
pub(crate) struct HostBackend {
    library: Mutex<Library>,
    _folder: tempfile::TempDir,
}

impl HostBackend {
    /// Compiles the kernels; none where there is no compiler.
    pub(crate) fn new() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (source, library) = (folder.path().join("kernels.cpp"), folder.path().join("kernels.so"));
        std::fs::write(&source, compile::source()).expect("the kernels are written");
        std::fs::write(folder.path().join("host.h"), include_str!("kernels/host.h")).expect("so is this");
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
        let mut command = Command::new(compiler);
        command.args(["-std=c++17", "-O2", "-w", "-ffp-contract=off", "-fno-strict-aliasing"]);
        // Fibers jump from stack to stack, which hardened builds take for a mistake.
        command.arg("-U_FORTIFY_SOURCE");
        let output = command.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).output().ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // SAFETY: the library was made above, and starting it runs constructors that only fill a list.
        let library = unsafe { Library::new(&library) }.expect("the kernels are loaded");
        Some(Self { library: Mutex::new(library), _folder: folder })
    }
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 64).expect("a size that memory has")
}

impl Backend for HostBackend {
    fn name(&self) -> &str {
        "the processor in place of a GPU"
    }

    fn blocks(&self) -> u32 {
        3
    }

    fn threads(&self) -> [u32; 2] {
        [64, 64]
    }

    fn shared_bytes(&self) -> usize {
        96 << 10
    }

    fn free_bytes(&self) -> Result<usize> {
        Ok(1 << 40)
    }

    fn allocate_here(&self, bytes: usize) -> Result<u64> {
        self.allocate(bytes)
    }

    fn release_here(&self, address: u64, bytes: usize) {
        self.release(address, bytes);
    }

    fn mark(&self) -> Result<u64> {
        Ok(0)
    }

    fn reach(&self, _: u64) -> Result<()> {
        Ok(())
    }

    fn allocate(&self, bytes: usize) -> Result<u64> {
        // SAFETY: a buffer is never empty.
        let address = unsafe { std::alloc::alloc(layout(bytes)) };
        // SAFETY: there is room for so many bytes. What was not written is not zero by luck.
        unsafe { address.write_bytes(0xa5, bytes) };
        Ok(address as u64)
    }

    fn release(&self, address: u64, bytes: usize) {
        // SAFETY: the address came from above, with the same size.
        unsafe { std::alloc::dealloc(address as *mut u8, layout(bytes)) };
    }

    fn upload(&self, address: u64, bytes: &[u8]) -> Result<()> {
        // SAFETY: the address has room for so many bytes.
        unsafe { (address as *mut u8).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }

    fn download(&self, address: u64, bytes: &mut [u8]) -> Result<()> {
        // SAFETY: there are so many bytes at the address.
        unsafe { (address as *const u8).copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn zero(&self, address: u64, bytes: usize) -> Result<()> {
        // SAFETY: there is room for so many bytes at the address.
        unsafe { (address as *mut u8).write_bytes(0, bytes) };
        Ok(())
    }

    fn launch(
        &self,
        kernel: &'static str,
        grid: [u32; 2],
        threads: u32,
        shared: u32,
        at: Parameters,
    ) -> Result<()> {
        let library = self.library.lock().unwrap();
        let name = CString::new(kernel).unwrap();
        // SAFETY: the library has this function; kernels run one at a time, on lists that outlive the call.
        let found = unsafe {
            let launch = library.get::<Launch>(b"gatewood_launch\0").unwrap();
            launch(name.as_ptr(), grid[0], grid[1], threads, shared, at.as_ptr())
        };
        if found == 1 { Ok(()) } else { Err(Error::io(format!("the kernel {kernel} is missing"))) }
    }

    fn together(&self, _: &'static str, _: u32, _: u32) -> Result<u32> {
        Ok(24)
    }

    fn launch_together(
        &self,
        kernel: &'static str,
        grid: [u32; 2],
        threads: u32,
        shared: u32,
        at: Parameters,
    ) -> Result<()> {
        self.launch(kernel, grid, threads, shared, at)
    }

    fn wait(&self) -> Result<()> {
        Ok(())
    }
}
