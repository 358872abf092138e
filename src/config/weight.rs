//! Limits the work that a YAML document causes. With its aliases followed, a short file can
//! need more than the memory: each alias repeats the content of its anchor. And for each word
//! the reader looks at every open `[` and `{`, so a file of brackets takes time that grows
//! with the square of its length.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess};
use serde::de::{VariantAccess, Visitor};

/// Every file may have this much content, however short it is.
const ALWAYS: usize = 1 << 16;

/// Whether the first document of `text` has much more content than the text has bytes. Other
/// errors are found elsewhere.
pub(super) fn repeats_too_much(text: &str) -> bool {
    let mut left = Some(2 * text.len() + ALWAYS);
    if let Some(document) = serde_yaml::Deserializer::from_str(text).next() {
        let _ = Weight { left: &mut left }.deserialize(document);
    }
    left.is_none()
}

/// The deepest nesting of lists and maps.
pub(super) const MOST_NESTED: usize = 128;

/// The most work of the reader: the sum over all bytes of the open brackets.
const MOST_LOOKS: usize = 100_000_000;

/// Whether lists and maps in brackets may be nested so deeply in `text` that reading takes
/// long. It only looks at characters, and rather estimates too deep: a bracket in quotes
/// counts as open, and after quotes no bracket counts as closed. So files with quotes may have
/// as many brackets as their length allows.
pub(super) fn nests_too_deeply(text: &str) -> bool {
    let (mut open, mut most, mut is_sure) = (0usize, 0, true);
    // The line ends of YAML.
    let ends = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];
    for line in text.split(ends).map(str::trim) {
        // If nothing is open, such a line opens nothing.
        if open == 0 && (line.starts_with('#') || is_quoted(line)) {
            continue;
        }
        for byte in line.bytes() {
            match byte {
                b'[' | b'{' => open += 1,
                b']' | b'}' if is_sure => open = open.saturating_sub(1),
                // The rest may be text, a comment or a name.
                b'"' | b'\'' | b'#' | b'!' | b'%' => is_sure = false,
                _ => {}
            }
            most = most.max(open);
        }
    }
    most > MOST_NESTED && (is_sure || most.saturating_mul(text.len()) > MOST_LOOKS)
}

/// Whether a line is one quoted text, as an item of a list.
fn is_quoted(line: &str) -> bool {
    let text = line.strip_prefix("- ").unwrap_or(line).trim_start();
    ['"', '\''].into_iter().any(|quote| {
        let inner = text
            .strip_prefix(quote)
            .and_then(|text| text.strip_suffix(quote));
        inner.is_some_and(|inner| !inner.contains([quote, '\\']))
    })
}

/// Visits a document without keeping it. `left` is the content (values and their bytes) that
/// is still allowed, and `None` when it was exceeded.
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
