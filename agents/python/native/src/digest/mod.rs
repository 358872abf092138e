//! Cells and their values: for each global, member of a class or entry of a
//! container, a digest of what it reaches.

mod addresses;
mod base;
mod classes;
mod codes;
mod functions;
mod graph;
mod hash;
mod homes;
mod hooks;
mod kinds;
pub mod layout;
mod library;
mod noise;
mod object;
mod registered;
mod roots;
mod scalars;
mod sources;
mod walk;
mod wanted;

use std::ptr::null_mut;

use crate::ffi::*;
use classes::Names;
pub use classes::dict_of;
use graph::{Graph, Why};
use hash::{ByAddress, Digest, Hasher};
use layout::NoCollection;
use roots::{Cell, Key, Taking};
use walk::{Target, Walk};

/// By what the objects of a taking are called.
#[derive(Clone, Copy, PartialEq)]
pub enum Naming {
    /// By the positions of this taking.
    Own,
    /// The same, and these names are kept.
    Kept,
    /// By the names that were kept; new objects by positions of this taking, which are kept for
    /// those that are watched.
    Known,
    /// By where they are in memory, also those whose content is not understood. So two takings of
    /// one process tell what was changed, whatever else they take.
    Address,
}

/// `{label: {key: bytes | str}}` for a tuple of `(label, object[, keys])`, or
/// null with an exception. `places`: a tuple of (prefix, text) pairs. `late`: null, or a tuple of
/// the names of modules that are not told by these names, as their cells are compared nowhere.
pub unsafe fn cells(roots: Ref, places: Ref, naming: Naming, late: Ref) -> Ref {
    let Some(roots) = wanted::parse(roots) else {
        return null_mut();
    };
    let Some(places) = wanted::parse_places(places) else {
        return null_mut();
    };
    let late = match late.is_null() {
        true => Vec::new(),
        false => match texts_of(late) {
            Some(late) => late,
            None => return null_mut(),
        },
    };
    let layouts = layout::layouts();
    let collection = NoCollection::begin();
    let modules = roots.iter().filter_map(wanted::Root::module).collect();
    let mut walk = Walk::new(layouts, Names::new(layouts, modules, late), places);
    walk.by_address = naming == Naming::Address;
    walk.is_later = naming == Naming::Known;
    let mut taking = Taking::new(walk);
    for root in roots {
        taking.take(root);
    }
    taking.walk.finish();
    let result = answer(&mut taking, naming);
    taking.walk.end();
    collection.end();
    result
}

/// Computes the digests, and makes the Python objects.
unsafe fn answer(taking: &mut Taking, naming: Naming) -> Ref {
    let graph = &mut taking.walk.graph;
    graph.close();
    let values = graph.fold(&|graph, node| graph.nodes[node as usize].local);
    let (first, then): (Vec<&Cell>, _) = taking.cells.iter().partition(|cell| cell.at_home);
    let positions: Vec<(Digest, u32)> = first
        .into_iter()
        .chain(then)
        .filter_map(|cell| match cell.target {
            Target::Node(node) => Some((cell.position, node)),
            Target::Plain(_) => None,
        })
        .collect();
    let given = match naming {
        Naming::Known => base::names(&taking.walk),
        _ => Vec::new(),
    };
    let names = match naming {
        Naming::Address => taking.walk.addresses(),
        _ => taking.walk.graph.names(&positions, &values, &given),
    };
    let graph = &mut taking.walk.graph;
    // Immutable constants that are one object: the first that holds it.
    let mut first: ByAddress<Digest> = ByAddress::default();
    for cell in taking.cells.iter().filter(|cell| cell.alike != 0) {
        first.entry(cell.alike).or_insert(cell.position);
    }
    let alike = |address: usize| {
        let known = match naming {
            // SAFETY: nothing of the program runs meanwhile.
            Naming::Known => unsafe { base::alike(address) },
            Naming::Address => Some(hash::of_address(address)),
            Naming::Own | Naming::Kept => None,
        };
        let own = || first.get(&address).copied();
        known.or_else(own).unwrap_or_default()
    };
    let marks = &taking.walk.marks;
    let sharing = graph.fold(&|graph, node| {
        let mut hasher = const { Hasher::new("identity") };
        hasher.digest(values[node as usize]);
        if graph.nodes[node as usize].has_identity {
            hasher.digest(names[node as usize]);
        }
        for mark in marks.get(&node).into_iter().flatten() {
            hasher.digest(alike(*mark));
        }
        hasher.finish()
    });
    let all = PyDict_New();
    let mut libraries: ByAddress<Result<Hasher, String>> = ByAddress::default();
    for cell in &taking.cells {
        let shared = match cell.alike {
            0 => [0, 0],
            address => alike(address),
        };
        let found = match cell.target {
            Target::Plain(digest) => Ok((digest, shared)),
            Target::Node(node) if matches!(cell.key, Key::Same) => {
                Ok((names[node as usize], [0, 0]))
            }
            Target::Node(node) if graph.is_opaque(node) => Err(explanation(graph, node)),
            Target::Node(node) => {
                let mut hasher = const { Hasher::new("sharing") };
                hasher.digest(sharing[node as usize]);
                hasher.digest(shared);
                Ok((values[node as usize], hasher.finish()))
            }
        };
        if let Some(library) = taking.one_of[cell.root] {
            // Together they are one value.
            let one = libraries
                .entry(library)
                .or_insert_with(|| Ok(Hasher::new("library")));
            let name = || {
                let key = match cell.key {
                    Key::Text(text) => unsafe { text_bytes(text) }.unwrap_or_default(),
                    _ => Vec::new(),
                };
                let label = String::from_utf8_lossy(&taking.labels[cell.root]);
                format!("{label}.{}", String::from_utf8_lossy(&key))
            };
            match (found, &mut *one) {
                (Ok((value, sharing)), Ok(hasher)) => {
                    hasher.digest(cell.position);
                    hasher.digest(value);
                    hasher.digest(sharing);
                }
                (Err(why), Ok(_)) => *one = Err(format!("{why}, {}", name())),
                (_, Err(_)) => {}
            }
            continue;
        }
        let value = match found {
            Ok((value, sharing)) => bytes_of(value, sharing, cell.is_plain),
            Err(why) => PyUnicode_FromStringAndSize(why.as_ptr().cast(), why.len() as isize),
        };
        let of_root = dict_in(all, taking.labels[cell.root].as_ref());
        put(of_root, cell.key, value);
    }
    for (library, found) in libraries {
        let value = match found {
            Ok(hasher) => bytes_of(hasher.finish(), [0, 0], false),
            Err(why) => PyUnicode_FromStringAndSize(why.as_ptr().cast(), why.len() as isize),
        };
        let of_root = dict_in(all, taking.labels[library].as_ref());
        put(of_root, Key::Whole, value);
    }
    if naming == Naming::Address {
        put(all, Key::Whole, list_of(&taking.walk.placed));
    }
    if matches!(naming, Naming::Kept | Naming::Known) {
        let unwatched = base::unwatched(&mut taking.walk, naming == Naming::Known);
        let silent = base::silent(&mut taking.walk);
        // Marks tell how tests run, not what they compute.
        let is_mark = |cell: &Cell| matches!(cell.key, Key::Of(_, roots::OF_MARKS));
        let of_cell = |cell: &&Cell| match cell.target {
            Target::Node(node) => unwatched[node as usize] && !is_mark(cell),
            Target::Plain(_) => false,
        };
        for cell in taking.cells.iter().filter(of_cell) {
            let label = [b"*unwatched:", taking.labels[cell.root].as_slice()].concat();
            let is_silent = match (&silent, cell.target) {
                (Some(silent), Target::Node(node)) => silent[node as usize],
                _ => false,
            };
            let told = bytes_of([u64::from(is_silent), 0], [0, 0], false);
            put(dict_in(all, &label), cell.key, told);
        }
        match naming {
            Naming::Kept => base::keep(&taking.walk, &names, first),
            _ => base::add(&taking.walk, &names, first),
        }
    }
    if !PyErr_Occurred().is_null() {
        Py_DecRef(all);
        return null_mut();
    }
    all
}

