//! How much a YAML document is once its aliases are followed. A short file can
//! say more than fits into memory: each alias repeats what its anchor holds.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess};
use serde::de::{VariantAccess, Visitor};

/// So much may any file say, however short it is.
const ALWAYS: usize = 1 << 16;

/// Whether the first document of `text` says much more than the text has bytes.
/// Other mistakes are for others to find.
pub(super) fn repeats_too_much(text: &str) -> bool {
    let mut left = Some(2 * text.len() + ALWAYS);
    if let Some(document) = serde_yaml::Deserializer::from_str(text).next() {
        let _ = Weight { left: &mut left }.deserialize(document);
    }
    left.is_none()
}

/// Visits a document and keeps nothing of it; `left` is how many more values, and
/// bytes in them, it may have, and `None` once it has more.
struct Weight<'a> {
    left: &'a mut Option<usize>,
}

impl Weight<'_> {
    fn take<E: de::Error>(&mut self, bytes: usize) -> Result<(), E> {
        *self.left = self.left.and_then(|left| left.checked_sub(bytes + 1));
        self.left.map(drop).ok_or_else(|| E::custom("too much"))
    }

    fn again(&mut self) -> Weight<'_> {
        Weight { left: self.left }
    }
}

impl<'de> DeserializeSeed<'de> for Weight<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Weight<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: de::Error>(mut self, _: bool) -> Result<(), E> {
        self.take(0)
    }

    fn visit_i64<E: de::Error>(mut self, _: i64) -> Result<(), E> {
        self.take(0)
    }

    fn visit_u64<E: de::Error>(mut self, _: u64) -> Result<(), E> {
        self.take(0)
    }

    fn visit_i128<E: de::Error>(mut self, _: i128) -> Result<(), E> {
        self.take(0)
    }

    fn visit_u128<E: de::Error>(mut self, _: u128) -> Result<(), E> {
        self.take(0)
    }

    fn visit_f64<E: de::Error>(mut self, _: f64) -> Result<(), E> {
        self.take(0)
    }

    fn visit_str<E: de::Error>(mut self, text: &str) -> Result<(), E> {
        self.take(text.len())
    }

    fn visit_unit<E: de::Error>(mut self) -> Result<(), E> {
        self.take(0)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        self.take(0)?;
        while items.next_element_seed(self.again())?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        self.take(0)?;
        while map.next_key_seed(self.again())?.is_some() {
            map.next_value_seed(self.again())?;
        }
        Ok(())
    }

    /// A value with a tag.
    fn visit_enum<A: EnumAccess<'de>>(mut self, data: A) -> Result<(), A::Error> {
        let ((), value) = data.variant_seed(self.again())?;
        value.newtype_variant_seed(self)
    }
}
