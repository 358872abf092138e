//! The values of static fields, compared before and after test classes.

use std::collections::HashMap;

use crate::agent::{Agent, lock};
use crate::ffi::{Jni, Object, c};
use crate::state::StaticField;

/// Weak references to the classes of the project, and the last known values of
/// their static fields: the bits, or for objects who they are.
#[derive(Default)]
pub struct Statics {
    classes: HashMap<String, Vec<Object>>,
    values: HashMap<StaticField, u64>,
}

unsafe impl Send for Statics {}

impl Statics {
    pub fn prepared(&mut self, name: &str, class: Object) {
        self.classes.entry(name.to_owned()).or_default().push(class);
    }

    fn classes(&self, name: &str) -> &[Object] {
        self.classes.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Those of `fields` that have another value than when they were last compared
/// (at first: than those without a value have), by their class names.
pub unsafe fn changed(
    agent: &Agent,
    jni: Jni,
    fields: Vec<(StaticField, String)>,
) -> Vec<StaticField> {
    let mut statics = lock(&agent.statics);
    let mut changed = Vec::new();
    for (field, owner) in fields {
        let mut value = 0u64;
        for class in statics.classes(&owner) {
            if !jni.push_frame() {
                continue;
            }
            value = value.rotate_left(7) ^ value_of(agent, jni, *class, &field);
            jni.pop_frame();
        }
        if statics.values.insert(field.clone(), value).unwrap_or(0) != value {
            changed.push(field);
        }
    }
    changed
}

unsafe fn value_of(agent: &Agent, jni: Jni, weak: Object, field: &StaticField) -> u64 {
    let class = jni.local(weak);
    if class.is_null() || !agent.jvmti.is_initialised(class) {
        return 0;
    }
    let id = jni.static_field(class, &c(&field.name), &c(&field.kind));
    if id.is_null() {
        return 0;
    }
    match field.kind.as_bytes().first() {
        Some(b'L' | b'[') => agent.jvmti.identity(jni.static_object(class, id)),
        Some(kind) => jni.static_bits(class, id, *kind),
        None => 0,
    }
}
