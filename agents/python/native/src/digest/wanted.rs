//! What the agent asks about.

use super::classes::{is_module, is_text, module_name};
use super::hash::Texts;
use crate::ffi::*;

/// Key for the subclasses of all classes of a module, registered ones too.
pub const BELOW: &[u8] = b"*subclasses";

pub struct Root {
    pub label: Vec<u8>,
    pub object: Ref,
    /// Only these keys: there can be thousands.
    pub keys: Option<Texts>,
    /// It is a library's.
    pub library: Option<Library>,
}

/// What of a library's module does not count: names, of a member `Class.name`.
pub struct Library {
    pub without: Vec<Vec<u8>>,
    /// All cells are one.
    pub is_whole: bool,
}

impl Root {
    pub fn module(&self) -> Option<(Vec<u8>, Ref)> {
        // SAFETY: the caller's tuple holds the object.
        unsafe { is_module(self.object).then(|| Some((module_name(self.object)?, self.object)))? }
    }

    pub fn takes(&self, key: &[u8]) -> bool {
        self.keys.as_ref().is_none_or(|keys| keys.contains(key))
    }

    /// Whether only subclasses are asked for: nearly all that is taken again is that.
    pub fn is_below(&self) -> bool {
        let keys = self.keys.as_ref();
        keys.is_some_and(|keys| keys.len() == 1 && keys.contains(BELOW))
    }

    /// An inner class. `name` is its qualified name. If it is not whole, its subclasses.
    pub fn inner(module: &[u8], name: &[u8], class: Ref, is_whole: bool) -> Root {
        Root {
            label: [module, b":", name].concat(),
            object: class,
            keys: (!is_whole).then(|| Texts::from_iter([BELOW.to_vec()])),
            library: None,
        }
    }
}

/// The roots of a tuple of `(label, object)` and `(label, object, keys)`.
pub unsafe fn parse(tuple: Ref) -> Option<Vec<Root>> {
    let mut roots = Vec::new();
    for at in 0..PyTuple_Size(tuple) {
        let item = PyTuple_GetItem(tuple, at);
        let size = match (*item).kind == &raw mut PyTuple_Type {
            true => PyTuple_Size(item),
            false => 0,
        };
        let is_tuple = |at| unsafe { (*PyTuple_GetItem(item, at)).kind == &raw mut PyTuple_Type };
        if !(2..=4).contains(&size)
            || !is_text(PyTuple_GetItem(item, 0))
            || size >= 3 && !is_tuple(2)
            || size == 4 && !is_module(PyTuple_GetItem(item, 1))
        {
            raise(
                PyExc_TypeError,
                c"a root is (label, object), (label, object, keys) or (label, module, without, how)",
            );
            return None;
        }
        let label = text_bytes(PyTuple_GetItem(item, 0)).unwrap_or_default();
        let mut root = Root {
            label,
            object: PyTuple_GetItem(item, 1),
            keys: None,
            library: None,
        };
        match size {
            3 => root.keys = Some(texts_of(PyTuple_GetItem(item, 2))?.into_iter().collect()),
            4 => {
                root.library = Some(Library {
                    without: texts_of(PyTuple_GetItem(item, 2))?,
                    is_whole: PyTuple_GetItem(item, 3) == &raw mut _Py_NoneStruct,
                })
            }
            _ => {}
        }
        roots.push(root);
    }
    Some(roots)
}

/// Pairs of a prefix of file names and what stands in its place.
pub unsafe fn parse_places(tuple: Ref) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut places = Vec::new();
    if !tuple.is_null() {
        for at in 0..PyTuple_Size(tuple) {
            let pair = PyTuple_GetItem(tuple, at);
            let mut pair = match (*pair).kind == &raw mut PyTuple_Type {
                true => texts_of(pair)?,
                false => Vec::new(),
            };
            let (Some(text), Some(prefix), true) = (pair.pop(), pair.pop(), pair.is_empty()) else {
                raise(PyExc_TypeError, c"a place is (prefix, text)");
                return None;
            };
            places.push((prefix, text));
        }
    }
    Some(places)
}
