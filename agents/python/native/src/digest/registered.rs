//! What of the project is registered with an abstract class of a library.
//!
//! What a module registers of its own while it is imported is there whenever the class can be asked
//! for. The agent tells in another place what others have registered of classes of libraries.

use super::classes::{find, is_text, said_module, type_name};
use super::hash::{Digest, Hasher};
use super::walk::Walk;
use crate::content::{self, REGISTERED, Reader};
use crate::ffi::*;
use crate::guards::WEAK_TARGET;

/// The digest of these classes, by name. `None` if what is held is not understood.
pub unsafe fn of_project(registry: Ref, walk: &mut Walk) -> Option<Digest> {
    if walk.layouts.registry != Some((*registry).kind as usize) || !walk.layouts.abilities.sets {
        return None;
    }
    let mut members = Vec::new();
    let set = word(registry, REGISTERED) as Ref;
    if !set.is_null() {
        let inline = walk.layouts.abilities.inline;
        content::read(set, &Reader::Set, inline, &mut members);
    }
    let mut names = Vec::new();
    for reference in members {
        let class = word(reference as Ref, WEAK_TARGET) as Ref;
        if class.is_null() || class == &raw mut _Py_NoneStruct {
            continue;
        }
        let module = module_of(class);
        if !module
            .as_deref()
            .is_some_and(|name| unsafe { is_of_library(name, walk) })
        {
            let (_, name) = walk.names.full_name(class).unwrap_or_default();
            names.push((module.unwrap_or_default(), name));
        }
    }
    names.sort_unstable();
    let mut hasher = Hasher::new("registered");
    for (module, name) in names {
        hasher.bytes(&module);
        hasher.bytes(&name);
    }
    Some(hasher.finish())
}

/// The module that a class says it is of.
unsafe fn module_of(class: Ref) -> Option<Vec<u8>> {
    if let Some(said) = said_module(class) {
        return text_bytes(said);
    }
    let name = type_name(class);
    Some(match name.iter().rposition(|byte| *byte == b'.') {
        Some(at) => name[..at].to_vec(),
        None => b"builtins".to_vec(),
    })
}

/// Whether a module is there and is known to be another one's than the project's.
unsafe fn is_of_library(name: &[u8], walk: &mut Walk) -> bool {
    let Some(module) = walk.names.module(name) else {
        return false;
    };
    let Some(file) = find(PyModule_GetDict(module), b"__file__") else {
        return true;
    };
    if !is_text(file) {
        return file == &raw mut _Py_NoneStruct;
    }
    let Some(path) = text_of(file) else {
        return false;
    };
    let place = walk
        .places
        .iter()
        .find(|(prefix, _)| path.starts_with(prefix));
    place.is_some_and(|(_, text)| [&b"*library/"[..], b"*site/"].contains(&&**text))
}
