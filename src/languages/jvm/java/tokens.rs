//! The tokens of a Java source (JLS 3). Comments and white space are gone, but for
//! one thing: a documentation comment with `@deprecated` marks what follows it in
//! the class file.

use super::Unreadable;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier or a keyword.
    Word,
    Literal,
    /// One or two signs that belong together.
    Sign,
    /// A documentation comment that deprecates.
    Deprecated,
    /// One that may, or not.
    Comment,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    start: u32,
    end: u32,
}

/// A source in tokens.
pub(super) struct Tokens {
    text: Vec<u8>,
    all: Vec<Token>,
}

/// Signs of two characters that mean something else than both with a space between
/// them. Signs that begin with `<` or `>` are left as they are: no program has both
/// meanings.
const PAIRS: [&[u8]; 16] = [
    b"++", b"--", b"+=", b"-=", b"*=", b"/=", b"%=", b"&=", b"|=", b"^=", b"==", b"!=", b"&&",
    b"||", b"->", b"::",
];

impl Tokens {
    /// # Errors
    /// If this is no Java that is understood.
    pub(super) fn read(source: &[u8]) -> Result<Tokens, Unreadable> {
        // UTF-16, say.
        if source.contains(&0) || u32::try_from(source.len()).is_err() {
            return Err(Unreadable("it is in an encoding that is not understood"));
        }
        let mut lexer = Lexer {
            text: unescape(source),
            at: 0,
        };
        let mut all = Vec::with_capacity(lexer.text.len() / 6);
        while let Some(token) = lexer.next()? {
            all.push(token);
        }
        Ok(Tokens {
            text: lexer.text,
            all,
        })
    }

    pub(super) fn all(&self) -> &[Token] {
        &self.all
    }

    pub(super) fn text(&self, token: Token) -> &[u8] {
        match token.kind {
            Kind::Deprecated => b"@deprecated",
            _ => &self.text[token.start as usize..token.end as usize],
        }
    }
}

/// Unicode escapes are read before all else (JLS 3.3).
fn unescape(source: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(source.len());
    let mut at = 0;
    while at < source.len() {
        let rest = &source[at..];
        if rest[0] != b'\\' {
            text.push(rest[0]);
            at += 1;
        } else if let Some((value, len)) = letter(rest) {
            put(&mut text, value);
            at += len;
        } else {
            // What follows a backslash is not the beginning of an escape.
            let both = rest.len().min(2);
            text.extend_from_slice(&rest[..both]);
            at += both;
        }
    }
    text
}

/// An escape, or two that are the halves of a pair.
fn letter(text: &[u8]) -> Option<(u32, usize)> {
    let (high, len) = escape(text)?;
    let low = text.get(len..).filter(|rest| rest.starts_with(b"\\"));
    let low = low.and_then(escape);
    Some(match low {
        Some((low @ 0xdc00..0xe000, more)) if (0xd800..0xdc00).contains(&high) => (
            0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00),
            len + more,
        ),
        _ => (high, len),
    })
}

/// `\u0041`, with any number of `u`: its value and length.
fn escape(text: &[u8]) -> Option<(u32, usize)> {
    let marks = text[1..].iter().take_while(|byte| **byte == b'u').count();
    let digits = text.get(1 + marks..5 + marks).filter(|_| marks > 0)?;
    let digits = std::str::from_utf8(digits).ok()?;
    let value = u32::from_str_radix(digits, 16).ok()?;
    Some((value, 5 + marks))
}

/// As UTF-8; halves of pairs that are alone, too.
fn put(text: &mut Vec<u8>, value: u32) {
    match value {
        0..0x80 => text.push(value as u8),
        0x80..0x800 => text.extend([0xc0 | (value >> 6) as u8, 0x80 | (value & 0x3f) as u8]),
        0x10000.. => text.extend([
            0xf0 | (value >> 18) as u8,
            0x80 | (value >> 12 & 0x3f) as u8,
            0x80 | (value >> 6 & 0x3f) as u8,
            0x80 | (value & 0x3f) as u8,
        ]),
        _ => text.extend([
            0xe0 | (value >> 12) as u8,
            0x80 | (value >> 6 & 0x3f) as u8,
            0x80 | (value & 0x3f) as u8,
        ]),
    }
}

