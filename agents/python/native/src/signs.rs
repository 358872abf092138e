//! The quickest look at a watched part. Nearly all parts are as they were when a test ends, and the
//! test has replaced what was in the processor's caches: so a look reads few words of an object,
//! and none of what is known of its content.

use crate::abilities::Abilities;
use crate::content::{self, Attributes, FIRST_ADDRESS, Reader};
use crate::digest::layout::{FunctionLayout, layouts};
use crate::ffi::*;
use crate::guards::*;
use crate::watch::{DICT_VERSION, Part};

/// A part in the order of looks. There can be many: so it is small.
#[derive(Clone, Copy)]
struct Turn {
    object: Ref,
    /// The guard of the object.
    alive: usize,
    /// What the look saw at the last comparison.
    sign: usize,
    part: u32,
    /// Its weak guards among those of all turns: the first, and how many.
    guard: u32,
    guards: u8,
    look: Look,
}

/// The parts that each check looks at, by address: what lies side by side is read at once.
pub struct Turns {
    all: Vec<Turn>,
    /// The weak guards of what is held by these parts, each with the held object.
    guards: Vec<(usize, usize)>,
    /// How many were added, or got other guards, since the last sorting.
    loose: usize,
}

#[derive(Clone, Copy)]
enum Look {
    /// There is no quick one.
    Whole,
    /// Who watches the dict tells of changes.
    Told,
    /// A word at this offset that cannot stay the same if the content changes: the size of an
    /// empty list.
    Word(u16),
    /// The version of a dict.
    Version,
    /// What a function refers to. Who watches its dicts tells of changes in these.
    Function,
    /// The values of attributes in an instance, whether or not a dict shares them.
    Attributes,
    /// The class of an instance and the dict of its attributes, which tells of changes or has a
    /// version.
    Dict,
    /// Adjacent members of an instance: the offset of the first, and how many.
    Slots(u16, u16),
    /// The items of a short list.
    List,
    /// The table of a small set.
    Set,
    Cell,
}

/// More words than this are compared as they are: then the processor reads ahead by itself.
const MOST_WORDS: usize = 64;
/// With more weak guards, a part is compared as a whole.
const MOST_GUARDS: usize = 16;
const _: () = assert!(size_of::<Turn>() == 40);

/// What all looks of one check need.
#[derive(Clone, Copy)]
pub struct Looking {
    abilities: Abilities,
    function: Option<FunctionLayout>,
}

impl Looking {
    pub unsafe fn new(abilities: Abilities) -> Looking {
        Looking {
            abilities,
            function: layouts().function,
        }
    }
}

impl Turns {
    pub const fn new() -> Turns {
        Turns {
            all: Vec::new(),
            guards: Vec::new(),
            loose: 0,
        }
    }

    /// Adds a part the content of which is known. `is_told`: if its dicts change, its mark is set.
    pub unsafe fn add(&mut self, part: &Part, at: usize, is_told: bool, looking: Looking) {
        let turn = self.turn_of(part, at, is_told, looking);
        self.all.push(turn);
        self.loose += 1;
    }

    pub fn clear(&mut self) {
        *self = Turns::new();
    }

    unsafe fn turn_of(&mut self, part: &Part, at: usize, is_told: bool, looking: Looking) -> Turn {
        let mut turn = Turn::of(part, at, is_told, looking);
        if part.weak && turn.look.is_of_words() {
            // What is held by a dict does not die unseen.
            let count = match turn.look {
                Look::Dict => 1,
                _ => part.words.len(),
            };
            let held = part.words.iter().zip(&part.guards).take(count);
            let held = held.filter(|(_, guard)| **guard > STRONG);
            let first = self.guards.len();
            self.guards
                .extend(held.map(|(word, guard)| (*word, *guard)));
            turn.guard = first as u32;
            turn.guards = (self.guards.len() - first) as u8;
            self.loose += 1;
        }
        turn
    }

    /// Looks at each part. `whole` does so in full where the quick look may have missed something
    /// or `dirty` says so, and tells whether the part is still watched.
    pub unsafe fn look(
        &mut self,
        looking: Looking,
        mut dirty: impl FnMut(usize) -> bool,
        mut ahead: impl FnMut(usize, bool),
        mut whole: impl FnMut(usize) -> Option<(*const Part, bool)>,
    ) {
        let mut kept = 0;
        for now in 0..self.all.len() {
            let turn = self.all[now];
            // The test has replaced the content of the processor's caches. Most of the time of a
            // check is waiting for memory.
            for (distance, follow) in [(16, false), (8, true)] {
                match self.all.get(now + distance) {
                    Some(next) if !next.is_whole() => next.prefetch(),
                    Some(next) => ahead(next.part as usize, follow),
                    None => {}
                }
            }
            let at = turn.part as usize;
            if dirty(at) || !turn.is_same(looking, &self.guards) {
                let Some((part, is_told)) = whole(at) else {
                    continue;
                };
                self.all[kept] = self.turn_of(&*part, at, is_told, looking);
            } else if kept != now {
                self.all[kept] = turn;
            }
            kept += 1;
        }
        self.all.truncate(kept);
        self.sort();
    }

