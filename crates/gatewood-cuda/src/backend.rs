//! What kernels run on: memory that is filled, read and worked on by name.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use gatewood::Result;

/// Parameters of a kernel: addresses, counts and the bits of floats.
pub(crate) type Parameters = [u64; 16];

/// A device, or what stands in for one. Work of one thread is done in order; [`Backend::wait`] and [`Backend::download`] return when it is.
pub(crate) trait Backend: Debug + Send + Sync {
    fn name(&self) -> &str;

    /// Blocks that run side by side.
    fn blocks(&self) -> u32;

    /// Threads of a block, for rows and at the most for trials: multiples of 32.
    fn threads(&self) -> [u32; 2];

    /// Bytes that the threads of a block may share.
    fn shared_bytes(&self) -> usize;

    /// Bytes of memory that could be had now, about.
    fn free_bytes(&self) -> Result<usize>;

    fn allocate(&self, bytes: usize) -> Result<u64>;

    /// Gives memory back that no work is left to be done on.
    fn release(&self, address: u64, bytes: usize);

    /// Memory of this process, of any content that was written, that is copied from and to while other work goes on.
    fn allocate_here(&self, bytes: usize) -> Result<u64>;

    /// Gives memory of this process back that nothing is copied from or to any more.
    fn release_here(&self, address: u64, bytes: usize);

    /// Marks the work of this thread up to now.
    fn mark(&self) -> Result<u64>;

    /// Returns when the work up to a mark is done; a mark is reached once.
    fn reach(&self, mark: u64) -> Result<()>;

    /// Begins to copy. Unless the bytes are of [`Backend::allocate_here`], they have been read when it returns.
    fn upload(&self, address: u64, bytes: &[u8]) -> Result<()>;

    fn download(&self, address: u64, bytes: &mut [u8]) -> Result<()>;

    fn zero(&self, address: u64, bytes: usize) -> Result<()>;

    /// Begins a kernel: blocks in two directions, threads of each, and the bytes they share.
    fn launch(
        &self,
        kernel: &'static str,
        grid: [u32; 2],
        threads: u32,
        shared: u32,
        at: Parameters,
    ) -> Result<()>;

    /// How many blocks of a kernel that is begun with [`Backend::launch_together`] run at a time, given the threads of each and
    /// the bytes they share.
    fn together(&self, kernel: &'static str, threads: u32, shared: u32) -> Result<u32>;

    /// As [`Backend::launch`]; all blocks run side by side, so that they may wait for each other.
    fn launch_together(
        &self,
        kernel: &'static str,
        grid: [u32; 2],
        threads: u32,
        shared: u32,
        at: Parameters,
    ) -> Result<()>;

    fn wait(&self) -> Result<()>;
}

/// Numbers that are the same bytes on every device.
///
/// # Safety
/// A value has no padding, and any bytes that a kernel writes for it are a value.
pub(crate) unsafe trait Plain: Copy + Default {}

macro_rules! plain {
    ($($name:ty),*) => {
        $(
            // SAFETY: numbers have no padding, and all their bytes are values.
            unsafe impl Plain for $name {}
        )*
    };
}
plain!(u8, u16, u32, u64, i32, i64, f32, f64);

fn bytes_of<T: Plain>(list: &[T]) -> &[u8] {
    // SAFETY: plain numbers have no padding, and bytes need no alignment.
    unsafe { std::slice::from_raw_parts(list.as_ptr().cast(), std::mem::size_of_val(list)) }
}

fn bytes_of_mut<T: Plain>(list: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and any bytes are values.
    unsafe { std::slice::from_raw_parts_mut(list.as_mut_ptr().cast(), std::mem::size_of_val(list)) }
}

/// A list on a device.
#[derive(Debug)]
pub(crate) struct Buffer<T: Plain> {
    backend: Arc<dyn Backend>,
    address: u64,
    length: usize,
    kind: PhantomData<T>,
}

impl<T: Plain> Buffer<T> {
    /// Of any content.
    pub(crate) fn new(backend: &Arc<dyn Backend>, length: usize) -> Result<Self> {
        let address = backend.allocate((length * size_of::<T>()).max(8))?;
        Ok(Self { backend: backend.clone(), address, length, kind: PhantomData })
    }

