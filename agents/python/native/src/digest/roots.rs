//! The cells that what the agent asks about has.

use std::borrow::Cow;

use super::base;
use super::classes::{
    bound, dict_of, entries, find, is_class, is_module, is_same_text, is_text, module_name,
};
use super::functions::{behind, is_annotated, is_plain, made_doc};
use super::graph::{self, Label};
use super::hash::{Digest, Hasher};
use super::homes::is_at_home;
use super::hooks::{are_silent_below, subclasses};
use super::kinds::Kind;
use super::layout::{FunctionLayout, TYPE_BASES};
use super::library::cache_entries;
use super::noise;
use super::registered;
use super::walk::{Target, Walk};
use super::wanted::{BELOW, Library, Root};
use crate::ffi::*;

/// Key for the order of keys.
const SHAPE: &[u8] = b"";
/// Of an abstract class: what was registered with it.
const REGISTERED: &[u8] = b"_abc_impl";

/// Of a test, the part of its key that tells the cell of its marks.
pub const OF_MARKS: &str = ".pytestmark";

#[derive(Clone, Copy)]
pub enum Key {
    /// A text, as it is.
    Text(Ref),
    /// A part of what has this name: `.__doc__`.
    Of(Ref, &'static str),
    /// Any other key.
    Digest(Digest),
    /// The root itself: its kind, and its keys in order.
    Whole,
    /// Metaclass and bases of a class.
    Bases,
    /// Which object the root is, by its name: not what it holds.
    Same,
}

pub struct Cell {
    pub root: usize,
    pub key: Key,
    pub position: Digest,
    pub target: Target,
    /// The address of an immutable value with which programs may mark
    /// something; else 0.
    pub alike: usize,
    /// A function of a library, or an object of a class of it, where that is defined: another
    /// library that is loaded, too, and has it does not rename it.
    pub at_home: bool,
    /// It is a function with nothing but a signature, defaults and a closure: see
    /// [`is_plain`]. Or the subclasses of a class, and none of those below it has a say on whether
    /// other objects are its instances.
    pub is_plain: bool,
}

pub struct Taking {
    pub walk: Walk,
    pub labels: Vec<Vec<u8>>,
    /// For each label, what begins the digest of a position there.
    starts: Vec<Hasher>,
    /// For each label, the root of which its cells are one.
    pub one_of: Vec<Option<usize>>,
    pub cells: Vec<Cell>,
}

impl Taking {
    pub fn new(walk: Walk) -> Taking {
        Taking {
            walk,
            labels: Vec::new(),
            starts: Vec::new(),
            one_of: Vec::new(),
            cells: Vec::new(),
        }
    }

    pub unsafe fn take(&mut self, root: Root) {
        let number = self.label(root.label.clone(), None);
        if let Some(library) = &root.library {
            self.take_library(number, &root, library);
        } else if is_module(root.object) {
            self.take_module(number, &root);
        } else if is_class(root.object) {
            self.take_class(number, &root);
        } else {
            self.take_container(number, &root);
        }
    }

    fn label(&mut self, label: Vec<u8>, one_of: Option<usize>) -> usize {
        let mut start = Hasher::new("cell");
        start.bytes(&label);
        self.starts.push(start);
        self.labels.push(label);
        self.one_of.push(one_of);
        self.labels.len() - 1
    }

    fn add(&mut self, root: usize, key: Key, target: Target, alike: usize) {
        let mut hasher = self.starts[root].clone();
        match key {
            // SAFETY: keys are alive during the taking.
            Key::Text(text) => hasher.bytes(&unsafe { text_of(text) }.unwrap_or_default()),
            Key::Of(text, part) => {
                hasher.bytes(&unsafe { text_of(text) }.unwrap_or_default());
                hasher.bytes(part.as_bytes());
            }
            Key::Digest(digest) => hasher.digest(digest),
            Key::Whole => hasher.word(0),
            Key::Bases => hasher.word(1),
            Key::Same => hasher.word(2),
        }
        let position = hasher.finish();
        self.cells.push(Cell {
            root,
            key,
            position,
            target,
            alike,
            at_home: false,
            is_plain: false,
        });
    }

    /// Notes that the cell that was added last has a function which is all that `holder`, a class
    /// of the module if it has a name, says it is.
    unsafe fn note_plain(&mut self, value: Ref, module: &[u8], holder: &[u8], key: &[u8]) {
        let qualified = match holder.is_empty() {
            true => Cow::Borrowed(key),
            false => Cow::Owned([holder, b".", key].concat()),
        };
        let is_plain = is_plain(value, module, &qualified, &mut self.walk);
        if let Some(cell) = self.cells.last_mut() {
            cell.is_plain = is_plain;
        }
    }

