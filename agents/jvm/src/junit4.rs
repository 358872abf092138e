//! JUnit 4 and its callers: test classes, and their methods if these count as tests.
//!
//! In that case a test class begins as a container: code that runs in it counts for all of its
//! methods. Its methods become tests only if the runner is known to keep them apart. With any
//! other runner the class is one test.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::agent::{Agent, guarded, lock};
use crate::ffi::{Jni, Object, class_named};
use crate::natives::{begin_test, end_class, end_test, note_changes, once};
use crate::state::{Kind, State};

thread_local! {
    /// The test class that the build tool has named on this thread.
    static NEXT: Cell<Option<String>> = const { Cell::new(None) };
    /// The test class that began on this thread because JUnit 4 announced it.
    static OUTER: RefCell<Option<String>> = const { RefCell::new(None) };
    /// The test method that runs on this thread.
    static METHOD: RefCell<Option<String>> = const { RefCell::new(None) };
    /// The runner that began last on this thread: its class, and whether it keeps methods
    /// apart.
    static RUNNER: RefCell<Option<(String, bool)>> = const { RefCell::new(None) };
}

/// Whether test classes run one after another. Then a class ends when the next one begins or
/// when the JVM ends.
static IS_ONE_BY_ONE: AtomicBool = AtomicBool::new(false);

/// How many methods have begun and not ended.
static METHODS: AtomicUsize = AtomicUsize::new(0);

/// Whether Surefire will announce the end of all tests.
static IS_END_TOLD: AtomicBool = AtomicBool::new(false);

pub fn expect_end() {
    IS_END_TOLD.store(true, Ordering::Relaxed);
}

/// Ends the previous test class when the next one begins, if its end is not announced.
unsafe fn end_one_before(agent: &Agent, jni: Jni) {
    IS_ONE_BY_ONE.store(true, Ordering::Relaxed);
    METHODS.store(0, Ordering::Relaxed);
    end_running(agent, jni);
}

/// Runners that make an object of the test class for each method, and name each test after its
/// method. Only these exact classes: a subclass may do anything.
const KEEP_APART: [&str; 3] = [
    "Lorg/junit/runners/BlockJUnit4ClassRunner;",
    "Lorg/junit/runners/JUnit4;",
    // It runs one of the following for each set of parameters.
    "Lorg/junit/runners/Parameterized;",
];

/// The runner for one set of parameters in JUnit 4.12 and later.
const WITH_PARAMETERS: &str =
    "Lorg/junit/runners/parameterized/BlockJUnit4ClassRunnerWithParameters;";

/// Annotations that fix the order of a class's methods.
const ORDERS: [&str; 2] = ["org/junit/FixMethodOrder", "org/junit/runner/OrderWith"];

/// Immutable classes: methods cannot use a parameter of these types to pass on state.
const VALUES: [&str; 12] = [
    "Ljava/lang/String;",
    "Ljava/lang/Boolean;",
    "Ljava/lang/Byte;",
    "Ljava/lang/Character;",
    "Ljava/lang/Short;",
    "Ljava/lang/Integer;",
    "Ljava/lang/Long;",
    "Ljava/lang/Float;",
    "Ljava/lang/Double;",
    "Ljava/lang/Class;",
    "Ljava/math/BigInteger;",
    "Ljava/math/BigDecimal;",
];

/// The method in the name of a test: `adds[3: x]` → `adds`. `None` if Surefire's lists cannot
/// have the name.
fn method_of(name: &str) -> Option<&str> {
    let method = name.split('[').next().unwrap_or(name);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    (!method.is_empty() && method.chars().all(is_plain)).then_some(method)
}

/// Begins a test class as one test or as a container.
pub unsafe fn begin_class(agent: &Agent, jni: Jni, class: &str) {
    if !agent.by_method() {
        return begin_test(agent, jni, class);
    }
    // The end of a stopped method is not announced.
    METHOD.set(None);
    let mut state = lock(&agent.state);
    agent.drain(jni, &mut state);
    state.begin_container(class, Kind::Unknown, thread::current().id());
    let known = RUNNER.take().filter(|(name, _)| name == class);
    if let Some((_, keeps_apart)) = known {
        decide(&mut state, class, keeps_apart);
    }
}

