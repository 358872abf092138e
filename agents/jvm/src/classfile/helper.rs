//! Builds the class that probes call, byte by byte. The agent defines it, so it needs no jar.

/// It is in a package that every module can see.
pub const HELPER: &str = "java/lang/TamisProbe";

/// The most probes in one JVM.
pub const PROBES: u32 = 1 << 22;

/// Its native methods. All are static and return nothing.
const NATIVES: &[(&str, &str)] = &[
    ("enter", "(I)V"),
    ("leave", "(I)V"),
    ("started", "(Ljava/lang/Object;)V"),
    ("prepared", "(Ljava/lang/Object;)V"),
    ("finished", "(Ljava/lang/Object;Ljava/lang/Object;)V"),
    ("skipped", "(Ljava/lang/Object;)V"),
    ("storeAsked", "(Ljava/lang/Object;Ljava/lang/Object;)V"),
    ("storeFilled", "(Ljava/lang/Object;Ljava/lang/Object;)V"),
    ("storeChanged", "(Ljava/lang/Object;Ljava/lang/Object;)V"),
    ("contextAsked", "(Ljava/lang/Object;)V"),
    ("contextMaking", "(Ljava/lang/Object;)V"),
    ("contextMade", "(Ljava/lang/Object;)V"),
    ("testClass", "(Ljava/lang/Object;)V"),
    ("setStarted", "(Ljava/lang/Object;)V"),
    ("setBroke", "(Ljava/lang/Object;)V"),
    ("setEnded", "(Ljava/lang/Object;)V"),
    ("lastEnded", "(Ljava/lang/Object;)V"),
    ("testName", "(Ljava/lang/Object;)V"),
    ("testRequest", "(Ljava/lang/Object;)V"),
    ("suiteStarted", "(Ljava/lang/Object;)V"),
    ("suiteFinished", "(Ljava/lang/Object;)V"),
    ("runnerStarted", "(Ljava/lang/Object;)V"),
    ("methodStarted", "(Ljava/lang/Object;)V"),
    ("methodFinished", "(Ljava/lang/Object;)V"),
    ("ignored", "(Ljava/lang/Object;)V"),
    ("stopped", "(Ljava/lang/Object;)V"),
    ("ngStarted", "(Ljava/lang/Object;)V"),
    ("ngSuite", "(Ljava/lang/Object;)V"),
    ("ngTests", "(Ljava/lang/Object;)V"),
    ("ngMaking", "(Ljava/lang/Object;)V"),
    ("ngTesting", "(Ljava/lang/Object;)V"),
    ("ngTested", "(Ljava/lang/Object;)V"),
    ("ngBetween", "(Ljava/lang/Object;)V"),
    ("ngClass", "(Ljava/lang/Object;)V"),
    ("ngMethod", "(Ljava/lang/Object;)V"),
    ("ngFailed", "(Ljava/lang/Object;)V"),
    ("ngNotPrepared", "(Ljava/lang/Object;)V"),
    ("ngFactory", "(Ljava/lang/Object;)V"),
    ("ngEngine", "(Ljava/lang/Object;)V"),
    ("ngJUnit", "(Ljava/lang/Object;)V"),
    ("ngKept", "(Ljava/lang/Object;)V"),
    ("ngAsked", "(Ljava/lang/Object;)V"),
    ("ngEnded", "(Ljava/lang/Object;)V"),
    ("ngSkipped", "(Ljava/lang/Object;Ljava/lang/Object;)V"),
    ("gotProperty", "(Ljava/lang/Object;)V"),
    ("setProperty", "(Ljava/lang/Object;)V"),
    ("failed", "(Ljava/lang/Object;)V"),
    ("canonical", "(Ljava/lang/Object;)V"),
    ("archive", "(Ljava/lang/Object;)V"),
    ("bundle", "(Ljava/lang/Object;)V"),
    ("env", "(Ljava/lang/Object;)V"),
    ("named", "(Ljava/lang/Object;)V"),
    ("asked", "(Ljava/lang/Object;)V"),
    ("used", "(Ljava/lang/Object;)V"),
    ("spawned", "(Ljava/lang/Object;)V"),
    ("discovers", "()V"),
    ("discovered", "()V"),
    ("discoversNext", "()V"),
    ("discoversClass", "(Ljava/lang/Object;)V"),
    ("discoversTest", "(Ljava/lang/Object;)V"),
    ("discoversAll", "(Ljava/lang/Object;)V"),
    ("describes", "(Ljava/lang/Object;)V"),
    ("described", "()V"),
    ("localMaking", "(Ljava/lang/Object;)V"),
    ("localMade", "(Ljava/lang/Object;Ljava/lang/Object;)V"),
    ("localeSet", "()V"),
    ("zoneSet", "()V"),
    ("loggingSet", "()V"),
    ("everyoneSet", "()V"),
    ("allProperties", "()V"),
    ("preferencesSet", "()V"),
    ("preferencesAsked", "()V"),
    ("beansAsked", "()V"),
    ("bundleAsked", "(Ljava/lang/Object;)V"),
    ("bundleMaking", "(Ljava/lang/Object;)V"),
    ("bundleMade", "(Ljava/lang/Object;)V"),
    ("beanSet", "(Ljava/lang/Object;)V"),
    ("beanAsked", "(Ljava/lang/Object;)V"),
];

