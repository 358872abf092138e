//! Reads the content of a map of the JDK directly from its fields.

use std::ffi::CStr;

use crate::ffi::{Jni, Object};
use crate::reach::{field, field_of, len};

/// The names of the fields and classes of a kind of map.
struct Layout {
    map: &'static CStr,
    table: &'static CStr,
    node: &'static CStr,
    next: &'static CStr,
    value: &'static CStr,
}

const LAYOUTS: [Layout; 2] = [
    Layout {
        map: c"java/util/concurrent/ConcurrentHashMap",
        table: c"[Ljava/util/concurrent/ConcurrentHashMap$Node;",
        node: c"java/util/concurrent/ConcurrentHashMap$Node",
        next: c"Ljava/util/concurrent/ConcurrentHashMap$Node;",
        value: c"val",
    },
    Layout {
        map: c"java/util/Hashtable",
        table: c"[Ljava/util/Hashtable$Entry;",
        node: c"java/util/Hashtable$Entry",
        next: c"Ljava/util/Hashtable$Entry;",
        value: c"value",
    },
];

/// The keys and values of a `ConcurrentHashMap` or a `Hashtable`; nothing for other maps.
pub unsafe fn entries(jni: Jni, map: Object) -> Vec<(Object, Object)> {
    let mut all = Vec::new();
    if map.is_null() {
        return all;
    }
    let is_of = |layout: &&Layout| jni.is_instance(map, jni.find_class(layout.map));
    let Some(layout) = LAYOUTS.iter().find(is_of) else {
        return all;
    };
    let object = c"Ljava/lang/Object;";
    let table = field_of(jni, layout.map, c"table", layout.table);
    let table = field(jni, map, table);
    let key = field_of(jni, layout.node, c"key", object);
    let value = field_of(jni, layout.node, layout.value, object);
    let next = field_of(jni, layout.node, c"next", layout.next);
    // A bin with many keys is a tree with a list beside it.
    let tree = c"java/util/concurrent/ConcurrentHashMap$TreeBin";
    let first = c"Ljava/util/concurrent/ConcurrentHashMap$TreeNode;";
    let (first, tree) = (field_of(jni, tree, c"first", first), jni.find_class(tree));
    for at in 0..len(jni, table) {
        let mut node = jni.element_in(table, at);
        if !node.is_null() && jni.is_instance(node, tree) {
            node = field(jni, node, first);
        }
        while !node.is_null() {
            let own = (field(jni, node, key), field(jni, node, value));
            if !own.0.is_null() && !own.1.is_null() {
                all.push(own);
            }
            node = field(jni, node, next);
        }
    }
    all
}
