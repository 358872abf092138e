//! Follows a static field to all objects that it leads to, and digests their content.
//!
//! Objects of the project, of the JDK and of libraries' containers are followed field by
//! field, and lambda expressions through their captured values. Their memory is read directly:
//! none of their code runs. [`rules`] says which fields are not state.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use crate::agent::{Agent, lock};
use crate::ffi::{FieldId, Jni, Object, class_named, digest_of};

mod beside;
mod rules;

use beside::Beside;
pub use beside::{field, field_of, len};

/// How many objects are followed for one class. A class with more always counts as changed.
const MOST: usize = 20_000;

/// How many bytes of a buffer outside the heap are digested. A larger buffer always counts as
/// changed.
const MOST_MEMORY: usize = 1 << 22;

/// Identities need no hashing.
#[derive(Default)]
pub struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

pub type ByIdentity<V> = HashMap<u64, V, BuildHasherDefault<AsItIs>>;

/// Replaces the first letter of a type for internal arrays and nodes of the JDK. Lists and
/// maps sometimes replace them without a change that a program can see.
const OWN: u8 = b'(';

/// The same for modification counts of collections, which only iterators can see.
const CHANGES: u8 = b')';

/// How to follow the objects of a class.
#[derive(Default)]
struct Shape {
    /// The followed fields of the class and its superclasses.
    fields: Vec<(FieldId, u8)>,
    is: Special,
    /// Whether it iterates over a collection and notices changes of it.
    iterates: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Special {
    #[default]
    Plain,
    /// An array of objects.
    Objects,
    /// An array of internal nodes of the JDK.
    Nodes,
    /// An array of a primitive type, whose elements have this size.
    Values(usize),
    ThreadLocal,
    ClassValue,
    /// Its elements are outside the heap.
    Direct,
    /// A counter tells whether it accepts tasks.
    Pool(FieldId),
}

impl Shape {
    /// Whether there is nothing to follow.
    fn is_value(&self) -> bool {
        self.is == Special::Plain && self.fields.is_empty()
    }
}

/// What earlier walks found out about classes.
#[derive(Default)]
pub struct Kinds {
    /// By the identity of the class: weak references to classes with that identity.
    shapes: ByIdentity<Vec<(Object, Rc<Shape>)>>,
    has_thread_locals: bool,
    has_class_values: bool,
    /// By identity: thread-local variables, each with a digest of the value that a thread gets
    /// by the JDK's code alone; `None` if other code takes part.
    first_values: ByIdentity<Vec<(Object, Option<u64>)>>,
}

/// The result of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// `None` if there were too many objects.
    pub digest: Option<u64>,
    /// The followed objects, by identity, each with a digest of its content; sorted.
    pub objects: Vec<(u32, u32)>,
}

/// Several walks over the same state.
pub struct Round<'a> {
    agent: &'a Agent,
    pub jni: Jni,
    kinds: &'a mut Kinds,
    thread_locals: Option<Beside>,
    class_values: Option<Beside>,
}

