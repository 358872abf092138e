//! Objects that frameworks keep for later test classes: stores of JUnit 5, Spring's contexts.
//!
//! A test that finds such an object depends on everything that the test class used that made
//! it, or on the code that ran while it was made.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::agent::{Agent, lock};
use crate::ffi::{FieldId, Jni, Object};
use crate::natives::once;
use crate::state::State;

/// The known entries in stores of JUnit 5.
static KEPT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Which of two types the fields of a store had last time.
static VALUES: AtomicUsize = AtomicUsize::new(0);
static NAMESPACE: AtomicUsize = AtomicUsize::new(0);

/// The names of a key in a store, and in the parent stores that are searched, too.
struct Places {
    own: String,
    all: Vec<String>,
}

/// Called when a store is asked for a key.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_storeAsked(
    jni: Jni,
    _: Object,
    store: Object,
    key: Object,
) {
    about_store(jni, store, key, |_, _| {});
}

/// Called when a store is asked for a key and makes a missing value.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_storeFilled(
    jni: Jni,
    _: Object,
    store: Object,
    key: Object,
) {
    about_store(jni, store, key, |agent, places| {
        let is_new = {
            let mut kept = lock(&KEPT);
            let is_new = !places.all.iter().any(|place| kept.contains(place));
            kept.insert(places.own.clone());
            is_new
        };
        if is_new {
            lock(&agent.state).set_by_name(&places.own);
        }
    });
}

/// Called when a value is put into a store or removed.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_storeChanged(
    jni: Jni,
    _: Object,
    store: Object,
    key: Object,
) {
    about_store(jni, store, key, |agent, places| {
        lock(&agent.state).set_by_name(&places.own);
        lock(&KEPT).remove(&places.own);
    });
}

/// Notes that the running code finds existing values; `then` handles the rest of the call.
unsafe fn about_store(jni: Jni, store: Object, key: Object, then: impl FnOnce(&Agent, &Places)) {
    once(jni, |agent| {
        let Some(places) = places(agent, jni, store, key) else {
            return;
        };
        {
            let mut state = lock(&agent.state);
            agent.drain(jni, &mut state);
            for place in &places.all {
                state.got_by_name(place);
            }
        }
        then(agent, &places);
    });
}

/// `None` for JUnit's own entries.
unsafe fn places(agent: &Agent, jni: Jni, store: Object, key: Object) -> Option<Places> {
    let class = jni.class_of(store);
    let any_of = |kinds: &[&CStr; 2], name, first: &AtomicUsize| {
        let field = one_of(jni, class, name, kinds, first)?;
        Some(jni.object_field(store, field))
    };
    // Up to 5.9, and from 5.10 on.
    let values = [
        c"Lorg/junit/jupiter/engine/execution/ExtensionValuesStore;",
        c"Lorg/junit/platform/engine/support/store/NamespacedHierarchicalStore;",
    ];
    // Up to 5.12, and from 5.13 on.
    let namespaces = [
        c"Lorg/junit/jupiter/api/extension/ExtensionContext$Namespace;",
        c"Lorg/junit/platform/engine/support/store/Namespace;",
    ];
    let (Some(mut level), Some(namespace)) = (
        any_of(&values, c"valuesStore", &VALUES),
        any_of(&namespaces, c"namespace", &NAMESPACE),
    ) else {
        agent.mistrust("the content of this JUnit's stores is not known");
        return None;
    };
    let field = jni.field(jni.class_of(namespace), c"parts", c"Ljava/util/List;");
    let mut called = String::new();
    if !field.is_null() {
        let parts = jni.object_field(namespace, field);
        let parts = jni.call_named(parts, c"toArray", c"()[Ljava/lang/Object;");
        let count = match parts.is_null() {
            true => 0,
            false => jni.array_len(parts),
        };
        for at in 0..count {
            let part = name_of(agent, jni, jni.element(parts, at));
            if at == 0 && part.starts_with("Lorg/junit/") {
                return None;
            }
            called = format!("{called} {part}");
        }
    }
    called = format!("{called} {}", name_of(agent, jni, key));
    let mut all = Vec::new();
    while !level.is_null() {
        all.push(format!("JUnit {}{called}", agent.jvmti.identity(level)));
        let class = jni.class_of(level);
        let Some(field) = one_of(jni, class, c"parentStore", &values, &VALUES) else {
            break;
        };
        level = jni.object_field(level, field);
    }
    let own = all.first()?.clone();
    Some(Places { own, all })
}

/// The field of this name with one of two types. `first` is the type found last time, since a
/// search for a missing field is slow.
unsafe fn one_of(
    jni: Jni,
    class: Object,
    name: &CStr,
    kinds: &[&CStr; 2],
    first: &AtomicUsize,
) -> Option<FieldId> {
    let at = first.load(Ordering::Relaxed);
    for at in [at, 1 - at] {
        let field = jni.field(class, name, kinds[at]);
        if !field.is_null() {
            first.store(at, Ordering::Relaxed);
            return Some(field);
        }
    }
    None
}

/// Texts and classes are named; other objects only by their class, because their methods must
/// not run.
unsafe fn name_of(agent: &Agent, jni: Jni, object: Object) -> String {
    let Some(java) = agent.java.get().filter(|_| !object.is_null()) else {
        return String::new();
    };
    if jni.is_instance(object, java.string) {
        return jni.text(object).unwrap_or_default();
    }
    let class = match jni.is_instance(object, java.class) {
        true => object,
        false => jni.class_of(object),
    };
    agent.jvmti.signature(class).unwrap_or_default()
}

/// Called when Spring looks for a cached context.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_contextAsked(
    jni: Jni,
    _: Object,
    configuration: Object,
) {
    about_context(jni, configuration, |state, name| state.got_by_name(name));
}

/// Called when Spring makes a context for all test classes with this configuration.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_contextMaking(
    jni: Jni,
    _: Object,
    configuration: Object,
) {
    about_context(jni, configuration, |state, name| {
        state.making(name, thread::current().id());
    });
}

/// Called when the context is made.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_contextMade(
    jni: Jni,
    _: Object,
    configuration: Object,
) {
    about_context(jni, configuration, |state, name| {
        state.made(name, thread::current().id());
    });
}

unsafe fn about_context(jni: Jni, configuration: Object, tell: impl FnOnce(&mut State, &str)) {
    once(jni, |agent| {
        // Equal configurations share a context.
        let name = format!("Spring {}", jni.hash_of(configuration));
        let mut state = lock(&agent.state);
        agent.drain(jni, &mut state);
        tell(&mut state, &name);
    });
}
