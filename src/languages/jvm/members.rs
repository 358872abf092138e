//! A class file in parts: each method's body, what the class is besides its
//! members, and what looking for a member of it finds.

use std::collections::{BTreeMap, BTreeSet};

use super::classfile::{Attribute, ClassFile, Constant, Member, Reader};
use super::normal::{Class, Form, Result};
use crate::matrix::Fingerprint;

/// The parts of one class file.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassUnits {
    pub shape: Fingerprint,
    /// What it extends and implements, with slashes.
    pub supers: Vec<String>,
    pub is_interface: bool,
    /// The class whose private members it may use.
    pub nest_host: Option<String>,
    nest_members: BTreeSet<String>,
    /// By name and descriptor, `f(I)V`.
    pub methods: BTreeMap<String, MethodUnit>,
    /// By name and descriptor, `x:I`: what resolving it finds.
    fields: BTreeMap<String, Fingerprint>,
}

/// A method.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodUnit {
    /// What it does.
    pub code: Fingerprint,
    pub access: u16,
    /// Members that its code names.
    pub references: Vec<Reference>,
    /// The methods that hold the lambda expression that this is the body of:
    /// theirs is the unit that changes with it.
    pub holders: Vec<String>,
}

/// A member that code names, by the class that it looks in first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    pub class: String,
    /// `f(I)V` or `x:I`
    pub member: String,
}

const PRIVATE: u16 = 0x0002;
const STATIC: u16 = 0x0008;
const ABSTRACT: u16 = 0x0400;
/// What linking looks at: who may use it, static, final, native, abstract.
const LINKING: u16 = 0x0007 | STATIC | 0x0010 | 0x0100 | ABSTRACT;

/// The methods of `java.lang.Object` that can be overridden.
const OF_OBJECT: [&str; 5] = [
    "clone()Ljava/lang/Object;",
    "equals(Ljava/lang/Object;)Z",
    "finalize()V",
    "hashCode()I",
    "toString()Ljava/lang/String;",
];

/// Stands for all methods, in the name of a unit of what a class overrides.
pub(crate) const ANY: &str = "*";

impl MethodUnit {
    /// Whether which code is run depends on the object that it is called on.
    pub fn is_virtual(&self, name: &str) -> bool {
        self.access & (PRIVATE | STATIC) == 0 && !name.starts_with('<')
    }

    pub fn is_static(&self) -> bool {
        self.access & STATIC != 0
    }

    pub fn is_native(&self) -> bool {
        self.access & 0x0100 != 0
    }
}

impl ClassUnits {
    /// # Errors
    /// If the class file is malformed, or has an attribute that is not known.
    pub(super) fn read(bytes: &[u8]) -> Result<ClassUnits> {
        let file = ClassFile::parse(bytes)?;
        let mut class = Class::new(&file)?;
        let mut units = ClassUnits {
            shape: shape(&file, &class)?,
            supers: file
                .super_name
                .iter()
                .chain(&file.interfaces)
                .map(|name| text(name))
                .collect(),
            is_interface: file.access & 0x0200 != 0,
            nest_host: None,
            nest_members: BTreeSet::new(),
            methods: BTreeMap::new(),
            fields: BTreeMap::new(),
        };
        for attribute in &file.attributes {
            let mut reader = Reader::new(attribute.content);
            match attribute.name {
                b"NestHost" => {
                    units.nest_host = Some(text(file.pool.class(reader.u2()?)?));
                }
                b"NestMembers" => {
                    for _ in 0..reader.u2()? {
                        let member = file.pool.class(reader.u2()?)?;
                        units.nest_members.insert(text(member));
                    }
                }
                _ => {}
            }
        }
        for field in &file.fields {
            let key = [text(field.name), text(field.descriptor)].join(":");
            units.fields.insert(key, declared(field, &class)?);
        }
        let holders = holders(&file, &class)?;
        for (at, method) in file.methods.iter().enumerate() {
            let code = Fingerprint::of_digest("tamis jvm method 1", &class.method(method)?);
            let unit = MethodUnit {
                code,
                access: method.access,
                references: references(&file, &class, method)?,
                holders: holders.get(&at).cloned().unwrap_or_default(),
            };
            units.methods.insert(key(method), unit);
        }
        Ok(units)
    }

