//! Writes the records of `docs/formats/trace.md`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

/// The trace of this process. Each group of records is written at once, so that a killed
/// process leaves complete groups.
pub struct Trace {
    file: File,
    buffer: String,
    /// Whether a record could not be written. Then no more are written, so that no test seems
    /// to have ended without its units.
    is_broken: bool,
}

/// A JSON string.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                out.push('\\');
                out.push(letter);
            }
            '\n' => out.push_str("\\n"),
            letter if (letter as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", letter as u32);
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

fn optional(text: Option<&str>) -> String {
    text.map_or("null".to_owned(), quoted)
}

fn list(numbers: &[u64]) -> String {
    let words: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("[{}]", words.join(","))
}

impl Trace {
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path) -> std::io::Result<Trace> {
        let file = File::options().create_new(true).append(true).open(path)?;
        Ok(Trace {
            file,
            buffer: String::new(),
            is_broken: false,
        })
    }

    fn record(&mut self, text: &str) {
        self.buffer.push('[');
        self.buffer.push_str(text);
        self.buffer.push_str("]\n");
    }

    pub fn open(&mut self, facts: &str) {
        self.record(&format!("\"open\",{{{facts}}}"));
    }

    pub fn config(&mut self, root: &str, args: &[String]) {
        let args: Vec<String> = args.iter().map(|one| quoted(one)).collect();
        self.record(&format!(
            "\"config\",{{\"rootdir\":{},\"inifile\":null,\"args\":[{}],\"plugins\":[]}}",
            quoted(root),
            args.join(",")
        ));
    }

    pub fn unit(&mut self, unit: u64, kind: &str, path: &str, value: Option<&str>) {
        self.record(&format!(
            "\"u\",{unit},{},{},{}",
            quoted(kind),
            quoted(path),
            optional(value)
        ));
    }

    pub fn overridable(&mut self, class: &str, methods: &[String]) {
        let methods: Vec<String> = methods.iter().map(|one| quoted(one)).collect();
        let list = methods.join(",");
        self.record(&format!("\"o\",{},[{list}]", quoted(class)));
    }

    pub fn scope(&mut self, scope: u64, kind: &str, name: &str, extra: Option<&str>) {
        self.record(&format!(
            "\"s\",{scope},{},{},{}",
            quoted(kind),
            quoted(name),
            optional(extra)
        ));
    }

    pub fn add(&mut self, scope: u64, units: &[u64], edges: &[u64]) {
        if !units.is_empty() || !edges.is_empty() {
            self.record(&format!("\"+\",{scope},{},{}", list(units), list(edges)));
        }
    }

    pub fn begin(&mut self, scope: u64, test: &str, file: &str) {
        self.record(&format!("\"b\",{scope},{},{}", quoted(test), quoted(file)));
    }

    pub fn end(&mut self, scope: u64, test: &str, outcome: &str, seconds: f64, why: Option<&str>) {
        self.record(&format!(
            "\"t\",{scope},{},{},{seconds:.6},{}",
            quoted(test),
            quoted(outcome),
            optional(why)
        ));
    }

    pub fn wrote(&mut self, scope: u64, path: &str) {
        self.record(&format!("\"w\",{scope},{}", quoted(path)));
    }

    pub fn incomplete(&mut self, scope: u64, why: &str) {
        self.record(&format!("\"i\",{scope},{}", quoted(why)));
    }

    pub fn close(&mut self) {
        self.record("\"close\",0");
    }

    /// Writes what was recorded since the last time.
    pub fn flush(&mut self) {
        if !self.is_broken {
            self.is_broken = self.file.write_all(self.buffer.as_bytes()).is_err();
        }
        self.buffer.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_json() {
        assert_eq!(quoted("a\"\\\n\u{1}é"), "\"a\\\"\\\\\\n\\u0001é\"");
    }
}
