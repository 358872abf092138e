//! What the syntax tree tells: where functions, classes and types are, and what shows of functions
//! to those who do not run them.

use std::collections::{BTreeMap, BTreeSet};

use oxc_ast::ast::FormalParameters;
use oxc_ast::ast::{
    ArrowFunctionExpression, AssignmentExpression, CallExpression, Class, Decorator,
    ExportNamedDeclaration, Expression, Function as AstFunction, ImportDeclaration,
    ImportDeclarationSpecifier, ImportExpression, ImportMeta, JSXAttributeItem, JSXElement,
    JSXFragment, MethodDefinition, ObjectProperty, Program, PropertyDefinition, PropertyKey,
    PropertyKind, StaticMemberExpression, TSAsExpression, TSClassImplements, TSExportAssignment,
    TSImportEqualsDeclaration, TSInterfaceDeclaration, TSNonNullExpression, TSSatisfiesExpression,
    TSTypeAliasDeclaration, TSTypeAnnotation, TSTypeParameterDeclaration,
    TSTypeParameterInstantiation, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::{Reference, Semantic};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

/// A function with a body.
#[derive(Debug)]
pub(super) struct Function {
    pub name: String,
    pub own_name: String,
    pub start: u32,
    pub parameters: u32,
    pub end: u32,
    /// What its property `length` is.
    pub length: usize,
}

/// What was read of one source.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// In the order of their starts, each before those inside of it.
    pub functions: Vec<Function>,
    pub classes: Vec<(u32, u32)>,
    /// Where types are, sorted.
    pub types: Vec<Span>,
    /// What of functions can change what the module loads or is at its top.
    pub marks: BTreeSet<String>,
    /// Why functions cannot be told apart, if so.
    pub whole: Option<&'static str>,
    /// The classes and functions around.
    around: Vec<String>,
    /// How many functions it is in.
    depth: usize,
    /// The next function or class is called so, and begins there.
    called: Option<(u32, String)>,
    known: BTreeMap<String, usize>,
}

/// What a source can ask of itself that its place in the file does not matter to.
const META: [&str; 7] = [
    "url", "env", "dirname", "filename", "resolve", "vitest", "main",
];

/// Calls of vitest and jest that are moved to the top of a source.
const MOVED: [&str; 3] = ["mock", "unmock", "hoisted"];

impl Reading {
    /// `semantic` is what the names of the program mean.
    pub(super) fn of(program: &Program<'_>, semantic: &Semantic<'_>) -> Reading {
        let mut reading = Reading::default();
        reading.visit_program(program);
        let functions = &mut reading.functions;
        functions.sort_by_key(|one| (one.parameters, std::cmp::Reverse(one.end)));
        reading.types.sort();
        if program.source_type.is_typescript() {
            reading.marks.extend(used_imports(semantic));
        }
        reading
    }

    fn says(&mut self, why: &'static str) {
        self.whole.get_or_insert(why);
    }

    /// The next function or class has this name, if `value` is one.
    fn names(&mut self, value: &Expression<'_>, name: String) {
        let is_meant = matches!(
            value,
            Expression::FunctionExpression(_)
                | Expression::ArrowFunctionExpression(_)
                | Expression::ClassExpression(_)
        );
        self.called = is_meant.then(|| (value.span().start, name));
    }

    /// Takes in a function: what is inside of it is visited by `inside`.
    fn function(
        &mut self,
        span: Span,
        id: Option<&str>,
        parameters: &FormalParameters<'_>,
        inside: impl FnOnce(&mut Self),
    ) {
        let called = self.called.take();
        let (start, name) = called.unwrap_or((span.start, String::new()));
        let name = id.map_or(name, str::to_owned);
        let qualified = self.qualified(&name);
        let mut before_default = parameters.items.iter();
        let ends = before_default.position(|one| one.initializer.is_some());
        self.functions.push(Function {
            name: qualified.clone(),
            own_name: name,
            start: start.min(span.start),
            parameters: parameters.span.start,
            end: span.end,
            length: ends.unwrap_or(parameters.items.len()),
        });
        let around = std::mem::replace(&mut self.around, vec![qualified]);
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.around = around;
    }

