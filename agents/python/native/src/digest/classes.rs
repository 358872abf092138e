//! Classes and modules by reference: what everybody reaches by name is told by
//! its name, and its members are cells of their own. What is not where its
//! name says is content like any other object.

use super::hash::{ByAddress, ByText, Digest, Hasher, of_text};
use super::layout::{Layouts, TYPE_NAME};
use crate::ffi::*;

pub struct Names {
    layouts: &'static Layouts,
    /// The modules that were asked for, or all of them.
    modules: ByText<Option<Ref>>,
    is_complete: bool,
    roots: Vec<(Vec<u8>, Ref)>,
    /// Modules that no name leads to here.
    late: Vec<Vec<u8>>,
    references: ByAddress<Option<Digest>>,
    /// See `addresses`.
    pub addresses: Option<ByAddress<Digest>>,
    /// State of the process that has an account of its own.
    process: Option<ByAddress<Digest>>,
}

/// What a name of the standard library tells better than content: the
/// environment, the standard streams, those with which pytest captures them, the hidden random
/// generator.
const PROCESS: [(&[u8], &[u8]); 11] = [
    (b"_tamis.capture", b"captured_stdout"),
    (b"_tamis.capture", b"captured_stderr"),
    (b"os", b"environ"),
    (b"os", b"environb"),
    (b"random", b"_inst"),
    (b"sys", b"__stdin__"),
    (b"sys", b"__stdout__"),
    (b"sys", b"__stderr__"),
    (b"sys", b"stdin"),
    (b"sys", b"stdout"),
    (b"sys", b"stderr"),
];

/// The entries of a dict, without looking any key up.
pub unsafe fn entries(dict: Ref) -> impl Iterator<Item = (Ref, Ref)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        if dict.is_null() {
            return None;
        }
        let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the dict is alive, and nothing changes it meanwhile.
        unsafe { PyDict_Next(dict, &mut at, &mut key, &mut value) != 0 }.then_some((key, value))
    })
}

/// What a module or class binds, by its dict: without the empty annotations that it gets when
/// somebody asks for them.
pub unsafe fn bound(dict: Ref) -> impl Iterator<Item = (Ref, Ref)> {
    entries(dict).filter(|(name, value)| unsafe {
        !(is_empty_dict(*value)
            && is_text(*name)
            && text_of(*name).as_deref() == Some(b"__annotations__"))
    })
}

pub unsafe fn is_empty_dict(object: Ref) -> bool {
    (*object).kind == &raw mut PyDict_Type && PyDict_Size(object) == 0
}

/// The `__dict__` of a class; null if it has none. From 3.12 on, each
/// interpreter has its own for the types that are built in.
pub unsafe fn dict_of(kind: Ref) -> Ref {
    let dict = type_object::dict(kind);
    if dict.is_null()
        && let Some(get) = symbol(c"PyType_GetDict")
    {
        // SAFETY: this function has had this signature since 3.12.
        let get =
            std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn(Ref) -> Ref>(get);
        let dict = get(kind);
        // The interpreter holds it.
        if !dict.is_null() {
            Py_DecRef(dict);
        }
        return dict;
    }
    dict
}

pub unsafe fn is_text(object: Ref) -> bool {
    !object.is_null() && (*object).kind == &raw mut PyUnicode_Type
}

/// The value of a key that is a plain text.
pub unsafe fn find(dict: Ref, name: &[u8]) -> Option<Ref> {
    entries(dict)
        .find(|(key, _)| unsafe { is_text(*key) && is_same_text(*key, name) })
        .map(|(_, value)| value)
}

/// The text that says of which module a class is; None if nothing does.
pub unsafe fn said_module(kind: Ref) -> Option<Ref> {
    find(dict_of(kind), b"__module__").filter(|text| unsafe { is_text(*text) })
}

pub unsafe fn is_same_text(text: Ref, bytes: &[u8]) -> bool {
    let mut size = 0;
    // `PyASCIIObject.length` is never more than the bytes are.
    if word(text, 16) > bytes.len() {
        return false;
    }
    let utf8 = PyUnicode_AsUTF8AndSize(text, &mut size);
    if utf8.is_null() {
        PyErr_Clear();
        return false;
    }
    std::slice::from_raw_parts(utf8.cast::<u8>(), size as usize) == bytes
}

pub unsafe fn is_class(object: Ref) -> bool {
    type_object::flags((*object).kind) & type_object::TYPE_SUBCLASS != 0
}

pub unsafe fn is_module(object: Ref) -> bool {
    PyType_IsSubtype((*object).kind, &raw mut PyModule_Type) != 0
}

/// The name that a C type was declared with.
pub unsafe fn type_name(kind: Ref) -> &'static [u8] {
    let name = word(kind, TYPE_NAME) as *const std::ffi::c_char;
    if name.is_null() {
        return b"?";
    }
    std::ffi::CStr::from_ptr(name).to_bytes()
}

impl Names {
    pub fn new(layouts: &'static Layouts, roots: Vec<(Vec<u8>, Ref)>, late: Vec<Vec<u8>>) -> Names {
        Names {
            layouts,
            modules: ByText::default(),
            is_complete: false,
            roots,
            late,
            references: ByAddress::default(),
            addresses: None,
            process: None,
        }
    }

    /// Whether `kind` is this class, made by a `class` statement.
    pub unsafe fn is_named(&self, kind: Ref, module: &[u8], name: &[u8]) -> bool {
        let is_it = |(in_module, found): &(Vec<u8>, Vec<u8>)| in_module == module && found == name;
        type_name(kind) == name
            && self.is_made_by_python(kind)
            && self.full_name(kind).as_ref().is_some_and(is_it)
    }

