//! State that outlives a test: the shallow content of containers, modules, classes and
//! instances is compared from test to test.

use std::collections::HashMap;
use std::ffi::{CStr, c_int, c_void};
use std::hash::{BuildHasherDefault, DefaultHasher, Hasher as _};

use crate::abilities::{Abilities, abilities, readers_of};
use crate::content::{self, Attributes, Comparison, Inline, Reader};
use crate::ffi::*;
use crate::guards::*;
use crate::signs::{Looking, Turns, prefetch};

/// A part with more words is compared by hash and without guards.
const MOST_WORDS: usize = 2 * 65_536;
/// `PyDictObject.ma_version_tag`, up to 3.12: a new number after each change.
pub const DICT_VERSION: isize = 24;
/// One part of a watched object. Most objects have one.
pub struct Part {
    owner: u32,
    pub object: Ref,
    pub reader: Reader,
    /// Up to 3.12: the dict, and its version.
    version: (usize, usize),
    pub words: Vec<usize>,
    /// For each word, the guard against another object at the same address.
    pub guards: Vec<usize>,
    /// Whether any guard is a weak reference.
    pub weak: bool,
    /// The guard of the object itself, as in its entry.
    pub alive: usize,
    /// Whether all that it reads are dicts with watchers, and it is alive as long as it is here.
    is_only_told: bool,
}

struct Entry {
    /// Null once a weakly held object has died.
    object: Ref,
    /// The guard of `object`: a strong reference, or the address of a weak one.
    guard: usize,
    /// Its parts follow each other from here on.
    first_part: usize,
    /// Whether the agent may ask for keys.
    has_keys: bool,
    /// The changed keys of the last `watch_changed`: a list, or null.
    keys: Ref,
}

struct State {
    parts: Vec<Part>,
    /// The parts of living objects that are looked at in each check.
    turns: Turns,
    /// For each part, whether it may have changed. Always true unless dict watchers (3.13 and
    /// later) would tell, or versions of dicts.
    dirty: Vec<bool>,
    /// Parts that only watchers tell of, and that may have changed.
    told: Vec<usize>,
    entries: Vec<Entry>,
    /// The entries that have `keys`.
    with_keys: Vec<u32>,
    indexes: HashMap<usize, u32, BuildHasherDefault<DefaultHasher>>,
    /// For each dict with a watcher, the parts that read it.
    dicts: HashMap<usize, Vec<usize>, BuildHasherDefault<DefaultHasher>>,
    busy: bool,
}

static STATE: Global<State> = Global::new(State {
    parts: Vec::new(),
    turns: Turns::new(),
    dirty: Vec::new(),
    told: Vec::new(),
    entries: Vec::new(),
    with_keys: Vec::new(),
    indexes: HashMap::with_hasher(BuildHasherDefault::new()),
    dicts: HashMap::with_hasher(BuildHasherDefault::new()),
    busy: false,
});

/// The index of `object`, or `None` if it cannot be watched. A `weak` one is not kept alive if
/// its class supports weak references.
pub unsafe fn add(object: Ref, weak: bool) -> Option<u32> {
    let abilities = abilities();
    if STATE.get().busy {
        return None;
    }
    if let Some(index) = STATE.get().indexes.get(&(object as usize)).copied() {
        if entry(index).is_some_and(|entry| !is_dead(object as usize, entry.guard)) {
            return Some(index);
        }
        forget(index);
    }
    let readers = readers_of(object, abilities)?;
    STATE.get().busy = true;
    Py_IncRef(object);
    let mut garbage = Garbage::default();
    let guard = match weak {
        true => new_guard(object, abilities, &mut garbage),
        false => STRONG,
    };
    let state = STATE.get();
    let owner = state.entries.len() as u32;
    state.indexes.insert(object as usize, owner);
    state.entries.push(Entry {
        object,
        guard,
        first_part: state.parts.len(),
        has_keys: matches!(readers.as_slice(), [Reader::Dict(_)]),
        keys: std::ptr::null_mut(),
    });
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
            alive: guard,
            is_only_told: false,
        });
        if let Some(part) = state.parts.get_mut(at) {
            part.rearm(at, abilities, &mut garbage);
            let is_told = STATE.get().dirty.get(at) == Some(&false);
            part.is_only_told =
                is_told && guard == STRONG && matches!(part.reader, Reader::Dict(_));
            // With versions, a look tells.
            part.is_only_told &= abilities.watcher.is_some();
            if !part.is_only_told {
                let turns = &mut STATE.get().turns;
                turns.add(part, at, is_told, Looking::new(abilities));
            }
        }
    }
    STATE.get().busy = false;
    garbage.empty();
    Some(owner)
}

