//! What is different about a unit between two states, in words.

use std::fmt;

use anyhow::Result;

use super::{Facts, LANGUAGES, Value};
use crate::matrix::{Fingerprint, Unit};

/// One difference between what a unit was and what it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It was not there.
    Appeared,
    Missing,
    Body,
    /// The bases of a class.
    Bases,
    /// What a class statement gives besides bases.
    ClassKeywords,
    Decorators,
    Docstring,
    TypeParameters,
    ParameterAdded(String),
    ParameterRemoved(String),
    /// The order of parameters, or how they can be given.
    Parameters,
    Default(String),
    Annotation(String),
    /// Of a variable.
    OwnAnnotation,
    Returns,
    /// It became a generator or a coroutine, or ceased to be one.
    Flavour,
    MemberAdded(String),
    MemberRemoved(String),
    MemberChanged(String),
    /// What is different about the definition of a method.
    Member(String, Box<Change>),
    MemberOrder,
    Value,
    ImportSource,
    /// It is something else now: what it was, what it is.
    Kind(&'static str, &'static str),
    /// Another number of effects comes before it: how many did, how many do.
    Place(u32, u32),
    /// A statement that does more than bind can bind it now.
    Impure,
    /// No statement that does more than bind can bind it any longer.
    Pure,
    /// By line, in the new source.
    EffectAdded(u32),
    /// By line, in the old source.
    EffectRemoved(u32),
    /// By line, in the new source.
    EffectChanged(u32),
    /// A statement that defines this name and does more: by line, in the new
    /// source, and what is different about the definition.
    Effect(u32, String, Box<Change>),
    /// The same effects in another order.
    EffectOrder,
    /// A name of the module that is part of the unit, and what is different
    /// about it.
    Of(String, Box<Change>),
    /// The source could not be read as such, or cannot now.
    Syntax,
    Other,
}

impl Change {
    /// What two different fingerprints tell by themselves.
    pub fn between(was: Fingerprint, is: Fingerprint) -> Change {
        match (was, is) {
            (Fingerprint::MISSING, _) => Change::Appeared,
            (_, Fingerprint::MISSING) => Change::Missing,
            _ => Change::Other,
        }
    }

