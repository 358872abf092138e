//! A Rust source: its functions, and all that is outside of them.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::ToTokens;
use serde::{Deserialize, Serialize};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{
    Attribute, Block, ImplItem, Item, ItemImpl, ItemMod, ItemTrait, ItemUse, Signature, TraitItem,
};

use super::attributes::{are_for_tests, attributes, is_about_a_type, is_plain, is_test};
use super::names::{Imported, Inside, OtherNames};
use super::tokens::{Mention, Sink, included, is_standard_macro, plain};
use crate::matrix::Fingerprint;

/// Grows when a digest comes to hold something else.
pub(super) const DIGEST: &str = "tamis 2026 rust source 1";

/// What a file of Rust comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RustSource {
    pub functions: Vec<RustFunction>,
    pub(super) declarations: Vec<Declaration>,
    /// Everything else, and the same of what is compiled only for tests.
    pub(super) outside: Rest,
    pub(super) of_tests: Rest,
    /// Names that can stand for any type: aliases, parameters of types.
    pub(super) other_names: BTreeSet<String>,
    pub(super) traits: BTreeSet<String>,
    /// Whether it has a macro with the name of one of the standard library.
    pub(super) has_standard_macro: bool,
    /// What `include_str!` and `include_bytes!` are given, as it is written.
    pub(crate) included: Vec<String>,
    /// Why it is not taken apart, if so: then all of it is outside of functions.
    pub whole: Option<String>,
}

/// Tokens that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rest {
    pub digest: Fingerprint,
    pub mentions: Vec<Mention>,
}

impl Default for Rest {
    fn default() -> Rest {
        Rest::of(Sink::default())
    }
}

impl Rest {
    fn of(sink: Sink) -> Rest {
        Rest {
            digest: digest(&sink.text),
            mentions: sink.mentions.into_iter().collect(),
        }
    }
}

/// A function or method whose body counts only for who runs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RustFunction {
    /// With the modules and the `impl` that it is in.
    pub name: String,
    /// From this line to that one, counted from 1, attributes included.
    pub lines: (u32, u32),
    pub(super) body: Rest,
    /// The type that `Self` is; empty where that is more than a name.
    pub(super) owner: Option<String>,
}

/// Something that counts for who can name it, and for who names what names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Declaration {
    pub kind: Kind,
    /// What it is called; of an enumeration also the variants.
    pub names: Vec<String>,
    /// What shows of it: a function's signature, all of a type or a constant.
    pub shown: Rest,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    Function {
        /// The type that it belongs to; none of a function by itself.
        owner: Option<String>,
        /// Whether it can be called as a method.
        has_self: bool,
    },
    Type,
    /// A constant, an import, a name for a type.
    Other,
    /// An import of a type or a trait of the project.
    Import,
    /// What is implemented for a type, which has its name.
    Implementation,
}

impl RustSource {
    /// What a source is made of. What cannot be parsed is one piece.
    pub(crate) fn parse(bytes: &[u8]) -> RustSource {
        let whole = |why: String| RustSource {
            outside: Rest {
                digest: digest(bytes),
                mentions: Vec::new(),
            },
            whole: Some(why),
            ..RustSource::default()
        };
        let Ok(text) = std::str::from_utf8(bytes) else {
            return whole("it is no text".to_owned());
        };
        // Deeply nested expressions need more than threads have.
        let parsed = stacker::maybe_grow(1 << 20, 8 << 20, || syn::parse_file(text));
        let file = match parsed {
            Ok(file) => file,
            Err(error) => return whole(format!("its syntax is not understood: {error}")),
        };
        let included = included(file.to_token_stream());
        let mut reading = Reading::default();
        let attributes = file.attrs.iter().map(ToTokens::to_token_stream);
        for attribute in attributes {
            reading.outside.take(attribute, false);
        }
        let top = Context::default();
        for item in file.items {
            reading.other_names(&item);
            reading.item(item, &top);
        }
        RustSource {
            included,
            ..reading.end()
        }
    }
}

fn digest(bytes: &[u8]) -> Fingerprint {
    Fingerprint::of_digest(DIGEST, bytes)
}

