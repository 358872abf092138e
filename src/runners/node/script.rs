//! Which function of a source each function of a script is that vite made of it.

use std::collections::{BTreeMap, BTreeSet};

use oxc_sourcemap::SourceMap;

use crate::languages::{JsFunction, JsSource};

/// A script as V8 ran it, beside its source.
pub(super) struct Script {
    functions: Vec<Function>,
    classes: Vec<(u32, u32)>,
    /// For each place, counted as V8 does, the one in bytes; nothing if they are the same.
    bytes: Option<Vec<u32>>,
    length: u32,
}

/// A function of the script, and those of the source that it runs: by their place among these.
struct Function {
    start: u32,
    parameters: u32,
    end: u32,
    runs: Vec<usize>,
}

/// A function that ran, where V8 says that it is.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
pub(super) struct Range {
    pub start: u32,
    pub end: u32,
    /// Whether it has the name of those that V8 makes for the fields of a class.
    pub is_of_fields: bool,
}

/// What stands before the map of a script in it.
const MAP: &str = "//# sourceMappingURL=data:application/json;";
const ENCODED: &str = "base64,";

/// Where the code of a module begins in the function that vitest puts around it.
const WRAPPED: &str = "=>{{";

impl Script {
    /// `text` is the source of the script, and `source` what that is made of. `None` if it cannot be
    /// told for all functions of the source where they are.
    pub(super) fn of(code: &str, text: &str, source: &JsSource) -> Option<Script> {
        let shape = crate::languages::parsed_js(code.as_bytes(), b"script.cjs")?;
        if shape.whole.is_some() || source.whole.is_some() {
            return None;
        }
        let places = places(code, text)?;
        let owners = Owners::of(&places, &shape, source);
        let module = begins_at(code);
        let mut found = BTreeSet::new();
        let mut functions = Vec::with_capacity(shape.functions.len());
        for (number, one) in shape.functions.iter().enumerate() {
            let own = &owners.of_script[number];
            // What vitest puts around a module is no function of it.
            let is_around = one.start < module;
            let first = own.first().filter(|_| !is_around);
            let runs = match first.and_then(|first| owners.begins(*first)) {
                Some(is) => {
                    let (here, there) = (&one.own_name, &source.functions[is].own_name);
                    if here != there && !here.is_empty() && !there.is_empty() {
                        return None;
                    }
                    found.insert(is);
                    vec![is]
                }
                // What was made in addition: it runs code of these.
                None => own
                    .iter()
                    .filter_map(|at| owners.of_source.get(at).copied())
                    .collect(),
            };
            functions.push(Function {
                start: one.start,
                parameters: one.parameters,
                end: one.end,
                runs,
            });
        }
        if found.len() < source.functions.len() {
            return None;
        }
        Some(Script {
            functions,
            classes: shape.classes,
            bytes: bytes_of(code),
            length: u32::try_from(code.len()).ok()?,
        })
    }

    /// The functions of the source that ran; `None` if that cannot be told.
    pub(super) fn ran(&self, ranges: &[Range]) -> Option<BTreeSet<usize>> {
        let mut ran = BTreeSet::new();
        for range in ranges {
            let (start, end) = (self.byte(range.start)?, self.byte(range.end)?);
            if (start, end) == (0, self.length) {
                continue;
            }
            let is_meant =
                |one: &&Function| one.end == end && one.start <= start && start <= one.parameters;
            match self.functions.iter().rev().find(is_meant) {
                Some(function) => ran.extend(&function.runs),
                // Fields of a class, and constructors that nobody wrote.
                None if range.is_of_fields || self.classes.contains(&(start, end)) => {}
                None => return None,
            }
        }
        Some(ran)
    }

    fn byte(&self, at: u32) -> Option<u32> {
        match &self.bytes {
            None => Some(at),
            Some(bytes) => bytes.get(at as usize).copied(),
        }
    }
}

/// Where something of a script is, and where in its source that comes from, in bytes.
type Places = Vec<(u32, u32)>;