struct Lexer {
    text: Vec<u8>,
    at: usize,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn next(&mut self) -> Result<Option<Token>, Unreadable> {
        loop {
            let start = self.at;
            let kind = match self.peek(0) {
                0 if start >= self.text.len() => return Ok(None),
                // The last is what ends a text on old systems.
                b' ' | b'\t' | b'\n' | b'\r' | 0x0c | 0x1a => {
                    self.at += 1;
                    continue;
                }
                b'/' if self.peek(1) == b'/' => {
                    while !matches!(self.peek(0), b'\n' | b'\r') && self.at < self.text.len() {
                        self.at += 1;
                    }
                    continue;
                }
                b'/' if self.peek(1) == b'*' => match self.comment()? {
                    Some(kind) => kind,
                    None => continue,
                },
                b'"' if self.peek(1) == b'"' && self.peek(2) == b'"' => {
                    self.at += 3;
                    self.quoted(b"\"\"\"", true)?;
                    Kind::Literal
                }
                quote @ (b'"' | b'\'') => {
                    self.at += 1;
                    self.quoted(&[quote], false)?;
                    Kind::Literal
                }
                b'0'..=b'9' => self.number(),
                b'.' if self.peek(1).is_ascii_digit() => self.number(),
                byte if is_of_word(byte) => {
                    while is_of_word(self.peek(0)) {
                        self.at += 1;
                    }
                    if has_ignorable(&self.text[start..self.at]) {
                        return Err(INVISIBLE);
                    }
                    Kind::Word
                }
                0..b' ' | 0x7f => return Err(INVISIBLE),
                _ => {
                    let two = self.text.get(start..start + 2).unwrap_or_default();
                    self.at += if PAIRS.contains(&two) { 2 } else { 1 };
                    Kind::Sign
                }
            };
            return Ok(Some(Token {
                kind,
                start: start as u32,
                end: self.at as u32,
            }));
        }
    }

    /// What a comment says of what follows it, if anything.
    fn comment(&mut self) -> Result<Option<Kind>, Unreadable> {
        let rest = &self.text[self.at..];
        let end = rest.windows(2).skip(2).position(|two| two == b"*/");
        let end = end.ok_or(Unreadable("a comment does not end"))? + 4;
        let comment = &rest[..end];
        self.at += end;
        let word = b"@deprecated";
        if !comment.starts_with(b"/**") || !comment.windows(word.len()).any(|part| part == word) {
            return Ok(None);
        }
        let is_space = |byte: &u8| byte.is_ascii_whitespace();
        let deprecates = |line: &[u8]| {
            let begin = line
                .iter()
                .position(|byte| *byte != b'*' && !is_space(byte));
            let text = begin.and_then(|begin| line[begin..].strip_prefix(word));
            text.is_some_and(|text| text.first().is_none_or(is_space))
        };
        let mut lines = comment[3..].split(|byte| matches!(byte, b'\n' | b'\r'));
        Ok(Some(match lines.any(deprecates) {
            true => Kind::Deprecated,
            // Elsewhere than at the beginning of a line it should mean nothing.
            false => Kind::Comment,
        }))
    }

    fn quoted(&mut self, quote: &[u8], may_break: bool) -> Result<(), Unreadable> {
        loop {
            match self.peek(0) {
                0 if self.at >= self.text.len() => {
                    return Err(Unreadable("a literal does not end"));
                }
                b'\n' | b'\r' if !may_break => {
                    return Err(Unreadable("a literal does not end"));
                }
                b'\\' => self.at += 2,
                _ if self.text[self.at..].starts_with(quote) => {
                    self.at += quote.len();
                    return Ok(());
                }
                _ => self.at += 1,
            }
        }
    }

    fn number(&mut self) -> Kind {
        let is_hex = self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'X');
        let exponent: &[u8] = if is_hex { b"pP" } else { b"eE" };
        let mut last = 0;
        loop {
            let byte = self.peek(0);
            let is_sign = matches!(byte, b'+' | b'-') && exponent.contains(&last);
            if !is_of_word(byte) && byte != b'.' && !is_sign {
                return Kind::Literal;
            }
            last = byte;
            self.at += 1;
        }
    }
}

