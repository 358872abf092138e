//! Values of numbers and texts.

use super::hash::{Digest, Hasher, of_text};
use super::kinds::Kind;
use crate::ffi::*;

/// Whether texts hash differently in each process.
pub unsafe fn is_hash_random() -> bool {
    let flags = PySys_GetObject(c"flags".as_ptr());
    if flags.is_null() {
        return true;
    }
    let value = PyObject_GetAttrString(flags, c"hash_randomization".as_ptr());
    if value.is_null() {
        PyErr_Clear();
        return true;
    }
    let is_random = PyLong_AsLong(value) != 0;
    Py_DecRef(value);
    PyErr_Clear();
    is_random
}

/// The digest of a text. `project`: see `Walk`.
pub unsafe fn text_digest(text: Ref, project: &[u8]) -> Digest {
    let mut size = 0;
    let utf8 = PyUnicode_AsUTF8AndSize(text, &mut size);
    if !utf8.is_null() {
        let utf8: &[u8] = std::slice::from_raw_parts(utf8.cast(), size as usize);
        let rest = utf8.strip_prefix(project);
        let (mut hasher, utf8) = match rest.filter(|_| !project.is_empty()) {
            Some(rest @ ([] | [b'/', ..])) => (const { Hasher::new("project") }, rest),
            _ => (const { Hasher::new("str") }, utf8),
        };
        hasher.bytes(utf8);
        return hasher.finish();
    }
    PyErr_Clear();
    let bytes = PyUnicode_AsEncodedString(text, c"utf-8".as_ptr(), c"surrogatepass".as_ptr());
    if bytes.is_null() {
        PyErr_Clear();
        return of_text("str?", &(text as usize).to_ne_bytes());
    }
    let start = PyBytes_AsString(bytes).cast();
    let digest = of_text(
        "surrogates",
        std::slice::from_raw_parts(start, PyBytes_Size(bytes) as usize),
    );
    Py_DecRef(bytes);
    digest
}

/// The value of a number, text or bytes; also of an instance of a class that
/// derives from it.
pub unsafe fn scalar(object: Ref, kind: Kind, hasher: &mut Hasher) {
    match kind {
        Kind::Bool | Kind::Int => {
            hasher.bytes(if kind == Kind::Bool { b"bool" } else { b"int" });
            let mut overflow = 0;
            let small = PyLong_AsLongLongAndOverflow(object, &mut overflow);
            if overflow == 0 {
                return hasher.word(small as u64);
            }
            // Hexadecimal: the decimal form has a limit, and fails beyond.
            let digits = PyNumber_ToBase(object, 16);
            if !digits.is_null() {
                hasher.digest(text_digest(digits, b""));
                Py_DecRef(digits);
            }
            PyErr_Clear();
        }
        Kind::Float => hasher.word(word(object, 16) as u64),
        Kind::Complex => {
            hasher.bytes(b"complex");
            hasher.word(word(object, 16) as u64);
            hasher.word(word(object, 24) as u64);
        }
        Kind::Text => hasher.digest(text_digest(object, b"")),
        Kind::Bytes => {
            hasher.bytes(b"bytes");
            let start = PyBytes_AsString(object).cast();
            hasher.bytes(std::slice::from_raw_parts(
                start,
                PyBytes_Size(object) as usize,
            ));
        }
        _ => {}
    }
}
