//! Downloads of named sets, by the system's `curl` or `wget`, checked by their sha256.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::{Folders, SetFile, pmlb_info, set_info};
use crate::read::{Packing, open};
use gatewood::{Error, Result};
use sha2::{Digest, Sha256};

/// What became of a file of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// It was here, and is whole.
    Here(PathBuf),
    /// It was downloaded, and is whole.
    Downloaded(PathBuf),
}

/// A file to have: where it lies, where it comes from, what it must be.
struct Wanted {
    path: String,
    url: Option<String>,
    bytes: u64,
    /// The sha256 of the content, or of the file as it comes when `is_packed`.
    sha256: String,
    is_packed: bool,
}

/// Fetches all files of a named set that are not here, and checks those that are. `progress` hears of bytes there and bytes in all, and
/// says whether to go on.
///
/// # Errors
/// When there is no such set, a file cannot be downloaded (the message says what to download and where to put it), or a
/// file is not what it should be.
pub fn fetch(
    name: &str,
    folders: &Folders,
    progress: &dyn Fn(&str, u64, u64) -> bool,
) -> Result<Vec<Fetched>> {
    let (wanted, home): (Vec<Wanted>, String) = if let Some(info) = set_info(name) {
        (info.files.iter().map(Wanted::of_set).collect(), info.home.into())
    } else if let Some(info) = pmlb_info(name) {
        let wanted = Wanted {
            path: info.path(),
            url: Some(info.url()),
            bytes: info.bytes,
            sha256: info.sha256.into(),
            is_packed: true,
        };
        (vec![wanted], "https://github.com/EpistasisLab/pmlb".into())
    } else {
        return Err(Error::data(format!("there is no data set named \"{name}\"")));
    };
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let folder = folders.for_downloads()?;
    let texts: Vec<[String; 2]> =
        ["train", "test"].iter().filter_map(|part| super::images::amat_names(name, part)).collect();
    let found: Option<Vec<PathBuf>> =
        texts.iter().map(|[name, nested]| folders.find_any(&[name, nested])).collect();
    let by_hand: Vec<&Wanted> =
        wanted.iter().filter(|file| file.url.is_none() && folders.find(&file.path).is_none()).collect();
    if let (Some(found), false, false) = (found, texts.is_empty(), by_hand.is_empty()) {
        // The text has no checksum to compare with: its numbers may be written in more ways than one.
        return Ok(found.into_iter().map(Fetched::Here).collect());
    }
    if !by_hand.is_empty() {
        let files: Vec<String> = by_hand
            .iter()
            .map(|file| format!("\n  {} (sha256 {})", folder.join(&file.path).display(), file.sha256))
            .collect();
        let texts: Vec<String> =
            texts.iter().map(|[name, _]| format!("\n  {}", folder.join(name).display())).collect();
        let or_texts = if texts.is_empty() {
            String::new()
        } else {
            format!("\nor the text files of that page, unpacked, at{}", texts.concat())
        };
        return Err(Error::io(format!(
            "\"{name}\" cannot be downloaded by itself; get it from {home} and put it, plain or packed as .gz, .xz or .zst, \
             at{}{or_texts}",
            files.concat()
        )));
    }
    wanted.iter().map(|file| file.have(folders, folder, progress)).collect()
}

impl Wanted {
    fn of_set(file: &SetFile) -> Self {
        Self {
            path: file.path.into(),
            url: file.url.map(str::to_owned),
            bytes: file.bytes,
            sha256: file.sha256.into(),
            is_packed: file.path.ends_with(".tar"),
        }
    }

    /// Whether the parts of an archive are here: those need no archive.
    fn parts(&self, folders: &Folders) -> Option<PathBuf> {
        let name = |batch: &str| format!("cifar10/cifar-10-batches-bin/{batch}.bin");
        let batches =
            ["data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"];
        let found: Option<Vec<PathBuf>> = batches.iter().map(|batch| folders.find(&name(batch))).collect();
        if self.path.ends_with(".tar") { found?.first()?.parent().map(Path::to_owned) } else { None }
    }

