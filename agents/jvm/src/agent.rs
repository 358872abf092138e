//! The entry points from the JVM: its start, its end, and the load of every class.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{CStr, c_char, c_void};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::cells::marks;
use crate::classfile::{ClassFile, HELPER, helper_class};
use crate::ffi::{
    CLASS_FILE_LOAD_HOOK, CLASS_PREPARE, Callbacks, FieldId, Jni, Jvmti, MethodId,
    NATIVE_METHOD_BIND, Object, VM_DEATH, VM_INIT, Vm, c, class_named,
};
use crate::files::{self, calls};
use crate::hooks::{FORK, FRAMEWORKS, JDK, LATER, of};
use crate::junit4;
use crate::lookups;
use crate::natives;
use crate::plan::{hooked, plan, unprobed};
use crate::process;
use crate::state::{Class, State};
use crate::statics::Statics;
use crate::trace::{Trace, quoted};

/// The agent, shared by all threads.
pub struct Agent {
    pub jvmti: Jvmti,
    pub state: Mutex<State>,
    pub statics: Mutex<Statics>,
    pub java: OnceLock<Java>,
    /// Whether an error occurred, after which the agent changes nothing any more.
    is_off: AtomicBool,
    jars: Mutex<HashSet<String>>,
    /// Classes whose overridable methods are already in the state.
    told: Mutex<HashSet<String>>,
    /// The top of the work tree.
    root: PathBuf,
    /// The folder of Surefire's own files for this process.
    surefire: Option<PathBuf>,
    /// Whether a framework writes its reports, after the tests.
    pub writes_reports: AtomicBool,
    /// Whether methods count as tests where they can be distinguished.
    by_method: AtomicBool,
    /// Whether every class gets probes. For tests of the rewriting.
    rewrites_all: bool,
}

/// Java objects that are needed again and again.
pub struct Java {
    /// `TamisProbe.a`
    pub probes: Object,
    pub string: Object,
    pub class: Object,
    pub to_string: MethodId,
    /// `java.io.File.path`
    pub path_of_file: FieldId,
    code_source: MethodId,
    location: MethodId,
}

unsafe impl Send for Java {}
unsafe impl Sync for Java {}

static AGENT: OnceLock<Agent> = OnceLock::new();

pub fn agent() -> Option<&'static Agent> {
    AGENT
        .get()
        .filter(|agent| !agent.is_off.load(Ordering::Relaxed))
}

