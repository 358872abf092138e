//! Readers for the parts of `tamis.yml`: a key, one value, a list. Each error says what would
//! be correct.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{self, DeserializeSeed, Deserializer, SeqAccess, Visitor};

use super::key::nearest;
use crate::pattern::Pattern;

/// Reads a valid key, each at most once. The check is here because the parser adds the place
/// of the key to errors that occur while it reads the key.
pub(super) struct KeySeed<'a> {
    pub(super) valid: &'a [&'static str],
    pub(super) seen: &'a mut BTreeSet<String>,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<String, D::Error> {
        source.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of the keys {}", self.valid.join(", "))
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<String, E> {
        if !self.valid.contains(&word) {
            let advice = match nearest(word, self.valid.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the keys are {}", self.valid.join(", ")),
            };
            return Err(E::custom(format!("unknown key `{word}`; {advice}")));
        }
        if !self.seen.insert(word.to_owned()) {
            return Err(E::custom(format!("the key `{word}` is here twice")));
        }
        Ok(word.to_owned())
    }
}

/// A single value.
pub(super) struct One<T>(PhantomData<T>);

impl<T> One<T> {
    pub(super) fn new() -> One<T> {
        One(PhantomData)
    }
}

impl<'de, T: FromStr<Err = String>> DeserializeSeed<'de> for One<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<T, D::Error> {
        source.deserialize_str(self)
    }
}

impl<T: FromStr<Err = String>> Visitor<'_> for One<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one value")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// A list of groups. Each is a list of patterns or a single pattern.
pub(super) struct Groups;

impl<'de> DeserializeSeed<'de> for Groups {
    type Value = Vec<Vec<Pattern>>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Self::Value, D::Error> {
        source.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Groups {
    type Value = Vec<Vec<Pattern>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of groups, such as [tests/db, [tests/a.py, tests/b.py]]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut groups = Vec::new();
        while let Some(group) = items.next_element_seed(Group)? {
            groups.push(group);
        }
        Ok(groups)
    }
}

struct Group;

impl<'de> DeserializeSeed<'de> for Group {
    type Value = Vec<Pattern>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Self::Value, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Group {
    type Value = Vec<Pattern>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a pattern, or a list of patterns")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        text.parse().map(|pattern| vec![pattern]).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        Many::filled().visit_seq(items)
    }
}

/// A list of values.
pub(super) struct Many<T> {
    may_be_empty: bool,
    item: PhantomData<T>,
}

impl<T> Many<T> {
    pub(super) fn any() -> Many<T> {
        Many {
            may_be_empty: true,
            item: PhantomData,
        }
    }

    pub(super) fn filled() -> Many<T> {
        Many {
            may_be_empty: false,
            item: PhantomData,
        }
    }
}

impl<'de, T: FromStr<Err = String>> DeserializeSeed<'de> for Many<T> {
    type Value = Vec<T>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Vec<T>, D::Error> {
        source.deserialize_seq(self)
    }
}

impl<'de, T: FromStr<Err = String>> Visitor<'de> for Many<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list, such as [first, second]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(One::new())? {
            list.push(item);
        }
        if list.is_empty() && !self.may_be_empty {
            return Err(de::Error::custom("the list is empty"));
        }
        Ok(list)
    }
}
