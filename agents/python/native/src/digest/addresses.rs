//! Numbers that are addresses of objects, in other values. pydantic calls the schema of a class
//! after its `id`, SQLAlchemy keeps the `id` of whoever listens to an event. They are other ones in
//! each process; what stands there is not.

use std::ffi::{c_int, c_void};

use super::classes::{Names, dict_of, entries, is_module, type_name};
use super::hash::{ByAddress, Digest, Hasher, of_text};
use super::walk::Walk;
use crate::ffi::*;

/// Where programs have their memory on 64-bit Linux, if they are loaded at any address. Moments lie
/// outside, in whatever unit: who has one need not wait until all objects are looked at.
const PROGRAM: std::ops::Range<usize> = 1 << 45..1 << 48;
/// So many digits such an address has.
const DIGITS: std::ops::RangeInclusive<usize> = 14..=15;

fn may_be(number: usize) -> bool {
    PROGRAM.contains(&number) && number.is_multiple_of(8) && is_mapped(number)
}

/// Whether there is memory at an address. Numbers that are data mostly lead nowhere, and to look for
/// an object takes long.
fn is_mapped(address: usize) -> bool {
    unsafe extern "C" {
        fn mincore(start: *mut c_void, length: usize, pages: *mut u8) -> c_int;
    }
    // No page is smaller.
    const PAGE: usize = 4096;
    let mut pages = [0; 1];
    let start = (address / PAGE * PAGE) as *mut c_void;
    // SAFETY: it looks at nothing there, and tells of one page.
    let answer = unsafe { mincore(start, 1, pages.as_mut_ptr()) };
    answer == 0 || std::io::Error::last_os_error().raw_os_error() != Some(NO_MEMORY)
}

/// `ENOMEM`
const NO_MEMORY: i32 = 12;

/// The address that a whole number may be.
unsafe fn address_in(number: Ref) -> Option<usize> {
    let mut overflow = 0;
    let value = PyLong_AsLongLongAndOverflow(number, &mut overflow);
    usize::try_from(value).ok().filter(|value| may_be(*value))
}

/// Start, end and number of the first address that may be in this text.
fn first_in(text: &[u8]) -> Option<(usize, usize, usize)> {
    let mut at = DIGITS.start() - 1;
    while at < text.len() {
        // Each run that is long enough has a digit here.
        if !text[at].is_ascii_digit() {
            at += DIGITS.start();
            continue;
        }
        let is_digit = |byte: &u8| byte.is_ascii_digit();
        let start = at - text[..at].iter().rev().take_while(|byte| is_digit(byte)).count();
        let end = at + text[at..].iter().take_while(|byte| is_digit(byte)).count();
        let digits = std::str::from_utf8(&text[start..end]).ok();
        let number = digits.filter(|digits| DIGITS.contains(&digits.len()));
        match number.and_then(|digits| digits.parse().ok()) {
            Some(number) if may_be(number) => return Some((start, end, number)),
            _ => at = end + DIGITS.start(),
        }
    }
    None
}

impl Names {
    /// The digest of a number that is such an address, or that of the main thread.
    pub unsafe fn number_of_process(&mut self, number: Ref) -> Option<Digest> {
        let mut hasher = const { Hasher::new("address") };
        hasher.digest(self.at_address(address_in(number)?)?);
        Some(hasher.finish())
    }

    /// The digest of a text with addresses; None if it has none.
    pub unsafe fn text_with_addresses(&mut self, text: &[u8]) -> Option<Digest> {
        let mut hasher = const { Hasher::new("text with addresses") };
        let (mut rest, mut has_any) = (text, false);
        while let Some((start, end, number)) = first_in(rest) {
            match self.at_address(number) {
                Some(digest) => {
                    hasher.bytes(&rest[..start]);
                    hasher.digest(digest);
                    has_any = true;
                }
                None => hasher.bytes(&rest[..end]),
            }
            rest = &rest[end..];
        }
        hasher.bytes(rest);
        has_any.then(|| hasher.finish())
    }

