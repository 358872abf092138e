//! The quickest look at a watched part. Nearly all parts are as they were when a test ends, and the
//! test has replaced what was in the processor's caches: so a look reads few words of an object,
//! and none of what is known of its content.

use crate::abilities::Abilities;
use crate::content::{self, Attributes, FIRST_ADDRESS, Reader};
use crate::digest::layout::{FunctionLayout, layouts};
use crate::ffi::*;
use crate::guards::*;
use crate::watch::{DICT_VERSION, Part};

/// A part in the order of looks.
#[derive(Clone, Copy)]
pub struct Turn {
    pub part: usize,
    object: Ref,
    /// The guard of the object.
    alive: usize,
    look: Look,
    /// What the look saw at the last comparison.
    sign: usize,
}

#[derive(Clone, Copy)]
enum Look {
    /// There is no quick one.
    Whole,
    /// Who watches the dict tells of changes.
    Told,
    /// A word that cannot stay the same if the content changes: the version of a dict, the size
    /// of an empty list. Valid as long as the object.
    Word(*const usize),
    /// What a function refers to. Who watches its dicts tells of changes in these.
    Function,
    /// The values of attributes in an instance, or the version of the dict that has them.
    Attributes,
}

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

impl Turn {
    /// The turn of a part the content of which is known. `is_told`: if its dicts change, its mark is
    /// set.
    pub unsafe fn of(part: &Part, at: usize, is_told: bool, looking: Looking) -> Turn {
        let mut turn = Turn {
            part: at,
            object: part.object,
            alive: part.alive,
            look: Look::Whole,
            sign: 0,
        };
        // Dicts that nobody watches have versions.
        let are_dicts_known = is_told || looking.abilities.versions;
        let is_hashed = part.words.first() == Some(&HASHED);
        turn.look = match &part.reader {
            // The memory of other objects may be gone.
            Reader::Dict(dict) if looking.abilities.versions && part.alive == STRONG => {
                turn.word(*dict, DICT_VERSION)
            }
            Reader::Dict(_) if is_told && !looking.abilities.versions => Look::Told,
            Reader::List if part.words.is_empty() && part.alive == STRONG => {
                turn.word(part.object, content::LIST_SIZE)
            }
            Reader::Set if part.words.is_empty() && part.alive == STRONG => {
                turn.word(part.object, content::SET_USED)
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
                    Attributes::Dict(_) if looking.abilities.versions => Look::Attributes,
                    Attributes::None | Attributes::Values { .. } if !part.weak => Look::Attributes,
                    _ => Look::Whole,
                }
            }
            _ => Look::Whole,
        };
        turn.sign = turn.look(looking);
        turn
    }

    unsafe fn word(&self, object: Ref, offset: isize) -> Look {
        Look::Word(object.byte_offset(offset).cast_const().cast())
    }

    /// Whether nothing can have changed. The mark of the part tells of its dicts.
    pub unsafe fn is_same(&self, looking: Looking) -> bool {
        match self.look {
            Look::Whole => false,
            _ if is_dead(self.object as usize, self.alive) => false,
            _ => self.look(looking) == self.sign,
        }
    }

    unsafe fn look(&self, looking: Looking) -> usize {
        let mut mixed = Mixed::default();
        match (self.look, looking.function) {
            (Look::Word(at), _) => return *at,
            (Look::Function, Some(layout)) => {
                for offset in content::words_of_function(layout) {
                    mixed.word(word(self.object, offset));
                }
                for dict in content::dicts_of_function(self.object, layout) {
                    mixed.word(dict as usize);
                    if !dict.is_null() && content::is_dict(dict) {
                        mixed.version(dict, looking.abilities);
                    }
                }
            }
            (Look::Attributes, _) => {
                mixed.word((*self.object).kind as usize);
                match content::attributes(self.object, looking.abilities.inline) {
                    Attributes::None => {}
                    Attributes::Dict(dict) => {
                        mixed.word(dict as usize);
                        mixed.version(dict, looking.abilities);
                    }
                    Attributes::Values {
                        values,
                        count,
                        order,
                        step,
                    } => {
                        for n in 0..count {
                            let at = usize::from(*order.offset(step * n as isize));
                            mixed.word(at);
                            mixed.word(*values.add(at));
                        }
                    }
                }
            }
            (Look::Function | Look::Told | Look::Whole, _) => {}
        }
        mixed.0
    }

    /// Prefetches what the next look reads.
    pub fn prefetch(&self) {
        if self.alive > STRONG {
            prefetch(self.alive);
        }
        match self.look {
            Look::Word(at) => prefetch(at as usize),
            Look::Function => {
                prefetch(self.object as usize);
                prefetch(self.object as usize + 64);
            }
            Look::Attributes => prefetch(self.object as usize),
            Look::Told | Look::Whole => {}
        }
    }

    pub fn is_whole(&self) -> bool {
        matches!(self.look, Look::Whole)
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
