//! From a code object of the interpreter to the unit that it belongs to.

use super::module::{ModuleUnits, Outline, Span, UnitAt, name_hash};

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
