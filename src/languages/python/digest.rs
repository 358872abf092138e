//! The encoding that is digested: every node is a tag followed by its fields;
//! lists and texts carry their length, options a flag. No two trees that
//! differ have the same encoding.

use ruff_python_ast::Int;

/// What follows in the encoding. The numbers are part of
/// [`DIGEST_VERSION`](crate::languages::DIGEST_VERSION).
#[derive(Clone, Copy)]
#[repr(u8)]
pub(super) enum Tag {
    // statements
    FunctionDef = 1,
    ClassDef,
    Return,
    Delete,
    TypeAlias,
    Assign,
    AugAssign,
    AnnAssign,
    For,
    While,
    If,
    With,
    Match,
    Raise,
    Try,
    Assert,
    Import,
    ImportFrom,
    Global,
    Nonlocal,
    ExprStatement,
    Pass,
    Break,
    Continue,
    IpyEscape,
    // parts of statements
    /// A function whose body is a unit of its own.
    Unit,
    Body,
    Arm,
    Otherwise,
    TypeVar,
    TypeVarTuple,
    ParamSpec,
    // patterns
    MatchValue,
    MatchSingleton,
    MatchSequence,
    MatchMapping,
    MatchClass,
    MatchStar,
    MatchAs,
    MatchOr,
    // expressions
    BoolOp,
    Named,
    BinOp,
    UnaryOp,
    Lambda,
    IfExpr,
    Dict,
    Set,
    ListComp,
    SetComp,
    DictComp,
    Generator,
    Await,
    Yield,
    YieldFrom,
    Compare,
    Call,
    FString,
    TString,
    StringLiteral,
    BytesLiteral,
    Boolean,
    NoneLiteral,
    Ellipsis,
    Attribute,
    Subscript,
    Starred,
    Name,
    List,
    Tuple,
    Slice,
    // numbers
    Int,
    LongInt,
    Float,
    Complex,
    // parts of interpolated strings
    Text,
    Interpolation,
    End,
}

/// Integers with more digits are compared by their spelling.
const MAX_DIGITS: usize = 1_000;

/// The encoding of one unit, and the names in it.
#[derive(Default)]
pub(super) struct Sink {
    pub bytes: Vec<u8>,
    /// Hashes of all identifiers, in order of appearance.
    pub mentions: Vec<u32>,
    /// Those of them that any object may be asked for: after a dot, in imports
    /// and in strings, as keywords.
    pub asks: Vec<u32>,
    /// Hashes of the identifiers that are looked up as variables.
    pub loads: Vec<u32>,
    pub dynamic: bool,
    /// Whether it asks `inspect` for what tells only of what it is given.
    pub inspects: bool,
}

impl Sink {
    pub(super) fn tag(&mut self, tag: Tag) {
        self.bytes.push(tag as u8);
    }

    pub(super) fn flag(&mut self, flag: bool) {
        self.bytes.push(u8::from(flag));
    }

    /// A small number that is the same in every version: an operator.
    pub(super) fn code(&mut self, code: u8) {
        self.bytes.push(code);
    }

    pub(super) fn count(&mut self, mut count: usize) {
        while count >= 0x80 {
            self.bytes.push(count as u8 | 0x80);
            count >>= 7;
        }
        self.bytes.push(count as u8);
    }

    pub(super) fn blob(&mut self, blob: &[u8]) {
        self.count(blob.len());
        self.bytes.extend_from_slice(blob);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.blob(text.as_bytes());
    }

    pub(super) fn int(&mut self, int: &Int) {
        if let Some(small) = int.as_u64() {
            self.tag(Tag::Int);
            let bytes = small.to_be_bytes();
            let start = bytes.iter().take_while(|byte| **byte == 0).count();
            return self.blob(&bytes[start..]);
        }
        let spelling = int.to_string().replace('_', "").to_ascii_lowercase();
        match magnitude(&spelling) {
            Some(bytes) => {
                self.tag(Tag::Int);
                self.blob(&bytes);
            }
            None => {
                self.tag(Tag::LongInt);
                self.text(&spelling);
            }
        }
    }

    pub(super) fn float(&mut self, float: f64) {
        self.bytes.extend_from_slice(&float.to_bits().to_be_bytes());
    }
}

