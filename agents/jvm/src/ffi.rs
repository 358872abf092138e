//! The JNI and JVMTI functions in use, by their numbers in the tables that both specifications
//! fix.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;

mod heap;

pub use heap::digest_of;

/// Any reference to a Java object.
pub type Object = *mut c_void;
pub type MethodId = *mut c_void;
pub type FieldId = *mut c_void;
pub type Vm = *mut *const *const c_void;

/// Static fields that tools add to a program and that hold no state of it: JaCoCo's counters
/// (in classes for Java 10 and earlier), Groovy's caches for a class and its calls. But not
/// Groovy's `__$stMC`, which tells whether a class's methods were replaced.
fn is_made_beside(name: &CStr) -> bool {
    let name = name.to_bytes();
    let is_of_class = name.strip_prefix(b"$staticClassInfo");
    is_of_class.is_some_and(|rest| rest.iter().all(|byte| *byte == b'$'))
        || [&b"$jacocoData"[..], b"$callSiteArray"].contains(&name)
}

type Table = *mut *const *const c_void;

/// The function with this number.
unsafe fn function<F: Copy>(table: Table, number: usize) -> F {
    const { assert!(size_of::<F>() == size_of::<usize>()) };
    std::mem::transmute_copy(&*(*table).add(number))
}

/// The JNI environment of the current thread.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Jni(pub Table);

impl Jni {
    pub unsafe fn define_boot_class(self, name: &CStr, bytes: &[u8]) -> Object {
        type F = unsafe extern "system" fn(Table, *const c_char, Object, *const i8, i32) -> Object;
        let define: F = function(self.0, 5);
        let (start, len) = (bytes.as_ptr().cast(), bytes.len() as i32);
        self.checked(define(self.0, name.as_ptr(), ptr::null_mut(), start, len))
    }

    pub unsafe fn find_class(self, name: &CStr) -> Object {
        type F = unsafe extern "system" fn(Table, *const c_char) -> Object;
        self.checked(function::<F>(self.0, 6)(self.0, name.as_ptr()))
    }

    /// The result, or null after an exception, which is cleared.
    unsafe fn checked(self, result: Object) -> Object {
        match self.clear_exception() {
            true => ptr::null_mut(),
            false => result,
        }
    }

    /// Clears a pending exception, and returns whether there was one.
    pub unsafe fn clear_exception(self) -> bool {
        type Check = unsafe extern "system" fn(Table) -> u8;
        type Clear = unsafe extern "system" fn(Table);
        let is_pending = function::<Check>(self.0, 228)(self.0) != 0;
        if is_pending {
            function::<Clear>(self.0, 17)(self.0);
        }
        is_pending
    }

    pub unsafe fn is_exception_pending(self) -> bool {
        type Check = unsafe extern "system" fn(Table) -> u8;
        function::<Check>(self.0, 228)(self.0) != 0
    }

    /// Makes room for local references, which [`Jni::pop_frame`] frees.
    pub unsafe fn push_frame(self) -> bool {
        type F = unsafe extern "system" fn(Table, i32) -> i32;
        let done = function::<F>(self.0, 19)(self.0, 32) == 0;
        !self.clear_exception() && done
    }

    pub unsafe fn pop_frame(self) {
        type F = unsafe extern "system" fn(Table, Object) -> Object;
        function::<F>(self.0, 20)(self.0, ptr::null_mut());
    }

    pub unsafe fn global(self, object: Object) -> Object {
        type F = unsafe extern "system" fn(Table, Object) -> Object;
        function::<F>(self.0, 21)(self.0, object)
    }

    pub unsafe fn weak(self, object: Object) -> Object {
        type F = unsafe extern "system" fn(Table, Object) -> Object;
        function::<F>(self.0, 226)(self.0, object)
    }

    /// A strong reference to the object of a weak one, or null.
    pub unsafe fn local(self, object: Object) -> Object {
        type F = unsafe extern "system" fn(Table, Object) -> Object;
        function::<F>(self.0, 25)(self.0, object)
    }

    pub unsafe fn class_of(self, object: Object) -> Object {
        type F = unsafe extern "system" fn(Table, Object) -> Object;
        function::<F>(self.0, 31)(self.0, object)
    }

