//! [`ModuleUnits`] as bytes, for the cache: numbers as LEB128, sorted numbers
//! as differences, texts with their length.

use std::collections::BTreeMap;

use super::{ModuleUnits, Outline, Reach, Span};
use crate::matrix::Fingerprint;

pub(super) fn encode(units: &ModuleUnits) -> Vec<u8> {
    let mut out = Vec::new();
    put_reach(&mut out, units.skeleton, &units.skeleton_reach);
    put(&mut out, units.code.len() as u64);
    for (name, print) in &units.code {
        put_text(&mut out, name);
        put_reach(&mut out, *print, &units.code_reach[name]);
    }
    let outline = &units.outline;
    put(&mut out, outline.lines.into());
    put(&mut out, outline.spans.len() as u64);
    let names: Vec<&String> = units.code.keys().collect();
    for span in &outline.spans {
        put(&mut out, span.first.into());
        put(&mut out, span.body.into());
        put(&mut out, span.last.into());
        let at = names.partition_point(|name| **name < span.unit);
        put(&mut out, at as u64);
    }
    put(&mut out, outline.definitions.len() as u64);
    for (line, hash) in &outline.definitions {
        put(&mut out, (*line).into());
        put(&mut out, (*hash).into());
    }
    put_sorted(&mut out, &outline.evaluators);
    out
}

/// `None` if `bytes` are not an encoding.
pub(super) fn decode(bytes: &[u8]) -> Option<ModuleUnits> {
    let mut input = Input(bytes);
    let (skeleton, skeleton_reach) = input.reach()?;
    let mut code = BTreeMap::new();
    let mut code_reach = BTreeMap::new();
    for _ in 0..input.count()? {
        let name = input.text()?;
        let (print, reach) = input.reach()?;
        code.insert(name.clone(), print);
        code_reach.insert(name, reach);
    }
    let names: Vec<&String> = code.keys().collect();
    let mut outline = Outline {
        lines: input.number()?,
        ..Outline::default()
    };
    for _ in 0..input.count()? {
        outline.spans.push(Span {
            first: input.number()?,
            body: input.number()?,
            last: input.number()?,
            unit: names.get(input.number()? as usize)?.to_string(),
        });
    }
    for _ in 0..input.count()? {
        outline.definitions.push((input.number()?, input.number()?));
    }
    outline.evaluators = input.sorted()?;
    input.0.is_empty().then_some(ModuleUnits {
        skeleton,
        code,
        skeleton_reach,
        code_reach,
        outline,
    })
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn put_sorted(out: &mut Vec<u8>, numbers: &[u32]) {
    put(out, numbers.len() as u64);
    let mut before = 0;
    for number in numbers {
        put(out, (number - before).into());
        before = *number;
    }
}

fn put_reach(out: &mut Vec<u8>, print: Fingerprint, reach: &Reach) {
    out.extend_from_slice(&print.0);
    out.push(u8::from(reach.dynamic));
    put_sorted(out, &reach.mentions);
}

/// What is left to decode.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|head| head[0])
    }

    fn number(&mut self) -> Option<u32> {
        let mut number = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number.try_into().ok();
            }
        }
        None
    }

    /// The number of items that follow, each of at least one byte.
    fn count(&mut self) -> Option<usize> {
        let count = self.number()? as usize;
        (count <= self.0.len()).then_some(count)
    }

    fn text(&mut self) -> Option<String> {
        let length = self.count()?;
        String::from_utf8(self.take(length)?.to_vec()).ok()
    }

    fn sorted(&mut self) -> Option<Vec<u32>> {
        let count = self.count()?;
        let mut numbers = Vec::with_capacity(count);
        let mut last = 0u32;
        for _ in 0..count {
            last = last.checked_add(self.number()?)?;
            numbers.push(last);
        }
        Some(numbers)
    }

    fn reach(&mut self) -> Option<(Fingerprint, Reach)> {
        let print = Fingerprint(self.take(16)?.try_into().ok()?);
        let dynamic = match self.byte()? {
            0 => false,
            1 => true,
            _ => return None,
        };
        let mentions = self.sorted()?;
        Some((print, Reach { mentions, dynamic }))
    }
}
