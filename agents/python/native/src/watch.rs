//! State that outlives a test: containers, modules, classes and instances whose
//! shallow content is compared from test to test.

use std::collections::HashMap;
use std::ffi::{CStr, c_int, c_void};
use std::hash::{BuildHasherDefault, DefaultHasher, Hasher as _};

use crate::content::{self, Attributes, Comparison, FIRST_ADDRESS, Inline, Reader};
use crate::ffi::*;

/// Above this many words, a part is compared by hash and without guards.
const MOST_WORDS: usize = 2 * 65_536;
/// First word of such a hash: no address.
const HASHED: usize = 1;
/// `PyDictObject.ma_version_tag`, up to 3.12: another number after each change.
const DICT_VERSION: isize = 24;
/// `PyWeakReference.wr_object`.
const WEAK_TARGET: isize = 16;

/// A guard that is not the address of a weak reference.
const UNGUARDED: usize = 0;
const STRONG: usize = 1;

type Watcher = unsafe extern "C" fn(c_int, Ref, Ref, Ref) -> c_int;

/// One part of a watched object; most have one.
struct Part {
    owner: u32,
    object: Ref,
    reader: Reader,
    /// Up to 3.12: the dict that is read, and its version.
    version: (usize, usize),
    words: Vec<usize>,
    /// Per word: how the object there is kept from being mistaken for another
    /// one at the same address.
    guards: Vec<usize>,
    /// Whether some guard is a weak reference.
    weak: bool,
}

struct Entry {
    object: Ref,
    /// Whether the agent may ask for keys.
    has_keys: bool,
    /// The keys that the last `watch_changed` found changed: a list, or null.
    keys: Ref,
}

/// What this interpreter was found to be able to do.
#[derive(Clone, Copy)]
struct Abilities {
    inline: Inline,
    versions: bool,
    watcher: Option<c_int>,
    sets: bool,
    deques: bool,
    attributes: bool,
    weak: bool,
}

struct State {
    abilities: Option<Abilities>,
    /// Types whose content is known, and how it is read.
    bases: Vec<(Ref, Option<Reader>)>,
    parts: Vec<Part>,
    /// Per part, whether it may have changed: always true, unless a dict
    /// watcher (3.13 and later) would tell.
    dirty: Vec<bool>,
    entries: Vec<Entry>,
    indexes: HashMap<usize, u32, BuildHasherDefault<DefaultHasher>>,
    /// The parts that read each dict with a watcher.
    dicts: HashMap<usize, Vec<usize>, BuildHasherDefault<DefaultHasher>>,
    busy: bool,
}

static STATE: Global<State> = Global::new(State {
    abilities: None,
    bases: Vec::new(),
    parts: Vec::new(),
    dirty: Vec::new(),
    entries: Vec::new(),
    indexes: HashMap::with_hasher(BuildHasherDefault::new()),
    dicts: HashMap::with_hasher(BuildHasherDefault::new()),
    busy: false,
});

/// References to give back once the state is consistent: that can run code.
#[derive(Default)]
struct Garbage(Vec<Ref>);

impl Garbage {
    unsafe fn empty(self) {
        for object in self.0 {
            Py_DecRef(object);
        }
    }
}

/// The index of `object`, or None if it cannot be watched.
pub unsafe fn add(object: Ref) -> Option<u32> {
    let abilities = abilities();
    if STATE.get().busy {
        return None;
    }
    if let Some(index) = STATE.get().indexes.get(&(object as usize)) {
        return Some(*index);
    }
    let readers = readers_of(object, abilities)?;
    let state = STATE.get();
    let owner = state.entries.len() as u32;
    state.busy = true;
    Py_IncRef(object);
    state.indexes.insert(object as usize, owner);
    state.entries.push(Entry {
        object,
        has_keys: matches!(readers.as_slice(), [Reader::Dict(_)]),
        keys: std::ptr::null_mut(),
    });
    let mut garbage = Garbage::default();
    for reader in readers {
        let state = STATE.get();
        let at = state.parts.len();
        state.dirty.push(true);
        state.parts.push(Part {
            owner,
            object,
            reader,
            version: (0, 0),
            words: Vec::new(),
            guards: Vec::new(),
            weak: false,
        });
        if let Some(part) = state.parts.get_mut(at) {
            part.watch_dict(at, abilities);
            part.rearm(at, abilities, &mut garbage);
        }
    }
    STATE.get().busy = false;
    garbage.empty();
    Some(owner)
}

