//! Decides which probes go into a class, and what they stand for.

use std::collections::HashSet;

use crate::classfile::{
    Additions, ClassFile, Constant, HELPER, Insertion, Malformed, Member, Mention, PROBES, Reader,
    annotation_types, described_by, has_one_return, rewrite, used_by,
};
use crate::hooks::{Argument, Hook};
use crate::state::{Class, Method, State, member_hash};

const ALOAD: [u8; 3] = [0x2a, 0x2b, 0x2c];
const INVOKESTATIC: u8 = 0xb8;
const LDC_W: u8 = 0x13;
const RETURN: u8 = 0xb1;

/// A class with a probe at the beginning of each method, ready to be registered.
pub struct Planned {
    pub bytes: Vec<u8>,
    pub class: Class,
    pub methods: Vec<Method>,
    /// Numbers of probes that could not be inserted.
    pub missing: Vec<u32>,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Plans the probes of a class that may change. `origin` is the directory from which it was
/// loaded, if any.
///
/// # Errors
/// The class file is malformed, or there is no room for probes.
pub fn plan(
    file: &ClassFile<'_>,
    origin: Option<&str>,
    state: &mut State,
) -> Result<Planned, Malformed> {
    let first = state.probes();
    let index = state.next_class();
    let mut class = Class {
        symbol: state.symbol(&text(file.name)),
        origin: origin.map(str::to_owned),
        // A change in generated code comes from its generator.
        has_statics: origin.is_some() && file.fields.iter().any(can_change),
        has_initialiser: file.methods.iter().any(|one| one.name == b"<clinit>"),
        ..Class::default()
    };
    class.is_whole = origin.is_none();
    for needed in supers(file) {
        class.needs.push(state.symbol(&needed));
    }
    let annotations = annotation_types(file)?.into_iter().map(text);
    let whole_needs: HashSet<String> = match origin {
        Some(_) => annotations.filter(|name| may_change(name)).collect(),
        // The generator may have inspected anything for it.
        None => named_classes(file).collect(),
    };
    for needed in whole_needs {
        class.whole_needs.push(state.symbol(&needed));
    }
    for named in told_by(file)? {
        class.tells_of.push(state.symbol(&named));
    }
    let mut methods = Vec::new();
    // For each method of the file, its number among those with code.
    let mut numbers = Vec::with_capacity(file.methods.len());
    for method in &file.methods {
        let has_code = method.attributes.iter().any(|one| one.name == b"Code");
        numbers.push(has_code.then_some(first + methods.len() as u32));
        if has_code {
            class
                .declared
                .insert(member_hash(method.name, method.descriptor));
            methods.push(summary(file, method, index, state)?);
        }
    }
    if first as usize + methods.len() > PROBES as usize {
        return Err(Malformed("no more probes"));
    }
    let mut missing = Vec::new();
    let mut field = None;
    let bytes = rewrite(
        file,
        |at, method, pool| {
            let Some(number) = numbers[at] else {
                return Ok(None);
            };
            let array = match field {
                Some(array) => array,
                None => *field.insert(pool.field(HELPER, "a", "[B")?),
            };
            let mut insertion = mark(array, number, pool)?;
            if method.name == b"<clinit>" {
                surround(&mut insertion, file, method, index, pool)?;
            }
            Ok(Some(insertion))
        },
        |at, _| missing.extend(numbers[at]),
    )?;
    Ok(Planned {
        bytes,
        class,
        methods,
        missing,
    })
}

/// What a class without probes stands for: whatever it does counts for every test.
pub fn unprobed(file: &ClassFile<'_>, origin: Option<&str>, state: &mut State) {
    let index = state.next_class();
    let class = Class {
        symbol: state.symbol(&text(file.name)),
        origin: origin.map(str::to_owned),
        whole_needs: named_classes(file)
            .map(|name| state.symbol(&name))
            .collect(),
        is_whole: true,
        ..Class::default()
    };
    let number = state.probes();
    let method = Method {
        class: index,
        ..Method::default()
    };
    state.loaded(class, vec![method], &[number]);
}

/// Whether the value of a field can change: it is not a constant.
fn can_change(field: &Member<'_>) -> bool {
    const FINAL: u16 = 0x0010;
    let is_value = matches!(field.descriptor, [_] | b"Ljava/lang/String;");
    field.is_static() && !(field.access & FINAL != 0 && is_value)
}

fn supers(file: &ClassFile<'_>) -> impl Iterator<Item = String> {
    let all = file.super_name.iter().chain(&file.interfaces);
    let names: HashSet<String> = all.map(|name| text(name)).collect();
    names.into_iter().filter(|name| may_change(name))
}

fn named_classes<'a>(file: &'a ClassFile<'_>) -> impl Iterator<Item = String> + 'a {
    let names = file.pool.entries.iter().filter_map(|entry| match entry {
        Constant::Class(name) => file.pool.utf8(*name).ok().map(text),
        _ => None,
    });
    names.filter(|name| may_change(name))
}

/// The classes in the types of a class's members, its nested classes, and its permitted
/// subclasses.
fn told_by(file: &ClassFile<'_>) -> Result<HashSet<String>, Malformed> {
    let members = file.fields.iter().chain(&file.methods);
    let mut found: HashSet<String> = members
        .flat_map(|member| described_by(member.descriptor))
        .map(text)
        .collect();
    for attribute in &file.attributes {
        let mut reader = Reader::new(attribute.content);
        match attribute.name {
            b"InnerClasses" => {
                for _ in 0..reader.u2()? {
                    let (inner, outer) = (reader.u2()?, reader.u2()?);
                    reader.u4()?;
                    if outer != 0 && file.pool.class(outer)? == file.name {
                        found.insert(text(file.pool.class(inner)?));
                    }
                }
            }
            b"NestMembers" | b"PermittedSubclasses" => {
                for _ in 0..reader.u2()? {
                    found.insert(text(file.pool.class(reader.u2()?)?));
                }
            }
            _ => {}
        }
    }
    found.retain(|name| may_change(name));
    Ok(found)
}

/// Not classes of the JDK.
fn may_change(name: &str) -> bool {
    !["java/", "jdk/", "sun/"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

fn summary(
    file: &ClassFile<'_>,
    method: &Member<'_>,
    class: u32,
    state: &mut State,
) -> Result<Method, Malformed> {
    let uses = used_by(file, method)?;
    let mut summary = Method {
        class,
        name: (text(method.name) + &text(method.descriptor)).into(),
        ..Method::default()
    };
    for mention in uses.mentions {
        let (owner, member) = match mention {
            Mention::Class(owner) => (owner, None),
            Mention::Method(owner, name, kind) => (owner, Some(member_hash(name, kind))),
        };
        if let Ok(owner) = std::str::from_utf8(owner)
            && may_change(owner)
        {
            summary.mentions.push((state.symbol(owner), member));
        }
    }
    Ok(summary)
}

/// `TamisProbe.a[number] = 1`
pub fn mark(array: u16, number: u32, pool: &mut Additions) -> Result<Insertion, Malformed> {
    let mut prologue = vec![0xb2];
    prologue.extend_from_slice(&array.to_be_bytes());
    push_int(&mut prologue, number, pool)?;
    // iconst_1; bastore
    prologue.extend_from_slice(&[0x04, 0x54]);
    Ok(Insertion {
        prologue,
        epilogue: None,
        stack: 3,
    })
}

fn push_int(code: &mut Vec<u8>, value: u32, pool: &mut Additions) -> Result<(), Malformed> {
    match i16::try_from(value) {
        Ok(value) => {
            code.push(0x11);
            code.extend_from_slice(&value.to_be_bytes());
        }
        Err(_) => {
            code.push(LDC_W);
            code.extend_from_slice(&pool.integer(value)?.to_be_bytes());
        }
    }
    Ok(())
}

/// Makes a static initialiser tell its beginning and its end. If its last instruction is not
/// its only `return`, which no Java compiler produces, it only tells its beginning.
fn surround(
    insertion: &mut Insertion,
    file: &ClassFile<'_>,
    method: &Member<'_>,
    class: u32,
    pool: &mut Additions,
) -> Result<(), Malformed> {
    let mut call = |name: &str, code: &mut Vec<u8>| -> Result<(), Malformed> {
        push_int(code, class, pool)?;
        code.push(INVOKESTATIC);
        let target = pool.method(HELPER, name, "(I)V")?;
        code.extend_from_slice(&target.to_be_bytes());
        Ok(())
    };
    // First, so that the mark belongs to the initialiser.
    let mut prologue = Vec::new();
    call("enter", &mut prologue)?;
    prologue.extend_from_slice(&insertion.prologue);
    insertion.prologue = prologue;
    let code = method.code(&file.pool)?.ok_or(Malformed("no code"))?;
    if has_one_return(&code)? {
        let mut epilogue = Vec::new();
        call("leave", &mut epilogue)?;
        epilogue.push(RETURN);
        insertion.epilogue = Some(epilogue);
    }
    Ok(())
}

/// Adds hooks to the methods of a class of the JDK or of a test framework. `None` if the class
/// has none of these methods.
///
/// # Errors
/// The class file is malformed, or a method is missing that is not optional.
pub fn hooked(
    file: &ClassFile<'_>,
    hooks: &[Hook],
    has_all: bool,
) -> Result<Option<Vec<u8>>, Malformed> {
    let mut found = HashSet::new();
    let mut missing = None;
    let bytes = rewrite(
        file,
        |_, method, pool| {
            let hook = hooks
                .iter()
                .enumerate()
                .find(|(_, hook)| hook.is_for(method));
            let Some((at, hook)) =
                hook.filter(|_| method.attributes.iter().any(|a| a.name == b"Code"))
            else {
                return Ok(None);
            };
            let mut prologue = Vec::new();
            for argument in hook.arguments {
                let slot = match argument {
                    Argument::This => 0,
                    Argument::First => usize::from(!method.is_static()),
                    Argument::Second => usize::from(!method.is_static()) + 1,
                };
                prologue.push(ALOAD[slot]);
            }
            prologue.push(INVOKESTATIC);
            let object = "Ljava/lang/Object;".repeat(hook.arguments.len());
            let target = pool.method(HELPER, hook.native, &format!("({object})V"))?;
            prologue.extend_from_slice(&target.to_be_bytes());
            found.insert(at);
            Ok(Some(Insertion {
                prologue,
                epilogue: None,
                stack: 2,
            }))
        },
        |_, why| missing = Some(why),
    )?;
    match missing {
        Some(why) => Err(why),
        None => {
            let mut needed = hooks
                .iter()
                .enumerate()
                .filter(|(_, hook)| !hook.is_optional);
            match has_all && !needed.all(|(at, _)| found.contains(&at)) {
                true => Err(Malformed("a method that needs a hook is missing")),
                false => Ok((!found.is_empty()).then_some(bytes)),
            }
        }
    }
}