    fn have(
        &self,
        folders: &Folders,
        folder: &Path,
        progress: &dyn Fn(&str, u64, u64) -> bool,
    ) -> Result<Fetched> {
        if let Some(folder) = self.parts(folders) {
            return Ok(Fetched::Here(folder));
        }
        if let Some(path) = folders.find(&self.path) {
            self.check(&path)?;
            return Ok(Fetched::Here(path));
        }
        let target = folder.join(&self.path);
        let parent = target.parent().unwrap_or(folder);
        let failed = |path: &Path, error: io::Error| Error::io(format!("{}: {error}", path.display()));
        fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
        let part = with_ending(&target, ".part");
        let url = self.url.as_deref().unwrap_or_default();
        download(url, &part, self.bytes, &|done, total| progress(&self.path, done, total))
            .map_err(|error| self.by_hand(&error, url, &target))?;
        let path = self.unpack(&part, &target)?;
        Ok(Fetched::Downloaded(path))
    }

    /// The error of a download that did not work, with what to do instead.
    fn by_hand(&self, error: &str, url: &str, target: &Path) -> Error {
        Error::io(format!(
            "the download failed: {error}\nto do it by hand, download\n  {url}\nand put it at\n  {}\nor in the same place \
             under a folder given with --data-dir or GATEWOOD_DATA",
            target.display()
        ))
    }

    /// Checks a download and puts it in its place.
    fn unpack(&self, part: &Path, target: &Path) -> Result<PathBuf> {
        let failed = |error: io::Error| Error::io(format!("{}: {error}", part.display()));
        let mut start = [0; 6];
        let length = fs::File::open(part).and_then(|mut file| file.read(&mut start)).map_err(failed)?;
        let start = &start[..length];
        if start.starts_with(b"PK\x03\x04") {
            let bytes = unzip(part, target.file_name().and_then(|name| name.to_str()).unwrap_or_default())?;
            self.same(&hash(&mut &bytes[..]).map_err(failed)?, part)?;
            gatewood::model::write_atomically(target, &bytes)?;
            fs::remove_file(part).map_err(failed)?;
            return Ok(target.to_owned());
        }
        self.check(part)?;
        if self.path.ends_with(".tar") {
            let folder = target.parent().unwrap_or(target);
            untar(&mut open(part)?, folder).map_err(failed)?;
            fs::remove_file(part).map_err(failed)?;
            return Ok(folder.to_owned());
        }
        let ending = match Packing::of(start) {
            Packing::Plain => "",
            Packing::Gzip => ".gz",
            Packing::Xz => ".xz",
            Packing::Zstandard => ".zst",
        };
        let target = with_ending(target, ending);
        fs::rename(part, &target).map_err(failed)?;
        Ok(target)
    }

    /// Checks that a file is the one it should be. A file that may be packed otherwise is known by its content.
    fn check(&self, path: &Path) -> Result<()> {
        let failed = |error: io::Error| Error::io(format!("{}: {error}", path.display()));
        let found = if !self.is_packed {
            hash(&mut open(path)?)
        } else if path.extension().is_some_and(|ending| ending == "tsv") {
            // A plain copy of a file known by its packed form cannot be compared.
            return Ok(());
        } else {
            hash(&mut fs::File::open(path).map_err(failed)?)
        };
        self.same(&found.map_err(failed)?, path)
    }

    fn same(&self, found: &str, path: &Path) -> Result<()> {
        if found == self.sha256 {
            return Ok(());
        }
        Err(Error::file(format!(
            "{}: this is not the file it should be: its sha256 is {found} instead of {}; remove it to fetch it again",
            path.display(),
            self.sha256
        )))
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// The sha256 of all there is to read, in hexadecimal digits.
fn hash(reader: &mut dyn Read) -> io::Result<String> {
    let mut sha = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            count => sha.update(&buffer[..count]),
        }
    }
}

