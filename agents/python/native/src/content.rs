//! Reads the shallow content of objects in place: without running Python code, without
//! allocating Python objects, without creating an instance's `__dict__`.
//!
//! Content is a row of words. Most are addresses of objects; words below [`FIRST_ADDRESS`] are
//! marks and offsets.

use crate::digest::layout::FunctionLayout;
use crate::ffi::*;

/// No object has an address below this.
pub const FIRST_ADDRESS: usize = 4096;
/// `Py_T_OBJECT_EX`, the type of the members that `__slots__` makes.
const OBJECT_MEMBER: i32 = 16;
/// `ob_size` of a list, and `used` of a set: the number of items.
pub const LIST_SIZE: isize = 16;
pub const SET_USED: isize = 24;
/// `PyDictObject.ma_values`: null if the dict has its values for itself.
pub const DICT_VALUES: isize = 40;
/// `PyCellObject.ob_ref`.
pub const CELL: isize = 16;
/// `_abc_data._abc_registry`: a set of weak references, or null.
pub const REGISTERED: isize = 16;
/// Set in a word that is no address, whatever else it says.
const NO_ADDRESS: usize = 1 << 63;
/// Items per block of a deque.
const DEQUE_BLOCK: isize = 64;

/// Whether a word of a content is the address of an object.
pub fn is_address(word: usize) -> bool {
    (FIRST_ADDRESS..NO_ADDRESS).contains(&word)
}

/// Takes the words of a content in order.
pub trait Sink {
    fn put(&mut self, word: usize);
}

impl Sink for Vec<usize> {
    fn put(&mut self, word: usize) {
        self.push(word);
    }
}

/// Compares a content with known words while reading it.
pub struct Comparison<'a> {
    rest: std::slice::Iter<'a, usize>,
    equal: bool,
}

impl<'a> Comparison<'a> {
    pub fn with(words: &'a [usize]) -> Comparison<'a> {
        Comparison {
            rest: words.iter(),
            equal: true,
        }
    }

    pub fn is_equal(&self) -> bool {
        self.equal && self.rest.as_slice().is_empty()
    }
}

impl Sink for Comparison<'_> {
    #[inline(always)]
    fn put(&mut self, word: usize) {
        self.equal &= self.rest.next() == Some(&word);
    }
}

/// How a part of an object is read.
#[derive(Clone)]
pub enum Reader {
    Dict(Ref),
    List,
    Set,
    Deque,
    Bytes,
    Cell,
    /// The type, and the content of `__dict__`.
    Attributes,
    /// The type, and the members at these offsets.
    Slots(Vec<isize>),
    /// What can be assigned to a function.
    Function(FunctionLayout),
    /// What is registered with an abstract class: `_abc_data`.
    Registry,
}

/// How this version stores attributes of instances.
#[derive(Clone, Copy, PartialEq)]
pub enum Inline {
    /// Up to 3.10: instances have a dict or nothing.
    None,
    /// 3.11: values behind a pointer, next to the pointer to the dict.
    Beside,
    /// 3.12: one pointer; its lowest bit distinguishes values from a dict.
    Tagged,
    /// 3.13: values in the object, valid while there is no dict.
    Inside,
}

impl Inline {
    pub fn of_version() -> Inline {
        match version().1 {
            ..=10 => Inline::None,
            11 => Inline::Beside,
            12 => Inline::Tagged,
            _ => Inline::Inside,
        }
    }
}

/// Passes on the content of the part of `object` that `reader` reads.
pub unsafe fn read(object: Ref, reader: &Reader, inline: Inline, out: &mut impl Sink) {
    match reader {
        Reader::Dict(dict) => read_dict(*dict, out),
        Reader::List => list_items(object).iter().for_each(|item| out.put(*item)),
        Reader::Set => read_set(object, out),
        Reader::Deque => read_deque(object, out),
        Reader::Bytes => out.put(bytes_hash(object)),
        Reader::Cell => out.put(word(object, CELL)),
        Reader::Attributes => {
            out.put((*object).kind as usize);
            read_attributes(object, inline, out);
        }
        Reader::Slots(offsets) => {
            out.put((*object).kind as usize);
            for offset in offsets {
                out.put(word(object, *offset));
            }
        }
        Reader::Function(layout) => read_function(object, *layout, out),
        Reader::Registry => {
            let registered = word(object, REGISTERED) as Ref;
            if !registered.is_null() {
                read_set(registered, out);
            }
        }
    }
}

