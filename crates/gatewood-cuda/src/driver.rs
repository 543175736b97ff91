//! A GPU, by its driver.

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;
use gatewood::{Error, Result};

use crate::backend::{Backend, Parameters};
use crate::compile;

/// Queues of work: threads take them in turn, so that what they ask for runs side by side.
const QUEUES: usize = 32;

/// Threads of a block, for rows and at the most for trials.
const THREADS: [u32; 2] = [256, 1024];

/// Bytes that the threads of a block share without being asked whether they may, and at the most.
const USUAL_SHARED_BYTES: u32 = 48 << 10;
const MOST_SHARED_BYTES: i32 = 224 << 10;

/// A GPU.
#[derive(Debug)]
pub(crate) struct CudaBackend {
    name: String,
    device: sys::CUdevice,
    context: sys::CUcontext,
    module: sys::CUmodule,
    queues: Vec<sys::CUstream>,
    kernels: Mutex<HashMap<&'static str, usize>>,
    /// Memory that was given back, by its size: to ask the driver for some takes long.
    spare: Mutex<HashMap<usize, Vec<u64>>>,
    /// The same for memory of this process.
    spare_here: Mutex<HashMap<usize, Vec<u64>>>,
    blocks: u32,
    shared_bytes: usize,
}

// SAFETY: the driver's handles may be used by any thread that has made the context current, as every call here does.
unsafe impl Send for CudaBackend {}
// SAFETY: as above; the driver locks what calls share.
unsafe impl Sync for CudaBackend {}

thread_local! {
    /// Which queue a thread uses.
    static QUEUE: Cell<usize> = Cell::new({
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed) % QUEUES
    });
}

fn failed(what: &str, error: DriverError) -> Error {
    let name = error
        .error_string()
        .map_or_else(|_| format!("{:?}", error.0), |text| text.to_string_lossy().into_owned());
    Error::io(format!("{what}: {name}; the processor does the same with --device cpu"))
}

impl CudaBackend {
    /// The GPU of a number, with all kernels ready.
    pub(crate) fn open(number: u32) -> Result<Self> {
        // SAFETY: this only looks for the library.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::io(
                "no NVIDIA driver is installed, so there is no GPU to use: choose --device cpu",
            ));
        }
        result::init().map_err(|error| failed("the NVIDIA driver does not start", error))?;
        let device = i32::try_from(number).ok().and_then(|number| result::device::get(number).ok());
        let Some(device) = device else {
            return Err(Error::io(format!("there is no GPU of number {number}: use --device cpu")));
        };
        let attribute = |which| {
            // SAFETY: the device is one that the driver gave.
            unsafe { result::device::get_attribute(device, which) }
                .map_err(|error| failed("the GPU does not answer", error))
        };
        use sys::CUdevice_attribute_enum as Attribute;
        let capability = (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        let blocks = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.max(1) as u32;
        let shared = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let name = result::device::get_name(device).unwrap_or_else(|_| "a GPU".into());
        // SAFETY: the device is one that the driver gave; the context is released when this is dropped.
        let context = unsafe { result::primary_ctx::retain(device) }
            .map_err(|error| failed("the GPU cannot be used", error))?;
        let mut backend = Self {
            name,
            device,
            context,
            module: std::ptr::null_mut(),
            queues: Vec::new(),
            kernels: Mutex::default(),
            spare: Mutex::default(),
            spare_here: Mutex::default(),
            blocks,
            shared_bytes: shared.clamp(USUAL_SHARED_BYTES as i32, MOST_SHARED_BYTES) as usize,
        };
        backend.enter()?;
        backend.module = load(capability)?;
        for _ in 0..QUEUES {
            let queue = result::stream::create(result::stream::StreamKind::NonBlocking)
                .map_err(|error| failed("the GPU takes no work", error))?;
            backend.queues.push(queue);
        }
        Ok(backend)
    }

    /// Makes the context that of this thread.
    fn enter(&self) -> Result<()> {
        // SAFETY: the context is retained as long as this lives.
        unsafe { result::ctx::set_current(self.context) }.map_err(|error| failed("the GPU is lost", error))
    }

    fn queue(&self) -> sys::CUstream {
        self.queues[QUEUE.get()]
    }

    fn kernel(&self, name: &'static str) -> Result<sys::CUfunction> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&kernel) = kernels.get(name) {
            return Ok(kernel as sys::CUfunction);
        }
        let text = CString::new(name).map_err(|_| Error::io("a kernel's name has a zero byte"))?;
        // SAFETY: the module is loaded as long as this lives.
        let kernel = unsafe { result::module::get_function(self.module, text) }
            .map_err(|error| failed(&format!("the kernel {name} is missing"), error))?;
        use sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as SHARED;
        // SAFETY: the function is one that the driver gave.
        unsafe { result::function::set_function_attribute(kernel, SHARED, self.shared_bytes as i32) }
            .map_err(|error| failed(&format!("the kernel {name} gets no memory to share"), error))?;
        kernels.insert(name, kernel as usize);
        Ok(kernel)
    }

    /// Gives all memory of this process back that is not in use.
    fn free_spare_here(&self) {
        let spare = std::mem::take(&mut *self.spare_here.lock().unwrap_or_else(PoisonError::into_inner));
        for address in spare.into_values().flatten() {
            // SAFETY: the address came from the driver, and nothing uses it any more.
            let _ = unsafe { result::free_host(address as *mut c_void) };
        }
    }

    /// Gives all memory back that is not in use.
    fn free_spare(&self) {
        let spare = std::mem::take(&mut *self.spare.lock().unwrap_or_else(PoisonError::into_inner));
        for address in spare.into_values().flatten() {
            // SAFETY: the address came from the driver, and nothing uses it any more.
            let _ = unsafe { result::free_sync(address) };
        }
    }
}