    pub unsafe fn is_instance(self, object: Object, class: Object) -> bool {
        type F = unsafe extern "system" fn(Table, Object, Object) -> u8;
        function::<F>(self.0, 32)(self.0, object, class) != 0
    }

    pub unsafe fn method(self, class: Object, name: &CStr, kind: &CStr) -> MethodId {
        type F = unsafe extern "system" fn(Table, Object, *const c_char, *const c_char) -> MethodId;
        let get: F = function(self.0, 33);
        self.checked(get(self.0, class, name.as_ptr(), kind.as_ptr()))
    }

    /// Calls a method without parameters that returns an object.
    pub unsafe fn call(self, object: Object, method: MethodId) -> Object {
        type F = unsafe extern "system" fn(Table, Object, MethodId, *const i64) -> Object;
        if object.is_null() || method.is_null() {
            return ptr::null_mut();
        }
        let call: F = function(self.0, 36);
        let nothing = 0;
        self.checked(call(self.0, object, method, &nothing))
    }

    /// Calls `object.name()`, found by its class.
    pub unsafe fn call_named(self, object: Object, name: &CStr, kind: &CStr) -> Object {
        if object.is_null() {
            return object;
        }
        let method = self.method(self.class_of(object), name, kind);
        self.call(object, method)
    }

    /// Calls a static method with a text parameter and a text result.
    pub unsafe fn call_with_text(self, class: Object, name: &CStr, text: &CStr) {
        type Find =
            unsafe extern "system" fn(Table, Object, *const c_char, *const c_char) -> MethodId;
        type Make = unsafe extern "system" fn(Table, *const c_char) -> Object;
        type Call = unsafe extern "system" fn(Table, Object, MethodId, *const Object) -> Object;
        let kind = c"(Ljava/lang/String;)Ljava/lang/String;";
        let method = function::<Find>(self.0, 113)(self.0, class, name.as_ptr(), kind.as_ptr());
        let text = function::<Make>(self.0, 167)(self.0, text.as_ptr());
        if !self.clear_exception() {
            function::<Call>(self.0, 116)(self.0, class, method, &text);
            self.clear_exception();
        }
    }

    /// The result of `hashCode()` of an object.
    pub unsafe fn hash_of(self, object: Object) -> i32 {
        type F = unsafe extern "system" fn(Table, Object, MethodId, *const i64) -> i32;
        if object.is_null() {
            return 0;
        }
        let method = self.method(self.class_of(object), c"hashCode", c"()I");
        if method.is_null() {
            return 0;
        }
        let call: F = function(self.0, 51);
        let nothing = 0;
        let hash = call(self.0, object, method, &nothing);
        match self.clear_exception() {
            true => 0,
            false => hash,
        }
    }

    /// The superclass of a class, or null.
    pub unsafe fn super_class(self, class: Object) -> Object {
        type F = unsafe extern "system" fn(Table, Object) -> Object;
        function::<F>(self.0, 10)(self.0, class)
    }

    /// Frees one local reference.
    pub unsafe fn drop_local(self, object: Object) {
        type F = unsafe extern "system" fn(Table, Object);
        if !object.is_null() {
            function::<F>(self.0, 23)(self.0, object);
        }
    }

    /// The ID of an object's field, or null.
    pub unsafe fn field(self, class: Object, name: &CStr, kind: &CStr) -> FieldId {
        type F = unsafe extern "system" fn(Table, Object, *const c_char, *const c_char) -> FieldId;
        let get: F = function(self.0, 94);
        self.checked(get(self.0, class, name.as_ptr(), kind.as_ptr()))
    }

    pub unsafe fn object_field(self, object: Object, field: FieldId) -> Object {
        type F = unsafe extern "system" fn(Table, Object, FieldId) -> Object;
        function::<F>(self.0, 95)(self.0, object, field)
    }

    /// Registers this function for a native method of a class.
    pub unsafe fn register(
        self,
        class: Object,
        name: &CStr,
        kind: &CStr,
        function_of: *mut c_void,
    ) -> bool {
        type F = unsafe extern "system" fn(Table, Object, *const [*const c_void; 3], i32) -> i32;
        let method = [
            name.as_ptr().cast(),
            kind.as_ptr().cast(),
            function_of.cast_const(),
        ];
        let done = function::<F>(self.0, 215)(self.0, class, &method, 1) == 0;
        !self.clear_exception() && done
    }

