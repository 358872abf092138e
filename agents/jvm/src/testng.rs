//! TestNG: it runs the methods of test classes in any order, and may alternate between
//! classes. A test is a test class; it is paused while another one runs.
//!
//! A whole run is a container: work that belongs to no test class (`@BeforeSuite`,
//! `@BeforeTest`, listeners) counts for all of them. So does everything before it, as TestNG
//! makes the objects of all test classes first.

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
    /// The test class in which this thread is.
    static CURRENT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// How many threads are in each test class.
static THREADS: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

/// How many parts of a suite (`<test>`) run now, and the most that ran at the same time.
static PARTS: Mutex<(usize, usize)> = Mutex::new((0, 0));

/// Attributes of a suite or a part of it: which test class set each last (`None`: it counts
/// for all), and how often the setter changed.
static KEPT: Mutex<BTreeMap<String, (Option<String>, usize)>> = Mutex::new(BTreeMap::new());

const STRING: &CStr = c"()Ljava/lang/String;";
const TEST_CLASS: &CStr = c"()Lorg/testng/ITestClass;";
const METHODS: &CStr = c"()[Lorg/testng/ITestNGMethod;";

/// Why all rows of this run are incomplete.
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

/// Like [`once`], but only if TestNG runs by itself, and not inside a test of JUnit.
unsafe fn in_run(jni: Jni, work: impl FnOnce(&'static Agent)) {
    once(jni, |agent| {
        if is_running(agent) {
            work(agent);
        }
    });
}

/// Called when TestNG starts.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngStarted(jni: Jni, _: Object, _: Object) {
    once(jni, |agent| {
        agent.writes_reports.store(false, Ordering::Relaxed);
        if is_running(agent) {
            mistrust("a test of TestNG runs TestNG, or TestNG did not come to its end");
        }
    });
}

/// Called when an object of a test class is made, before anything runs.
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

/// Called when all objects of test classes are made, or some tests have ended.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngBetween(jni: Jni, _: Object, _: Object) {
    in_run(jni, |agent| leave(agent, jni));
}

/// Called when a suite begins.
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

/// Called before the tests of a suite begin.
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
            mistrust("@BeforeGroups or @AfterGroups of TestNG: their runs are not announced");
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

/// Called when TestNG chooses and runs the next test. It inspects all test classes for that.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngTesting(jni: Jni, _: Object, _: Object) {
    in_run(jni, |agent| {
        leave(agent, jni);
        // State that was prepared for all belongs to no single test class.
        note_changes(agent, jni, RUN);
        if lock(&PARTS).1 <= 1 {
            lock(&agent.state).set_kind(RUN, Kind::TestNgToRun);
        }
    });
}

/// Called when the tests of a suite have ended, before `@AfterTest`.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngTested(jni: Jni, _: Object, _: Object) {
    in_run(jni, |agent| {
        leave(agent, jni);
        let mut parts = lock(&PARTS);
        parts.0 = parts.0.saturating_sub(1);
        lock(&agent.state).set_kind(RUN, Kind::TestNg);
    });
}

/// Called when the set-up or clean-up of a test class begins.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngClass(jni: Jni, _: Object, class: Object) {
    in_run(jni, |agent| match name_of(jni, class) {
        Some(class) => enter(agent, jni, &class),
        None => agent.fail("TestNG did not say which test begins"),
    });
}

/// Called when a test method begins.
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

/// Called when a configuration method of the test class failed.
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

/// Called when a method was not run. After an earlier failure it may run the next time, unless
/// it asked to be skipped.
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

/// Called when a factory method of one class may make objects of other test classes.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngFactory(jni: Jni, _: Object, _: Object) {
    once(jni, |_| {
        mistrust("a @Factory of TestNG makes tests");
    });
}

/// Called when TestNG runs as an engine of the JUnit Platform: it is unknown which of the two
/// announces what.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngEngine(jni: Jni, _: Object, _: Object) {
    once(jni, |agent| {
        agent.mistrust("TestNG is run by the JUnit Platform")
    });
}

/// Called when TestNG runs tests of JUnit, which it announces differently.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ngJUnit(jni: Jni, _: Object, _: Object) {
    in_run(jni, |agent| agent.mistrust("TestNG runs tests of JUnit"));
}

/// Called when an attribute is set for a suite or a part of it.
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

/// Called when an attribute is read.
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

/// Called when everything has run; reports follow.
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

/// Notes that this thread enters a test class.
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
        // Until one of its methods begins.
        state.set_skipped(class, true);
    }
}

/// Notes that this thread leaves its test class, if it is in one.
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

/// Ends everything in a run of TestNG. If TestNG does not get there, its tests have not ended.
unsafe fn end(agent: &Agent, jni: Jni) {
    if !is_running(agent) {
        return;
    }
    if let Some(why) = lock(&DOUBT).take() {
        lock(&agent.state).doubt_container(RUN, why);
    }
    leave(agent, jni);
    // Other threads did not announce that they left.
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
