//! How much a YAML document asks of its reader. Once its aliases are followed, a short
//! file can say more than fits into memory: each alias repeats what its anchor holds.
//! And for each word the reader looks at every `[` and `{` that is open, so that a file
//! of nothing else takes a time that grows with the square of its length.

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

/// So many lists and maps may lie in one another.
pub(super) const MOST_NESTED: usize = 128;

/// What the reader may be asked: bytes, each with so many that are open.
const MOST_LOOKS: usize = 100_000_000;

/// Whether lists and maps of `text` in brackets may lie in one another so deeply that
/// reading them takes long. All of it is told from signs alone, and rather too deep: a
/// bracket in quotes opens one, and after quotes none is known to end. So where
/// quotes are, files may hold as many as their length allows.
pub(super) fn nests_too_deeply(text: &str) -> bool {
    let (mut open, mut most, mut is_sure) = (0usize, 0, true);
    // What YAML takes for the end of a line.
    let ends = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];
    for line in text.split(ends).map(str::trim) {
        // Where nothing is open, such lines open nothing.
        if open == 0 && (line.starts_with('#') || is_quoted(line)) {
            continue;
        }
        for byte in line.bytes() {
            match byte {
                b'[' | b'{' => open += 1,
                b']' | b'}' if is_sure => open = open.saturating_sub(1),
                // What follows may be text, a comment or a name.
                b'"' | b'\'' | b'#' | b'!' | b'%' => is_sure = false,
                _ => {}
            }
            most = most.max(open);
        }
    }
    most > MOST_NESTED && (is_sure || most.saturating_mul(text.len()) > MOST_LOOKS)
}

/// Whether a line is one text in quotes, as an item of a list.
fn is_quoted(line: &str) -> bool {
    let text = line.strip_prefix("- ").unwrap_or(line).trim_start();
    ['"', '\''].into_iter().any(|quote| {
        let inner = text
            .strip_prefix(quote)
            .and_then(|text| text.strip_suffix(quote));
        inner.is_some_and(|inner| !inner.contains([quote, '\\']))
    })
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