    unsafe fn take_module(&mut self, number: usize, root: &Root) {
        let name = module_name(root.object).unwrap_or_default();
        let globals: Vec<(Ref, Ref)> = bound(PyModule_GetDict(root.object)).collect();
        let mut order = Hasher::new("globals");
        let mut classes = Vec::new();
        let (is_below, takes_order) = (root.is_below(), root.takes(SHAPE));
        for (key, value) in globals {
            if is_below && !is_class(value) {
                continue;
            }
            let Some(text) = plain_text(key) else {
                continue;
            };
            if noise::is_global(&text) {
                continue;
            }
            if takes_order {
                order.bytes(&text);
            }
            let is_taken = root.takes(&text);
            if is_taken {
                let target = self.walk.target(value);
                self.add(number, Key::Text(key), target, mark(value));
                self.note_plain(value, &name, b"", &text);
                self.describe(number, key, value, &name);
            }
            let may_have_cells = is_taken || root.takes(BELOW);
            if may_have_cells && is_class(value) && self.is_home(value, &name, &text) {
                classes.push((text, value, is_taken));
            }
        }
        if root.takes(SHAPE) {
            self.add(number, Key::Whole, Target::Plain(order.finish()), 0);
        }
        for (text, class, is_whole) in classes {
            self.take(Root::inner(&root.label, &text, class, is_whole));
        }
    }

    /// The globals of a library's module, and the members of its classes. Not
    /// their order, and no subclasses: those of the project are cells of its own.
    unsafe fn take_library(&mut self, number: usize, root: &Root, library: &Library) {
        let name = module_name(root.object).unwrap_or_default();
        let whole = library.is_whole.then_some(number);
        self.one_of[number] = whole;
        let mut waiting = vec![(number, root.object, Vec::new())];
        while let Some((at, holder, qualified)) = waiting.pop() {
            let is_of_module = is_module(holder);
            let dict = match is_of_module {
                true => PyModule_GetDict(holder),
                false => dict_of(holder),
            };
            let all: Vec<(Ref, Ref)> = bound(dict).collect();
            for (key, value) in all {
                let Some(text) = plain_text(key) else {
                    continue;
                };
                let full = match is_of_module {
                    true => text.clone(),
                    false => Cow::Owned([qualified.as_slice(), b".", &text].concat()),
                };
                let is_noise = match is_of_module {
                    true => noise::is_global(&text) || is_submodule(value, &name, &text),
                    false => noise::is_member(&text),
                };
                if is_noise || library.without.iter().any(|one| *one == *full) {
                    continue;
                }
                let registered = match !is_of_module && *text == *REGISTERED {
                    true => registered::of_project(value, &mut self.walk),
                    false => None,
                };
                let target = match registered {
                    Some(digest) => Target::Plain(digest),
                    None => self.walk.target(value),
                };
                self.add(at, Key::Text(key), target, mark(value));
                let is_own = self.is_made_by(value, &name);
                if let Some(cell) = self.cells.last_mut() {
                    cell.at_home = is_own;
                }
                if is_class(value) && self.is_home(value, &name, &full) {
                    let label = [root.label.as_slice(), b":", &full].concat();
                    let inner = self.label(label, whole);
                    let bases = Target::Plain(self.bases(value));
                    self.add(inner, Key::Bases, bases, 0);
                    waiting.push((inner, value, full.into_owned()));
                }
            }
        }
    }

    /// Whether a function is of this module, or an object of a class that is: another library that
    /// has it, too, is not where it is from.
    unsafe fn is_made_by(&self, value: Ref, module: &[u8]) -> bool {
        let function = behind(value);
        if !function.is_null() {
            let layout = self.walk.layouts.function;
            return layout
                .is_some_and(|at| unsafe { is_name(word(function, at.module) as Ref, module) });
        }
        let kind = (*value).kind;
        self.walk.names.is_made_by_python(kind)
            && find(dict_of(kind), b"__module__").is_some_and(|text| is_name(text, module))
    }

    unsafe fn is_home(&self, class: Ref, module: &[u8], qualified: &[u8]) -> bool {
        let names = &self.walk.names;
        names.is_made_by_python(class) && names.is_at(class, module, qualified)
    }