/// Indexes of the objects that differ since the last call.
pub unsafe fn changed() -> Vec<u32> {
    let abilities = abilities();
    let state = STATE.get();
    if state.busy {
        return Vec::new();
    }
    state.busy = true;
    let mut garbage = Garbage::default();
    for entry in &mut state.entries {
        if !entry.keys.is_null() {
            garbage
                .0
                .push(std::mem::replace(&mut entry.keys, std::ptr::null_mut()));
        }
    }
    let mut changed: Vec<u32> = Vec::new();
    let mut at = 0;
    // Only `add` grows the parts, and it refuses while we are busy.
    while let Some(part) = STATE.get().parts.get_mut(at) {
        if part.is_changed(at, abilities) {
            part.report(at, abilities, &mut changed, &mut garbage);
        }
        at += 1;
    }
    STATE.get().busy = false;
    garbage.empty();
    changed
}

unsafe fn entry<'a>(index: u32) -> Option<&'a mut Entry> {
    STATE.get().entries.get_mut(index as usize)
}

/// The changed keys of `index`, a new reference; None if unknown.
pub unsafe fn keys(index: u32) -> Option<Ref> {
    let keys = entry(index)?.keys;
    if keys.is_null() {
        return None;
    }
    Py_IncRef(keys);
    Some(keys)
}

pub unsafe fn has_index(index: u32) -> bool {
    entry(index).is_some()
}

/// Ends all watching.
pub unsafe fn clear() {
    let state = STATE.get();
    if state.busy {
        return;
    }
    let mut garbage = Garbage::default();
    if let Some(Abilities {
        watcher: Some(id), ..
    }) = state.abilities
        && let Some(unwatch) = watch_function(c"PyDict_Unwatch")
    {
        for dict in state.dicts.keys() {
            unwatch(id, *dict as Ref);
        }
    }
    state.dicts.clear();
    state.dirty.clear();
    for part in std::mem::take(&mut state.parts) {
        for (word, guard) in part.words.iter().zip(part.guards) {
            drop_guard(*word, guard, &mut garbage);
        }
    }
    for entry in std::mem::take(&mut state.entries) {
        garbage.0.push(entry.object);
        if !entry.keys.is_null() {
            garbage.0.push(entry.keys);
        }
    }
    state.indexes.clear();
    garbage.empty();
    PyErr_Clear();
}

impl Part {
    /// Whether the content is not what it was.
    unsafe fn is_changed(&mut self, at: usize, abilities: Abilities) -> bool {
        if STATE.get().dirty.get(at) == Some(&false) {
            return false;
        }
        if abilities.versions
            && let Some(version) = self.dict_version(abilities)
            && version == self.version
        {
            return false;
        }
        let same = match (self.words.first(), &self.reader) {
            (Some(&HASHED), _) => {
                let mut now = Vec::new();
                read_part(self.object, &self.reader, abilities.inline, &mut now);
                now == self.words
            }
            (_, Reader::List) => content::list_items(self.object) == self.words,
            (_, reader) => {
                let mut comparison = Comparison::with(&self.words);
                content::read(self.object, reader, abilities.inline, &mut comparison);
                comparison.is_equal() || self.is_same_set(abilities)
            }
        };
        if !same || self.is_any_dead() {
            return true;
        }
        // Touched, and put back: from here on this is the state to compare
        // with.
        self.version = self.dict_version(abilities).unwrap_or_default();
        self.set_clean(at);
        false
    }

    /// Re-arms, and notes what changed.
    unsafe fn report(
        &mut self,
        at: usize,
        abilities: Abilities,
        changed: &mut Vec<u32>,
        garbage: &mut Garbage,
    ) {
        let wants_keys = entry(self.owner).is_some_and(|entry| entry.has_keys);
        let before = wants_keys.then(|| Snapshot::of(self));
        self.rearm(at, abilities, garbage);
        if let Some(before) = before
            && let Some(entry) = entry(self.owner)
        {
            entry.keys = before.keys_that_differ(&self.words);
        }
        if changed.last() != Some(&self.owner) {
            changed.push(self.owner);
        }
    }

