//! pytest's own marks: decorators that note something on a function, which
//! pytest checks when it collects the file.

use std::collections::BTreeSet;

use ruff_python_ast::{self as ast, Expr};

use super::purity::{Kind, Scope};

impl Scope<'_> {
    /// Whether every decorator that is a mark is one with which collecting the
    /// file cannot fail; and which of the decorators are marks.
    pub(super) fn marks(&self, def: &ast::StmtFunctionDef) -> Option<Vec<bool>> {
        let mut arguments = BTreeSet::new();
        let decorators = def.decorator_list.iter();
        decorators
            .map(|decorator| match self.mark(&decorator.expression) {
                None => Some(false),
                Some((name, call)) => self
                    .is_sound_mark(name, call, def, &mut arguments)
                    .then_some(true),
            })
            .collect()
    }

    /// `pytest.mark.NAME` and `pytest.mark.NAME(…)`.
    fn mark<'e>(&self, expr: &'e Expr) -> Option<(&'e str, Option<&'e ast::ExprCall>)> {
        let (target, call) = match expr {
            Expr::Call(call) => (&*call.func, Some(call)),
            other => (other, None),
        };
        let Expr::Attribute(name) = target else {
            return None;
        };
        let Expr::Attribute(mark) = &*name.value else {
            return None;
        };
        let is_pytest = match &*mark.value {
            Expr::Name(base) => {
                self.bound.get(base.id.as_str()) == Some(&Kind::StdModule("pytest".to_owned()))
            }
            _ => false,
        };
        (is_pytest && mark.attr.as_str() == "mark").then_some((name.attr.as_str(), call))
    }

    fn is_sound_mark(
        &self,
        name: &str,
        call: Option<&ast::ExprCall>,
        def: &ast::StmtFunctionDef,
        arguments: &mut BTreeSet<String>,
    ) -> bool {
        let Some(call) = call else {
            return matches!(name, "skip" | "xfail");
        };
        let args = &call.arguments.args;
        let keywords = &call.arguments.keywords;
        let are_texts = args.iter().all(Expr::is_string_literal_expr);
        match name {
            // What is wrong with these shows when the one test starts.
            "skip" | "skipif" | "xfail" => {
                args.iter().all(|arg| self.is_safe(arg))
                    && keywords.iter().all(|keyword| {
                        let name = keyword.arg.as_deref().unwrap_or_default();
                        matches!(name, "reason" | "strict" | "run" | "raises" | "condition")
                            && self.is_safe(&keyword.value)
                    })
            }
            "usefixtures" | "filterwarnings" => are_texts && keywords.is_empty(),
            "parametrize" => self.is_sound_parametrization(call, def, arguments),
            _ => false,
        }
    }

    /// Names that are arguments of the function, each once, and as many values
    /// as names, spelled out.
    fn is_sound_parametrization(
        &self,
        call: &ast::ExprCall,
        def: &ast::StmtFunctionDef,
        arguments: &mut BTreeSet<String>,
    ) -> bool {
        let [names, values] = &call.arguments.args[..] else {
            return false;
        };
        let Some(names) = argument_names(names) else {
            return false;
        };
        let is_argument = |name: &String| {
            def.parameters
                .iter_non_variadic_params()
                .any(|one| one.parameter.name.as_str() == name && one.default.is_none())
        };
        let Some(values) = elements(values) else {
            return false;
        };
        let ids = match &call.arguments.keywords[..] {
            [] => true,
            [only] => {
                only.arg.as_deref() == Some("ids")
                    && elements(&only.value).is_some_and(|ids| {
                        ids.len() == values.len() && ids.iter().all(Expr::is_string_literal_expr)
                    })
            }
            _ => false,
        };
        ids && !names.is_empty()
            && !values.is_empty()
            && names.iter().all(is_argument)
            && names.iter().all(|name| arguments.insert(name.clone()))
            && values
                .iter()
                .all(|value| self.is_parameter_set(value, names.len()))
    }

    fn is_parameter_set(&self, value: &Expr, count: usize) -> bool {
        if let Expr::Call(call) = value {
            let is_param = match &*call.func {
                Expr::Attribute(attribute) => {
                    attribute.attr.as_str() == "param"
                        && matches!(&*attribute.value, Expr::Name(base)
                            if self.bound.get(base.id.as_str())
                                == Some(&Kind::StdModule("pytest".to_owned())))
                }
                _ => false,
            };
            let has_plain_id = call.arguments.keywords.iter().all(|keyword| {
                keyword.arg.as_deref() == Some("id") && keyword.value.is_string_literal_expr()
            });
            if is_param {
                return has_plain_id
                    && call.arguments.args.len() == count
                    && call.arguments.args.iter().all(|arg| self.is_safe(arg));
            }
        }
        match count {
            1 => self.is_safe(value),
            _ => elements(value).is_some_and(|parts| {
                parts.len() == count && parts.iter().all(|part| self.is_safe(part))
            }),
        }
    }
}

/// `"a, b"`, `("a", "b")`, `["a", "b"]`.
fn argument_names(expr: &Expr) -> Option<Vec<String>> {
    let text = |expr: &Expr| match expr {
        Expr::StringLiteral(text) => Some(text.value.to_str().to_owned()),
        _ => None,
    };
    if let Some(names) = text(expr) {
        let names = names.split(',').map(|name| name.trim().to_owned());
        return Some(names.filter(|name| !name.is_empty()).collect());
    }
    // With one name in a list, values come in lists, too.
    let parts = elements(expr)?;
    (parts.len() > 1).then(|| parts.iter().map(text).collect())?
}

/// The elements of a list or tuple that is spelled out.
fn elements(expr: &Expr) -> Option<&[Expr]> {
    let parts = match expr {
        Expr::List(list) => &list.elts,
        Expr::Tuple(tuple) => &tuple.elts,
        _ => return None,
    };
    (!parts.iter().any(Expr::is_starred_expr)).then_some(parts)
}
