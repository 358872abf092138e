//! What the JDK keeps by name: bundles of resources that were read, managed beans; and
//! first values of thread-local variables.

use std::cell::Cell;
use std::thread;

use crate::agent::{Agent, lock};
use crate::ffi::{Jni, Object};
use crate::natives::once;
use crate::reach::{Round, field, field_of};
use crate::state::State;

/// All beans, whatever their names.
const BEANS: &str = "*beans";

/// One of them: what its name begins with here.
const BEAN: &str = "*bean ";

/// A bundle is looked for where those are that were read before.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_bundleAsked(jni: Jni, _: Object, key: Object) {
    about_bundle(jni, key, |state, name| state.got_by_name(name));
}

/// It is not there, and so it is read or made.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_bundleMaking(jni: Jni, _: Object, key: Object) {
    about_bundle(jni, key, |state, name| {
        state.making(name, thread::current().id());
    });
}

/// It is read.
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
        // The JDK's own.
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

/// A bean comes or goes.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_beanSet(jni: Jni, _: Object, name: Object) {
    once(jni, |agent| {
        let name = name_of(agent, jni, name);
        // Those that the JDK has of itself come when somebody asks for the first one.
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

/// How an `ObjectName` calls it, as it keeps that.
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
    /// The thread-local variable that this thread gets a first value of, with how often
    /// probes had been hit.
    static MAKING: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
}

/// A thread has no value of a thread-local variable, and so one is made.
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

/// A thread gets a value of a thread-local variable.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_localMade(
    jni: Jni,
    _: Object,
    local: Object,
    value: Object,
) {
    // Most are set by somebody.
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