    pub fn declares(&self, member: &str) -> bool {
        self.methods.contains_key(member) || self.fields.contains_key(member)
    }

    /// What the unit of kind `method` with this name and descriptor is worth.
    pub fn code(&self, method: &str) -> Fingerprint {
        let method = self.methods.get(method);
        method.map_or(Fingerprint::MISSING, |method| method.code)
    }

    /// What looking for a member finds here: `f(I)V`, `x:I`.
    pub fn member(&self, name: &str) -> Fingerprint {
        let method = self.methods.get(name).map(|method| {
            let flags = (method.access & LINKING).to_be_bytes();
            Fingerprint::of_digest("tamis jvm declaration 1", &flags)
        });
        let found = method.or_else(|| self.fields.get(name).copied());
        found.unwrap_or(Fingerprint::MISSING)
    }

    /// Whether `class` is of the nest that this one is the host of.
    pub fn of_nest(&self, class: &str) -> Fingerprint {
        match self.nest_members.contains(class) {
            true => Fingerprint::of_digest("tamis jvm nest 1", b""),
            false => Fingerprint::MISSING,
        }
    }

    /// Which of these methods, and of those of `Object`, it has.
    pub fn overriding(&self, names: &str) -> Fingerprint {
        let named: BTreeSet<&str> = names.split(' ').chain(OF_OBJECT).collect();
        let all = named.contains(ANY);
        let mut form = Form::default();
        for (name, method) in &self.methods {
            if method.is_virtual(name) && (all || named.contains(name.as_str())) {
                form.text(name.as_bytes());
                form.number(method.access & LINKING);
            }
        }
        Fingerprint::of_digest("tamis jvm overriding 1", &form.0)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn key(method: &Member<'_>) -> String {
    text(method.name) + &text(method.descriptor)
}

/// Attributes of a class that can be seen without looking at its members or
/// annotations. Who does look depends on the whole class.
const OF_SHAPE: [&[u8]; 5] = [
    b"EnclosingMethod",
    b"NestHost",
    b"PermittedSubclasses",
    b"Record",
    b"Signature",
];

/// Those that are seen only by who looks at members or annotations.
const NOT_OF_SHAPE: [&[u8]; 11] = [
    b"BootstrapMethods",
    b"Deprecated",
    b"InnerClasses",
    b"NestMembers",
    b"RuntimeInvisibleAnnotations",
    b"RuntimeInvisibleTypeAnnotations",
    b"RuntimeVisibleAnnotations",
    b"RuntimeVisibleTypeAnnotations",
    b"SourceDebugExtension",
    b"SourceFile",
    b"Synthetic",
];

fn shape<'a>(file: &ClassFile<'a>, class: &Class<'a>) -> Result<Fingerprint> {
    let mut form = Form::of_head(file);
    // An interface that has code is initialised with the classes that have it.
    let is_interface = file.access & 0x0200 != 0;
    let has_code = |method: &Member<'_>| method.access & (ABSTRACT | STATIC) == 0;
    let mut methods = file.methods.iter();
    let is_initialised = is_interface
        && methods.any(|one| one.name == b"<clinit>")
        && file.methods.iter().any(has_code);
    form.number(u16::from(is_initialised));
    let mut parts = Vec::new();
    for attribute in &file.attributes {
        let mut part = Form::default();
        part.text(attribute.name);
        match attribute.name {
            b"InnerClasses" => own_entry(file, attribute, &mut part)?,
            name if NOT_OF_SHAPE.contains(&name) => continue,
            name if OF_SHAPE.contains(&name) => class.attribute(attribute, &mut part)?,
            _ => {
                return Err(super::classfile::Malformed(
                    "an attribute that is not known",
                ));
            }
        }
        parts.push(part.0);
    }
    form.sorted(parts);
    Ok(Fingerprint::of_digest("tamis jvm shape 1", &form.0))
}

/// What a class says of itself among nested classes: its name there and flags.
fn own_entry(file: &ClassFile<'_>, attribute: &Attribute<'_>, form: &mut Form) -> Result<()> {
    let mut reader = Reader::new(attribute.content);
    for _ in 0..reader.u2()? {
        let (inner, outer) = (reader.u2()?, reader.u2()?);
        let (name, access) = (reader.u2()?, reader.u2()?);
        if file.pool.class(inner)? != file.name {
            continue;
        }
        if outer != 0 {
            form.text(file.pool.class(outer)?);
        }
        if name != 0 {
            form.text(file.pool.utf8(name)?);
        }
        form.number(access);
    }
    Ok(())
}

/// What resolving a field finds.
fn declared(field: &Member<'_>, class: &Class<'_>) -> Result<Fingerprint> {
    let mut form = Form::default();
    form.number(field.access);
    for attribute in &field.attributes {
        if attribute.name == b"ConstantValue" {
            class.attribute(attribute, &mut form)?;
        }
    }
    Ok(Fingerprint::of_digest("tamis jvm declaration 1", &form.0))
}

/// The constants that the code of a method names, with those that the bootstrap
/// methods among them are given.
fn constants(
    file: &ClassFile<'_>,
    class: &Class<'_>,
    method: &Member<'_>,
) -> Result<BTreeSet<u16>> {
    let mut found = BTreeSet::new();
    let Some(code) = method.code(&file.pool)? else {
        return Ok(found);
    };
    let mut open = Vec::new();
    for instruction in code.instructions() {
        open.extend(instruction?.constant());
    }
    while let Some(index) = open.pop() {
        if found.insert(index)
            && let Constant::Dynamic(_, bootstrap, _) = file.pool.get(index)?
        {
            let all = class.bootstraps().get(usize::from(bootstrap));
            open.extend(all.into_iter().flatten());
        }
    }
    Ok(found)
}

/// By method that is a lambda expression's body: the methods that hold it.
fn holders(file: &ClassFile<'_>, class: &Class<'_>) -> Result<BTreeMap<usize, Vec<String>>> {
    let mut holds: Vec<BTreeSet<usize>> = Vec::with_capacity(file.methods.len());
    for method in &file.methods {
        let mut lambdas = BTreeSet::new();
        for index in constants(file, class, method)? {
            lambdas.extend(class.lambda(index)?);
        }
        holds.push(lambdas);
    }
    let is_held = |at: usize| holds.iter().any(|held| held.contains(&at));
    let mut holders: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (at, method) in file.methods.iter().enumerate() {
        if is_held(at) {
            continue;
        }
        let mut open: Vec<usize> = holds[at].iter().copied().collect();
        let mut seen = BTreeSet::new();
        while let Some(lambda) = open.pop() {
            if seen.insert(lambda) {
                holders.entry(lambda).or_default().push(key(method));
                open.extend(&holds[lambda]);
            }
        }
    }
    Ok(holders)
}

fn references(
    file: &ClassFile<'_>,
    class: &Class<'_>,
    method: &Member<'_>,
) -> Result<Vec<Reference>> {
    let mut found = BTreeSet::new();
    for index in constants(file, class, method)? {
        if class.lambda(index)?.is_some() {
            // Written out in place of its name.
            continue;
        }
        let member = match file.pool.get(index)? {
            Constant::Member(..) => index,
            Constant::MethodHandle(_, member) => member,
            _ => continue,
        };
        let Constant::Member(tag, ..) = file.pool.get(member)? else {
            continue;
        };
        let (owner, name, kind) = file.pool.member(member)?;
        // Arrays have the methods of `Object`.
        if owner.first() != Some(&b'[') {
            let between = if tag == 9 { ":" } else { "" };
            found.insert(Reference {
                class: text(owner),
                member: [text(name), text(kind)].join(between),
            });
        }
    }
    Ok(found.into_iter().collect())
}