impl<'a> Round<'a> {
    /// Its local references stay until the caller's frame ends.
    pub unsafe fn new(agent: &'a Agent, jni: Jni, kinds: &'a mut Kinds) -> Round<'a> {
        let mut round = Round {
            agent,
            jni,
            kinds,
            thread_locals: None,
            class_values: None,
        };
        round.look_beside();
        round
    }

    /// Loads the values kept beside objects, if such objects were ever met. Returns whether
    /// anything new was loaded.
    unsafe fn look_beside(&mut self) -> bool {
        let (jvmti, jni) = (self.agent.jvmti, self.jni);
        let mut is_new = false;
        if self.kinds.has_thread_locals && self.thread_locals.is_none() {
            let mut all = Beside::of_threads(jvmti, jni);
            self.thread_locals = Some(Beside::default());
            all.retain(|local, value| !self.is_first_value(local, value));
            self.thread_locals = Some(all);
            is_new = true;
        }
        if self.kinds.has_class_values && self.class_values.is_none() {
            self.class_values = Some(Beside::of_classes(jvmti, jni));
            is_new = true;
        }
        is_new
    }

    /// Notes the value that a thread got for its first use of this variable; `by_jdk` if no
    /// code of the project ran for it.
    pub unsafe fn made_first_value(&mut self, local: Object, value: Object, by_jdk: bool) {
        let digest = match by_jdk {
            true => self.content_of(value),
            false => None,
        };
        let jni = self.jni;
        let identity = self.agent.jvmti.identity(local);
        let all = self.kinds.first_values.entry(identity).or_default();
        match all.iter_mut().find(|(known, _)| jni.is_same(*known, local)) {
            Some((_, known)) if *known != digest => *known = None,
            Some(_) => {}
            None => all.push((jni.weak(local), digest)),
        }
    }

    /// Whether a thread has the value that it would get anyway. A program cannot tell this
    /// from having no value.
    unsafe fn is_first_value(&mut self, local: Object, value: Object) -> bool {
        let all = self
            .kinds
            .first_values
            .get(&self.agent.jvmti.identity(local));
        let same = |(known, _): &&(Object, Option<u64>)| self.jni.is_same(*known, local);
        let known = all.and_then(|all| all.iter().find(same));
        match known.and_then(|(_, digest)| *digest) {
            Some(digest) => self.content_of(value) == Some(digest),
            None => false,
        }
    }

    unsafe fn content_of(&mut self, value: Object) -> Option<u64> {
        let jni = self.jni;
        let held = self.walk(true, |look| look.meet(jni.local(value)))?;
        held.digest.filter(|_| !value.is_null())
    }

    /// Follows the objects that `begin` meets. With `by_content`, graphs of equal objects are
    /// equal.
    pub unsafe fn walk(
        &mut self,
        by_content: bool,
        begin: impl Fn(&mut Look<'_, 'a>),
    ) -> Option<Reached> {
        loop {
            if !self.jni.push_frame() {
                return None;
            }
            let jni = self.jni;
            let mut look = Look {
                round: self,
                by_content,
                seen: ByIdentity::default(),
                open: Vec::new(),
                digest: 0,
                own: 0,
                is_anything: false,
                is_whole: true,
                changes: 0,
                iterates: false,
                objects: Vec::new(),
            };
            begin(&mut look);
            look.follow();
            let reached = look.reached();
            jni.pop_frame();
            // Once more with the values beside, which were not loaded before.
            if !self.look_beside() {
                return Some(reached);
            }
        }
    }

    unsafe fn shape_of(&mut self, class: Object) -> Rc<Shape> {
        let identity = self.agent.jvmti.identity(class);
        let known = self.kinds.shapes.get(&identity);
        let same = |(weak, _): &&(Object, Rc<Shape>)| self.jni.is_same(*weak, class);
        if let Some((_, shape)) = known.and_then(|known| known.iter().find(same)) {
            return shape.clone();
        }
        let shape = Rc::new(self.new_shape(class));
        let weak = self.jni.weak(class);
        let known = self.kinds.shapes.entry(identity).or_default();
        known.push((weak, shape.clone()));
        shape
    }

    unsafe fn new_shape(&mut self, class: Object) -> Shape {
        let mut shape = Shape::default();
        let (jvmti, jni) = (self.agent.jvmti, self.jni);
        let Some(signature) = jvmti.signature(class) else {
            return shape;
        };
        match signature.as_bytes() {
            [b'[', ..] if rules::is_node(&signature) => shape.is = Special::Nodes,
            [b'[', b'L' | b'[', ..] => shape.is = Special::Objects,
            [b'[', kind] => shape.is = Special::Values(size_of_kind(*kind)),
            _ => {}
        }
        if shape.is != Special::Plain {
            return shape;
        }
        let name = class_named(&signature);
        let is_followed = self.is_of_jdk(class, name)
            || rules::is_container(name)
            || name.contains("$$Lambda")
            || lock(&self.agent.state).is_loaded(name);
        let mut above = jni.local(class);
        while !above.is_null() {
            let signature = jvmti.signature(above).unwrap_or_default();
            let name = class_named(&signature);
            let is_of_jdk = self.is_of_jdk(above, name);
            let rule = match is_of_jdk {
                true => rules::of_jdk(name),
                false => rules::Rule::All,
            };
            if rule == rules::Rule::Stop {
                jni.drop_local(above);
                break;
            }
            let is_pool = name == "java/util/concurrent/ThreadPoolExecutor";
            match name {
                "java/lang/ThreadLocal" => shape.is = Special::ThreadLocal,
                "java/lang/ClassValue" => shape.is = Special::ClassValue,
                "java/nio/DirectByteBuffer" => shape.is = Special::Direct,
                _ => {}
            }
            if is_followed {
                for field in jvmti.fields(above) {
                    if field.is_static() {
                        continue;
                    }
                    if rule.has(&field.name) {
                        let kind = match field.kind {
                            b'[' if is_of_jdk => OWN,
                            _ if rules::is_node(&field.descriptor) => OWN,
                            _ if is_of_jdk && field.name == "modCount" => CHANGES,
                            kind => kind,
                        };
                        shape.iterates |= is_of_jdk && field.name == "expectedModCount";
                        shape.fields.push((field.id, kind));
                    } else if is_pool && field.name == "ctl" {
                        shape.is = Special::Pool(field.id);
                    }
                }
            }
            let next = jni.super_class(above);
            jni.drop_local(above);
            above = next;
        }
        shape
    }

    unsafe fn is_of_jdk(&self, class: Object, name: &str) -> bool {
        let of_platform = ["java/", "jdk/", "sun/", "com/sun/"];
        of_platform.iter().any(|prefix| name.starts_with(prefix))
            || self.agent.jvmti.is_of_boot_loader(class)
    }
}

