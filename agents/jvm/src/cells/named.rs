//! What the JDK keeps by name: bundles of resources that were read, managed beans.

use std::thread;

use crate::agent::{Agent, lock};
use crate::ffi::{Jni, Object};
use crate::natives::once;
use crate::reach::{field, field_of};
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
        let is_of_jdk = |own: &&str| name.starts_with(&format!("{BEAN}{own}"));
        if of_jdk.iter().any(|own| is_of_jdk(&own)) {
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
