//! Asking whether there is memory before taking it.
//!
//! Rust ends the process when an allocation fails, so sizes that depend on what a user hands in are asked for first:
//! [`check`] before a block of known size, [`reserve`] for a list that grows. Both count what the machine has free, the
//! limits of control groups (containers), and the limits of the process (`ulimit -v`, `ulimit -d`).

use std::path::{Component, Path};

use crate::{Error, Result};

/// Below this many bytes nothing is asked.
const SMALL: usize = 1 << 20;

/// Bytes that stay free beside what is asked for: small blocks are taken without asking.
const MARGIN: u64 = 16 << 20;

/// Checks that `bytes` more bytes of memory are available, as far as the system says.
///
/// # Errors
/// Says how much is needed and how much is there.
pub fn check(bytes: usize) -> Result<()> {
    if bytes < SMALL {
        return Ok(());
    }
    // Where the system says nothing, what no list can hold is refused still.
    if isize::try_from(bytes).is_err() {
        let needed = megabytes(bytes as u64);
        return Err(Error::too_large(format!("{needed} of memory are needed, more than can be addressed")));
    }
    match Room::smallest(Path::new("/")) {
        Some(room) if (bytes as u64).saturating_add(MARGIN) > room.bytes => Err(Error::too_large(format!(
            "{} of memory are needed, but only {} {}",
            megabytes(bytes as u64),
            megabytes(room.bytes),
            room.of
        ))),
        _ => Ok(()),
    }
}

/// Makes room for more items at the end of a list, with some to spare. The memory is asked for first.
///
/// # Errors
/// When the memory is unavailable.
#[inline]
pub fn reserve<T>(list: &mut Vec<T>, more: usize) -> Result<()> {
    if list.capacity() - list.len() >= more { Ok(()) } else { grow(list, more) }
}

#[cold]
fn grow<T>(list: &mut Vec<T>, more: usize) -> Result<()> {
    let refused = |items: usize| {
        let bytes = items.saturating_mul(size_of::<T>()) as u64;
        Error::too_large(format!("{} of memory are needed, and the system refuses them", megabytes(bytes)))
    };
    let needed = list.len().checked_add(more).ok_or_else(|| refused(usize::MAX))?;
    // Half as much again keeps the cost of growing small; where that is too much, what is needed may still fit.
    let generous = needed.saturating_add(needed / 2);
    if check(generous.saturating_mul(size_of::<T>())).is_ok()
        && list.try_reserve_exact(generous - list.len()).is_ok()
    {
        return Ok(());
    }
    check(needed.saturating_mul(size_of::<T>()))?;
    list.try_reserve_exact(more).map_err(|_| refused(needed))
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}

/// Memory that can still be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Room {
    bytes: u64,
    /// The end of a sentence.
    of: &'static str,
}

impl Room {
    /// The least that any of the system's limits leaves (Linux); `root` is the root of the file system.
    fn smallest(root: &Path) -> Option<Self> {
        let rooms = [
            free_memory(root).map(|bytes| Self { bytes, of: "are free" }),
            process_room(root, "Max address space", "VmSize:")
                .map(|bytes| Self { bytes, of: "are left of the process's address space (ulimit -v)" }),
            process_room(root, "Max data size", "VmData:")
                .map(|bytes| Self { bytes, of: "are left of the process's data size (ulimit -d)" }),
            group_room(root).map(|bytes| Self { bytes, of: "are left of the control group's limit" }),
        ];
        rooms.into_iter().flatten().min_by_key(|room| room.bytes)
    }
}

/// Bytes that can be taken without swapping.
fn free_memory(root: &Path) -> Option<u64> {
    kilobytes(&std::fs::read_to_string(root.join("proc/meminfo")).ok()?, "MemAvailable:")
}

/// The number after a name, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// What a limit of the process leaves.
fn process_room(root: &Path, limit: &str, used: &str) -> Option<u64> {
    let limits = std::fs::read_to_string(root.join("proc/self/limits")).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix(limit))?;
    let limit: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    let status = std::fs::read_to_string(root.join("proc/self/status")).ok()?;
    Some(limit.saturating_sub(kilobytes(&status, used)?))
}

