//! TestNG: test classes, whose methods it runs in any order, some of several classes in
//! turn. A test is a test class, which is paused while another one runs.
//!
//! From its beginning to its end a run is a container of all that: what neither test
//! class does (`@BeforeSuite`, `@BeforeTest`, listeners) counts for all of them. So does
//! what comes before it, as TestNG makes the objects of all test classes first.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::thread;

use crate::agent::{Agent, lock};
use crate::ffi::{Jni, Object};
use crate::natives::{end_test, note_changes, once};
use crate::state::Kind;

/// The name of the container.
const RUN: &str = "TestNG";

thread_local! {
    /// The test class that this thread has come to.
    static CURRENT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// How many threads are in each test class.
static THREADS: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

/// How many parts of a suite (`<test>`) run, and how many did so at the same time.
static PARTS: Mutex<(usize, usize)> = Mutex::new((0, 0));

/// Attributes of a suite or a part of it: who set each last (no test class: what counts
/// for all), and how often another one did.
static KEPT: Mutex<BTreeMap<String, (Option<String>, usize)>> = Mutex::new(BTreeMap::new());

const STRING: &CStr = c"()Ljava/lang/String;";
const TEST_CLASS: &CStr = c"()Lorg/testng/ITestClass;";
const METHODS: &CStr = c"()[Lorg/testng/ITestNGMethod;";

/// Why no row of this run counts as complete.
static DOUBT: Mutex<Option<&'static str>> = Mutex::new(None);

fn mistrust(why: &'static str) {
    let known = lock(&DOUBT).replace(why);
    if known != Some(why) {
        let _ = writeln!(std::io::stderr(), "tamis: {why}; its tests run every time");
    }
}

fn is_running(agent: &Agent) -> bool {
    lock(&agent.state).kind_of(RUN).is_some()
}

/// The same as [`once`], while TestNG runs what nobody else tells of: not for a test of
/// JUnit that uses it.
unsafe fn in_run(jni: Jni, work: impl FnOnce(&'static Agent)) {
    once(jni, |agent| {
        if is_running(agent) {
            work(agent);
        }
    });
}

/// TestNG is started.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngStarted(jni: Jni, _: Object, _: Object) {
    once(jni, |agent| {
        agent.writes_reports.store(false, Ordering::Relaxed);
        if is_running(agent) {
            mistrust("a test of TestNG runs TestNG, or TestNG did not come to its end");
        }
    });
}

/// An object of a test class is made, before anything runs.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngMaking(jni: Jni, _: Object, class: Object) {
    once(jni, |agent| {
        let Some(class) = name_of(jni, class) else {
            return agent.fail("TestNG did not say which test begins");
        };
        {
            let mut state = lock(&agent.state);
            agent.drain(jni, &mut state);
            if !state.has_tests() {
                state.begin_container(RUN, Kind::TestNgToRun, thread::current().id());
            }
        }
        if is_running(agent) {
            enter(agent, jni, &class);
        }
    });
}

/// All objects of test classes are made, or some tests have ended.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngBetween(jni: Jni, _: Object, _: Object) {
    in_run(jni, |agent| leave(agent, jni));
}

/// A suite begins.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngSuite(jni: Jni, _: Object, _: Object) {
    once(jni, |agent| {
        let mut state = lock(&agent.state);
        agent.drain(jni, &mut state);
        if !state.has_tests() {
            state.begin_container(RUN, Kind::TestNg, thread::current().id());
        }
        state.set_kind(RUN, Kind::TestNg);
    });
}

/// The tests of a suite are about to begin.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngTests(jni: Jni, _: Object, runner: Object) {
    in_run(jni, |agent| {
        leave(agent, jni);
        {
            let mut parts = lock(&PARTS);
            parts.0 += 1;
            parts.1 = parts.1.max(parts.0);
        }
        lock(&agent.state).set_kind(RUN, Kind::TestNg);
        let classes = jni.call_named(runner, c"getTestClasses", c"()Ljava/util/Collection;");
        let classes = jni.call_named(classes, c"toArray", c"()[Ljava/lang/Object;");
        if classes.is_null() {
            return agent.fail("TestNG did not say which test classes it has");
        }
        if (0..jni.array_len(classes)).any(|at| is_around_groups(jni, classes, at)) {
            mistrust("@BeforeGroups or @AfterGroups of TestNG: nobody tells when they run");
        }
    });
}

