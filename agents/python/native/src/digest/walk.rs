//! Makes the graph: one node per object that the cells reach, in which stands
//! what the object holds.

use std::rc::Rc;

use super::classes::{Names, type_name};
use super::codes::File;
use super::graph::{Edge, Graph, Label, Node, Why};
use super::hash::{ByAddress, Digest, Hasher, of_address, of_text};
use super::homes::Homes;
use super::kinds::{Kind, Shape, shape_of};
use super::layout::{Layouts, referents};
use super::scalars::{is_hash_random, scalar, text_digest};
use super::{functions, library, object};
use crate::content::{self, Reader};
use crate::ffi::*;

/// More objects in one taking are opaque.
const MOST_NODES: usize = 2_000_000;
/// A container with more entries is opaque.
const MOST_ENTRIES: usize = 500_000;
/// A tuple within so many others has a node: a program may have a list of pairs without end.
const DEEPEST: u32 = 32;

/// What a node stands for.
#[derive(Clone, Copy)]
pub enum Work {
    Object(Ref),
    /// An entry of a mapping whose order does not count.
    Pair(Ref, Ref),
    /// The members of a set, or the entries of an `lru_cache`, of an object
    /// that has parts with a place besides.
    Members(Ref),
    Cache(Ref),
    /// The annotations of a function.
    Annotations(Ref),
}

pub struct Walk {
    pub graph: Graph,
    pub layouts: &'static Layouts,
    pub names: Names,
    pub places: Vec<(Vec<u8>, Vec<u8>)>,
    /// The folder of the project, without a slash at the end: a text that begins with it names a
    /// place in any checkout. Empty if it is not known.
    project: Vec<u8>,
    pub codes: ByAddress<Digest>,
    /// By the text of its name.
    pub files: ByAddress<Rc<File>>,
    pub homes: Homes,
    /// Immutable defaults of functions: their addresses, by node.
    pub marks: std::collections::HashMap<u32, Vec<usize>>,
    /// See `Naming::Address`: also what belongs to the process is an object like others.
    pub by_address: bool,
    /// Whether this taking uses the names of an earlier one.
    pub is_later: bool,
    /// Objects that count by where they are.
    pub placed: Vec<Ref>,
    /// Whether texts hash alike in every process.
    texts_are_steady: bool,
    memo: ByAddress<u32>,
    /// Tuples: the digest of those of plain values.
    tuples: ByAddress<Option<Digest>>,
    /// How many tuples are being read within each other.
    depth: u32,
    pub work: Vec<Work>,
    done: usize,
    /// By node, whether it was reached by way of an object that this taking has made.
    passing: Vec<bool>,
    /// The node that is being read.
    reading: Option<usize>,
    shapes: ByAddress<Rc<Shape>>,
    /// See `addresses`.
    pub living: Option<ByAddress<()>>,
    spare: Vec<Edge>,
    /// Objects made on the way; they live until the taking ends, so that no
    /// address is used twice.
    made: ByAddress<Ref>,
}

/// A value as a cell holds it.
#[derive(Clone, Copy)]
pub enum Target {
    Plain(Digest),
    Node(u32),
}

impl Walk {
    pub unsafe fn new(
        layouts: &'static Layouts,
        names: Names,
        places: Vec<(Vec<u8>, Vec<u8>)>,
    ) -> Walk {
        let project = places.iter().find(|(_, text)| text == b"*project/");
        let project = project.and_then(|(prefix, _)| prefix.strip_suffix(b"/"));
        Walk {
            project: project.unwrap_or_default().to_vec(),
            graph: Graph::default(),
            layouts,
            names,
            places,
            codes: ByAddress::default(),
            files: ByAddress::default(),
            homes: Homes::default(),
            marks: Default::default(),
            by_address: false,
            is_later: false,
            placed: Vec::new(),
            texts_are_steady: !is_hash_random(),
            memo: ByAddress::default(),
            tuples: ByAddress::default(),
            depth: 0,
            work: Vec::new(),
            done: 0,
            passing: Vec::new(),
            reading: None,
            shapes: ByAddress::default(),
            living: None,
            spare: Vec::new(),
            made: ByAddress::default(),
        }
    }

    /// Drops what was made on the way.
    pub unsafe fn end(&mut self) {
        for (_, object) in self.made.drain() {
            Py_DecRef(object);
        }
    }

