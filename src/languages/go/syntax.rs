//! A Go source: its functions, and all that is outside of them.
//!
//! Comments and formatting do not count. Comments that the tools of Go read do: build tags,
//! `//go:` directives, what cgo compiles, the expected output of examples.

use std::collections::BTreeSet;

use bstr::ByteSlice;
use tree_sitter::{Node, Parser};

use crate::matrix::Fingerprint;

/// Grows when a digest comes to hold something else, with the version of the grammar, too.
const DIGEST: &str = "tamis 2026 go source 1";

/// What every source can name without a declaration, if the package declares nothing of that
/// name.
const UNIVERSE: [&str; 44] = [
    "any",
    "append",
    "bool",
    "byte",
    "cap",
    "clear",
    "close",
    "comparable",
    "complex",
    "complex128",
    "complex64",
    "copy",
    "delete",
    "error",
    "false",
    "float32",
    "float64",
    "imag",
    "int",
    "int16",
    "int32",
    "int64",
    "int8",
    "iota",
    "len",
    "make",
    "max",
    "min",
    "new",
    "nil",
    "panic",
    "print",
    "println",
    "real",
    "recover",
    "rune",
    "string",
    "true",
    "uint",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "uintptr",
];

/// Whether a declaration of this name changes what a whole package means.
fn is_universal(name: &str) -> bool {
    UNIVERSE.contains(&name)
}

/// Expressions that may do more than have a value: call, receive, fail.
const DOING: [&str; 8] = [
    "call_expression",
    "unary_expression",
    "binary_expression",
    "index_expression",
    "slice_expression",
    "selector_expression",
    "type_assertion_expression",
    "type_conversion_expression",
];

/// What a file of Go comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GoSource {
    /// The functions and methods that have a body, besides `init`, in their order.
    pub functions: Vec<GoFunction>,
    pub declarations: Vec<GoDeclaration>,
    /// Everything else.
    pub skeleton: Fingerprint,
    /// The names in declarations and the rest.
    pub mentions: BTreeSet<String>,
    /// Why it is not taken apart, if so: then all of it is its skeleton.
    pub whole: Option<&'static str>,
}

/// A declaration that does nothing: a type, a constant, a variable whose value is written there.
/// A new one means nothing to those who do not name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GoDeclaration {
    pub name: String,
    pub digest: Fingerprint,
    /// Whether it is a type of its own, which can have methods.
    pub is_type: bool,
}

/// A function or a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GoFunction {
    /// `F`, or `T.M` of a method.
    pub name: String,
    pub is_method: bool,
    /// From this line to that one, counted from 1.
    pub lines: (u32, u32),
    /// Of the signature and the body.
    pub digest: Fingerprint,
    /// Of what shows of it without running it.
    pub signature: Fingerprint,
    /// The names in it.
    pub mentions: BTreeSet<String>,
    /// Whether it has an expected output, which makes an example a test.
    pub has_output: bool,
    /// Whether running the tests is the last thing that it does.
    pub ends_with_tests: bool,
}

impl GoSource {
    /// What a source is made of. What cannot be parsed is one piece.
    pub(crate) fn parse(bytes: &[u8], is_test_file: bool) -> GoSource {
        let whole = |why| GoSource {
            functions: Vec::new(),
            declarations: Vec::new(),
            skeleton: digest(bytes),
            mentions: BTreeSet::new(),
            whole: Some(why),
        };
        // Line directives move what counters and programs see.
        if has_line_directive(bytes) {
            return whole("it has line directives");
        }
        let mut parser = Parser::new();
        let language = tree_sitter_go::LANGUAGE.into();
        let tree = match parser.set_language(&language) {
            Ok(()) => parser.parse(bytes, None),
            Err(_) => None,
        };
        let Some(tree) = tree.filter(|tree| !tree.root_node().has_error()) else {
            return whole("its syntax is not understood");
        };
        Reading {
            bytes,
            is_test_file,
            is_cgo: false,
        }
        .file(tree.root_node())
    }
}