pub struct Look<'r, 'a> {
    round: &'r mut Round<'a>,
    by_content: bool,
    /// The objects met so far, each with its position. Two with one identity have different
    /// keys.
    seen: ByIdentity<(Object, u32)>,
    /// The objects that are still to be followed, each with its key.
    open: Vec<(Object, u64)>,
    digest: u64,
    /// The digest of the present object.
    own: u64,
    /// Whether any value was not zero.
    is_anything: bool,
    is_whole: bool,
    /// The modification counts of collections, and whether an iterator would notice them.
    changes: u64,
    iterates: bool,
    objects: Vec<(u32, u32)>,
}

impl Look<'_, '_> {
    pub fn note(&mut self, bits: u64) {
        self.is_anything |= bits != 0;
        self.own = mixed(self.own, bits);
    }

    /// Notes the identity of an object, and puts it on the list to follow.
    pub unsafe fn meet(&mut self, object: Object) {
        self.meet_as(object, self.by_content);
    }

    /// The same; with `by_order` it notes its position instead of its identity.
    unsafe fn meet_as(&mut self, object: Object, by_order: bool) {
        if object.is_null() {
            return self.note(0);
        }
        let jni = self.round.jni;
        let mut key = self.round.agent.jvmti.identity(object);
        let count = self.seen.len() as u32;
        loop {
            match self.seen.get(&key) {
                Some((known, at)) if jni.is_same(*known, object) => {
                    let at = *at;
                    jni.drop_local(object);
                    return self.note(if by_order { u64::from(at) } else { key });
                }
                Some(_) => key += 1 << 33,
                None => break,
            }
        }
        self.seen.insert(key, (object, count));
        self.open.push((object, key));
        self.note(if by_order { u64::from(count) } else { key });
    }

    /// Notes a static field, or a field of an object.
    pub unsafe fn field(&mut self, of: Object, field: FieldId, kind: u8, is_static: bool) {
        let jni = self.round.jni;
        match (kind, is_static) {
            (b'L' | b'[', true) => self.meet(jni.static_object(of, field)),
            (b'L' | b'[', false) => self.meet(jni.object_field(of, field)),
            (OWN, _) => self.meet_as(jni.object_field(of, field), true),
            (CHANGES, _) => self.changes = mixed(self.changes, jni.bits(of, field, b'I')),
            (kind, true) => self.note(jni.static_bits(of, field, kind)),
            (kind, false) => self.note(jni.bits(of, field, kind)),
        }
    }