/// Where an item stands.
#[derive(Clone, Debug, Default)]
struct Context {
    /// Modules and `impl`, each with `::` behind it.
    path: String,
    is_for_tests: bool,
    of: Of,
}

/// What a function is part of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Of {
    #[default]
    Module,
    /// A type, by its name; empty where it has none.
    Type(String),
    /// A trait, or its implementation for a type.
    Trait(String),
}

#[derive(Default)]
struct Reading {
    functions: Vec<RustFunction>,
    declarations: Vec<Declaration>,
    outside: Sink,
    of_tests: Sink,
    other_names: BTreeSet<String>,
    traits: BTreeSet<String>,
    has_standard_macro: bool,
}

/// A function as it stands in any kind of item.
struct Written<'a> {
    attributes: &'a [Attribute],
    /// What stands before the signature.
    before: TokenStream,
    signature: &'a Signature,
    block: &'a Block,
    lines: (u32, u32),
}

impl Reading {
    fn end(mut self) -> RustSource {
        // Several of one name differ in their configuration.
        let mut names = std::collections::BTreeMap::<String, usize>::new();
        for function in &mut self.functions {
            let count = names.entry(function.name.clone()).or_default();
            *count += 1;
            if *count > 1 {
                function.name = format!("{}'{count}", function.name);
            }
        }
        RustSource {
            functions: self.functions,
            declarations: self.declarations,
            outside: Rest::of(self.outside),
            of_tests: Rest::of(self.of_tests),
            other_names: self.other_names,
            traits: self.traits,
            has_standard_macro: self.has_standard_macro,
            included: Vec::new(),
            whole: None,
        }
    }

    fn other_names(&mut self, item: &Item) {
        OtherNames(&mut self.other_names).visit_item(item);
    }

    fn rest(&mut self, context: &Context) -> &mut Sink {
        match context.is_for_tests {
            true => &mut self.of_tests,
            false => &mut self.outside,
        }
    }

    fn item(&mut self, item: Item, context: &Context) {
        match item {
            Item::Fn(function) => {
                let written = Written {
                    attributes: &function.attrs,
                    before: function.vis.to_token_stream(),
                    signature: &function.sig,
                    block: &function.block,
                    lines: lines(&function),
                };
                if !self.function(&written, context) {
                    self.whole(&function, &function.attrs, context);
                }
            }
            Item::Mod(module) => self.module(module, context),
            Item::Impl(block) => self.implementation(block, context),
            Item::Trait(one) => self.of_trait(one, context),
            Item::Use(one) => self.import(&one, context),
            other => self.other(&other, context),
        }
    }

    /// An import that brings in no trait means something only to who uses its name.
    fn import(&mut self, one: &ItemUse, context: &Context) {
        let mut imported = Imported::default();
        imported.visit_item_use(one);
        let is_plain = one.attrs.iter().all(is_plain);
        if !is_plain || imported.are_unknown {
            let mut sink = Sink::default();
            sink.take(one.to_token_stream(), false);
            // Who uses it names it again, or else by its other name.
            let renamed = imported.names.iter();
            let renamed = renamed.filter(|(name, other)| name != other);
            sink.mentions = renamed
                .map(|(name, _)| Mention::Any(name.clone()))
                .collect();
            self.rest(context).add(sink);
            return;
        }
        for (name, other) in imported.names {
            let mut sink = Sink::default();
            sink.take(one.to_token_stream(), false);
            sink.text = [imported.path.as_bytes(), name.as_bytes()].join(&0);
            let kind = match imported.may_be_traits {
                // Who uses a trait may not name it.
                true => Kind::Import,
                false => Kind::Other,
            };
            let is_renamed = name != other;
            sink.mentions = [Mention::Any(name)].into();
            let kind = if is_renamed { Kind::Other } else { kind };
            if is_renamed && imported.may_be_traits {
                self.rest(context).add(sink);
                continue;
            }
            self.declare(kind, vec![other], sink);
        }
    }

