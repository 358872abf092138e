//! Functions of the JVM for a walk over objects. They run no code of a program.

use std::ffi::{CStr, c_char};
use std::ptr;

use super::{FieldId, Jni, Jvmti, Object, Table, function, is_made_beside};

/// A field that a class itself declares.
pub struct Field {
    pub id: FieldId,
    /// The first letter of its type's descriptor.
    pub kind: u8,
    /// The whole descriptor.
    pub descriptor: String,
    pub name: String,
    modifiers: i32,
}

impl Field {
    pub fn is_static(&self) -> bool {
        self.modifiers & 0x0008 != 0
    }

    pub fn is_final(&self) -> bool {
        self.modifiers & 0x0010 != 0
    }

    pub fn is_reference(&self) -> bool {
        matches!(self.kind, b'L' | b'[')
    }
}

impl Jni {
    pub unsafe fn is_same(self, one: Object, other: Object) -> bool {
        type F = unsafe extern "system" fn(Table, Object, Object) -> u8;
        function::<F>(self.0, 24)(self.0, one, other) != 0
    }

    /// An element of an array of objects. The array must be long enough.
    pub unsafe fn element_in(self, array: Object, at: i32) -> Object {
        type F = unsafe extern "system" fn(Table, Object, i32) -> Object;
        function::<F>(self.0, 173)(self.0, array, at)
    }

    /// A digest of the `len` bytes of an array of a primitive type; `None` if the JVM does not
    /// give access.
    pub unsafe fn bytes_digest(self, array: Object, len: usize) -> Option<u64> {
        type Get = unsafe extern "system" fn(Table, Object, *mut u8) -> *const u8;
        type Release = unsafe extern "system" fn(Table, Object, *const u8, i32);
        /// Nothing was written, so a possible copy is only freed.
        const ABORT: i32 = 2;
        if len == 0 {
            return Some(0);
        }
        let start = function::<Get>(self.0, 222)(self.0, array, ptr::null_mut());
        if start.is_null() {
            return None;
        }
        let digest = digest_of(std::slice::from_raw_parts(start, len));
        function::<Release>(self.0, 223)(self.0, array, start, ABORT);
        Some(digest)
    }

    /// The address of a direct buffer's memory, and its number of elements.
    pub unsafe fn direct_memory(self, buffer: Object) -> (u64, usize) {
        type Address = unsafe extern "system" fn(Table, Object) -> u64;
        type Capacity = unsafe extern "system" fn(Table, Object) -> i64;
        let address = function::<Address>(self.0, 230)(self.0, buffer);
        let capacity = function::<Capacity>(self.0, 231)(self.0, buffer);
        (address, usize::try_from(capacity).unwrap_or_default())
    }
}

/// Takes eight bytes at once.
pub fn digest_of(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut digest = bytes.len() as u64;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        digest = (digest ^ u64::from_ne_bytes(*word))
            .wrapping_mul(PRIME)
            .rotate_left(29);
    }
    for byte in rest {
        digest = (digest ^ u64::from(*byte))
            .wrapping_mul(PRIME)
            .rotate_left(29);
    }
    digest
}

impl Jvmti {
    /// The fields that a class itself declares, except those that tools add to a program.
    pub unsafe fn fields(self, class: Object) -> Vec<Field> {
        type List = unsafe extern "system" fn(Table, Object, *mut i32, *mut *mut FieldId) -> i32;
        type Name = unsafe extern "system" fn(
            Table,
            Object,
            FieldId,
            *mut *mut c_char,
            *mut *mut c_char,
            *mut *mut c_char,
        ) -> i32;
        type Modifiers = unsafe extern "system" fn(Table, Object, FieldId, *mut i32) -> i32;
        let (mut count, mut start) = (0, ptr::null_mut());
        if function::<List>(self.0, 52)(self.0, class, &mut count, &mut start) != 0 {
            return Vec::new();
        }
        let mut fields = Vec::with_capacity(count as usize);
        for id in std::slice::from_raw_parts(start, count as usize) {
            let (mut kind, mut modifiers): (*mut c_char, i32) = (ptr::null_mut(), 0);
            let (mut name, none): (*mut c_char, _) = (ptr::null_mut(), ptr::null_mut());
            let named =
                function::<Name>(self.0, 59)(self.0, class, *id, &mut name, &mut kind, none);
            let told = function::<Modifiers>(self.0, 61)(self.0, class, *id, &mut modifiers);
            if named == 0 {
                if told == 0 && !is_made_beside(CStr::from_ptr(name)) {
                    fields.push(Field {
                        id: *id,
                        kind: *kind as u8,
                        descriptor: CStr::from_ptr(kind).to_string_lossy().into_owned(),
                        name: CStr::from_ptr(name).to_string_lossy().into_owned(),
                        modifiers,
                    });
                }
                self.free(name);
                self.free(kind);
            }
        }
        self.free(start);
        fields
    }

    /// Whether the JVM's own loader has loaded a class.
    pub unsafe fn is_of_boot_loader(self, class: Object) -> bool {
        type F = unsafe extern "system" fn(Table, Object, *mut Object) -> i32;
        let mut loader = ptr::null_mut();
        function::<F>(self.0, 56)(self.0, class, &mut loader) == 0 && loader.is_null()
    }

    /// All living threads, as local references.
    pub unsafe fn threads(self) -> Vec<Object> {
        self.list(3)
    }

    /// All loaded classes, as local references.
    pub unsafe fn loaded_classes(self) -> Vec<Object> {
        self.list(77)
    }

    /// Calls a list function without parameters by its number.
    unsafe fn list(self, number: usize) -> Vec<Object> {
        type F = unsafe extern "system" fn(Table, *mut i32, *mut *mut Object) -> i32;
        let (mut count, mut start) = (0, ptr::null_mut());
        if function::<F>(self.0, number)(self.0, &mut count, &mut start) != 0 {
            return Vec::new();
        }
        let all = std::slice::from_raw_parts(start, count as usize).to_vec();
        self.free(start);
        all
    }
}