/// A list of these objects, which stay alive with it.
unsafe fn list_of(objects: &[Ref]) -> Ref {
    let list = PyList_New(0);
    for object in objects {
        if !list.is_null() {
            PyList_Append(list, *object);
        }
    }
    list
}

/// The dict at a key of `all`, borrowed; a new one if there was none.
unsafe fn dict_in(all: Ref, label: &[u8]) -> Ref {
    let key = PyUnicode_FromStringAndSize(label.as_ptr().cast(), label.len() as isize);
    if all.is_null() || key.is_null() {
        return null_mut();
    }
    let mut dict = PyDict_GetItemWithError(all, key);
    if dict.is_null() && PyErr_Occurred().is_null() {
        dict = PyDict_New();
        PyDict_SetItem(all, key, dict);
        Py_DecRef(dict);
    }
    Py_DecRef(key);
    dict
}

unsafe fn put(dict: Ref, key: Key, value: Ref) {
    let key = match key {
        Key::Text(text) => {
            Py_IncRef(text);
            text
        }
        Key::Of(text, part) => {
            let mut name = text_bytes(text).unwrap_or_default();
            name.extend_from_slice(part.as_bytes());
            let name = String::from_utf8_lossy(&name);
            PyUnicode_FromStringAndSize(name.as_ptr().cast(), name.len() as isize)
        }
        Key::Digest(digest) => bytes_of(digest, [0, 0], false),
        Key::Whole => none(),
        Key::Bases => PyUnicode_InternFromString(c"<bases>".as_ptr()),
        Key::Same => PyLong_FromLong(1),
    };
    if !dict.is_null() && !key.is_null() && !value.is_null() {
        PyDict_SetItem(dict, key, value);
    }
    for object in [key, value] {
        if !object.is_null() {
            Py_DecRef(object);
        }
    }
}

/// 16 bytes for the value; 16 more if objects with an identity are reached; one more if it is
/// plain: see [`Cell`].
unsafe fn bytes_of(value: Digest, sharing: Digest, is_plain: bool) -> Ref {
    let words = [value[0], value[1], sharing[0], sharing[1]];
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(if sharing == [0, 0] { 16 } else { 32 });
    bytes.extend(is_plain.then_some(1));
    PyBytes_FromStringAndSize(bytes.as_ptr().cast(), bytes.len() as isize)
}

/// `type: path`.
unsafe fn explanation(graph: &Graph, node: u32) -> String {
    let (why, path) = graph.explain(node);
    let why = match why {
        Why::Type(kind) => {
            let name = classes::type_name(kind);
            String::from_utf8_lossy(name).into_owned()
        }
        Why::Said(text) => text.to_owned(),
    };
    match path.is_empty() {
        true => why,
        false => format!("{why} at {path}"),
    }
}