/// Loads the kernels; those of the cache are made anew where the driver does not take them.
fn load(capability: (i32, i32)) -> Result<sys::CUmodule> {
    for is_last in [false, true] {
        let kernels = compile::kernels(capability)?;
        // SAFETY: these are kernels that the compiler wrote, and the driver checks them.
        match unsafe { result::module::load_data(kernels.as_ptr().cast()) } {
            Ok(module) => return Ok(module),
            Err(error) if is_last => return Err(failed("the GPU does not take its kernels", error)),
            Err(_) => compile::forget(capability),
        }
    }
    unreachable!("the last turn returns")
}

/// Sizes that memory is kept by.
fn rounded(bytes: usize) -> usize {
    if bytes <= 1 << 20 { bytes.next_power_of_two().max(256) } else { bytes.next_multiple_of(1 << 20) }
}

impl Backend for CudaBackend {
    fn name(&self) -> &str {
        &self.name
    }

    fn blocks(&self) -> u32 {
        self.blocks
    }

    fn threads(&self) -> [u32; 2] {
        THREADS
    }

    fn shared_bytes(&self) -> usize {
        self.shared_bytes
    }

    fn free_bytes(&self) -> Result<usize> {
        self.enter()?;
        let (free, _) = result::mem_get_info().map_err(|error| failed("the GPU does not answer", error))?;
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(free + spare.iter().map(|(bytes, list)| bytes * list.len()).sum::<usize>())
    }

    fn allocate(&self, bytes: usize) -> Result<u64> {
        let bytes = rounded(bytes);
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(address) = spare.get_mut(&bytes).and_then(Vec::pop) {
            return Ok(address);
        }
        drop(spare);
        self.enter()?;
        // SAFETY: the memory is given back when it is released.
        let ask = || unsafe { result::malloc_sync(bytes) };
        let asked = ask().or_else(|_| {
            self.free_spare();
            ask()
        });
        asked.map_err(|error| {
            let (free, all) = result::mem_get_info().unwrap_or_default();
            let [bytes, free, all] = [bytes, free, all].map(|bytes| bytes >> 20);
            let reason = failed("it refused", error);
            Error::too_large(format!(
                "{bytes} MiB more do not fit in the GPU's memory, of which {free} of {all} MiB are free ({reason})"
            ))
        })
    }