    /// Whether a set holds the same members at other places of its table.
    unsafe fn is_same_set(&self, abilities: Abilities) -> bool {
        if !matches!(self.reader, Reader::Set) {
            return false;
        }
        let (mut now, mut before) = (Vec::new(), self.words.clone());
        content::read(self.object, &self.reader, abilities.inline, &mut now);
        now.sort_unstable();
        before.sort_unstable();
        now == before
    }

    /// The dict that this part reads now and its version.
    unsafe fn dict_version(&self, abilities: Abilities) -> Option<(usize, usize)> {
        let dict = match self.reader {
            Reader::Dict(dict) => dict,
            Reader::Attributes => match content::attributes(self.object, abilities.inline) {
                Attributes::Dict(dict) => dict,
                Attributes::None | Attributes::Values { .. } => return None,
            },
            _ => return None,
        };
        Some((dict as usize, word(dict, DICT_VERSION)))
    }

    unsafe fn is_any_dead(&self) -> bool {
        self.weak
            && self
                .words
                .iter()
                .zip(&self.guards)
                .any(|(word, guard)| is_dead(*word, *guard))
    }

    /// Makes the present content the one to compare with.
    unsafe fn rearm(&mut self, at: usize, abilities: Abilities, garbage: &mut Garbage) {
        self.set_clean(at);
        let mut words = Vec::new();
        read_part(self.object, &self.reader, abilities.inline, &mut words);
        self.version = self.dict_version(abilities).unwrap_or_default();
        // Making a weak reference can run the garbage collector, hence any
        // code, so hold what was read until all guards stand.
        let guarded = !matches!(self.reader, Reader::Bytes) && words.first() != Some(&HASHED);
        let is_object = |word: usize| guarded && word >= FIRST_ADDRESS;
        for word in &words {
            if is_object(*word) {
                Py_IncRef(*word as Ref);
            }
        }
        let mut guards = Vec::with_capacity(if guarded { words.len() } else { 0 });
        if guarded {
            for (at, word) in words.iter().enumerate() {
                let old = self.guards.get_mut(at);
                let kept = old
                    .filter(|guard| self.words.get(at) == Some(word) && !is_dead(*word, **guard));
                guards.push(match kept {
                    Some(guard) if *guard != UNGUARDED => {
                        garbage.0.push(*word as Ref);
                        std::mem::replace(guard, UNGUARDED)
                    }
                    _ if !is_object(*word) => UNGUARDED,
                    _ => new_guard(*word as Ref, abilities, garbage),
                });
            }
        }
        self.weak = guards.iter().any(|guard| *guard > STRONG);
        let words = std::mem::replace(&mut self.words, words);
        let guards = std::mem::replace(&mut self.guards, guards);
        for (word, guard) in words.into_iter().zip(guards) {
            drop_guard(word, guard, garbage);
        }
    }

    /// From now on the part is compared only after its dict watcher told of a
    /// change, if it has one.
    unsafe fn set_clean(&self, at: usize) {
        let state = STATE.get();
        let watched = match self.reader {
            Reader::Dict(dict) => state.dicts.contains_key(&(dict as usize)),
            _ => false,
        };
        if let Some(dirty) = state.dirty.get_mut(at) {
            *dirty = !watched;
        }
    }

    /// Asks to be told of changes, where the interpreter can.
    unsafe fn watch_dict(&self, at: usize, abilities: Abilities) {
        let (Reader::Dict(dict), Some(id)) = (&self.reader, abilities.watcher) else {
            return;
        };
        let Some(watch) = watch_function(c"PyDict_Watch") else {
            return;
        };
        if watch(id, *dict) == 0 {
            STATE
                .get()
                .dicts
                .entry(*dict as usize)
                .or_default()
                .push(at);
        } else {
            PyErr_Clear();
        }
    }
}

/// What a dict held: keys and values in turn, and their guards.
struct Snapshot {
    words: Vec<usize>,
    guards: Vec<usize>,
    dead: Vec<usize>,
}

