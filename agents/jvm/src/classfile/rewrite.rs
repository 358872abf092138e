//! Puts probes at the beginning of methods, and at the end of static initialisers.
//!
//! The inserted code is a multiple of four bytes long, so that the padding of switches stays
//! the same. Branches are relative and also stay. So only absolute positions in the code must
//! move: exception handlers, frames, tables for debuggers. A branch back to the first
//! instruction does not run the inserted code again.
//! what was put in front of it again.

use super::{Attribute, ClassFile, Code, Malformed, Member, Reader, Result};

#[derive(Debug)]
pub struct Additions {
    bytes: Vec<u8>,
    next: u32,
}

impl Additions {
    fn push(&mut self, bytes: &[&[u8]]) -> Result<u16> {
        let index = u16::try_from(self.next)
            .ok()
            .filter(|index| *index < 65_534);
        let index = index.ok_or(Malformed("no room in the constant pool"))?;
        self.next += 1;
        for part in bytes {
            self.bytes.extend_from_slice(part);
        }
        Ok(index)
    }

    /// # Errors
    /// The pool is full. This holds for all of these methods.
    pub fn utf8(&mut self, text: &str) -> Result<u16> {
        let len = u16::try_from(text.len()).map_err(|_| Malformed("text too long"))?;
        self.push(&[&[1], &len.to_be_bytes(), text.as_bytes()])
    }

    pub fn integer(&mut self, value: u32) -> Result<u16> {
        self.push(&[&[3], &value.to_be_bytes()])
    }

    pub fn class(&mut self, name: &str) -> Result<u16> {
        let name = self.utf8(name)?.to_be_bytes();
        self.push(&[&[7], &name])
    }

    pub fn field(&mut self, class: &str, name: &str, kind: &str) -> Result<u16> {
        self.member(9, class, name, kind)
    }

    pub fn method(&mut self, class: &str, name: &str, kind: &str) -> Result<u16> {
        self.member(10, class, name, kind)
    }

    fn member(&mut self, tag: u8, class: &str, name: &str, kind: &str) -> Result<u16> {
        let class = self.class(class)?.to_be_bytes();
        let (name, kind) = (
            self.utf8(name)?.to_be_bytes(),
            self.utf8(kind)?.to_be_bytes(),
        );
        let named = self.push(&[&[12], &name, &kind])?.to_be_bytes();
        self.push(&[&[tag], &class, &named])
    }
}

/// Code to insert into a method.
#[derive(Clone, Debug, Default)]
pub struct Insertion {
    /// Runs first; padded with `nop` to a multiple of 4.
    pub prologue: Vec<u8>,
    /// Replaces the last instruction, which must be the only `return`; ends with one itself.
    pub epilogue: Option<Vec<u8>>,
    /// How much of the operand stack they need.
    pub stack: u16,
}

const NOP: u8 = 0x00;
const RETURN: u8 = 0xb1;

/// Inserts into each method the code that `plan` returns for it. Methods without code or
/// without room are given to `left_out`.
///
/// # Errors
/// The class file is malformed, or its constant pool is full.
pub fn rewrite<'a>(
    class: &ClassFile<'a>,
    mut plan: impl FnMut(usize, &Member<'a>, &mut Additions) -> Result<Option<Insertion>>,
    mut left_out: impl FnMut(usize, Malformed),
) -> Result<Vec<u8>> {
    let mut additions = Additions {
        bytes: Vec::new(),
        next: class.pool.entries.len() as u32,
    };
    let mut methods = Vec::with_capacity(class.bytes.len() / 2);
    for (index, method) in class.methods.iter().enumerate() {
        let whole = &class.bytes[method.span.0..method.span.1];
        let rewritten = match plan(index, method, &mut additions)? {
            None => None,
            Some(insertion) => match rewrite_method(class, method, insertion) {
                Ok(rewritten) => Some(rewritten),
                Err(why) => {
                    left_out(index, why);
                    None
                }
            },
        };
        match rewritten {
            Some(rewritten) => methods.extend_from_slice(&rewritten),
            None => methods.extend_from_slice(whole),
        }
    }
    let mut bytes = Vec::with_capacity(class.bytes.len() + additions.bytes.len() + methods.len());
    bytes.extend_from_slice(&class.bytes[..8]);
    bytes.extend_from_slice(&(additions.next as u16).to_be_bytes());
    bytes.extend_from_slice(&class.bytes[10..class.pool_end]);
    bytes.extend_from_slice(&additions.bytes);
    bytes.extend_from_slice(&class.bytes[class.pool_end..class.methods_start]);
    bytes.extend_from_slice(&methods);
    bytes.extend_from_slice(&class.bytes[class.methods_end..]);
    Ok(bytes)
}