/// The index of a watched object that lives.
pub unsafe fn index_of(object: Ref) -> Option<u32> {
    let index = STATE.get().indexes.get(&(object as usize)).copied()?;
    let entry = entry(index)?;
    (!is_dead(object as usize, entry.guard)).then_some(index)
}

/// Forgets the weakly held object of entry `index`, which has died: its address may be reused.
unsafe fn forget(index: u32) {
    if let Some(entry) = entry(index) {
        let indexes = &mut STATE.get().indexes;
        if indexes.get(&(entry.object as usize)) == Some(&index) {
            indexes.remove(&(entry.object as usize));
        }
        entry.object = std::ptr::null_mut();
    }
}

/// The indexes of objects that differ since the last comparison.
pub unsafe fn changed() -> Vec<u32> {
    let abilities = abilities();
    let state = STATE.get();
    if state.busy {
        return Vec::new();
    }
    state.busy = true;
    let mut garbage = Garbage::default();
    for owner in std::mem::take(&mut state.with_keys) {
        if let Some(entry) = entry(owner) {
            let keys = std::mem::replace(&mut entry.keys, std::ptr::null_mut());
            garbage.0.push(keys);
        }
    }
    let mut changed: Vec<u32> = Vec::new();
    // Only `add` grows the parts, and it refuses while this runs.
    let mut turns = std::mem::replace(&mut STATE.get().turns, Turns::new());
    look_at(&mut turns, abilities, &mut changed, &mut garbage);
    STATE.get().turns = turns;
    for at in std::mem::take(&mut STATE.get().told) {
        if let Some(part) = STATE.get().parts.get_mut(at)
            && part.is_changed(at, abilities)
        {
            part.report(at, abilities, &mut changed, &mut garbage);
        }
    }
    changed.sort_unstable();
    changed.dedup();
    STATE.get().busy = false;
    garbage.empty();
    changed
}

/// Adds the owners of changed parts, and drops those of dead objects from the list.
unsafe fn look_at(
    turns: &mut Turns,
    abilities: Abilities,
    changed: &mut Vec<u32>,
    garbage: &mut Garbage,
) {
    let is_dirty = |at: usize| STATE.get().dirty.get(at) != Some(&false);
    let ahead = |at: usize, follow: bool| {
        if let Some(part) = STATE.get().parts.get(at) {
            // SAFETY: a prefetch of a part that is watched.
            unsafe { part.prefetch(follow) };
        }
    };
    turns.look(Looking::new(abilities), is_dirty, ahead, |at| {
        let part = STATE.get().parts.get_mut(at)?;
        // SAFETY: it reads the part only while its object lives.
        unsafe {
            if is_dead(part.object as usize, part.alive) {
                part.release(garbage);
                return None;
            }
            if part.is_changed(at, abilities) {
                part.report(at, abilities, changed, garbage);
            }
        }
        Some((&raw const *part, !is_dirty(at)))
    });
}

unsafe fn entry<'a>(index: u32) -> Option<&'a mut Entry> {
    STATE.get().entries.get_mut(index as usize)
}

/// The changed keys of `index`, a new reference; `None` if unknown.
pub unsafe fn keys(index: u32) -> Option<Ref> {
    let keys = entry(index)?.keys;
    if keys.is_null() {
        return None;
    }
    Py_IncRef(keys);
    Some(keys)
}

