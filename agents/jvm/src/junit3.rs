//! JUnit 3 as run by Surefire's own provider, without JUnit 4: one class after another,
//! including classes that are not a `TestCase`. Surefire itself tells the outcomes.

use std::sync::Mutex;

use crate::agent::{guarded, lock};
use crate::ffi::{Jni, Object, class_named};
use crate::natives::{begin_test, end_test, once};

/// The test class that this provider is running.
static RUNNING: Mutex<Option<String>> = Mutex::new(None);

/// Called when a test class begins, with the class or, from 3.0.0-M5 on, with its holder. In
/// earlier versions it is called twice for a class that is not a `TestCase`, since its object
/// is made before it runs.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_setStarted(jni: Jni, _: Object, set: Object) {
    once(jni, |agent| {
        let kind = agent.jvmti.signature(jni.class_of(set));
        let name = match kind.as_deref() {
            Some("Ljava/lang/Class;") => agent
                .jvmti
                .signature(set)
                .map(|signature| class_named(&signature).replace('/', ".")),
            _ => jni.text(jni.call_named(set, c"getName", c"()Ljava/lang/String;")),
        };
        let Some(name) = name else {
            return agent.fail("Surefire did not say which test begins");
        };
        let before = lock(&RUNNING).replace(name.clone());
        if let Some(before) = before.filter(|before| *before != name) {
            // Its end was not announced.
            end_test(agent, jni, &before, "failed");
        }
        begin_test(agent, jni, &name);
    });
}

/// Called when something in the test class has failed.
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
