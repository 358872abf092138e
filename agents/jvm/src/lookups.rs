//! Searches for class files in places without them.
//!
//! If a class is found elsewhere, its absence here counts for all tests, as the JVM searches
//! only once. The same holds for classes that the JVM itself needs, and for requests of
//! libraries, which may cache the answer. But if the project's own code calls `Class.forName`
//! without success, every call searches again.

use std::cell::RefCell;

use crate::agent::{Agent, lock};
use crate::ffi::{Jni, class_named};

thread_local! {
    /// The class (with slashes) for which this thread last asked by name, and the places where
    /// its file is missing.
    static ASKED: RefCell<(String, Vec<String>)> = RefCell::default();
}

/// Notes that a class is asked for by name.
pub fn asked(class: String) {
    ASKED.set((class, Vec::new()));
}

/// Notes that a class was loaded. The absence of its file in other places counts for all
/// tests.
pub fn found(agent: &Agent, class: &str) {
    let places = ASKED.with_borrow_mut(|(asked, places)| match asked == class {
        true => std::mem::take(places),
        false => Vec::new(),
    });
    for place in places {
        lock(&agent.state).observed("exists", &place, Some("missing"), true);
    }
}

/// Whether this path is searched because the project's code asks for the class by name, and
/// the file is missing. If so, it is noted.
pub unsafe fn is_in_vain(agent: &Agent, jni: Jni, path: &str) -> bool {
    let class = ASKED.with_borrow(|(class, _)| {
        let folder = path.strip_suffix(".class");
        let folder = folder.and_then(|path| path.strip_suffix(class.as_str()));
        let is_its = !class.is_empty() && folder.is_some_and(|folder| folder.ends_with('/'));
        is_its.then(|| class.clone())
    });
    let Some(class) = class.filter(|_| agent.is_of_project(path)) else {
        return false;
    };
    if std::fs::metadata(path).is_ok() || !is_asked_by_project(agent, jni) {
        return false;
    }
    lock(&agent.state).asked_in_vain(&class, path);
    ASKED.with_borrow_mut(|(_, places)| places.push(path.to_owned()));
    true
}

/// Whether the project's own code called `Class.forName`, with only the JDK's class loaders in
/// between.
unsafe fn is_asked_by_project(agent: &Agent, jni: Jni) -> bool {
    const JDK: [&str; 3] = ["Ljava/", "Ljdk/", "Lsun/"];
    let mut has_asked = false;
    for method in agent.jvmti.methods_on_stack().unwrap_or_default() {
        let Some(class) = agent.jvmti.class_of_method(jni, method) else {
            return false;
        };
        if class == "Ljava/lang/Class;" {
            // Otherwise the JVM needs it because of another class.
            let name = agent.jvmti.method_name(method);
            has_asked |= name.is_some_and(|name| name.starts_with("forName"));
            if !has_asked {
                return false;
            }
        } else if has_asked {
            return lock(&agent.state).is_from_directory(class_named(&class));
        } else if !JDK.iter().any(|package| class.starts_with(package)) {
            return false;
        }
    }
    false
}
