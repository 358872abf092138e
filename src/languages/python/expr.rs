//! Walks expressions and patterns.

use ruff_python_ast::{
    self as ast, Arguments, BoolOp, CmpOp, Comprehension, ConversionFlag, Expr, FStringPart,
    InterpolatedElement, InterpolatedStringElement, Number, Pattern, Singleton, StringLiteral,
    UnaryOp,
};

use super::digest::{Tag, Text};
use super::dynamic::{is_dynamic_attribute, is_dynamic_name, only_looks_at, takes_name};
use super::walk::{Walker, operator};

/// Longer string literals are not searched for names.
const MAX_NAME_TEXT: usize = 1_000;

impl Walker<'_> {
    pub(super) fn expr_here(&mut self, expr: &Expr) {
        match expr {
            Expr::BoolOp(expr) => self.bool_op(expr),
            Expr::Named(ast::ExprNamed { target, value, .. }) => {
                self.sink.tag(Tag::Named);
                self.expr(target);
                self.expr(value);
            }
            Expr::BinOp(expr) => self.bin_op(expr),
            Expr::UnaryOp(expr) => self.unary_op(expr),
            Expr::Lambda(expr) => self.lambda_expr(expr),
            Expr::If(expr) => self.if_expr(expr),
            Expr::Dict(expr) => self.dict(expr),
            Expr::Set(ast::ExprSet { elts, .. }) => {
                self.sink.tag(Tag::Set);
                self.exprs(elts);
            }
            Expr::ListComp(ast::ExprListComp {
                elt, generators, ..
            }) => self.comprehension(Tag::ListComp, elt, generators),
            Expr::SetComp(ast::ExprSetComp {
                elt, generators, ..
            }) => self.comprehension(Tag::SetComp, elt, generators),
            Expr::DictComp(expr) => self.dict_comp(expr),
            Expr::Generator(ast::ExprGenerator {
                elt, generators, ..
            }) => self.comprehension(Tag::Generator, elt, generators),
            Expr::Await(ast::ExprAwait { value, .. }) => {
                self.sink.tag(Tag::Await);
                self.expr(value);
            }
            Expr::Yield(ast::ExprYield { value, .. }) => {
                self.note_yield();
                self.sink.tag(Tag::Yield);
                self.optional(value.as_deref());
            }
            Expr::YieldFrom(ast::ExprYieldFrom { value, .. }) => {
                self.note_yield();
                self.sink.tag(Tag::YieldFrom);
                self.expr(value);
            }
            Expr::Compare(expr) => self.compare(expr),
            Expr::Call(call) => self.call(call),
            Expr::FString(ast::ExprFString { value, .. }) => self.f_string(value.as_slice()),
            Expr::TString(expr) => self.t_string(expr),
            Expr::StringLiteral(expr) => self.string_literal(expr),
            Expr::BytesLiteral(expr) => self.bytes_literal(expr),
            Expr::NumberLiteral(ast::ExprNumberLiteral { value, .. }) => self.number(value),
            Expr::BooleanLiteral(ast::ExprBooleanLiteral { value, .. }) => {
                self.sink.tag(Tag::Boolean);
                self.sink.flag(*value);
            }
            Expr::NoneLiteral(_) => self.sink.tag(Tag::NoneLiteral),
            Expr::EllipsisLiteral(_) => self.sink.tag(Tag::Ellipsis),
            Expr::Attribute(expr) => self.attribute_expr(expr),
            Expr::Subscript(ast::ExprSubscript { value, slice, .. }) => {
                self.sink.tag(Tag::Subscript);
                self.expr(value);
                self.expr(slice);
            }
            Expr::Starred(ast::ExprStarred { value, .. }) => {
                self.sink.tag(Tag::Starred);
                self.expr(value);
            }
            Expr::Name(expr) => self.name_expr(expr),
            Expr::List(ast::ExprList { elts, .. }) => {
                self.sink.tag(Tag::List);
                self.exprs(elts);
            }
            Expr::Tuple(ast::ExprTuple { elts, .. }) => {
                self.sink.tag(Tag::Tuple);
                self.exprs(elts);
            }
            Expr::Slice(expr) => self.slice_expr(expr),
            // Not in modules, only in notebooks.
            Expr::IpyEscapeCommand(ast::ExprIpyEscapeCommand { range, .. }) => {
                self.sink.tag(Tag::IpyEscape);
                self.raw(*range);
            }
        }
    }

    fn bool_op(&mut self, expr: &ast::ExprBoolOp) {
        let ast::ExprBoolOp { op, values, .. } = expr;
        self.sink.tag(Tag::BoolOp);
        self.sink.code(match op {
            BoolOp::And => 0,
            BoolOp::Or => 1,
        });
        self.exprs(values);
    }

    fn bin_op(&mut self, expr: &ast::ExprBinOp) {
        let ast::ExprBinOp {
            left, op, right, ..
        } = expr;
        self.sink.tag(Tag::BinOp);
        self.expr(left);
        self.sink.code(operator(*op));
        self.expr(right);
    }

    fn unary_op(&mut self, expr: &ast::ExprUnaryOp) {
        let ast::ExprUnaryOp { op, operand, .. } = expr;
        self.sink.tag(Tag::UnaryOp);
        self.sink.code(match op {
            UnaryOp::Invert => 0,
            UnaryOp::Not => 1,
            UnaryOp::UAdd => 2,
            UnaryOp::USub => 3,
        });
        self.expr(operand);
    }

    fn lambda_expr(&mut self, expr: &ast::ExprLambda) {
        let ast::ExprLambda {
            parameters, body, ..
        } = expr;
        self.sink.tag(Tag::Lambda);
        self.sink.flag(parameters.is_some());
        if let Some(parameters) = parameters {
            self.parameters(parameters);
        }
        self.lambda_body(body);
    }

    fn if_expr(&mut self, expr: &ast::ExprIf) {
        let ast::ExprIf {
            test, body, orelse, ..
        } = expr;
        self.sink.tag(Tag::IfExpr);
        self.expr(test);
        self.expr(body);
        self.expr(orelse);
    }

    fn dict(&mut self, expr: &ast::ExprDict) {
        let ast::ExprDict { items, .. } = expr;
        self.sink.tag(Tag::Dict);
        self.sink.count(items.len());
        for item in items {
            self.optional(item.key.as_ref());
            self.expr(&item.value);
        }
    }

    fn dict_comp(&mut self, expr: &ast::ExprDictComp) {
        let ast::ExprDictComp {
            key,
            value,
            generators,
            ..
        } = expr;
        self.sink.tag(Tag::DictComp);
        self.optional(key.as_deref());
        self.expr(value);
        self.generators(generators);
    }

    fn compare(&mut self, expr: &ast::ExprCompare) {
        let ast::ExprCompare {
            left,
            ops,
            comparators,
            ..
        } = expr;
        self.sink.tag(Tag::Compare);
        self.expr(left);
        self.sink.count(ops.len());
        for op in ops {
            self.sink.code(comparison(*op));
        }
        self.exprs(comparators);
    }

    fn t_string(&mut self, expr: &ast::ExprTString) {
        let ast::ExprTString { value, .. } = expr;
        self.sink.tag(Tag::TString);
        let mut text = Text::default();
        for part in value {
            let is_raw = part.flags.prefix().is_raw();
            self.elements(&part.elements, is_raw, true, &mut text);
        }
        self.flush(&mut text);
        self.sink.tag(Tag::End);
    }

    fn string_literal(&mut self, expr: &ast::ExprStringLiteral) {
        let ast::ExprStringLiteral { value, .. } = expr;
        let mut text = Text::default();
        for part in value {
            self.literal(part, &mut text);
        }
        self.sink.tag(Tag::StringLiteral);
        text.write(&mut self.sink);
        self.mention_text(text.value());
    }

    fn bytes_literal(&mut self, expr: &ast::ExprBytesLiteral) {
        let ast::ExprBytesLiteral { value, .. } = expr;
        self.sink.tag(Tag::BytesLiteral);
        self.sink
            .count(value.iter().map(|part| part.value.len()).sum());
        for part in value {
            self.sink.bytes.extend_from_slice(&part.value);
        }
    }

    fn attribute_expr(&mut self, expr: &ast::ExprAttribute) {
        let ast::ExprAttribute { value, attr, .. } = expr;
        self.sink.tag(Tag::Attribute);
        match &**value {
            Expr::Name(base) if base.id == "inspect" && only_looks_at(attr) => {
                self.sink.tag(Tag::Name);
                self.sink.text(&base.id);
                self.mention(&base.id);
                self.sink.inspects = true;
            }
            value => self.expr(value),
        }
        self.name(attr);
        self.ask_attribute(attr);
        // `sys.modules`, whatever `sys` is called here.
        let of_module = matches!(&**value, Expr::Name(base) if base.id != "self");
        self.sink.dynamic |= is_dynamic_attribute(attr) || (of_module && attr == "modules");
    }

    fn name_expr(&mut self, expr: &ast::ExprName) {
        let ast::ExprName { id, .. } = expr;
        self.sink.tag(Tag::Name);
        self.sink.text(id);
        let hash = self.mention(id);
        self.sink.loads.push(hash);
        self.sink.dynamic |= is_dynamic_name(id);
    }

    fn slice_expr(&mut self, expr: &ast::ExprSlice) {
        let ast::ExprSlice {
            lower, upper, step, ..
        } = expr;
        self.sink.tag(Tag::Slice);
        self.optional(lower.as_deref());
        self.optional(upper.as_deref());
        self.optional(step.as_deref());
    }

    fn comprehension(&mut self, tag: Tag, element: &Expr, generators: &[Comprehension]) {
        self.sink.tag(tag);
        self.expr(element);
        self.generators(generators);
    }

    fn generators(&mut self, generators: &[Comprehension]) {
        self.sink.count(generators.len());
        for generator in generators {
            self.sink.flag(generator.is_async);
            self.expr(&generator.target);
            self.expr(&generator.iter);
            self.exprs(&generator.ifs);
        }
    }

    fn call(&mut self, call: &ast::ExprCall) {
        if let Some(value) = self.source.casts.borrow().value(call) {
            return self.expr(value);
        }
        self.sink.tag(Tag::Call);
        let before = self.sink.dynamic;
        self.expr(&call.func);
        if spells_its_names(call) {
            self.sink.dynamic = before;
            // The object that the function is an attribute of may be dynamic.
            if let Expr::Attribute(ast::ExprAttribute { value, .. }) = &*call.func {
                self.sink.dynamic |= !matches!(&**value, Expr::Name(_));
            }
        }
        let outer = self.in_annotation;
        self.in_annotation |= evaluates_text(call);
        self.arguments(&call.arguments);
        self.in_annotation = outer;
    }

    pub(super) fn arguments(&mut self, arguments: &Arguments) {
        self.exprs(&arguments.args);
        self.sink.count(arguments.keywords.len());
        for keyword in &arguments.keywords {
            self.optional_name(keyword.arg.as_ref());
            self.expr(&keyword.value);
        }
    }

    /// `class C:` is the same as `class C():`.
    pub(super) fn no_arguments(&mut self) {
        self.sink.count(0);
        self.sink.count(0);
    }

    fn number(&mut self, number: &Number) {
        match number {
            Number::Int(int) => self.sink.int(int),
            Number::Float(float) => {
                self.sink.tag(Tag::Float);
                self.sink.float(*float);
            }
            Number::Complex { real, imag } => {
                self.sink.tag(Tag::Complex);
                self.sink.float(*real);
                self.sink.float(*imag);
            }
        }
    }

    fn literal(&mut self, part: &StringLiteral, text: &mut Text) {
        let source = self.source;
        let is_raw = part.flags.prefix().is_raw();
        text.push(&part.value, &source.text[part.range], is_raw);
    }

    /// An f-string is its interpolations and the texts between them, however
    /// it is split into literals.
    fn f_string(&mut self, parts: &[FStringPart]) {
        self.sink.tag(Tag::FString);
        let mut text = Text::default();
        for part in parts {
            match part {
                FStringPart::Literal(literal) => self.literal(literal, &mut text),
                FStringPart::FString(inner) => {
                    let is_raw = inner.flags.prefix().is_raw();
                    self.elements(&inner.elements, is_raw, false, &mut text);
                }
            }
        }
        self.flush(&mut text);
        self.sink.tag(Tag::End);
    }

    /// `shows_source`: a template string's interpolations keep their text.
    fn elements(
        &mut self,
        elements: &[InterpolatedStringElement],
        is_raw: bool,
        shows_source: bool,
        text: &mut Text,
    ) {
        let source = self.source;
        for element in elements {
            match element {
                InterpolatedStringElement::Literal(literal) => {
                    text.push(&literal.value, &source.text[literal.range], is_raw);
                }
                InterpolatedStringElement::Interpolation(element) => {
                    self.interpolation(element, is_raw, shows_source, text);
                }
            }
        }
    }

    /// `{x = }` is the text `x = ` and an interpolation with `repr`.
    fn interpolation(
        &mut self,
        element: &InterpolatedElement,
        is_raw: bool,
        shows_source: bool,
        text: &mut Text,
    ) {
        let mut conversion = element.conversion;
        if let Some(debug) = &element.debug_text {
            text.push_plain(debug.as_str());
            if conversion == ConversionFlag::None && element.format_spec.is_none() {
                conversion = ConversionFlag::Repr;
            }
        }
        self.flush(text);
        self.sink.tag(Tag::Interpolation);
        if shows_source {
            self.raw(element.range);
        }
        self.expr(&element.expression);
        self.sink.code(match conversion {
            ConversionFlag::None => 0,
            ConversionFlag::Str => 1,
            ConversionFlag::Ascii => 2,
            ConversionFlag::Repr => 3,
        });
        self.sink.flag(element.format_spec.is_some());
        if let Some(spec) = &element.format_spec {
            let mut text = Text::default();
            self.elements(&spec.elements, is_raw, shows_source, &mut text);
            self.flush(&mut text);
            self.sink.tag(Tag::End);
        }
    }

    /// Writes the text that has come together, if any.
    fn flush(&mut self, text: &mut Text) {
        let text = std::mem::take(text);
        if !text.is_empty() {
            self.sink.tag(Tag::Text);
            text.write(&mut self.sink);
        }
    }

    /// Mentions the names in a string literal: of one that consists of names
    /// (`"module.attribute"`, as patching and entry points have them), of an
    /// annotation, or of a format.
    fn mention_text(&mut self, text: &str) {
        if text.len() > MAX_NAME_TEXT {
            return;
        }
        let is_names = || {
            text.chars()
                .all(|char| char == '_' || char.is_alphanumeric() || ".:".contains(char))
        };
        let is_format = || text.contains('{') || text.contains("%(");
        if self.in_annotation || is_names() || is_format() {
            self.mention_parts(text);
        }
    }

    pub(super) fn pattern(&mut self, pattern: &Pattern) {
        stacker::maybe_grow(super::walk::RED_ZONE, super::walk::STACK, || {
            self.pattern_here(pattern);
        });
    }

    fn pattern_here(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::MatchValue(ast::PatternMatchValue { value, .. }) => {
                self.sink.tag(Tag::MatchValue);
                self.expr(value);
            }
            Pattern::MatchSingleton(ast::PatternMatchSingleton { value, .. }) => {
                self.sink.tag(Tag::MatchSingleton);
                self.sink.code(match value {
                    Singleton::None => 0,
                    Singleton::True => 1,
                    Singleton::False => 2,
                });
            }
            Pattern::MatchSequence(ast::PatternMatchSequence { patterns, .. }) => {
                self.sink.tag(Tag::MatchSequence);
                self.patterns(patterns);
            }
            Pattern::MatchMapping(ast::PatternMatchMapping {
                keys,
                patterns,
                rest,
                ..
            }) => {
                self.sink.tag(Tag::MatchMapping);
                self.exprs(keys);
                self.patterns(patterns);
                self.optional_name(rest.as_ref());
            }
            Pattern::MatchClass(ast::PatternMatchClass { cls, arguments, .. }) => {
                self.sink.tag(Tag::MatchClass);
                self.expr(cls);
                self.patterns(&arguments.patterns);
                self.sink.count(arguments.keywords.len());
                for keyword in &arguments.keywords {
                    self.name(&keyword.attr);
                    self.ask(&keyword.attr);
                    self.pattern(&keyword.pattern);
                }
            }
            Pattern::MatchStar(ast::PatternMatchStar { name, .. }) => {
                self.sink.tag(Tag::MatchStar);
                self.optional_name(name.as_ref());
            }
            Pattern::MatchAs(ast::PatternMatchAs { pattern, name, .. }) => {
                self.sink.tag(Tag::MatchAs);
                self.sink.flag(pattern.is_some());
                if let Some(pattern) = pattern {
                    self.pattern(pattern);
                }
                self.optional_name(name.as_ref());
            }
            Pattern::MatchOr(ast::PatternMatchOr { patterns, .. }) => {
                self.sink.tag(Tag::MatchOr);
                self.patterns(patterns);
            }
        }
    }

    fn patterns(&mut self, patterns: &[Pattern]) {
        self.sink.count(patterns.len());
        for pattern in patterns {
            self.pattern(pattern);
        }
    }
}