const INVISIBLE: Unreadable = Unreadable("it has signs that nobody sees");

/// Whether a name has what a compiler leaves out of names: control characters, and
/// those of formats. In encodings of one byte some are among the letters.
fn has_ignorable(word: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(word) else {
        return word.iter().any(|byte| matches!(byte, 0x80..=0x9f | 0xad));
    };
    !word.is_ascii()
        && text.chars().any(|sign| {
            matches!(
                sign as u32,
                0x80..=0x9f | 0xad | 0x600..=0x605 | 0x61c | 0x6dd | 0x70f | 0x8e2 | 0x180e
                    | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0xfeff
                    | 0xfff0..=0xffff | 0x110bd | 0x110cd | 0x13430..=0x1345f | 0x1bca0..=0x1bca3
                    | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff
            )
        })
}

/// All that is not ASCII is taken for letters.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(source: &str) -> Vec<String> {
        let tokens = Tokens::read(source.as_bytes()).unwrap();
        let text = |token: &Token| String::from_utf8_lossy(tokens.text(*token)).into_owned();
        tokens.all().iter().map(text).collect()
    }

    #[test]
    fn comments_and_space_do_not_count() {
        let plain = tokens("int a=1;");
        assert_eq!(plain, ["int", "a", "=", "1", ";"]);
        assert_eq!(tokens("/* x */ int // y\n a /***/ = 1 ; \x1a"), plain);
        assert_eq!(tokens("/** @deprecated b */ x"), ["@deprecated", "x"]);
        assert_eq!(
            tokens("/**\n * a\r\n * @deprecated b\n */ x"),
            ["@deprecated", "x"]
        );
        assert_eq!(tokens("/* @deprecated */ x"), ["x"]);
        // Compilers look at the beginnings of lines.
        let elsewhere = "/** a @deprecated b */";
        assert_eq!(tokens(elsewhere), [elsewhere]);
    }

    #[test]
    fn what_space_tells_apart_is_told_apart() {
        assert_ne!(tokens("a - -b"), tokens("a--b"));
        assert_ne!(tokens("a + ++b"), tokens("a++ + b"));
        assert_ne!(tokens("a = -1"), tokens("a -= 1"));
        assert_eq!(tokens("A<B<C>> d"), tokens("A < B < C > > d"));
    }

    #[test]
    fn literals_are_whole() {
        assert_eq!(tokens(r#""a // \" b" 'c'"#), [r#""a // \" b""#, "'c'"]);
        assert_eq!(tokens(r"'\'' '\\'"), [r"'\''", r"'\\'"]);
        let block = "\"\"\"\n a \"\" \\\"\"\" /* b\n \"\"\"";
        assert_eq!(tokens(block), [block]);
        assert_eq!(
            tokens("1.5e-3f+0x1p+2-0xE+1"),
            ["1.5e-3f", "+", "0x1p+2", "-", "0xE", "+", "1"]
        );
        assert_eq!(tokens("a.b .5 1."), ["a", ".", "b", ".5", "1."]);
    }

    #[test]
    fn unicode_escapes_come_first() {
        assert_eq!(tokens("\\u0069nt \\uu0061"), ["int", "a"]);
        // A quote that ends the literal, and a backslash that hides an escape.
        assert_eq!(tokens("\"\\u0022 + a"), ["\"\"", "+", "a"]);
        assert_eq!(tokens("\"\\\\u0022\""), ["\"\\\\u0022\""]);
        assert_eq!(tokens("// a \\u000a b"), ["b"]);
        assert_eq!(tokens("\\ud835\\uudc9c"), ["𝒜"]);
    }

    #[test]
    fn what_does_not_end_is_refused() {
        for source in ["/* a", "\"a\n\"", "\"\"\"a", "'a", "\"\\", "a\0b"] {
            assert!(Tokens::read(source.as_bytes()).is_err(), "{source:?}");
        }
        // What compilers leave out of names.
        for source in ["a\u{1}b", "a\\u0001b", "a\u{ad}b", "\u{feff}a", "\\u200ba"] {
            assert!(Tokens::read(source.as_bytes()).is_err(), "{source:?}");
        }
        assert_eq!(tokens("'\u{ad}' größe"), ["'\u{ad}'", "größe"]);
    }
}