/// Whether one of these test classes has methods that run before or after groups.
unsafe fn is_around_groups(jni: Jni, classes: Object, at: i32) -> bool {
    if !jni.push_frame() {
        return true;
    }
    let class = jni.element(classes, at);
    let names = [c"getBeforeGroupsMethods", c"getAfterGroupsMethods"];
    let has_some = names.iter().any(|name| {
        let methods = jni.call_named(class, name, METHODS);
        methods.is_null() || jni.array_len(methods) > 0
    });
    jni.pop_frame();
    has_some
}

/// TestNG chooses what to run next, for which it looks at all test classes, and runs it.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngTesting(jni: Jni, _: Object, _: Object) {
    in_run(jni, |agent| {
        leave(agent, jni);
        // What all were prepared with is nobody's own.
        note_changes(agent, jni, RUN);
        if lock(&PARTS).1 <= 1 {
            lock(&agent.state).set_kind(RUN, Kind::TestNgToRun);
        }
    });
}

/// The tests of a suite have ended, but for `@AfterTest`.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngTested(jni: Jni, _: Object, _: Object) {
    in_run(jni, |agent| {
        leave(agent, jni);
        let mut parts = lock(&PARTS);
        parts.0 = parts.0.saturating_sub(1);
        lock(&agent.state).set_kind(RUN, Kind::TestNg);
    });
}

/// What is in a test class begins, or is cleaned up.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngClass(jni: Jni, _: Object, class: Object) {
    in_run(jni, |agent| match name_of(jni, class) {
        Some(class) => enter(agent, jni, &class),
        None => agent.fail("TestNG did not say which test begins"),
    });
}

/// A test method begins.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngMethod(jni: Jni, _: Object, method: Object) {
    in_run(jni, |agent| match class_of_method(jni, method) {
        Some(class) => {
            enter(agent, jni, &class);
            lock(&agent.state).set_skipped(&class, false);
        }
        None => agent.fail("TestNG did not say which test begins"),
    });
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngFailed(jni: Jni, _: Object, method: Object) {
    in_run(jni, |agent| {
        let class = class_of_method(jni, method);
        failed(agent, jni, class);
    });
}

/// A method of the test class that prepares others failed.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngNotPrepared(
    jni: Jni,
    _: Object,
    result: Object,
) {
    in_run(jni, |agent| {
        let class = jni.call_named(result, c"getTestClass", c"()Lorg/testng/IClass;");
        failed(agent, jni, name_of(jni, class));
    });
}

/// A method was not run: because of what failed before it, which may go well the next
/// time, unless it said itself that it is to be skipped.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngSkipped(
    jni: Jni,
    _: Object,
    method: Object,
    result: Object,
) {
    in_run(jni, |agent| {
        let cause = jni.call_named(result, c"getThrowable", c"()Ljava/lang/Throwable;");
        let kind = match cause.is_null() {
            true => None,
            false => agent.jvmti.signature(jni.class_of(cause)),
        };
        if kind.as_deref() != Some("Lorg/testng/SkipException;") {
            failed(agent, jni, class_of_method(jni, method));
        }
    });
}

/// Objects of test classes are made by a method of another one, perhaps.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngFactory(jni: Jni, _: Object, _: Object) {
    once(jni, |_| {
        mistrust("a @Factory of TestNG makes tests");
    });
}

/// TestNG as an engine of the JUnit Platform: who of the two tells of what is not known.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngEngine(jni: Jni, _: Object, _: Object) {
    once(jni, |agent| {
        agent.mistrust("TestNG is run by the JUnit Platform")
    });
}

/// TestNG runs tests of JUnit, of which it does not tell in the same way.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngJUnit(jni: Jni, _: Object, _: Object) {
    in_run(jni, |agent| agent.mistrust("TestNG runs tests of JUnit"));
}