    pub unsafe fn array_len(self, array: Object) -> i32 {
        type F = unsafe extern "system" fn(Table, Object) -> i32;
        function::<F>(self.0, 171)(self.0, array)
    }

    /// An element of an array of objects.
    pub unsafe fn element(self, array: Object, at: i32) -> Object {
        type F = unsafe extern "system" fn(Table, Object, i32) -> Object;
        self.checked(function::<F>(self.0, 173)(self.0, array, at))
    }

    pub unsafe fn static_field(self, class: Object, name: &CStr, kind: &CStr) -> FieldId {
        type F = unsafe extern "system" fn(Table, Object, *const c_char, *const c_char) -> FieldId;
        let get: F = function(self.0, 144);
        self.checked(get(self.0, class, name.as_ptr(), kind.as_ptr()))
    }

    pub unsafe fn static_object(self, class: Object, field: FieldId) -> Object {
        type F = unsafe extern "system" fn(Table, Object, FieldId) -> Object;
        function::<F>(self.0, 145)(self.0, class, field)
    }

    /// The value of a static field of a primitive type, as bits.
    pub unsafe fn static_bits(self, class: Object, field: FieldId, kind: u8) -> u64 {
        self.bits_by(146, class, field, kind)
    }

    /// The same for a field of an object.
    pub unsafe fn bits(self, object: Object, field: FieldId, kind: u8) -> u64 {
        self.bits_by(96, object, field, kind)
    }

    /// `first` is the function for `boolean`; those for the other types follow.
    unsafe fn bits_by(self, first: usize, of: Object, field: FieldId, kind: u8) -> u64 {
        type One = unsafe extern "system" fn(Table, Object, FieldId) -> u8;
        type Two = unsafe extern "system" fn(Table, Object, FieldId) -> u16;
        type Four = unsafe extern "system" fn(Table, Object, FieldId) -> u32;
        type Eight = unsafe extern "system" fn(Table, Object, FieldId) -> u64;
        type Float = unsafe extern "system" fn(Table, Object, FieldId) -> f32;
        type Double = unsafe extern "system" fn(Table, Object, FieldId) -> f64;
        let table = self.0;
        match kind {
            b'Z' => u64::from(function::<One>(table, first)(table, of, field)),
            b'B' => u64::from(function::<One>(table, first + 1)(table, of, field)),
            b'C' => u64::from(function::<Two>(table, first + 2)(table, of, field)),
            b'S' => u64::from(function::<Two>(table, first + 3)(table, of, field)),
            b'I' => u64::from(function::<Four>(table, first + 4)(table, of, field)),
            b'J' => function::<Eight>(table, first + 5)(table, of, field),
            b'F' => {
                let value = function::<Float>(table, first + 6)(table, of, field);
                u64::from(value.to_bits())
            }
            _ => function::<Double>(table, first + 7)(table, of, field).to_bits(),
        }
    }

    /// A Java string. Unpaired surrogates are replaced.
    pub unsafe fn text(self, string: Object) -> Option<String> {
        type Len = unsafe extern "system" fn(Table, Object) -> i32;
        type Region = unsafe extern "system" fn(Table, Object, i32, i32, *mut u16);
        if string.is_null() {
            return None;
        }
        let len = function::<Len>(self.0, 164)(self.0, string);
        let mut units = vec![0u16; usize::try_from(len).ok()?];
        function::<Region>(self.0, 220)(self.0, string, 0, len, units.as_mut_ptr());
        match self.clear_exception() {
            true => None,
            false => Some(String::from_utf16_lossy(&units)),
        }
    }