    /// Takes over a reference to a new object; null clears the exception.
    pub unsafe fn keep(&mut self, object: Ref) -> Option<Ref> {
        if object.is_null() {
            PyErr_Clear();
            return None;
        }
        if self.made.insert(object as usize, object).is_some() {
            // The same object once more.
            Py_DecRef(object);
        }
        Some(object)
    }

    pub unsafe fn shape(&mut self, kind: Ref) -> Rc<Shape> {
        if let Some(shape) = self.shapes.get(&(kind as usize)) {
            return shape.clone();
        }
        let shape = Rc::new(shape_of(kind, &mut self.names));
        self.shapes.insert(kind as usize, shape.clone());
        shape
    }

    pub unsafe fn target(&mut self, object: Ref) -> Target {
        if let Some(digest) = self.plain(object) {
            return Target::Plain(digest);
        }
        if let Some(known) = self.memo.get(&(object as usize)) {
            return Target::Node(*known);
        }
        if let Some(digest) = self.tuple(object) {
            return Target::Plain(digest);
        }
        match self.names.process(object) {
            Some(digest) if !self.by_address => Target::Plain(digest),
            _ => Target::Node(self.node(object)),
        }
    }

    /// The digest of what needs no node: plain values and references by name.
    pub unsafe fn plain(&mut self, object: Ref) -> Option<Digest> {
        let kind = (*object).kind;
        if kind == &raw mut PyUnicode_Type {
            let found = text_of(object).and_then(|text| self.names.text_with_addresses(&text));
            return Some(found.unwrap_or_else(|| text_digest(object, &self.project)));
        }
        let shape = self.shape(kind);
        match shape.kind {
            Kind::Class => self.names.class(object),
            Kind::Module => self.names.module_reference(object),
            _ if shape.is_of_runner => Some(of_text("runner", b"")),
            _ if !shape.is_exact => None,
            Kind::Single => Some(of_text("single", type_name(kind))),
            Kind::Bool | Kind::Int | Kind::Complex | Kind::Bytes => {
                let is_whole = shape.kind == Kind::Int;
                if is_whole && let Some(digest) = self.names.number_of_process(object) {
                    return Some(digest);
                }
                if is_whole && self.object_at(object).is_some() {
                    return None;
                }
                let mut hasher = const { Hasher::new("value") };
                scalar(object, shape.kind, &mut hasher);
                Some(hasher.finish())
            }
            Kind::Float => {
                let value = f64::from_bits(word(object, 16) as u64);
                let mut hasher = Hasher::new("float");
                hasher.word(value.to_bits());
                // Not a number: only its identity tells it from another.
                (!value.is_nan()).then(|| hasher.finish())
            }
            Kind::Tuple if word(object, 16) == 0 => Some(of_text("()", b"")),
            _ => None,
        }
    }

    /// The digest of a key: of a plain value, or a tuple of such.
    pub unsafe fn key(&mut self, object: Ref) -> Option<Digest> {
        match self.plain(object) {
            None => self.tuple(object),
            plain => plain,
        }
    }

    /// The digest of a tuple of plain values, or of such tuples: it needs no node.
    unsafe fn tuple(&mut self, object: Ref) -> Option<Digest> {
        if (*object).kind != &raw mut PyTuple_Type || PyTuple_Size(object) as usize > MOST_ENTRIES {
            return None;
        }
        if let Some(known) = self.tuples.get(&(object as usize)) {
            return *known;
        }
        if self.depth == DEEPEST {
            return None;
        }
        // It cannot lead to itself but by C code.
        self.tuples.insert(object as usize, None);
        self.depth += 1;
        let found = self.of_items(object);
        self.depth -= 1;
        self.tuples.insert(object as usize, found);
        found
    }

    unsafe fn of_items(&mut self, tuple: Ref) -> Option<Digest> {
        let mut hasher = const { Hasher::new("tuple") };
        for at in 0..PyTuple_Size(tuple) {
            hasher.digest(self.key(PyTuple_GetItem(tuple, at))?);
        }
        Some(hasher.finish())
    }

