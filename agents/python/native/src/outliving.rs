//! Objects that a test filled, and which of them others may meet when its turn has ended.
//!
//! Nobody meets an object that is dead, or garbage that the collector has not taken away yet: only
//! other garbage refers to it. That is found as the collector does it, by subtracting references
//! from within: among what the object leads to, and then also among the objects that are young.
//! Nothing is collected, as that would run code of the program at another time.

use std::collections::HashMap;

use crate::abilities::abilities;
use crate::digest::layout::referents;
use crate::ffi::*;
use crate::guards::*;
use crate::watch;

/// `PyWeakReference.wr_next`.
const WEAK_NEXT: isize = 48;

struct Filled {
    object: Ref,
    /// The address of a weak reference that is ours.
    guard: usize,
    /// The numbers under which it was told.
    numbers: Vec<u32>,
}

struct State {
    filled: Vec<Filled>,
    places: HashMap<usize, usize>,
}

static STATE: Global<Option<State>> = Global::new(None);

/// Notes that `object` was filled, under a number of the caller's. False if it supports no weak
/// references: nothing is noted then.
pub unsafe fn add(object: Ref, number: u32) -> bool {
    let state = STATE.get().get_or_insert_with(|| State {
        filled: Vec::new(),
        places: HashMap::new(),
    });
    if let Some(filled) = state.places.get(&(object as usize)).copied()
        && let Some(filled) = state.filled.get_mut(filled)
        && !is_dead(object as usize, filled.guard)
    {
        filled.numbers.push(number);
        return true;
    }
    Py_IncRef(object);
    let mut garbage = Garbage::default();
    let guard = new_guard(object, abilities(), &mut garbage);
    if guard == STRONG {
        Py_DecRef(object);
        return false;
    }
    state.places.insert(object as usize, state.filled.len());
    state.filled.push(Filled {
        object,
        guard,
        numbers: vec![number],
    });
    garbage.empty();
    true
}

/// Ends a turn: a Python list of numbers, and one with their objects, of those that others may
/// meet and that are not watched here; null, without an exception, on failure. At most `most`
/// objects are looked at; those that would need more count as met.
pub unsafe fn take(most: usize) -> (Vec<u32>, Ref) {
    let filled = STATE.get().take().map(|state| state.filled);
    let (mut numbers, mut met, mut most) = (Vec::new(), Vec::new(), most);
    let mut garbage = Garbage::default();
    for filled in filled.into_iter().flatten() {
        let is_gone = is_dead(filled.object as usize, filled.guard)
            || watch::index_of(filled.object).is_some()
            || Closure::of(&[filled.object], &mut most).is_some_and(|closure| {
                // SAFETY: the object is alive, as nothing has run since this was asked.
                unsafe { !closure.are_met(&HashMap::new(), filled.guard)[0] }
            });
        if !is_gone {
            met.extend(filled.numbers.iter().map(|_| filled.object as usize));
            numbers.extend(filled.numbers);
        }
        garbage.0.push(filled.guard as Ref);
    }
    let objects = list_of_objects(&met);
    garbage.empty();
    (numbers, objects)
}

/// Which of `objects`, a Python list of [`take`], others may meet, with what is known of the objects
/// in the list `young`. What is in the list `ours`, somebody holds once who does not count. The lists
/// hold what is in them, and nobody else knows these lists.
pub unsafe fn are_met(objects: Ref, young: Ref, ours: Ref, most: usize) -> Vec<u32> {
    let of_list = |list: Ref| (0..PyList_Size(list)).map(move |at| PyList_GetItem(list, at));
    let lists = [objects, young, ours];
    let filled: Vec<Ref> = of_list(objects).collect();
    let mut known: HashMap<usize, usize> = HashMap::new();
    for object in lists.into_iter().flat_map(of_list).chain(of_list(ours)) {
        *known.entry(object as usize).or_default() += 1;
    }
    let mut most = most;
    let closure = Closure::of(&filled, &mut most).map(|mut closure| {
        let others = of_list(young).chain(of_list(ours));
        let others = others.filter(|one| !lists.contains(one));
        // SAFETY: the list holds them.
        unsafe { closure.add(others) };
        closure
    });
    let met = closure.as_ref().map(|closure| closure.are_met(&known, 0));
    let is_met = |object: &Ref| {
        let place = closure.as_ref().map(|one| one.places[&(*object as usize)]);
        place
            .zip(met.as_ref())
            .is_none_or(|(place, met)| met[place])
    };
    let places = filled.iter().zip(0..).filter(|(object, _)| is_met(object));
    places.map(|(_, at)| at).collect()
}

