//! A class file in a form that is the same for all that mean the same.

use std::cell::RefCell;

use super::classfile::{
    Attribute, ClassFile, Code, Constant, Malformed, Member, Pool, Reader, attributes,
};

pub(super) type Result<T> = std::result::Result<T, Malformed>;

/// Attributes that nothing reads at run time, or that follow from others.
const WITHOUT_MEANING: [&[u8]; 7] = [
    // Written in place, where a constant names them.
    b"BootstrapMethods",
    b"LineNumberTable",
    b"LocalVariableTable",
    b"LocalVariableTypeTable",
    b"SourceDebugExtension",
    b"SourceFile",
    // Follows from the code.
    b"StackMapTable",
];

/// The normal form of a class file.
///
/// # Errors
/// If it is malformed, or has an attribute that is not known here.
pub(super) fn normal_form(bytes: &[u8]) -> Result<Vec<u8>> {
    let file = ClassFile::parse(bytes)?;
    let class = Class::new(&file)?;
    let mut form = Form::of_head(&file);
    form.sorted(class.members(&file.fields)?);
    form.sorted(class.members(&file.methods)?);
    form.sorted(class.attributes(&file.attributes)?);
    Ok(form.0)
}

/// Bytes in which the parts cannot run into one another.
#[derive(Default)]
pub(super) struct Form(pub Vec<u8>);

impl Form {
    /// What a class says of itself first: version, flags, name, what it extends and
    /// implements.
    pub(super) fn of_head(file: &ClassFile<'_>) -> Form {
        let mut form = Form::default();
        form.number(file.major);
        form.number(file.access);
        form.text(file.name);
        form.text(file.super_name.unwrap_or_default());
        for interface in &file.interfaces {
            form.text(interface);
        }
        form
    }

    pub(super) fn text(&mut self, text: &[u8]) {
        self.0.extend_from_slice(&(text.len() as u32).to_be_bytes());
        self.0.extend_from_slice(text);
    }

    pub(super) fn number(&mut self, number: u16) {
        self.0.extend_from_slice(&number.to_be_bytes());
    }

    /// Parts whose order has no meaning.
    pub(super) fn sorted(&mut self, mut parts: Vec<Vec<u8>>) {
        parts.sort();
        self.listed(parts);
    }

    fn listed(&mut self, parts: Vec<Vec<u8>>) {
        self.0
            .extend_from_slice(&(parts.len() as u32).to_be_bytes());
        for part in parts {
            self.text(&part);
        }
    }
}

pub(super) struct Class<'a> {
    file: &'a ClassFile<'a>,
    pool: &'a Pool<'a>,
    /// Handle and arguments of each bootstrap method.
    bootstraps: Vec<Vec<u16>>,
    /// Where the code of one method is asked for: the methods that are written
    /// out in place of their name, the innermost last.
    inlined: Option<RefCell<Vec<usize>>>,
}