    /// Whether an object has the same hash in every process.
    unsafe fn is_steady(&mut self, object: Ref) -> bool {
        let shape = self.shape((*object).kind);
        match shape.kind {
            _ if !shape.is_exact => false,
            Kind::Bool => true,
            Kind::Int => !self.is_of_process(object),
            Kind::Float => !f64::from_bits(word(object, 16) as u64).is_nan(),
            // By address up to 3.11.
            Kind::Single => object == &raw mut _Py_NoneStruct && version().1 >= 12,
            Kind::Text | Kind::Bytes => self.texts_are_steady,
            Kind::Tuple if (*object).kind == &raw mut PyTuple_Type => (0..PyTuple_Size(object))
                .all(|at| unsafe { self.is_steady(PyTuple_GetItem(object, at)) }),
            _ => false,
        }
    }

    fn node(&mut self, object: Ref) -> u32 {
        let node = self.add(Work::Object(object));
        self.memo.insert(object as usize, node);
        node
    }

    pub fn annotations(&mut self, function: Ref) -> u32 {
        self.add(Work::Annotations(function))
    }

    fn add(&mut self, work: Work) -> u32 {
        let by_made = self.reading.is_some_and(|node| self.passing[node]);
        self.passing.push(match work {
            // SAFETY: it is alive. What the program holds, too, stays.
            Work::Object(object) => unsafe {
                word(object, 0) as u32 == 1
                    && (by_made || self.made.contains_key(&(object as usize)))
            },
            _ => by_made,
        });
        self.work.push(work);
        (self.work.len() - 1) as u32
    }

    /// Whether the object of a node may go when the taking ends.
    pub fn is_passing(&self, node: u32) -> bool {
        self.passing[node as usize]
    }

    /// For each node, a name after the place of its object.
    pub fn addresses(&self) -> Vec<Digest> {
        let name = |(work, passing): (&Work, &bool)| match work {
            Work::Object(object) if !passing => of_address(*object as usize),
            _ => Digest::default(),
        };
        self.work.iter().zip(&self.passing).map(name).collect()
    }

    /// Reads every object that was reached and not read yet.
    pub unsafe fn finish(&mut self) {
        while self.done < self.work.len() {
            let work = self.work[self.done];
            self.reading = Some(self.done);
            let first = self.graph.edges.len();
            let mut content = Content::new(self);
            if content.walk.done >= MOST_NODES {
                content.fail(Why::Said("too many objects"));
            } else {
                match work {
                    Work::Object(object) => {
                        object::read(object, &mut content);
                        content.place(object);
                    }
                    Work::Pair(key, value) => {
                        content.hasher = const { Hasher::new("entry") };
                        content.child(Label::Part("key"), key);
                        content.child(Label::Key(0, key), value);
                    }
                    Work::Members(set) => content.members_of_set(set),
                    Work::Cache(wrapper) => library::cache(wrapper, &mut content),
                    Work::Annotations(function) => functions::annotations(function, &mut content),
                }
            }
            let Content {
                hasher,
                mut plain,
                edges,
                unordered,
                has_identity,
                opaque,
                marks,
                ..
            } = content;
            if !marks.is_empty() {
                self.marks.insert(self.done as u32, marks);
            }
            let mut hasher = hasher;
            if unordered {
                plain.sort_unstable();
                plain.into_iter().for_each(|digest| hasher.digest(digest));
                hasher.word(edges.len() as u64);
            }
            let local = hasher.finish();
            self.spare = edges;
            self.graph.edges.append(&mut self.spare);
            let last = self.graph.edges.len();
            let edges = first..if opaque.is_some() { first } else { last };
            self.graph.nodes.push(Node {
                local,
                edges,
                unordered,
                has_identity,
                opaque,
            });
            self.done += 1;
        }
        self.reading = None;
    }
}

/// What is read of one object.
pub struct Content<'w> {
    pub walk: &'w mut Walk,
    pub hasher: Hasher,
    /// Members without a node, where the order does not count.
    plain: Vec<Digest>,
    edges: Vec<Edge>,
    pub unordered: bool,
    pub has_identity: bool,
    pub opaque: Option<Why>,
    /// Addresses of immutable values with which programs may mark something.
    pub marks: Vec<usize>,
}