    /// The name of something here, as no other one of the source has it.
    fn qualified(&mut self, name: &str) -> String {
        let name = if name.is_empty() { "()" } else { name };
        let mut whole = self.around.join(".");
        if !whole.is_empty() {
            whole.push('.');
        }
        whole.push_str(name);
        let known = self.known.entry(whole.clone()).or_insert(0);
        *known += 1;
        match *known {
            1 => whole,
            count => format!("{whole}#{count}"),
        }
    }
}

/// What TypeScript imports for other uses than in types. The rest of the imports is never loaded, so a new use anywhere
/// can load a module.
fn used_imports(semantic: &Semantic<'_>) -> BTreeSet<String> {
    let scoping = semantic.scoping();
    let imported = scoping.symbol_ids();
    let imported = imported.filter(|one| scoping.symbol_flags(*one).is_import());
    let used = imported.filter(|one| {
        let mut references = scoping.get_resolved_references(*one);
        references.any(Reference::is_value)
    });
    used.map(|one| scoping.symbol_name(one).to_owned())
        .collect()
}

/// Whether a name of a property looks like that of a variable, and not like one that is made here.
fn is_plain(name: &str) -> bool {
    name.len() <= LONGEST
        && name
            .chars()
            .all(|one| one.is_alphanumeric() || "_$-".contains(one))
}

/// The longest name that is shown.
const LONGEST: usize = 60;

fn key(key: &PropertyKey<'_>) -> String {
    match key {
        PropertyKey::PrivateIdentifier(name) => format!("#{}", name.name),
        key => match key.static_name() {
            Some(name) if is_plain(&name) => name.into_owned(),
            _ => "[]".to_owned(),
        },
    }
}

/// Whether a call of this is one of [`MOVED`].
fn is_moved(callee: &Expression<'_>) -> bool {
    let Some(callee) = callee.as_member_expression() else {
        return false;
    };
    let is_named = callee
        .static_property_name()
        .is_some_and(|name| MOVED.contains(&name));
    is_named
        && matches!(
            callee.object().get_inner_expression(),
            Expression::Identifier(_)
        )
}