    fn sort(&mut self) {
        if self.loose <= self.all.len() / 8 + 8 {
            return;
        }
        self.all.sort_unstable_by_key(|turn| turn.object as usize);
        let mut guards = Vec::new();
        for turn in &mut self.all {
            let own = turn.own(&self.guards);
            turn.guard = guards.len() as u32;
            guards.extend_from_slice(own);
        }
        self.guards = guards;
        self.loose = 0;
    }
}

impl Look {
    /// Whether it reads which objects are held, and so needs their guards.
    fn is_of_words(self) -> bool {
        matches!(
            self,
            Look::Attributes | Look::Dict | Look::Slots(..) | Look::List | Look::Set | Look::Cell
        )
    }
}

impl Turn {
    /// Without its guards.
    unsafe fn of(part: &Part, at: usize, is_told: bool, looking: Looking) -> Turn {
        let mut turn = Turn {
            object: part.object,
            alive: part.alive,
            sign: 0,
            part: at as u32,
            guard: 0,
            guards: 0,
            look: Look::Whole,
        };
        if is_dead(part.object as usize, part.alive) {
            return turn;
        }
        // Dicts that nobody watches have versions.
        let are_dicts_known = is_told || looking.abilities.versions;
        let is_hashed = part.words.first() == Some(&HASHED);
        let weak = || part.guards.iter().filter(|guard| **guard > STRONG);
        let has_few_guards = !part.weak || weak().count() <= MOST_GUARDS;
        turn.look = match &part.reader {
            // The memory of other objects may be gone.
            Reader::Dict(dict) if looking.abilities.versions && part.alive == STRONG => {
                turn.object = *dict;
                Look::Version
            }
            Reader::Dict(_) if is_told && !looking.abilities.versions => Look::Told,
            Reader::List if part.words.is_empty() && part.alive == STRONG => {
                Look::Word(content::LIST_SIZE as u16)
            }
            Reader::Set if part.words.is_empty() && part.alive == STRONG => {
                Look::Word(content::SET_USED as u16)
            }
            // Another object at the same address could take the place of one that died: what is
            // held by a dict does not die unseen.
            Reader::Function(layout) if are_dicts_known && !is_hashed => {
                let direct = part.guards.iter();
                let direct = direct.take(content::words_of_function(*layout).len());
                match direct.copied().all(|guard| guard <= STRONG) {
                    true => Look::Function,
                    false => Look::Whole,
                }
            }
            Reader::Attributes if !is_hashed => {
                match content::attributes(part.object, looking.abilities.inline) {
                    Attributes::Dict(dict) if !content::shares_values(part.object, dict) => {
                        match are_dicts_known {
                            true => Look::Dict,
                            false => Look::Whole,
                        }
                    }
                    _ if has_few_guards => Look::Attributes,
                    _ => Look::Whole,
                }
            }
            Reader::Registry
                if part.alive == STRONG && word(part.object, content::REGISTERED) == 0 =>
            {
                Look::Word(content::REGISTERED as u16)
            }
            _ if is_hashed || !has_few_guards || part.words.len() > MOST_WORDS => Look::Whole,
            Reader::Slots(offsets) => slots(offsets),
            Reader::List => Look::List,
            Reader::Set if content::set_table(part.object).len() <= MOST_WORDS => Look::Set,
            Reader::Cell => Look::Cell,
            _ => Look::Whole,
        };
        if turn.is_whole() {
            return turn;
        }
        // Guards were made since the content was read, and this may run the collector of garbage,
        // and so any code.
        match turn.sign_now(looking) {
            Some(sign) if is_hashed || part.is_as_read(looking.abilities) => turn.sign = sign,
            _ => turn.look = Look::Whole,
        }
        turn
    }