/// Runs `work`. If it panics, the agent stops and says so.
pub fn guarded(work: impl FnOnce(&'static Agent)) {
    let Some(agent) = agent() else {
        return;
    };
    if catch_unwind(AssertUnwindSafe(|| work(agent))).is_err() {
        agent.fail("the collector in the JVM failed");
    }
}

impl Agent {
    /// Stops collecting. No row counts as complete any more.
    pub fn fail(&self, why: &str) {
        self.is_off.store(true, Ordering::Relaxed);
        self.mistrust(why);
    }

    /// Makes every row incomplete, but still records the beginning and end of tests.
    pub fn mistrust(&self, why: &str) {
        let mut state = self
            .state
            .lock()
            .unwrap_or_else(|broken| broken.into_inner());
        state.fail(why);
        // Only there can users of the JVM see it.
        let _ = writeln!(
            std::io::stderr(),
            "tamis: {why}; rows of this run are incomplete"
        );
    }

    /// Attributes the probes that were hit since the last time.
    pub unsafe fn drain(&self, jni: Jni, state: &mut State) {
        let Some(java) = self.java.get() else {
            return;
        };
        let count = state.probes() as usize;
        let mut hit = Vec::new();
        let done = jni.with_bytes(java.probes, |start| take_marks(start, count, &mut hit));
        if done.is_none() {
            state.fail("the JVM does not let its collector look at its marks");
        }
        state.hit(&hit);
    }

    /// Whether methods count as tests where they can be distinguished.
    pub fn by_method(&self) -> bool {
        self.by_method.load(Ordering::Relaxed)
    }

    /// Whether `path` can belong to the project, and not to the JVM.
    pub fn is_of_project(&self, path: &str) -> bool {
        Path::new(path).starts_with(&self.root)
    }

    /// Whether Surefire uses `path` to talk to this process.
    pub fn is_of_surefire(&self, path: &str) -> bool {
        let folder = self.surefire.as_ref();
        folder.is_some_and(|folder| process::is_of_surefire(folder, Path::new(path)))
    }
}

/// Clears the marks, one byte for each probe, and notes which were set.
unsafe fn take_marks(start: *mut u8, count: usize, hit: &mut Vec<u32>) {
    use std::sync::atomic::AtomicU8;
    for at in (0..count).step_by(8) {
        // Eight at once, since few are set. The array is longer than needed.
        if ptr::read_unaligned(start.add(at).cast::<u64>()) == 0 {
            continue;
        }
        for at in at..count.min(at + 8) {
            // Another thread may be setting it at this moment.
            if AtomicU8::from_ptr(start.add(at)).swap(0, Ordering::SeqCst) != 0 {
                hit.push(at as u32);
            }
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Agent_OnLoad(vm: Vm, _: *const c_char, _: *const c_void) -> i32 {
    // Whatever goes wrong, the JVM must start.
    let _ = catch_unwind(|| start(vm));
    0
}

unsafe fn start(vm: Vm) -> Option<()> {
    let folder = PathBuf::from(std::env::var_os("TAMIS_TRACE_DIR")?);
    let command = process::command_line();
    let rewrites_all = std::env::var_os("TAMIS_JVM_ALL").is_some();
    if !process::runs_tests(&command) && !rewrites_all {
        return None;
    }
    let jvmti = Jvmti::of(vm)?;
    let runtime = process::runtime();
    let trace = open_trace(&folder, &command, &runtime)?;
    let root = std::env::var_os("TAMIS_ROOT").unwrap_or_default();
    let agent = Agent {
        jvmti,
        state: Mutex::new(State::new(trace)),
        statics: Mutex::default(),
        java: OnceLock::new(),
        is_off: AtomicBool::new(false),
        jars: Mutex::default(),
        told: Mutex::default(),
        root: root.into(),
        surefire: process::surefire_folder(&command),
        writes_reports: AtomicBool::new(false),
        by_method: std::env::var_os("TAMIS_TESTS")
            .is_some_and(|tests| tests == "methods")
            .into(),
        rewrites_all,
    };
    let agent = AGENT.get_or_init(|| agent);
    tell_environment(&mut lock(&agent.state), &runtime);
    let mut callbacks: Callbacks = [ptr::null(); 40];
    let at = |event: u32| (event - VM_INIT) as usize;
    callbacks[at(VM_INIT)] = vm_init as *const c_void;
    callbacks[at(VM_DEATH)] = vm_death as *const c_void;
    callbacks[at(CLASS_FILE_LOAD_HOOK)] = class_file_load_hook as *const c_void;
    callbacks[at(CLASS_PREPARE)] = class_prepare as *const c_void;
    callbacks[at(NATIVE_METHOD_BIND)] = native_method_bind as *const c_void;
    let is_ready = jvmti.add_capabilities()
        && jvmti.set_callbacks(&callbacks)
        && jvmti.enable(VM_INIT)
        && jvmti.enable(VM_DEATH)
        && jvmti.enable(NATIVE_METHOD_BIND);
    if !is_ready {
        agent.fail("the JVM does not let its collector see classes");
    }
    Some(())
}

fn open_trace(folder: &Path, command: &[String], runtime: &str) -> Option<Trace> {
    let pid = std::process::id();
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let id = format!("{pid}-{:08x}", since.as_nanos() as u32);
    let mut trace = Trace::create(&folder.join(format!("{id}.trace"))).ok()?;
    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    let cwd = std::env::current_dir().unwrap_or_default();
    trace.open(&format!(
        "\"version\":1,\"trace\":{},\"pid\":{pid},\"role\":\"main\",\"argv\":[{}],\
         \"cwd\":{},\"collector\":\"jvm\",\"runtime\":{},\"started\":{}",
        quoted(&id),
        words.join(","),
        quoted(&cwd.to_string_lossy()),
        quoted(runtime),
        since.as_millis(),
    ));
    let args = std::env::var("TAMIS_ARGS").unwrap_or_default();
    let args: Vec<String> = args.lines().map(str::to_owned).collect();
    trace.config(&cwd.to_string_lossy(), &args);
    trace.flush();
    Some(trace)
}

unsafe extern "system" fn vm_init(_: *const c_void, jni: Jni, _: Object) {
    guarded(|agent| {
        if set_up(agent, jni).is_none() {
            agent.fail("the collector could not be set up in the JVM");
        }
    });
}

/// Defines the class that probes call, then turns on the hook for classes.
unsafe fn set_up(agent: &'static Agent, jni: Jni) -> Option<()> {
    let found = |object: Object| (!object.is_null()).then_some(object);
    let helper = found(jni.define_boot_class(&c(HELPER), &helper_class()))?;
    let field = found(jni.static_field(helper, c"a", c"[B"))?;
    let probes = found(jni.static_object(helper, field))?;
    let object = found(jni.find_class(c"java/lang/Object"))?;
    let string = found(jni.find_class(c"java/lang/String"))?;
    let class = found(jni.find_class(c"java/lang/Class"))?;
    let domain = found(jni.find_class(c"java/security/ProtectionDomain"))?;
    let source = found(jni.find_class(c"java/security/CodeSource"))?;
    let file = found(jni.find_class(c"java/io/File"))?;
    let java = Java {
        probes: jni.global(probes),
        string: jni.global(string),
        class: jni.global(class),
        to_string: found(jni.method(object, c"toString", c"()Ljava/lang/String;"))?,
        path_of_file: found(jni.field(file, c"path", c"Ljava/lang/String;"))?,
        code_source: found(jni.method(domain, c"getCodeSource", c"()Ljava/security/CodeSource;"))?,
        location: found(jni.method(source, c"getLocation", c"()Ljava/net/URL;"))?,
    };
    agent.java.set(java).ok()?;
    let is_enabled = agent.jvmti.enable(CLASS_FILE_LOAD_HOOK) && agent.jvmti.enable(CLASS_PREPARE);
    let mut early = Vec::new();
    for (name, _) in JDK {
        // A JDK without one of these classes uses another one for files.
        early.extend(found(jni.find_class(&c(name))));
    }
    // Others only if they are loaded already: loading them would have effects.
    for class in agent.jvmti.loaded_classes() {
        let signature = agent.jvmti.signature(class).unwrap_or_default();
        let name = class_named(&signature);
        if of(JDK, name).is_none() && (of(LATER, name).is_some() || marks::of(name).is_some()) {
            early.push(class);
        } else {
            jni.drop_local(class);
        }
    }
    if !agent.jvmti.retransform(&early) {
        return None;
    }
    // The hook of `getProperty` does the rest, because code of the JDK calls it. If other code
    // registers native methods of the JDK, the JVM prints a warning on standard output.
    let system = found(jni.find_class(c"java/lang/System"))?;
    jni.call_with_text(system, c"getProperty", c"java.home");
    (is_enabled && calls::is_complete()).then_some(())
}

/// The variables that Maven, Gradle and the JVM itself read count for every test.
fn tell_environment(state: &mut State, runtime: &str) {
    let fingerprint = process::fingerprint(runtime.as_bytes());
    state.observed("runtime", "java", Some(&fingerprint), true);
    for name in ["GRADLE_OPTS", "JAVA_OPTS", "MAVEN_ARGS"] {
        state.observed("env", name, process::variable(name).as_deref(), true);
    }
    // Maven's script adds to the user's value, so tamis passes on the original.
    let options = ["TAMIS_MAVEN_OPTS", "MAVEN_OPTS"].into_iter();
    let options = options.filter_map(process::variable).next();
    state.observed("env", "MAVEN_OPTS", options.as_deref(), true);
    state.flush();
}

unsafe extern "system" fn vm_death(_: *const c_void, jni: Jni) {
    guarded(|agent| {
        junit4::end_last(agent, jni);
        let mut state = lock(&agent.state);
        agent.drain(jni, &mut state);
        state.close();
    });
}

/// If a thread panicked while it held the lock, the content is still used.
pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}

unsafe extern "system" fn native_method_bind(
    _: *const c_void,
    jni: Jni,
    _thread: Object,
    method: MethodId,
    address: *mut c_void,
    new_address: *mut *mut c_void,
) {
    guarded(|agent| {
        if let Some(ours) = calls::bound(agent, jni, method, address) {
            *new_address = ours;
        }
    });
}

unsafe extern "system" fn class_prepare(
    _: *const c_void,
    jni: Jni,
    _thread: Object,
    class: Object,
) {
    guarded(|agent| {
        let Some(signature) = agent.jvmti.signature(class) else {
            return;
        };
        let name = class_named(&signature);
        if !name.starts_with("java/") && lock(&agent.state).is_loaded(name) {
            lock(&agent.statics).prepared(name, jni.weak(class));
            tell_overridable(agent, jni, class, name);
        }
    });
}

/// Tells which methods of its supertypes a class of the project can override, for supertypes
/// that are not of the project.
unsafe fn tell_overridable(agent: &Agent, jni: Jni, class: Object, name: &str) {
    if !lock(&agent.state).is_from_directory(name) || !jni.push_frame() {
        return;
    }
    for above in agent.jvmti.supers(jni, class) {
        let Some(signature) = agent.jvmti.signature(above) else {
            continue;
        };
        let name = class_named(&signature);
        let is_known = name == "java/lang/Object"
            || lock(&agent.state).is_from_directory(name)
            || !lock(&agent.told).insert(name.to_owned());
        if is_known {
            continue;
        }
        // Without the list, any method counts as an override.
        if let Some(methods) = overridable(agent, jni, above) {
            lock(&agent.state).overridable(name, &methods);
        }
    }
    jni.pop_frame();
}

/// The name and descriptor of each overridable method of a class and its supertypes.
unsafe fn overridable(agent: &Agent, jni: Jni, class: Object) -> Option<Vec<String>> {
    let mut methods = BTreeSet::new();
    let (mut open, mut seen) = (vec![class], HashSet::new());
    while let Some(class) = open.pop() {
        let signature = agent.jvmti.signature(class)?;
        if signature != "Ljava/lang/Object;" && seen.insert(signature) {
            methods.extend(agent.jvmti.virtual_methods(class)?);
            open.extend(agent.jvmti.supers(jni, class));
        }
    }
    Some(methods.into_iter().collect())
}

#[allow(clippy::too_many_arguments)]
unsafe extern "system" fn class_file_load_hook(
    _: *const c_void,
    jni: Jni,
    _redefined: Object,
    loader: Object,
    name: *const c_char,
    domain: Object,
    len: i32,
    bytes: *const u8,
    new_len: *mut i32,
    new_bytes: *mut *mut u8,
) {
    guarded(|agent| {
        if name.is_null() {
            return;
        }
        let name = CStr::from_ptr(name).to_string_lossy();
        natives::loaded(&name);
        lookups::found(agent, &name);
        let bytes = std::slice::from_raw_parts(bytes, len as usize);
        if let Some(changed) = changed_class(agent, jni, loader, &name, domain, bytes) {
            let start = agent.jvmti.allocate(&changed);
            if start.is_null() {
                agent.fail("the JVM has no memory for probes");
                return;
            }
            *new_len = changed.len() as i32;
            *new_bytes = start;
        }
    });
}

/// Where a class comes from.
enum Origin {
    Directory(String),
    Jar(String),
    /// Generated while the program runs.
    Generated,
}

unsafe fn changed_class(
    agent: &Agent,
    jni: Jni,
    loader: Object,
    name: &str,
    domain: Object,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    if agent.rewrites_all && of(JDK, name).is_none() {
        return instrumented(agent, name, Some("/"), bytes);
    }
    if loader.is_null() || of(LATER, name).is_some() {
        return watched(agent, name, bytes);
    }
    if let Some(hooks) = of(FRAMEWORKS, name) {
        let changed = ClassFile::parse(bytes).and_then(|file| hooked(&file, hooks, true));
        if changed.is_err() {
            lock(&agent.state).fail(&format!("tests of {name} cannot be told apart"));
        }
        if name == FORK && matches!(changed, Ok(Some(_))) {
            junit4::expect_end();
        }
        return changed.ok().flatten();
    }
    let of_jdk = ["java/", "jdk/", "sun/", "com/sun/proxy/"];
    if of_jdk.iter().any(|prefix| name.starts_with(prefix)) || name.contains("$$Lambda") {
        return None;
    }
    let origin = match origin_of(agent, jni, domain)? {
        Origin::Directory(path) => Some(path),
        Origin::Generated => None,
        Origin::Jar(path) => {
            if process::is_old_surefire(&path) {
                agent.by_method.store(false, Ordering::Relaxed);
            }
            if lock(&agent.jars).insert(path.clone()) && !files::is_written(agent, &path) {
                lock(&agent.state).observed("file", &path, None, true);
            }
            return None;
        }
    };
    instrumented(agent, name, origin.as_deref(), bytes)
}

/// Rewrites a class of the JDK that has hooks.
fn watched(agent: &Agent, name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let (hooks, marks) = (of(JDK, name).or(of(LATER, name)), marks::of(name));
    let changed = || {
        let changed = match hooks {
            Some(hooks) => hooked(&ClassFile::parse(bytes)?, hooks, false)?,
            None => None,
        };
        match marks {
            Some(marks) => {
                let bytes = changed.as_deref().unwrap_or(bytes);
                marks::marked(&ClassFile::parse(bytes)?, marks).map(Some)
            }
            None => Ok(changed),
        }
    };
    changed().unwrap_or_else(|why| {
        lock(&agent.state).fail(&format!("{name} cannot be watched: {}", why.0));
        None
    })
}

fn instrumented(agent: &Agent, name: &str, origin: Option<&str>, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut state = lock(&agent.state);
    let Ok(file) = ClassFile::parse(bytes) else {
        let class = Class {
            symbol: state.symbol(name),
            origin: origin.map(str::to_owned),
            is_whole: true,
            ..Class::default()
        };
        state.loaded_unread(class);
        return None;
    };
    match plan(&file, origin, &mut state) {
        Ok(planned) => {
            state.loaded(planned.class, planned.methods, &planned.missing);
            Some(planned.bytes)
        }
        Err(_) => {
            unprobed(&file, origin, &mut state);
            None
        }
    }
}

/// `None`: a class of the JDK.
unsafe fn origin_of(agent: &Agent, jni: Jni, domain: Object) -> Option<Origin> {
    let java = agent.java.get()?;
    if domain.is_null() || jni.is_exception_pending() || !jni.push_frame() {
        return Some(Origin::Generated);
    }
    let source = jni.call(domain, java.code_source);
    let location = jni.call(source, java.location);
    let text = jni.text(jni.call(location, java.to_string));
    jni.pop_frame();
    let Some(text) = text else {
        return Some(Origin::Generated);
    };
    if text.starts_with("jrt:") {
        return None;
    }
    Some(match process::path_of_url(&text) {
        Some(path) if path.ends_with('/') => Origin::Directory(process::absolute(&path)),
        Some(path) => Origin::Jar(process::absolute(&path)),
        None => Origin::Generated,
    })
}
