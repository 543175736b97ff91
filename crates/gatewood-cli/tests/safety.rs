//! What must never be lost, exposed or believed: files that are overwritten, killed processes, hostile names and settings.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn gatewood(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatewood"));
    command.current_dir(folder).env_remove("GATEWOOD_DATA").env("XDG_CACHE_HOME", folder).env("HOME", folder);
    command
}

fn run(folder: &Path, words: &str) -> Output {
    gatewood(folder).args(words.split_whitespace()).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn good(folder: &Path, words: &str) -> String {
    let output = run(folder, words);
    assert!(output.status.success(), "{words}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn inputs_are_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let rows = "a,b,y\n".to_owned() + &"1,2,x\n2,3,z\n".repeat(20);
    std::fs::write(place.join("rows.csv"), &rows).unwrap();
    std::fs::write(place.join("more.csv"), &rows).unwrap();
    good(place, "train rows.csv --rounds 2 -o model.gw");
    let model = std::fs::read(place.join("model.gw")).unwrap();
    std::fs::create_dir(place.join("folder")).unwrap();
    let mut cases = vec![
        "train rows.csv --rounds 2 -o rows.csv",
        "train rows.csv --rounds 2 -o ./folder/../rows.csv",
        "train rows.csv --rounds 2 --test more.csv -o more.csv",
        "train rows.csv --rounds 2 --continue model.gw -o model.gw",
        "train rows.csv --rounds 2 --curve rows.csv",
        "train rows.csv --rounds 2 -o new.gw --curve new.gw",
        "predict model.gw rows.csv -o model.gw",
        "predict model.gw rows.csv -o rows.csv",
        "export model.gw --to verilog -o model.gw",
        "export model.gw -o new.v --test-bench model.gw",
        "export model.gw -o new.v --test-bench new.v",
        "data make rows.csv -o rows.csv",
        "inspect model.gw --pixels model.gw --shape 1x2",
    ];
    if cfg!(unix) {
        std::fs::hard_link(place.join("rows.csv"), place.join("hard.csv")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("rows.csv", place.join("soft.csv")).unwrap();
        cases.extend(["train rows.csv --rounds 2 -o hard.csv", "train rows.csv --rounds 2 -o soft.csv"]);
    }
    for words in cases {
        let output = run(place, words);
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), said.contains("destroy it")), (Some(2), true), "{words}: {said}");
        assert_eq!(std::fs::read_to_string(place.join("rows.csv")).unwrap(), rows, "{words}");
        assert_eq!(std::fs::read_to_string(place.join("more.csv")).unwrap(), rows, "{words}");
        assert!(std::fs::read(place.join("model.gw")).unwrap() == model, "{words}");
        assert!(!names(place).iter().any(|name| name.starts_with("new")), "{words}");
    }
    // Rows from standard input that is a file.
    if cfg!(target_os = "linux") {
        let file = std::fs::File::open(place.join("rows.csv")).unwrap();
        let words = ["train", "-", "--rounds", "2", "-o", "rows.csv"];
        let output = gatewood(place).args(words).stdin(file).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    }
}

#[cfg(unix)]
#[test]
fn permissions_are_kept_and_planted_links_not_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let train = "train cubes:train=100,test=0 --model tree --depth 2 -o model.gw";
    good(place, train);
    let mode = || std::fs::metadata(place.join("model.gw")).unwrap().permissions().mode() & 0o777;
    std::fs::set_permissions(place.join("model.gw"), PermissionsExt::from_mode(0o600)).unwrap();
    good(place, train);
    assert_eq!(mode(), 0o600);
    // The names of temporary files used to end in the number of the process.
    std::fs::write(place.join("victim"), "precious").unwrap();
    let mut child = gatewood(place);
    let shell = format!("ln -s victim .model.gw.$$; exec {} {train}", env!("CARGO_BIN_EXE_gatewood"));
    drop(child.arg("--version").output().unwrap());
    let output = Command::new("sh").args(["-c", &shell]).current_dir(place).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_to_string(place.join("victim")).unwrap(), "precious");
    symlink("victim", place.join("link")).unwrap();
    std::fs::set_permissions(place.join("model.gw"), PermissionsExt::from_mode(0o400)).unwrap();
    assert_eq!(run(place, train).status.code(), Some(1));
}

