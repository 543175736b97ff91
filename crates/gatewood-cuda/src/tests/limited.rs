//! A device of little memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gatewood::{Error, Result};

use crate::CudaDevice;
use crate::backend::{Backend, Parameters};

/// Another device, of which only some memory may be used.
#[derive(Debug)]
pub(super) struct Limited {
    device: Arc<dyn Backend>,
    limit: usize,
    shared: usize,
    used: AtomicUsize,
    /// The most that was used at a time.
    most: AtomicUsize,
}

impl Limited {
    pub(super) fn new(device: &CudaDevice, limit: usize) -> Arc<Self> {
        let (used, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Arc::new(Self { device: device.0.clone(), limit, shared: usize::MAX, used, most })
    }

    /// The same, the threads of a block sharing so many bytes at the most.
    pub(super) fn sharing(self: Arc<Self>, shared: usize) -> Arc<Self> {
        let used = AtomicUsize::new(self.used.load(Ordering::Relaxed));
        let most = AtomicUsize::new(self.most());
        Arc::new(Self { device: self.device.clone(), limit: self.limit, shared, used, most })
    }

    pub(super) fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }
}

impl Backend for Limited {
    fn name(&self) -> &str {
        self.device.name()
    }

    fn blocks(&self) -> u32 {
        self.device.blocks()
    }

    fn threads(&self) -> [u32; 2] {
        self.device.threads()
    }

    fn shared_bytes(&self) -> usize {
        self.device.shared_bytes().min(self.shared)
    }

    fn free_bytes(&self) -> Result<usize> {
        Ok(self.limit - self.used.load(Ordering::Relaxed))
    }

    fn allocate(&self, bytes: usize) -> Result<u64> {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if used > self.limit {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
            return Err(Error::too_large(format!(
                "{bytes} bytes more, and {used} of {} are used",
                self.limit
            )));
        }
        self.most.fetch_max(used, Ordering::Relaxed);
        self.device.allocate(bytes)
    }

    fn release(&self, address: u64, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        self.device.release(address, bytes);
    }

    fn allocate_here(&self, bytes: usize) -> Result<u64> {
        self.device.allocate_here(bytes)
    }

    fn release_here(&self, address: u64, bytes: usize) {
        self.device.release_here(address, bytes);
    }

    fn mark(&self) -> Result<u64> {
        self.device.mark()
    }

    fn reach(&self, mark: u64) -> Result<()> {
        self.device.reach(mark)
    }

    fn upload(&self, address: u64, bytes: &[u8]) -> Result<()> {
        self.device.upload(address, bytes)
    }

    fn download(&self, address: u64, bytes: &mut [u8]) -> Result<()> {
        self.device.download(address, bytes)
    }

    fn zero(&self, address: u64, bytes: usize) -> Result<()> {
        self.device.zero(address, bytes)
    }

    fn launch(
        &self,
        kernel: &'static str,
        grid: [u32; 2],
        threads: u32,
        shared: u32,
        at: Parameters,
    ) -> Result<()> {
        self.device.launch(kernel, grid, threads, shared, at)
    }

    fn together(&self, kernel: &'static str, threads: u32, shared: u32) -> Result<u32> {
        self.device.together(kernel, threads, shared)
    }

    fn launch_together(
        &self,
        kernel: &'static str,
        grid: [u32; 2],
        threads: u32,
        shared: u32,
        at: Parameters,
    ) -> Result<()> {
        self.device.launch_together(kernel, grid, threads, shared, at)
    }

    fn wait(&self) -> Result<()> {
        self.device.wait()
    }
}
