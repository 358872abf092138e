//! Compares the values of static fields before and after test classes.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::agent::{Agent, lock};
use crate::cells::Cells;
use crate::ffi::{FieldId, Jni, Object};
use crate::reach::{Kinds, NOTHING, Reached, Round};

/// What is known of the static fields of classes.
#[derive(Default)]
pub struct Statics {
    /// The classes of the project by name (with slashes).
    classes: HashMap<String, Vec<Class>>,
    /// By name: the objects behind the static fields at the last look.
    values: HashMap<String, Reached>,
    pub kinds: Kinds,
    pub cells: Cells,
}

unsafe impl Send for Statics {}

struct Class {
    /// A weak reference to the class.
    weak: Object,
    /// Its static fields that can change, each with the first letter of its type, once they
    /// were listed.
    fields: Option<Fields>,
}

type Fields = Rc<[(FieldId, u8)]>;

impl Statics {
    pub fn prepared(&mut self, name: &str, weak: Object) {
        let class = Class { weak, fields: None };
        self.classes.entry(name.to_owned()).or_default().push(class);
    }
}

/// Notes the static fields of a class at the end of its static initialiser.
pub unsafe fn initialised(agent: &Agent, jni: Jni, name: &str) {
    let mut statics = lock(&agent.statics);
    let Statics {
        classes,
        values,
        kinds,
        ..
    } = &mut *statics;
    let Some(own) = classes.get_mut(name).filter(|_| jni.push_frame()) else {
        return;
    };
    let mut round = Round::new(agent, jni, kinds);
    let value = value_of(agent, &mut round, own, true);
    jni.pop_frame();
    values.insert(name.to_owned(), value);
}

/// The classes in `used` (each with whether it has a static initialiser) whose static fields
/// changed since the last look, and other classes that lead to objects which changed with
/// them.
pub unsafe fn changed(
    agent: &Agent,
    jni: Jni,
    statics: &mut Statics,
    used: Vec<(String, bool)>,
) -> Vec<String> {
    let Statics {
        classes,
        values,
        kinds,
        ..
    } = statics;
    let mut changed = Vec::new();
    if !jni.push_frame() {
        return used.into_iter().map(|(name, _)| name).collect();
    }
    let mut round = Round::new(agent, jni, kinds);
    let mut touched: HashSet<u32> = HashSet::new();
    for (name, has_initialiser) in &used {
        let Some(own) = classes.get_mut(name) else {
            continue;
        };
        let value = value_of(agent, &mut round, own, false);
        let known = values.get(name);
        let is_same = match known {
            // Without an initialiser all fields began as zero.
            None => !has_initialiser && value.digest == Some(NOTHING),
            Some(known) => value.digest.is_some() && value.digest == known.digest,
        };
        if !is_same {
            touched.extend(differing(
                known.map_or(&[], |known| &known.objects),
                &value.objects,
            ));
            changed.push(name.clone());
        }
        values.insert(name.clone(), value);
    }
    let mut others: Vec<String> = Vec::new();
    if !touched.is_empty() {
        let used: HashSet<&String> = used.iter().map(|(name, _)| name).collect();
        let leads_there =
            |value: &Reached| value.objects.iter().any(|(one, _)| touched.contains(one));
        let names = values
            .iter()
            .filter(|(name, value)| !used.contains(name) && leads_there(value));
        others.extend(names.map(|(name, _)| name.clone()));
        others.sort_unstable();
    }
    for name in others {
        if let Some(own) = classes.get_mut(&name) {
            let value = value_of(agent, &mut round, own, false);
            if value.digest.is_none() || Some(&value) != values.get(&name) {
                changed.push(name.clone());
            }
            values.insert(name, value);
        }
    }
    jni.pop_frame();
    changed
}

/// The objects that are only in one list, or have different content. Both lists are sorted.
fn differing(before: &[(u32, u32)], after: &[(u32, u32)]) -> Vec<u32> {
    let only = |these: &[(u32, u32)], those: &[(u32, u32)]| -> Vec<u32> {
        let own = these.iter().filter(|one| those.binary_search(one).is_err());
        own.map(|(object, _)| *object).collect()
    };
    [only(before, after), only(after, before)].concat()
}

unsafe fn value_of(
    agent: &Agent,
    round: &mut Round<'_>,
    own: &mut [Class],
    is_initialising: bool,
) -> Reached {
    let jni = round.jni;
    let mut roots: Vec<(Object, Fields)> = Vec::new();
    for class in own {
        let object = jni.local(class.weak);
        if object.is_null() || !(is_initialising || agent.jvmti.is_initialised(object)) {
            jni.drop_local(object);
            continue;
        }
        let fields = class.fields.get_or_insert_with(|| {
            let all = agent.jvmti.fields(object).into_iter();
            // A constant never changes.
            let can_change = all
                .filter(|field| field.is_static() && (field.is_reference() || !field.is_final()));
            can_change.map(|field| (field.id, field.kind)).collect()
        });
        roots.push((object, fields.clone()));
    }
    let reached = round.walk(false, |look| {
        for (class, fields) in &roots {
            for (field, kind) in fields.iter() {
                look.field(*class, *field, *kind, true);
            }
        }
    });
    for (class, _) in roots {
        jni.drop_local(class);
    }
    // Without room for references nothing is known.
    reached.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::differing;

    #[test]
    fn objects_that_come_go_and_change_differ() {
        let before = [(1, 10), (2, 20), (3, 30)];
        let after = [(1, 10), (2, 21), (4, 40)];
        assert_eq!(differing(&before, &after), [2, 3, 2, 4]);
        assert_eq!(differing(&after, &after), [0; 0]);
    }
}
