//! The statements of test functions: where they stand, and what they name.

mod look;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ruff_python_ast::{self as ast, Stmt};
use ruff_text_size::{Ranged, TextRange};

use self::look::{Looked, look_at};
use super::source::Source;
use super::with_module;
use crate::minimise::{Part, Role, SourceText, StatementText, TestText};

/// The test functions of a source file.
///
/// # Errors
/// If it cannot be parsed, or its bytes are not those of its text.
pub(crate) fn tests_in(bytes: &[u8]) -> Result<SourceText, String> {
    let raw = std::str::from_utf8(bytes).map_err(|_| "its source is not UTF-8".to_owned())?;
    with_module(bytes, |source, body| {
        let places = Places::new(raw, &source.text)?;
        let mut found = Vec::new();
        let file = File { source, places };
        file.functions(body, "", false, &mut found);
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        for test in &found {
            *count.entry(test.qualified.clone()).or_default() += 1;
        }
        for test in &mut found {
            if count[&test.qualified] > 1 {
                test.alone = Some("its file defines it twice".to_owned());
            }
        }
        share_members(&mut found);
        Ok(SourceText {
            comment: "#",
            tests: found,
        })
    })?
}

/// What one test of a class names of its instance counts for all: a method may use whatever the
/// instance has.
fn share_members(tests: &mut [TestText]) {
    let class = |test: &TestText| {
        test.qualified
            .rsplit_once('.')
            .map(|(class, _)| class.to_owned())
    };
    let mut members: BTreeMap<Option<String>, BTreeSet<String>> = BTreeMap::new();
    for test in tests.iter() {
        let Some(instance) = &test.instance else {
            continue;
        };
        let used = test.statements.iter().flat_map(|one| &one.part.used);
        let of_instance = used.filter(|name| name.split('.').next() == Some(instance));
        members
            .entry(class(test))
            .or_default()
            .extend(of_instance.cloned());
    }
    for test in tests.iter_mut().filter(|test| test.instance.is_some()) {
        let found = members.get(&class(test)).into_iter().flatten();
        test.members = found.cloned().collect();
    }
}

/// From the text, in which all lines end with `\n`, to the bytes of the file.
struct Places {
    /// Where in the text the bytes have something more before them; how much in all.
    shifts: Vec<(usize, usize)>,
}

impl Places {
    fn new(raw: &str, text: &str) -> Result<Places, String> {
        let mut shifts = Vec::new();
        let mark = raw.len() - raw.strip_prefix('\u{feff}').unwrap_or(raw).len();
        let mut total = mark;
        shifts.push((0, mark));
        for (at, _) in raw.match_indices("\r\n") {
            // The text has the line feed where the bytes have the carriage return.
            let place = at - total;
            total += 1;
            shifts.push((place + 1, total));
        }
        match raw.len() == text.len() + total {
            true => Ok(Places { shifts }),
            false => Err("its source is not UTF-8".to_owned()),
        }
    }

    fn at(&self, place: usize) -> usize {
        let before = self.shifts.partition_point(|(from, _)| *from <= place);
        place + before.checked_sub(1).map_or(0, |at| self.shifts[at].1)
    }

    fn range(&self, range: TextRange) -> Range<usize> {
        self.at(range.start().to_usize())..self.at(range.end().to_usize())
    }
}

struct File<'s> {
    source: &'s Source<'s>,
    places: Places,
}

