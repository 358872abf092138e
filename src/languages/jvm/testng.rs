//! What a compiled test class says of how TestNG runs it.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result as Done;
use bstr::ByteSlice;

use super::annotations::{Value, said};
use super::classfile::{ClassFile, Malformed, annotation_types};
use super::{class_fingerprint, classes_in};
use crate::matrix::Fingerprint;

const ANNOTATIONS: &str = "org/testng/annotations/";

/// Annotations by which a class has a part in tests of others.
const FOR_OTHERS: [&str; 8] = [
    "BeforeSuite",
    "AfterSuite",
    "BeforeTest",
    "AfterTest",
    "BeforeGroups",
    "AfterGroups",
    "ObjectFactory",
    "Configuration",
];

/// What a class file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NgClass {
    /// Names have slashes.
    pub name: String,
    /// What it extends and implements.
    pub supers: Vec<String>,
    pub is_abstract: bool,
    /// Whether it has annotations of TestNG's.
    pub is_annotated: bool,
    /// Whether it has tests.
    pub has_tests: bool,
    /// The annotation by which it has a part in tests of other classes.
    pub for_others: Option<String>,
    /// Those that it has for all tests of a run.
    pub listeners: BTreeSet<String>,
    /// Why other classes cannot be left out where this one runs.
    pub needs_others: Option<String>,
}

impl NgClass {
    /// `None` if the class file is not understood.
    pub(crate) fn read(bytes: &[u8]) -> Option<NgClass> {
        Self::of(&ClassFile::parse(bytes).ok()?).ok()
    }

    fn of(file: &ClassFile<'_>) -> Result<NgClass, Malformed> {
        const ABSTRACT: u16 = 0x0400;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let types: BTreeSet<String> = annotation_types(file)?.into_iter().map(text).collect();
        let has = |name: &str| types.contains(&format!("{ANNOTATIONS}{name}"));
        let supers = file.super_name.iter().chain(&file.interfaces);
        Ok(NgClass {
            name: text(file.name),
            supers: supers.map(|name| text(name)).collect(),
            is_abstract: file.access & ABSTRACT != 0,
            is_annotated: types.iter().any(|name| name.starts_with(ANNOTATIONS)),
            has_tests: has("Test"),
            for_others: FOR_OTHERS
                .iter()
                .find(|name| has(name))
                .map(|name| format!("@{name}")),
            listeners: listeners(file)?,
            needs_others: match has("Factory") {
                true => Some("@Factory".to_owned()),
                false => dependence(file)?,
            },
        })
    }
}

/// Changes with classes that have a part in tests of others, and with which listeners
/// there are, wherever they are named; [`Fingerprint::MISSING`] if there is nothing.
///
/// # Errors
/// If something that is there cannot be read.
pub(super) fn for_others_in(directory: &Path) -> Done<Fingerprint> {
    let mut form = Vec::new();
    let mut listeners = BTreeSet::new();
    for name in classes_in(directory)? {
        let bytes = crate::disk::read_named(directory.join(format!("{name}.class")))?;
        if !bytes.contains_str(ANNOTATIONS) {
            continue;
        }
        let class = NgClass::read(&bytes);
        if class
            .as_ref()
            .is_none_or(|class| class.for_others.is_some())
        {
            form.extend_from_slice(name.as_bytes());
            form.push(0);
            form.extend_from_slice(&class_fingerprint(&bytes).0);
        }
        listeners.extend(class.into_iter().flat_map(|class| class.listeners));
    }
    for listener in listeners {
        form.extend_from_slice(format!("{listener};").as_bytes());
    }
    Ok(match form.is_empty() {
        true => Fingerprint::MISSING,
        false => Fingerprint::of_digest("tamis jvm testng 1", &form),
    })
}

/// What `@Listeners` of a class names.
fn listeners(file: &ClassFile<'_>) -> Result<BTreeSet<String>, Malformed> {
    let mut listeners = BTreeSet::new();
    for attribute in &file.attributes {
        for one in said(attribute, &file.pool)? {
            if let Value::Class(name) = one.value
                && one.annotation.strip_prefix(ANNOTATIONS) == Some("Listeners")
            {
                listeners.insert(name);
            }
        }
    }
    Ok(listeners)
}

/// An annotation by which tests depend on what may be another class's.
fn dependence(file: &ClassFile<'_>) -> Result<Option<String>, Malformed> {
    let of_methods = file.methods.iter().flat_map(|method| &method.attributes);
    for attribute in file.attributes.iter().chain(of_methods) {
        for one in said(attribute, &file.pool)? {
            let Value::Text(value) = &one.value else {
                continue;
            };
            let is_other = match one.element.as_str() {
                "dependsOnGroups" => true,
                // Of another class by its full name.
                "dependsOnMethods" => value.contains('.'),
                _ => false,
            };
            if is_other && one.annotation.starts_with(ANNOTATIONS) {
                return Ok(Some(format!("{} = {value:?}", one.element)));
            }
        }
    }
    Ok(None)
}
