//! State that a process has once and that test classes leave to later ones: the default locale
//! and time zone, system properties, system streams, loggers, security providers.
//!
//! Methods that set such state have a hook, which runs before they do. When the test class
//! ends, the state is compared with the one before. A value that was restored is no change.

use std::collections::{BTreeSet, HashMap};

use crate::agent::{Agent, lock};
use crate::ffi::{Jni, Object};
use crate::natives::once;
use crate::reach::{Round, field, field_of, mixed};
use crate::state::State;
use crate::state::cells::{EVERYONE, LOCALE, LOGGING, PROPERTIES, ZONE};
use crate::statics::Statics;

mod kept;
mod maps;
pub mod marks;
mod named;

use maps::entries;

/// What is known of the cells.
#[derive(Default)]
pub struct Cells {
    /// The value before the present test class first set the cell.
    before: HashMap<u32, u64>,
    /// The system properties; known once somebody may set them without a hook.
    properties: Option<Properties>,
}

struct Properties {
    /// Of the identities of keys and values.
    digest: u64,
    texts: HashMap<String, String>,
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_localeSet(jni: Jni, _: Object) {
    will_be_set(jni, LOCALE);
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_zoneSet(jni: Jni, _: Object) {
    will_be_set(jni, ZONE);
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_loggingSet(jni: Jni, _: Object) {
    will_be_set(jni, LOGGING);
}

/// Called before a system stream, a global handler or factory, or a security provider is set.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_everyoneSet(jni: Jni, _: Object) {
    will_be_set(jni, EVERYONE);
}

/// Called before all system properties are read or set at once.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_allProperties(jni: Jni, _: Object) {
    once(jni, |agent| {
        {
            let mut state = lock(&agent.state);
            if !state.has_tests() {
                return;
            }
            state.asked_cell(PROPERTIES);
        }
        properties_will_be_set(agent, jni);
    });
}

unsafe fn will_be_set(jni: Jni, cell: u32) {
    once(jni, |agent| {
        if !lock(&agent.state).has_tests() {
            return;
        }
        let mut statics = lock(&agent.statics);
        if !statics.cells.before.contains_key(&cell) {
            let value = value_of(agent, jni, &mut statics, cell);
            statics.cells.before.insert(cell, value);
        }
    });
}

/// Notes all properties, if that was not done yet.
pub unsafe fn properties_will_be_set(agent: &Agent, jni: Jni) {
    let mut statics = lock(&agent.statics);
    if statics.cells.properties.is_none() && jni.push_frame() {
        let all = all_properties(jni);
        let digest = digest_of(agent, &all);
        let texts = texts_of(agent, jni, &all);
        statics.cells.properties = Some(Properties { digest, texts });
        jni.pop_frame();
    }
}

/// The cells that a test class changed, by the names that they have as classes. Each changed
/// property is also noted in the state by name.
pub unsafe fn changed(agent: &Agent, jni: Jni, statics: &mut Statics) -> Vec<String> {
    let mut changed: BTreeSet<u32> = BTreeSet::new();
    for (cell, before) in std::mem::take(&mut statics.cells.before) {
        let now = value_of(agent, jni, statics, cell);
        if now != before {
            changed.insert(cell);
        }
    }
    for name in changed_properties(agent, jni, &mut statics.cells) {
        lock(&agent.state).set_by_name(&name);
        changed.insert(PROPERTIES);
    }
    changed.into_iter().map(State::cell_name).collect()
}

unsafe fn changed_properties(agent: &Agent, jni: Jni, cells: &mut Cells) -> Vec<String> {
    let Some(known) = cells.properties.as_mut().filter(|_| jni.push_frame()) else {
        return Vec::new();
    };
    let mut changed = Vec::new();
    let all = all_properties(jni);
    let digest = digest_of(agent, &all);
    if digest != known.digest {
        let texts = texts_of(agent, jni, &all);
        let names = known.texts.keys().chain(texts.keys());
        let differs = |name: &&String| known.texts.get(*name) != texts.get(*name);
        let is_zone = |name: &&String| {
            let before = known.texts.get(*name).map_or("", String::as_str);
            *name == "user.timezone" && before.is_empty()
        };
        // The JDK itself stores the detected time zone there.
        let all = names.filter(|name| differs(name) && !is_zone(name));
        changed.extend(all.cloned());
        *known = Properties { digest, texts };
    }
    jni.pop_frame();
    changed
}

unsafe fn all_properties(jni: Jni) -> Vec<(Object, Object)> {
    let system = jni.find_class(c"java/lang/System");
    let kind = c"Ljava/util/Properties;";
    let properties = match system.is_null() {
        true => return Vec::new(),
        false => jni.static_field(system, c"props", kind),
    };
    if properties.is_null() {
        return Vec::new();
    }
    let properties = jni.static_object(system, properties);
    let map = c"Ljava/util/concurrent/ConcurrentHashMap;";
    let map = field_of(jni, c"java/util/Properties", c"map", map);
    match map.is_null() {
        // Up to Java 8 it is a table itself.
        true => entries(jni, properties),
        false => entries(jni, field(jni, properties, map)),
    }
}

unsafe fn digest_of(agent: &Agent, all: &[(Object, Object)]) -> u64 {
    let identity = |object: &Object| agent.jvmti.identity(*object);
    let each = all
        .iter()
        .map(|(name, value)| mixed(identity(name), identity(value)));
    each.fold(all.len() as u64, u64::wrapping_add)
}

/// Values that are not texts count by identity.
unsafe fn texts_of(agent: &Agent, jni: Jni, all: &[(Object, Object)]) -> HashMap<String, String> {
    let Some(java) = agent.java.get() else {
        return HashMap::new();
    };
    let text = |object: Object| match jni.is_instance(object, java.string) {
        true => jni.text(object).unwrap_or_default(),
        false => agent.jvmti.identity(object).to_string(),
    };
    let texts = all.iter().map(|(name, value)| (text(*name), text(*value)));
    texts.collect()
}

/// A digest of the value of a cell.
unsafe fn value_of(agent: &Agent, jni: Jni, statics: &mut Statics, cell: u32) -> u64 {
    if !jni.push_frame() {
        return 0;
    }
    let mut round = Round::new(agent, jni, &mut statics.kinds);
    let value = match cell {
        LOCALE => kept::locale(agent, jni),
        ZONE => kept::zone(agent, &mut round),
        LOGGING => kept::logging(agent, &mut round),
        _ => kept::for_everyone(agent, &mut round),
    };
    jni.pop_frame();
    value
}

/// The name for all preferences, of users and of the system.
const PREFERENCES: &str = "*preferences";

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_preferencesSet(jni: Jni, _: Object) {
    once(jni, |agent| lock(&agent.state).set_by_name(PREFERENCES));
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_preferencesAsked(jni: Jni, _: Object) {
    once(jni, |agent| lock(&agent.state).got_by_name(PREFERENCES));
}