    pub(crate) fn zeros(backend: &Arc<dyn Backend>, length: usize) -> Result<Self> {
        let buffer = Self::new(backend, length)?;
        backend.zero(buffer.address, length * size_of::<T>())?;
        Ok(buffer)
    }

    pub(crate) fn of(backend: &Arc<dyn Backend>, list: &[T]) -> Result<Self> {
        let buffer = Self::new(backend, list.len())?;
        buffer.put(0, list)?;
        Ok(buffer)
    }

    /// Writes some of it.
    pub(crate) fn put(&self, first: usize, list: &[T]) -> Result<()> {
        assert!(first + list.len() <= self.length);
        if list.is_empty() {
            return Ok(());
        }
        self.backend.upload(self.address + (first * size_of::<T>()) as u64, bytes_of(list))
    }

    /// Reads from its first number on, when all work of this thread is done.
    pub(crate) fn get(&self, list: &mut [T]) -> Result<()> {
        self.get_from(0, list)
    }

    /// The same from another number on.
    pub(crate) fn get_from(&self, first: usize, list: &mut [T]) -> Result<()> {
        assert!(first + list.len() <= self.length);
        if list.is_empty() {
            return self.backend.wait();
        }
        self.backend.download(self.address + (first * size_of::<T>()) as u64, bytes_of_mut(list))
    }

    pub(crate) fn list(&self) -> Result<Vec<T>> {
        let mut list = vec![T::default(); self.length];
        self.get(&mut list)?;
        Ok(list)
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }
}

impl Buffer<u8> {
    /// One where a mark is set; none for no marks.
    pub(crate) fn marks(backend: &Arc<dyn Backend>, marks: &[bool]) -> Result<Option<Self>> {
        if marks.is_empty() {
            return Ok(None);
        }
        // SAFETY: a mark is one byte, zero or one.
        let bytes = unsafe { std::slice::from_raw_parts(marks.as_ptr().cast::<u8>(), marks.len()) };
        Self::of(backend, bytes).map(Some)
    }
}

impl<T: Plain> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.backend.release(self.address, (self.length * size_of::<T>()).max(8));
    }
}

/// A list of this process that is copied from and to while other work goes on.
#[derive(Debug)]
pub(crate) struct Staging<T: Plain> {
    backend: Arc<dyn Backend>,
    address: u64,
    length: usize,
    kind: PhantomData<T>,
}

impl<T: Plain> Staging<T> {
    /// Of any content.
    pub(crate) fn new(backend: &Arc<dyn Backend>, length: usize) -> Result<Self> {
        let address = backend.allocate_here((length * size_of::<T>()).max(8))?;
        Ok(Self { backend: backend.clone(), address, length, kind: PhantomData })
    }

    pub(crate) fn list(&mut self) -> &mut [T] {
        // SAFETY: there is room for so many at the address, aligned for any number. All bytes were written, by the system at
        // the latest, and any bytes are values.
        unsafe { std::slice::from_raw_parts_mut(self.address as *mut T, self.length) }
    }
}

impl Staging<u64> {
    /// The same as numbers of 32 bits, the lower halves first.
    pub(crate) fn halves(&mut self) -> &mut [u32] {
        // SAFETY: as above, each number being two of half its size.
        unsafe { std::slice::from_raw_parts_mut(self.address as *mut u32, 2 * self.length) }
    }
}

impl<T: Plain> Drop for Staging<T> {
    fn drop(&mut self) {
        self.backend.release_here(self.address, (self.length * size_of::<T>()).max(8));
    }
}

/// The address of a list, or that of none.
pub(crate) fn address_or_none<T: Plain>(buffer: Option<&Buffer<T>>) -> u64 {
    buffer.map_or(0, Buffer::address)
}
