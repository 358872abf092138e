//! The small encodings that stored files are made of: LEB128 integers, sorted
//! id lists as gaps, sorted texts as shared prefix and rest.

use std::cmp::Ordering;

use super::Refusal;

pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Maps small integers of either sign to small unsigned ones.
pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// A strictly ascending list: its length, its first id, then gaps less one.
pub(crate) fn put_ids(out: &mut Vec<u8>, ids: &[u32]) {
    put_varint(out, ids.len() as u64);
    let mut least = 0;
    for id in ids {
        put_varint(out, u64::from(*id) - least);
        least = u64::from(*id) + 1;
    }
}

/// `text` as the length of the prefix that it shares with `before`, the length
/// of the rest, and the rest.
pub(crate) fn put_text(out: &mut Vec<u8>, before: &[u8], text: &[u8]) {
    let shared = before
        .iter()
        .zip(text)
        .take_while(|(left, right)| left == right)
        .count();
    put_varint(out, shared as u64);
    put_varint(out, (text.len() - shared) as u64);
    out.extend_from_slice(&text[shared..]);
}

/// Reads one section from front to back; running out of bytes is malformed,
/// since a section's length was checked before.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Some varints of an id list, side by side.
struct ShortGaps {
    bytes: usize,
    gaps: u64,
    sum: u64,
}

