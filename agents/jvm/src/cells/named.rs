//! State that the JDK keeps by name: loaded resource bundles and managed beans. Also the first
//! values of thread-local variables.

use std::cell::Cell;
use std::thread;

use crate::agent::{Agent, lock};
use crate::ffi::{Jni, Object};
use crate::natives::once;
use crate::reach::{Round, field, field_of};
use crate::state::State;

/// The name for all beans.
const BEANS: &str = "*beans";

/// The prefix of the name of one bean.
const BEAN: &str = "*bean ";

/// Called when the JDK looks for a bundle in its cache.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_bundleAsked(jni: Jni, _: Object, key: Object) {
    about_bundle(jni, key, |state, name| state.got_by_name(name));
}

/// Called when a bundle is not in the cache, before it is loaded.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_bundleMaking(jni: Jni, _: Object, key: Object) {
    about_bundle(jni, key, |state, name| {
        state.making(name, thread::current().id());
    });
}

/// Called when a bundle was loaded.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_bundleMade(jni: Jni, _: Object, key: Object) {
    about_bundle(jni, key, |state, name| {
        state.made(name, thread::current().id());
    });
}

unsafe fn about_bundle(jni: Jni, key: Object, tell: impl FnOnce(&mut State, &str)) {
    once(jni, |agent| {
        let name = c"java/util/ResourceBundle$CacheKey";
        let name = field_of(jni, name, c"name", c"Ljava/lang/String;");
        let name = jni.text(field(jni, key, name)).unwrap_or_default();
        // Bundles of the JDK itself.
        if ["sun.", "com.sun.", "jdk."]
            .iter()
            .any(|own| name.starts_with(own))
        {
            return;
        }
        let mut state = lock(&agent.state);
        agent.drain(jni, &mut state);
        tell(&mut state, &format!("*bundle {name}"));
    });
}

/// Called when a bean is registered or removed.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_beanSet(jni: Jni, _: Object, name: Object) {
    once(jni, |agent| {
        let name = name_of(agent, jni, name);
        // The JDK registers its own beans on first use.
        let of_jdk = ["JMImplementation:", "java.", "jdk.", "com.sun.management:"];
        let own = name.strip_prefix(BEAN).unwrap_or(&name);
        if of_jdk.iter().any(|domain| own.starts_with(domain)) {
            return;
        }
        let mut state = lock(&agent.state);
        state.set_by_name(BEANS);
        state.got_by_name(&name);
        state.set_by_name(&name);
    });
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_beanAsked(jni: Jni, _: Object, name: Object) {
    once(jni, |agent| {
        let name = name_of(agent, jni, name);
        lock(&agent.state).got_by_name(&name);
    });
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_beansAsked(jni: Jni, _: Object) {
    once(jni, |agent| lock(&agent.state).got_by_name(BEANS));
}

/// The name of a bean, from the fields of its `ObjectName`.
unsafe fn name_of(agent: &Agent, jni: Jni, name: Object) -> String {
    let text = c"_canonicalName";
    let text = field_of(
        jni,
        c"javax/management/ObjectName",
        text,
        c"Ljava/lang/String;",
    );
    match jni.text(field(jni, name, text)) {
        Some(text) => format!("{BEAN}{text}"),
        None => format!("{BEAN}{}", agent.jvmti.identity(name)),
    }
}

thread_local! {
    /// The thread-local variable whose first value this thread is computing, with the number
    /// of probe hits before.
    static MAKING: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
}

/// Called when a thread has no value of a thread-local variable yet, before it computes one.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_localMaking(
    jni: Jni,
    _: Object,
    local: Object,
) {
    once(jni, |agent| {
        let mut state = lock(&agent.state);
        agent.drain(jni, &mut state);
        MAKING.set(Some((agent.jvmti.identity(local), state.hits())));
    });
}

/// Called when a thread gets a value of a thread-local variable.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_localMade(
    jni: Jni,
    _: Object,
    local: Object,
    value: Object,
) {
    // Most values are set explicitly.
    if MAKING.get().is_none() {
        return;
    }
    once(jni, |agent| {
        let Some((identity, hits)) = MAKING.take() else {
            return;
        };
        if agent.jvmti.identity(local) != identity {
            return;
        }
        let is_by_jdk = {
            let mut state = lock(&agent.state);
            agent.drain(jni, &mut state);
            state.hits() == hits
        };
        let mut statics = lock(&agent.statics);
        if jni.push_frame() {
            let mut round = Round::new(agent, jni, &mut statics.kinds);
            round.made_first_value(local, value, is_by_jdk);
            jni.pop_frame();
        }
    });
}