    /// Follows all objects on the list, unless there are too many.
    unsafe fn follow(&mut self) {
        let jni = self.round.jni;
        self.digest = self.own;
        while let Some((object, key)) = self.open.pop() {
            if self.seen.len() > MOST {
                self.is_whole = false;
                return;
            }
            let class = jni.class_of(object);
            let shape = self.round.shape_of(class);
            jni.drop_local(class);
            self.own = 0;
            if shape.is_value() {
                if self.by_content {
                    self.note(key);
                    self.digest = mixed(self.digest, self.own);
                }
                continue;
            }
            if self.by_content {
                let kind = Rc::as_ptr(&shape) as u64;
                self.note(kind);
            }
            self.look_into(object, &shape);
            self.iterates |= shape.iterates;
            self.digest = mixed(self.digest, self.own);
            self.objects
                .push((key as u32, (self.own ^ self.own >> 32) as u32));
        }
    }

    unsafe fn look_into(&mut self, object: Object, shape: &Shape) {
        let jni = self.round.jni;
        match shape.is {
            Special::Plain => {}
            Special::Objects | Special::Nodes => {
                let len = jni.array_len(object);
                self.note(len as u64);
                for at in 0..len {
                    if self.seen.len() > MOST {
                        return;
                    }
                    let by_order = self.by_content || shape.is == Special::Nodes;
                    self.meet_as(jni.element_in(object, at), by_order);
                }
            }
            Special::Values(size) => {
                let len = jni.array_len(object) as usize * size;
                match jni.bytes_digest(object, len) {
                    Some(digest) => self.note(digest),
                    None => self.is_whole = false,
                }
            }
            Special::ThreadLocal => {
                self.round.kinds.has_thread_locals = true;
                let kept = self.round.thread_locals.as_ref();
                let kept = kept.map(|kept| kept.of(self.round.agent.jvmti, jni, object));
                self.beside(kept.unwrap_or_default());
            }
            Special::ClassValue => {
                self.round.kinds.has_class_values = true;
                let kept = self.round.class_values.as_ref();
                let kept =
                    kept.map(|kept| kept.of_class_value(self.round.agent.jvmti, jni, object));
                self.beside(kept.unwrap_or_default());
            }
            Special::Direct => {
                let (address, len) = jni.direct_memory(object);
                match memory_digest(address, len) {
                    Some(digest) => self.note(digest),
                    None => self.is_whole = false,
                }
            }
            Special::Pool(counter) => {
                // The upper bits of this atomic number tell how far it is shut down.
                let counter = jni.object_field(object, counter);
                let value = jni.field(jni.class_of(counter), c"value", c"I");
                if !value.is_null() {
                    self.note(jni.bits(counter, value, b'I') as u32 as u64 >> 29);
                }
            }
        }
        for (field, kind) in &shape.fields {
            self.field(object, *field, *kind, false);
        }
    }

    /// Notes the values that others keep for an object, each with its owner.
    unsafe fn beside(&mut self, kept: Vec<(u64, Object)>) {
        for (whose, value) in kept {
            self.note(whose);
            // The reference itself is needed for the next walk.
            self.meet(self.round.jni.local(value));
        }
    }

    fn reached(mut self) -> Reached {
        self.objects.sort_unstable();
        if self.iterates {
            self.digest = mixed(self.digest, self.changes);
        }
        Reached {
            digest: self.is_whole.then_some(match self.is_anything {
                true => self.digest | 1,
                false => NOTHING,
            }),
            objects: self.objects,
        }
    }
}

/// The digest of fields that are all zero.
pub const NOTHING: u64 = 0;

pub fn mixed(digest: u64, bits: u64) -> u64 {
    (digest ^ bits)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(29)
}

/// A digest of memory outside the heap. The memory may already be freed, so it is read through
/// the system and not by its address.
fn memory_digest(address: u64, len: usize) -> Option<u64> {
    if len == 0 || address == 0 {
        return Some(0);
    }
    let mut bytes = vec![0; Some(len).filter(|len| *len <= MOST_MEMORY)?];
    let memory = std::fs::File::open("/proc/self/mem").ok()?;
    memory.read_exact_at(&mut bytes, address).ok()?;
    Some(digest_of(&bytes))
}

fn size_of_kind(kind: u8) -> usize {
    match kind {
        b'J' | b'D' => 8,
        b'I' | b'F' => 4,
        b'C' | b'S' => 2,
        _ => 1,
    }
}