    /// The word for it in JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Change::Appeared => "appeared",
            Change::Missing => "missing",
            Change::Body => "body",
            Change::Bases => "bases",
            Change::ClassKeywords => "class-keywords",
            Change::Decorators => "decorators",
            Change::Docstring => "docstring",
            Change::TypeParameters => "type-parameters",
            Change::ParameterAdded(_) => "parameter-added",
            Change::ParameterRemoved(_) => "parameter-removed",
            Change::Parameters => "parameters",
            Change::Default(_) => "default",
            Change::Annotation(_) | Change::OwnAnnotation => "annotation",
            Change::Returns => "returns",
            Change::Flavour => "flavour",
            Change::MemberAdded(_) => "member-added",
            Change::MemberRemoved(_) => "member-removed",
            Change::MemberChanged(_) => "member-changed",
            Change::MemberOrder => "member-order",
            Change::Value => "value",
            Change::ImportSource => "import-source",
            Change::Kind(..) => "kind",
            Change::Place(..) => "place",
            Change::Impure => "impure",
            Change::Pure => "pure",
            Change::EffectAdded(_) => "effect-added",
            Change::EffectRemoved(_) => "effect-removed",
            Change::EffectChanged(_) => "effect-changed",
            Change::EffectOrder => "effect-order",
            Change::Member(_, inner) | Change::Of(_, inner) | Change::Effect(.., inner) => {
                inner.kind()
            }
            Change::Syntax => "syntax",
            Change::Other => "other",
        }
    }

    /// The parameter, member or name that it is about.
    pub fn name(&self) -> Option<&str> {
        match self {
            Change::ParameterAdded(name)
            | Change::ParameterRemoved(name)
            | Change::Default(name)
            | Change::Annotation(name)
            | Change::MemberAdded(name)
            | Change::MemberRemoved(name)
            | Change::MemberChanged(name) => Some(name),
            Change::Member(_, inner) | Change::Of(_, inner) | Change::Effect(.., inner) => {
                inner.name()
            }
            _ => None,
        }
    }

    /// Where the statement stands that it is about: in the new source, or, if
    /// it is gone, in the old one.
    pub fn line(&self) -> Option<u32> {
        match self {
            Change::EffectAdded(line)
            | Change::EffectRemoved(line)
            | Change::EffectChanged(line)
            | Change::Effect(line, ..) => Some(*line),
            Change::Of(_, inner) => inner.line(),
            _ => None,
        }
    }

    /// Of a unit that holds several definitions: which one it is about.
    pub fn of(&self) -> Option<String> {
        match self {
            Change::Member(name, _) => Some(name.clone()),
            Change::Of(name, inner) | Change::Effect(_, name, inner) => Some(match inner.of() {
                Some(inner) => format!("{name}.{inner}"),
                None => name.clone(),
            }),
            _ => None,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Appeared => f.write_str("new"),
            Change::Missing => f.write_str("now missing"),
            Change::Body => f.write_str("body changed"),
            Change::Bases => f.write_str("bases changed"),
            Change::ClassKeywords => f.write_str("class keywords changed"),
            Change::Decorators => f.write_str("decorators changed"),
            Change::Docstring => f.write_str("docstring changed"),
            Change::TypeParameters => f.write_str("type parameters changed"),
            Change::ParameterAdded(name) => write!(f, "parameter `{name}` added"),
            Change::ParameterRemoved(name) => write!(f, "parameter `{name}` removed"),
            Change::Parameters => f.write_str("order or kind of parameters changed"),
            Change::Default(name) => write!(f, "default of `{name}` changed"),
            Change::Annotation(name) => write!(f, "annotation of `{name}` changed"),
            Change::OwnAnnotation => f.write_str("annotation changed"),
            Change::Returns => f.write_str("return annotation changed"),
            Change::Flavour => f.write_str("became or ceased to be a generator or coroutine"),
            Change::MemberAdded(name) => write!(f, "member `{name}` added"),
            Change::MemberRemoved(name) => write!(f, "member `{name}` removed"),
            Change::MemberChanged(name) => write!(f, "member `{name}` changed"),
            Change::Member(name, inner) => write!(f, "member `{name}`: {inner}"),
            Change::MemberOrder => f.write_str("order of members changed"),
            Change::Value => f.write_str("value changed"),
            Change::ImportSource => f.write_str("import source changed"),
            Change::Kind(was, is) => write!(f, "was {was}, is {is} now"),
            Change::Place(was, is) => {
                let s = if *is == 1 { "" } else { "s" };
                write!(f, "comes after {is} effect statement{s}, was after {was}")
            }
            Change::Impure => f.write_str("bound by an effect statement now"),
            Change::Pure => f.write_str("no longer bound by an effect statement"),
            Change::EffectAdded(line) => write!(f, "effect statement at line {line} added"),
            Change::EffectRemoved(line) => {
                write!(f, "effect statement removed, was at line {line}")
            }
            Change::EffectChanged(line) => write!(f, "effect statement at line {line} changed"),
            Change::Effect(line, name, inner) => {
                write!(f, "`{name}`, an effect statement at line {line}: {inner}")
            }
            Change::EffectOrder => f.write_str("order of effect statements changed"),
            Change::Of(name, inner) => write!(f, "`{name}`: {inner}"),
            Change::Syntax => f.write_str("its syntax was or is not readable"),
            Change::Other => f.write_str("changed"),
        }
    }
}

impl Facts<'_> {
    /// What is different about `unit` between the state of `then` and this one;
    /// empty if nothing is.
    ///
    /// # Errors
    /// If a source cannot be read.
    pub fn changes(&self, then: &Facts<'_>, unit: &Unit) -> Result<Vec<Change>> {
        let (Value::Known(was), Value::Known(is)) = (then.value(unit), self.value(unit)) else {
            return Ok(vec![Change::Other]);
        };
        if was == is {
            return Ok(Vec::new());
        }
        for language in LANGUAGES {
            if let Some(changes) = language.changes(then, self, unit)? {
                return Ok(changes);
            }
        }
        Ok(vec![Change::between(was, is)])
    }
}
