//! Reads the key `trust`.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};

use super::key::Key;
use super::seeds::{KeySeed, Many, One};
use crate::pattern::Pattern;
use crate::text::Text;
use crate::trust::PublicKey;

/// The `trust` of the file, with defaults for missing keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    pub repository: Option<Text>,
    pub refs: Option<Vec<Pattern>>,
    pub events: Option<Vec<Text>>,
    pub workflows: Option<Vec<Pattern>>,
    pub public_key: Option<PublicKey>,
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<T: fmt::Display>(items: &Option<Vec<T>>) -> Option<String> {
            let items = items.as_ref()?.iter().map(ToString::to_string);
            Some(format!("[{}]", items.collect::<Vec<_>>().join(", ")))
        }
        let said = [
            self.repository.as_ref().map(ToString::to_string),
            list(&self.refs),
            list(&self.events),
            list(&self.workflows),
            self.public_key.as_ref().map(ToString::to_string),
        ];
        let said: Vec<String> = Key::OF_TRUST
            .iter()
            .zip(said)
            .filter_map(|(key, value)| Some(format!("{key} {}", value?)))
            .collect();
        match said.is_empty() {
            true => f.write_str("the default branch"),
            false => f.write_str(&said.join(", ")),
        }
    }
}

pub(super) struct TrustVisitor;

impl<'de> DeserializeSeed<'de> for TrustVisitor {
    type Value = Trust;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Trust, D::Error> {
        source.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TrustVisitor {
    type Value = Trust;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "some of the keys {}", Key::OF_TRUST.join(", "))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Trust, A::Error> {
        let mut trust = Trust::default();
        let mut seen = BTreeSet::new();
        while let Some(word) = map.next_key_seed(KeySeed {
            valid: &Key::OF_TRUST,
            seen: &mut seen,
        })? {
            match word.as_str() {
                "repository" => trust.repository = Some(map.next_value_seed(One::new())?),
                "refs" => trust.refs = Some(map.next_value_seed(Many::filled())?),
                "events" => trust.events = Some(map.next_value_seed(Many::filled())?),
                "workflows" => trust.workflows = Some(map.next_value_seed(Many::filled())?),
                _ => trust.public_key = Some(map.next_value_seed(One::new())?),
            }
        }
        Ok(trust)
    }
}
