//! What static fields hold, compared before and after test classes.
//!
//! The value of a field is that of all objects that it leads to, through fields
//! of the project's own classes and of the JDK's collections. They are read in
//! place: no code of theirs is called.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::agent::{Agent, lock};
use crate::ffi::{FieldId, Jni, Object, class_named};

/// How many objects are looked at for one class; one that leads to more always
/// counts as changed.
const MOST: usize = 20_000;

/// What is known of the static fields of classes.
#[derive(Default)]
pub struct Statics {
    /// Weak references to the classes of the project, by name with slashes.
    classes: HashMap<String, Vec<Object>>,
    /// By name: a digest of what the static fields held when last looked at.
    values: HashMap<String, u64>,
    shapes: HashMap<(String, u64), Rc<Shape>>,
}

unsafe impl Send for Statics {}

/// The fields of a class and of those that it extends, as far as they are
/// followed, by what follows from their types.
#[derive(Default)]
struct Shape {
    fields: Vec<(FieldId, u8)>,
}

impl Statics {
    pub fn prepared(&mut self, name: &str, class: Object) {
        self.classes.entry(name.to_owned()).or_default().push(class);
    }
}

/// Notes what the static fields of a class hold at the end of its static
/// initialiser.
pub unsafe fn initialised(agent: &Agent, jni: Jni, name: &str) {
    let mut statics = lock(&agent.statics);
    if let Some(value) = value_of(agent, jni, &mut statics, name, true) {
        statics.values.insert(name.to_owned(), value);
    }
}

/// Those of the classes `used` (each with whether it has a static initialiser)
/// whose static fields hold something else than when they were last looked at.
pub unsafe fn changed(agent: &Agent, jni: Jni, used: Vec<(String, bool)>) -> Vec<String> {
    let mut statics = lock(&agent.statics);
    let mut changed = Vec::new();
    for (name, has_initialiser) in used {
        let value = value_of(agent, jni, &mut statics, &name, false);
        let known = match statics.values.get(&name) {
            // Without one, all fields began as zero.
            None if !has_initialiser => Some(NOTHING),
            known => known.copied(),
        };
        if value.is_none() || value != known {
            changed.push(name.clone());
        }
        statics.values.insert(name, value.unwrap_or(NOTHING));
    }
    changed
}

/// The digest of fields that are all zero.
const NOTHING: u64 = 0;

/// `None` if there is too much to look at.
unsafe fn value_of(
    agent: &Agent,
    jni: Jni,
    statics: &mut Statics,
    name: &str,
    is_initialising: bool,
) -> Option<u64> {
    let mut look = Look {
        agent,
        jni,
        shapes: std::mem::take(&mut statics.shapes),
        seen: HashSet::new(),
        open: Vec::new(),
        digest: 0,
        is_anything: false,
    };
    let mut is_whole = true;
    for weak in statics.classes.get(name).into_iter().flatten() {
        if !jni.push_frame() {
            continue;
        }
        let class = jni.local(*weak);
        if !class.is_null() && (is_initialising || agent.jvmti.is_initialised(class)) {
            look.statics_of(class);
            is_whole &= look.follow();
        }
        jni.pop_frame();
    }
    statics.shapes = look.shapes;
    is_whole.then_some(match look.is_anything {
        true => look.digest | 1,
        false => NOTHING,
    })
}

/// One walk from the static fields of a class.
struct Look<'a> {
    agent: &'a Agent,
    jni: Jni,
    shapes: HashMap<(String, u64), Rc<Shape>>,
    /// Who the objects are that were met.
    seen: HashSet<u64>,
    /// References to objects that are still to be looked into.
    open: Vec<Object>,
    digest: u64,
    /// Whether any field is other than zero.
    is_anything: bool,
}

const STATIC: i32 = 0x0008;