    unsafe fn take_class(&mut self, number: usize, root: &Root) {
        let dict = dict_of(root.object);
        if dict.is_null() {
            return;
        }
        let (module, name) = self.walk.names.full_name(root.object).unwrap_or_default();
        let members: Vec<(Ref, Ref)> = bound(dict).collect();
        let mut order = Hasher::new("class");
        let mut classes = Vec::new();
        let (is_below, takes_order) = (root.is_below(), root.takes(SHAPE));
        for (key, value) in members {
            if is_below && !is_class(value) && !is_name(key, REGISTERED) {
                continue;
            }
            let Some(text) = plain_text(key) else {
                continue;
            };
            if noise::is_member(&text) {
                continue;
            }
            if takes_order {
                order.bytes(&text);
            }
            let is_taken = root.takes(&text) || *text == *REGISTERED && root.takes(BELOW);
            if is_taken {
                let target = self.walk.target(value);
                // Whether a module's name is interned goes by who imported it.
                let alike = if *text == *b"__module__" {
                    0
                } else {
                    mark(value)
                };
                self.add(number, Key::Text(key), target, alike);
                self.note_plain(value, &module, &name, &text);
                self.describe(number, key, value, &module);
            }
            if is_class(value) && (is_taken || root.takes(BELOW)) {
                let inner = [name.as_slice(), b".", &text].concat();
                if self.is_home(value, &module, &inner) {
                    classes.push((inner, value, is_taken));
                }
            }
        }
        if root.takes(SHAPE) {
            self.add(number, Key::Whole, Target::Plain(order.finish()), 0);
        }
        if root.keys.is_none() {
            let bases = Target::Plain(self.bases(root.object));
            self.add(number, Key::Bases, bases, 0);
        }
        if root.takes(BELOW) {
            self.take_below(number, root.object);
        }
        let holder = root.label.split(|byte| *byte == b':').next();
        let holder = holder.unwrap_or_default().to_vec();
        for (inner, class, is_whole) in classes {
            self.take(Root::inner(&holder, &inner, class, is_whole));
        }
    }

    unsafe fn bases(&mut self, class: Ref) -> Digest {
        let mut hasher = Hasher::new("bases");
        let bases = word(class, TYPE_BASES) as Ref;
        hasher.digest(self.class_reference((*class).kind));
        for at in 0..PyTuple_Size(bases) {
            hasher.digest(self.class_reference(PyTuple_GetItem(bases, at)));
        }
        hasher.finish()
    }

    /// The subclasses.
    unsafe fn take_below(&mut self, number: usize, class: Ref) {
        let mut hasher = Hasher::new("subclasses");
        let mut some = false;
        for target in subclasses(class) {
            some = true;
            hasher.digest(self.class_reference(target));
        }
        if some {
            let name = PyUnicode_InternFromString(c"__subclasses__".as_ptr());
            if let Some(name) = self.walk.keep(name) {
                self.add(number, Key::Text(name), Target::Plain(hasher.finish()), 0);
                if let Some(cell) = self.cells.last_mut() {
                    cell.is_plain = are_silent_below(class, self.walk.layouts);
                }
            }
        }
    }

    /// By name, where nothing better is known.
    unsafe fn class_reference(&mut self, kind: Ref) -> Digest {
        if let Some(digest) = self.walk.names.class(kind) {
            return digest;
        }
        let (module, name) = self.walk.names.full_name(kind).unwrap_or_default();
        let mut hasher = Hasher::new("some class");
        hasher.bytes(&module);
        hasher.bytes(&name);
        hasher.finish()
    }

    /// The cells of documentation and annotations of a function of `module`.
    unsafe fn describe(&mut self, number: usize, key: Ref, value: Ref, module: &[u8]) {
        let layouts = self.walk.layouts;
        if (*value).kind == &raw mut PyProperty_Type {
            if let Some([getter, .., doc]) = layouts.property {
                let getter = word(value, getter) as Ref;
                if let Some(layout) = layouts.function
                    && !getter.is_null()
                    && (*getter).kind == &raw mut PyFunction_Type
                    && is_name(word(getter, layout.module) as Ref, module)
                {
                    self.annotations(number, key, getter, layout);
                }
                let doc = word(value, doc) as Ref;
                if !doc.is_null() && doc != &raw mut _Py_NoneStruct {
                    let target = self.walk.target(doc);
                    self.add(number, Key::Of(key, ".__doc__"), target, 0);
                }
            }
            return;
        }
        let (function, Some(layout)) = (behind(value), layouts.function) else {
            return;
        };
        if function.is_null() {
            return;
        }
        if !is_name(word(function, layout.module) as Ref, module) {
            return;
        }
        // `staticmethod` and `classmethod` have a copy of their own.
        let doc = match function == value {
            true => made_doc(function, layout, layouts),
            false => word(function, layout.doc) as Ref,
        };
        if !doc.is_null() {
            let target = self.walk.target(doc);
            self.add(number, Key::Of(key, ".__doc__"), target, 0);
        }
        self.annotations(number, key, function, layout);
        let dict = _PyObject_GetDictPtr(function);
        if !dict.is_null()
            && !(*dict).is_null()
            && let Some(marks) = find(*dict, noise::MARKS)
            && is_at_home(function, &mut self.walk)
        {
            let target = self.walk.target(marks);
            self.add(number, Key::Of(key, OF_MARKS), target, 0);
        }
    }

