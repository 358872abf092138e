//! What is different about a unit between two states, in words.
//!
//! Nothing here is of one language: a front end compares two sources, and says
//! no more than it is sure of. [`Change::Other`] is always right.

use std::fmt;

use anyhow::Result;

use crate::languages::facts::{Facts, Value};
use crate::languages::{Analysis, ModuleUnits, annotated, is_docstring, python};
use crate::matrix::{Fingerprint, Unit, What};

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
    /// By which words the code of `unit` can reach any name of any module; empty
    /// if that cannot be told.
    pub fn wide_words(&self, unit: &Unit) -> Vec<String> {
        let source = match unit.is_outside() {
            true => None,
            false => self.view().read(unit.path()).ok().flatten(),
        };
        let function = match &unit.what {
            What::Code(name) => Some(&**name),
            _ => None,
        };
        source.map_or_else(Vec::new, |source| python::wide_words(&source, function))
    }

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
        if unit.kind().is_source() && !unit.is_outside() {
            let both = (then.module(unit.path())?, self.module(unit.path())?);
            match (both.0.as_deref(), both.1.as_deref()) {
                (Some(Analysis::Parsed(was)), Some(Analysis::Parsed(is))) => {
                    return self.source_changes(then, unit, was, is);
                }
                (Some(_), Some(_)) => return Ok(vec![Change::Syntax]),
                (None, _) | (_, None) => {}
            }
        }
        Ok(vec![Change::between(was, is)])
    }

    fn source_changes(
        &self,
        then: &Facts<'_>,
        unit: &Unit,
        was: &ModuleUnits,
        is: &ModuleUnits,
    ) -> Result<Vec<Change>> {
        let read = |facts: &Facts<'_>, module: &ModuleUnits| {
            let known = facts.known(unit.path(), &module.names)?;
            let source = facts.view().read(unit.path())?;
            anyhow::Ok((source.unwrap_or_default(), known))
        };
        let (was_source, is_source) = (read(then, was)?, read(self, is)?);
        let mut found = match &unit.what {
            What::Code(name) => {
                let value = |module: &ModuleUnits| {
                    let value = module.code.get(&**name).copied();
                    value.unwrap_or(Fingerprint::MISSING)
                };
                match Change::between(value(was), value(is)) {
                    Change::Other => vec![Change::Body],
                    other => vec![other],
                }
            }
            What::Presence(name) => presence(name, was, is),
            What::Effects => {
                python::effect_changes((&was_source.0, &was_source.1), (&is_source.0, &is_source.1))
            }
            What::Binding(_) | What::Note(..) => bound(&unit.name(), was, is, |name| {
                binding_changes(&was_source.0, &is_source.0, name)
            }),
            _ => {
                let mut all = Vec::new();
                let names = was.names.bindings.keys().chain(is.names.bindings.keys());
                let names: std::collections::BTreeSet<&String> = names.collect();
                for name in names {
                    if was.names.binding(name) != is.names.binding(name) {
                        let changes = bound(name, was, is, |name| {
                            binding_changes(&was_source.0, &is_source.0, name)
                        });
                        let name = annotated(name).unwrap_or(name);
                        let of = |change| match name {
                            // Of functions in effects.
                            "" => change,
                            name => Change::Of(name.to_owned(), Box::new(change)),
                        };
                        all.extend(changes.into_iter().map(of));
                    }
                }
                if was.names.effects.value != is.names.effects.value {
                    all.extend(python::effect_changes(
                        (&was_source.0, &was_source.1),
                        (&is_source.0, &is_source.1),
                    ));
                }
                all
            }
        };
        if found.is_empty() {
            found.push(Change::Other);
        }
        Ok(found)
    }
}

/// What is different about what pure statements bind to a name, or about the
/// annotations or the docstring of that.
fn binding_changes(was: &[u8], is: &[u8], name: &str) -> Vec<Change> {
    let Some(of) = annotated(name) else {
        return python::binding_changes(was, is, name);
    };
    let mut found = python::binding_changes(was, is, of);
    if is_docstring(name) {
        return vec![Change::Docstring];
    }
    found.retain(|change| {
        let change = match change {
            Change::Member(_, change) => change,
            change => change,
        };
        matches!(
            change,
            Change::Annotation(_)
                | Change::OwnAnnotation
                | Change::Returns
                | Change::MemberAdded(_)
                | Change::MemberRemoved(_)
                | Change::MemberChanged(_)
        )
    });
    if found.is_empty() {
        found.push(Change::OwnAnnotation);
    }
    found
}

/// What is different about a binding; `compare` looks at what binds it if pure
/// statements do so in both sources.
fn bound(
    name: &str,
    was: &ModuleUnits,
    is: &ModuleUnits,
    compare: impl Fn(&str) -> Vec<Change>,
) -> Vec<Change> {
    let (was, is) = (&was.names, &is.names);
    match (was.bindings.get(name), is.bindings.get(name)) {
        (Some(old), Some(new)) => {
            let mut found = compare(name);
            if found.is_empty() && old.effects_before != new.effects_before {
                found.push(Change::Place(old.effects_before, new.effects_before));
            }
            found
        }
        (Some(_), None) if is.effect_names.contains(name) => vec![Change::Impure],
        (None, Some(_)) if was.effect_names.contains(name) => vec![Change::Pure],
        _ => vec![Change::between(was.binding(name), is.binding(name))],
    }
}

/// What is different about whether and where a name is bound.
fn presence(name: &str, was: &ModuleUnits, is: &ModuleUnits) -> Vec<Change> {
    bound(name, was, is, |name| {
        let needed = |module: &ModuleUnits| module.names.classes.get(name).cloned();
        match (needed(was), needed(is)) {
            (Some(_), None) => vec![Change::Kind(
                "a class that does nothing to subclasses",
                "none",
            )],
            (None, Some(_)) => vec![Change::Kind(
                "no class that does nothing to subclasses",
                "one",
            )],
            (old, new) if old != new => vec![Change::Bases],
            _ => Vec::new(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_what_changed() {
        let say = |change: Change| change.to_string();
        assert_eq!(say(Change::Default("x".into())), "default of `x` changed");
        assert_eq!(
            say(Change::EffectAdded(3)),
            "effect statement at line 3 added"
        );
        assert_eq!(
            say(Change::Place(2, 1)),
            "comes after 1 effect statement, was after 2"
        );
        let of = Change::Of("RATE".into(), Box::new(Change::Value));
        assert_eq!(of.to_string(), "`RATE`: value changed");
        assert_eq!((of.kind(), of.name()), ("value", None));
        assert_eq!(of.of().as_deref(), Some("RATE"));
        let default = Change::Default("x".into());
        let member = Change::Member("m".into(), Box::new(default));
        let effect = Change::Effect(7, "C".into(), Box::new(member));
        assert_eq!(
            effect.to_string(),
            "`C`, an effect statement at line 7: member `m`: default of `x` changed"
        );
        assert_eq!((effect.kind(), effect.line()), ("default", Some(7)));
        assert_eq!(effect.name(), Some("x"));
        assert_eq!(effect.of().as_deref(), Some("C.m"));
    }

    #[test]
    fn fingerprints_alone_tell_what_appeared_and_what_is_gone() {
        let (missing, some) = (Fingerprint::MISSING, Fingerprint([1; 16]));
        assert_eq!(Change::between(missing, some), Change::Appeared);
        assert_eq!(Change::between(some, missing), Change::Missing);
        assert_eq!(Change::between(some, Fingerprint([2; 16])), Change::Other);
    }
}