/// Kills the command at random times. `GATEWOOD_KILLS` says how often.
#[cfg(target_os = "linux")]
#[test]
fn killed_processes_leave_whole_files_and_nothing_else() {
    let kills: u32 = std::env::var("GATEWOOD_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(12);
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    good(place, "data make cubes:train=400,test=0 -o rows.csv");
    good(place, "train rows.csv --model tree --depth 2 -o model.gw");
    let jobs = [
        ("train rows.csv --model tree --depth 3 --threads 1 -o model.gw", "model.gw"),
        ("predict model.gw rows.csv --threads 1 -o classes.csv", "classes.csv"),
        ("data make rows.csv -o copy.csv", "copy.csv"),
        ("export model.gw -o model.v", "model.v"),
    ];
    // What each file holds when it is whole: the commands are deterministic, but for the time kept in a model.
    let whole: Vec<(Duration, Vec<u8>)> = jobs
        .iter()
        .map(|(words, file)| {
            let start = std::time::Instant::now();
            good(place, words);
            (start.elapsed(), std::fs::read(place.join(file)).unwrap())
        })
        .collect();
    let mut state = 88_172_645_463_325_252_u64;
    let mut ended = 0;
    for kill in 0..kills {
        let (words, file) = jobs[kill as usize % jobs.len()];
        let (time, content) = &whole[kill as usize % jobs.len()];
        if kill % 8 < 4 && file != "model.gw" {
            // Written anew, and written over.
            let _ = std::fs::remove_file(place.join(file));
        }
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let mut child = gatewood(place)
            .args(words.split(' '))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(time.mul_f64((state % 1200) as f64 / 1000.0));
        child.kill().unwrap();
        ended += u32::from(child.wait().unwrap().success());
        match std::fs::read(place.join(file)) {
            Ok(found) if file == "model.gw" => assert_eq!(found.len(), content.len(), "{words}"),
            Ok(found) => assert!(found == *content, "{words}: {} of {} bytes", found.len(), content.len()),
            Err(_) => assert_ne!(file, "model.gw"),
        }
        if file == "model.gw" {
            good(place, "inspect model.gw");
        }
        let known = ["classes.csv", "copy.csv", "model.gw", "model.v", "rows.csv"];
        let left: Vec<String> = names(place).into_iter().filter(|name| !known.contains(&&**name)).collect();
        assert!(left.is_empty(), "{words}: {left:?} is left behind");
    }
    println!("{kills} kills, {ended} of them after the end");
}

#[test]
fn hostile_names_do_not_reach_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    // Escape sequences, reversed text and forged lines, in the names of columns, classes and categories.
    let mut rows = String::from("\"\u{1b}]0;title\u{7}\",\"b\nwrote all\",\u{202e}c,label\n");
    for row in 0..60 {
        let class = if row % 3 == 0 { "\u{1b}[2Jevil" } else { "\u{9b}31mred" };
        rows += &format!("{},\"x\u{7f}{}\",{},\"{class}\"\n", row % 3, row % 5, row * 7 % 11);
    }
    std::fs::write(place.join("evil.csv"), rows).unwrap();
    good(place, "train evil.csv --rounds 5 -o evil.gw --quiet");
    for words in [
        "train evil.csv --rounds 5",
        "train evil.csv --rounds 5 --json",
        "train evil.csv --rounds 2 --cv 3",
        "eval evil.gw evil.csv",
        "eval evil.gw evil.csv --json",
        "inspect evil.gw --all",
        "inspect evil.gw --json",
        "data info evil.csv",
        "data info evil.csv --json",
        "train evil.csv --label nowhere",
        "train evil.csv --class-weight none=2",
        "train evil.csv --label 1 --test evil.csv",
    ] {
        let output = run(place, words);
        let said = text(&output.stdout) + &text(&output.stderr);
        let bad =
            said.chars().find(|&c| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c)));
        assert_eq!(bad, None, "{words}: {said:?}");
        assert!(!said.lines().any(|line| line.starts_with("wrote all")), "{words}: {said}");
        if words.ends_with("--json") {
            serde_json::from_str::<serde_json::Value>(&said).unwrap();
        }
    }
    // A program that reads the classes gets them as they are.
    assert!(good(place, "predict evil.gw evil.csv").contains("\u{1b}[2Jevil"));
}

#[test]
fn settings_of_no_sense_are_refused_or_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let words = ["train", "cubes:train=60,test=0", "--rounds", "2", "--json"];
    let output = gatewood(place).args(words).env("GATEWOOD_SIMD", "axv2").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        text(&output.stderr),
        "error: GATEWOOD_SIMD is \"axv2\", but the levels are portable, avx2, avx512\n"
    );
    let output = gatewood(place).args(words).env("GATEWOOD_SIMD", "portable").output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    // The largest number of threads does what one does, and at once.
    let of = |threads: &str| {
        let words = format!("train cubes:train=60,test=0 --rounds 2 --threads {threads} -o m{threads}.gw");
        good(place, &words);
        good(place, &format!("predict m{threads}.gw cubes:train=60,test=60 --threads {threads}"))
    };
    assert_eq!(of("18446744073709551615"), of("1"));
}