fn rewrite_method(
    class: &ClassFile<'_>,
    method: &Member<'_>,
    mut insertion: Insertion,
) -> Result<Vec<u8>> {
    while !insertion.prologue.len().is_multiple_of(4) {
        insertion.prologue.push(NOP);
    }
    let code = method.code(&class.pool)?.ok_or(Malformed("no code"))?;
    let code = shifted(&code, &insertion)?;
    let mut bytes = Vec::new();
    // Access, name and descriptor stay the same.
    bytes.extend_from_slice(&class.bytes[method.span.0..method.span.0 + 6]);
    bytes.extend_from_slice(&(method.attributes.len() as u16).to_be_bytes());
    for attribute in &method.attributes {
        let content = match attribute.name {
            b"Code" => code.as_slice(),
            _ => attribute.content,
        };
        put_attribute(&mut bytes, attribute.name_index, content)?;
    }
    Ok(bytes)
}

fn put_attribute(bytes: &mut Vec<u8>, name: u16, content: &[u8]) -> Result<()> {
    bytes.extend_from_slice(&name.to_be_bytes());
    let len = u32::try_from(content.len()).map_err(|_| Malformed("attribute too long"))?;
    bytes.extend_from_slice(&len.to_be_bytes());
    bytes.extend_from_slice(content);
    Ok(())
}

/// The content of a `Code` attribute with the insertion.
fn shifted(code: &Code<'_>, insertion: &Insertion) -> Result<Vec<u8>> {
    let by = u16::try_from(insertion.prologue.len()).map_err(|_| Malformed("long probe"))?;
    let epilogue = match &insertion.epilogue {
        Some(epilogue) if has_one_return(code)? => Some(epilogue),
        Some(_) => return Err(Malformed("several ways out")),
        None => None,
    };
    let kept = code.bytes.len() - usize::from(epilogue.is_some());
    let mut bytes = insertion.prologue.clone();
    bytes.extend_from_slice(&code.bytes[..kept]);
    bytes.extend_from_slice(epilogue.map_or(&[], Vec::as_slice));
    if bytes.len() > 65_535 {
        return Err(Malformed("no room in the method"));
    }
    let old_len = code.bytes.len();
    let mut content = Vec::with_capacity(bytes.len() + 64);
    let stack = match epilogue {
        // Values on the stack at the end stay there.
        Some(_) => code.max_stack.saturating_add(insertion.stack),
        None => code.max_stack.max(insertion.stack),
    };
    content.extend_from_slice(&stack.to_be_bytes());
    content.extend_from_slice(&code.max_locals.to_be_bytes());
    content.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    content.extend_from_slice(&bytes);
    let mut handlers: Vec<_> = code.handlers.clone();
    if epilogue.is_some() {
        // A handler for only the last instruction, a plain return, is useless.
        for handler in &mut handlers {
            handler.1 = handler.1.min((old_len - 1) as u16);
        }
        handlers.retain(|handler| handler.0 < handler.1);
    }
    content.extend_from_slice(&(handlers.len() as u16).to_be_bytes());
    for (start, end, target, class) in handlers {
        for value in [start + by, end + by, target + by, class] {
            content.extend_from_slice(&value.to_be_bytes());
        }
    }
    let attributes: Vec<&Attribute<'_>> = code
        .attributes
        .iter()
        // At run time nothing reads these attributes of code.
        .filter(|one| !one.name.ends_with(b"visibleTypeAnnotations"))
        .filter(|one| !one.name.ends_with(b"VisibleTypeAnnotations"))
        .collect();
    content.extend_from_slice(&(attributes.len() as u16).to_be_bytes());
    for attribute in attributes {
        let moved = match attribute.name {
            b"StackMapTable" => frames(attribute.content, by)?,
            b"LineNumberTable" => lines(attribute.content, by)?,
            b"LocalVariableTable" | b"LocalVariableTypeTable" => locals(attribute.content, by)?,
            _ => attribute.content.to_owned(),
        };
        put_attribute(&mut content, attribute.name_index, &moved)?;
    }
    Ok(content)
}