    /// Gives `work` the bytes of an array in place; it must not use JNI. `None` if the JVM
    /// would copy them.
    pub unsafe fn with_bytes(self, array: Object, work: impl FnOnce(*mut u8)) -> Option<()> {
        type Get = unsafe extern "system" fn(Table, Object, *mut u8) -> *mut c_void;
        type Release = unsafe extern "system" fn(Table, Object, *mut c_void, i32);
        let mut is_copy = 0u8;
        let start = function::<Get>(self.0, 222)(self.0, array, &mut is_copy);
        if start.is_null() {
            return None;
        }
        if is_copy == 0 {
            work(start.cast());
        }
        function::<Release>(self.0, 223)(self.0, array, start, 0);
        (is_copy == 0).then_some(())
    }
}

/// A method on the stack of a thread.
#[repr(C)]
struct Frame {
    method: MethodId,
    location: i64,
}

/// The agent's JVMTI environment.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Jvmti(pub Table);

unsafe impl Send for Jvmti {}
unsafe impl Sync for Jvmti {}

/// Events, by number.
pub const VM_INIT: u32 = 50;
pub const VM_DEATH: u32 = 51;
pub const CLASS_FILE_LOAD_HOOK: u32 = 54;
pub const CLASS_PREPARE: u32 = 56;
pub const NATIVE_METHOD_BIND: u32 = 67;

/// Functions for events, starting at [`VM_INIT`].
pub type Callbacks = [*const c_void; 40];

impl Jvmti {
    pub unsafe fn of(vm: Vm) -> Option<Jvmti> {
        type F = unsafe extern "system" fn(Vm, *mut Table, i32) -> i32;
        let mut table: Table = ptr::null_mut();
        let found = function::<F>(vm, 6)(vm, &mut table, 0x3001_0200);
        (found == 0).then_some(Jvmti(table))
    }

    /// Requests the capabilities for bytecode, the hook for all classes, events for native
    /// methods, and changes to loaded classes.
    pub unsafe fn add_capabilities(self) -> bool {
        type F = unsafe extern "system" fn(Table, *const [u32; 4]) -> i32;
        let mut bits = [0u32; 4];
        for bit in [3, 26, 30, 37] {
            bits[bit / 32] |= 1 << (bit % 32);
        }
        function::<F>(self.0, 141)(self.0, &bits) == 0
    }

    pub unsafe fn set_callbacks(self, callbacks: &Callbacks) -> bool {
        type F = unsafe extern "system" fn(Table, *const Callbacks, i32) -> i32;
        let set: F = function(self.0, 121);
        set(self.0, callbacks, size_of::<Callbacks>() as i32) == 0
    }

    pub unsafe fn enable(self, event: u32) -> bool {
        // In C the last parameter is optional; here it is null.
        type F = unsafe extern "C" fn(Table, i32, u32, Object) -> i32;
        function::<F>(self.0, 1)(self.0, 1, event, ptr::null_mut()) == 0
    }