    fn release(&self, address: u64, bytes: usize) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.entry(rounded(bytes)).or_default().push(address);
    }

    fn allocate_here(&self, bytes: usize) -> Result<u64> {
        let bytes = rounded(bytes);
        let mut spare = self.spare_here.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(address) = spare.get_mut(&bytes).and_then(Vec::pop) {
            return Ok(address);
        }
        drop(spare);
        self.enter()?;
        // SAFETY: the memory is given back when it is released.
        let ask = || unsafe { result::malloc_host(bytes, 0) };
        let asked = ask().or_else(|_| {
            self.free_spare_here();
            ask()
        });
        let given = asked.map_err(|error| {
            let reason = failed("the driver refused", error);
            Error::too_large(format!("{} MiB to copy from do not fit in memory ({reason})", bytes >> 20))
        })?;
        Ok(given as u64)
    }

    fn release_here(&self, address: u64, bytes: usize) {
        let mut spare = self.spare_here.lock().unwrap_or_else(PoisonError::into_inner);
        spare.entry(rounded(bytes)).or_default().push(address);
    }

    fn mark(&self) -> Result<u64> {
        self.enter()?;
        let marked = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING).and_then(|event| {
            // SAFETY: the event was made above, and the queue lives as long as this.
            unsafe { result::event::record(event, self.queue()) }.map(|()| event as u64)
        });
        marked.map_err(|error| failed("the GPU takes no work", error))
    }

    fn reach(&self, mark: u64) -> Result<()> {
        self.enter()?;
        let event = mark as sys::CUevent;
        // SAFETY: the event was made by `mark`, and is used for the last time here.
        let reached = unsafe {
            let reached = result::event::synchronize(event);
            let _ = result::event::destroy(event);
            reached
        };
        reached.map_err(|error| failed("the GPU failed", error))
    }

    fn upload(&self, address: u64, bytes: &[u8]) -> Result<()> {
        self.enter()?;
        // SAFETY: the address has room for so many bytes. The driver has read them when it returns, or they are of memory
        // that is kept until the copy is done.
        unsafe { result::memcpy_htod_async(address, bytes, self.queue()) }
            .map_err(|error| failed("copying to the GPU failed", error))
    }

    fn download(&self, address: u64, bytes: &mut [u8]) -> Result<()> {
        self.enter()?;
        // SAFETY: there are so many bytes at the address, and they are waited for.
        unsafe { result::memcpy_dtoh_async(bytes, address, self.queue()) }
            .map_err(|error| failed("copying from the GPU failed", error))?;
        self.wait()
    }

    fn zero(&self, address: u64, bytes: usize) -> Result<()> {
        self.enter()?;
        // SAFETY: there is room for so many bytes at the address.
        unsafe { result::memset_d8_async(address, 0, bytes, self.queue()) }
            .map_err(|error| failed("zeroing memory of the GPU failed", error))
    }

    fn launch(
        &self,
        kernel: &'static str,
        grid: [u32; 2],
        threads: u32,
        shared: u32,
        mut at: Parameters,
    ) -> Result<()> {
        self.enter()?;
        let function = self.kernel(kernel)?;
        let (grid, threads) = ((grid[0], grid[1], 1), (threads, 1, 1));
        let mut parameters = [(&raw mut at).cast::<c_void>()];
        // SAFETY: every kernel takes these parameters by value; the addresses among them are of lists that outlive the work.
        unsafe { result::launch_kernel(function, grid, threads, shared, self.queue(), &mut parameters) }
            .map_err(|error| failed(&format!("the kernel {kernel} does not start"), error))
    }

    fn together(&self, kernel: &'static str, threads: u32, shared: u32) -> Result<u32> {
        self.enter()?;
        let function = self.kernel(kernel)?;
        // SAFETY: the function is one that the driver gave.
        let blocks = unsafe {
            result::occupancy::max_active_block_per_multiprocessor(function, threads as i32, shared as usize)
        };
        let blocks = blocks.map_err(|error| failed("the GPU does not answer", error))?;
        Ok(blocks.max(0) as u32 * self.blocks)
    }

    fn launch_together(
        &self,
        kernel: &'static str,
        grid: [u32; 2],
        threads: u32,
        shared: u32,
        mut at: Parameters,
    ) -> Result<()> {
        self.enter()?;
        let function = self.kernel(kernel)?;
        let (grid, threads) = ((grid[0], grid[1], 1), (threads, 1, 1));
        let mut parameters = [(&raw mut at).cast::<c_void>()];
        // SAFETY: as above.
        unsafe {
            result::launch_cooperative_kernel(function, grid, threads, shared, self.queue(), &mut parameters)
        }
        .map_err(|error| failed(&format!("the kernel {kernel} does not start"), error))
    }

    fn wait(&self) -> Result<()> {
        self.enter()?;
        // SAFETY: the queue lives as long as this.
        unsafe { result::stream::synchronize(self.queue()) }.map_err(|error| failed("the GPU failed", error))
    }
}

impl Drop for CudaBackend {
    fn drop(&mut self) {
        if self.enter().is_err() {
            return;
        }
        self.free_spare();
        self.free_spare_here();
        // SAFETY: nothing uses the queues, the module or the context any more.
        unsafe {
            for &queue in &self.queues {
                let _ = result::stream::destroy(queue);
            }
            if !self.module.is_null() {
                let _ = result::module::unload(self.module);
            }
            let _ = result::primary_ctx::release(self.device);
        }
    }
}