/// Makes the class one test from now on.
fn make_whole(state: &mut State, class: &str) {
    state.set_kind(class, Kind::Whole);
    if !state.is_running(class) {
        state.begin(class, Some(class), thread::current().id());
    }
}

/// Uses what a runner tells about the test class that it runs.
fn decide(state: &mut State, class: &str, keeps_apart: bool) {
    match state.kind_of(class) {
        Some(Kind::Unknown | Kind::Methods) => {}
        Some(_) | None => return,
    }
    match keeps_apart && !state.has_annotation(class, &ORDERS) {
        true => state.set_kind(class, Kind::Methods),
        false => make_whole(state, class),
    }
}

/// Notes a failure that does not belong to one method.
pub unsafe fn class_failed(agent: &Agent, jni: Jni, class: &str) {
    let mut state = lock(&agent.state);
    agent.drain(jni, &mut state);
    make_whole(&mut state, class);
    state.has_failed(Some(class));
}

/// Called when Surefire runs a class with JUnit 4, one class after another.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_testClass(jni: Jni, _: Object, class: Object) {
    once(jni, |agent| {
        let Some(name) = agent.jvmti.signature(class) else {
            return agent.fail("JUnit did not say which test begins");
        };
        end_one_before(agent, jni);
        begin_class(agent, jni, &class_named(&name).replace('/', "."));
    });
}

/// Called when all of Surefire's tests have ended.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_lastEnded(jni: Jni, _: Object, _: Object) {
    once(jni, |agent| {
        if IS_ONE_BY_ONE.load(Ordering::Relaxed) {
            end_running(agent, jni);
        }
    });
}

/// Ends the running tests when the JVM ends. If the JVM was cut off, for example by
/// `System.exit` in a test, the test has not ended.
pub unsafe fn end_last(agent: &Agent, jni: Jni) {
    let is_cut_off = IS_END_TOLD.load(Ordering::Relaxed) || METHODS.load(Ordering::Relaxed) > 0;
    if IS_ONE_BY_ONE.load(Ordering::Relaxed) && !is_cut_off {
        end_running(agent, jni);
    }
}

/// Ends all running tests if their end is not announced.
unsafe fn end_running(agent: &Agent, jni: Jni) {
    // Not in the heads of the loops, which would keep the lock.
    let classes = lock(&agent.state).classes_of_junit4();
    for class in classes {
        end_class(agent, jni, &class);
    }
    let running = lock(&agent.state).running();
    for test in running {
        end_test(agent, jni, &test, "passed");
    }
}

/// Called when Gradle names its next class for JUnit 4, which is not loaded yet.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_testName(jni: Jni, _: Object, name: Object) {
    once(jni, |agent| {
        end_one_before(agent, jni);
        NEXT.set(jni.text(name));
    });
}

