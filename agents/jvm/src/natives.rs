//! The native methods of the helper class, which probes and hooks call.

use std::cell::{Cell, RefCell};
use std::thread;

use crate::agent::{Agent, guarded, lock};
use crate::cells;
use crate::discovery;
use crate::ffi::{Jni, Object, class_named};
use crate::files::{self, Look, calls};
use crate::junit4;
use crate::lookups;
use crate::process;
use crate::state::{Kind, Use};
use crate::statics;

thread_local! {
    /// Whether this thread is inside the agent: the agent's own calls do not count.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
    /// The class (with slashes) that this thread last requested from a class loader, until it
    /// is loaded.
    static ASKED_FOR: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Notes that a class is loaded. Later reads of its file are not part of loading it.
pub fn loaded(name: &str) {
    ASKED_FOR.with_borrow_mut(|asked| {
        if asked == name {
            asked.clear();
        }
    });
}

/// Whether this class file is being read in order to load the class.
pub fn is_being_loaded(path: &str) -> bool {
    ASKED_FOR.with_borrow(|asked| {
        let rest = path
            .strip_suffix(".class")
            .and_then(|path| path.strip_suffix(asked.as_str()));
        !asked.is_empty() && rest.is_some_and(|rest| rest.ends_with('/'))
    })
}

/// Runs `work`, unless this thread is inside the agent or has a pending exception, during
/// which it may call nothing.
pub unsafe fn once(jni: Jni, work: impl FnOnce(&'static Agent)) {
    if IS_INSIDE.replace(true) {
        return;
    }
    if !jni.is_exception_pending() {
        guarded(work);
    }
    IS_INSIDE.set(false);
}

/// Runs `work`, unless this thread is inside the agent. `work` must not call Java.
pub fn inside(work: impl FnOnce(&'static Agent)) {
    if !IS_INSIDE.replace(true) {
        guarded(work);
        IS_INSIDE.set(false);
    }
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_enter(jni: Jni, _: Object, class: i32) {
    // Classes are also initialised while others are requested.
    guarded(|agent| {
        let mut state = lock(&agent.state);
        agent.drain(jni, &mut state);
        state.entered(class as u32, thread::current().id());
    });
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_leave(jni: Jni, _: Object, class: i32) {
    guarded(|agent| {
        let name = {
            let mut state = lock(&agent.state);
            agent.drain(jni, &mut state);
            state.left(class as u32, thread::current().id());
            state.class_name(class as u32)
        };
        statics::initialised(agent, jni, &name);
    });
}

/// The test class in a unique id of the JUnit Platform, and whether the id is that of the
/// class itself: `[engine:junit-jupiter]/[class:a.B]/[method:c()]` → (`a.B`, false).
pub fn test_class(id: &str) -> Option<(&str, bool)> {
    let mut rest = id;
    while let Some(at) = rest.find('[') {
        let segment = &rest[at + 1..];
        let (kind, value) = segment.split_once(':')?;
        let end = value.find(']')?;
        if ["class", "runner", "spec", "suite"].contains(&kind) {
            return Some((&value[..end], end + 1 == value.len()));
        }
        rest = &value[end + 1..];
    }
    None
}

/// The class of a suite of the JUnit Platform, if the unique id is that of a suite.
fn suite(id: &str) -> Option<&str> {
    let rest = id.strip_prefix("[engine:junit-platform-suite]/[suite:")?;
    rest.strip_suffix(']').filter(|class| !class.contains(']'))
}

/// For a unique id of JUnit 5 whose methods can be distinguished: the test class, the method
/// as a test, and whether the id is that of the method itself.
fn test_method(id: &str) -> Option<(&str, Option<(String, bool)>)> {
    let mut class = None;
    let mut name = String::new();
    let mut method: Option<(String, bool)> = None;
    for segment in id.split("]/[") {
        let segment = segment.trim_start_matches('[').trim_end_matches(']');
        let (kind, value) = segment.split_once(':')?;
        match kind {
            "engine" if value == "junit-jupiter" => {}
            "class" if class.is_none() => {
                class = Some(value);
                name.push_str(value);
            }
            "nested-class" => {
                name.push('$');
                name.push_str(value);
            }
            "method" | "test-template" | "test-factory" => {
                let called = value.split('(').next().unwrap_or(value);
                method = Some((format!("{name}#{called}"), true));
            }
            "test-template-invocation" | "dynamic-container" | "dynamic-test" => {
                method = Some((method?.0, false));
            }
            _ => return None,
        }
    }
    Some((class?, method))
}

/// The class of JUnit 4 in a unique id of the vintage engine, and whether the id is that of
/// the class itself.
fn vintage_class(id: &str) -> Option<(&str, bool)> {
    let rest = id.strip_prefix("[engine:junit-vintage]/[runner:")?;
    let (class, rest) = rest.split_once(']')?;
    Some((class, rest.is_empty()))
}

pub unsafe fn unique_id(agent: &Agent, jni: Jni, descriptor: Object) -> Option<String> {
    let java = agent.java.get()?;
    let kind = c"()Lorg/junit/platform/engine/UniqueId;";
    let id = jni.call_named(descriptor, c"getUniqueId", kind);
    jni.text(jni.call(id, java.to_string))
}

/// Begins a test class that is one test.
pub unsafe fn begin_test(agent: &Agent, jni: Jni, test: &str) {
    let mut state = lock(&agent.state);
    if !state.is_running(test) {
        agent.drain(jni, &mut state);
        state.begin(test, Some(test), thread::current().id());
    }
}

/// The same for a method, or for a class whose methods are tests.
unsafe fn begin_method(agent: &Agent, jni: Jni, class: &str, method: Option<&str>) {
    let mut state = lock(&agent.state);
    agent.drain(jni, &mut state);
    state.begin_container(class, Kind::Platform, thread::current().id());
    if let Some(test) = method.filter(|test| !state.is_running(test)) {
        state.begin(test, Some(class), thread::current().id());
    }
}

/// Ends a test class whose methods are tests. Code after the last method counts for all of
/// them, too.
pub unsafe fn end_class(agent: &Agent, jni: Jni, class: &str) {
    let tests = {
        let mut state = lock(&agent.state);
        agent.drain(jni, &mut state);
        if !state.has_parts(class) {
            // For example, an assumption of the class failed: that is its outcome.
            state.begin(class, Some(class), thread::current().id());
        }
        state.running_in(class)
    };
    for test in tests {
        end_test(agent, jni, &test, "passed");
    }
    note_changes(agent, jni, class);
    lock(&agent.state).end_container(class);
}

/// Compares the static fields that a test (or a class around its tests) used, and the
/// process-wide state.
pub unsafe fn note_changes(agent: &Agent, jni: Jni, test: &str) {
    let used = {
        let mut state = lock(&agent.state);
        agent.drain(jni, &mut state);
        state.statics_of(test)
    };
    files::test_ends(agent, test);
    let changed = {
        let mut statics = lock(&agent.statics);
        let mut changed = statics::changed(agent, jni, &mut statics, used);
        changed.extend(cells::changed(agent, jni, &mut statics));
        changed
    };
    lock(&agent.state).changed(test, &changed);
}

/// Ends a test class after everything that it did was attributed to it.
pub unsafe fn end_test(agent: &Agent, jni: Jni, test: &str, outcome: &str) {
    note_changes(agent, jni, test);
    lock(&agent.state).end(test, outcome);
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_started(
    jni: Jni,
    _: Object,
    descriptor: Object,
) {
    once(jni, |agent| {
        let id = unique_id(agent, jni, descriptor);
        if let Some(suite) = id.as_deref().and_then(suite) {
            begin_test(agent, jni, suite);
            lock(&agent.state).needs_what_may_be_tests(suite);
            return;
        }
        let by_method = id.as_deref().filter(|_| agent.by_method());
        if let Some((class, method)) = by_method.and_then(test_method) {
            let method = method.as_ref().map(|(method, _)| method.as_str());
            begin_method(agent, jni, class, method);
        } else if let Some((class, is_whole)) = by_method.and_then(vintage_class) {
            // JUnit 4 itself announces its methods.
            if is_whole {
                junit4::begin_class(agent, jni, class);
            }
        } else if let Some((test, _)) = id.as_deref().and_then(test_class) {
            begin_test(agent, jni, test);
        }
    });
}

/// Called when the JUnit Platform comes to a test or a class, before it checks conditions and
/// extensions.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_prepared(jni: Jni, _: Object, task: Object) {
    once(jni, |agent| {
        let kind = c"Lorg/junit/platform/engine/TestDescriptor;";
        let field = jni.field(jni.class_of(task), c"testDescriptor", kind);
        if field.is_null() {
            return;
        }
        let id = unique_id(agent, jni, jni.object_field(task, field));
        // The tests in the class are known to belong to it.
        let Some((class, true)) = id.as_deref().and_then(test_class) else {
            return;
        };
        let by_method = id.as_deref().filter(|_| agent.by_method());
        match by_method.and_then(test_method) {
            Some(_) => begin_method(agent, jni, class, None),
            None => begin_test(agent, jni, class),
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_finished(
    jni: Jni,
    _: Object,
    descriptor: Object,
    result: Object,
) {
    once(jni, |agent| {
        let Some(id) = unique_id(agent, jni, descriptor) else {
            return agent.fail("JUnit did not say which test has ended");
        };
        let Some((test, is_whole)) = test_class(&id) else {
            let kind = c"()Lorg/junit/platform/engine/TestDescriptor$Type;";
            let kind = jni.call_named(descriptor, c"getType", kind);
            let to_string = agent.java.get().map(|java| java.to_string);
            let kind = to_string.and_then(|to_string| jni.text(jni.call(kind, to_string)));
            // Containers need no name.
            if kind.as_deref() != Some("CONTAINER") {
                agent.fail(&format!("the test {id} names no class"));
            }
            return;
        };
        let kind = c"()Lorg/junit/platform/engine/TestExecutionResult$Status;";
        let status = jni.call_named(result, c"getStatus", kind);
        let to_string = agent.java.get().map(|java| java.to_string);
        let status = to_string.and_then(|to_string| jni.text(jni.call(status, to_string)));
        let is_good = matches!(status.as_deref(), Some("SUCCESSFUL" | "ABORTED"));
        let method = Some(id.as_str()).filter(|_| agent.by_method());
        if let Some((class, is_whole)) = method.and_then(vintage_class) {
            if is_whole {
                if !is_good {
                    junit4::class_failed(agent, jni, class);
                }
                end_class(agent, jni, class);
            }
            return;
        }
        if let Some((class, method)) = method.and_then(test_method) {
            match method {
                Some((method, is_whole)) => {
                    if !is_good {
                        lock(&agent.state).has_failed(Some(&method));
                    }
                    if is_whole {
                        end_test(agent, jni, &method, "passed");
                    }
                }
                None => {
                    if !is_good {
                        // A part of the class or of a nested one: then all of it runs again.
                        begin_test(agent, jni, class);
                        end_test(agent, jni, class, "failed");
                    }
                    if is_whole {
                        end_class(agent, jni, class);
                    }
                }
            }
            return;
        }
        if !is_good {
            lock(&agent.state).has_failed(Some(test));
        }
        if is_whole {
            end_test(agent, jni, test, "passed");
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_skipped(
    jni: Jni,
    _: Object,
    descriptor: Object,
) {
    once(jni, |agent| {
        let id = unique_id(agent, jni, descriptor);
        let by_method = id.as_deref().filter(|_| agent.by_method());
        if let Some((class, Some((method, true)))) = by_method.and_then(test_method) {
            begin_method(agent, jni, class, Some(&method));
            end_test(agent, jni, &method, "skipped");
        } else if let Some((test, true)) = id.as_deref().and_then(test_class) {
            begin_test(agent, jni, test);
            end_test(agent, jni, test, "skipped");
            let is_container = lock(&agent.state).kind_of(test).is_some();
            if is_container {
                end_class(agent, jni, test);
            }
        }
    });
}

/// The text of a string, a file or a path; the name of a class.
unsafe fn text_of(agent: &Agent, jni: Jni, object: Object) -> Option<String> {
    let java = agent.java.get()?;
    if object.is_null() {
        return None;
    }
    if jni.is_instance(object, java.string) {
        return jni.text(object);
    }
    if jni.is_instance(object, java.class) {
        return agent.jvmti.signature(object);
    }
    if !jni.push_frame() {
        return None;
    }
    let text = jni.text(jni.call(object, java.to_string));
    jni.pop_frame();
    text
}

/// Called when the target of a path is asked for. The JDK may cache it.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_canonical(jni: Jni, _: Object, path: Object) {
    once(jni, |agent| {
        if let Some(path) = text_of(agent, jni, path) {
            files::resolves(agent, &path);
        }
    });
}

/// Called when an archive is asked for. It may already be open.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_archive(jni: Jni, _: Object, url: Object) {
    once(jni, |agent| {
        let url = text_of(agent, jni, url);
        if let Some(path) = url.as_deref().and_then(process::path_of_url) {
            files::look(agent, &path, Look::Content);
        }
    });
}

/// Called when a resource bundle is asked for. It may already be loaded.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_bundle(jni: Jni, _: Object, name: Object) {
    once(jni, |agent| {
        if let Some(name) = text_of(agent, jni, name) {
            let name = name.replace('.', "/");
            let mut state = lock(&agent.state);
            state.used(&name, Use::LookedAt);
            state.meets_bundle(&name);
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_env(jni: Jni, _: Object, name: Object) {
    once(jni, |agent| {
        if let Some(name) = text_of(agent, jni, name) {
            let value = process::variable(&name);
            lock(&agent.state).observed("env", &name, value.as_deref(), false);
        }
    });
}

/// The environment variables behind a property of the JVM. Other properties come from the
/// command and the build files, which count for every test, or from a test that set them.
fn variables_behind(property: &str) -> &'static [&'static str] {
    match property {
        "user.home" => &["HOME"],
        "user.name" => &["LOGNAME", "USER"],
        "user.timezone" => &["TZ"],
        "file.encoding" | "native.encoding" | "sun.jnu.encoding" | "user.country"
        | "user.language" | "user.script" | "user.variant" => {
            &["LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES"]
        }
        _ => &[],
    }
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_gotProperty(jni: Jni, _: Object, name: Object) {
    once(jni, |agent| {
        if !calls::is_complete() {
            calls::bind_early(agent, jni);
        }
        let Some(name) = jni.text(name) else {
            return;
        };
        let mut state = lock(&agent.state);
        state.got_by_name(&name);
        // Before the tests, build tools and frameworks read them for themselves.
        let asked_by_tests = state.has_tests();
        for variable in variables_behind(&name).iter().filter(|_| asked_by_tests) {
            let value = process::variable(variable);
            state.observed("env", variable, value.as_deref(), false);
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_setProperty(jni: Jni, _: Object, name: Object) {
    once(jni, |agent| {
        if let Some(name) = jni.text(name) {
            lock(&agent.state).set_by_name(&name);
            if lock(&agent.state).has_tests() {
                cells::properties_will_be_set(agent, jni);
            }
        }
    });
}

/// Called when a class loader is asked for a class, by code or by the JVM (for a class that
/// code names, extends or is checked against).
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_named(jni: Jni, _: Object, class: Object) {
    // The frame below this method and the one with the hook.
    const CALLER: i32 = 2;
    once(jni, |agent| {
        if let Some(name) = class_name(agent, jni, class) {
            let (has_tests, is_new) = {
                let state = lock(&agent.state);
                (state.has_tests(), !state.is_loaded(&name))
            };
            if is_new {
                ASKED_FOR.set(name.clone());
            }
            let is_new = is_new && has_tests;
            let how = match is_new && agent.jvmti.is_at_call(jni, CALLER) {
                true => Use::Asked,
                false => Use::Named,
            };
            discovery::used(agent, jni, &name, how);
        }
    });
}

/// Called when a class is asked for by name; it is loaded if necessary.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_asked(jni: Jni, _: Object, class: Object) {
    once(jni, |agent| {
        if let Some(name) = class_name(agent, jni, class) {
            discovery::used(agent, jni, &name, Use::Asked);
            lookups::asked(name);
        }
    });
}

/// Called when the members or annotations of a class are inspected.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_used(jni: Jni, _: Object, class: Object) {
    once(jni, |agent| {
        if let Some(name) = class_name(agent, jni, class) {
            discovery::used(agent, jni, &name, Use::LookedAt);
        }
    });
}

/// The name (with slashes) of a class, of an array's element class, or in a string.
unsafe fn class_name(agent: &Agent, jni: Jni, class: Object) -> Option<String> {
    let name = text_of(agent, jni, class)?;
    let name = class_named(name.trim_start_matches('['));
    Some(name.replace('.', "/"))
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_spawned(jni: Jni, _: Object, builder: Object) {
    once(jni, |agent| {
        let words = jni.call_named(builder, c"command", c"()Ljava/util/List;");
        let words = text_of(agent, jni, words);
        if words.as_deref().is_some_and(process::is_of_tools) {
            return;
        }
        lock(&agent.state).doubt("it started a process, which is not watched");
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_name_test_classes() {
        let class = "[engine:junit-jupiter]/[class:a.B]";
        assert_eq!(test_class(class), Some(("a.B", true)));
        let method = "[engine:junit-jupiter]/[class:a.B]/[method:c(int[])]";
        assert_eq!(test_class(method), Some(("a.B", false)));
        let nested = "[engine:junit-platform-suite]/[suite:a.S]/[engine:x]/[class:a.B]";
        assert_eq!(test_class(nested), Some(("a.S", false)));
        assert_eq!(test_class("[engine:junit-jupiter]"), None);
    }

    #[test]
    fn ids_name_test_methods() {
        let of = |rest: &str| {
            let id = format!("[engine:junit-jupiter]/[class:a.B]{rest}");
            test_method(&id).map(|(class, method)| (class.to_owned(), method))
        };
        let is = |method: Option<(&str, bool)>| {
            let method = method.map(|(name, is_whole)| (name.to_owned(), is_whole));
            Some(("a.B".to_owned(), method))
        };
        assert_eq!(of(""), is(None));
        assert_eq!(of("/[method:c(int%5B%5D)]"), is(Some(("a.B#c", true))));
        assert_eq!(
            of("/[nested-class:N]/[method:c()]"),
            is(Some(("a.B$N#c", true)))
        );
        let one = "/[test-template:p(int)]/[test-template-invocation:#1]";
        assert_eq!(of(one), is(Some(("a.B#p", false))));
        // An unknown part makes it a matter of the class.
        assert_eq!(of("/[strange:x]"), None);
        assert_eq!(
            test_method("[engine:junit-vintage]/[runner:a.B]/[test:c(a.B)]"),
            None
        );
    }
}