impl Snapshot {
    unsafe fn of(part: &Part) -> Snapshot {
        let pairs = part.words.iter().zip(&part.guards);
        let dead = pairs.filter(|(word, guard)| is_dead(**word, **guard));
        Snapshot {
            dead: dead.map(|(word, _)| *word).collect(),
            words: part.words.clone(),
            guards: part.guards.clone(),
        }
    }

    /// A Python list of the keys that `now` binds otherwise; null if some key
    /// cannot be named. What is in `now` must be alive, and the old guards.
    unsafe fn keys_that_differ(&self, now: &[usize]) -> Ref {
        let is_hash = |words: &[usize]| words.first() == Some(&HASHED);
        if is_hash(&self.words) || is_hash(now) {
            return std::ptr::null_mut();
        }
        let pairs = |words: &[usize]| -> Vec<(usize, usize)> {
            let pairs = words.chunks_exact(2);
            pairs.map(|pair| (pair[0], pair[1])).collect()
        };
        let (before, now) = (pairs(&self.words), pairs(now));
        let old: HashMap<usize, usize> = before.iter().copied().collect();
        let new: HashMap<usize, usize> = now.iter().copied().collect();
        let mut keys: Vec<usize> = now
            .iter()
            .filter(|(key, value)| {
                old.get(key) != Some(value) || self.dead.contains(value) || self.dead.contains(key)
            })
            .map(|(key, _)| *key)
            .collect();
        for ((key, _), guards) in before.iter().zip(self.guards.chunks_exact(2)) {
            if !new.contains_key(key) {
                if is_dead(*key, guards[0]) {
                    return std::ptr::null_mut();
                }
                keys.push(*key);
            }
        }
        list_of_objects(&keys)
    }
}

/// A Python list of living objects; null, without an exception, on failure.
unsafe fn list_of_objects(objects: &[usize]) -> Ref {
    for object in objects {
        Py_IncRef(*object as Ref);
    }
    let list = PyList_New(0);
    let complete = !list.is_null()
        && objects
            .iter()
            .all(|object| unsafe { PyList_Append(list, *object as Ref) == 0 });
    for object in objects {
        Py_DecRef(*object as Ref);
    }
    if complete {
        return list;
    }
    PyErr_Clear();
    if !list.is_null() {
        Py_DecRef(list);
    }
    std::ptr::null_mut()
}

/// Replaces `out` by the content of a part: words, or for a large one its hash
/// and length.
unsafe fn read_part(object: Ref, reader: &Reader, inline: Inline, out: &mut Vec<usize>) {
    out.clear();
    content::read(object, reader, inline, out);
    if out.len() > MOST_WORDS {
        let mut hasher = DefaultHasher::new();
        if matches!(reader, Reader::Set) {
            out.sort_unstable();
        }
        for word in out.iter() {
            hasher.write_usize(*word);
        }
        *out = vec![HASHED, hasher.finish() as usize, out.len()];
    }
}

/// Takes over one reference to `object`, into a guard or the garbage.
unsafe fn new_guard(object: Ref, abilities: Abilities, garbage: &mut Garbage) -> usize {
    if abilities.weak && type_object::weaklistoffset((*object).kind) != 0 {
        let weak = PyWeakref_NewRef(object, std::ptr::null_mut());
        if !weak.is_null() {
            garbage.0.push(object);
            return weak as usize;
        }
        PyErr_Clear();
    }
    STRONG
}

unsafe fn drop_guard(word: usize, guard: usize, garbage: &mut Garbage) {
    match guard {
        UNGUARDED => {}
        STRONG => garbage.0.push(word as Ref),
        weak => garbage.0.push(weak as Ref),
    }
}

unsafe fn is_dead(object: usize, guard: usize) -> bool {
    guard > STRONG && word(guard as Ref, WEAK_TARGET) != object
}