/// `public final class java.lang.TamisProbe` with `static final byte[] a`, of
/// [`PROBES`] bytes, and the native methods.
pub fn helper_class() -> Vec<u8> {
    let mut pool = Pool::default();
    let this = pool.class(HELPER);
    let object = pool.class("java/lang/Object");
    let (field, bytes) = (pool.utf8("a"), pool.utf8("[B"));
    let named = pool.push(&[&[12], &field.to_be_bytes(), &bytes.to_be_bytes()]);
    let member = pool.push(&[&[9], &this.to_be_bytes(), &named.to_be_bytes()]);
    let count = pool.push(&[&[3], &PROBES.to_be_bytes()]);
    let (init, nothing, code) = (pool.utf8("<clinit>"), pool.utf8("()V"), pool.utf8("Code"));
    let natives: Vec<(u16, u16)> = NATIVES
        .iter()
        .map(|(name, kind)| (pool.utf8(name), pool.utf8(kind)))
        .collect();
    let mut out = Vec::new();
    out.extend_from_slice(&0xCAFE_BABEu32.to_be_bytes());
    // Java 5: without frames.
    out.extend_from_slice(&[0, 0, 0, 49]);
    out.extend_from_slice(&pool.next().to_be_bytes());
    out.extend_from_slice(&pool.bytes);
    let put = |out: &mut Vec<u8>, values: &[u16]| {
        for value in values {
            out.extend_from_slice(&value.to_be_bytes());
        }
    };
    // public final super; no interfaces; one field, public static final
    put(
        &mut out,
        &[0x0031, this, object, 0, 1, 0x0019, field, bytes, 0],
    );
    put(&mut out, &[natives.len() as u16 + 1]);
    for (name, kind) in natives {
        // public static native
        put(&mut out, &[0x0109, name, kind, 0]);
    }
    put(&mut out, &[0x0008, init, nothing, 1, code]);
    // ldc_w count; newarray byte; putstatic a; return
    let body = [
        &[0x13][..],
        &count.to_be_bytes(),
        &[0xbc, 8, 0xb3],
        &member.to_be_bytes(),
        &[0xb1],
    ]
    .concat();
    out.extend_from_slice(&(body.len() as u32 + 12).to_be_bytes());
    put(&mut out, &[1, 0]);
    out.extend_from_slice(&(body.len() as u32).to_be_bytes());
    out.extend_from_slice(&body);
    // no handlers, no attributes of the code, none of the class
    put(&mut out, &[0, 0, 0]);
    out
}

#[derive(Default)]
struct Pool {
    bytes: Vec<u8>,
    count: u16,
}

impl Pool {
    fn next(&self) -> u16 {
        self.count + 1
    }

    fn push(&mut self, parts: &[&[u8]]) -> u16 {
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        self.count += 1;
        self.count
    }

    fn utf8(&mut self, text: &str) -> u16 {
        self.push(&[&[1], &(text.len() as u16).to_be_bytes(), text.as_bytes()])
    }

    fn class(&mut self, name: &str) -> u16 {
        let name = self.utf8(name).to_be_bytes();
        self.push(&[&[7], &name])
    }
}

#[cfg(test)]
mod tests {
    use super::super::ClassFile;
    use super::*;

    #[test]
    fn the_helper_is_a_class_file() {
        let bytes = helper_class();
        let class = ClassFile::parse(&bytes).unwrap();
        assert_eq!(class.name, HELPER.as_bytes());
        assert_eq!(class.methods.len(), NATIVES.len() + 1);
    }
}