    unsafe fn annotations(&mut self, number: usize, key: Ref, of: Ref, layout: FunctionLayout) {
        if is_annotated(of, layout) {
            let target = Target::Node(self.walk.annotations(of));
            self.add(number, Key::Of(key, ".__annotations__"), target, 0);
        }
    }

    /// A dict or a cache by key; anything else is one cell.
    unsafe fn take_container(&mut self, number: usize, root: &Root) {
        let shape = self.walk.shape((*root.object).kind);
        let pairs: Vec<(Ref, Ref)> = match (shape.kind, self.walk.layouts.lru) {
            (Kind::Dict | Kind::DefaultDict | Kind::OrderedDict, _) => {
                entries(root.object).collect()
            }
            (Kind::LruCache, Some(function)) => cache_entries(root.object, function),
            _ => {
                let target = self.walk.target(root.object);
                return self.add(number, Key::Whole, target, mark(root.object));
            }
        };
        // The global of a module. Who knows its name need not look at all that it holds.
        let is_global = root.label.contains(&b'[');
        let named = (is_global && self.walk.is_later).then(|| base::name_of(root.object));
        let named = named.flatten();
        if is_global {
            let target = match named {
                Some(name) => Target::Plain(name),
                None => self.walk.target(root.object),
            };
            self.add(number, Key::Same, target, 0);
        }
        let is_cache = shape.kind == Kind::LruCache;
        let mut order = Hasher::new("keys");
        let mut is_complete = true;
        for (key, value) in pairs {
            let text = plain_text(key);
            let digest = self.walk.key(key);
            let name = match (&text, digest) {
                (Some(text), _) => {
                    order.bytes(text);
                    Key::Text(key)
                }
                (None, Some(digest)) => {
                    order.digest(digest);
                    Key::Digest(digest)
                }
                (None, None) => {
                    is_complete = false;
                    continue;
                }
            };
            if root.takes(text.as_deref().unwrap_or_default()) {
                let target = self.walk.target(value);
                self.add(number, name, target, 0);
                if let (Some(of), Some(digest), Some(cell)) = (named, digest, self.cells.last_mut())
                {
                    // As if the dictionary led there.
                    cell.position = graph::inside(of, Label::Key(digest[0], key));
                }
            }
        }
        if root.keys.is_none() {
            let target = match (is_complete, is_cache) {
                // A key that is no plain value: as a whole.
                (false, _) => self.walk.target(root.object),
                (true, true) => return,
                (true, false) => Target::Plain(order.finish()),
            };
            self.add(number, Key::Whole, target, 0);
        }
    }
}

/// Whether the import system bound a submodule here.
unsafe fn is_submodule(value: Ref, package: &[u8], name: &[u8]) -> bool {
    is_module(value)
        && module_name(value).is_some_and(|full| {
            full.strip_prefix(package)
                .and_then(|rest| rest.strip_prefix(b"."))
                == Some(name)
        })
}

unsafe fn is_name(text: Ref, name: &[u8]) -> bool {
    is_text(text) && is_same_text(text, name)
}

/// Nothing drops keys while values are taken.
unsafe fn plain_text<'a>(key: Ref) -> Option<Cow<'a, [u8]>> {
    if is_text(key) { text_of(key) } else { None }
}

/// The address of an immutable value that is not shared by chance.
pub unsafe fn mark(value: Ref) -> usize {
    /// Whether a text is interned: `PyASCIIObject.state`, two lowest bits.
    const STATE: isize = 32;
    let kind = (*value).kind;
    let counts = if kind == &raw mut PyUnicode_Type {
        word(value, 16) > 1 && word(value, STATE) & 3 == 0
    } else if kind == &raw mut PyBytes_Type {
        PyBytes_Size(value) > 1
    } else if kind == &raw mut PyTuple_Type {
        PyTuple_Size(value) > 0
    } else if kind == &raw mut PyLong_Type {
        // The interpreter has one object for each small number.
        let mut overflow = 0;
        let number = PyLong_AsLongLongAndOverflow(value, &mut overflow);
        overflow != 0 || !(-5..=256).contains(&number)
    } else {
        // `PySetObject.used`: up to 3.9 there is one empty frozenset.
        kind == &raw mut PyFrozenSet_Type && (word(value, 24) > 0 || version().1 >= 10)
    };
    if counts { value as usize } else { 0 }
}
