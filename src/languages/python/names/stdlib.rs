//! The table of names that the standard library always has.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::languages::name_hash;

/// Modules that every supported Python has, with the names that they all have.
const TABLE: &str = include_str!("../stdlib.txt");

/// By module, by name: whether it is a class whose derivation does nothing of
/// its own.
static MODULES: LazyLock<BTreeMap<&str, BTreeMap<&str, bool>>> = LazyLock::new(|| {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let mut words = line.split(' ');
            let module = words.next()?;
            let names = words.map(|word| match word.strip_suffix('*') {
                Some(name) => (name, true),
                None => (word, false),
            });
            Some((module, names.collect()))
        })
        .collect()
});

pub(super) fn has_module(module: &str) -> bool {
    module != "builtins" && MODULES.contains_key(module)
}

/// Whether `from module import name` succeeds, as does `module.name`.
pub(super) fn has(module: &str, name: &str) -> bool {
    MODULES
        .get(module)
        .is_some_and(|names| names.contains_key(name))
}

pub(super) fn is_plain_class(module: &str, name: &str) -> bool {
    MODULES
        .get(module)
        .is_some_and(|names| names.get(name) == Some(&true))
}

/// The hashes of the names of builtins, sorted.
static BUILTINS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let names = MODULES.get("builtins").into_iter();
    let names = names.flat_map(|names| names.keys());
    let mut hashes: Vec<u32> = names.map(|name| name_hash(name)).collect();
    hashes.sort_unstable();
    hashes
});

pub(super) fn is_hash_of_builtin(hash: u32) -> bool {
    BUILTINS.binary_search(&hash).is_ok()
}

/// Whether every supported Python has a builtin of this name.
pub(super) fn is_builtin(name: &str) -> bool {
    has("builtins", name)
}