/// What the object `index` holds, a new list: values of attributes and slots, items, values of
/// a dict. A part with more than `most` items is left out. `None` if the object has died.
pub unsafe fn held(index: u32, most: usize) -> Option<Ref> {
    let abilities = abilities();
    let owner = entry(index)?;
    if owner.object.is_null() || is_dead(owner.object as usize, owner.guard) {
        return None;
    }
    let mut found = Vec::new();
    let first = owner.first_part;
    let parts = STATE.get().parts.get(first..).unwrap_or_default();
    for part in parts.iter().take_while(|part| part.owner == index) {
        let mut words = Vec::new();
        content::read(part.object, &part.reader, abilities.inline, &mut words);
        let (skipped, step) = match part.reader {
            Reader::Bytes | Reader::Registry => continue,
            Reader::Dict(_) => (1, 2),
            Reader::Attributes => (2, 2),
            Reader::Slots(_) => (1, 1),
            // Without code, documentation and names.
            Reader::Function(_) => (4, 2),
            Reader::List | Reader::Set | Reader::Deque | Reader::Cell => (0, 1),
        };
        let words = words.iter().skip(skipped).step_by(step);
        if words.len() <= most {
            found.extend(words.copied().filter(|word| content::is_address(*word)));
        }
    }
    let list = list_of_objects(&found);
    (!list.is_null()).then_some(list)
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
    if let Some(id) = abilities().watcher
        && let Some(unwatch) = watch_function(c"PyDict_Unwatch")
    {
        // One that dies is taken out.
        for dict in state.dicts.keys() {
            unwatch(id, *dict as Ref);
        }
    }
    state.dicts.clear();
    state.dirty.clear();
    state.told.clear();
    state.turns.clear();
    for part in std::mem::take(&mut state.parts) {
        for (word, guard) in part.words.iter().zip(part.guards) {
            drop_guard(*word, guard, &mut garbage);
        }
    }
    for entry in std::mem::take(&mut state.entries) {
        drop_guard(entry.object as usize, entry.guard, &mut garbage);
        if !entry.keys.is_null() {
            garbage.0.push(entry.keys);
        }
    }
    state.with_keys.clear();
    state.indexes.clear();
    garbage.empty();
    PyErr_Clear();
}

impl Part {
    /// Prefetches the memory that the next comparison reads; with `follow` also what a pointer
    /// there points to.
    unsafe fn prefetch(&self, follow: bool) {
        match (&self.reader, follow) {
            (_, false) => {
                prefetch(self.object as usize);
                prefetch(self.words.as_ptr() as usize);
                if self.weak {
                    prefetch(self.guards.as_ptr() as usize);
                }
            }
            (Reader::List, true) if !is_dead(self.object as usize, self.alive) => {
                prefetch(content::list_items(self.object).as_ptr() as usize);
            }
            _ => {}
        }
        if !follow && self.alive > STRONG {
            prefetch(self.alive);
        }
    }

    /// Releases the guards of a dead object's content.
    unsafe fn release(&mut self, garbage: &mut Garbage) {
        forget(self.owner);
        let (words, guards) = (
            std::mem::take(&mut self.words),
            std::mem::take(&mut self.guards),
        );
        for (word, guard) in words.into_iter().zip(guards) {
            drop_guard(word, guard, garbage);
        }
    }