/// Its code, documentation, names, defaults, attributes and annotations.
unsafe fn read_function(function: Ref, layout: FunctionLayout, out: &mut impl Sink) {
    // Without a guard: a code that takes its place was made while it lived.
    let [code, others @ ..] = words_of_function(layout);
    out.put(word(function, code) | NO_ADDRESS);
    for offset in others {
        out.put(word(function, offset));
    }
    let all = dicts_of_function(function, layout);
    for held in all.into_iter().filter(|held| !held.is_null()) {
        if is_dict(held) {
            read_dict(held, out);
        } else if (*held).kind == &raw mut PyTuple_Type {
            // Annotations that nobody has asked for: names and values.
            for at in 0..PyTuple_Size(held) {
                out.put(PyTuple_GetItem(held, at) as usize);
            }
        }
    }
}

/// Where a function has what is in no dict: its code first.
pub fn words_of_function(layout: FunctionLayout) -> [isize; 5] {
    [
        layout.code,
        layout.doc,
        layout.name,
        layout.qualified_name,
        layout.defaults,
    ]
}

/// Where it has defaults of keywords, attributes and annotations: dicts, null, or a tuple of
/// annotations that nobody has asked for.
pub unsafe fn dicts_of_function(function: Ref, layout: FunctionLayout) -> [Ref; 3] {
    let [keywords, annotations] = [layout.keyword_defaults, layout.annotations];
    let attributes = type_object::dictoffset((*function).kind);
    [
        word(function, keywords) as Ref,
        word(function, attributes) as Ref,
        word(function, annotations) as Ref,
    ]
}

/// Whether an object is a dict, or of a class that derives from it.
pub unsafe fn is_dict(object: Ref) -> bool {
    type_object::flags((*object).kind) & type_object::DICT_SUBCLASS != 0
}