    /// The digest of the reference to the module, the class, or the function in a class, at this
    /// address.
    unsafe fn at_address(&mut self, number: usize) -> Option<Digest> {
        if self.addresses.is_none() {
            let mut found = ByAddress::default();
            found.insert(PyThread_get_thread_ident(), of_text("process", b"thread"));
            for single in [&raw mut _Py_NoneStruct, &raw mut _Py_TrueStruct] {
                found.insert(single as usize, of_text("single", type_name((*single).kind)));
            }
            for kind in all_classes() {
                let Some(class) = self.class(kind as Ref) else {
                    continue;
                };
                found.insert(kind, class);
                for (name, value) in entries(dict_of(kind as Ref)) {
                    let value = match (*value).kind == &raw mut PyClassMethod_Type {
                        // `cm_callable`
                        true => word(value, 16) as Ref,
                        false => value,
                    };
                    if !value.is_null() && (*value).kind == &raw mut PyFunction_Type {
                        let mut hasher = const { Hasher::new("function of class") };
                        hasher.digest(class);
                        hasher.bytes(&text_bytes(name).unwrap_or_default());
                        found.entry(value as usize).or_insert(hasher.finish());
                    }
                }
            }
            for module in all_modules() {
                if let Some(reference) = self.module_reference(module) {
                    found.insert(module as usize, reference);
                }
            }
            self.addresses = Some(found);
        }
        self.addresses.as_ref()?.get(&number).copied()
    }
}

impl Walk {
    /// Whether a number is another one in each process.
    pub unsafe fn is_of_process(&mut self, number: Ref) -> bool {
        self.names.number_of_process(number).is_some() || self.object_at(number).is_some()
    }

    /// The object of which a number is the address. A number that is data by chance the address of
    /// an object, of some hundred thousand in so much memory, would be told by that object's
    /// content: never equal to anything by mistake.
    pub unsafe fn object_at(&mut self, number: Ref) -> Option<Ref> {
        let value = address_in(number)?;
        let living = self.living.get_or_insert_with(|| unsafe { all_tracked() });
        living.contains_key(&value).then_some(value as Ref)
    }
}

/// The addresses of all objects that the garbage collector knows, from 3.12 on, and of what modules
/// hold: frozen objects the collector does not show.
unsafe fn all_tracked() -> ByAddress<()> {
    type Visit = unsafe extern "C" fn(Ref, *mut ByAddress<()>) -> c_int;
    unsafe extern "C" fn note(object: Ref, found: *mut ByAddress<()>) -> c_int {
        (*found).insert(object as usize, ());
        1
    }
    let mut found = ByAddress::default();
    for module in all_modules() {
        found.extend(entries(PyModule_GetDict(module)).map(|(_, value)| (value as usize, ())));
    }
    if let Some(visit) = symbol(c"PyUnstable_GC_VisitObjects") {
        // SAFETY: this function has had this signature since 3.12.
        let visit = std::mem::transmute::<
            *mut c_void,
            unsafe extern "C" fn(Visit, *mut ByAddress<()>),
        >(visit);
        visit(note, &raw mut found);
    }
    found
}

unsafe fn all_modules() -> impl Iterator<Item = Ref> {
    let table = PySys_GetObject(c"modules".as_ptr());
    entries(table)
        .map(|(_, module)| module)
        .filter(|module| unsafe { is_module(*module) })
}

/// The addresses of all classes, by the method of `type` that no class of a program replaces here.
unsafe fn all_classes() -> Vec<usize> {
    let mut found = ByAddress::default();
    let mut waiting = vec![&raw mut PyBaseObject_Type];
    let method = PyObject_GetAttrString(&raw mut PyType_Type, c"__subclasses__".as_ptr());
    while let (Some(kind), false) = (waiting.pop(), method.is_null()) {
        if found.insert(kind as usize, ()).is_some() {
            continue;
        }
        let list = PyObject_CallFunctionObjArgs(method, kind, std::ptr::null_mut::<Object>());
        if list.is_null() {
            PyErr_Clear();
            continue;
        }
        let classes = crate::content::list_items(list);
        waiting.extend(classes.iter().map(|class| *class as Ref));
        // Their bases keep them no more than this list did; who holds them is the program.
        Py_DecRef(list);
    }
    match method.is_null() {
        true => PyErr_Clear(),
        false => Py_DecRef(method),
    }
    found.into_keys().collect()
}
