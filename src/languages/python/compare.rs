//! What is different about a unit of a Python source between two states. No more is
//! said than is sure: [`Change::Other`] is always right.

use anyhow::Result;

use crate::languages::{Analysis, Change, Facts, ModuleUnits, annotated, is_docstring, python};
use crate::matrix::{Fingerprint, Unit, What};

/// What is different about `unit` between two states, where its value is not the same;
/// `None` if it is of no source that can be read in both.
///
/// # Errors
/// If a source cannot be read.
pub(super) fn changes(
    then: &Facts<'_>,
    now: &Facts<'_>,
    unit: &Unit,
) -> Result<Option<Vec<Change>>> {
    if !unit.kind().is_source() || unit.is_outside() {
        return Ok(None);
    }
    let both = (then.module(unit.path())?, now.module(unit.path())?);
    match (both.0.as_deref(), both.1.as_deref()) {
        (Some(Analysis::Parsed(was)), Some(Analysis::Parsed(is))) => {
            now.source_changes(then, unit, was, is).map(Some)
        }
        (Some(_), Some(_)) => Ok(Some(vec![Change::Syntax])),
        (None, _) | (_, None) => Ok(None),
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
