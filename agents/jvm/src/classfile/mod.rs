//! Reads class files (JVMS 4) as far as necessary to put probes into them and to tell which
//! classes their code names. No I/O, no `unsafe`. tamis itself also uses this module for the
//! fingerprints of class files.

// The agent and tamis use different parts.
#![allow(dead_code, unused_imports)]

mod helper;
mod instructions;
mod mentions;
mod rewrite;

pub use helper::{HELPER, PROBES, helper_class};
pub use instructions::Instructions;
pub use mentions::{Mention, annotation_types, described_by, used_by};
pub use rewrite::{Additions, Insertion, has_one_return, rewrite};

/// Why bytes are not a class file that this code understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

type Result<T> = std::result::Result<T, Malformed>;

pub const STATIC: u16 = 0x0008;

/// A big-endian reader.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(len).ok_or(Malformed("length"))?;
        let taken = self.bytes.get(self.at..end).ok_or(Malformed("too short"))?;
        self.at = end;
        Ok(taken)
    }

    pub fn u1(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    pub fn u2(&mut self) -> Result<u16> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub fn u4(&mut self) -> Result<u32> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub fn is_done(&self) -> bool {
        self.at == self.bytes.len()
    }
}

/// An entry of the constant pool. Numbers are indexes into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant<'a> {
    /// Index 0, and the index after a long or a double.
    None,
    Utf8(&'a [u8]),
    Integer(u32),
    Float(u32),
    Long(u64),
    Double(u64),
    Class(u16),
    String(u16),
    /// Tag, class, name and type.
    Member(u8, u16, u16),
    NameAndType(u16, u16),
    MethodHandle(u8, u16),
    MethodType(u16),
    /// Tag, index of the bootstrap method, name and type.
    Dynamic(u8, u16, u16),
    Module(u16),
    Package(u16),
}

#[derive(Clone, Debug)]
pub struct Pool<'a> {
    pub entries: Vec<Constant<'a>>,
}

impl<'a> Pool<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Pool<'a>> {
        let count = usize::from(reader.u2()?);
        let mut entries = Vec::with_capacity(count);
        entries.push(Constant::None);
        while entries.len() < count {
            let tag = reader.u1()?;
            let entry = match tag {
                1 => {
                    let len = usize::from(reader.u2()?);
                    Constant::Utf8(reader.take(len)?)
                }
                3 => Constant::Integer(reader.u4()?),
                4 => Constant::Float(reader.u4()?),
                5 | 6 => {
                    let value = u64::from(reader.u4()?) << 32 | u64::from(reader.u4()?);
                    match tag {
                        5 => Constant::Long(value),
                        _ => Constant::Double(value),
                    }
                }
                7 => Constant::Class(reader.u2()?),
                8 => Constant::String(reader.u2()?),
                9..=11 => Constant::Member(tag, reader.u2()?, reader.u2()?),
                12 => Constant::NameAndType(reader.u2()?, reader.u2()?),
                15 => Constant::MethodHandle(reader.u1()?, reader.u2()?),
                16 => Constant::MethodType(reader.u2()?),
                17 | 18 => Constant::Dynamic(tag, reader.u2()?, reader.u2()?),
                19 => Constant::Module(reader.u2()?),
                20 => Constant::Package(reader.u2()?),
                _ => return Err(Malformed("unknown kind of constant")),
            };
            entries.push(entry);
            if matches!(entry, Constant::Long(_) | Constant::Double(_)) {
                // They take two indexes.
                entries.push(Constant::None);
            }
        }
        Ok(Pool { entries })
    }

    pub fn get(&self, index: u16) -> Result<Constant<'a>> {
        let entry = self.entries.get(usize::from(index));
        entry.copied().ok_or(Malformed("no such constant"))
    }

    pub fn utf8(&self, index: u16) -> Result<&'a [u8]> {
        match self.get(index)? {
            Constant::Utf8(text) => Ok(text),
            _ => Err(Malformed("not a text")),
        }
    }

    /// The internal name (`java/lang/String`, `[I`) of a class constant.
    pub fn class(&self, index: u16) -> Result<&'a [u8]> {
        match self.get(index)? {
            Constant::Class(name) => self.utf8(name),
            _ => Err(Malformed("not a class")),
        }
    }

    /// Name and descriptor.
    pub fn name_and_type(&self, index: u16) -> Result<(&'a [u8], &'a [u8])> {
        match self.get(index)? {
            Constant::NameAndType(name, kind) => Ok((self.utf8(name)?, self.utf8(kind)?)),
            _ => Err(Malformed("not a name and type")),
        }
    }

    /// Class, name and descriptor of a field or method that code names.
    pub fn member(&self, index: u16) -> Result<(&'a [u8], &'a [u8], &'a [u8])> {
        match self.get(index)? {
            Constant::Member(_, class, named) => {
                let (name, kind) = self.name_and_type(named)?;
                Ok((self.class(class)?, name, kind))
            }
            _ => Err(Malformed("not a member")),
        }
    }
}

/// An attribute, and the position of its content in the class file.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    pub name: &'a [u8],
    /// The constant with its name.
    pub name_index: u16,
    pub content: &'a [u8],
}