    /// Whether a class statement, or a call of `type`, made it: its name in C
    /// is the text of its name in Python. Types made by C code have their own.
    pub unsafe fn is_made_by_python(&self, kind: Ref) -> bool {
        if type_object::flags(kind) & type_object::HEAP_TYPE == 0 {
            return false;
        }
        // Not known: no class is understood.
        let Some(at) = self.layouts.short_name else {
            return true;
        };
        let name = word(kind, at) as Ref;
        if !is_text(name) {
            return true;
        }
        let mut size = 0;
        let text = PyUnicode_AsUTF8AndSize(name, &mut size);
        text.is_null() || text as usize == word(kind, TYPE_NAME)
    }

    /// Module and qualified name of a class that is made at run time. Static ones of C have no
    /// place for the latter, though some have a `__module__` (those of `cffi`).
    pub unsafe fn full_name(&self, kind: Ref) -> Option<(Vec<u8>, Vec<u8>)> {
        if type_object::flags(kind) & type_object::HEAP_TYPE == 0 {
            return None;
        }
        let module = said_module(kind)?;
        let name = word(kind, self.layouts.class_name?) as Ref;
        if !is_text(name) {
            return None;
        }
        Some((text_bytes(module)?, text_bytes(name)?))
    }

    /// Whether these are the module and the qualified name of a class.
    pub unsafe fn is_at(&self, kind: Ref, module: &[u8], qualified: &[u8]) -> bool {
        let is = |text: Ref, name| unsafe { is_text(text) && is_same_text(text, name) };
        type_object::flags(kind) & type_object::HEAP_TYPE != 0
            && self
                .layouts
                .class_name
                .is_some_and(|at| unsafe { is(word(kind, at) as Ref, qualified) })
            && find(dict_of(kind), b"__module__").is_some_and(|text| is(text, module))
    }

    /// The digest of the reference to a class; None if it is not where its
    /// name says.
    pub unsafe fn class(&mut self, kind: Ref) -> Option<Digest> {
        if let Some(known) = self.references.get(&(kind as usize)) {
            return *known;
        }
        let found = self.find_class(kind);
        self.references.insert(kind as usize, found);
        found
    }

    unsafe fn find_class(&mut self, kind: Ref) -> Option<Digest> {
        if !self.is_made_by_python(kind) {
            return Some(of_text("type", type_name(kind)));
        }
        let (module, name) = self.full_name(kind)?;
        let mut at = self.module(&module)?;
        for part in name.split(|byte| *byte == b'.') {
            let dict = match is_module(at) {
                true => PyModule_GetDict(at),
                false if is_class(at) => dict_of(at),
                false => return None,
            };
            at = find(dict, part)?;
        }
        let mut hasher = Hasher::new("class");
        hasher.bytes(&module);
        hasher.bytes(&name);
        (at == kind).then(|| hasher.finish())
    }

    /// The digest of the reference to an object of the process.
    pub unsafe fn process(&mut self, object: Ref) -> Option<Digest> {
        if self.process.is_none() {
            let mut found = ByAddress::default();
            for (module, name) in PROCESS {
                let Some(module_object) = self.module(module) else {
                    continue;
                };
                let Some(value) = find(PyModule_GetDict(module_object), name) else {
                    continue;
                };
                if value != &raw mut _Py_NoneStruct {
                    let digest = of_text(
                        "process",
                        name.strip_prefix(b"__")
                            .map_or(name, |name| &name[..name.len() - 2]),
                    );
                    found.entry(value as usize).or_insert(digest);
                }
            }
            self.process = Some(found);
        }
        self.process.as_ref()?.get(&(object as usize)).copied()
    }

    /// The module of this name: one of the roots, else of `sys.modules`. A
    /// taking of few cells asks for few, which are looked for one by one.
    pub unsafe fn module(&mut self, name: &[u8]) -> Option<Ref> {
        const FEW: usize = 16;
        if self.late.iter().any(|late| late == name) {
            return None;
        }
        if let Some(known) = self.modules.get(name) {
            return *known;
        }
        if self.is_complete {
            return None;
        }
        let table = PySys_GetObject(c"modules".as_ptr());
        let is_dict =
            !table.is_null() && PyType_IsSubtype((*table).kind, &raw mut PyDict_Type) != 0;
        if self.modules.len() < FEW || !is_dict {
            let own = self.roots.iter().rev().find(|(root, _)| root == name);
            let found = match own {
                Some((_, module)) => Some(*module),
                None if is_dict => find(table, name).filter(|module| unsafe { is_module(*module) }),
                None => None,
            };
            self.modules.insert(name.to_vec(), found);
            return found;
        }
        for (name, module) in entries(table) {
            if is_text(name) && is_module(module) {
                let name = text_bytes(name).unwrap_or_default();
                self.modules.insert(name, Some(module));
            }
        }
        let own = self.roots.iter();
        self.modules
            .extend(own.map(|(name, module)| (name.clone(), Some(*module))));
        self.is_complete = true;
        self.modules.get(name).copied().flatten()
    }

    /// The digest of the reference to a module; None if its name leads to
    /// another one or nowhere.
    pub unsafe fn module_reference(&mut self, module: Ref) -> Option<Digest> {
        if let Some(known) = self.references.get(&(module as usize)) {
            return *known;
        }
        let name = module_name(module);
        let found = match name {
            Some(name) => (self.module(&name) == Some(module)).then(|| of_text("module", &name)),
            None => None,
        };
        self.references.insert(module as usize, found);
        found
    }
}

pub unsafe fn module_name(module: Ref) -> Option<Vec<u8>> {
    let dict = PyModule_GetDict(module);
    let name = find(dict, b"__name__").filter(|name| unsafe { is_text(*name) })?;
    text_bytes(name)
}