/// Downloads with `curl`, or else with `wget`, going on where an earlier try stopped.
fn download(
    url: &str,
    part: &Path,
    bytes: u64,
    progress: &dyn Fn(u64, u64) -> bool,
) -> std::result::Result<(), String> {
    let start = |program: &str, options: &[&str]| {
        let mut command = Command::new(program);
        command
            .args(options)
            .arg(part)
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command.spawn()
    };
    let curl = [
        "--fail",
        "--location",
        "--silent",
        "--show-error",
        "--connect-timeout",
        "20",
        "--retry",
        "2",
        "--continue-at",
        "-",
        "--output",
    ];
    let wget = ["--continue", "--no-verbose", "--timeout=20", "--tries=2", "-O"];
    let child = match start("curl", &curl) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => start("wget", &wget),
        started => started,
    };
    let mut child: Child = child.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "neither curl nor wget is installed".to_owned(),
        _ => error.to_string(),
    })?;
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            if status.success() {
                return Ok(());
            }
            let mut message = String::new();
            if let Some(mut stream) = child.stderr.take() {
                let _ = stream.read_to_string(&mut message);
            }
            let message = message.lines().last().unwrap_or_default().trim();
            return Err(if message.is_empty() { status.to_string() } else { message.to_owned() });
        }
        let done = fs::metadata(part).map_or(0, |metadata| metadata.len());
        if !progress(done, bytes.max(done)) {
            let _ = child.kill();
            let _ = child.wait();
            return Err("stopped; what is there is kept, and fetching again goes on from it".into());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The file of a name in a zip archive, stored or deflated.
fn unzip(archive: &Path, name: &str) -> Result<Vec<u8>> {
    let wrong = |what: &str| Error::file(format!("{}: {what}", archive.display()));
    let bytes = fs::read(archive).map_err(|error| wrong(&error.to_string()))?;
    let number = |at: usize, width: usize| {
        bytes
            .get(at..at + width)
            .map(|bytes| bytes.iter().rev().fold(0usize, |number, &byte| number << 8 | usize::from(byte)))
    };
    // The central directory is found from its end, as the sizes before a file's data may be left out.
    let end = (0..bytes.len().saturating_sub(21)).rev().find(|&at| bytes[at..].starts_with(b"PK\x05\x06"));
    let directory = end.and_then(|end| Some((number(end + 16, 4)?, number(end + 10, 2)?)));
    let (mut at, entries) = directory.ok_or_else(|| wrong("this is not a whole zip archive"))?;
    for _ in 0..entries {
        let entry = (|| {
            let (name_length, extra, comment) =
                (number(at + 28, 2)?, number(at + 30, 2)?, number(at + 32, 2)?);
            let found = bytes.get(at + 46..at + 46 + name_length)?;
            let fields = (number(at + 10, 2)?, number(at + 20, 4)?, number(at + 42, 4)?);
            Some((found, fields, at + 46 + name_length + extra + comment))
        })();
        let Some((found, (method, packed, header), next)) = entry else { break };
        at = next;
        if found != name.as_bytes() && !found.ends_with(format!("/{name}").as_bytes()) {
            continue;
        }
        let data = (|| {
            let start = header + 30 + number(header + 26, 2)? + number(header + 28, 2)?;
            bytes.get(start..start.checked_add(packed)?)
        })();
        let data = data.ok_or_else(|| wrong("the zip archive is damaged"))?;
        let mut content = Vec::new();
        match method {
            0 => content.extend_from_slice(data),
            8 => {
                let mut decoder = flate2::read::DeflateDecoder::new(data);
                decoder.read_to_end(&mut content).map_err(|error| wrong(&error.to_string()))?;
            }
            _ => return Err(wrong("the zip archive is packed in a way that is not known")),
        }
        return Ok(content);
    }
    Err(wrong(&format!("there is no file {name} in the zip archive")))
}

/// Writes the files of a tar archive under a folder, those with plain names only.
fn untar(reader: &mut dyn Read, folder: &Path) -> io::Result<()> {
    let mut header = [0; 512];
    loop {
        reader.read_exact(&mut header)?;
        if header.iter().all(|&byte| byte == 0) {
            return Ok(());
        }
        let text = |range: std::ops::Range<usize>| {
            String::from_utf8_lossy(&header[range]).trim_end_matches('\0').trim().to_owned()
        };
        let (name, size, kind) = (text(0..100), text(124..136), header[156]);
        let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let size = u64::from_str_radix(&size, 8).map_err(|_| invalid("the tar archive is damaged"))?;
        let is_plain =
            Path::new(&name).components().all(|part| matches!(part, std::path::Component::Normal(_)));
        let mut content = reader.take(size);
        if matches!(kind, b'0' | 0) && is_plain {
            let path = folder.join(&name);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            let part = with_ending(&path, ".part");
            let mut file = fs::File::create(&part)?;
            io::copy(&mut content, &mut file)?;
            file.flush()?;
            fs::rename(part, path)?;
        } else {
            io::copy(&mut content, &mut io::sink())?;
        }
        io::copy(&mut reader.take((512 - size % 512) % 512), &mut io::sink())?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tar_archive_is_unpacked_and_stays_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let entry = |name: &str, content: &[u8]| {
            let mut bytes = vec![0; 512];
            bytes[..name.len()].copy_from_slice(name.as_bytes());
            bytes[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
            bytes[156] = b'0';
            bytes.extend(content);
            bytes.resize(bytes.len().next_multiple_of(512), 0);
            bytes
        };
        let archive = [entry("a/b.bin", &[7; 600]), entry("../out", b"no"), vec![0; 1024]].concat();
        untar(&mut &archive[..], &folder.path().join("in")).unwrap();
        assert_eq!(fs::read(folder.path().join("in/a/b.bin")).unwrap(), [7; 600]);
        assert!(!folder.path().join("out").exists());
    }

    #[test]
    fn a_file_comes_out_of_a_zip_archive() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.zip");
        // One stored file "d/name" with content "hello".
        let mut bytes =
            b"PK\x03\x04\x0a\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0\x05\0\0\0\x06\0\0\0d/namehello".to_vec();
        let directory = bytes.len() as u32;
        bytes.extend(b"PK\x01\x02\x0a\0\x0a\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0\x05\0\0\0\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0d/name");
        let length = bytes.len() as u32 - directory;
        bytes.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
        bytes.extend(length.to_le_bytes());
        bytes.extend(directory.to_le_bytes());
        bytes.extend([0, 0]);
        fs::write(&path, &bytes).unwrap();
        assert_eq!(unzip(&path, "name").unwrap(), b"hello");
        assert!(
            unzip(&path, "other")
                .unwrap_err()
                .to_string()
                .ends_with("there is no file other in the zip archive")
        );
        fs::write(&path, &bytes[..bytes.len() - 30]).unwrap();
        assert!(unzip(&path, "name").unwrap_err().is_file());
    }

    #[test]
    fn what_is_here_is_checked() {
        let folder = tempfile::tempdir().unwrap();
        let folders = Folders::new(vec![folder.path().into()]);
        fs::create_dir_all(folder.path().join("spambase")).unwrap();
        fs::write(folder.path().join("spambase/spambase.data"), b"not it").unwrap();
        let error = fetch("spambase", &folders, &|_, _, _| true).unwrap_err().to_string();
        assert!(error.contains("this is not the file it should be: its sha256 is "), "{error}");
    }

    #[test]
    fn a_set_without_a_download_says_what_to_put_where() {
        let error =
            fetch("convex", &Folders::new(vec!["/data".into()]), &|_, _, _| true).unwrap_err().to_string();
        assert!(
            error.starts_with("\"convex\" cannot be downloaded by itself; get it from http://"),
            "{error}"
        );
        assert!(error.contains("\n  /data/convex/convex-test-labels-idx1-ubyte (sha256 bea151a2"), "{error}");
    }

    #[test]
    fn a_download_of_a_local_file_goes_on_from_its_part() {
        let folder = tempfile::tempdir().unwrap();
        let (source, part) = (folder.path().join("source"), folder.path().join("target.part"));
        fs::write(&source, b"0123456789").unwrap();
        fs::write(&part, b"01234").unwrap();
        let url = format!("file://{}", source.display());
        match download(&url, &part, 10, &|_, _| true) {
            Ok(()) => assert_eq!(fs::read(&part).unwrap(), b"0123456789"),
            // wget knows no local files, and a machine may have neither program.
            Err(error) => assert!(!error.is_empty()),
        }
        let error = download("file:///nowhere/at/all", &part, 10, &|_, _| true).unwrap_err();
        assert!(!error.is_empty());
    }
}