/// Called when JUnit 4 is asked to run a class: the one that Gradle named, or one that a test
/// runs as a part of itself.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_testRequest(
    jni: Jni,
    _: Object,
    class: Object,
) {
    once(jni, |agent| {
        let Some(name) = NEXT.take() else {
            return;
        };
        let signature = agent.jvmti.signature(class).unwrap_or_default();
        if signature == format!("L{};", name.replace('.', "/")) {
            begin_test(agent, jni, &name);
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_failed(jni: Jni, _: Object, failure: Object) {
    guarded(|agent| match agent.by_method() {
        true => once(jni, |agent| failed(agent, jni, failure)),
        false => lock(&agent.state).has_failed(None),
    });
}

/// Whether test classes begin because JUnit 4 announces them, and not a build tool or
/// platform.
static IS_CORE: AtomicBool = AtomicBool::new(false);

unsafe fn class_name_of(jni: Jni, description: Object) -> Option<String> {
    jni.text(jni.call_named(description, c"getClassName", c"()Ljava/lang/String;"))
}

/// Called when JUnit 4 runs everything in a class, for providers that pass on many classes at
/// once, perhaps in parallel. Of nested classes the outermost counts.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_suiteStarted(
    jni: Jni,
    _: Object,
    description: Object,
) {
    once(jni, |agent| {
        let is_nested = OUTER.with_borrow(Option::is_some);
        let others = !IS_CORE.load(Ordering::Relaxed) && lock(&agent.state).has_tests();
        let Some(name) = class_name_of(jni, description).filter(|_| !is_nested && !others) else {
            return;
        };
        // Not for suites that only group others.
        if lock(&agent.state).is_loaded(&name.replace('.', "/")) {
            IS_CORE.store(true, Ordering::Relaxed);
            begin_class(agent, jni, &name);
            OUTER.set(Some(name));
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_suiteFinished(
    jni: Jni,
    _: Object,
    description: Object,
) {
    once(jni, |agent| {
        let name = class_name_of(jni, description);
        if name.is_some() && OUTER.with_borrow(|outer| *outer == name) {
            let test = OUTER.take().unwrap_or_default();
            let is_container = lock(&agent.state).kind_of(&test).is_some();
            match is_container {
                true => end_class(agent, jni, &test),
                false => end_test(agent, jni, &test, "passed"),
            }
        }
    });
}

/// Called when a method of JUnit 4 or 3 begins. If no known test class runs, the code before
/// it is unknown.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_methodStarted(
    jni: Jni,
    _: Object,
    description: Object,
) {
    once(jni, |agent| {
        METHODS.fetch_add(1, Ordering::Relaxed);
        let is_core = IS_CORE.load(Ordering::Relaxed);
        let is_known = match is_core {
            true => OUTER.with_borrow(Option::is_some) || lock(&agent.state).has_tests(),
            false => lock(&agent.state).has_tests(),
        };
        if is_known && agent.by_method() {
            begin_method(agent, jni, description);
        } else if !is_known {
            agent.fail(
                "JUnit ran a test without announcing its class; with `parallel` or `groups` this \
                 happens to tests of JUnit 3, and before JUnit 4.13 to all tests",
            );
        }
    });
}

/// Called when a runner begins to run a class.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_runnerStarted(
    jni: Jni,
    _: Object,
    runner: Object,
) {
    once(jni, |agent| {
        if !agent.by_method() || METHOD.with_borrow(Option::is_some) {
            return;
        }
        let Some(class) = class_of_runner(agent, jni, runner) else {
            return;
        };
        let keeps_apart = keeps_apart(agent, jni, runner);
        let mut state = lock(&agent.state);
        agent.drain(jni, &mut state);
        match state.kind_of(&class) {
            Some(_) => decide(&mut state, &class, keeps_apart),
            None => RUNNER.set(Some((class, keeps_apart))),
        }
    });
}

unsafe fn class_of_runner(agent: &Agent, jni: Jni, runner: Object) -> Option<String> {
    let kind = c"()Lorg/junit/runners/model/TestClass;";
    let class = jni.call_named(runner, c"getTestClass", kind);
    let class = jni.call_named(class, c"getJavaClass", c"()Ljava/lang/Class;");
    if class.is_null() {
        return None;
    }
    let signature = agent.jvmti.signature(class)?;
    Some(class_named(&signature).replace('/', "."))
}

unsafe fn keeps_apart(agent: &Agent, jni: Jni, runner: Object) -> bool {
    let class = jni.class_of(runner);
    let name = agent.jvmti.signature(class).unwrap_or_default();
    if name != WITH_PARAMETERS {
        return KEEP_APART.contains(&name.as_str());
    }
    let field = jni.field(class, c"parameters", c"[Ljava/lang/Object;");
    if field.is_null() {
        return false;
    }
    let parameters = jni.object_field(runner, field);
    !parameters.is_null()
        && (0..jni.array_len(parameters)).all(|at| {
            let parameter = jni.element(parameters, at);
            parameter.is_null() || is_value(agent, jni, parameter)
        })
}

unsafe fn is_value(agent: &Agent, jni: Jni, object: Object) -> bool {
    let name = agent.jvmti.signature(jni.class_of(object));
    name.is_some_and(|name| VALUES.contains(&name.as_str()))
}

/// The class and the name in a description. Must be called without the lock, since Java may
/// load classes for it.
unsafe fn described(jni: Jni, description: Object) -> (Option<String>, Option<String>) {
    let kind = c"()Ljava/lang/String;";
    let name = jni.text(jni.call_named(description, c"getMethodName", kind));
    (class_name_of(jni, description), name)
}

/// The test of a description, if it is a single method, and its class.
fn test_of(
    state: &State,
    described: &(Option<String>, Option<String>),
) -> Option<(String, String)> {
    let (Some(class), Some(name)) = described else {
        return None;
    };
    let method = method_of(name).filter(|_| state.kind_of(class) == Some(Kind::Methods))?;
    Some((class.clone(), format!("{class}#{method}")))
}

/// A method begins.
pub unsafe fn begin_method(agent: &Agent, jni: Jni, description: Object) {
    if METHOD.with_borrow(Option::is_some) {
        return;
    }
    let described = described(jni, description);
    let mut state = lock(&agent.state);
    agent.drain(jni, &mut state);
    if let Some((class, test)) = test_of(&state, &described) {
        state.resume(&test, &class, thread::current().id());
        METHOD.set(Some(test));
        return;
    }
    // Unknown methods: of the class, or of other classes that it runs.
    match described.0.filter(|class| state.kind_of(class).is_some()) {
        Some(class) if state.kind_of(&class) == Some(Kind::Platform) => {}
        Some(class) => make_whole(&mut state, &class),
        None => {
            for class in state.idle_classes_of_junit4() {
                make_whole(&mut state, &class);
            }
        }
    }
}

/// A method has ended.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_methodFinished(
    jni: Jni,
    _: Object,
    description: Object,
) {
    once(jni, |agent| {
        let one_less = |count: usize| count.checked_sub(1);
        let _ = METHODS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
        if !agent.by_method() {
            return;
        }
        let described = described(jni, description);
        let test = test_of(&lock(&agent.state), &described);
        let is_own = |(_, test): &(String, String)| {
            METHOD.with_borrow(|method| method.as_ref() == Some(test))
        };
        if let Some((_, test)) = test.filter(is_own) {
            METHOD.set(None);
            note_changes(agent, jni, &test);
            // It may run once more with other parameters.
            lock(&agent.state).pause(&test);
        }
    });
}

/// Called when an annotation disables a method.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_ignored(
    jni: Jni,
    _: Object,
    description: Object,
) {
    once(jni, |agent| {
        if !agent.by_method() || METHOD.with_borrow(Option::is_some) {
            return;
        }
        let described = described(jni, description);
        let mut state = lock(&agent.state);
        agent.drain(jni, &mut state);
        if let Some((class, test)) = test_of(&state, &described) {
            state.skipped(&test, &class, thread::current().id());
        }
    });
}

/// Called when JUnit is told to stop, for example after too many failures. Tests that begin
/// from now on end without being run.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_TamisProbe_stopped(_: Jni, _: Object, _: Object) {
    guarded(|agent| lock(&agent.state).stop("JUnit was told to stop"));
}

/// Notes that a method, or something around it, has failed.
pub unsafe fn failed(agent: &Agent, jni: Jni, failure: Object) {
    let kind = c"()Lorg/junit/runner/Description;";
    let description = jni.call_named(failure, c"getDescription", kind);
    let described = described(jni, description);
    {
        let mut state = lock(&agent.state);
        let test = test_of(&state, &described);
        if let Some((_, test)) = test.filter(|(_, test)| state.has_begun(test)) {
            return state.has_failed(Some(&test));
        }
    }
    let is_own = |class: &String| {
        let kind = lock(&agent.state).kind_of(class);
        kind.is_some_and(|kind| kind != Kind::Platform)
    };
    match described.0.filter(is_own) {
        Some(class) => class_failed(agent, jni, &class),
        None => {
            let classes = lock(&agent.state).idle_classes_of_junit4();
            for class in classes {
                class_failed(agent, jni, &class);
            }
            lock(&agent.state).has_failed(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_named_after_methods() {
        assert_eq!(method_of("adds"), Some("adds"));
        assert_eq!(method_of("adds[1: a[x] (y)]"), Some("adds"));
        assert_eq!(method_of("adds two"), None);
        assert_eq!(method_of("[0]"), None);
        assert_eq!(method_of(""), None);
        assert_eq!(method_of("a+b"), None);
        assert_eq!(method_of("größer"), None);
    }
}