/// Whether this is a call of something that evaluates strings: a condition for
/// pytest, a statement to be timed.
pub(super) fn evaluates_text(call: &ast::ExprCall) -> bool {
    let name = match &*call.func {
        Expr::Name(name) => &*name.id,
        Expr::Attribute(attribute) => &*attribute.attr,
        _ => return false,
    };
    matches!(name, "skipif" | "xfail" | "timeit" | "repeat" | "Timer")
}

/// Whether this is a call of `getattr` or the like with literal names only.
fn spells_its_names(call: &ast::ExprCall) -> bool {
    let is_literal = |arg: &Expr| arg.is_string_literal_expr();
    let args = &call.arguments.args;
    if args.iter().any(Expr::is_starred_expr) {
        return false;
    }
    match &*call.func {
        Expr::Name(name) if name.id == "attrgetter" || name.id == "methodcaller" => {
            args.first().is_some_and(is_literal)
                && (name.id != "attrgetter" || args.iter().all(is_literal))
        }
        Expr::Name(name) if takes_name(&name.id) => args.get(1).is_some_and(is_literal),
        // `monkeypatch.setattr(object, "name", …)`, `operator.attrgetter("x")`,
        // and `monkeypatch.setattr("module.name", …)`
        Expr::Attribute(attribute) if takes_name(&attribute.attr) => {
            if attribute.attr.as_str() == "attrgetter" {
                args.iter().all(is_literal)
            } else {
                args.iter().take(2).any(is_literal)
            }
        }
        _ => false,
    }
}

fn comparison(op: CmpOp) -> u8 {
    match op {
        CmpOp::Eq => 0,
        CmpOp::NotEq => 1,
        CmpOp::Lt => 2,
        CmpOp::LtE => 3,
        CmpOp::Gt => 4,
        CmpOp::GtE => 5,
        CmpOp::Is => 6,
        CmpOp::IsNot => 7,
        CmpOp::In => 8,
        CmpOp::NotIn => 9,
    }
}

/// What a comprehension evaluates in its own scope, in order: all but the first
/// iterable, which is evaluated outside.
pub(super) fn evaluated_inside<'e>(
    elements: &[&'e Expr],
    generators: &'e [Comprehension],
) -> Vec<&'e Expr> {
    let mut exprs = Vec::new();
    for (at, generator) in generators.iter().enumerate() {
        if at > 0 {
            exprs.push(&generator.iter);
        }
        exprs.push(&generator.target);
        exprs.extend(&generator.ifs);
    }
    exprs.extend(elements);
    exprs
}
