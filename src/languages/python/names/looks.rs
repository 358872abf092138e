//! What an expression or a class statement is, by its looks alone.

use ruff_python_ast::{self as ast, Expr, Number, Operator, Stmt, UnaryOp};

use crate::languages::python::walk::{RED_ZONE, STACK};

pub(super) fn bases(def: &ast::StmtClassDef) -> &[Expr] {
    def.arguments
        .as_deref()
        .map_or(&[], |arguments| &arguments.args)
}

/// No decorator, no metaclass, no type parameters.
pub(super) fn is_bare(def: &ast::StmtClassDef) -> bool {
    let arguments = def.arguments.as_deref();
    def.decorator_list.is_empty()
        && def.type_params.is_none()
        && arguments.is_none_or(|arguments| arguments.keywords.is_empty())
}

/// Whether the class, however, defines what happens when it is derived from.
pub(super) fn has_subclass_hook(body: &[Stmt]) -> bool {
    const HOOKS: [&str; 4] = [
        "__init_subclass__",
        "__mro_entries__",
        "__class_getitem__",
        "__class__",
    ];
    body.iter().any(|statement| {
        let stores = super::Stores::of(statement);
        stores.star || HOOKS.iter().any(|hook| stores.names.contains(*hook))
    })
}

pub(super) fn is_dunder(name: &str) -> bool {
    name.starts_with("__") && name.ends_with("__")
}

/// A literal that is no container.
pub(super) fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::UnaryOp(unary) => {
            matches!(unary.op, UnaryOp::USub | UnaryOp::UAdd)
                && matches!(&*unary.operand, Expr::NumberLiteral(_))
        }
        _ => expr.is_literal_expr(),
    }
}

/// A constant, or containers of such.
pub(super) fn is_literal(expr: &Expr) -> bool {
    stacker::maybe_grow(RED_ZONE, STACK, || match expr {
        Expr::Tuple(tuple) => tuple.elts.iter().all(is_literal),
        Expr::List(list) => list.elts.iter().all(is_literal),
        Expr::Set(set) => set.elts.iter().all(is_constant),
        Expr::Dict(dict) => dict
            .items
            .iter()
            .all(|item| item.key.as_ref().is_some_and(is_constant) && is_literal(&item.value)),
        _ => is_constant(expr) || is_arithmetic(expr, 0),
    })
}

/// Sums and products of small whole numbers, and joined strings.
pub(super) fn is_arithmetic(expr: &Expr, depth: u32) -> bool {
    fn is_text(expr: &Expr, depth: u32) -> bool {
        match expr {
            Expr::BinOp(binary) => {
                depth < 8
                    && binary.op == Operator::Add
                    && is_text(&binary.left, depth + 1)
                    && is_text(&binary.right, depth + 1)
            }
            _ => expr.is_string_literal_expr(),
        }
    }
    match expr {
        Expr::BinOp(binary) => {
            let is_whole = |side: &Expr| is_arithmetic(side, depth + 1);
            let is_sum = depth < 4
                && matches!(binary.op, Operator::Add | Operator::Sub | Operator::Mult)
                && is_whole(&binary.left)
                && is_whole(&binary.right);
            is_sum || is_text(expr, depth)
        }
        Expr::NumberLiteral(number) => {
            depth > 0
                && matches!(&number.value, Number::Int(int)
                    if int.as_u64().is_some_and(|value| value < 1 << 32))
        }
        _ => false,
    }
}
