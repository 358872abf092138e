//! Values that the JDK keeps for an object elsewhere: the values of a thread-local variable in
//! threads, and those of a `ClassValue` in classes.

use std::ffi::CStr;

use super::ByIdentity;
use crate::ffi::{FieldId, Jni, Jvmti, Object};

/// By the identity of the object: the object, the owner of the value, and the value.
#[derive(Default)]
pub struct Beside(ByIdentity<Vec<(Object, u64, Object)>>);

impl Beside {
    /// The thread-local values of all living threads.
    pub unsafe fn of_threads(jvmti: Jvmti, jni: Jni) -> Beside {
        let mut all = Beside::default();
        let map = c"Ljava/lang/ThreadLocal$ThreadLocalMap;";
        let table = c"[Ljava/lang/ThreadLocal$ThreadLocalMap$Entry;";
        let object = c"Ljava/lang/Object;";
        let maps = [c"threadLocals", c"inheritableThreadLocals"];
        let maps = maps.map(|name| field_of(jni, c"java/lang/Thread", name, map));
        let table = field_of(
            jni,
            c"java/lang/ThreadLocal$ThreadLocalMap",
            c"table",
            table,
        );
        let entry = c"java/lang/ThreadLocal$ThreadLocalMap$Entry";
        let value = field_of(jni, entry, c"value", object);
        let referent = field_of(jni, c"java/lang/ref/Reference", c"referent", object);
        for thread in jvmti.threads() {
            let whose = jvmti.identity(thread);
            for map in maps {
                let map = field(jni, thread, map);
                let table = field(jni, map, table);
                for at in 0..len(jni, table) {
                    let entry = jni.element_in(table, at);
                    let key = field(jni, entry, referent);
                    all.add(jvmti, key, whose, field(jni, entry, value));
                    jni.drop_local(entry);
                }
                jni.drop_local(table);
                jni.drop_local(map);
            }
            jni.drop_local(thread);
        }
        all
    }

    /// The class values of all classes.
    pub unsafe fn of_classes(jvmti: Jvmti, jni: Jni) -> Beside {
        let mut all = Beside::default();
        let object = c"Ljava/lang/Object;";
        let (entry, map) = (c"java/util/WeakHashMap$Entry", c"java/util/WeakHashMap");
        let of = c"Ljava/lang/ClassValue$ClassValueMap;";
        let of = field_of(jni, c"java/lang/Class", c"classValueMap", of);
        let table = c"[Ljava/util/WeakHashMap$Entry;";
        let table = field_of(jni, map, c"table", table);
        let next = field_of(jni, entry, c"next", c"Ljava/util/WeakHashMap$Entry;");
        let entry_value = field_of(jni, entry, c"value", object);
        let value = field_of(jni, c"java/lang/ClassValue$Entry", c"value", object);
        let referent = field_of(jni, c"java/lang/ref/Reference", c"referent", object);
        for class in jvmti.loaded_classes() {
            let map = field(jni, class, of);
            if !map.is_null() {
                let whose = jvmti.identity(class);
                let table = field(jni, map, table);
                for at in 0..len(jni, table) {
                    let mut entry = jni.element_in(table, at);
                    while !entry.is_null() {
                        let key = field(jni, entry, referent);
                        let kept = field(jni, entry, entry_value);
                        all.add(jvmti, key, whose, field(jni, kept, value));
                        let after = field(jni, entry, next);
                        jni.drop_local(kept);
                        jni.drop_local(entry);
                        entry = after;
                    }
                }
                jni.drop_local(table);
                jni.drop_local(map);
            }
            jni.drop_local(class);
        }
        all
    }

    unsafe fn add(&mut self, jvmti: Jvmti, key: Object, whose: u64, value: Object) {
        if !key.is_null() {
            let known = self.0.entry(jvmti.identity(key)).or_default();
            known.push((key, whose, value));
        }
    }

    /// Removes entries; `keep` gets the object and the value.
    pub fn retain(&mut self, mut keep: impl FnMut(Object, Object) -> bool) {
        for kept in self.0.values_mut() {
            kept.retain(|(key, _, value)| keep(*key, *value));
        }
    }

    /// The values for an object, each with its owner.
    pub unsafe fn of(&self, jvmti: Jvmti, jni: Jni, object: Object) -> Vec<(u64, Object)> {
        let kept = self.0.get(&jvmti.identity(object)).into_iter().flatten();
        let own = kept.filter(|(key, ..)| jni.is_same(*key, object));
        own.map(|(_, whose, value)| (*whose, *value)).collect()
    }

    /// The same for a `ClassValue`, for which classes use another object as key.
    pub unsafe fn of_class_value(
        &self,
        jvmti: Jvmti,
        jni: Jni,
        object: Object,
    ) -> Vec<(u64, Object)> {
        let identity = c"Ljava/lang/ClassValue$Identity;";
        let identity = field_of(jni, c"java/lang/ClassValue", c"identity", identity);
        let key = field(jni, object, identity);
        let kept = self.of(jvmti, jni, key);
        jni.drop_local(key);
        kept
    }
}

/// A field of a class of the JDK, or null.
pub unsafe fn field_of(jni: Jni, class: &CStr, name: &CStr, kind: &CStr) -> FieldId {
    let class = jni.find_class(class);
    match class.is_null() {
        true => class,
        false => jni.field(class, name, kind),
    }
}

/// The object in a field, if both exist.
pub unsafe fn field(jni: Jni, object: Object, field: FieldId) -> Object {
    match object.is_null() || field.is_null() {
        true => std::ptr::null_mut(),
        false => jni.object_field(object, field),
    }
}

pub unsafe fn len(jni: Jni, array: Object) -> i32 {
    match array.is_null() {
        true => 0,
        false => jni.array_len(array),
    }
}
