//! How tests ended, as `ctest` says: a test can be one that has to fail, or one whose output counts.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use quick_xml::events::Event;
use quick_xml::{Reader, XmlVersion};

use crate::matrix::Outcome;

/// The outcome and the duration in seconds of each test that was to run, by name.
pub(super) type Verdicts = BTreeMap<String, (Outcome, f64)>;

/// Reads the file of `--output-junit`.
///
/// # Errors
/// If there is none, or it is no XML.
pub(super) fn read(file: &Path) -> Result<Verdicts> {
    let text = crate::disk::read_to_string(file).context("`ctest` wrote no results")?;
    of_text(&text).context("`ctest` wrote results that cannot be read")
}

fn of_text(text: &str) -> Result<Verdicts> {
    let mut reader = Reader::from_str(text);
    let mut verdicts = Verdicts::new();
    loop {
        let tag = match reader.read_event()? {
            Event::Start(tag) | Event::Empty(tag) => tag,
            Event::Eof => return Ok(verdicts),
            _ => continue,
        };
        if tag.name().as_ref() != b"testcase" {
            continue;
        }
        let (mut name, mut status, mut seconds) = (String::new(), String::new(), 0.0);
        for attribute in tag.attributes() {
            let attribute = attribute?;
            let value = attribute
                .normalized_value(XmlVersion::Implicit1_0)?
                .into_owned();
            match attribute.key.as_ref() {
                b"name" => name = value,
                b"status" => status = value,
                b"time" => seconds = value.parse().unwrap_or_default(),
                _ => {}
            }
        }
        let outcome = match status.as_str() {
            "run" => Outcome::Passed,
            "disabled" => continue,
            "notrun" => Outcome::Skipped,
            _ => Outcome::Failed,
        };
        // Of several with one name, one that fails counts.
        let known = verdicts.entry(name).or_insert((outcome, 0.0));
        known.1 += seconds;
        if outcome == Outcome::Failed || known.0 == Outcome::Skipped {
            known.0 = outcome;
        }
    }
}

/// Two files of results as one.
pub(super) fn joined(first: &str, second: &str) -> String {
    const END: &str = "</testsuite>";
    const CASE: &str = "<testcase ";
    let cases = match (second.find(CASE), second.rfind(END)) {
        (Some(from), Some(to)) => &second[from..to],
        _ => "",
    };
    let begins = first.rfind(END).unwrap_or(first.len());
    let (mut all, end) = (first[..begins].to_owned(), &first[begins..]);
    for name in ["tests", "failures", "disabled", "skipped"] {
        let number = |text: &str| {
            let head = &text[..text.find(CASE).unwrap_or(text.len())];
            let from = head.find(&format!("\t{name}=\""))? + name.len() + 3;
            let length = head[from..].find('"')?;
            Some((
                from..from + length,
                head[from..from + length].parse::<u64>().ok()?,
            ))
        };
        if let (Some((place, one)), Some((_, other))) = (number(&all), number(second)) {
            all.replace_range(place, &(one + other).to_string());
        }
    }
    format!("{all}\t{cases}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_end_is_told() {
        let text = r#"<?xml version="1.0"?><testsuite name="(empty)">
            <testcase name="good" classname="good" time="0.5" status="run">
                <system-out>&lt;testcase name=&quot;no&quot;/&gt;</system-out></testcase>
            <testcase name="a &quot;b&quot;" time="1" status="fail"><failure message=""/></testcase>
            <testcase name="skips" time="1" status="notrun"><skipped message="x"/></testcase>
            <testcase name="off" time="0" status="disabled"/>
            <testcase name="twice" time="1" status="fail"/>
            <testcase name="twice" time="2" status="run"/>
            </testsuite>"#;
        let verdicts = of_text(text).unwrap();
        let expected = [
            ("a \"b\"", (Outcome::Failed, 1.0)),
            ("good", (Outcome::Passed, 0.5)),
            ("skips", (Outcome::Skipped, 1.0)),
            ("twice", (Outcome::Failed, 3.0)),
        ];
        let expected = expected.map(|(name, told)| (name.to_owned(), told));
        assert_eq!(verdicts, Verdicts::from(expected));
        assert!(of_text("<testsuite><testcase").is_err());
    }

    #[test]
    fn results_of_two_passes_are_added() {
        let one = "<testsuite\n\ttests=\"2\"\n\tfailures=\"1\"\n\t>\n\t<testcase name=\"a\" status=\"run\"/>\n</testsuite>\n";
        let other = one.replace("\"a\"", "\"b\"");
        let all = joined(one, &other);
        assert!(
            all.contains("tests=\"4\"") && all.contains("failures=\"2\""),
            "{all}"
        );
        assert_eq!(of_text(&all).unwrap().len(), 2);
    }
}