/// What objects lead to, and perhaps others.
struct Closure {
    /// Those themselves are the first.
    objects: Vec<Ref>,
    places: HashMap<usize, usize>,
    /// By object: the places of those that it refers to.
    held: Vec<Vec<usize>>,
}

impl Closure {
    /// `None` if there are too many.
    unsafe fn of(starts: &[Ref], most: &mut usize) -> Option<Closure> {
        let mut closure = Closure {
            objects: Vec::new(),
            places: HashMap::new(),
            held: Vec::new(),
        };
        for start in starts {
            closure.place(*start);
        }
        while let Some(object) = closure.objects.get(closure.held.len()).copied() {
            *most = most.checked_sub(1)?;
            let held = holdable(object).into_iter();
            let held = held.map(|one| closure.place(one)).collect();
            closure.held.push(held);
        }
        Some(closure)
    }

    /// Adds objects, but not what else they lead to.
    unsafe fn add(&mut self, others: impl Iterator<Item = Ref>) {
        for other in others.filter(|one| unsafe { can_hold(*one) }) {
            self.place(other);
        }
        while let Some(object) = self.objects.get(self.held.len()).copied() {
            let held = holdable(object).into_iter();
            let held = held.filter_map(|one| self.places.get(&(one as usize)).copied());
            self.held.push(held.collect());
        }
    }

    fn place(&mut self, object: Ref) -> usize {
        *self.places.entry(object as usize).or_insert_with(|| {
            self.objects.push(object);
            self.objects.len() - 1
        })
    }

    /// For each object, whether something outside leads to it. The caller's references to objects
    /// are `known`, and the weak one to the first.
    unsafe fn are_met(&self, known: &HashMap<usize, usize>, guard: usize) -> Vec<bool> {
        let callers = |object: &Ref| known.get(&(*object as usize)).copied().unwrap_or_default();
        let mut inside: Vec<usize> = self.objects.iter().map(callers).collect();
        for place in self.held.iter().flatten() {
            inside[*place] += 1;
        }
        let mut is_met: Vec<bool> = Vec::new();
        for (object, inside) in self.objects.iter().zip(inside) {
            let is_first = is_met.is_empty();
            let weakly = if is_first { guard } else { 0 };
            is_met.push(references(*object) != inside || !is_held_weakly_by(*object, weakly));
        }
        let mut open: Vec<usize> = (0..is_met.len()).filter(|place| is_met[*place]).collect();
        while let Some(place) = open.pop() {
            for held in &self.held[place] {
                if !std::mem::replace(&mut is_met[*held], true) {
                    open.push(*held);
                }
            }
        }
        is_met
    }
}

/// What `object` refers to and a closure goes through.
unsafe fn holdable(object: Ref) -> Vec<Ref> {
    let mut held = referents(object, (*object).kind);
    if (*object).kind == &raw mut PyFunction_Type {
        // By way of its globals everything can be got at.
        let world = [PyFunction_GetGlobals(object), PyEval_GetBuiltins()];
        held.retain(|one| !world.contains(one));
    }
    held.retain(|one| unsafe { can_hold(*one) });
    held
}

/// Whether a closure goes through `object`. What is left out counts as held from outside, and so
/// does all that it refers to: modules and classes lead to the whole program, and who has a
/// finalizer (a generator has one) can still do something.
unsafe fn can_hold(object: Ref) -> bool {
    let kind = (*object).kind;
    let flags = type_object::flags(kind);
    flags & type_object::HAVE_GC != 0
        && flags & type_object::TYPE_SUBCLASS == 0
        && kind != &raw mut PyModule_Type
        && !type_object::has_finalizer(kind)
}

/// Whether the weak reference `by`, or none if it is 0, is the only one to `object`, and has no
/// other user.
unsafe fn is_held_weakly_by(object: Ref, by: usize) -> bool {
    let offset = type_object::weaklistoffset((*object).kind);
    let first = if offset == 0 { 0 } else { word(object, offset) };
    first == by && (by == 0 || references(by as Ref) == 1 && word(by as Ref, WEAK_NEXT) == 0)
}
