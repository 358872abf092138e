//! What other sources can see of a Java source, apart from what they cannot: its
//! head. That is everything but method bodies, initialisers that are no constants,
//! arguments and bodies of enum constants, and private members; of these it has the
//! constants of which others are made.

use std::collections::BTreeSet;

use super::tokens::{Kind, Token, Tokens};
use super::{Outline, Unreadable, Word};
use crate::matrix::Fingerprint;

/// Types nested deeper than that are nobody's.
const MAX_DEPTH: usize = 64;

/// Types whose initialisers can be constants (JLS 15.29).
const OF_CONSTANTS: [&[u8]; 9] = [
    b"boolean", b"byte", b"short", b"int", b"long", b"char", b"float", b"double", b"String",
];

const MODIFIERS: [&[u8]; 13] = [
    b"public",
    b"protected",
    b"private",
    b"static",
    b"abstract",
    b"final",
    b"native",
    b"synchronized",
    b"transient",
    b"volatile",
    b"strictfp",
    b"default",
    b"sealed",
];

/// # Errors
/// If it is no ordinary source that is understood.
pub fn outline(source: &[u8]) -> Result<Outline, Unreadable> {
    let tokens = Tokens::read(source)?;
    let mut parser = Parser {
        tokens: &tokens,
        at: 0,
        head: Vec::with_capacity(tokens.all().len() / 2),
        head_words: BTreeSet::new(),
        imports: Vec::new(),
        constants: Vec::new(),
        package: String::new(),
        tops: Vec::new(),
        types: BTreeSet::new(),
        hidden: BTreeSet::new(),
    };
    parser.unit()?;
    parser.add_constants();
    parser.add_imports();
    if parser.tops.is_empty() && !parser.package.is_empty() {
        parser.tops.push("package-info".to_owned());
    }
    let whole = tokens.all().iter().flat_map(|token| line(&tokens, *token));
    let whole: Vec<u8> = whole.collect();
    let words = tokens.all().iter().filter(|one| one.kind == Kind::Word);
    let mut words: Vec<Word> = words.map(|one| Word::of(tokens.text(*one))).collect();
    words.sort_unstable();
    words.dedup();
    Ok(Outline {
        whole: Fingerprint::of_digest("tamis java source 1", &whole),
        head: Fingerprint::of_digest("tamis java head 1", &parser.head),
        is_ascii: source.is_ascii(),
        package: parser.package,
        tops: parser.tops,
        types: parser.types.into_iter().collect(),
        hidden: parser.hidden.into_iter().collect(),
        words,
        head_words: parser.head_words.into_iter().collect(),
    })
}

/// The bytes of a token, so that no two run into one another.
fn line(tokens: &Tokens, token: Token) -> impl Iterator<Item = u8> {
    let text = tokens.text(token);
    let len = (text.len() as u32).to_be_bytes();
    len.into_iter().chain(text.iter().copied())
}

/// The kinds of type declarations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Declares {
    Class,
    /// An annotation's, too: fields are constants.
    Interface,
    Enum,
    Record,
}

struct Parser<'a> {
    tokens: &'a Tokens,
    at: usize,
    head: Vec<u8>,
    head_words: BTreeSet<Word>,
    /// Each from `import` to before the semicolon.
    imports: Vec<(usize, usize)>,
    /// Private constants: their names, and where they are.
    constants: Vec<(Vec<Word>, (usize, usize))>,
    package: String,
    tops: Vec<String>,
    types: BTreeSet<Word>,
    /// The names of private fields.
    hidden: BTreeSet<Word>,
}

const ENDS: Unreadable = Unreadable("a declaration does not end");

