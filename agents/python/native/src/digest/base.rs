//! The objects of an earlier taking, each by the position that held it there. Later takings of a
//! few cells name them alike, so that their values are those of a taking of all cells.

use super::classes::{is_text, type_name};
use super::graph::Label;
use super::hash::{ByAddress, Digest};
use super::kinds::Kind;
use super::walk::{Walk, Work};
use crate::ffi::*;
use crate::watch;

pub struct Base {
    objects: ByAddress<Known>,
    /// Immutable values: the first position that holds them.
    alike: ByAddress<Digest>,
}

struct Known {
    kind: usize,
    /// Its number among the watched objects: another object at the same address has another.
    watched: Option<u32>,
    name: Digest,
}

static BASE: Global<Option<Base>> = Global::new(None);

/// Keeps the names of all objects that a taking has reached.
pub unsafe fn keep(walk: &Walk, names: &[Digest], alike: ByAddress<Digest>) {
    let mut objects = ByAddress::default();
    for (node, work) in walk.work.iter().enumerate() {
        if let Work::Object(object) = *work
            && !walk.is_passing(node as u32)
        {
            let known = Known {
                kind: (*object).kind as usize,
                watched: watch::index_of(object),
                name: names[node],
            };
            objects.insert(object as usize, known);
        }
    }
    *BASE.get() = Some(Base { objects, alike });
}

/// Keeps also the names of new objects that are watched: who reaches one of them in a later
/// taking shares it with the place that held it first, whether or not that is taken again.
pub unsafe fn add(walk: &Walk, names: &[Digest], alike: ByAddress<Digest>) {
    let Some(base) = BASE.get() else {
        return;
    };
    for (node, work) in walk.work.iter().enumerate() {
        if let Work::Object(object) = *work
            && !walk.is_passing(node as u32)
            && base.known(object).is_none()
            && let Some(index) = watch::index_of(object)
        {
            let known = Known {
                kind: (*object).kind as usize,
                watched: Some(index),
                name: names[node],
            };
            base.objects.insert(object as usize, known);
        }
    }
    for (address, position) in alike {
        base.alike.entry(address).or_insert(position);
    }
}

impl Base {
    unsafe fn known(&self, object: Ref) -> Option<&Known> {
        let known = self.objects.get(&(object as usize));
        known.filter(|known| unsafe {
            known.kind == (*object).kind as usize
                && (known.watched.is_none() || watch::index_of(object) == known.watched)
        })
    }
}

/// Whether nobody can ask a cache for what it has for `key`: an argument is equal to itself only, and
/// is reached neither by what was there nor by what is watched.
pub unsafe fn is_single(key: Ref) -> bool {
    if (*key).kind != &raw mut PyTuple_Type {
        return false;
    }
    let items = (0..PyTuple_Size(key)).map(|at| unsafe { PyTuple_GetItem(key, at) });
    let mut plain = items.filter(|one| unsafe { type_object::has_plain_equality((**one).kind) });
    plain.any(|one| unsafe { is_new(one) })
}

/// The name that an object has in the base.
pub unsafe fn name_of(object: Ref) -> Option<Digest> {
    let known = BASE.get().as_ref()?.known(object)?;
    Some(known.name).filter(|name| *name != [0, 0])
}

/// For each node, the name that its object has in the base; zeros if there is none.
pub unsafe fn names(walk: &Walk) -> Vec<Digest> {
    let Some(base) = BASE.get() else {
        return Vec::new();
    };
    let name = |work: &Work| match *work {
        Work::Object(object) => unsafe { base.known(object) }.map_or([0, 0], |known| known.name),
        _ => [0, 0],
    };
    walk.work.iter().map(name).collect()
}

/// Where an immutable value stood in the base.
pub unsafe fn alike(address: usize) -> Option<Digest> {
    BASE.get().as_ref()?.alike.get(&address).copied()
}

/// For each node, whether it reaches an object that may change without the watch telling.
/// `is_later`: in a taking after the one that was kept, which may have met new objects.
pub unsafe fn unwatched(walk: &mut Walk, is_later: bool) -> Vec<bool> {
    let mut may_change = Vec::with_capacity(walk.work.len());
    for node in 0..walk.work.len() {
        may_change.push(match walk.work[node] {
            Work::Object(object) => is_unwatched(object, walk, is_later),
            Work::Members(_) | Work::Pair(..) | Work::Annotations(_) => false,
            Work::Cache(_) => true,
        });
    }
    for node in 0..walk.work.len() {
        if is_signature(walk, node) {
            for held in held_by_signature(walk, node as u32) {
                may_change[held as usize] = false;
            }
        }
    }
    // Marks tell how tests run, not what they compute. Nobody changes the defaults of a function
    // in place.
    let is_quiet = |label| match label {
        Label::Part(name) => name == "keyword defaults",
        other => unsafe { is_attribute(other, b"pytestmark") },
    };
    walk.graph.reaching(may_change, &is_quiet)
}