fn digest(bytes: &[u8]) -> Fingerprint {
    Fingerprint::of_digest(DIGEST, bytes)
}

/// Whether some comment may set the name and number of lines.
fn has_line_directive(bytes: &[u8]) -> bool {
    bytes.contains_str("//line ") || bytes.contains_str("/*line ")
}

/// What was taken in of the syntax.
#[derive(Default)]
struct Sink {
    bytes: Vec<u8>,
    names: BTreeSet<String>,
}

struct Reading<'a> {
    bytes: &'a [u8],
    is_test_file: bool,
    is_cgo: bool,
}

impl Reading<'_> {
    fn file(mut self, root: Node<'_>) -> GoSource {
        let mut cursor = root.walk();
        let children: Vec<Node<'_>> = root.children(&mut cursor).collect();
        self.is_cgo = children.iter().any(|child| self.imports_c(*child));
        let mut skeleton = Sink::default();
        // What stands before a declaration can be about it.
        let mut directives = Sink::default();
        let mut functions = Vec::new();
        let mut declarations = Vec::new();
        for child in children {
            match child.kind() {
                "comment" if self.counts(child) => directives.text("comment", self.text(child)),
                "comment" => {}
                "function_declaration" | "method_declaration" => {
                    let mut signature = std::mem::take(&mut directives);
                    let Some((name, body)) = self.apart(child) else {
                        // It runs without being called, or is somewhere else.
                        self.take(child, None, false, &mut signature);
                        skeleton.add(signature);
                        continue;
                    };
                    self.take(child, Some(body.id()), false, &mut signature);
                    if is_universal(&name) {
                        skeleton.text("signature", &signature.bytes);
                    }
                    functions.push(self.function(child, name, signature, body));
                }
                "const_declaration" | "type_declaration" | "var_declaration"
                    if directives.bytes.is_empty() =>
                {
                    self.declared(child, &mut declarations, &mut skeleton);
                }
                _ => {
                    skeleton.add(std::mem::take(&mut directives));
                    self.take(child, None, false, &mut skeleton);
                }
            }
        }
        skeleton.add(directives);
        GoSource {
            functions,
            declarations,
            skeleton: digest(&skeleton.bytes),
            mentions: skeleton.names,
            whole: None,
        }
    }

    /// The name and the body of a function that only runs if it is called.
    fn apart<'t>(&self, child: Node<'t>) -> Option<(String, Node<'t>)> {
        let name = self.name_of(child)?;
        let last = name.rsplit('.').next().unwrap_or(&name);
        let is_apart = last != "_" && name != "init";
        Some((name, child.child_by_field_name("body")?)).filter(|_| is_apart)
    }

    /// Takes a declaration apart, if no part of it does anything.
    fn declared(
        &self,
        declaration: Node<'_>,
        declarations: &mut Vec<GoDeclaration>,
        skeleton: &mut Sink,
    ) {
        let mut parts = Vec::new();
        let mut open = vec![declaration];
        while let Some(node) = open.pop() {
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                match child.kind() {
                    "var_spec_list" => open.push(child),
                    "comment" if !self.counts(child) => {}
                    _ => parts.push(child),
                }
            }
        }
        let is_constant = declaration.kind() == "const_declaration";
        let taken = parts.iter().map(|part| self.part(*part, is_constant));
        let taken: Option<Vec<(GoDeclaration, Sink)>> = taken.collect();
        let Some(mut taken) = taken.filter(|taken| !taken.is_empty()) else {
            return self.take(declaration, None, false, skeleton);
        };
        // What a constant is can follow from its place among others.
        let follows = |part: &Node<'_>| {
            let value = part.child_by_field_name("value");
            value.is_none_or(|value| self.text(value).contains_str("iota"))
        };
        if is_constant && parts.iter().any(follows) {
            let mut whole = Sink::default();
            self.take(declaration, None, false, &mut whole);
            for (one, _) in &mut taken {
                one.digest = digest(&whole.bytes);
            }
        }
        for (one, mut sink) in taken {
            skeleton.names.append(&mut sink.names);
            declarations.push(one);
        }
    }

    /// One name and what it stands for; `None` if it does something, or is several.
    fn part(&self, part: Node<'_>, is_constant: bool) -> Option<(GoDeclaration, Sink)> {
        let mut cursor = part.walk();
        let mut names = part.children_by_field_name("name", &mut cursor);
        let name = self.words(names.next()?)?;
        if names.next().is_some() || name == "_" || is_universal(&name) {
            return None;
        }
        let value = part.child_by_field_name("value").filter(|_| !is_constant);
        let mut open: Vec<Node<'_>> = value.into_iter().collect();
        while let Some(node) = open.pop() {
            if DOING.contains(&node.kind()) {
                return None;
            }
            // What a function in it does, it does when it is called.
            if node.kind() != "func_literal" {
                let mut cursor = node.walk();
                open.extend(node.children(&mut cursor));
            }
        }
        let mut sink = Sink::default();
        self.take(part, None, false, &mut sink);
        let declaration = GoDeclaration {
            name,
            digest: digest(&sink.bytes),
            is_type: part.kind() == "type_spec",
        };
        Some((declaration, sink))
    }

    fn function(&self, node: Node<'_>, name: String, mut sink: Sink, body: Node<'_>) -> GoFunction {
        let is_example = self.is_test_file && name.starts_with("Example");
        let signature = digest(&sink.bytes);
        self.take(body, None, is_example, &mut sink);
        let line = |row: usize| row as u32 + 1;
        GoFunction {
            is_method: node.kind() == "method_declaration",
            name,
            lines: (
                line(node.start_position().row),
                line(node.end_position().row),
            ),
            digest: digest(&sink.bytes),
            signature,
            mentions: sink.names,
            has_output: is_example && self.has_output(body),
            ends_with_tests: self.is_test_file && self.ends_with_tests(body),
        }
    }

    /// `F`, or `T.M`.
    fn name_of(&self, node: Node<'_>) -> Option<String> {
        let name = self.words(node.child_by_field_name("name")?)?;
        let Some(receiver) = node.child_by_field_name("receiver") else {
            return Some(name);
        };
        let mut cursor = receiver.walk();
        let mut parameters = receiver.named_children(&mut cursor);
        let parameter = parameters.find(|child| child.kind() == "parameter_declaration")?;
        let mut of = parameter.child_by_field_name("type")?;
        loop {
            of = match of.kind() {
                "type_identifier" => return Some(format!("{}.{name}", self.words(of)?)),
                "generic_type" => of.child_by_field_name("type")?,
                // A pointer, or parentheses.
                _ => of.named_child(0)?,
            };
        }
    }

    /// Takes in a node, without the one with the number `but`.
    fn take(&self, node: Node<'_>, but: Option<usize>, comments: bool, sink: &mut Sink) {
        let mut cursor = node.walk();
        let mut depth = 0_usize;
        loop {
            let here = cursor.node();
            let kind = here.kind();
            let mut enters = false;
            match kind {
                _ if but == Some(here.id()) => {}
                "comment" => {
                    if comments || self.counts(here) {
                        sink.text(kind, self.text(here));
                    }
                }
                // Where statements end the tree shows; the parts of a `for` it does not.
                "\n" | "\0" => {}
                ";" if here
                    .parent()
                    .is_none_or(|above| above.kind() != "for_clause") => {}
                _ if here.child_count() == 0 => {
                    let text = self.text(here);
                    sink.text(kind, text);
                    if kind.ends_with("identifier") {
                        sink.names
                            .insert(String::from_utf8_lossy(text).into_owned());
                    }
                }
                _ => {
                    sink.bytes.push(1);
                    sink.bytes.extend(kind.bytes());
                    sink.bytes.push(0);
                    enters = true;
                }
            }
            if enters && cursor.goto_first_child() {
                depth += 1;
                continue;
            }
            if enters {
                sink.bytes.push(2);
            }
            loop {
                if depth == 0 {
                    return;
                }
                if cursor.goto_next_sibling() {
                    break;
                }
                cursor.goto_parent();
                sink.bytes.push(2);
                depth -= 1;
            }
        }
    }

    fn text(&self, node: Node<'_>) -> &[u8] {
        &self.bytes[node.byte_range()]
    }

    fn words(&self, node: Node<'_>) -> Option<String> {
        std::str::from_utf8(self.text(node)).ok().map(str::to_owned)
    }

    /// Whether a tool reads a comment.
    fn counts(&self, comment: Node<'_>) -> bool {
        let text = self.text(comment);
        let starts = ["//go:", "//export ", "//extern ", "// +build", "//+build"];
        if starts
            .iter()
            .any(|start| text.starts_with(start.as_bytes()))
        {
            return true;
        }
        // What stands before `import "C"` is C.
        let is_outside = comment.parent().is_none_or(|above| {
            above.kind() == "source_file" || above.kind().starts_with("import")
        });
        self.is_cgo && is_outside
    }

    fn imports_c(&self, node: Node<'_>) -> bool {
        node.kind() == "import_declaration" && self.text(node).contains_str("\"C\"")
    }

    /// `m.Run()` or `os.Exit(m.Run())`, with nothing that was put off until then.
    fn ends_with_tests(&self, body: Node<'_>) -> bool {
        let text = self.text(body);
        let text: Vec<u8> = text
            .iter()
            .copied()
            .filter(|byte| !byte.is_ascii_whitespace())
            .collect();
        let Some(text) = text.strip_suffix(b"}") else {
            return false;
        };
        let ends = [
            b"{m.Run()".as_slice(),
            b"{os.Exit(m.Run())",
            b";m.Run()",
            b"os.Exit(m.Run())",
        ];
        let is_last = ends.iter().any(|end| text.ends_with(end));
        is_last && !text.contains_str("defer")
    }

    /// As the `go` command decides: the last comment of the body begins so.
    fn has_output(&self, body: Node<'_>) -> bool {
        let mut last = None;
        let mut open = vec![body];
        while let Some(node) = open.pop() {
            if node.kind() == "comment" {
                let is_later = |other: Node<'_>| node.start_byte() > other.start_byte();
                if last.is_none_or(is_later) {
                    last = Some(node);
                }
            }
            let mut cursor = node.walk();
            open.extend(node.children(&mut cursor));
        }
        // It goes on over the lines above, of which the first one counts.
        let Some(last) = last else {
            return false;
        };
        let mut first = last;
        while let Some(above) = first.prev_sibling() {
            let is_next = above.end_position().row + 1 == first.start_position().row;
            if above.kind() == "\n" || above.kind() == ";" {
                break;
            }
            if above.kind() != "comment" || !is_next {
                break;
            }
            first = above;
        }
        let text = String::from_utf8_lossy(self.text(first)).to_lowercase();
        let text = text.trim_start_matches(['/', '*']).trim_start();
        let text = text.strip_prefix("unordered ").unwrap_or(text);
        text.trim_start().starts_with("output:")
    }
}

impl Sink {
    fn text(&mut self, kind: &str, text: &[u8]) {
        self.bytes.push(3);
        self.bytes.extend(kind.bytes());
        self.bytes.push(0);
        self.bytes.extend((text.len() as u64).to_le_bytes());
        self.bytes.extend(text);
    }

    fn add(&mut self, mut other: Sink) {
        self.bytes.append(&mut other.bytes);
        self.names.append(&mut other.names);
    }
}