impl<'a> Parser<'a> {
    fn text(&self, at: usize) -> &'a [u8] {
        let token = self.tokens.all().get(at);
        token.map_or(b"", |token| self.tokens.text(*token))
    }

    fn here(&self) -> &'a [u8] {
        self.text(self.at)
    }

    fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.all().get(at).map(|token| token.kind)
    }

    fn is_done(&self) -> bool {
        self.at >= self.tokens.all().len()
    }

    /// Makes the tokens up to `end` part of the head.
    fn keep(&mut self, from: usize, end: usize) {
        for at in from..end {
            let token = self.tokens.all()[at];
            self.head.extend(line(self.tokens, token));
            if token.kind == Kind::Word {
                self.head_words.insert(Word::of(self.tokens.text(token)));
            }
        }
    }

    /// Notes that something is there, whatever it is.
    fn mark(&mut self, what: &[u8]) {
        self.head.extend([0xff; 4]);
        self.head.extend_from_slice(what);
    }

    fn unit(&mut self) -> Result<(), Unreadable> {
        while !self.is_done() {
            let start = self.at;
            match self.here() {
                b";" => self.at += 1,
                b"import" => {
                    let end = self.find(&[b";"])?;
                    self.imports.push((start, end));
                    self.at = end + 1;
                }
                _ => {
                    let after = self.after_modifiers(start)?;
                    match self.text(after) {
                        b"package" => {
                            self.at = after;
                            let end = self.find(&[b";"])?;
                            let name = (after + 1..end).flat_map(|at| self.text(at));
                            let name: Vec<u8> = name.copied().collect();
                            self.package = String::from_utf8_lossy(&name).into_owned();
                            self.keep(start, end);
                            self.at = end + 1;
                        }
                        b"" => self.at = after,
                        b"module" | b"open" => return Err(Unreadable("it declares a module")),
                        _ => {
                            let kind = self.declares(after);
                            let kind = kind.ok_or(Unreadable("it has an unknown declaration"))?;
                            let name = self.declared(start, after, kind, 0)?;
                            self.tops.push(name);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Private constants of which others of the head are made.
    fn add_constants(&mut self) {
        let mut open = std::mem::take(&mut self.constants);
        loop {
            let known = self.head_words.clone();
            let is_used = |(names, _): &(Vec<Word>, _)| names.iter().any(|it| known.contains(it));
            let (used, rest): (Vec<_>, Vec<_>) = open.into_iter().partition(is_used);
            if used.is_empty() {
                return;
            }
            for (_, (start, end)) in used {
                self.keep(start, end);
                self.mark(b"private");
            }
            open = rest;
        }
    }

    /// Imports that can decide what a name of the head means: those of names that it
    /// has, and those of all names of a package or a type. The type through which
    /// a name is imported matters, as it may have inherited what it names.
    fn add_imports(&mut self) {
        let of_head = self.head_words.clone();
        for (start, end) in std::mem::take(&mut self.imports) {
            let last = end.saturating_sub(1);
            let is_used = of_head.contains(&Word::of(self.text(last)));
            if is_used || self.text(last) == b"*" {
                self.keep(start, last);
                self.mark(self.text(last));
            }
        }
    }

    /// Where the first of `signs` is outside of all brackets, from here on.
    fn find(&self, signs: &[&[u8]]) -> Result<usize, Unreadable> {
        let mut depth = 0usize;
        let mut at = self.at;
        while at < self.tokens.all().len() {
            let text = self.text(at);
            if depth == 0 && signs.contains(&text) {
                return Ok(at);
            }
            match text {
                b"(" | b"[" | b"{" => depth += 1,
                b")" | b"]" | b"}" => depth = depth.checked_sub(1).ok_or(ENDS)?,
                _ => {}
            }
            at += 1;
        }
        Err(ENDS)
    }

    /// Behind the bracket that closes the one at `at`.
    fn behind(&self, at: usize) -> Result<usize, Unreadable> {
        let mut depth = 0usize;
        for at in at..self.tokens.all().len() {
            match self.text(at) {
                b"(" | b"[" | b"{" => depth += 1,
                b")" | b"]" | b"}" => {
                    depth = depth.checked_sub(1).ok_or(ENDS)?;
                    if depth == 0 {
                        return Ok(at + 1);
                    }
                }
                _ => {}
            }
        }
        Err(ENDS)
    }

    /// Behind modifiers and annotations.
    fn after_modifiers(&self, mut at: usize) -> Result<usize, Unreadable> {
        loop {
            match self.text(at) {
                b"@" if self.text(at + 1) != b"interface" => {
                    at += 2;
                    while self.text(at) == b"." {
                        at += 2;
                    }
                    if self.text(at) == b"(" {
                        at = self.behind(at)?;
                    }
                }
                b"non" if self.text(at + 1) == b"-" => at += 3,
                // Names of that kind are those of members.
                b"sealed" if self.kind(at + 1) != Some(Kind::Word) => return Ok(at),
                word if MODIFIERS.contains(&word) => at += 1,
                _ if matches!(self.kind(at), Some(Kind::Deprecated | Kind::Comment)) => at += 1,
                _ => return Ok(at),
            }
        }
    }

    /// What a declaration is of, if it is that of a type.
    fn declares(&self, at: usize) -> Option<Declares> {
        match self.text(at) {
            b"class" => Some(Declares::Class),
            b"interface" => Some(Declares::Interface),
            b"@" if self.text(at + 1) == b"interface" => Some(Declares::Interface),
            b"enum" => Some(Declares::Enum),
            b"record"
                if self.kind(at + 1) == Some(Kind::Word)
                    && matches!(self.text(at + 2), b"(" | b"<") =>
            {
                Some(Declares::Record)
            }
            _ => None,
        }
    }

    /// A type: modifiers from `start`, its keyword at `at`.
    fn declared(
        &mut self,
        start: usize,
        at: usize,
        kind: Declares,
        depth: usize,
    ) -> Result<String, Unreadable> {
        if depth > MAX_DEPTH {
            return Err(Unreadable("its types are nested too deeply"));
        }
        let name = match self.text(at) {
            b"@" => at + 2,
            _ => at + 1,
        };
        if self.kind(name) != Some(Kind::Word) {
            return Err(Unreadable("it has an unknown declaration"));
        }
        let dollars = self.text(name).iter().filter(|byte| **byte == b'$');
        if dollars.count() > MAX_DEPTH {
            return Err(Unreadable("its types are nested too deeply"));
        }
        self.add_type(self.text(name));
        self.at = name;
        let body = self.find(&[b"{"])?;
        self.keep(start, body + 1);
        self.at = body + 1;
        if kind == Declares::Enum {
            self.constants()?;
        }
        while self.here() != b"}" {
            if self.is_done() {
                return Err(ENDS);
            }
            self.member(kind, depth)?;
        }
        self.keep(self.at, self.at + 1);
        self.at += 1;
        Ok(String::from_utf8_lossy(self.text(name)).into_owned())
    }

    /// A type `A$1` takes its name from the first class without one in `A`.
    fn add_type(&mut self, name: &[u8]) {
        let dollars = (0..name.len()).filter(|at| name[*at] == b'$');
        for end in dollars.chain([name.len()]) {
            self.types.insert(Word::of(&name[..end]));
        }
    }

    /// The constants of an enum: their names, and whether they have bodies.
    fn constants(&mut self) -> Result<(), Unreadable> {
        loop {
            let start = self.at;
            self.at = self.after_modifiers(start)?;
            match self.here() {
                b";" => {
                    self.at += 1;
                    return Ok(());
                }
                b"}" => return Ok(()),
                b"," => self.at += 1,
                _ if self.kind(self.at) == Some(Kind::Word) => {
                    self.keep(start, self.at + 1);
                    self.at += 1;
                    if self.here() == b"(" {
                        self.at = self.behind(self.at)?;
                    }
                    if self.here() == b"{" {
                        self.at = self.behind(self.at)?;
                        self.mark(b"body");
                    }
                }
                _ => return Err(Unreadable("an enum has an unknown constant")),
            }
        }
    }

    fn member(&mut self, of: Declares, depth: usize) -> Result<(), Unreadable> {
        let start = self.at;
        if self.here() == b";" {
            self.at += 1;
            return Ok(());
        }
        let after = self.after_modifiers(start)?;
        if self.text(after) == b"}" {
            // A comment that nothing follows.
            self.at = after;
            return Ok(());
        }
        if let Some(kind) = self.declares(after) {
            self.declared(start, after, kind, depth + 1)?;
            return Ok(());
        }
        if self.text(after) == b"{" {
            // An initialiser.
            self.at = self.behind(after)?;
            return Ok(());
        }
        let has = |word: &[u8]| (start..after).any(|at| self.text(at) == word);
        let (is_private, is_final) = (has(b"private"), has(b"final"));
        self.at = after;
        let end = self.find(&[b"{", b";", b"="])?;
        let is_of_constant = (after..end).any(|at| OF_CONSTANTS.contains(&self.text(at)));
        let is_default = (after..end).any(|at| self.text(at) == b"default");
        if is_private {
            return self.private(start, (after, end), is_final && is_of_constant);
        }
        self.keep(start, end);
        self.at = end;
        match self.here() {
            // `String[] names() default { "a" };`
            b"{" if is_default => {
                self.at = self.find(&[b";"])?;
                self.keep(end, self.at);
            }
            b"{" => {
                self.at = self.behind(end)?;
                self.mark(b"body");
            }
            b"=" => {
                self.at = self.find(&[b";"])?;
                let can_be_constant = is_of_constant && (is_final || of == Declares::Interface);
                match can_be_constant {
                    true => self.keep(end, self.at),
                    false => self.initialisers(end, self.at),
                }
            }
            _ => {}
        }
        if self.here() == b";" {
            self.at += 1;
        }
        self.mark(b"end");
        Ok(())
    }

    /// A private member that is no type: behind its modifiers, and the end of what it
    /// is. Others may see that the name of a field hides another one, and what a
    /// constant is worth.
    fn private(
        &mut self,
        start: usize,
        (after, end): (usize, usize),
        can_be_constant: bool,
    ) -> Result<(), Unreadable> {
        if self.text(end) == b"{" {
            self.at = self.behind(end)?;
            return Ok(());
        }
        self.at = end;
        self.at = self.find(&[b";"])? + 1;
        let names = self.declared_names(after, self.at);
        self.hidden.extend(&names);
        if can_be_constant {
            self.constants.push((names, (start, self.at)));
        }
        Ok(())
    }

    /// The names that a field's declaration may declare, and maybe some others.
    fn declared_names(&self, from: usize, end: usize) -> Vec<Word> {
        let ends: [&[u8]; 4] = [b"=", b",", b";", b"["];
        let is_name =
            |at: &usize| self.kind(*at) == Some(Kind::Word) && ends.contains(&self.text(*at + 1));
        let names = (from..end).filter(is_name);
        names.map(|at| Word::of(self.text(at))).collect()
    }

    /// Initialisers that are no constants, and other names that are declared
    /// between them: what follows a comma may be one.
    fn initialisers(&mut self, from: usize, end: usize) {
        let mut depth = 0usize;
        let mut is_value = false;
        for at in from..end {
            match self.text(at) {
                b"(" | b"[" | b"{" => depth += 1,
                b")" | b"]" | b"}" => depth = depth.saturating_sub(1),
                b"=" if depth == 0 && !is_value => {
                    is_value = true;
                    self.mark(b"value");
                    continue;
                }
                b"," if depth == 0 => is_value = false,
                _ => {}
            }
            if !is_value {
                self.keep(at, at + 1);
            }
        }
    }
}
