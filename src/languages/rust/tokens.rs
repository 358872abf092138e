//! Rust's tokens: their text without comments and formatting, and which functions they name.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};
use serde::{Deserialize, Serialize};

/// How something is named. Types are not known here, so that a name can mean several functions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Mention {
    /// `name`
    Bare(String),
    /// `.name`
    Method(String),
    /// `Qualifier::name`; the qualifier is empty where it is more than a name.
    Path(String, String),
    /// A name that a macro or an attribute may use in any way.
    Any(String),
}

impl Mention {
    pub(super) fn name(&self) -> &str {
        match self {
            Mention::Bare(name)
            | Mention::Method(name)
            | Mention::Path(_, name)
            | Mention::Any(name) => name,
        }
    }
}

/// What tokens come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sink {
    /// The text of tokens, each with something behind it.
    pub text: Vec<u8>,
    pub mentions: BTreeSet<Mention>,
}

/// Macros of the standard library, which take expressions and name nothing of the project.
const MACROS: [&str; 31] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "cfg",
    "column",
    "concat",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "env",
    "eprint",
    "eprintln",
    "file",
    "format",
    "format_args",
    "include_bytes",
    "include_str",
    "line",
    "matches",
    "module_path",
    "option_env",
    "panic",
    "print",
    "println",
    "stringify",
    "thread_local",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
];

/// More of them.
const WRITING: [&str; 2] = ["write", "writeln"];

pub(super) fn is_standard_macro(name: &str) -> bool {
    MACROS.contains(&name) || WRITING.contains(&name)
}

/// A name without the mark of those that would be keywords.
pub(super) fn plain(name: &Ident) -> String {
    let name = name.to_string();
    match name.strip_prefix("r#") {
        Some(plain) => plain.to_owned(),
        None => name,
    }
}

/// Where tokens stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Code,
    /// In a macro that may do anything with names.
    Macro,
    /// In an attribute, where texts may be names, too.
    Attribute,
}

impl Sink {
    /// Takes in tokens; without what documents them, if nothing can read that.
    pub(super) fn take(&mut self, tokens: TokenStream, with_docs: bool) {
        self.tokens(tokens, with_docs, Within::Code);
    }

    pub(super) fn add(&mut self, other: Sink) {
        self.text.extend(other.text);
        self.text.push(0);
        self.mentions.extend(other.mentions);
    }

    fn tokens(&mut self, tokens: TokenStream, with_docs: bool, within: Within) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if let Some(length) = documentation(&tokens[at..])
                && !with_docs
            {
                at += length;
                continue;
            }
            self.token(&tokens, at, with_docs, within);
            at += 1;
        }
    }

    fn token(&mut self, all: &[TokenTree], at: usize, with_docs: bool, within: Within) {
        match &all[at] {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                let inner = match within {
                    Within::Code => surroundings(all, at),
                    other => other,
                };
                self.word(open);
                // What a macro is given may be for documentation.
                self.tokens(group.stream(), with_docs || inner == Within::Macro, inner);
                self.word(close);
            }
            TokenTree::Ident(ident) => {
                let name = plain(ident);
                self.word(&name);
                let is_called = matches!(all.get(at + 1), Some(TokenTree::Punct(punct)) if punct.as_char() == '!');
                if is_called && WRITING.contains(&name.as_str()) {
                    // What it comes to is a method of who writes.
                    self.mentions
                        .insert(Mention::Method("write_fmt".to_owned()));
                }
                self.mentions.insert(mention(all, at, name, within));
            }
            TokenTree::Punct(punct) => {
                self.text.push(punct.as_char() as u8);
                if punct.spacing() == Spacing::Alone {
                    self.text.push(b' ');
                }
            }
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                self.word(&text);
                // Texts can name what is to be put into them.
                let named = text.split('{').skip(1).map(beginning);
                let named = named.filter(|name| !name.is_empty());
                self.mentions
                    .extend(named.map(|name| Mention::Bare(name.to_owned())));
                if within != Within::Code {
                    let words = text.split(|c: char| c != '_' && !c.is_alphanumeric());
                    let words = words.filter(|word| !word.is_empty());
                    self.mentions
                        .extend(words.map(|word| Mention::Any(word.to_owned())));
                }
            }
        }
    }

    fn word(&mut self, word: &str) {
        self.text.extend(word.bytes());
        self.text.push(b' ');
    }
}

/// The name at the beginning of a text.
fn beginning(text: &str) -> &str {
    let end = text.find(|c: char| c != '_' && !c.is_alphanumeric());
    &text[..end.unwrap_or(text.len())]
}