unsafe fn read_dict(dict: Ref, out: &mut impl Sink) {
    let (mut at, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
    while PyDict_Next(dict, &mut at, &mut key, &mut value) != 0 {
        out.put(key as usize);
        out.put(value as usize);
    }
}

/// `PyListObject`: size, then the address of the items. Public since 3.0.
pub unsafe fn list_items<'a>(list: Ref) -> &'a [usize] {
    let (size, items) = (word(list, LIST_SIZE), word(list, 24) as *const usize);
    match (size, items.is_null()) {
        (0, _) | (_, true) => &[],
        (size, false) => std::slice::from_raw_parts(items, size),
    }
}

/// `PySetObject`: a table of (key, hash). A free entry has no key, a deleted one has the hash
/// -1, which no object has.
unsafe fn read_set(set: Ref, out: &mut impl Sink) {
    for [key, hash] in set_table(set) {
        if *key != 0 && *hash != usize::MAX {
            out.put(*key);
        }
    }
}

pub unsafe fn set_table<'a>(set: Ref) -> &'a [[usize; 2]] {
    std::slice::from_raw_parts(word(set, 40) as *const [usize; 2], word(set, 32) + 1)
}

/// `dequeobject`: a chain of blocks (left link, items, right link).
unsafe fn read_deque(deque: Ref, out: &mut impl Sink) {
    let (mut left, mut block) = (word(deque, 16), word(deque, 24) as *const usize);
    let mut at = word(deque, 40) as isize;
    while left > 0 && !block.is_null() {
        if at == DEQUE_BLOCK {
            block = *block.offset(1 + DEQUE_BLOCK) as *const usize;
            at = 0;
            continue;
        }
        out.put(*block.offset(1 + at));
        at += 1;
        left -= 1;
    }
}

unsafe fn bytes_hash(bytes: Ref) -> usize {
    use std::hash::Hasher;
    let start = PyByteArray_AsString(bytes).cast::<u8>();
    let bytes = std::slice::from_raw_parts(start, PyByteArray_Size(bytes) as usize);
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish() as usize | NO_ADDRESS
}

/// The present place of an instance's attributes.
pub enum Attributes {
    None,
    Dict(Ref),
    /// Values and their insertion order: `order(n)` is at `order + n * step`.
    Values {
        values: *const usize,
        count: usize,
        order: *const u8,
        step: isize,
    },
}

pub unsafe fn attributes(object: Ref, inline: Inline) -> Attributes {
    let kind = (*object).kind;
    if type_object::dictoffset(kind) == 0 {
        return Attributes::None;
    }
    let managed = type_object::flags(kind) & type_object::MANAGED_DICT != 0;
    let dict = match inline {
        Inline::Beside if managed => {
            let values = word(object, -32) as *const usize;
            if !values.is_null() {
                return before_values(values);
            }
            word(object, -24)
        }
        Inline::Tagged if managed => {
            let dict_or_values = word(object, -24);
            if dict_or_values & 1 == 1 {
                return before_values((dict_or_values + 1) as *const usize);
            }
            dict_or_values
        }
        Inline::Inside if managed => {
            let dict = word(object, -24);
            if dict == 0 && type_object::flags(kind) & type_object::INLINE_VALUES != 0 {
                return inside_values(object);
            }
            dict
        }
        _ => {
            let slot = _PyObject_GetDictPtr(object);
            if slot.is_null() { 0 } else { *slot as usize }
        }
    };
    match dict {
        0 => Attributes::None,
        dict => Attributes::Dict(dict as Ref),
    }
}

/// 3.11 and 3.12: count and order are in front of the values, backwards.
unsafe fn before_values(values: *const usize) -> Attributes {
    let count = values.cast::<u8>().sub(2);
    Attributes::Values {
        values,
        count: usize::from(*count),
        order: count.sub(1),
        step: -1,
    }
}

/// Whether the dict of an instance has its values where the instance itself has them, so that the
/// class knows their names.
pub unsafe fn shares_values(object: Ref, dict: Ref) -> bool {
    version().1 >= 13
        && type_object::flags((*object).kind) & type_object::INLINE_VALUES != 0
        && word(dict, DICT_VALUES) == object as usize + 16
        && matches!(inside_values(object), Attributes::Values { .. })
}

/// 3.13: capacity, count, embedded, valid; values; order.
pub unsafe fn inside_values(object: Ref) -> Attributes {
    let head = object.cast::<u8>().add(16);
    let (capacity, count, valid) = (*head, *head.add(1), *head.add(3));
    let values = head.add(8).cast::<usize>();
    if valid == 0 {
        return Attributes::None;
    }
    Attributes::Values {
        values,
        count: usize::from(count),
        order: values.add(usize::from(capacity)).cast(),
        step: 1,
    }
}

unsafe fn read_attributes(object: Ref, inline: Inline, out: &mut impl Sink) {
    match attributes(object, inline) {
        Attributes::None => {}
        Attributes::Dict(dict) => read_dict(dict, out),
        Attributes::Values {
            values,
            count,
            order,
            step,
        } => {
            let names = shared_names((*object).kind, inline);
            for n in 0..count {
                let at = usize::from(*order.offset(step * n as isize));
                let value = *values.add(at);
                if value != 0 {
                    // The name, so that nothing differs once a dict is created.
                    out.put(names.map_or(at, |names| *names.add(2 * at)));
                    out.put(value);
                }
            }
        }
    }
}

/// The (name, unused) entries of the keys that all instances of a class share.
unsafe fn shared_names(kind: Ref, inline: Inline) -> Option<*const usize> {
    /// Entries are (name, value): no hash beside them.
    const SPLIT: u8 = 2;
    let offset = match inline {
        Inline::None => return None,
        Inline::Beside => 872,
        Inline::Tagged | Inline::Inside => 880,
    };
    let keys = word(kind, offset) as *const u8;
    if keys.is_null() || *keys.add(10) != SPLIT {
        return None;
    }
    let index_bytes = 1 << *keys.add(9);
    Some(keys.add(32 + index_bytes).cast())
}

/// Appends the offsets of the members made by the `__slots__` of `kind`.
pub unsafe fn slot_offsets(kind: Ref, out: &mut Vec<isize>) {
    let mut pairs = Vec::new();
    read_dict(type_object::dict(kind), &mut pairs);
    for pair in pairs.chunks_exact(2) {
        let value = pair[1] as Ref;
        // A descriptor of this very class, and not one added by hand.
        if (*value).kind == &raw mut PyMemberDescr_Type && word(value, 16) == kind as usize {
            let member = word(value, 40) as *const u8;
            if *member.add(8).cast::<i32>() == OBJECT_MEMBER {
                out.push(word(member, 16) as isize);
            }
        }
    }
}
