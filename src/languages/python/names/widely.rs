//! By which words code can reach any name of any module: for people.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprContext, Stmt};

use super::changes::Parsed;
use super::uses::Reaching;
use crate::languages::python::dynamic::{
    is_watched_attribute, is_watched_import, is_wide_attribute, is_wide_import, is_wide_name,
};
use crate::languages::python::names::model::Import;
use crate::languages::python::walk::{RED_ZONE, STACK};

/// The words, each once, in order. `function` is the qualified name of a `code`
/// unit; without it all code outside functions is looked at.
pub(in crate::languages::python) fn words(of: Parsed<'_>, function: Option<&str>) -> Vec<String> {
    let mut looking = Looking {
        imports: Reaching::of_module(of.body).imports,
        wanted: function,
        prefix: String::new(),
        is_wanted: function.is_none(),
        found: Vec::new(),
    };
    for statement in of.body {
        looking.visit_stmt(statement);
    }
    looking.found
}

struct Looking<'f> {
    imports: Vec<Import>,
    wanted: Option<&'f str>,
    /// Of the qualified names of what is walked.
    prefix: String,
    is_wanted: bool,
    found: Vec<String>,
}

impl Looking<'_> {
    fn note(&mut self, word: String) {
        if self.is_wanted && !self.found.contains(&word) {
            self.found.push(word);
        }
    }

    /// What an imported name stands for, if that leads anywhere; `item` is
    /// asked of it.
    fn import(&mut self, name: &str, item: Option<&str>) {
        let wide = |import: &&Import| {
            import.level == 0
                && import.bound == name
                && [is_wide_import, is_watched_import]
                    .iter()
                    .any(|leads| leads(&import.module, import.item.as_deref().or(item)))
        };
        let found = self.imports.iter().find(wide).map(|import| {
            let parts = [Some(&*import.module), import.item.as_deref().or(item)];
            let parts: Vec<&str> = parts.into_iter().flatten().collect();
            parts.join(".")
        });
        if let Some(word) = found {
            self.note(word);
        }
    }
}

impl<'a> Visitor<'a> for Looking<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        stacker::maybe_grow(RED_ZONE, STACK, || match statement {
            Stmt::FunctionDef(def) if self.wanted.is_none() => {
                for decorator in &def.decorator_list {
                    self.visit_decorator(decorator);
                }
                self.visit_parameters(&def.parameters);
            }
            Stmt::FunctionDef(def) => {
                let name = format!("{}{}", self.prefix, def.name);
                let outer = self.is_wanted;
                self.is_wanted |= self.wanted == Some(&*name);
                for statement in &def.body {
                    self.visit_stmt(statement);
                }
                self.is_wanted = outer;
            }
            Stmt::ClassDef(def) => {
                let outer = self.prefix.len();
                self.prefix.push_str(&def.name);
                self.prefix.push('.');
                walk_stmt(self, statement);
                self.prefix.truncate(outer);
            }
            _ => walk_stmt(self, statement),
        });
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Load => {
                if is_wide_name(&name.id) {
                    self.note(name.id.to_string());
                }
                self.import(&name.id, None);
            }
            Expr::Attribute(attribute) => {
                if is_wide_attribute(&attribute.attr) || is_watched_attribute(&attribute.attr) {
                    self.note(attribute.attr.to_string());
                }
                if let Expr::Name(base) = &*attribute.value {
                    self.import(&base.id, Some(&attribute.attr));
                    // What the name stands for is not passed on here.
                    return;
                }
            }
            _ => {}
        }
        stacker::maybe_grow(RED_ZONE, STACK, || walk_expr(self, expr));
    }
}

#[cfg(test)]
mod tests {
    use crate::languages::python::wide_words;

    const SOURCE: &str = "
import inspect
import pickle as p
from sys import modules
X = eval('1')
def f(x):
    inspect.signature(x)
    return p.loads(x) or modules
class C:
    def m(self):
        def inner():
            exec('')
        return self.__subclasses__() or inspect.stack()
def quiet(x):
    return x.y
";

    #[test]
    fn words_are_those_of_the_unit() {
        let words = |function| wide_words(SOURCE.as_bytes(), function);
        assert_eq!(words(None), ["eval"]);
        assert_eq!(words(Some("f")), ["pickle.loads", "sys.modules"]);
        assert_eq!(
            words(Some("C.m")),
            ["exec", "__subclasses__", "inspect.stack"]
        );
        assert!(words(Some("quiet")).is_empty());
    }
}
