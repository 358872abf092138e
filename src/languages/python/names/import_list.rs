//! The import statements of a module.

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{Expr, Stmt};

use crate::languages::python::names::model::Import;
use crate::languages::python::walk::{RED_ZONE, STACK};

/// Every import of a module, but those that only type checkers see.
pub(super) fn imports_of(body: &[Stmt]) -> Vec<Import> {
    let mut imports = Imports::default();
    for statement in body {
        imports.visit_stmt(statement);
    }
    imports.found
}

/// `TYPE_CHECKING` or `typing.TYPE_CHECKING`, by what the names stand for.
pub(super) fn is_type_checking<'a>(
    test: &Expr,
    meanings: impl Fn(&str) -> Option<&'a [(String, Option<String>)]>,
) -> bool {
    let is = |name: &str, item: Option<&str>| {
        meanings(name).is_some_and(|known| {
            known.iter().all(|(module, known)| {
                matches!(&**module, "typing" | "typing_extensions") && known.as_deref() == item
            })
        })
    };
    match test {
        Expr::Name(name) => name.id == "TYPE_CHECKING" && is(&name.id, Some("TYPE_CHECKING")),
        Expr::Attribute(attribute) => {
            attribute.attr.as_str() == "TYPE_CHECKING"
                && matches!(&*attribute.value, Expr::Name(base) if is(&base.id, None))
        }
        _ => false,
    }
}

/// All import statements of a module, but those for type checkers alone.
#[derive(Default)]
struct Imports {
    found: Vec<Import>,
    depth: u32,
}

impl<'a> Visitor<'a> for Imports {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        stacker::maybe_grow(RED_ZONE, STACK, || match statement {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let root = alias.name.split('.').next().unwrap_or_default();
                    let (bound, module) = match &alias.asname {
                        Some(name) => (name.to_string(), alias.name.to_string()),
                        None => (root.to_owned(), alias.name.to_string()),
                    };
                    self.add(bound, 0, module, None);
                }
            }
            Stmt::ImportFrom(import) => {
                let module = import.module.as_deref().unwrap_or_default();
                for alias in &import.names {
                    let bound = alias.asname.as_ref().unwrap_or(&alias.name);
                    let item = Some(alias.name.to_string());
                    self.add(bound.to_string(), import.level, module.to_owned(), item);
                }
            }
            Stmt::FunctionDef(_) => {
                self.depth += 1;
                walk_stmt(self, statement);
                self.depth -= 1;
            }
            Stmt::If(chain) if self.is_type_checking(&chain.test) => {
                for clause in &chain.elif_else_clauses {
                    self.visit_elif_else_clause(clause);
                }
            }
            _ => walk_stmt(self, statement),
        });
    }

    /// Statements are not inside expressions.
    fn visit_expr(&mut self, _: &'a Expr) {}
}

impl Imports {
    fn add(&mut self, bound: String, level: u32, module: String, item: Option<String>) {
        self.found.push(Import {
            bound,
            level,
            module,
            item,
            at_import: self.depth == 0,
        });
    }

    fn is_type_checking(&self, test: &Expr) -> bool {
        // The one name of such a test; by far the most tests are others.
        let name = match test {
            Expr::Name(name) if name.id == "TYPE_CHECKING" => Some(&name.id),
            Expr::Attribute(attribute) => attribute.value.as_name_expr().map(|name| &name.id),
            _ => None,
        };
        let Some(asked) = name.map(|name| name.as_str()) else {
            return false;
        };
        let meanings: Vec<(String, Option<String>)> = self
            .found
            .iter()
            .filter(|import| import.bound == asked)
            .map(|import| (import.module.clone(), import.item.clone()))
            .collect();
        let known = (!meanings.is_empty()).then_some(&meanings[..]);
        is_type_checking(test, |name| known.filter(|_| name == asked))
    }
}