impl<'a> Class<'a> {
    pub(super) fn new(file: &'a ClassFile<'a>) -> Result<Class<'a>> {
        let mut bootstraps = Vec::new();
        let mut known = file.attributes.iter();
        if let Some(table) = known.find(|one| one.name == b"BootstrapMethods") {
            let mut reader = Reader::new(table.content);
            for _ in 0..reader.u2()? {
                let mut all = vec![reader.u2()?];
                for _ in 0..reader.u2()? {
                    all.push(reader.u2()?);
                }
                bootstraps.push(all);
            }
        }
        Ok(Class {
            file,
            pool: &file.pool,
            bootstraps,
            inlined: None,
        })
    }

    /// The form of what one method does. The bodies of lambda expressions are
    /// written out where they are made, as their names count all others of the
    /// class.
    pub(super) fn method(&mut self, method: &Member<'a>) -> Result<Vec<u8>> {
        self.inlined = Some(RefCell::default());
        let mut form = Form::default();
        form.number(method.access);
        if let Some(code) = method.code(self.pool)? {
            self.code(&code, &mut form)?;
        }
        self.inlined = None;
        Ok(form.0)
    }

    /// Handle and arguments of each bootstrap method.
    pub(super) fn bootstraps(&self) -> &[Vec<u16>] {
        &self.bootstraps
    }

    /// The method that the compiler made of a lambda expression, if this is a
    /// handle to one.
    pub(super) fn lambda(&self, handle: u16) -> Result<Option<usize>> {
        const PRIVATE_SYNTHETIC: u16 = 0x1002;
        let Constant::MethodHandle(5..=7 | 9, member) = self.pool.get(handle)? else {
            return Ok(None);
        };
        let (class, name, kind) = self.pool.member(member)?;
        let is_it = |one: &Member<'_>| {
            one.access & PRIVATE_SYNTHETIC == PRIVATE_SYNTHETIC
                && (one.name, one.descriptor) == (name, kind)
        };
        match class == self.file.name {
            true => Ok(self.file.methods.iter().position(is_it)),
            false => Ok(None),
        }
    }

    /// Writes out the method that a handle names, if it is a lambda
    /// expression's; whether it is.
    fn inline(&self, handle: u16, form: &mut Form) -> Result<bool> {
        let Some(inlined) = &self.inlined else {
            return Ok(false);
        };
        let Some(at) = self.lambda(handle)? else {
            return Ok(false);
        };
        if inlined.borrow().contains(&at) || inlined.borrow().len() > 16 {
            return Ok(false);
        }
        let method = &self.file.methods[at];
        inlined.borrow_mut().push(at);
        form.number(method.access);
        form.text(method.descriptor);
        if let Some(code) = method.code(self.pool)? {
            self.code(&code, form)?;
        }
        inlined.borrow_mut().pop();
        Ok(true)
    }

    fn members(&self, members: &[Member<'a>]) -> Result<Vec<Vec<u8>>> {
        let form = |member: &Member<'a>| {
            let mut form = Form::default();
            form.number(member.access);
            form.text(member.name);
            form.text(member.descriptor);
            form.sorted(self.attributes(&member.attributes)?);
            Ok(form.0)
        };
        members.iter().map(form).collect()
    }

    fn attributes(&self, attributes: &[Attribute<'a>]) -> Result<Vec<Vec<u8>>> {
        let meaningful = attributes
            .iter()
            .filter(|one| !WITHOUT_MEANING.contains(&one.name));
        let form = |attribute: &Attribute<'a>| {
            let mut form = Form::default();
            form.text(attribute.name);
            self.attribute(attribute, &mut form)?;
            Ok(form.0)
        };
        meaningful.map(form).collect()
    }

    pub(super) fn attribute(&self, attribute: &Attribute<'a>, form: &mut Form) -> Result<()> {
        let mut reader = Reader::new(attribute.content);
        match attribute.name {
            b"Code" => {
                let code = Code::read(attribute.content, self.pool)?;
                return self.code(&code, form);
            }
            b"Synthetic" | b"Deprecated" => {}
            b"ConstantValue" | b"Signature" | b"NestHost" => self.named(&mut reader, form)?,
            b"Exceptions" | b"PermittedSubclasses" => {
                let parts = self.list(&mut reader, Class::named)?;
                form.listed(parts);
            }
            b"NestMembers" => {
                let parts = self.list(&mut reader, Class::named)?;
                form.sorted(parts);
            }
            b"EnclosingMethod" => {
                self.named(&mut reader, form)?;
                self.named(&mut reader, form)?;
            }
            b"InnerClasses" => {
                let parts = self.list(&mut reader, |class, reader, form| {
                    for _ in 0..3 {
                        class.named(reader, form)?;
                    }
                    form.number(reader.u2()?);
                    Ok(())
                })?;
                form.sorted(parts);
            }
            b"MethodParameters" => {
                for _ in 0..reader.u1()? {
                    self.named(&mut reader, form)?;
                    form.number(reader.u2()?);
                }
            }
            b"Record" => {
                let parts = self.list(&mut reader, |class, reader, form| {
                    class.named(reader, form)?;
                    class.named(reader, form)?;
                    let all = attributes(reader, class.pool)?;
                    form.sorted(class.attributes(&all)?);
                    Ok(())
                })?;
                form.listed(parts);
            }
            b"RuntimeVisibleAnnotations" | b"RuntimeInvisibleAnnotations" => {
                let parts = self.list(&mut reader, Class::annotation)?;
                form.sorted(parts);
            }
            b"RuntimeVisibleParameterAnnotations" | b"RuntimeInvisibleParameterAnnotations" => {
                for _ in 0..reader.u1()? {
                    let parts = self.list(&mut reader, Class::annotation)?;
                    form.sorted(parts);
                }
            }
            b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                let parts = self.list(&mut reader, Class::type_annotation)?;
                form.sorted(parts);
            }
            b"AnnotationDefault" => self.element(&mut reader, form, 0)?,
            _ => return Err(Malformed("an attribute that is not known")),
        }
        match reader.is_done() {
            true => Ok(()),
            false => Err(Malformed("an attribute longer than it should be")),
        }
    }

    /// A counted list.
    fn list(
        &self,
        reader: &mut Reader<'a>,
        read: impl Fn(&Class<'a>, &mut Reader<'a>, &mut Form) -> Result<()>,
    ) -> Result<Vec<Vec<u8>>> {
        let mut parts = Vec::new();
        for _ in 0..reader.u2()? {
            let mut form = Form::default();
            read(self, reader, &mut form)?;
            parts.push(form.0);
        }
        Ok(parts)
    }

    fn named(&self, reader: &mut Reader<'a>, form: &mut Form) -> Result<()> {
        let index = reader.u2()?;
        self.constant(index, form, 0)
    }

    fn code(&self, code: &Code<'a>, form: &mut Form) -> Result<()> {
        form.number(code.max_stack);
        form.number(code.max_locals);
        for instruction in code.instructions() {
            let instruction = instruction?;
            // `ldc` and `ldc_w` differ by where the constant stands.
            let opcode = match instruction.opcode {
                0x13 => 0x12,
                opcode => opcode,
            };
            form.0.push(opcode);
            match instruction.constant() {
                Some(index) => {
                    self.constant(index, form, 0)?;
                    form.text(instruction.operands.get(2..).unwrap_or_default());
                }
                None => form.text(instruction.operands),
            }
        }
        for (start, end, target, class) in &code.handlers {
            for place in [start, end, target] {
                form.number(*place);
            }
            self.constant(*class, form, 0)?;
        }
        // Annotations of types in code cannot be read at run time.
        let mut kept = code.attributes.clone();
        kept.retain(|one| !one.name.ends_with(b"TypeAnnotations"));
        form.sorted(self.attributes(&kept)?);
        Ok(())
    }

    /// A constant by its content; 0 stands for none.
    fn constant(&self, index: u16, form: &mut Form, depth: usize) -> Result<()> {
        if depth > 16 {
            return Err(Malformed("constants made of constants without end"));
        }
        let mut put = |tag: u8, bytes: &[u8]| {
            form.0.push(tag);
            form.text(bytes);
        };
        match self.pool.get(index)? {
            Constant::None => put(0, b""),
            Constant::Utf8(text) => put(1, text),
            Constant::Integer(value) => put(3, &value.to_be_bytes()),
            Constant::Float(value) => put(4, &value.to_be_bytes()),
            Constant::Long(value) => put(5, &value.to_be_bytes()),
            Constant::Double(value) => put(6, &value.to_be_bytes()),
            Constant::Class(name) => put(7, self.pool.utf8(name)?),
            Constant::String(text) => put(8, self.pool.utf8(text)?),
            Constant::MethodType(kind) => put(16, self.pool.utf8(kind)?),
            Constant::Module(name) => put(19, self.pool.utf8(name)?),
            Constant::Package(name) => put(20, self.pool.utf8(name)?),
            Constant::Member(tag, class, named) => {
                put(tag, self.pool.class(class)?);
                self.constant(named, form, depth + 1)?;
            }
            Constant::NameAndType(name, kind) => {
                put(12, self.pool.utf8(name)?);
                form.text(self.pool.utf8(kind)?);
            }
            Constant::MethodHandle(kind, member) => {
                put(15, &[kind]);
                if !self.inline(index, form)? {
                    self.constant(member, form, depth + 1)?;
                }
            }
            Constant::Dynamic(tag, bootstrap, named) => {
                put(tag, b"");
                self.constant(named, form, depth + 1)?;
                let all = self.bootstraps.get(usize::from(bootstrap));
                for part in all.ok_or(Malformed("no such bootstrap method"))? {
                    self.constant(*part, form, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn annotation(&self, reader: &mut Reader<'a>, form: &mut Form) -> Result<()> {
        self.annotation_at(reader, form, 0)
    }

    fn annotation_at(&self, reader: &mut Reader<'a>, form: &mut Form, depth: usize) -> Result<()> {
        self.named(reader, form)?;
        let mut values = Vec::new();
        for _ in 0..reader.u2()? {
            let mut value = Form::default();
            self.named(reader, &mut value)?;
            self.element(reader, &mut value, depth + 1)?;
            values.push(value.0);
        }
        form.sorted(values);
        Ok(())
    }

    fn element(&self, reader: &mut Reader<'a>, form: &mut Form, depth: usize) -> Result<()> {
        if depth > 32 {
            return Err(Malformed("annotations in annotations without end"));
        }
        let tag = reader.u1()?;
        form.0.push(tag);
        match tag {
            b'e' => {
                self.named(reader, form)?;
                self.named(reader, form)?;
            }
            b'@' => self.annotation_at(reader, form, depth + 1)?,
            b'[' => {
                let count = reader.u2()?;
                form.number(count);
                for _ in 0..count {
                    self.element(reader, form, depth + 1)?;
                }
            }
            _ => self.named(reader, form)?,
        }
        Ok(())
    }

    fn type_annotation(&self, reader: &mut Reader<'a>, form: &mut Form) -> Result<()> {
        let target = reader.u1()?;
        form.0.push(target);
        let len = match target {
            0x00 | 0x01 | 0x16 => 1,
            0x13..=0x15 => 0,
            0x10..=0x12 | 0x17 => 2,
            _ => return Err(Malformed("an annotation of something unknown")),
        };
        form.text(reader.take(len)?);
        let steps = usize::from(reader.u1()?);
        form.text(reader.take(2 * steps)?);
        self.annotation_at(reader, form, 0)
    }
}