    pub unsafe fn allocate(self, bytes: &[u8]) -> *mut u8 {
        type F = unsafe extern "system" fn(Table, i64, *mut *mut u8) -> i32;
        let mut start = ptr::null_mut();
        if function::<F>(self.0, 45)(self.0, bytes.len() as i64, &mut start) != 0 {
            return ptr::null_mut();
        }
        ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len());
        start
    }

    unsafe fn free<T>(self, start: *mut T) {
        type F = unsafe extern "system" fn(Table, *mut u8) -> i32;
        function::<F>(self.0, 46)(self.0, start.cast());
    }

    /// `Ljava/lang/String;`
    pub unsafe fn signature(self, class: Object) -> Option<String> {
        type F =
            unsafe extern "system" fn(Table, Object, *mut *mut c_char, *mut *mut c_char) -> i32;
        let mut text: *mut c_char = ptr::null_mut();
        if function::<F>(self.0, 47)(self.0, class, &mut text, ptr::null_mut()) != 0 {
            return None;
        }
        let signature = CStr::from_ptr(text).to_string_lossy().into_owned();
        self.free(text);
        Some(signature)
    }

    /// The direct superclass and interfaces of a class, as local references.
    pub unsafe fn supers(self, jni: Jni, class: Object) -> Vec<Object> {
        type F = unsafe extern "system" fn(Table, Object, *mut i32, *mut *mut Object) -> i32;
        let mut supers = Vec::new();
        let above = jni.super_class(class);
        if !above.is_null() {
            supers.push(above);
        }
        let (mut count, mut start) = (0, ptr::null_mut());
        if function::<F>(self.0, 53)(self.0, class, &mut count, &mut start) == 0 {
            supers.extend(std::slice::from_raw_parts(start, count as usize));
            self.free(start);
        }
        supers
    }

    /// The name and descriptor of each overridable method that a class itself declares; `None`
    /// if the JVM does not tell.
    pub unsafe fn virtual_methods(self, class: Object) -> Option<Vec<String>> {
        type List = unsafe extern "system" fn(Table, Object, *mut i32, *mut *mut MethodId) -> i32;
        type Name = unsafe extern "system" fn(
            Table,
            MethodId,
            *mut *mut c_char,
            *mut *mut c_char,
            *mut *mut c_char,
        ) -> i32;
        type Modifiers = unsafe extern "system" fn(Table, MethodId, *mut i32) -> i32;
        /// Private, static, final.
        const FIXED: i32 = 0x1a;
        let (mut count, mut start) = (0, ptr::null_mut());
        if function::<List>(self.0, 51)(self.0, class, &mut count, &mut start) != 0 {
            return None;
        }
        let mut methods = Vec::with_capacity(count as usize);
        let mut is_told = true;
        for method in std::slice::from_raw_parts(start, count as usize) {
            let (mut name, mut kind): (*mut c_char, *mut c_char) =
                (ptr::null_mut(), ptr::null_mut());
            let (mut modifiers, none) = (0, ptr::null_mut());
            let named = function::<Name>(self.0, 63)(self.0, *method, &mut name, &mut kind, none);
            let told = function::<Modifiers>(self.0, 65)(self.0, *method, &mut modifiers);
            is_told &= named == 0 && told == 0;
            if named != 0 {
                continue;
            }
            let text = |start: *mut c_char| CStr::from_ptr(start).to_string_lossy().into_owned();
            let whole = text(name) + &text(kind);
            if modifiers & FIXED == 0 && !whole.starts_with('<') {
                methods.push(whole);
            }
            self.free(name);
            self.free(kind);
        }
        self.free(start);
        is_told.then_some(methods)
    }

    /// The class of a method (a local reference), its name and descriptor; `None` until the
    /// JVM has started.
    pub unsafe fn method(self, method: MethodId) -> Option<(Object, CString, CString)> {
        type Declaring = unsafe extern "system" fn(Table, MethodId, *mut Object) -> i32;
        type Name = unsafe extern "system" fn(
            Table,
            MethodId,
            *mut *mut c_char,
            *mut *mut c_char,
            *mut *mut c_char,
        ) -> i32;
        let (mut name, mut kind) = (ptr::null_mut(), ptr::null_mut());
        let none = ptr::null_mut();
        if function::<Name>(self.0, 63)(self.0, method, &mut name, &mut kind, none) != 0 {
            return None;
        }
        let texts = [name, kind].map(|start| {
            let text = CStr::from_ptr(start).to_owned();
            self.free(start);
            text
        });
        let mut class = ptr::null_mut();
        let found = function::<Declaring>(self.0, 64)(self.0, method, &mut class) == 0;
        let [name, kind] = texts;
        found.then_some((class, name, kind))
    }

    /// Whether the static initialiser of the class has finished.
    pub unsafe fn is_initialised(self, class: Object) -> bool {
        type F = unsafe extern "system" fn(Table, Object, *mut i32) -> i32;
        let mut status = 0;
        function::<F>(self.0, 48)(self.0, class, &mut status) == 0 && status & 4 != 0
    }

    pub unsafe fn identity(self, object: Object) -> u64 {
        type F = unsafe extern "system" fn(Table, Object, *mut i32) -> i32;
        let mut hash = 0;
        if object.is_null() || function::<F>(self.0, 57)(self.0, object, &mut hash) != 0 {
            return 0;
        }
        // Never the identity of null.
        hash as u32 as u64 | 1 << 32
    }

    /// Whether the frame at this depth of the current thread calls a method on an object; also
    /// `true` if unknown. Method handles call through a static method that has no frame.
    pub unsafe fn is_at_call(self, jni: Jni, depth: i32) -> bool {
        type Stack =
            unsafe extern "system" fn(Table, Object, i32, i32, *mut Frame, *mut i32) -> i32;
        type Code = unsafe extern "system" fn(Table, MethodId, *mut i32, *mut *mut u8) -> i32;
        const CALLS: [u8; 3] = [0xb6, 0xb7, 0xb9]; // virtual, special, interface
        let (method, thread) = (ptr::null_mut(), ptr::null_mut());
        let mut frame = Frame {
            method,
            location: 0,
        };
        let mut count = 0;
        let found =
            function::<Stack>(self.0, 103)(self.0, thread, depth, 1, &mut frame, &mut count);
        let (mut len, mut start) = (0, ptr::null_mut());
        if found != 0
            || count != 1
            || function::<Code>(self.0, 74)(self.0, frame.method, &mut len, &mut start) != 0
        {
            return true;
        }
        let code = std::slice::from_raw_parts(start, len as usize);
        let at = usize::try_from(frame.location).ok();
        let found = at.and_then(|at| code.get(at));
        let is_call = found.is_none_or(|code| CALLS.contains(code));
        self.free(start);
        is_call || self.is_of_handles(jni, frame.method)
    }

    /// The methods on the stack of the current thread; `None` if unknown.
    pub unsafe fn methods_on_stack(self) -> Option<Vec<MethodId>> {
        type Stack =
            unsafe extern "system" fn(Table, Object, i32, i32, *mut Frame, *mut i32) -> i32;
        const MOST: usize = 1024;
        let mut frames = Vec::with_capacity(MOST);
        let mut count = 0;
        let (start, most) = (frames.as_mut_ptr(), MOST as i32);
        let thread = ptr::null_mut();
        let found = function::<Stack>(self.0, 103)(self.0, thread, 0, most, start, &mut count);
        let count = usize::try_from(count).ok().filter(|count| *count < MOST)?;
        if found != 0 {
            return None;
        }
        frames.set_len(count);
        Some(frames.iter().map(|frame: &Frame| frame.method).collect())
    }

    pub unsafe fn method_name(self, method: MethodId) -> Option<String> {
        type Name = unsafe extern "system" fn(
            Table,
            MethodId,
            *mut *mut c_char,
            *mut *mut c_char,
            *mut *mut c_char,
        ) -> i32;
        let (mut name, none): (*mut c_char, _) = (ptr::null_mut(), ptr::null_mut());
        if function::<Name>(self.0, 63)(self.0, method, &mut name, none, none) != 0 {
            return None;
        }
        let text = CStr::from_ptr(name).to_string_lossy().into_owned();
        self.free(name);
        Some(text)
    }

    /// The signature of the class of a method.
    pub unsafe fn class_of_method(self, jni: Jni, method: MethodId) -> Option<String> {
        type Declaring = unsafe extern "system" fn(Table, MethodId, *mut Object) -> i32;
        let mut class = ptr::null_mut();
        if function::<Declaring>(self.0, 64)(self.0, method, &mut class) != 0 {
            return None;
        }
        let signature = self.signature(class);
        jni.drop_local(class);
        signature
    }

    /// Whether a method belongs to the classes behind method handles; also `true` if unknown.
    unsafe fn is_of_handles(self, jni: Jni, method: MethodId) -> bool {
        let signature = self.class_of_method(jni, method);
        signature.is_none_or(|name| name.starts_with("Ljava/lang/invoke/"))
    }

    /// Makes the JVM pass these classes through the hook again; returns whether all of them
    /// could be.
    pub unsafe fn retransform(self, classes: &[Object]) -> bool {
        type F = unsafe extern "system" fn(Table, i32, *const Object) -> i32;
        let retransform: F = function(self.0, 151);
        classes.is_empty() || retransform(self.0, classes.len() as i32, classes.as_ptr()) == 0
    }
}

/// `Ljava/lang/String;` → `java/lang/String`. A class name may also begin with an `L`.
pub fn class_named(signature: &str) -> &str {
    let name = signature.strip_prefix('L');
    let name = name.and_then(|name| name.strip_suffix(';'));
    name.unwrap_or(signature)
}

/// A string constant for C.
pub fn c(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}
