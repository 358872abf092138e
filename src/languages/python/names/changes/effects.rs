//! Which effects of a module are different.

use ruff_python_ast::Stmt;

use super::super::{Digested, header, split_seen, start};
use super::{Form, Parsed, class, function};
use crate::languages::Change;
use crate::languages::python::names::model::Known;

/// An effect: where it starts, and its normal form as it is digested.
struct Effect {
    line: u32,
    form: Form,
    /// What it defines, if it does: of a class the header alone, if nothing
    /// else is digested.
    definition: Option<Stmt>,
}

impl Effect {
    fn new(of: Parsed<'_>, statement: &Stmt, form: &[u8]) -> Effect {
        let whole = |statement: &Stmt| (of.statement(statement) == form).then(|| statement.clone());
        Effect {
            line: of.source.line_at(start(statement)),
            form: form.to_vec(),
            definition: match statement {
                Stmt::ClassDef(_) => whole(statement).or_else(|| whole(&header(statement))),
                Stmt::FunctionDef(_) => whole(statement),
                _ => None,
            },
        }
    }
}

/// What is different between two effects that stand in the same place.
fn effect((was, old): (Parsed<'_>, &Effect), (is, new): (Parsed<'_>, &Effect)) -> Vec<Change> {
    let (name, changes) = match (&old.definition, &new.definition) {
        (Some(Stmt::ClassDef(old)), Some(Stmt::ClassDef(new))) if old.name == new.name => {
            (&new.name, class((was, old), (is, new)))
        }
        (Some(Stmt::FunctionDef(old)), Some(Stmt::FunctionDef(new))) if old.name == new.name => {
            (&new.name, function((was, old), (is, new)))
        }
        _ => return vec![Change::EffectChanged(new.line)],
    };
    if changes.is_empty() {
        return vec![Change::EffectChanged(new.line)];
    }
    let of = |change| Change::Effect(new.line, name.to_string(), Box::new(change));
    changes.into_iter().map(of).collect()
}

fn effects_of(of: Parsed<'_>, known: &Known) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut see: Digested<'_> = Box::new(|statement, form| {
        effects.push(Effect::new(of, statement, form));
    });
    split_seen(of.source, of.body, known, &mut see);
    drop(see);
    effects
}

/// What is different about the effects of a module, with what other sources
/// tell of its imports.
pub(in crate::languages::python) fn effects(
    (was, was_known): (Parsed<'_>, &Known),
    (is, is_known): (Parsed<'_>, &Known),
) -> Vec<Change> {
    let (old, new) = (effects_of(was, was_known), effects_of(is, is_known));
    let sorted = |effects: &[Effect]| {
        let mut forms: Vec<Form> = effects.iter().map(|effect| effect.form.clone()).collect();
        forms.sort();
        forms
    };
    let same = |at: usize, now: usize| old[at].form == new[now].form;
    let mut found = Vec::new();
    let mut gaps = Gaps::between(old.len(), new.len(), same);
    if sorted(&old) == sorted(&new) {
        return match gaps.next() {
            Some(_) => vec![Change::EffectOrder],
            None => Vec::new(),
        };
    }
    for (gone, come) in gaps {
        let (gone, come) = (&old[gone], &new[come]);
        let paired = gone.len().min(come.len());
        let lines =
            |effects: &[Effect]| -> Vec<u32> { effects.iter().map(|effect| effect.line).collect() };
        for (old, new) in gone.iter().zip(come) {
            found.extend(effect((was, old), (is, new)));
        }
        found.extend(
            lines(&gone[paired..])
                .into_iter()
                .map(Change::EffectRemoved),
        );
        found.extend(lines(&come[paired..]).into_iter().map(Change::EffectAdded));
    }
    found
}

type Span = std::ops::Range<usize>;

/// The places where two lists differ, around a longest common subsequence.
struct Gaps(std::vec::IntoIter<(Span, Span)>);

impl Gaps {
    /// Above this many pairs only the ends are compared.
    const MOST: usize = 4_000_000;

    fn between(old: usize, new: usize, same: impl Fn(usize, usize) -> bool) -> Gaps {
        let head = (0..old.min(new)).take_while(|at| same(*at, *at)).count();
        let tail = (0..(old - head).min(new - head))
            .take_while(|back| same(old - 1 - back, new - 1 - back))
            .count();
        let (old_end, new_end) = (old - tail, new - tail);
        let (rows, columns) = (old_end - head, new_end - head);
        let mut gaps = Vec::new();
        if rows * columns > Gaps::MOST {
            gaps.push((head..old_end, head..new_end));
            return Gaps(gaps.into_iter());
        }
        // How long the common subsequence of what is left can be.
        let mut longest = vec![vec![0u32; columns + 1]; rows + 1];
        for row in (0..rows).rev() {
            for column in (0..columns).rev() {
                longest[row][column] = match same(head + row, head + column) {
                    true => longest[row + 1][column + 1] + 1,
                    false => longest[row + 1][column].max(longest[row][column + 1]),
                };
            }
        }
        let (mut row, mut column) = (0, 0);
        let mut since = (0, 0);
        let mut close = |since: (usize, usize), row: usize, column: usize| {
            if since != (row, column) {
                gaps.push((head + since.0..head + row, head + since.1..head + column));
            }
        };
        while row < rows && column < columns {
            if same(head + row, head + column) {
                close(since, row, column);
                (row, column) = (row + 1, column + 1);
                since = (row, column);
            } else if longest[row + 1][column] >= longest[row][column + 1] {
                row += 1;
            } else {
                column += 1;
            }
        }
        close(since, rows, columns);
        Gaps(gaps.into_iter())
    }
}

impl Iterator for Gaps {
    type Item = (Span, Span);

    fn next(&mut self) -> Option<(Span, Span)> {
        self.0.next()
    }
}