#[derive(Clone, Debug)]
pub struct Member<'a> {
    pub access: u16,
    pub name: &'a [u8],
    pub descriptor: &'a [u8],
    pub attributes: Vec<Attribute<'a>>,
    /// Its start and end in the class file.
    pub span: (usize, usize),
}

impl<'a> Member<'a> {
    pub fn is_static(&self) -> bool {
        self.access & STATIC != 0
    }

    /// # Errors
    /// Its `Code` attribute is malformed.
    pub fn code(&self, pool: &Pool<'a>) -> Result<Option<Code<'a>>> {
        let code = self.attributes.iter().find(|one| one.name == b"Code");
        code.map(|code| Code::read(code.content, pool)).transpose()
    }
}

/// An exception handler: start, end, target, class.
pub type Handler = (u16, u16, u16, u16);

#[derive(Clone, Debug)]
pub struct Code<'a> {
    pub max_stack: u16,
    pub max_locals: u16,
    pub bytes: &'a [u8],
    pub handlers: Vec<Handler>,
    pub attributes: Vec<Attribute<'a>>,
}

impl<'a> Code<'a> {
    /// # Errors
    /// The content is not that of a `Code` attribute.
    pub fn read(content: &'a [u8], pool: &Pool<'a>) -> Result<Code<'a>> {
        let mut reader = Reader::new(content);
        let (max_stack, max_locals) = (reader.u2()?, reader.u2()?);
        let len = reader.u4()? as usize;
        let bytes = reader.take(len)?;
        let mut handlers = Vec::new();
        for _ in 0..reader.u2()? {
            handlers.push((reader.u2()?, reader.u2()?, reader.u2()?, reader.u2()?));
        }
        let attributes = attributes(&mut reader, pool)?;
        match reader.is_done() {
            true => Ok(Code {
                max_stack,
                max_locals,
                bytes,
                handlers,
                attributes,
            }),
            false => Err(Malformed("code longer than its content")),
        }
    }

    pub fn instructions(&self) -> Instructions<'a> {
        Instructions::new(self.bytes)
    }
}

/// A parsed class file that borrows its bytes.
#[derive(Clone, Debug)]
pub struct ClassFile<'a> {
    pub bytes: &'a [u8],
    pub major: u16,
    pub pool: Pool<'a>,
    pub access: u16,
    pub name: &'a [u8],
    /// `None` for `java/lang/Object` and module descriptions.
    pub super_name: Option<&'a [u8]>,
    pub interfaces: Vec<&'a [u8]>,
    pub fields: Vec<Member<'a>>,
    pub methods: Vec<Member<'a>>,
    pub attributes: Vec<Attribute<'a>>,
    /// The end of the constant pool, and the start of the first method after the count of
    /// methods.
    pub pool_end: usize,
    pub methods_start: usize,
    pub methods_end: usize,
}

impl<'a> ClassFile<'a> {
    /// # Errors
    /// The bytes are not a class file of a known kind.
    pub fn parse(bytes: &'a [u8]) -> Result<ClassFile<'a>> {
        let mut reader = Reader::new(bytes);
        if reader.u4()? != 0xCAFE_BABE {
            return Err(Malformed("no class file"));
        }
        reader.u2()?;
        let major = reader.u2()?;
        let pool = Pool::read(&mut reader)?;
        let pool_end = reader.at;
        let access = reader.u2()?;
        let name = pool.class(reader.u2()?)?;
        let super_name = match reader.u2()? {
            0 => None,
            index => Some(pool.class(index)?),
        };
        let mut interfaces = Vec::new();
        for _ in 0..reader.u2()? {
            interfaces.push(pool.class(reader.u2()?)?);
        }
        let fields = members(&mut reader, &pool)?;
        let methods_start = reader.at + 2;
        let methods = members(&mut reader, &pool)?;
        let methods_end = reader.at;
        let attributes = attributes(&mut reader, &pool)?;
        match reader.is_done() {
            true => Ok(ClassFile {
                bytes,
                major,
                pool,
                access,
                name,
                super_name,
                interfaces,
                fields,
                methods,
                attributes,
                pool_end,
                methods_start,
                methods_end,
            }),
            false => Err(Malformed("more bytes than a class file has")),
        }
    }
}

fn members<'a>(reader: &mut Reader<'a>, pool: &Pool<'a>) -> Result<Vec<Member<'a>>> {
    let count = reader.u2()?;
    let mut members = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        let start = reader.at;
        members.push(Member {
            access: reader.u2()?,
            name: pool.utf8(reader.u2()?)?,
            descriptor: pool.utf8(reader.u2()?)?,
            attributes: attributes(reader, pool)?,
            span: (start, reader.at),
        });
    }
    Ok(members)
}

/// Reads a counted list of attributes.
///
/// # Errors
/// The bytes are not such a list.
pub fn attributes<'a>(reader: &mut Reader<'a>, pool: &Pool<'a>) -> Result<Vec<Attribute<'a>>> {
    let count = reader.u2()?;
    let mut attributes = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        let name_index = reader.u2()?;
        let len = reader.u4()? as usize;
        attributes.push(Attribute {
            name: pool.utf8(name_index)?,
            name_index,
            content: reader.take(len)?,
        });
    }
    Ok(attributes)
}
