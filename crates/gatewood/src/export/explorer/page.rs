//! The HTML file around the data.

use serde_json::Value;

use super::hash::{base64, sha256};

/// The modules of the page in the order in which they use each other.
const MODULES: [&str; 11] = [
    include_str!("page/dom.js"),
    include_str!("page/encode.js"),
    include_str!("page/circuit.js"),
    include_str!("page/explain.js"),
    include_str!("page/state.js"),
    include_str!("page/answer.js"),
    include_str!("page/table.js"),
    include_str!("page/image.js"),
    include_str!("page/rows.js"),
    include_str!("page/grove.js"),
    include_str!("page/explorer.js"),
];

/// What starts the page.
const START: &str = include_str!("page/start.js");

const STYLE: &str = include_str!("page/explorer.css");

/// The page with this data.
pub(super) fn write(data: &Value) -> String {
    let script = joined();
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data: blob:; base-uri 'none'; \
         form-action 'none'",
        base64(&sha256(script.as_bytes())),
        base64(&sha256(STYLE.as_bytes())),
    );
    let data = harmless(&data.to_string());
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Gatewood explorer</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<div id=\"explorer\"></div>\n\
         <noscript>This page needs JavaScript. It asks for nothing from anywhere.</noscript>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n\
         <script type=\"module\">{script}</script>\n</body>\n</html>\n"
    )
}

/// All modules as one: what one exports, the others see.
fn joined() -> String {
    let mut script = String::new();
    for line in MODULES.iter().chain([&START]).flat_map(|module| module.lines()) {
        if line.starts_with("import ") {
            continue;
        }
        script += line.strip_prefix("export ").unwrap_or(line);
        script.push('\n');
    }
    script
}

/// JSON that no HTML parser and no JavaScript takes for anything else.
fn harmless(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' => safe += "\\u003c",
            '>' => safe += "\\u003e",
            '&' => safe += "\\u0026",
            '\u{2028}' => safe += "\\u2028",
            '\u{2029}' => safe += "\\u2029",
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_script_and_the_style_end_where_they_should() {
        for text in [&joined()[..], STYLE] {
            assert!(!text.contains("</script") && !text.contains("</style") && !text.contains("<!--"));
        }
        assert!(!joined().lines().any(|line| line.starts_with("import ") || line.starts_with("export ")));
    }

    #[test]
    fn a_page_has_room_for_its_model() {
        assert!(write(&json!({})).len() < 1_000_000);
    }

    #[test]
    fn hostile_texts_stay_the_same_json() {
        let hostile =
            json!({"</script><script>alert(1)</script>": "<!-- & \u{2028}\u{2029} \" \\ \u{202e}\0"});
        let safe = harmless(&hostile.to_string());
        assert!(!safe.contains(['<', '>', '&', '\u{2028}', '\u{2029}']));
        assert_eq!(serde_json::from_str::<Value>(&safe).unwrap(), hostile);
    }
}
