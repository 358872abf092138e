//! Reads the key `tests`.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::key::Key;
use super::seeds::{KeySeed, Many, One};
use super::value::{Count, SubFolder};
use crate::runners::NamedTest;
use crate::text::Text;

/// A list of commands that are tests.
pub(super) struct TestsVisitor;

impl<'de> DeserializeSeed<'de> for TestsVisitor {
    type Value = Vec<NamedTest>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Self::Value, D::Error> {
        source.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for TestsVisitor {
    type Value = Vec<NamedTest>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of tests, such as [{id: unit, run: make unit}]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut tests: Vec<NamedTest> = Vec::new();
        while let Some(test) = items.next_element_seed(TestVisitor)? {
            if tests.iter().any(|known| known.id == test.id) {
                let why = format!("the test `{}` is here twice", test.id);
                return Err(de::Error::custom(why));
            }
            tests.push(test);
        }
        match tests.is_empty() {
            true => Err(de::Error::custom("the list is empty")),
            false => Ok(tests),
        }
    }
}

struct TestVisitor;

impl<'de> DeserializeSeed<'de> for TestVisitor {
    type Value = NamedTest;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Self::Value, D::Error> {
        source.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TestVisitor {
    type Value = NamedTest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a test, such as {id: unit, run: make unit}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut id, mut run, mut cwd, mut timeout) = (None, None, None, None);
        let mut seen = BTreeSet::new();
        while let Some(word) = map.next_key_seed(KeySeed {
            valid: &Key::OF_TEST,
            seen: &mut seen,
        })? {
            match word.as_str() {
                "id" => id = Some(map.next_value_seed(One::<Text>::new())?),
                "run" => run = Some(map.next_value_seed(Words)?),
                "cwd" => cwd = Some(map.next_value_seed(One::<SubFolder>::new())?),
                _ => timeout = Some(map.next_value_seed(One::<Count>::new())?),
            }
        }
        let (Some(Text(id)), Some(run)) = (id, run) else {
            return Err(de::Error::custom("a test needs an `id` and a `run`"));
        };
        Ok(NamedTest {
            id,
            run,
            cwd: cwd.map(|SubFolder(folder)| folder),
            timeout: timeout.map(|Count(seconds)| seconds),
        })
    }
}

/// Whether only a shell can have been meant.
fn is_for_shell(words: &[String]) -> bool {
    const SIGNS: [&str; 7] = ["&&", "||", "|", ";", ">", ">>", "<"];
    let sets = |word: &String| {
        word.split_once('=')
            .is_some_and(|(name, _)| !name.contains('/'))
    };
    words.first().is_some_and(sets) || words.iter().any(|word| SIGNS.contains(&word.as_str()))
}

/// The words of a command: a list, or text that is split as a shell does.
struct Words;

impl<'de> DeserializeSeed<'de> for Words {
    type Value = Vec<String>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Self::Value, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Words {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a command, such as `make unit` or [make, unit]")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        match shell_words::split(text) {
            Ok(words) if is_for_shell(&words) => Err(E::custom(format!(
                "no shell runs `{text}`; write `sh -c '…'` for one"
            ))),
            Ok(words) if !words.is_empty() => Ok(words),
            Ok(_) => Err(E::custom("the command is empty")),
            Err(_) => Err(E::custom(format!("a quote is not closed in `{text}`"))),
        }
    }

    /// There are programs of these names.
    fn visit_bool<E: de::Error>(self, program: bool) -> Result<Self::Value, E> {
        Ok(vec![program.to_string()])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        let words = Many::<Text>::any().visit_seq(items)?;
        match words.is_empty() {
            true => Err(de::Error::custom("the command is empty")),
            false => Ok(words.into_iter().map(|Text(word)| word).collect()),
        }
    }
}