/// For each node, whether it reaches an object whose content C code changes in place, so that no
/// change of a dict or list shows it; None if there is no such object. Not what counts, as each
/// test that draws a number would be tied to all before it.
pub unsafe fn silent(walk: &mut Walk) -> Option<Vec<bool>> {
    let mut changes = vec![false; walk.work.len()];
    for node in 0..walk.work.len() {
        if let Work::Object(object) = walk.work[node] {
            let shape = walk.shape((*object).kind);
            let name = type_name(shape.base);
            changes[node] = match shape.kind {
                Kind::Array | Kind::Queue => true,
                // Whoever changes those of SQLAlchemy changes dicts, too.
                Kind::Members(_) | Kind::Answer(_) => {
                    !UNCHANGING.contains(&name) && !name.starts_with(b"sqlalchemy.")
                }
                _ => false,
            };
        }
    }
    let has_any = changes.contains(&true);
    has_any.then(|| walk.graph.reaching(changes, &|_| false))
}

unsafe fn is_signature(walk: &Walk, node: usize) -> bool {
    match walk.work[node] {
        Work::Object(object) => walk
            .names
            .is_named((*object).kind, b"inspect", b"Signature"),
        _ => false,
    }
}

/// The dict of the parameters: nobody else has it, and the signature shows only a proxy.
unsafe fn held_by_signature(walk: &Walk, signature: u32) -> Vec<u32> {
    let edges = walk.graph.edges_of(signature).iter();
    let proxies = edges.filter(|edge| unsafe { is_attribute(edge.label, b"_parameters") });
    let held = proxies.flat_map(|edge| walk.graph.edges_of(edge.to));
    held.map(|edge| edge.to).collect()
}

unsafe fn is_attribute(label: Label, name: &[u8]) -> bool {
    match label {
        Label::Attribute(text) | Label::Key(_, text) => {
            is_text(text) && text_of(text).as_deref() == Some(name)
        }
        Label::Part(_) | Label::Index(_) => false,
    }
}

/// Types in C whose instances never change.
const UNCHANGING: [&[u8]; 12] = [
    b"pydantic_core._pydantic_core.SchemaValidator",
    b"pydantic_core._pydantic_core.SchemaSerializer",
    b"range",
    b"re.Pattern",
    b"Struct",
    b"_struct.Struct",
    b"typing.ParamSpecArgs",
    b"typing.ParamSpecKwargs",
    b"operator.methodcaller",
    b"_collections._tuplegetter",
    b"collections._tuplegetter",
    b"datetime.timezone",
];

/// Whether the base lacks an object that nobody watches, either.
unsafe fn is_new(object: Ref) -> bool {
    let base = BASE.get().as_ref();
    base.is_some_and(|base| unsafe { base.known(object) }.is_none())
        && watch::index_of(object).is_none()
}

unsafe fn is_unwatched(object: Ref, walk: &mut Walk, is_later: bool) -> bool {
    let shape = walk.shape((*object).kind);
    let has_parts = shape.has_attributes || !shape.slots.is_empty();
    let is_subclass_with_parts = has_parts && !shape.is_exact;
    let is_unseen = || unsafe { watch::index_of(object).is_none() };
    let may_change = match shape.kind {
        // The order of its keys can change alone.
        Kind::OrderedDict | Kind::LruCache => true,
        // Of functions and classes, attributes are watched, and cells that others may bind: of
        // those that were there when the watch was set up.
        Kind::Function | Kind::Module | Kind::Cell => is_later && is_new(object),
        Kind::Property | Kind::Wrapper | Kind::Referents | Kind::TypeVar | Kind::Capsule => {
            is_subclass_with_parts && is_unseen()
        }
        kind if kind.is_value() => is_subclass_with_parts && is_unseen(),
        Kind::Object => has_parts && is_unseen(),
        Kind::List
        | Kind::Dict
        | Kind::DefaultDict
        | Kind::Set
        | Kind::Deque
        | Kind::ByteArray => is_unseen(),
        // Who watches a class tells of that, and not of who has it for content.
        Kind::Class => is_later || is_unseen(),
        // What is registered with an abstract class is taken with its subclasses.
        Kind::Registry => false,
        Kind::Members(_) | Kind::Answer(_) => !UNCHANGING.contains(&type_name(shape.base)),
        _ => true,
    };
    may_change && !is_of_declarations((*object).kind, walk)
}

/// Modules of the classes in Python whose instances say how something is meant: types, marks and
/// fixtures.
const DECLARING: [&[u8]; 4] = [
    b"typing",
    b"__future__",
    b"_pytest.fixtures",
    b"_pytest.mark.structures",
];

/// More such classes.
const DECLARATIONS: [(&[u8], &[u8]); 4] = [
    (b"inspect", b"Signature"),
    (b"inspect", b"Parameter"),
    (b"inspect", b"_ParameterKind"),
    (b"functools", b"cached_property"),
];

unsafe fn is_of_declarations(kind: Ref, walk: &Walk) -> bool {
    let names = &walk.names;
    names.is_made_by_python(kind)
        && names.full_name(kind).is_some_and(|(module, name)| {
            let known = (module.as_slice(), name.as_slice());
            DECLARING.contains(&known.0) || DECLARATIONS.contains(&known)
        })
}
