//! What a compiled test class says of how JUnit runs it.

use super::classfile::{ClassFile, Malformed, Pool, Reader, annotation_types};

/// What a class file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestClass {
    /// Names have slashes.
    pub name: String,
    pub extends: Option<String>,
    /// The value of `@RunWith`.
    pub runner: Option<String>,
    /// Whether it names other classes that it runs: `static … suite()`, and suites of
    /// the JUnit Platform.
    pub is_suite: bool,
    /// Whether anything in it has an annotation of JUnit's.
    pub is_annotated: bool,
    /// Whether it has tests of JUnit 4, or says what runs it.
    pub is_junit4: bool,
}

const RUN_WITH: &[u8] = b"Lorg/junit/runner/RunWith;";

impl TestClass {
    /// `None` if the class file is not understood.
    pub fn read(bytes: &[u8]) -> Option<TestClass> {
        Self::of(&ClassFile::parse(bytes).ok()?).ok()
    }

    fn of(file: &ClassFile<'_>) -> Result<TestClass, Malformed> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let types = annotation_types(file)?;
        let has = |prefix: &[u8]| types.iter().any(|name| name.starts_with(prefix));
        let mut class = TestClass {
            name: text(file.name),
            extends: file.super_name.map(text),
            runner: None,
            is_suite: has(b"org/junit/platform/suite/"),
            is_annotated: has(b"org/junit/"),
            is_junit4: types.contains(&&b"org/junit/Test"[..]),
        };
        class.is_suite |= file.methods.iter().any(|method| {
            method.is_static() && method.name == b"suite" && method.descriptor.starts_with(b"()")
        });
        for attribute in &file.attributes {
            if attribute.name == b"RuntimeVisibleAnnotations" {
                let mut reader = Reader::new(attribute.content);
                for _ in 0..reader.u2()? {
                    annotation(&mut reader, &file.pool, &mut class.runner, 0)?;
                }
            }
        }
        class.is_junit4 |= class.runner.is_some();
        class.is_junit4 |= class.extends.as_deref() == Some("junit/framework/TestCase");
        Ok(class)
    }
}

fn annotation(
    reader: &mut Reader<'_>,
    pool: &Pool<'_>,
    runner: &mut Option<String>,
    depth: usize,
) -> Result<(), Malformed> {
    let is_run_with = pool.utf8(reader.u2()?)? == RUN_WITH;
    for _ in 0..reader.u2()? {
        reader.u2()?;
        let class = element(reader, pool, runner, depth)?;
        if let Some(class) = class.filter(|_| is_run_with && depth == 0) {
            *runner = Some(class);
        }
    }
    Ok(())
}

/// The class that the value is, if it is one.
fn element(
    reader: &mut Reader<'_>,
    pool: &Pool<'_>,
    runner: &mut Option<String>,
    depth: usize,
) -> Result<Option<String>, Malformed> {
    if depth > 32 {
        return Err(Malformed("annotations in annotations without end"));
    }
    match reader.u1()? {
        b'e' => {
            reader.u4()?;
        }
        b'c' => {
            let name = String::from_utf8_lossy(pool.utf8(reader.u2()?)?).into_owned();
            let name = name.trim_start_matches('L').trim_end_matches(';');
            return Ok(Some(name.to_owned()));
        }
        b'@' => annotation(reader, pool, runner, depth + 1)?,
        b'[' => {
            for _ in 0..reader.u2()? {
                element(reader, pool, runner, depth + 1)?;
            }
        }
        _ => {
            reader.u2()?;
        }
    }
    Ok(None)
}