impl Look<'_> {
    fn note(&mut self, bits: u64) {
        self.is_anything |= bits != 0;
        self.digest = (self.digest ^ bits)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
    }

    /// Notes who an object is, and that it is to be looked into.
    unsafe fn meet(&mut self, object: Object) {
        let identity = self.agent.jvmti.identity(object);
        self.note(identity);
        if object.is_null() {
            return;
        }
        match self.seen.insert(identity) {
            true => self.open.push(object),
            false => self.jni.drop_local(object),
        }
    }

    unsafe fn statics_of(&mut self, class: Object) {
        for (field, kind, modifiers) in self.agent.jvmti.fields(class) {
            if modifiers & STATIC == 0 {
                continue;
            }
            match kind {
                b'L' | b'[' => {
                    let object = self.jni.static_object(class, field);
                    self.meet(object);
                }
                kind => {
                    let bits = self.jni.static_bits(class, field, kind);
                    self.note(bits);
                }
            }
        }
    }

    /// Looks into all objects that are open; whether these were not too many.
    unsafe fn follow(&mut self) -> bool {
        while let Some(object) = self.open.pop() {
            if self.seen.len() > MOST {
                for object in std::mem::take(&mut self.open) {
                    self.jni.drop_local(object);
                }
                self.jni.drop_local(object);
                return false;
            }
            let class = self.jni.class_of(object);
            if let Some(signature) = self.agent.jvmti.signature(class) {
                self.look_into(object, class, &signature);
            }
            self.jni.drop_local(class);
            self.jni.drop_local(object);
        }
        true
    }

    unsafe fn look_into(&mut self, object: Object, class: Object, signature: &str) {
        match signature.as_bytes() {
            [b'[', b'L' | b'[', ..] => {
                let len = self.jni.array_len(object);
                self.note(len as u64);
                for at in 0..len {
                    if self.seen.len() > MOST {
                        return;
                    }
                    let element = self.jni.element(object, at);
                    self.meet(element);
                }
            }
            [b'[', kind] => {
                let len = self.jni.array_len(object) as usize * size_of_kind(*kind);
                let digest = self.jni.bytes_digest(object, len);
                self.note(digest);
            }
            _ if self.is_followed(signature) => {
                let shape = self.shape_of(class, signature);
                for (field, kind) in &shape.fields {
                    match kind {
                        b'L' | b'[' => {
                            let value = self.jni.object_field(object, *field);
                            self.meet(value);
                        }
                        kind => {
                            let bits = self.jni.bits(object, *field, *kind);
                            self.note(bits);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether objects of this class are looked into: those of the project, and
    /// what holds things. Not what counts as one value, nor what leads
    /// everywhere.
    fn is_followed(&self, signature: &str) -> bool {
        let name = class_named(signature);
        let holds = ["java/util/", "java/lang/ThreadLocal"];
        let leads_on = [
            "java/util/ServiceLoader",
            "java/util/Timer",
            "java/util/jar/",
            "java/util/logging/",
            "java/util/regex/",
            "java/util/zip/",
            "java/util/Locale",
            "java/util/ResourceBundle",
            "java/util/TimeZone",
            "java/util/concurrent/ForkJoin",
            "java/util/concurrent/ThreadPool",
            "java/util/concurrent/locks/",
        ];
        let starts = |prefixes: &[&str]| prefixes.iter().any(|one| name.starts_with(one));
        if starts(&["java/", "javax/", "jdk/", "sun/"]) {
            return starts(&holds) && !starts(&leads_on);
        }
        lock(&self.agent.state).is_loaded(name)
    }

    unsafe fn shape_of(&mut self, class: Object, signature: &str) -> Rc<Shape> {
        let key = (signature.to_owned(), self.agent.jvmti.identity(class));
        if let Some(shape) = self.shapes.get(&key) {
            return shape.clone();
        }
        let mut shape = Shape::default();
        let mut above = self.jni.local(class);
        while !above.is_null() {
            for (field, kind, modifiers) in self.agent.jvmti.fields(above) {
                if modifiers & STATIC == 0 {
                    shape.fields.push((field, kind));
                }
            }
            let next = self.jni.super_class(above);
            self.jni.drop_local(above);
            above = next;
        }
        let shape = Rc::new(shape);
        self.shapes.insert(key, shape.clone());
        shape
    }
}

fn size_of_kind(kind: u8) -> usize {
    match kind {
        b'J' | b'D' => 8,
        b'I' | b'F' => 4,
        b'C' | b'S' => 2,
        _ => 1,
    }
}
