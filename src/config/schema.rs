//! The JSON schema of `tamis.yml` for editors, made from the keys and their descriptions in
//! `docs/configuration.md`. A test keeps `docs/tamis.schema.json` equal to it.

use serde_json::{Map, Value, json};

use super::file::VERSION;
use super::key::Key;
use super::value::{Deepen, Granularity};
use crate::runners;
use crate::select::Strategy;

const DOCUMENTATION: &str = include_str!("../../docs/configuration.md");

/// The schema, in draft 7, which editors support best.
pub(crate) fn schema() -> Value {
    let properties = Key::ALL.map(|key| {
        let mut shape = shape(key);
        shape["description"] = description(key.word()).into();
        (key.word().to_owned(), shape)
    });
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "tamis.yml",
        "type": "object",
        "required": [Key::Version.word()],
        "additionalProperties": false,
        "properties": Map::from_iter(properties),
    })
}

fn shape(key: Key) -> Value {
    match key {
        Key::Suites => {
            let inner = Key::OF_SUITE.map(|key| (key.word().to_owned(), shape(key)));
            json!({
                "type": "object",
                "minProperties": 1,
                "propertyNames": { "pattern": "^[A-Za-z0-9][-_.A-Za-z0-9]{0,59}$" },
                "additionalProperties": object(Map::from_iter(inner)),
            })
        }
        Key::Version => json!({ "const": VERSION }),
        Key::Suite | Key::Python | Key::Root | Key::Store | Key::SharedStore | Key::SharedLabel => {
            text()
        }
        Key::Runner => json!({ "enum": runners::names().collect::<Vec<_>>() }),
        Key::Command | Key::Paths => filled(),
        Key::Tests => {
            let inner = Key::OF_TEST.map(|word| {
                let shape = match word {
                    "run" => json!({ "anyOf": [text(), filled()] }),
                    "timeout" => count(),
                    _ => text(),
                };
                (word.to_owned(), shape)
            });
            let mut test = object(Map::from_iter(inner));
            test["required"] = json!(["id", "run"]);
            json!({ "type": "array", "items": test, "minItems": 1 })
        }
        Key::Deepen => json!({ "enum": Deepen::ALL.map(Deepen::word) }),
        Key::Granularity => json!({ "enum": Granularity::ALL.map(Granularity::word) }),
        Key::DebugInfo => json!({ "type": "boolean" }),
        Key::Strategy => {
            json!({ "enum": Strategy::ALL.map(Strategy::word) })
        }
        Key::RunAllEvery | Key::Keep => count(),
        Key::AlwaysRun | Key::RunAllWhen | Key::LockFiles | Key::BenignState => list(),
        Key::KeepTogether => json!({
            "type": "array",
            "items": { "anyOf": [text(), filled()] },
        }),
        Key::Trust => {
            let inner = Key::OF_TRUST.map(|word| {
                let shape = match word {
                    "refs" | "events" | "workflows" => filled(),
                    _ => text(),
                };
                (word.to_owned(), shape)
            });
            object(Map::from_iter(inner))
        }
        Key::Env => object(Map::from_iter([(Key::IGNORE.to_owned(), list())])),
    }
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX })
}

fn text() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

fn list() -> Value {
    json!({ "type": "array", "items": text() })
}

fn filled() -> Value {
    json!({ "type": "array", "items": text(), "minItems": 1 })
}

fn object(properties: Map<String, Value>) -> Value {
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

/// The first paragraph below the key's heading, without links.
fn description(word: &str) -> String {
    let heading = format!("### `{word}`\n");
    let (_, below) = DOCUMENTATION.split_once(&heading).unwrap_or_default();
    let paragraph = below.split("\n\n").next().unwrap_or_default();
    let mut plain = String::new();
    let mut rest = paragraph;
    while let Some((before, link)) = rest.split_once('[') {
        plain.push_str(before);
        match link.split_once("](").and_then(|(text, target)| {
            let (_, after) = target.split_once(')')?;
            Some((text, after))
        }) {
            Some((text, after)) => {
                plain.push_str(text);
                rest = after;
            }
            None => {
                plain.push('[');
                rest = link;
            }
        }
    }
    plain.push_str(rest);
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `TAMIS_UPDATE_SCHEMA=1 cargo test --lib config::schema` writes the file.
    #[test]
    fn the_published_schema_is_this_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/tamis.schema.json");
        let made = format!("{}\n", serde_json::to_string_pretty(&schema()).unwrap());
        if std::env::var_os("TAMIS_UPDATE_SCHEMA").is_some() {
            fs_err::write(path, &made).unwrap();
        }
        assert!(
            fs_err::read_to_string(path).unwrap() == made,
            "docs/tamis.schema.json is not what docs/configuration.md says: run \
             `TAMIS_UPDATE_SCHEMA=1 cargo test --lib config::schema`"
        );
    }

    #[test]
    fn every_key_is_documented_and_its_description_is_plain() {
        for key in Key::ALL {
            let text = description(key.word());
            assert!(
                text.len() > 20 && text.ends_with(['.', ':']),
                "{}: {text}",
                key.word()
            );
            assert!(!text.contains("]("), "{text}");
        }
    }
}
