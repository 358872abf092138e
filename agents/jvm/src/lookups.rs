//! Class files that are looked for where there are none.
//!
//! On the way to a class that is found elsewhere, that counts for all tests, as the JVM
//! looks but once. So it does for a class that the JVM itself needs, and what a library
//! asks for, which may keep the answer. But who asks by `Class.forName` and finds nothing
//! does so each time.

use std::cell::RefCell;

use crate::agent::{Agent, lock};
use crate::ffi::{Jni, class_named};

thread_local! {
    /// The class, its name with slashes, that this thread asked for last by its name, and
    /// where there is no such file.
    static ASKED: RefCell<(String, Vec<String>)> = RefCell::default();
}

/// A class is asked for by its name.
pub fn asked(class: String) {
    ASKED.set((class, Vec::new()));
}

/// A class is loaded: that its file is not in other places counts for all.
pub fn found(agent: &Agent, class: &str) {
    let places = ASKED.with_borrow_mut(|(asked, places)| match asked == class {
        true => std::mem::take(places),
        false => Vec::new(),
    });
    for place in places {
        lock(&agent.state).observed("exists", &place, Some("missing"), true);
    }
}

/// Whether a class is looked for here because the project's code asks for it by its name,
/// and its file is not there. Then that is noted.
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

/// Whether the project's own code called `Class.forName`, and nothing but the JDK's class
/// loaders is in between.
unsafe fn is_asked_by_project(agent: &Agent, jni: Jni) -> bool {
    const JDK: [&str; 3] = ["Ljava/", "Ljdk/", "Lsun/"];
    let mut has_asked = false;
    for method in agent.jvmti.methods_on_stack().unwrap_or_default() {
        let Some(class) = agent.jvmti.class_of_method(jni, method) else {
            return false;
        };
        if class == "Ljava/lang/Class;" {
            // Else the JVM needs it for what is asked of another class.
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