/// What the map in a script says; `None` if it is not of this source, or nobody can tell.
fn places(code: &str, text: &str) -> Option<Places> {
    let at = code.rfind(MAP)?;
    let map = &code[at + MAP.len()..];
    let map = &map[map.find(ENCODED)? + ENCODED.len()..];
    let map = map.split(|other: char| other.is_whitespace()).next()?;
    let json = base64_simd::STANDARD.decode_to_vec(map).ok()?;
    let json = String::from_utf8(json).ok()?;
    let map = SourceMap::from_json_string(&json).ok()?;
    let mut sources = map.get_source_contents();
    let (Some(Some(content)), None) = (sources.next(), sources.next()) else {
        return None;
    };
    if content != text {
        return None;
    }
    let (lines, source_lines) = (lines(code)?, lines(text)?);
    let before = &code[..begins_at(code) as usize];
    let before = u32::try_from(before.encode_utf16().count()).ok()?;
    let mut places = Vec::new();
    for token in map
        .get_tokens()
        .filter(|token| token.get_source_id().is_some())
    {
        let shift = if token.get_dst_line() == 0 { before } else { 0 };
        let here = place(&lines, token.get_dst_line(), token.get_dst_col() + shift);
        let there = place(&source_lines, token.get_src_line(), token.get_src_col());
        places.extend(here.zip(there));
    }
    places.sort_unstable();
    Some(places)
}

/// Where the code of a module begins in its script, in bytes.
fn begins_at(code: &str) -> u32 {
    let first = code.lines().next().unwrap_or_default();
    let at = first.find(WRAPPED).map_or(0, |at| at + WRAPPED.len());
    u32::try_from(at).unwrap_or(0)
}

/// Where the lines of a text begin, and their texts; `None` if tools count them in different ways.
fn lines(text: &str) -> Option<Vec<(u32, &str)>> {
    let bare = text.replace("\r\n", "\n");
    if bare.contains(['\r', '\u{2028}', '\u{2029}']) {
        return None;
    }
    let mut start = 0;
    let mut lines = Vec::new();
    for line in text.split('\n') {
        lines.push((u32::try_from(start).ok()?, line));
        start += line.len() + 1;
    }
    Some(lines)
}

/// The place in bytes of a column of a line.
fn place(lines: &[(u32, &str)], line: u32, column: u32) -> Option<u32> {
    let (start, text) = lines.get(line as usize)?;
    if text.is_ascii() {
        return (column as usize <= text.len()).then_some(start + column);
    }
    let mut left = column as usize;
    for (at, one) in text.char_indices() {
        if left == 0 {
            return Some(start + u32::try_from(at).ok()?);
        }
        left = left.checked_sub(one.len_utf16())?;
    }
    (left == 0).then_some(start + u32::try_from(text.len()).ok()?)
}

/// In which functions places are, without those inside of them.
struct Owners {
    /// For each function of the script the places of the source that it has code of, in its order.
    of_script: Vec<Vec<u32>>,
    /// For places of the source, the function.
    of_source: BTreeMap<u32, usize>,
    /// For functions of the source, the first of their places.
    first: BTreeMap<usize, u32>,
}

impl Owners {
    fn of(places: &Places, shape: &JsSource, source: &JsSource) -> Owners {
        let mut of_script = vec![Vec::new(); shape.functions.len()];
        let mut of_source = BTreeMap::new();
        let mut first = BTreeMap::new();
        for (here, there) in places {
            if let Some(owner) = innermost(&shape.functions, *here) {
                of_script[owner].push(*there);
            }
            if let Some(owner) = innermost(&source.functions, *there) {
                of_source.insert(*there, owner);
                let first = first.entry(owner).or_insert(*there);
                *first = (*first).min(*there);
            }
        }
        Owners {
            of_script,
            of_source,
            first,
        }
    }

    /// The function of the source that begins with a place.
    fn begins(&self, there: u32) -> Option<usize> {
        let owner = self.of_source.get(&there)?;
        (self.first.get(owner) == Some(&there)).then_some(*owner)
    }
}

fn innermost(functions: &[JsFunction], at: u32) -> Option<usize> {
    let functions = functions.iter().enumerate();
    let around = functions.filter(|(_, one)| one.start <= at && at < one.end);
    let innermost = around.max_by_key(|(_, one)| one.start);
    innermost.map(|(number, _)| number)
}

/// For each place of a text in units of UTF-16, the one in bytes; `None` if they are the same.
fn bytes_of(text: &str) -> Option<Vec<u32>> {
    if text.is_ascii() {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    for (at, one) in text.char_indices() {
        for _ in 0..one.len_utf16() {
            bytes.push(at as u32);
        }
    }
    bytes.push(text.len() as u32);
    Some(bytes)
}

#[cfg(test)]
mod tests;
