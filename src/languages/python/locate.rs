//! From a code object of the interpreter to the unit that it belongs to.

use super::module::{ModuleUnits, Outline, Span, UnitAt, name_hash};
use crate::languages::{CLASS_DOCSTRING, FUNCTION_DOCSTRING, PartAt};

impl ModuleUnits {
    /// The unit of the code object with this `co_firstlineno` and `co_name`
    /// (Python 3.8 and later). `None`: the source has no such code, so that
    /// trace and source are not of the same content.
    ///
    /// On a line that holds both a header and a body, things of the header
    /// count as the body: the skeleton is in every row with the module anyway.
    pub fn unit_at(&self, first_line: u32, code_name: &str) -> Option<UnitAt<'_>> {
        // Interpreters disagree on the line of a module.
        if code_name == "<module>" {
            return Some(UnitAt::Skeleton);
        }
        let outline = &self.outline;
        if first_line == 0 || first_line > outline.lines {
            return None;
        }
        let part = match outline.span_at(first_line) {
            Some(span) if first_line >= span.body || code_name == span.name() => {
                UnitAt::Code(&span.unit)
            }
            Some(_) | None => UnitAt::Skeleton,
        };
        outline.has(first_line, code_name).then_some(part)
    }
}

impl ModuleUnits {
    /// Whether a unit is the code of one function only.
    pub(super) fn defines_once(&self, unit: &str) -> bool {
        let spans = self.outline.spans.iter();
        spans.filter(|span| *span.unit == *unit).count() == 1
    }
}

/// Where the docstring of a function is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DocstringAt<'a> {
    /// With the body that the function stands in, as part of this `code` unit.
    Code(&'a str),
    /// In what is bound to this name: `f.''`, `C.""`, or that of all effects.
    Binding(String),
}

impl ModuleUnits {
    /// Where the docstring of a function with this first line and name is; `None` if that
    /// is not known.
    pub(super) fn docstring_at(&self, first_line: u32, name: &str) -> Option<DocstringAt<'_>> {
        let UnitAt::Code(unit) = self.unit_at(first_line, name)? else {
            return None;
        };
        if self.outline.span_at(first_line)?.first != first_line {
            return Some(DocstringAt::Code(unit));
        }
        let class = unit.split('.').next().unwrap_or(unit);
        let of = [
            format!("{unit}.{FUNCTION_DOCSTRING}"),
            format!("{class}.{CLASS_DOCSTRING}"),
        ];
        let mut bound = of
            .into_iter()
            .filter(|of| self.names.bindings.contains_key(of));
        let of_effects = || {
            let is_effect = self.names.part_at(first_line) == PartAt::Effects;
            is_effect.then(|| FUNCTION_DOCSTRING.to_owned())
        };
        bound.next().or_else(of_effects).map(DocstringAt::Binding)
    }
}

impl Outline {
    fn span_at(&self, line: u32) -> Option<&Span> {
        let after = self.spans.partition_point(|span| span.first <= line);
        let span = &self.spans[after.checked_sub(1)?];
        (line <= span.last).then_some(span)
    }

    /// Whether the source has such code. Lambdas, comprehensions and the like
    /// are taken at their word.
    fn has(&self, line: u32, code_name: &str) -> bool {
        let hash = name_hash(code_name);
        code_name.starts_with('<')
            || code_name == "__annotate__"
            || self.definitions.binary_search(&(line, hash)).is_ok()
            || self.evaluators.binary_search(&hash).is_ok()
    }
}

impl Span {
    /// The function's own name: the last part of the qualified one.
    fn name(&self) -> &str {
        self.unit.rsplit('.').next().unwrap_or(&self.unit)
    }
}