/// How to read `object`, or None if it has state that cannot be seen.
unsafe fn readers_of(object: Ref, abilities: Abilities) -> Option<Vec<Reader>> {
    let kind = (*object).kind;
    if kind == &raw mut PyCell_Type {
        return Some(vec![Reader::Cell]);
    }
    if PyType_IsSubtype(kind, &raw mut PyModule_Type) != 0 {
        return Some(vec![Reader::Dict(PyModule_GetDict(object))]);
    }
    if type_object::flags(kind) & type_object::TYPE_SUBCLASS != 0 {
        let dict = type_object::dict(object);
        let readable = type_object::flags(object) & type_object::HEAP_TYPE != 0
            && !dict.is_null()
            && (*dict).kind == &raw mut PyDict_Type;
        return readable.then(|| vec![Reader::Dict(dict)]);
    }
    let mut slots = Vec::new();
    let content = base_reader(kind, &mut slots)?;
    let mut readers = Vec::new();
    match content {
        Some(Reader::Set) if !abilities.sets => return None,
        Some(Reader::Deque) if !abilities.deques => return None,
        Some(Reader::Dict(_)) => readers.push(Reader::Dict(object)),
        Some(reader) => readers.push(reader),
        None => {}
    }
    if type_object::dictoffset(kind) != 0 {
        if !abilities.attributes {
            return None;
        }
        readers.push(Reader::Attributes);
    }
    if !slots.is_empty() {
        readers.push(Reader::Slots(slots));
    }
    (!readers.is_empty()).then_some(readers)
}

/// Goes from `kind` down to a type whose C content is known, through classes
/// that Python code made; collects the slots on the way. None if a class has
/// C content of its own; the reader is None where there is nothing to read.
unsafe fn base_reader(mut kind: Ref, slots: &mut Vec<isize>) -> Option<Option<Reader>> {
    loop {
        let known = STATE.get().bases.iter().find(|(base, _)| *base == kind);
        if let Some((_, reader)) = known {
            return Some(reader.clone());
        }
        let base = type_object::base(kind);
        if type_object::flags(kind) & type_object::HEAP_TYPE == 0 || base.is_null() {
            return None;
        }
        if !is_made_of_slots(kind, base) {
            return None;
        }
        content::slot_offsets(kind, slots);
        kind = base;
    }
}

/// Whether instances of `kind` have nothing that those of `base` lack but
/// slots, a dict and a list of weak references.
unsafe fn is_made_of_slots(kind: Ref, base: Ref) -> bool {
    let flags = type_object::flags(kind);
    let gains = |offset: unsafe fn(Ref) -> isize, managed: usize| {
        // SAFETY: reads fields of two live types.
        unsafe { offset(kind) != 0 && offset(base) == 0 && flags & managed == 0 }
    };
    let dict = gains(type_object::dictoffset, type_object::MANAGED_DICT);
    let weak = gains(type_object::weaklistoffset, type_object::MANAGED_WEAKREF);
    let words = type_object::slots(kind) + isize::from(dict) + isize::from(weak);
    type_object::basicsize(kind) - type_object::basicsize(base) == 8 * words
}

/// Probes, once, what this interpreter's objects look like.
unsafe fn abilities() -> Abilities {
    if let Some(abilities) = STATE.get().abilities {
        return abilities;
    }
    let abilities = with_error_aside(|| {
        fill_bases();
        let abilities = probe();
        PyErr_Clear();
        abilities
    });
    STATE.get().abilities = Some(abilities);
    abilities
}

unsafe fn fill_bases() {
    let dict = Some(Reader::Dict(std::ptr::null_mut()));
    let mut bases = vec![
        (&raw mut PyDict_Type, dict.clone()),
        (&raw mut PyList_Type, Some(Reader::List)),
        (&raw mut PySet_Type, Some(Reader::Set)),
        (&raw mut PyByteArray_Type, Some(Reader::Bytes)),
    ];
    for immutable in [
        &raw mut PyBaseObject_Type,
        &raw mut PyBytes_Type,
        &raw mut PyComplex_Type,
        &raw mut PyFloat_Type,
        &raw mut PyFrozenSet_Type,
        &raw mut PyLong_Type,
        &raw mut PyTuple_Type,
        &raw mut PyUnicode_Type,
    ] {
        bases.push((immutable, None));
    }
    let collections = PyImport_ImportModule(c"collections".as_ptr());
    if !collections.is_null() {
        for (name, reader) in [
            (c"deque", Some(Reader::Deque)),
            (c"defaultdict", dict.clone()),
            (c"OrderedDict", dict),
        ] {
            let kind = PyObject_GetAttrString(collections, name.as_ptr());
            // Kept for ever: these modules are not unloaded.
            if !kind.is_null() {
                bases.push((kind, reader));
            }
        }
        Py_DecRef(collections);
    }
    let namespace = PySys_GetObject(c"implementation".as_ptr());
    if !namespace.is_null() {
        bases.push(((*namespace).kind, None));
    }
    PyErr_Clear();
    STATE.get().bases = bases;
}

