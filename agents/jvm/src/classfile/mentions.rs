//! Finds the classes and members that the code of a method names and that can matter even if
//! none of their code is entered.

use super::{Attribute, ClassFile, Constant, Malformed, Member, Pool, Reader, Result};

/// A class that code names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mention<'a> {
    /// A class: one of its fields, its class object, or an interface that is called through.
    Class(&'a [u8]),
    /// A method, by class, name and descriptor. If that class has code for it, entering the
    /// code is recorded; otherwise the inherited method counts.
    Method(&'a [u8], &'a [u8], &'a [u8]),
}

/// What the code of one method names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses<'a> {
    /// Sorted.
    pub mentions: Vec<Mention<'a>>,
}

/// Finds what the code of `method` names.
///
/// # Errors
/// The class file is malformed.
pub fn used_by<'a>(class: &ClassFile<'a>, method: &Member<'a>) -> Result<Uses<'a>> {
    let mut uses = Uses::default();
    let Some(code) = method.code(&class.pool)? else {
        return Ok(uses);
    };
    for instruction in code.instructions() {
        let instruction = instruction?;
        let Some(index) = instruction.constant() else {
            continue;
        };
        match instruction.opcode {
            0xb2..=0xb5 => {
                let owner = class.pool.member(index)?.0;
                uses.mentions.extend(named(owner).map(Mention::Class));
            }
            0xb6..=0xb8 => add_method(&class.pool, index, &mut uses)?,
            0xb9 => {
                let owner = class.pool.member(index)?.0;
                uses.mentions.extend(named(owner).map(Mention::Class));
            }
            // Making an array runs no code of its element class, but depends on that class.
            0xbd | 0xc5 => {
                let element = class.pool.class(index)?;
                uses.mentions.extend(named(element).map(Mention::Class));
            }
            0xba | 0x12..=0x14 => add_constant(class, index, &mut uses, 0)?,
            _ => {}
        }
    }
    uses.mentions.sort_unstable();
    uses.mentions.dedup();
    Ok(uses)
}

fn add_method<'a>(pool: &Pool<'a>, index: u16, uses: &mut Uses<'a>) -> Result<()> {
    let (owner, name, kind) = pool.member(index)?;
    let owner = named(owner);
    uses.mentions
        .extend(owner.map(|owner| Mention::Method(owner, name, kind)));
    Ok(())
}

