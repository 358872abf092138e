//! The discovery of tests: what engines tell about it, and which classes are inspected
//! meanwhile.

use std::cell::RefCell;
use std::collections::HashMap;
use std::thread;

use crate::agent::{Agent, lock};
use crate::ffi::{Jni, Object, class_named};
use crate::natives::{note_changes, once, test_class, unique_id};
use crate::state::{PRELUDE, Step, Use};

thread_local! {
    /// For each method ID of the JVM, whether the method belongs to the project.
    static METHODS: RefCell<HashMap<usize, bool>> = RefCell::default();
}

/// Called when an engine of the JUnit Platform begins to look for tests.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_discovers(jni: Jni, _: Object) {
    once(jni, |agent| {
        lock(&agent.state).discovers(thread::current().id());
    });
}

/// Called when it has found all its tests.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_discovered(jni: Jni, _: Object) {
    once(jni, |agent| {
        end(agent, jni);
        lock(&agent.state).discovered();
    });
}

/// Called when it moves on to something else.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_discoversNext(jni: Jni, _: Object) {
    once(jni, |agent| end(agent, jni));
}

/// Called when JUnit 4's engine begins, alone or within a suite. It only announces classes.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_discoversAll(jni: Jni, _: Object, id: Object) {
    once(jni, |agent| {
        let Some(id) = text_of(agent, jni, id) else {
            return;
        };
        let class = test_class(&id).map(|(class, _)| class);
        lock(&agent.state).discovers_for(class);
    });
}

/// Called when it comes to a class, before it chooses the runner for it.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_discoversClass(
    jni: Jni,
    _: Object,
    class: Object,
) {
    once(jni, |agent| {
        end(agent, jni);
        let Some(signature) = agent.jvmti.signature(class) else {
            return;
        };
        let class = class_named(&signature).replace('/', ".");
        let mut state = lock(&agent.state);
        if let Some(test) = state.discovered_for(&class) {
            state.begin_prelude(&test, Step::Resolving);
        }
    });
}

/// Called when an engine continues with a test, or a class of tests, that it has found.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_discoversTest(
    jni: Jni,
    _: Object,
    descriptor: Object,
) {
    once(jni, |agent| {
        end(agent, jni);
        let id = unique_id(agent, jni, descriptor);
        let is_jupiter = id
            .as_deref()
            .is_some_and(|id| id.contains("[engine:junit-jupiter]"));
        let step = match is_jupiter {
            true => Step::Ordering,
            false => Step::Resolving,
        };
        begin(agent, id.as_deref(), step);
    });
}

/// Called before Jupiter computes the display name of a test.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_describes(jni: Jni, _: Object, id: Object) {
    once(jni, |agent| {
        end(agent, jni);
        let id = text_of(agent, jni, id);
        begin(agent, id.as_deref(), Step::Describing);
    });
}

/// Called when the display name is known.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_described(jni: Jni, _: Object) {
    once(jni, |agent| {
        let has_description = lock(&agent.state).has_description();
        if has_description {
            end(agent, jni);
        }
    });
}

unsafe fn text_of(agent: &Agent, jni: Jni, object: Object) -> Option<String> {
    let java = agent.java.get().filter(|_| !object.is_null())?;
    jni.text(jni.call(object, java.to_string))
}

fn begin(agent: &Agent, id: Option<&str>, step: Step) {
    if let Some((class, _)) = id.and_then(test_class) {
        let mut state = lock(&agent.state);
        state.found_tests(class);
        state.begin_prelude(class, step);
    }
}

/// Ends the work for a test class, if there is any.
unsafe fn end(agent: &Agent, jni: Jni) {
    let has_run = {
        let mut state = lock(&agent.state);
        // Code that ran until now must not be charged to the next class.
        agent.drain(jni, &mut state);
        if !state.has_prelude() {
            return;
        }
        state.has_run_before()
    };
    if has_run {
        note_changes(agent, jni, PRELUDE);
    }
    lock(&agent.state).end_prelude();
}

/// Notes that a class was named, asked for or inspected.
pub unsafe fn used(agent: &Agent, jni: Jni, name: &str, how: Use) {
    let has_run = {
        let mut state = lock(&agent.state);
        let Some(_) = state.looks_around() else {
            if how != Use::LookedAt || !state.is_another_ones_turn(name) {
                state.used(name, how);
            }
            return;
        };
        agent.drain(jni, &mut state);
        state.looks_around()
    };
    // Each test class gets what frameworks inspect when it begins. But inspections that the
    // project's code requests count now.
    if has_run == Some(true) && is_by_project(agent, jni) {
        let mut state = lock(&agent.state);
        if how != Use::LookedAt || !state.has_found_tests(name) {
            state.used(name, how);
        }
    }
}

/// Whether code of the project is on the stack of this thread.
unsafe fn is_by_project(agent: &Agent, jni: Jni) -> bool {
    let Some(methods) = agent.jvmti.methods_on_stack() else {
        return true;
    };
    let mut methods = methods.into_iter();
    METHODS.with_borrow_mut(|known| {
        methods.any(|method| {
            *known.entry(method as usize).or_insert_with(|| {
                let class = agent.jvmti.class_of_method(jni, method);
                class.is_none_or(|class| lock(&agent.state).is_from_directory(class_named(&class)))
            })
        })
    })
}