const PROBE: &CStr = c"
import collections, weakref
class Plain: pass
plain = Plain()
plain.a, plain.b = 'A', 'B'
weak = weakref.ref(Plain)
some = {'A', 'B', 'C'}
some.discard('C')
chain = collections.deque(['A', 'B'] * 40)
chain.popleft()
";

unsafe fn probe() -> Abilities {
    let mut abilities = Abilities {
        inline: Inline::of_version(),
        versions: false,
        watcher: None,
        sets: false,
        deques: false,
        attributes: false,
        weak: false,
    };
    let globals = PyDict_New();
    let code = Py_CompileString(PROBE.as_ptr(), c"<tamis>".as_ptr(), FILE_INPUT);
    if globals.is_null() || code.is_null() {
        return abilities;
    }
    PyDict_SetItemString(globals, c"__builtins__".as_ptr(), PyEval_GetBuiltins());
    let result = PyEval_EvalCode(code, globals, globals);
    Py_DecRef(code);
    if result.is_null() {
        Py_DecRef(globals);
        return abilities;
    }
    Py_DecRef(result);
    let get = |name: &CStr| unsafe { PyDict_GetItemString(globals, name.as_ptr()) };
    let inline = abilities.inline;
    let words = |object: Ref, reader: Reader| unsafe {
        let mut words = Vec::new();
        content::read(object, &reader, inline, &mut words);
        words
    };
    let (plain, class) = (get(c"plain"), get(c"Plain"));
    let attributes = words(plain, Reader::Attributes);
    if let [kind, _, a, _, b] = attributes[..] {
        abilities.attributes = kind == class as usize && version().1 <= 13;
        let mut members = words(get(c"some"), Reader::Set);
        members.sort_unstable();
        let mut letters = [a, b];
        letters.sort_unstable();
        abilities.sets = members == letters;
        let chain = words(get(c"chain"), Reader::Deque);
        abilities.deques = chain.len() == 79 && chain[..2] == [b, a] && chain[77..] == [a, b];
    }
    abilities.weak = word(get(c"weak"), WEAK_TARGET) == class as usize;
    if version().1 <= 12 {
        let before = word(globals, DICT_VERSION);
        let unchanged = word(globals, DICT_VERSION) == before;
        PyDict_SetItemString(globals, c"x".as_ptr(), plain);
        let after = word(globals, DICT_VERSION);
        PyDict_SetItemString(globals, c"x".as_ptr(), class);
        abilities.versions = unchanged && before != after && after != word(globals, DICT_VERSION);
    } else if let Some(add) = symbol(c"PyDict_AddWatcher") {
        // SAFETY: this function has had this signature since 3.12.
        let add = std::mem::transmute::<*mut c_void, unsafe extern "C" fn(Watcher) -> c_int>(add);
        let id = add(on_dict_event);
        abilities.watcher = (id >= 0).then_some(id);
    }
    PyErr_Clear();
    Py_DecRef(globals);
    abilities
}

/// A watched dict is about to change.
unsafe extern "C" fn on_dict_event(_: c_int, dict: Ref, _: Ref, _: Ref) -> c_int {
    let state = STATE.get();
    for at in state.dicts.get(&(dict as usize)).into_iter().flatten() {
        if let Some(dirty) = state.dirty.get_mut(*at) {
            *dirty = true;
        }
    }
    0
}

unsafe fn watch_function(name: &CStr) -> Option<unsafe extern "C" fn(c_int, Ref) -> c_int> {
    // SAFETY: `PyDict_Watch` and `PyDict_Unwatch` have had this signature since
    // 3.12.
    symbol(name).map(|function| {
        std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int, Ref) -> c_int>(function)
    })
}