impl File<'_> {
    fn functions(&self, body: &[Stmt], prefix: &str, in_class: bool, found: &mut Vec<TestText>) {
        for statement in body {
            match statement {
                Stmt::ClassDef(class) => {
                    let prefix = format!("{prefix}{}.", class.name);
                    self.functions(&class.body, &prefix, true, found);
                }
                Stmt::FunctionDef(function) => {
                    found.push(self.test(function, format!("{prefix}{}", function.name), in_class));
                }
                _ => {}
            }
        }
    }

    fn test(&self, function: &ast::StmtFunctionDef, qualified: String, in_class: bool) -> TestText {
        let text = &*self.source.text;
        let start = line_start(text, function.range.start().to_usize());
        let above = self.comments_above(start);
        let parameters = &function.parameters;
        let mut names: Vec<String> = parameters
            .args
            .iter()
            .map(|one| one.parameter.name.to_string())
            .collect();
        let instance = (in_class && !names.is_empty()).then(|| names.remove(0));
        let last = function.range.end().to_usize();
        let end = line_end(text, last);
        let mut test = TestText {
            qualified,
            whole: self.places.at(above)..self.places.at(end),
            above: self.places.at(above)..self.places.at(start),
            name: self.places.range(function.name.range()),
            parameters_end: self.places.at(self.parameters_end(function)),
            parameters: names,
            instance,
            members: Vec::new(),
            indent: String::new(),
            statements: Vec::new(),
            alone: self.why_alone(function),
        };
        let looked: Result<Vec<Looked>, String> = look_at(function, test.instance.as_deref());
        match looked {
            Ok(looked) => self.statements(function, looked, &mut test),
            Err(why) => test.alone = test.alone.or(Some(why)),
        }
        test
    }

    /// Where the comments directly above a function begin.
    fn comments_above(&self, start: usize) -> usize {
        let text = &*self.source.text;
        let column = text[start..].len() - text[start..].trim_start_matches([' ', '\t']).len();
        let mut at = start;
        while at > 0 {
            let before = line_start(text, at - 1);
            let line = &text[before..at];
            let is_above = line.trim_start().starts_with('#')
                && line.len() - line.trim_start_matches([' ', '\t']).len() == column;
            if !is_above {
                break;
            }
            at = before;
        }
        at
    }

    /// Behind the last parameter, or behind the opening parenthesis.
    fn parameters_end(&self, function: &ast::StmtFunctionDef) -> usize {
        let last = function.parameters.args.last();
        last.map_or(function.parameters.range.start().to_usize() + 1, |one| {
            one.range().end().to_usize()
        })
    }

    fn why_alone(&self, function: &ast::StmtFunctionDef) -> Option<String> {
        let parameters = &function.parameters;
        let is_plain = parameters.posonlyargs.is_empty()
            && parameters.kwonlyargs.is_empty()
            && parameters.vararg.is_none()
            && parameters.kwarg.is_none()
            && parameters.args.iter().all(|one| one.default.is_none());
        let text = &*self.source.text;
        let body = function.body.first()?;
        let in_line = &text[line_start(text, body.start().to_usize())..body.start().to_usize()];
        let why = match () {
            () if !function.decorator_list.is_empty() => "it is decorated",
            () if function.is_async => "it is asynchronous",
            () if !is_plain => "its parameters are not plain ones",
            () if function.type_params.is_some() => "it has type parameters",
            () if !in_line.trim().is_empty() => "its body is on the line of its name",
            () => return None,
        };
        Some(why.to_owned())
    }

    fn statements(
        &self,
        function: &ast::StmtFunctionDef,
        looked: Vec<Looked>,
        test: &mut TestText,
    ) {
        let text = &*self.source.text;
        let colon = function
            .body
            .first()
            .map_or(0, |one| one.start().to_usize());
        let first = line_start(text, colon);
        test.indent = text[first..colon].to_owned();
        let mut from = self.header_end(function);
        let mut last_line = 0;
        for (statement, looked) in function.body.iter().zip(looked) {
            let range = statement.range();
            let (start, end) = (range.start().to_usize(), range.end().to_usize());
            let first_line = self.source.line_at(range.start().into());
            let is_apart = first_line > last_line
                && text[line_start(text, start)..start].trim().is_empty()
                && is_end_of_line(&text[end..]);
            if !is_apart {
                test.alone
                    .get_or_insert("several of its statements share a line".to_owned());
            }
            last_line = self.source.line_at(range.end().into());
            let until = line_end(text, end);
            let mut names: Vec<(Range<usize>, String)> = Vec::new();
            for (range, name) in &looked.places {
                names.push((self.places.range(*range), name.clone()));
            }
            names.sort_by_key(|(range, _)| range.start);
            test.statements.push(StatementText {
                lines: self.places.at(from)..self.places.at(until),
                first_line,
                last_line,
                names,
                part: Part {
                    role: looked.role,
                    shape: shape(text, range, &looked),
                    used: looked.used,
                    defined: looked.defined,
                    fixed: looked.fixed,
                    free: looked.free,
                },
            });
            from = until;
        }
    }

    /// Behind the line on which the signature ends.
    fn header_end(&self, function: &ast::StmtFunctionDef) -> usize {
        let text = &*self.source.text;
        let after = function.returns.as_ref().map_or_else(
            || function.parameters.range.end().to_usize(),
            |returns| returns.range().end().to_usize(),
        );
        let colon = text[after..].find(':').map_or(after, |at| after + at);
        line_end(text, colon)
    }
}

/// The text of a statement with positions in place of its variables.
fn shape(text: &str, range: TextRange, looked: &Looked) -> String {
    let mut places: Vec<&(TextRange, String)> = looked.places.iter().collect();
    places.sort_by_key(|(range, _)| range.start());
    let mut shape = String::new();
    let mut at = range.start().to_usize();
    for (place, name) in places {
        let position = looked.used.iter().position(|one| one == name);
        shape.push_str(&text[at..place.start().to_usize()]);
        shape.push_str(&format!("${}", position.unwrap_or_default()));
        at = place.end().to_usize();
    }
    shape.push_str(&text[at..range.end().to_usize()]);
    shape
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// Behind the end of the line.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

fn is_end_of_line(rest: &str) -> bool {
    let line = rest.split('\n').next().unwrap_or_default().trim_start();
    line.is_empty() || line.starts_with('#')
}

#[cfg(test)]
mod tests;
