//! What a compiled test class says of how JUnit runs it.

use super::annotations::{Value, said};
use super::classfile::{ClassFile, Malformed, annotation_types};

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

const RUN_WITH: &str = "org/junit/runner/RunWith";

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
            let values = said(attribute, &file.pool)?.into_iter();
            let mut runners = values.filter(|one| one.annotation == RUN_WITH && !one.is_inner);
            if let Some(Value::Class(runner)) = runners.next().map(|one| one.value) {
                class.runner = Some(runner);
            }
        }
        class.is_junit4 |= class.runner.is_some();
        class.is_junit4 |= class.extends.as_deref() == Some("junit/framework/TestCase");
        Ok(class)
    }
}
