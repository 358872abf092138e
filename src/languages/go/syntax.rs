//! A Go source: its functions, and all that is outside of them.
//!
//! Comments and formatting do not count. Comments that the tools of Go read do: build tags,
//! `//go:` directives, what cgo compiles, the expected output of examples.

use std::collections::BTreeSet;

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

/// What a file of Go comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GoSource {
    /// The functions and methods that have a body, besides `init`, in their order.
    pub functions: Vec<GoFunction>,
    /// Everything else, and what shows of the functions without running them.
    pub skeleton: Fingerprint,
    /// The names in it.
    pub mentions: BTreeSet<String>,
    /// Why it is not taken apart, if so: then all of it is its skeleton.
    pub whole: Option<&'static str>,
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
}

impl GoSource {
    /// What a source is made of. What cannot be parsed is one piece.
    pub(crate) fn parse(bytes: &[u8], is_test_file: bool) -> GoSource {
        let whole = |why| GoSource {
            functions: Vec::new(),
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
    use bstr::ByteSlice;
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
        let mut signatures: Vec<Vec<u8>> = Vec::new();
        let mut functions = Vec::new();
        for child in children {
            match child.kind() {
                "comment" if self.counts(child) => directives.text("comment", self.text(child)),
                "comment" => {}
                "function_declaration" | "method_declaration" => {
                    let name = self.name_of(child);
                    let body = child.child_by_field_name("body");
                    let is_apart = name.as_deref().is_some_and(|name| {
                        let last = name.rsplit('.').next().unwrap_or(name);
                        last != "_" && name != "init"
                    });
                    let mut signature = std::mem::take(&mut directives);
                    match (name, body) {
                        (Some(name), Some(body)) if is_apart => {
                            self.take(child, Some(body.id()), false, &mut signature);
                            let is_method = child.kind() == "method_declaration";
                            // Whoever has a type meets its methods without naming them. The
                            // name of a function has another meaning for all, if it is there.
                            if is_method || UNIVERSE.contains(&name.as_str()) {
                                signatures.push(signature.bytes.clone());
                            }
                            functions.push(self.function(child, name, signature, body));
                        }
                        // It runs without being called, or is somewhere else.
                        _ => {
                            self.take(child, None, false, &mut signature);
                            skeleton.add(signature);
                        }
                    }
                }
                _ => {
                    skeleton.add(std::mem::take(&mut directives));
                    self.take(child, None, false, &mut skeleton);
                }
            }
        }
        skeleton.add(directives);
        // Where functions stand is of no importance.
        signatures.sort();
        for signature in signatures {
            skeleton.text("signature", &signature);
        }
        GoSource {
            functions,
            skeleton: digest(&skeleton.bytes),
            mentions: skeleton.names,
            whole: None,
        }
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
        use bstr::ByteSlice;
        node.kind() == "import_declaration" && self.text(node).contains_str("\"C\"")
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