    /// Takes in an item by itself if it only has a name, or else as a part of the whole.
    fn other(&mut self, item: &Item, context: &Context) {
        if let Item::Macro(one) = item {
            let name = one.ident.as_ref().map(plain);
            self.has_standard_macro |= name.is_some_and(|name| is_standard_macro(&name));
        }
        let attributes = attributes(item);
        match named(item).filter(|_| attributes.iter().all(is_about_a_type)) {
            Some((kind, names)) => {
                let mut sink = Sink::default();
                sink.take(item.to_token_stream(), !attributes.iter().all(is_plain));
                self.declare(kind, names, sink);
            }
            None => self.whole(item, attributes, context),
        }
    }

    fn declare(&mut self, kind: Kind, names: Vec<String>, sink: Sink) {
        self.declarations.push(Declaration {
            kind,
            names,
            shown: Rest::of(sink),
        });
    }

    /// Takes in an item of which all counts.
    fn whole(&mut self, item: &impl ToTokens, attributes: &[Attribute], context: &Context) {
        let is_for_tests = context.is_for_tests || are_for_tests(attributes);
        // A derivation or another macro may use documentation, and so may a macro's definition.
        let with_docs = !attributes.iter().all(is_plain);
        let context = Context {
            is_for_tests,
            ..context.clone()
        };
        let sink = self.rest(&context);
        sink.take(item.to_token_stream(), with_docs);
        sink.text.push(0);
    }

    fn module(&mut self, mut module: ItemMod, context: &Context) {
        let Some((_, items)) = module
            .content
            .take()
            .filter(|_| module.attrs.iter().all(is_plain))
        else {
            return self.whole(&module, &module.attrs, context);
        };
        let inner = Context {
            path: format!("{}{}::", context.path, module.ident),
            is_for_tests: context.is_for_tests || are_for_tests(&module.attrs),
            of: Of::Module,
        };
        self.whole(&module, &module.attrs, context);
        for item in items {
            self.item(item, &inner);
        }
        self.rest(&inner).text.extend(b"} ");
    }

    fn implementation(&mut self, mut block: ItemImpl, context: &Context) {
        if !block.attrs.iter().all(is_plain) {
            return self.whole(&block, &block.attrs, context);
        }
        let items = std::mem::take(&mut block.items);
        let name = match &*block.self_ty {
            syn::Type::Path(path) if path.qself.is_none() => {
                let last = path.path.segments.last();
                last.map_or_else(String::new, |last| plain(&last.ident))
            }
            _ => String::new(),
        };
        let mut path = context.path.clone();
        let of = match &block.trait_ {
            Some((_, of, _)) => {
                let last = of.segments.last().map(ToTokens::to_token_stream);
                let last = last.unwrap_or_default().to_string().replace(' ', "");
                let own = block.self_ty.to_token_stream().to_string().replace(' ', "");
                path.push_str(&format!("<{own} as {last}>::"));
                Of::Trait(name.clone())
            }
            None => {
                let own = block.self_ty.to_token_stream().to_string().replace(' ', "");
                path.push_str(&format!("{own}::"));
                Of::Type(name.clone())
            }
        };
        let inner = Context {
            path,
            is_for_tests: context.is_for_tests || are_for_tests(&block.attrs),
            of,
        };
        // All that stands here is about the type.
        let around = std::mem::take(self.rest(&inner));
        self.whole(&block, &[], &inner);
        for item in items {
            match item {
                ImplItem::Fn(function) => {
                    let mut before = function.defaultness.to_token_stream();
                    function.vis.to_tokens(&mut before);
                    let written = Written {
                        attributes: &function.attrs,
                        before,
                        signature: &function.sig,
                        block: &function.block,
                        lines: lines(&function),
                    };
                    if !self.function(&written, &inner) {
                        self.whole(&function, &function.attrs, &inner);
                    }
                }
                other => self.whole(&other, &[], &inner),
            }
        }
        let sink = std::mem::replace(self.rest(&inner), around);
        self.declare(Kind::Implementation, vec![name], sink);
    }