impl<'w> Content<'w> {
    fn new(walk: &'w mut Walk) -> Content<'w> {
        let edges = std::mem::take(&mut walk.spare);
        Content {
            walk,
            hasher: const { Hasher::new("object") },
            plain: Vec::new(),
            edges,
            unordered: false,
            has_identity: false,
            opaque: None,
            marks: Vec::new(),
        }
    }

    pub fn fail(&mut self, why: Why) {
        self.opaque.get_or_insert(why);
    }

    /// Takes an object whose content is not understood for where it is, together with what it
    /// refers to.
    unsafe fn place(&mut self, object: Ref) {
        let is_placed = self.walk.by_address && !self.walk.passing[self.walk.done];
        let Some(Why::Type(kind)) = self.opaque.filter(|_| is_placed) else {
            return;
        };
        self.opaque = None;
        self.walk.placed.push(object);
        self.hasher.bytes(type_name(kind));
        self.hasher.digest(of_address(object as usize));
        let kind = (*object).kind;
        if type_object::flags(kind) & type_object::HAVE_GC != 0 {
            for (at, held) in referents(object, kind).into_iter().enumerate() {
                self.child(Label::Index(at as u32), held);
            }
        }
    }

    /// A part of the object; null is none.
    pub unsafe fn child(&mut self, label: Label, object: Ref) {
        if object.is_null() {
            return self.hasher.word(0);
        }
        match self.walk.target(object) {
            Target::Plain(digest) => {
                self.hasher.word(1);
                self.hasher.digest(digest);
            }
            Target::Node(to) => {
                self.hasher.word(2);
                self.edges.push(Edge { label, to });
            }
        }
    }

    /// The part at `offset`.
    pub unsafe fn part(&mut self, name: &'static str, object: Ref, offset: isize) {
        self.child(Label::Part(name), word(object, offset) as Ref);
    }

    /// A member of something without order.
    pub unsafe fn member(&mut self, object: Ref) {
        match self.walk.target(object) {
            Target::Plain(digest) => self.plain.push(digest),
            Target::Node(to) => self.edges.push(Edge {
                label: Label::Part("member"),
                to,
            }),
        }
    }

    /// A part in a node of its own.
    pub fn aside(&mut self, name: &'static str, work: Work) {
        let to = self.walk.add(work);
        self.edges.push(Edge {
            label: Label::Part(name),
            to,
        });
    }

    /// An entry of a cache.
    pub unsafe fn pair(&mut self, key: Ref, value: Ref) {
        let key_digest = self.walk.key(key);
        if let (Some(key), Some(value)) = (key_digest, self.walk.key(value)) {
            let mut hasher = const { Hasher::new("plain entry") };
            hasher.digest(key);
            hasher.digest(value);
            return match self.unordered {
                true => self.plain.push(hasher.finish()),
                false => self.hasher.digest(hasher.finish()),
            };
        }
        self.hasher.word(0);
        let to = self.walk.add(Work::Pair(key, value));
        self.edges.push(Edge {
            label: Label::Part("entry"),
            to,
        });
    }

    pub unsafe fn items(&mut self, items: &[usize]) {
        self.hasher.word(items.len() as u64);
        if items.len() > MOST_ENTRIES {
            return self.fail(Why::Said("too large"));
        }
        for (at, item) in items.iter().enumerate() {
            self.child(Label::Index(at as u32), *item as Ref);
        }
    }

    /// Keys and values in turn.
    pub unsafe fn entries(&mut self, pairs: impl Iterator<Item = (Ref, Ref)>) {
        for (at, (key, value)) in pairs.enumerate() {
            if at > MOST_ENTRIES {
                return self.fail(Why::Said("too large"));
            }
            let label = match self.walk.plain(key) {
                Some(digest) => {
                    self.hasher.word(1);
                    self.hasher.digest(digest);
                    digest[0]
                }
                None => {
                    self.child(Label::Index(at as u32), key);
                    at as u64
                }
            };
            self.child(Label::Key(label, key), value);
        }
        self.hasher.word(u64::MAX);
    }

    pub unsafe fn members_of_set(&mut self, set: Ref) {
        if !self.walk.layouts.abilities.sets {
            return self.fail(Why::Said("set"));
        }
        let mut members = Vec::new();
        content::read(
            set,
            &Reader::Set,
            self.walk.layouts.abilities.inline,
            &mut members,
        );
        self.hasher.word(members.len() as u64);
        if members.len() > MOST_ENTRIES {
            return self.fail(Why::Said("too large"));
        }
        // The order of hashes that every process has is one to rely on.
        if members
            .iter()
            .all(|member| unsafe { self.walk.is_steady(*member as Ref) })
        {
            return self.items(&members);
        }
        self.unordered = true;
        for member in members {
            self.member(member as Ref);
        }
    }
}