/// Something is kept for all of a suite, or of a part of it.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngKept(jni: Jni, _: Object, name: Object) {
    in_run(jni, |agent| {
        let Some(name) = jni.text(name) else {
            return;
        };
        let by = CURRENT.with_borrow(Clone::clone);
        let times = {
            let mut kept = lock(&KEPT);
            let (last, times) = kept.entry(name.clone()).or_default();
            if *last != by || *times == 0 {
                (*last, *times) = (by, *times + 1);
            }
            *times
        };
        let mut state = lock(&agent.state);
        agent.drain(jni, &mut state);
        state.set_by_name(&kept_as(&name, times));
    });
}

/// What is kept is asked for.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngAsked(jni: Jni, _: Object, name: Object) {
    in_run(jni, |agent| {
        let Some(name) = jni.text(name) else {
            return;
        };
        let times = lock(&KEPT).get(&name).map(|(_, times)| *times);
        if let Some(times) = times {
            let mut state = lock(&agent.state);
            agent.drain(jni, &mut state);
            state.got_by_name(&kept_as(&name, times));
        }
    });
}

fn kept_as(name: &str, times: usize) -> String {
    format!("TestNG {times} {name}")
}

/// All has run; reports follow.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngEnded(jni: Jni, _: Object, _: Object) {
    in_run(jni, |agent| {
        end(agent, jni);
        agent.writes_reports.store(true, Ordering::Relaxed);
    });
}

unsafe fn name_of(jni: Jni, class: Object) -> Option<String> {
    jni.text(jni.call_named(class, c"getName", STRING))
}

unsafe fn class_of_method(jni: Jni, method: Object) -> Option<String> {
    name_of(jni, jni.call_named(method, c"getTestClass", TEST_CLASS))
}

/// This thread comes to a test class.
unsafe fn enter(agent: &Agent, jni: Jni, class: &str) {
    if CURRENT.with_borrow(|current| current.as_deref() == Some(class)) {
        return;
    }
    leave(agent, jni);
    *lock(&THREADS).entry(class.to_owned()).or_default() += 1;
    CURRENT.set(Some(class.to_owned()));
    let mut state = lock(&agent.state);
    agent.drain(jni, &mut state);
    let is_new = !state.has_begun(class);
    state.resume(class, RUN, thread::current().id());
    if is_new {
        // Until one of its methods is come to.
        state.set_skipped(class, true);
    }
}

/// This thread leaves the test class in which it is, if it is in one.
unsafe fn leave(agent: &Agent, jni: Jni) {
    let Some(class) = CURRENT.take() else {
        return;
    };
    let others = {
        let mut threads = lock(&THREADS);
        let count = threads.entry(class.clone()).or_default();
        *count = count.saturating_sub(1);
        *count
    };
    if others == 0 {
        note_changes(agent, jni, &class);
        lock(&agent.state).pause(&class);
    }
}

unsafe fn failed(agent: &Agent, jni: Jni, class: Option<String>) {
    let Some(class) = class else {
        return agent.fail("TestNG did not say what failed");
    };
    let mut state = lock(&agent.state);
    agent.drain(jni, &mut state);
    // `@BeforeSuite`: none of its tests has begun.
    if !state.has_begun(&class) {
        state.resume(&class, RUN, thread::current().id());
        state.pause(&class);
    }
    state.has_failed(Some(&class));
}

/// Ends all that a run of TestNG has. Where TestNG does not come to it, its tests have not
/// ended.
unsafe fn end(agent: &Agent, jni: Jni) {
    if !is_running(agent) {
        return;
    }
    if let Some(why) = lock(&DOUBT).take() {
        lock(&agent.state).doubt_container(RUN, why);
    }
    leave(agent, jni);
    // Of those of other threads nobody tells that they left.
    let running = lock(&agent.state).running_in(RUN);
    for class in running {
        end_test(agent, jni, &class, "passed");
    }
    lock(&THREADS).clear();
    let mut state = lock(&agent.state);
    agent.drain(jni, &mut state);
    state.needs_what_others_do(RUN);
    state.end_container(RUN);
}