    fn of_trait(&mut self, mut one: ItemTrait, context: &Context) {
        self.traits.insert(plain(&one.ident));
        if !one.attrs.iter().all(is_plain) {
            return self.whole(&one, &one.attrs, context);
        }
        let items = std::mem::take(&mut one.items);
        self.whole(&one, &one.attrs, context);
        let inner = Context {
            path: format!("{}{}::", context.path, one.ident),
            is_for_tests: context.is_for_tests || are_for_tests(&one.attrs),
            of: Of::Trait(String::new()),
        };
        for item in items {
            let TraitItem::Fn(function) = &item else {
                self.whole(&item, &[], &inner);
                continue;
            };
            let written = function.default.as_ref().map(|block| Written {
                attributes: &function.attrs,
                before: TokenStream::new(),
                signature: &function.sig,
                block,
                lines: lines(function),
            });
            if !written.is_some_and(|written| self.function(&written, &inner)) {
                self.whole(function, &function.attrs, &inner);
            }
        }
        self.rest(&inner).text.extend(b"} ");
    }

    /// Takes in a function by itself; says whether that is possible.
    fn function(&mut self, written: &Written<'_>, context: &Context) -> bool {
        if !is_apart(written) {
            return false;
        }
        let context = &Context {
            is_for_tests: context.is_for_tests || are_for_tests(written.attributes),
            ..context.clone()
        };
        let mut signature = Sink::default();
        let about = written.attributes.iter().map(ToTokens::to_token_stream);
        about.for_each(|attribute| signature.take(attribute, false));
        signature.take(written.before.clone(), false);
        signature.take(written.signature.to_token_stream(), false);
        let name = plain(&written.signature.ident);
        let mut body = signature.clone();
        body.take(written.block.to_token_stream(), false);
        // What the compiler runs, or puts into who calls it, counts for these.
        let shown = match is_seen_through(written) {
            true => body.clone(),
            false => signature,
        };
        let has_self = written.signature.receiver().is_some();
        let owner = match &context.of {
            Of::Module => None,
            Of::Type(owner) => Some(owner.clone()),
            Of::Trait(owner) => Some(owner.clone()),
        };
        if let Of::Trait(_) = &context.of {
            // Its name alone says that it is there.
            self.rest(context).add(shown);
        } else {
            let owner = owner.clone();
            let kind = Kind::Function { owner, has_self };
            self.declare(kind, vec![name.clone()], shown);
        }
        self.functions.push(RustFunction {
            name: format!("{}{name}", context.path),
            lines: written.lines,
            body: Rest::of(body),
            owner,
        });
        true
    }
}

/// Whether a body counts only for who runs it.
fn is_apart(written: &Written<'_>) -> bool {
    let mut inside = Inside::default();
    inside.visit_block(written.block);
    let is_known = |one: &Attribute| is_plain(one) || is_test(one);
    written.attributes.iter().all(is_known) && !inside.declares
}

/// Whether a body counts for who names the function: the compiler evaluates it, copies it, or
/// takes a type from it.
fn is_seen_through(written: &Written<'_>) -> bool {
    let signature = written.signature;
    let is_copied = written.attributes.iter().any(|one| {
        one.path().is_ident("inline") && one.to_token_stream().to_string().contains("always")
    });
    let returned = signature.output.to_token_stream().to_string();
    let mut words = returned.split(|c: char| !c.is_alphanumeric());
    let has_own_type = words.any(|word| word == "impl");
    let is_early = signature.constness.is_some() || signature.asyncness.is_some();
    is_early || is_copied || has_own_type
}

/// What an item is called that means nothing to who does not name it.
fn named(item: &Item) -> Option<(Kind, Vec<String>)> {
    let (kind, name) = match item {
        Item::Const(one) => (Kind::Other, &one.ident),
        Item::Enum(one) => {
            let variants = one.variants.iter().map(|variant| &variant.ident);
            let names = [&one.ident].into_iter().chain(variants);
            return Some((Kind::Type, names.map(plain).collect()));
        }
        Item::Static(one) => (Kind::Other, &one.ident),
        Item::Struct(one) => (Kind::Type, &one.ident),
        Item::Type(one) => (Kind::Other, &one.ident),
        Item::Union(one) => (Kind::Type, &one.ident),
        _ => return None,
    };
    (name != "_").then(|| (kind, vec![plain(name)]))
}

/// From the first line of something to its last one.
fn lines(what: &impl Spanned) -> (u32, u32) {
    let span = what.span();
    (span.start().line as u32, span.end().line as u32)
}
