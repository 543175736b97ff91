//! Kernels: compiled by NVRTC at first use, and kept in the user's cache folder.

use std::ffi::CString;
use std::path::PathBuf;

use cudarc::nvrtc::{result, sys};
use gatewood::{Error, Result};

const SOURCES: [&str; 9] = [
    include_str!("kernels/device.h"),
    include_str!("kernels/rows.cu"),
    include_str!("kernels/gates.cu"),
    include_str!("kernels/climb.cu"),
    include_str!("kernels/trials.cu"),
    include_str!("kernels/warps.cu"),
    include_str!("kernels/tree.cu"),
    include_str!("kernels/planes.cu"),
    include_str!("kernels/patterns.cu"),
];

/// All kernels as one text.
pub(crate) fn source() -> String {
    SOURCES.join("\n").replace("#include \"device.h\"", "")
}

/// The kernels for a device of such a compute capability, from the cache where they are there.
pub(crate) fn kernels(capability: (i32, i32)) -> Result<Vec<u8>> {
    let architecture = format!("--gpu-architecture=sm_{}{}", capability.0, capability.1);
    // Products and sums are rounded one after the other, as the processor does.
    let options = [architecture, "--fmad=false".into(), "--std=c++17".into()];
    let cached = cache_file(&options);
    if let Some(kernels) = cached.as_ref().and_then(|file| std::fs::read(file).ok()) {
        return Ok(kernels);
    }
    let kernels = compile(&options)?;
    if let Some(file) = cached {
        // Without a cache, they are compiled again.
        let _ = keep(&file, &kernels);
    }
    Ok(kernels)
}

/// Forgets kernels that a device did not take.
pub(crate) fn forget(capability: (i32, i32)) {
    let architecture = format!("--gpu-architecture=sm_{}{}", capability.0, capability.1);
    if let Some(file) = cache_file(&[architecture, "--fmad=false".into(), "--std=c++17".into()]) {
        let _ = std::fs::remove_file(file);
    }
}

fn compile(options: &[String]) -> Result<Vec<u8>> {
    // SAFETY: this only looks for the library.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::io(
            "the CUDA compiler library NVRTC is not installed: install it, or use --device cpu",
        ));
    }
    let failed = |what: String| Error::io(format!("the GPU's kernels do not compile: {what}"));
    let source = CString::new(source()).map_err(|_| failed("the text has a zero byte".into()))?;
    let program = result::create_program(&source, None).map_err(|error| failed(format!("{error:?}")))?;
    // SAFETY: the program was made above and is destroyed below; sizes are those that the library gives.
    unsafe {
        let compiled = result::compile_program(program, options);
        let kernels = match compiled {
            Ok(()) => {
                let mut size = 0usize;
                let sized = sys::nvrtcGetCUBINSize(program, &mut size).result();
                let mut kernels = vec![0u8; size];
                let got = sys::nvrtcGetCUBIN(program, kernels.as_mut_ptr().cast()).result();
                sized.and(got).map(|()| kernels).map_err(|error| failed(format!("{error:?}")))
            }
            Err(error) => {
                let log = result::get_program_log(program).unwrap_or_default();
                let log: String =
                    log.iter().map(|&byte| byte as u8 as char).take_while(|&c| c != '\0').collect();
                Err(failed(format!("{error:?} {}", log.trim())))
            }
        };
        let _ = result::destroy_program(program);
        kernels
    }
}

/// Where compiled kernels are kept; none where there is no home folder.
fn cache_file(options: &[String]) -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = cache.or_else(|| std::env::home_dir().map(|home| home.join(".cache")))?;
    // FNV-1a: other sources or options have another name.
    let text = options.iter().map(String::as_str).chain(SOURCES).flat_map(str::bytes);
    let name = text
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    Some(cache.join("gatewood").join("cuda").join(format!("{name:016x}.cubin")))
}

/// Writes a file whole or not at all.
fn keep(file: &PathBuf, kernels: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let beside = file.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&beside, kernels)?;
    std::fs::rename(&beside, file)
}