#[cold]
fn short() -> Refusal {
    Refusal::malformed("a section ends within a value")
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Refusal> {
        let byte = *self.bytes.get(self.at).ok_or_else(short)?;
        self.at += 1;
        Ok(byte)
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], Refusal> {
        let end = self.at.checked_add(len).ok_or_else(short)?;
        let slice = self.bytes.get(self.at..end).ok_or_else(short)?;
        self.at = end;
        Ok(slice)
    }

    #[inline]
    pub(crate) fn varint(&mut self) -> Result<u64, Refusal> {
        match self.bytes.get(self.at) {
            Some(byte) if *byte < 0x80 => {
                self.at += 1;
                Ok(u64::from(*byte))
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Result<u64, Refusal> {
        let mut value = 0u64;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Refusal::malformed("an integer is longer than 63 bits"))
    }

    /// A varint that must be below `bound`.
    #[inline]
    pub(crate) fn below(&mut self, bound: usize, what: &'static str) -> Result<usize, Refusal> {
        let value = self.varint()?;
        if value >= bound as u64 {
            return Err(Refusal::malformed(format!("{what} out of range")));
        }
        Ok(value as usize)
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, Refusal> {
        u32::try_from(self.varint()?)
            .map_err(|_| Refusal::malformed(format!("{what} out of range")))
    }

    /// Calls `each` with every id of a list written by [`put_ids`]; all are
    /// below `bound`. Returns how many there were.
    #[inline]
    pub(crate) fn ids(
        &mut self,
        bound: usize,
        mut each: impl FnMut(u32),
    ) -> Result<usize, Refusal> {
        let count = self.varint()?;
        if count > bound as u64 {
            return Err(Refusal::malformed("a set has more ids than there are"));
        }
        let mut least = 0u64;
        for _ in 0..count {
            let gap = self.gap()?;
            let id = least + gap;
            if id >= bound as u64 {
                return Err(Refusal::malformed("an id is out of range"));
            }
            each(id as u32);
            least = id + 1;
        }
        Ok(count as usize)
    }

    /// Replaces `text` by the text that [`put_text`] wrote after it, or after
    /// none unless `continues`.
    pub(crate) fn next_text(&mut self, text: &mut Vec<u8>, continues: bool) -> Result<(), Refusal> {
        let before = if continues { text.len() } else { 0 };
        let (shared, rest) = self.text_parts(before)?;
        text.truncate(shared);
        text.extend_from_slice(rest);
        Ok(())
    }

    /// A varint of an id list: two bytes hold most of them.
    #[inline]
    fn gap(&mut self) -> Result<u64, Refusal> {
        match self.bytes.get(self.at..self.at + 2) {
            Some([low, _]) if *low < 0x80 => {
                self.at += 1;
                Ok(u64::from(*low))
            }
            Some([low, high]) if *high < 0x80 => {
                self.at += 2;
                Ok(u64::from(*low & 0x7f) | u64::from(*high) << 7)
            }
            _ => self.varint(),
        }
    }

    /// Calls `found` with the ids of a list that are among `wanted`, both
    /// ascending and below `bound`. Returns how many ids the list has.
    ///
    /// Selection spends its time here: up to eight ids at a time are passed
    /// over where none can be wanted.
    pub(crate) fn ids_among(
        &mut self,
        bound: usize,
        wanted: &[u32],
        mut found: impl FnMut(u32),
    ) -> Result<usize, Refusal> {
        let count = self.varint()?;
        if count > bound as u64 {
            return Err(Refusal::malformed("a set has more ids than there are"));
        }
        let bound = bound as u64;
        // The next one wanted; at the end, `bound`, which no id reaches.
        let mut wanted = wanted.iter().map(|id| u64::from(*id));
        let mut next = wanted.next().unwrap_or(bound);
        let mut least = 0u64;
        let mut left = count;
        while left > 0 {
            if let Some(passed) = self.short_gaps()
                && passed.gaps <= left
                && least + passed.sum + passed.gaps <= next
            {
                least += passed.sum + passed.gaps;
                left -= passed.gaps;
                self.at += passed.bytes;
                continue;
            }
            let id = least + self.gap()?;
            if id >= bound {
                return Err(Refusal::malformed("an id is out of range"));
            }
            while next < id {
                next = wanted.next().unwrap_or(bound);
            }
            if next == id {
                found(id as u32);
            }
            least = id + 1;
            left -= 1;
        }
        Ok(count as usize)
    }

    /// The varints of one and two bytes that end within the next eight bytes;
    /// `None` if none ends there, if one is longer, or near the section's end.
    #[inline]
    fn short_gaps(&self) -> Option<ShortGaps> {
        const HIGH: u64 = 0x8080_8080_8080_8080;
        const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
        let eight = self.bytes.get(self.at..)?.first_chunk::<8>()?;
        let word = u64::from_le_bytes(*eight);
        let unused = (!word & HIGH).leading_zeros();
        if unused == 64 {
            return None;
        }
        let word = word & u64::MAX >> unused;
        let goes_on = word & HIGH;
        // All ones in each byte that is the second of its varint.
        let second = (goes_on << 1).wrapping_mul(0xff);
        if goes_on & second != 0 {
            return None;
        }
        let payload = word & !HIGH;
        let (first, second) = (payload & !second, payload & second);
        // Two bytes of a lane hold at most one second one: no lane overflows,
        // and neither does their sum.
        let lanes =
            (first & EVEN) + (first >> 8 & EVEN) + ((second & EVEN | second >> 8 & EVEN) << 7);
        let bytes = (64 - unused) / 8;
        // Multiplying adds the bytes up, or the lanes: without `popcnt`,
        // counting ones takes thrice as long.
        let open = (goes_on >> 7).wrapping_mul(0x0101_0101_0101_0101) >> 56;
        Some(ShortGaps {
            bytes: bytes as usize,
            gaps: u64::from(bytes) - open,
            sum: lanes.wrapping_mul(0x0001_0001_0001_0001) >> 48,
        })
    }

    /// A text that [`put_text`] wrote after one of `before` bytes: how many of
    /// them it shares, and the rest.
    pub(crate) fn text_parts(&mut self, before: usize) -> Result<(usize, &'a [u8]), Refusal> {
        let shared = self.below(before + 1, "a shared prefix")?;
        let rest = self.varint()?;
        let rest = self.take(usize::try_from(rest).map_err(|_| short())?)?;
        Ok((shared, rest))
    }

    /// How far it has read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Appends to `flat` the text that [`put_text`] wrote after the text
    /// `flat[before..]`; `flat` may not grow beyond `most` bytes.
    pub(crate) fn text(
        &mut self,
        flat: &mut Vec<u8>,
        before: std::ops::Range<usize>,
        most: usize,
    ) -> Result<(), Refusal> {
        let (shared, rest) = self.text_parts(before.len())?;
        if flat.len() + shared + rest.len() > most {
            return Err(Refusal::malformed("texts are longer than declared"));
        }
        flat.extend_from_within(before.start..before.start + shared);
        flat.extend_from_slice(rest);
        Ok(())
    }

    pub(crate) fn is_done(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Refuses bytes that nothing asked for.
    pub(crate) fn finish(&self) -> Result<(), Refusal> {
        match self.is_done() {
            true => Ok(()),
            false => Err(Refusal::malformed("a section is longer than its content")),
        }
    }
}

/// Texts in one buffer: no allocation for each of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Texts {
    /// Room for `count` texts of `total` bytes together; both were checked
    /// against limits, and against the size of what they are read from.
    pub(crate) fn with_capacity(count: usize, total: usize) -> Texts {
        Texts {
            bytes: Vec::with_capacity(total),
            ends: Vec::with_capacity(count),
        }
    }

    /// Reads `count` strictly ascending texts of `total` bytes together.
    pub(crate) fn read_sorted(
        reader: &mut Reader<'_>,
        count: usize,
        total: usize,
        what: &'static str,
    ) -> Result<Texts, Refusal> {
        let mut texts = Texts::with_capacity(count, total);
        for index in 0..count {
            texts.read_next(reader, index > 0, total)?;
            if index > 0 && texts.get(index - 1) >= texts.get(index) {
                return Err(Refusal::malformed(format!("{what} are not sorted")));
            }
        }
        texts.check_total(total)?;
        Ok(texts)
    }

    /// Reads one text, after the last one if `continues`.
    pub(crate) fn read_next(
        &mut self,
        reader: &mut Reader<'_>,
        continues: bool,
        total: usize,
    ) -> Result<(), Refusal> {
        let end = self.bytes.len();
        let before = match continues {
            true => self.start(self.ends.len() - 1)..end,
            false => end..end,
        };
        reader.text(&mut self.bytes, before, total)?;
        self.ends.push(self.bytes.len() as u32);
        Ok(())
    }

    pub(crate) fn check_total(&self, total: usize) -> Result<(), Refusal> {
        match self.bytes.len() == total {
            true => Ok(()),
            false => Err(Refusal::malformed("texts are shorter than declared")),
        }
    }

    /// The same as text; refused unless each by itself is UTF-8.
    pub(crate) fn into_strs(self, what: &'static str) -> Result<Strs, Refusal> {
        let bad = || Refusal::malformed(format!("{what} are not UTF-8"));
        let text = String::from_utf8(self.bytes).map_err(|_| bad())?;
        let whole = |end: &u32| text.is_char_boundary(*end as usize);
        if !self.ends.iter().all(whole) {
            return Err(bad());
        }
        Ok(Strs {
            text,
            ends: self.ends,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    fn start(&self, index: usize) -> usize {
        match index {
            0 => 0,
            _ => self.ends[index - 1] as usize,
        }
    }

    pub(crate) fn get(&self, index: usize) -> &[u8] {
        &self.bytes[self.start(index)..self.ends[index] as usize]
    }

    /// The first text that is not before `text`, if these texts are sorted.
    pub(crate) fn first_from(&self, text: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle) < text {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    /// Where `text` is, if these texts are sorted.
    pub(crate) fn find(&self, text: &[u8]) -> Option<usize> {
        find(self.len(), |index| self.get(index).cmp(text))
    }
}

/// [`Texts`] that are UTF-8.
#[derive(Clone, Debug)]
pub(crate) struct Strs {
    text: String,
    ends: Vec<u32>,
}

impl Strs {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, index: usize) -> &str {
        let start = match index {
            0 => 0,
            _ => self.ends[index - 1] as usize,
        };
        &self.text[start..self.ends[index] as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Where `text` is, if these texts are sorted.
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        find(self.len(), |index| self.get(index).cmp(text))
    }
}

/// Binary search among `len` things.
fn find(len: usize, compare: impl Fn(usize) -> Ordering) -> Option<usize> {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        match compare(middle) {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => return Some(middle),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn integers_come_back(value in 0..1u64 << 63, signed in any::<i32>()) {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(reader.varint().unwrap(), value);
            prop_assert!(reader.is_done());
            prop_assert_eq!(unzigzag(zigzag(i64::from(signed))), i64::from(signed));
        }

        #[test]
        fn sorted_texts_come_back_and_are_found(
            texts in proptest::collection::btree_set("[a-c/é]{0,6}", 0..20),
        ) {
            let texts: Vec<String> = texts.into_iter().collect();
            let mut bytes = Vec::new();
            let mut before: &[u8] = b"";
            for text in &texts {
                put_text(&mut bytes, before, text.as_bytes());
                before = text.as_bytes();
            }
            let total = texts.iter().map(String::len).sum();
            let mut reader = Reader::new(&bytes);
            let read = Texts::read_sorted(&mut reader, texts.len(), total, "texts").unwrap();
            for (index, text) in texts.iter().enumerate() {
                prop_assert_eq!(read.find(text.as_bytes()), Some(index));
            }
            prop_assert_eq!(read.find(b"zz"), None);
            let read = read.into_strs("texts").unwrap();
            for (index, text) in texts.iter().enumerate() {
                prop_assert_eq!(read.get(index), text);
                prop_assert_eq!(read.find(text), Some(index));
            }
            prop_assert!(read.iter().eq(&texts));
        }
    }

    proptest! {
        #[test]
        fn wanted_ids_are_found(
            lists in proptest::collection::vec(
                proptest::collection::btree_set(0u32..2_000, 0..600), 1..6),
            spread in 1u32..40,
            wanted in proptest::collection::btree_set(0u32..80_000, 0..300),
            hits in proptest::collection::vec(any::<prop::sample::Index>(), 0..4),
        ) {
            let lists: Vec<Vec<u32>> = lists
                .iter()
                .map(|list| list.iter().map(|id| id * spread).collect())
                .collect();
            let mut wanted = wanted;
            let all: Vec<u32> = lists.iter().flatten().copied().collect();
            if !all.is_empty() {
                wanted.extend(hits.iter().map(|hit| all[hit.index(all.len())]));
            }
            let wanted: Vec<u32> = wanted.into_iter().collect();
            let mut bytes = Vec::new();
            for list in &lists {
                put_ids(&mut bytes, list);
            }
            let mut reader = Reader::new(&bytes);
            for list in &lists {
                let mut found = Vec::new();
                let count = reader.ids_among(80_000, &wanted, |id| found.push(id));
                prop_assert_eq!(count, Ok(list.len()));
                let here: Vec<u32> =
                    list.iter().copied().filter(|id| wanted.contains(id)).collect();
                prop_assert_eq!(found, here);
            }
            prop_assert!(reader.is_done());
            // What the whole list may hold, no list of it may go beyond.
            for list in lists.iter().filter(|list| !list.is_empty()) {
                let mut bytes = Vec::new();
                put_ids(&mut bytes, list);
                let last = list[list.len() - 1] as usize;
                let read = |bound| Reader::new(&bytes).ids_among(bound, &[], |_| ());
                prop_assert!(read(last + 1).is_ok());
                prop_assert!(read(last).is_err());
            }
        }
    }

    #[test]
    fn an_endless_integer_is_refused() {
        assert!(Reader::new(&[0xff; 20]).varint().is_err());
        assert!(Reader::new(&[0x80]).varint().is_err());
    }

    #[test]
    fn ids_out_of_range_are_refused() {
        let mut bytes = Vec::new();
        put_ids(&mut bytes, &[1, 5]);
        assert_eq!(Reader::new(&bytes).ids(6, |_| ()).unwrap(), 2);
        assert!(Reader::new(&bytes).ids(5, |_| ()).is_err());
    }
}