/// The value of an integer literal, big-endian, without leading zeros.
fn magnitude(spelling: &str) -> Option<Vec<u8>> {
    let (radix, digits) = match spelling.as_bytes() {
        [b'0', b'x', digits @ ..] => (16, digits),
        [b'0', b'o', digits @ ..] => (8, digits),
        [b'0', b'b', digits @ ..] => (2, digits),
        digits => (10, digits),
    };
    if digits.len() > MAX_DIGITS {
        return None;
    }
    let mut little_endian: Vec<u8> = Vec::new();
    for digit in digits {
        let mut carry = char::from(*digit).to_digit(radix)?;
        for byte in &mut little_endian {
            carry += u32::from(*byte) * radix;
            *byte = carry as u8;
            carry >>= 8;
        }
        if carry > 0 {
            little_endian.push(carry as u8);
        }
    }
    little_endian.reverse();
    Some(little_endian)
}

/// Decoded text of one or more adjacent string literals.
///
/// A lone surrogate (`"\ud800"`) has no place in Rust's strings, where the
/// parser puts U+FFFD for each; `marks` holds what each U+FFFD stands for.
#[derive(Default)]
pub(super) struct Text {
    value: String,
    marks: Vec<u32>,
}

const REPLACEMENT: char = '\u{fffd}';

impl Text {
    /// Adds a literal that was decoded to `value` from the source text `raw`.
    pub(super) fn push(&mut self, value: &str, raw: &str, is_raw: bool) {
        self.value.push_str(value);
        if value.contains(REPLACEMENT) {
            self.marks.extend(replacements(raw, is_raw));
        }
    }

    pub(super) fn push_plain(&mut self, text: &str) {
        self.value.push_str(text);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.value.is_empty()
    }

    pub(super) fn value(&self) -> &str {
        &self.value
    }

    pub(super) fn write(&self, sink: &mut Sink) {
        sink.text(&self.value);
        sink.count(self.marks.len());
        for mark in &self.marks {
            sink.count(*mark as usize);
        }
    }
}

/// What each U+FFFD in the decoded text of `raw` stands for, in order.
fn replacements(raw: &str, is_raw: bool) -> Vec<u32> {
    let mut found = Vec::new();
    let mut rest = raw.chars();
    while let Some(char) = rest.next() {
        let value = match char {
            REPLACEMENT => Some(REPLACEMENT.into()),
            '\\' if !is_raw => match rest.next() {
                Some('u') => code_point(rest.as_str(), 4),
                Some('U') => code_point(rest.as_str(), 8),
                Some('N') => rest
                    .as_str()
                    .get(..23)
                    .filter(|name| name.eq_ignore_ascii_case("{replacement character}"))
                    .map(|_| REPLACEMENT.into()),
                _ => None,
            },
            _ => None,
        };
        found.extend(value.filter(|at| (0xd800..0xe000).contains(at) || *at == 0xfffd));
    }
    found
}

fn code_point(text: &str, digits: usize) -> Option<u32> {
    u32::from_str_radix(text.get(..digits)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::str::FromStr;

    fn int(spelling: &str) -> Vec<u8> {
        let mut sink = Sink::default();
        sink.int(&Int::from_str(spelling).unwrap());
        sink.bytes
    }

    #[test]
    fn integers_are_equal_by_value() {
        let big = "340282366920938463463374607431768211456"; // 2 ** 128
        let mut expected = vec![1];
        expected.extend([0; 16]);
        assert_eq!(magnitude(big), Some(expected.clone()));
        assert_eq!(
            magnitude(&format!("0x1{}", "0".repeat(32))),
            Some(expected.clone())
        );
        assert_eq!(
            magnitude(&format!("0b1{}", "0".repeat(128))),
            Some(expected)
        );
        assert_ne!(int(big), int("340282366920938463463374607431768211457"));
        assert_ne!(int("255"), int("256"));
        let long = "9".repeat(MAX_DIGITS + 1);
        assert_eq!(int(&long), int(&long));
        assert_ne!(int(&long), int(&"8".repeat(MAX_DIGITS + 1)));
    }

    #[test]
    fn surrogates_are_told_apart() {
        assert_eq!(replacements(r"\ud800", false), [0xd800]);
        assert_eq!(replacements(r"\\ud800\U0000DFFF", false), [0xdfff]);
        assert_eq!(replacements(r"\ud800", true), Vec::<u32>::new());
        assert_eq!(
            replacements("\u{fffd}\\N{Replacement Character}\\ufffd\\u00e9", false),
            [0xfffd; 3]
        );
    }
}
