//! `cargo xtask site`: the playground as one file, with the library for WebAssembly in it.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use lzma_rust2::{LzmaOptions, LzmaWriter};
use sha2::{Digest, Sha256};

use crate::log::Log;
use crate::report::{Outcome, Step};
use crate::wasm::{Compiler, NO_COMPILER};
use crate::{root, target};

/// The modules of the explorer, then those of the playground, in the order in which they use each other.
const EXPLORER: [&str; 11] =
    ["dom", "encode", "circuit", "explain", "state", "answer", "table", "image", "rows", "grove", "explorer"];
const PLAYGROUND: [&str; 7] = ["unpack", "engine", "points", "curve", "images", "playground", "start"];

/// The most bytes of the library, packed. Compiled for size throughout it takes a sixth less, and learns four times as slowly.
const MOST_BYTES: usize = 600_000;

/// The step that builds it: in a folder of its own, so that other builds can run beside it.
pub fn steps() -> Vec<Step> {
    vec![Step::new("playground", |log| {
        if Compiler::find().is_none() {
            return Ok(Outcome::not_run(NO_COMPILER));
        }
        let figures = build(log)?;
        Ok(Outcome { figures: vec![figures], ..Outcome::passed() })
    })]
}

/// Where the playground is written to.
pub fn page() -> PathBuf {
    target().join("site/playground.html")
}

/// The library for WebAssembly.
pub fn library_file() -> PathBuf {
    target().join("wasm/wasm32-unknown-unknown/release/gatewood_wasm.wasm")
}

/// Builds the playground; says how large its library is.
pub fn build(log: &Log) -> Result<String> {
    let Some(compiler) = Compiler::find() else {
        bail!("{NO_COMPILER}");
    };
    let library = library(log, &compiler)?;
    let packed = packed(&library)?;
    let figures = format!("the library takes {} bytes, {} packed", library.len(), packed.len());
    log.say(&figures);
    if packed.len() > MOST_BYTES {
        bail!("{figures}: over the limit of {MOST_BYTES}");
    }
    let page = page();
    std::fs::create_dir_all(page.parent().context("a folder")?)?;
    let html = html(&packed)?;
    std::fs::write(&page, &html)?;
    log.say(&format!("wrote {} ({} bytes)", page.display(), html.len()));
    Ok(figures)
}

/// The library for WebAssembly, with SIMD: what learns is compiled for speed, the rest for size.
fn library(log: &Log, compiler: &Compiler) -> Result<Vec<u8>> {
    let mut command = compiler.cargo("build", compiler.small());
    command.args(["--release", "--package", "gatewood-wasm", "--lib"]).current_dir(root());
    command.args(["--config", "profile.release.package.gatewood.opt-level=2"]);
    for (name, value) in
        [("OPT_LEVEL", "z"), ("LTO", "off"), ("CODEGEN_UNITS", "1"), ("DEBUG", "false"), ("STRIP", "symbols")]
    {
        command.env(format!("CARGO_PROFILE_RELEASE_{name}"), value);
    }
    log.must(&mut command)?;
    let file = library_file();
    std::fs::read(&file).with_context(|| format!("{} cannot be read", file.display()))
}

/// Packs for `unpack.js`: smaller than what browsers unpack by themselves.
fn packed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut options = LzmaOptions::with_preset(9);
    // Code of WebAssembly is bytes, none of them aligned.
    options.pb = 0;
    options.nice_len = LzmaOptions::NICE_LEN_MAX;
    let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, Some(bytes.len() as u64))?;
    writer.write_all(bytes)?;
    Ok(writer.finish()?)
}

/// The page: it may run its own script and start the library, and ask for nothing.
fn html(library: &[u8]) -> Result<String> {
    let (explorer, playground) =
        (root().join("crates/gatewood/src/export/explorer/page"), root().join("site/playground"));
    let read = |path: PathBuf| {
        std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))
    };
    let mut script = String::new();
    let files = EXPLORER.iter().map(|name| explorer.join(format!("{name}.js")));
    for file in files.chain(PLAYGROUND.iter().map(|name| playground.join(format!("{name}.js")))) {
        for line in read(file)?.lines().filter(|line| !line.starts_with("import ")) {
            script += line.strip_prefix("export ").unwrap_or(line);
            script.push('\n');
        }
    }
    let style = read(explorer.join("explorer.css"))? + &read(playground.join("playground.css"))?;
    let digits = root().join("crates/gatewood-data/assets/mnist35.bin");
    let digits = std::fs::read(&digits).with_context(|| format!("{} cannot be read", digits.display()))?;
    let worker = read(playground.join("worker.js"))?;
    let digest = |text: &str| base64(&Sha256::digest(text.as_bytes()));
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}' 'wasm-unsafe-eval'; worker-src blob:; style-src 'sha256-{}'; \
         img-src data: blob:; base-uri 'none'; form-action 'none'",
        digest(&script),
        digest(&style)
    );
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Gatewood playground</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <style>{style}</style>\n</head>\n<body>\n<div id=\"playground\"></div>\n\
         <noscript>This page needs JavaScript and WebAssembly. It asks for nothing from anywhere.</noscript>\n\
         <script type=\"text/plain\" id=\"worker\">{worker}</script>\n\
         <script type=\"text/plain\" id=\"library\">{}</script>\n\
         <script type=\"text/plain\" id=\"digits\">{}</script>\n\
         <script type=\"module\">{script}</script>\n</body>\n</html>\n",
        base64(library),
        base64(&digits)
    ))
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word =
            three.iter().fold(0u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}