impl<'a> Visit<'a> for Reading {
    fn visit_function(&mut self, it: &AstFunction<'a>, flags: ScopeFlags) {
        if it.body.is_none() {
            // It tells types, and there is nothing to run.
            self.called = None;
            self.types.push(it.span);
            return;
        }
        let id = it.id.as_ref().map(|id| id.name.as_str());
        self.function(it.span, id, &it.params, |reading| {
            walk::walk_function(reading, it, flags);
        });
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.function(it.span, None, &it.params, |reading| {
            walk::walk_arrow_function_expression(reading, it);
        });
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.classes.push((it.span.start, it.span.end));
        let called = self.called.take().map(|(_, name)| name);
        let name = it.id.as_ref().map(|id| id.name.to_string());
        let name = name.or(called).unwrap_or_else(|| "class".to_owned());
        let qualified = self.qualified(&name);
        let around = std::mem::replace(&mut self.around, vec![qualified]);
        walk::walk_class(self, it);
        self.around = around;
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        if it.value.body.is_none() {
            self.types.push(it.span);
            return;
        }
        self.visit_property_key(&it.key);
        if !it.decorators.is_empty() {
            self.says("it has decorators");
        }
        self.called = Some((it.span.start, key(&it.key)));
        self.visit_function(&it.value, ScopeFlags::Function);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        if let Some(value) = &it.value {
            self.visit_property_key(&it.key);
            self.names(value, key(&it.key));
            self.visit_expression(value);
        } else {
            self.visit_property_key(&it.key);
        }
        if let Some(annotation) = &it.type_annotation {
            self.visit_ts_type_annotation(annotation);
        }
        if !it.decorators.is_empty() {
            self.says("it has decorators");
        }
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        self.visit_property_key(&it.key);
        if it.method || it.kind != PropertyKind::Init {
            self.called = Some((it.span.start, key(&it.key)));
        } else {
            self.names(&it.value, key(&it.key));
        }
        self.visit_expression(&it.value);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        self.visit_binding_pattern(&it.id);
        if let Some(annotation) = &it.type_annotation {
            self.visit_ts_type_annotation(annotation);
        }
        if let Some(value) = &it.init {
            let name = it.id.get_identifier_name();
            self.names(value, name.map(|name| name.to_string()).unwrap_or_default());
            self.visit_expression(value);
        }
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        self.visit_assignment_target(&it.left);
        let name = it.left.get_identifier_name();
        self.names(
            &it.right,
            name.map(|name| name.to_string()).unwrap_or_default(),
        );
        self.visit_expression(&it.right);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if self.depth > 0 && is_moved(it.callee.get_inner_expression()) {
            self.says("a function says what is mocked, which is moved to the top");
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        if let Expression::ImportMeta(_) = &it.object
            && META.contains(&it.property.name.as_str())
        {
            return;
        }
        walk::walk_static_member_expression(self, it);
    }

    fn visit_import_meta(&mut self, _: &ImportMeta) {
        self.says("it uses `import.meta` in another way than tamis knows");
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        // They can be told types.
        self.says("it has decorators");
        walk::walk_decorator(self, it);
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        if it.import_kind.is_type() {
            self.types.push(it.span);
            return;
        }
        for one in it.specifiers.iter().flatten() {
            if let ImportDeclarationSpecifier::ImportSpecifier(one) = one
                && one.import_kind.is_type()
            {
                self.types.push(one.span);
                continue;
            }
        }
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        // Where it cannot be found, all of the module fails for some environments.
        let name = match it.source.get_inner_expression() {
            Expression::StringLiteral(name) => name.value.as_str(),
            _ => "…",
        };
        self.marks.insert(format!("import {name}"));
        walk::walk_import_expression(self, it);
    }

    fn visit_jsx_element(&mut self, it: &JSXElement<'a>) {
        // Each kind is made by another import.
        self.marks.insert("jsx element".to_owned());
        let attributes = &it.opening_element.attributes;
        if attributes
            .iter()
            .any(|one| matches!(one, JSXAttributeItem::SpreadAttribute(_)))
        {
            self.marks.insert("jsx spread".to_owned());
        }
        walk::walk_jsx_element(self, it);
    }

    fn visit_jsx_fragment(&mut self, it: &JSXFragment<'a>) {
        self.marks.insert("jsx fragment".to_owned());
        walk::walk_jsx_fragment(self, it);
    }

    fn visit_export_named_declaration(&mut self, it: &ExportNamedDeclaration<'a>) {
        if it.export_kind.is_type() {
            self.types.push(it.span);
            return;
        }
        walk::walk_export_named_declaration(self, it);
    }

    fn visit_ts_import_equals_declaration(&mut self, _: &TSImportEqualsDeclaration<'a>) {
        self.says("it imports with `=`");
    }

    fn visit_ts_export_assignment(&mut self, _: &TSExportAssignment<'a>) {
        self.says("it exports with `=`");
    }

    fn visit_ts_interface_declaration(&mut self, it: &TSInterfaceDeclaration<'a>) {
        self.types.push(it.span);
    }

    fn visit_ts_type_alias_declaration(&mut self, it: &TSTypeAliasDeclaration<'a>) {
        self.types.push(it.span);
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.types.push(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.types.push(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.types.push(it.span);
    }

    fn visit_ts_class_implements(&mut self, it: &TSClassImplements<'a>) {
        self.types.push(it.span);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.types
            .push(Span::new(it.expression.span().end, it.span.end));
        self.visit_expression(&it.expression);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.types
            .push(Span::new(it.expression.span().end, it.span.end));
        self.visit_expression(&it.expression);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.types
            .push(Span::new(it.expression.span().end, it.span.end));
        self.visit_expression(&it.expression);
    }
}