    /// Whether the content has changed.
    unsafe fn is_changed(&mut self, at: usize, abilities: Abilities) -> bool {
        // Another class is none of the dict's changes.
        let is_of_class = match self.reader {
            Reader::Attributes => match (self.words.first(), self.guards.first()) {
                (Some(class), Some(guard)) => {
                    *class == (*self.object).kind as usize && !is_dead(*class, *guard)
                }
                _ => false,
            },
            _ => true,
        };
        if abilities.versions
            && is_of_class
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
            _ => self.is_as_read(abilities),
        };
        if !same || self.is_any_dead() {
            return true;
        }
        // It was changed and restored: compare with this state from now on.
        self.version = self.dict_version(abilities).unwrap_or_default();
        self.set_clean(at, abilities);
        false
    }

    /// Notes the changes, and begins a new comparison.
    unsafe fn report(
        &mut self,
        at: usize,
        abilities: Abilities,
        changed: &mut Vec<u32>,
        garbage: &mut Garbage,
    ) {
        let wants_keys = entry(self.owner).is_some_and(|entry| entry.has_keys);
        let before = wants_keys.then(|| Snapshot::of(&self.words, &self.guards));
        self.rearm(at, abilities, garbage);
        if let Some(before) = before
            && let Some(entry) = entry(self.owner)
        {
            // If an object has several parts, the last one counts.
            let keys = before.keys_that_differ(&self.words);
            let former = std::mem::replace(&mut entry.keys, keys);
            garbage.0.push(former);
            STATE.get().with_keys.push(self.owner);
        }
        if changed.last() != Some(&self.owner) {
            changed.push(self.owner);
        }
    }

    /// Whether the content is what was read last, without regard to guards.
    pub unsafe fn is_as_read(&self, abilities: Abilities) -> bool {
        let mut comparison = Comparison::with(&self.words);
        content::read(self.object, &self.reader, abilities.inline, &mut comparison);
        comparison.is_equal() || self.is_same_set(abilities)
    }

    /// Whether a set has the same members at other places of its table.
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

    /// The dict that this part reads now, and its version.
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
        self.set_clean(at, abilities);
        let mut words = Vec::new();
        read_part(self.object, &self.reader, abilities.inline, &mut words);
        self.version = self.dict_version(abilities).unwrap_or_default();
        // Making a weak reference can run the garbage collector, and so any code. Hold the
        // objects until all guards exist.
        let guarded = words.first() != Some(&HASHED);
        let is_object = |word: usize| guarded && content::is_address(word);
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

    /// If the dicts of the part have watchers or versions, it is compared only after these tell of
    /// a change, or a look does.
    unsafe fn set_clean(&self, at: usize, abilities: Abilities) {
        let dicts = match self.reader {
            Reader::Dict(dict) => vec![dict],
            Reader::Function(layout) => {
                let held = content::dicts_of_function(self.object, layout).into_iter();
                let is_dict = |held: &Ref| unsafe { !held.is_null() && content::is_dict(*held) };
                held.filter(is_dict).collect()
            }
            Reader::Attributes => match content::attributes(self.object, abilities.inline) {
                // Each look reads what a dict shares with the instance.
                Attributes::Dict(dict) if !content::shares_values(self.object, dict) => vec![dict],
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let mut dicts = dicts.into_iter();
        let is_told = abilities.versions || dicts.all(|dict| unsafe { watch(dict, at, abilities) });
        if let Some(dirty) = STATE.get().dirty.get_mut(at) {
            *dirty = !is_told;
        }
    }
}

/// Sets a watcher of a dict for a part, if the interpreter has them.
unsafe fn watch(dict: Ref, at: usize, abilities: Abilities) -> bool {
    let Some(id) = abilities.watcher else {
        return false;
    };
    if word(dict, content::DICT_VALUES) != 0 {
        // It shares them with an instance, and nobody is told of what changes by way of that.
        return false;
    }
    if let Some(parts) = STATE.get().dicts.get_mut(&(dict as usize)) {
        if !parts.contains(&at) {
            parts.push(at);
        }
        return true;
    }
    let Some(watch) = watch_function(c"PyDict_Watch") else {
        return false;
    };
    if watch(id, dict) != 0 {
        PyErr_Clear();
        return false;
    }
    STATE.get().dicts.insert(dict as usize, vec![at]);
    true
}

/// Replaces `out` by the content of a part: words, or the hash and length of a large one.
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

/// `PyDict_EVENT_DEALLOCATED`.
const DEALLOCATED: c_int = 5;

/// Called before a watched dict changes.
pub unsafe extern "C" fn on_dict_event(event: c_int, dict: Ref, _: Ref, _: Ref) -> c_int {
    let state = STATE.get();
    for at in state.dicts.get(&(dict as usize)).into_iter().flatten() {
        if let (Some(dirty), Some(part)) = (state.dirty.get_mut(*at), state.parts.get(*at))
            && !std::mem::replace(dirty, true)
            && part.is_only_told
        {
            state.told.push(*at);
        }
    }
    if event == DEALLOCATED {
        state.dicts.remove(&(dict as usize));
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
