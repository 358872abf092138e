//! What a compiled test class says of how JUnit runs it.

use std::path::Path;

use anyhow::Result as Done;

use super::annotations::{Value, said};
use super::classfile::{ClassFile, Malformed, annotation_types};
use super::{class_fingerprint, classes_in};
use crate::matrix::Fingerprint;

/// What a class file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TestClass {
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
    pub(crate) fn read(bytes: &[u8]) -> Option<TestClass> {
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

/// Changes with any class that has annotations, and with what others inherit from, as
/// both can make tests; [`Fingerprint::MISSING`] if there is no class.
///
/// # Errors
/// If something that is there cannot be read.
pub(super) fn may_be_tests_in(directory: &Path) -> Done<Fingerprint> {
    let mut form = Vec::new();
    for name in classes_in(directory)? {
        let bytes = crate::disk::read_named(directory.join(format!("{name}.class")))?;
        form.extend_from_slice(name.as_bytes());
        form.push(0);
        match inherits(&bytes) {
            Some(own) => form.extend_from_slice(&own),
            None => form.extend_from_slice(&class_fingerprint(&bytes).0),
        }
        form.push(0);
    }
    Ok(match form.is_empty() {
        true => Fingerprint::MISSING,
        false => Fingerprint::of_digest("tamis jvm suite 1", &form),
    })
}

/// What a class inherits from, with its flags, if nothing in it has an annotation.
fn inherits(bytes: &[u8]) -> Option<Vec<u8>> {
    let file = ClassFile::parse(bytes).ok()?;
    if !annotation_types(&file).ok()?.is_empty() {
        return None;
    }
    let mut form = file.access.to_be_bytes().to_vec();
    for name in file.super_name.iter().chain(&file.interfaces) {
        form.extend_from_slice(name);
        form.push(b';');
    }
    Some(form)
}