/// What the control groups of the process leave: the least of its own group and those around it.
fn group_room(root: &Path) -> Option<u64> {
    let groups = std::fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let rooms = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let files = if controllers.is_empty() {
            ["sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "]
        } else if controllers.split(',').any(|controller| controller == "memory") {
            ["sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "]
        } else {
            return None;
        };
        let [mount, limit, used, cache] = files;
        let path: std::path::PathBuf =
            Path::new(path).components().filter(|part| matches!(part, Component::Normal(_))).collect();
        let folders = path.ancestors().map(|group| root.join(mount).join(group));
        folders.filter_map(|folder| room_in(&folder, limit, used, cache)).min()
    });
    rooms.min()
}

/// What one control group leaves. Cached pages of files count as free: they give way.
fn room_in(folder: &Path, limit: &str, used: &str, cache: &str) -> Option<u64> {
    let number =
        |name: &str| -> Option<u64> { std::fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok() };
    let limit = number(limit)?;
    let stat = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let cached = stat.lines().find_map(|line| line.strip_prefix(cache)?.trim().parse().ok()).unwrap_or(0);
    Some(limit.saturating_sub(number(used)?.saturating_sub(cached)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_any_machine_has_is_refused() {
        if Room::smallest(Path::new("/")).is_some() {
            assert!(check(usize::MAX / 2).unwrap_err().is_too_large());
        }
        assert!(check(1000).is_ok());
        let mut list: Vec<u64> = Vec::new();
        assert!(reserve(&mut list, usize::MAX / 2).unwrap_err().is_too_large());
        assert!(reserve(&mut list, usize::MAX / 9).unwrap_err().is_too_large());
        reserve(&mut list, 1000).unwrap();
        assert!(list.capacity() >= 1000);
    }

    /// The room that a system with these files leaves.
    fn room(files: &[(&str, &str)]) -> Option<(u64, &'static str)> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Room::smallest(root.path()).map(|room| (room.bytes, room.of))
    }

    #[test]
    fn the_smallest_limit_counts() {
        let meminfo = ("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n");
        assert_eq!(room(&[]), None);
        assert_eq!(room(&[meminfo]), Some((8000 * 1024, "are free")));
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max data size             unlimited            unlimited            bytes\n\
                      Max address space         4096000              unlimited            bytes\n";
        let status = ("proc/self/status", "Name: x\nVmSize:\t    1000 kB\nVmData:\t 500 kB\n");
        let process = "are left of the process's address space (ulimit -v)";
        assert_eq!(
            room(&[meminfo, ("proc/self/limits", limits), status]),
            Some((4_096_000 - 1_024_000, process))
        );
        let data = limits.replace("size             unlimited", "size             512001   ");
        let of = "are left of the process's data size (ulimit -d)";
        assert_eq!(room(&[meminfo, ("proc/self/limits", &data), status]), Some((1, of)));
    }

    #[test]
    fn control_groups_of_both_versions_count() {
        let meminfo = ("proc/meminfo", "MemAvailable:    8000 kB\n");
        let of = "are left of the control group's limit";
        let second = [
            meminfo,
            ("proc/self/cgroup", "0::/user/job\n"),
            ("sys/fs/cgroup/user/job/memory.max", "max\n"),
            ("sys/fs/cgroup/user/job/memory.current", "100\n"),
            ("sys/fs/cgroup/user/memory.max", "2000000\n"),
            ("sys/fs/cgroup/user/memory.current", "500000\n"),
            ("sys/fs/cgroup/user/memory.stat", "anon 1\ninactive_file 300000\n"),
        ];
        assert_eq!(room(&second), Some((1_800_000, of)));
        // The container's own group is the root of what it sees.
        let first = [
            meminfo,
            ("proc/self/cgroup", "12:cpu,cpuacct:/x\n4:memory:/docker/abc\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n"),
            ("sys/fs/cgroup/memory/memory.stat", "cache 5\ntotal_inactive_file 400000\n"),
        ];
        assert_eq!(room(&first), Some((2_400_000, of)));
        let unlimited = [
            meminfo,
            ("proc/self/cgroup", "4:memory:/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n"),
        ];
        assert_eq!(room(&unlimited), Some((8000 * 1024, "are free")));
    }
}