/// Whether code ends with its only `return`, so that an epilogue is possible.
///
/// # Errors
/// The code is malformed.
pub fn has_one_return(code: &Code<'_>) -> Result<bool> {
    let mut returns = 0;
    let mut last = None;
    for instruction in code.instructions() {
        let instruction = instruction?;
        returns += usize::from(instruction.opcode == RETURN);
        last = Some(instruction.opcode);
    }
    Ok(returns == 1 && last == Some(RETURN))
}

/// Only the first frame has an absolute position; others are relative to the one before.
/// Uninitialised objects are named by the position of their `new`.
fn frames(content: &[u8], by: u16) -> Result<Vec<u8>> {
    let mut reader = Reader::new(content);
    let count = reader.u2()?;
    let mut out = count.to_be_bytes().to_vec();
    for at in 0..count {
        let by_here = if at == 0 { by } else { 0 };
        let tag = reader.u1()?;
        let moved = |delta: u16| delta.checked_add(by_here).ok_or(Malformed("frame too far"));
        match tag {
            0..=63 => match moved(u16::from(tag))? {
                delta @ 0..=63 => out.push(delta as u8),
                delta => {
                    out.push(251);
                    out.extend_from_slice(&delta.to_be_bytes());
                }
            },
            64..=127 => {
                match moved(u16::from(tag - 64))? {
                    delta @ 0..=63 => out.push(64 + delta as u8),
                    delta => {
                        out.push(247);
                        out.extend_from_slice(&delta.to_be_bytes());
                    }
                }
                types(&mut reader, &mut out, 1, by)?;
            }
            247..=255 => {
                out.push(tag);
                out.extend_from_slice(&moved(reader.u2()?)?.to_be_bytes());
                match tag {
                    247 => types(&mut reader, &mut out, 1, by)?,
                    252..=254 => types(&mut reader, &mut out, u16::from(tag - 251), by)?,
                    255 => {
                        for _ in 0..2 {
                            let count = reader.u2()?;
                            out.extend_from_slice(&count.to_be_bytes());
                            types(&mut reader, &mut out, count, by)?;
                        }
                    }
                    _ => {}
                }
            }
            _ => return Err(Malformed("unknown kind of frame")),
        }
    }
    match reader.is_done() {
        true => Ok(out),
        false => Err(Malformed("frames longer than their content")),
    }
}

fn types(reader: &mut Reader<'_>, out: &mut Vec<u8>, count: u16, by: u16) -> Result<()> {
    for _ in 0..count {
        let tag = reader.u1()?;
        out.push(tag);
        match tag {
            7 => out.extend_from_slice(&reader.u2()?.to_be_bytes()),
            8 => {
                let at = reader
                    .u2()?
                    .checked_add(by)
                    .ok_or(Malformed("new too far"))?;
                out.extend_from_slice(&at.to_be_bytes());
            }
            0..=6 => {}
            _ => return Err(Malformed("unknown kind of type")),
        }
    }
    Ok(())
}

/// The probe gets the line of the first instruction.
fn lines(content: &[u8], by: u16) -> Result<Vec<u8>> {
    let mut reader = Reader::new(content);
    let count = reader.u2()?;
    let mut out = count.to_be_bytes().to_vec();
    for _ in 0..count {
        let start = match reader.u2()? {
            0 => 0,
            start => start.checked_add(by).ok_or(Malformed("line too far"))?,
        };
        out.extend_from_slice(&start.to_be_bytes());
        out.extend_from_slice(&reader.u2()?.to_be_bytes());
    }
    Ok(out)
}

/// Parameters also exist while the probe runs.
fn locals(content: &[u8], by: u16) -> Result<Vec<u8>> {
    let mut reader = Reader::new(content);
    let count = reader.u2()?;
    let mut out = count.to_be_bytes().to_vec();
    for _ in 0..count {
        let (start, len) = (reader.u2()?, reader.u2()?);
        let moved = |value: u16| value.checked_add(by).ok_or(Malformed("variable too far"));
        let (start, len) = match start {
            0 => (0, moved(len)?),
            _ => (moved(start)?, len),
        };
        out.extend_from_slice(&start.to_be_bytes());
        out.extend_from_slice(&len.to_be_bytes());
        out.extend_from_slice(reader.take(6)?);
    }
    Ok(out)
}