/// How many tokens at the beginning are documentation: `#[doc = …]`.
fn documentation(tokens: &[TokenTree]) -> Option<usize> {
    let is = |at: usize, c: char| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == c);
    if !is(0, '#') {
        return None;
    }
    let group = if is(1, '!') { 2 } else { 1 };
    let Some(TokenTree::Group(inner)) = tokens.get(group) else {
        return None;
    };
    let mut inner = inner.stream().into_iter();
    let (name, sign) = (inner.next()?, inner.next()?);
    let is_doc = matches!(name, TokenTree::Ident(name) if name == "doc")
        && matches!(sign, TokenTree::Punct(sign) if sign.as_char() == '=');
    is_doc.then_some(group + 1)
}

/// What a group in code is given to.
fn surroundings(all: &[TokenTree], at: usize) -> Within {
    let before = |count: usize| at.checked_sub(count).map(|at| &all[at]);
    let is = |token: Option<&TokenTree>, c: char| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == c);
    if is(before(1), '#') || (is(before(1), '!') && is(before(2), '#')) {
        return Within::Attribute;
    }
    // `macro_rules! name {…}`
    if is(before(2), '!') && matches!(before(1), Some(TokenTree::Ident(_))) {
        return Within::Macro;
    }
    if !is(before(1), '!') {
        return Within::Code;
    }
    match before(2) {
        Some(TokenTree::Ident(name)) => {
            let name = name.to_string();
            match is_standard_macro(&name) {
                true => Within::Code,
                false => Within::Macro,
            }
        }
        // A negation.
        _ => Within::Code,
    }
}

fn mention(all: &[TokenTree], at: usize, name: String, within: Within) -> Mention {
    let before = |count: usize| at.checked_sub(count).map(|at| &all[at]);
    let is = |token: Option<&TokenTree>, c: char| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == c);
    if is(before(1), ':') && is(before(2), ':') {
        let qualifier = match before(3) {
            Some(TokenTree::Ident(qualifier)) if !is(before(4), '$') => plain(qualifier),
            _ => String::new(),
        };
        return Mention::Path(qualifier, name);
    }
    // Not a range.
    if is(before(1), '.') && !is(before(2), '.') {
        return Mention::Method(name);
    }
    match within {
        Within::Code => Mention::Bare(name),
        Within::Macro | Within::Attribute => Mention::Any(name),
    }
}

/// Traits of the standard library: an import of one can change what a method call means that does
/// not name it.
const TRAITS: &str = "
    Add AddAssign Any Allocator AsFd AsHandle AsMut AsRawFd AsRawHandle AsRawSocket AsRef AsSocket
    AsyncFn AsyncFnMut AsyncFnOnce BitAnd BitAndAssign BitOr BitOrAssign BitXor BitXorAssign
    Borrow BorrowMut BufRead BuildHasher Clone CoerceUnsized Concat Copy Debug Default Deref
    DerefMut DispatchFromDyn Display Div DivAssign DoubleEndedIterator Drop Eq Error
    ExactSizeIterator Extend Fn FnMut FnOnce From FromIterator FromRawFd FromRawHandle
    FromRawSocket FromStr FusedIterator Future GlobalAlloc Hash Hasher Index IndexMut Into
    IntoFuture IntoIterator IntoRawFd IntoRawHandle IntoRawSocket IsTerminal Iterator Join
    LowerExp LowerHex Mul MulAssign Neg Not Octal Ord PartialEq PartialOrd Pattern Pointer
    Product RangeBounds Read Rem RemAssign Seek Send Shl ShlAssign Shr ShrAssign Sized
    SliceIndex Step Sub SubAssign Sum Sync Termination ToOwned ToSocketAddrs ToString TryFrom
    TryInto Unpin UnwindSafe RefUnwindSafe UpperExp UpperHex Wake Write
";

/// Whether something of the standard library is a trait, by its name. Those that extend types of
/// a platform end alike.
pub(super) fn is_trait_of_std(name: &str) -> bool {
    name.ends_with("Ext") || TRAITS.split_whitespace().any(|one| one == name)
}

/// What `include_str!` and `include_bytes!` are given, as it is written.
pub(super) fn included(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![tokens];
    while let Some(tokens) = open.pop() {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => open.push(group.stream()),
                TokenTree::Ident(name) if *name == "include_str" || *name == "include_bytes" => {
                    found.push(match tokens.get(at + 2) {
                        Some(TokenTree::Group(group)) => group.stream().to_string(),
                        // It has another name from here on.
                        _ => String::new(),
                    });
                }
                _ => {}
            }
        }
    }
    found
}
