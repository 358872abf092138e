//! JUnit 3 as Surefire's own provider runs it, without JUnit 4: one class after the
//! other, those that are no `TestCase` among them. Surefire itself tells how it went.

use std::sync::Mutex;

use crate::agent::{guarded, lock};
use crate::ffi::{Jni, Object};
use crate::natives::{begin_test, end_test, once};

/// The test class that this provider runs.
static RUNNING: Mutex<Option<String>> = Mutex::new(None);

/// A test class begins: it is given, or from 3.0.0-M5 back what holds it. Up to there one
/// that is no `TestCase` is told of twice, as its object is made before it is run.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_setStarted(jni: Jni, _: Object, set: Object) {
    once(jni, |agent| {
        let kind = agent.jvmti.signature(jni.class_of(set));
        let name = match kind.as_deref() {
            Some("Ljava/lang/Class;") => agent.jvmti.signature(set).map(|signature| {
                let name = signature.trim_start_matches('L').trim_end_matches(';');
                name.replace('/', ".")
            }),
            _ => jni.text(jni.call_named(set, c"getName", c"()Ljava/lang/String;")),
        };
        let Some(name) = name else {
            return agent.fail("Surefire did not say which test begins");
        };
        let before = lock(&RUNNING).replace(name.clone());
        if let Some(before) = before.filter(|before| *before != name) {
            // Nobody told of its end.
            end_test(agent, jni, &before, "failed");
        }
        begin_test(agent, jni, &name);
    });
}

/// Something in the test class has failed.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_setBroke(_: Jni, _: Object, _: Object) {
    guarded(|agent| {
        if let Some(test) = lock(&RUNNING).as_deref() {
            lock(&agent.state).has_failed(Some(test));
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_setEnded(jni: Jni, _: Object, _: Object) {
    once(jni, |agent| {
        let ended = lock(&RUNNING).take();
        if let Some(test) = ended {
            end_test(agent, jni, &test, "passed");
        }
    });
}