/// Adds a loaded constant, or an argument of a bootstrap method.
fn add_constant<'a>(
    class: &ClassFile<'a>,
    index: u16,
    uses: &mut Uses<'a>,
    depth: usize,
) -> Result<()> {
    let pool = &class.pool;
    match pool.get(index)? {
        Constant::Class(name) => {
            let name = pool.utf8(name)?;
            uses.mentions.extend(named(name).map(Mention::Class));
        }
        Constant::MethodType(kind) => {
            let classes = described_by(pool.utf8(kind)?);
            uses.mentions.extend(classes.map(Mention::Class));
        }
        Constant::MethodHandle(1..=4, member) => {
            let owner = pool.member(member)?.0;
            uses.mentions.extend(named(owner).map(Mention::Class));
        }
        Constant::MethodHandle(9, member) => {
            let owner = pool.member(member)?.0;
            uses.mentions.extend(named(owner).map(Mention::Class));
        }
        Constant::MethodHandle(_, member) => add_method(pool, member, uses)?,
        Constant::Dynamic(_, bootstrap, named_as) => {
            // The interface of a lambda expression.
            let (_, kind) = pool.name_and_type(named_as)?;
            let made = kind.rsplit(|byte| *byte == b')').next().unwrap_or(kind);
            uses.mentions.extend(named(made).map(Mention::Class));
            if depth > 8 {
                return Err(Malformed("constants made of constants without end"));
            }
            for argument in bootstrap_arguments(class, bootstrap)? {
                add_constant(class, argument, uses, depth + 1)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// The method handle and the arguments of a bootstrap method.
fn bootstrap_arguments(class: &ClassFile<'_>, wanted: u16) -> Result<Vec<u16>> {
    let table = class
        .attributes
        .iter()
        .find(|one| one.name == b"BootstrapMethods")
        .ok_or(Malformed("no bootstrap methods"))?;
    let mut reader = Reader::new(table.content);
    for at in 0..reader.u2()? {
        let mut all = vec![reader.u2()?];
        for _ in 0..reader.u2()? {
            all.push(reader.u2()?);
        }
        if at == wanted {
            return Ok(all);
        }
    }
    Err(Malformed("no such bootstrap method"))
}

/// The class in an internal name, an array's name or a descriptor.
fn named(text: &[u8]) -> Option<&[u8]> {
    let element = text
        .iter()
        .position(|byte| *byte != b'[')
        .map(|at| &text[at..])?;
    let is_descriptor = element.len() < text.len() || element.ends_with(b";");
    match is_descriptor {
        true => element.strip_prefix(b"L")?.strip_suffix(b";"),
        // A class may have a name of one letter, like a primitive type.
        false => Some(element),
    }
}

/// The classes that a descriptor names: `(I[La/B;)Lc/D;` → `a/B`, `c/D`.
pub fn described_by(descriptor: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = descriptor.iter().rposition(|byte| *byte == b';');
    let names = descriptor[..end.unwrap_or(0)].split(|byte| *byte == b';');
    names.filter_map(|part| {
        // Before it there are only letters of other types.
        let at = part.iter().position(|byte| *byte == b'L')?;
        Some(&part[at + 1..])
    })
}

/// The types of all annotations with run-time retention on the class, its fields and methods.
///
/// # Errors
/// The class file is malformed.
pub fn annotation_types<'a>(class: &ClassFile<'a>) -> Result<Vec<&'a [u8]>> {
    let of_members = class.fields.iter().chain(&class.methods);
    let all = class
        .attributes
        .iter()
        .chain(of_members.flat_map(|member| &member.attributes));
    let mut types = Vec::new();
    for attribute in all {
        read_annotations(attribute, &class.pool, &mut types)?;
    }
    types.sort_unstable();
    types.dedup();
    Ok(types)
}

fn read_annotations<'a>(
    attribute: &Attribute<'a>,
    pool: &Pool<'a>,
    types: &mut Vec<&'a [u8]>,
) -> Result<()> {
    let mut reader = Reader::new(attribute.content);
    match attribute.name {
        b"RuntimeVisibleAnnotations" => annotations(&mut reader, pool, types)?,
        b"RuntimeVisibleParameterAnnotations" => {
            for _ in 0..reader.u1()? {
                annotations(&mut reader, pool, types)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn annotations<'a>(
    reader: &mut Reader<'a>,
    pool: &Pool<'a>,
    types: &mut Vec<&'a [u8]>,
) -> Result<()> {
    for _ in 0..reader.u2()? {
        annotation(reader, pool, types, 0)?;
    }
    Ok(())
}

fn annotation<'a>(
    reader: &mut Reader<'a>,
    pool: &Pool<'a>,
    types: &mut Vec<&'a [u8]>,
    depth: usize,
) -> Result<()> {
    types.extend(named(pool.utf8(reader.u2()?)?));
    for _ in 0..reader.u2()? {
        reader.u2()?;
        element(reader, pool, types, depth)?;
    }
    Ok(())
}

fn element<'a>(
    reader: &mut Reader<'a>,
    pool: &Pool<'a>,
    types: &mut Vec<&'a [u8]>,
    depth: usize,
) -> Result<()> {
    if depth > 32 {
        return Err(Malformed("annotations in annotations without end"));
    }
    match reader.u1()? {
        b'e' => {
            types.extend(named(pool.utf8(reader.u2()?)?));
            reader.u2()?;
        }
        // `@ExtendWith(Some.class)`
        b'c' => types.extend(named(pool.utf8(reader.u2()?)?)),
        b'@' => annotation(reader, pool, types, depth + 1)?,
        b'[' => {
            for _ in 0..reader.u2()? {
                element(reader, pool, types, depth + 1)?;
            }
        }
        _ => {
            reader.u2()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_name_classes() {
        let names = |descriptor: &str| -> Vec<String> {
            let named = described_by(descriptor.as_bytes());
            named
                .map(|name| String::from_utf8_lossy(name).into_owned())
                .collect()
        };
        assert_eq!(names("(I[[La/B;JLL;)LLc/D;"), ["a/B", "L", "Lc/D"]);
        assert_eq!(names("[Lx;"), ["x"]);
        assert!(names("(IJ)V").is_empty());
        assert!(names("").is_empty());
    }
}