    /// Its weak guards among those of all turns.
    fn own<'a>(&self, guards: &'a [(usize, usize)]) -> &'a [(usize, usize)] {
        let first = self.guard as usize;
        guards
            .get(first..first + usize::from(self.guards))
            .unwrap_or_default()
    }

    /// Whether nothing can have changed. The mark of the part tells of its dicts.
    unsafe fn is_same(&self, looking: Looking, guards: &[(usize, usize)]) -> bool {
        match self.look {
            Look::Whole => false,
            _ if is_dead(self.object as usize, self.alive) => false,
            _ if self.sign_now(looking) != Some(self.sign) => false,
            _ => {
                let own = self.own(guards).iter().copied();
                own.into_iter().all(|(held, guard)| !is_dead(held, guard))
            }
        }
    }

    /// `None` if the content is elsewhere now.
    unsafe fn sign_now(&self, looking: Looking) -> Option<usize> {
        let mut mixed = Mixed::default();
        match (self.look, looking.function) {
            (Look::Word(offset), _) => return Some(word(self.object, offset as isize)),
            (Look::Version, _) => return Some(word(self.object, DICT_VERSION)),
            (Look::Function, Some(layout)) => {
                for offset in content::words_of_function(layout) {
                    mixed.word(word(self.object, offset));
                }
                let [keywords, attributes, annotations] =
                    content::dicts_of_function(self.object, layout);
                if !annotations.is_null() {
                    // A dict may stand where a tuple was.
                    mixed.word((*annotations).kind as usize);
                }
                for dict in [keywords, attributes, annotations] {
                    mixed.word(dict as usize);
                    if looking.abilities.versions && !dict.is_null() && content::is_dict(dict) {
                        mixed.version(dict, looking.abilities);
                    }
                }
            }
            (Look::Attributes, _) => {
                let inline = looking.abilities.inline;
                mixed.word((*self.object).kind as usize);
                match content::attributes(self.object, inline) {
                    Attributes::None => {}
                    Attributes::Dict(dict) if content::shares_values(self.object, dict) => {
                        mixed.word(dict as usize);
                        mixed.values(content::inside_values(self.object));
                    }
                    Attributes::Dict(_) => return None,
                    values @ Attributes::Values { .. } => mixed.values(values),
                }
            }
            (Look::Dict, _) => {
                mixed.word((*self.object).kind as usize);
                match content::attributes(self.object, looking.abilities.inline) {
                    Attributes::Dict(dict) if !content::shares_values(self.object, dict) => {
                        mixed.word(dict as usize);
                        mixed.version(dict, looking.abilities);
                    }
                    _ => return None,
                }
            }
            (Look::Slots(first, count), _) => {
                mixed.word((*self.object).kind as usize);
                for n in 0..count {
                    mixed.word(word(self.object, first as isize + 8 * n as isize));
                }
            }
            (Look::List, _) => {
                let items = content::list_items(self.object);
                mixed.word(items.len());
                // What was added is seen in the comparison.
                for item in items.iter().take(MOST_WORDS) {
                    mixed.word(*item);
                }
            }
            (Look::Set, _) => {
                let table = content::set_table(self.object);
                mixed.word(table.len());
                for [key, hash] in table.iter().take(MOST_WORDS) {
                    mixed.word(*key);
                    mixed.word(usize::from(*hash == usize::MAX));
                }
            }
            (Look::Cell, _) => mixed.word(word(self.object, content::CELL)),
            (Look::Function | Look::Told | Look::Whole, _) => {}
        }
        Some(mixed.0)
    }

    /// Prefetches what the next look reads.
    fn prefetch(&self) {
        if self.alive > STRONG {
            prefetch(self.alive);
        }
        match self.look {
            Look::Function => {
                prefetch(self.object as usize);
                prefetch(self.object as usize + 64);
                prefetch(self.object as usize + 128);
            }
            Look::Slots(first, count) => {
                let end = usize::from(first) + 8 * usize::from(count);
                for line in (0..end).step_by(64) {
                    prefetch(self.object as usize + line);
                }
            }
            Look::Word(_)
            | Look::Version
            | Look::Attributes
            | Look::Dict
            | Look::List
            | Look::Set
            | Look::Cell => {
                prefetch(self.object as usize);
            }
            Look::Told | Look::Whole => {}
        }
    }

    fn is_whole(&self) -> bool {
        matches!(self.look, Look::Whole)
    }
}

/// How to look at members at these offsets.
fn slots(offsets: &[isize]) -> Look {
    let is_row = offsets.windows(2).all(|pair| pair[1] == pair[0] + 8);
    match offsets.first() {
        Some(first) if is_row && *first > 0 && *first < isize::from(i16::MAX) => {
            Look::Slots(*first as u16, offsets.len() as u16)
        }
        _ => Look::Whole,
    }
}

/// Words, mixed into one.
#[derive(Default)]
struct Mixed(usize);

impl Mixed {
    fn word(&mut self, word: usize) {
        // The golden ratio in 64 bits, as in the hash of rustc.
        const FACTOR: usize = 0x9E37_79B9_7F4A_7C15;
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    }

    unsafe fn values(&mut self, attributes: Attributes) {
        if let Attributes::Values {
            values,
            count,
            order,
            step,
        } = attributes
        {
            self.word(count);
            for n in 0..count {
                let at = usize::from(*order.offset(step * n as isize));
                self.word(at);
                self.word(*values.add(at));
            }
        }
    }

    unsafe fn version(&mut self, dict: Ref, abilities: Abilities) {
        if abilities.versions {
            self.word(word(dict, DICT_VERSION));
        }
    }
}

/// A hint for the processor; any address is allowed.
pub fn prefetch(address: usize) {
    // Looking up where nothing can be takes longest of all. Empty vectors point there.
    if address < FIRST_ADDRESS {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address as *const i8);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
