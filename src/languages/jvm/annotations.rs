//! What annotations in a class file say (JVMS 4.7.16).

use super::classfile::{Attribute, Malformed, Pool, Reader};

/// One value of an annotation; of an array each by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    /// Its type, with slashes.
    pub annotation: String,
    pub element: String,
    pub value: Value,
    /// Whether it stands in another annotation.
    pub is_inner: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// The name of a class, with slashes.
    Class(String),
    Text(String),
    Other,
}

/// How deep annotations may lie in others.
const MOST: usize = 32;

/// All that the annotations of an attribute say, if it is one of annotations.
///
/// # Errors
/// If it is malformed.
pub(super) fn said(attribute: &Attribute<'_>, pool: &Pool<'_>) -> Result<Vec<Said>, Malformed> {
    let mut said = Vec::new();
    if attribute.name == b"RuntimeVisibleAnnotations" {
        let mut reader = Reader::new(attribute.content);
        for _ in 0..reader.u2()? {
            annotation(&mut reader, pool, &mut said, 0)?;
        }
    }
    Ok(said)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn class_name(descriptor: &[u8]) -> String {
    let name = text(descriptor);
    // A name may itself begin with an `L`.
    let class = name
        .strip_prefix('L')
        .and_then(|name| name.strip_suffix(';'));
    class.unwrap_or(&name).to_owned()
}

fn annotation(
    reader: &mut Reader<'_>,
    pool: &Pool<'_>,
    said: &mut Vec<Said>,
    depth: usize,
) -> Result<(), Malformed> {
    let annotation = class_name(pool.utf8(reader.u2()?)?);
    for _ in 0..reader.u2()? {
        let element = text(pool.utf8(reader.u2()?)?);
        let mut values = Vec::new();
        read_value(reader, pool, &mut values, said, depth)?;
        said.extend(values.into_iter().map(|value| Said {
            annotation: annotation.clone(),
            element: element.clone(),
            value,
            is_inner: depth > 0,
        }));
    }
    Ok(())
}

fn read_value(
    reader: &mut Reader<'_>,
    pool: &Pool<'_>,
    values: &mut Vec<Value>,
    said: &mut Vec<Said>,
    depth: usize,
) -> Result<(), Malformed> {
    if depth > MOST {
        return Err(Malformed("annotations in annotations without end"));
    }
    match reader.u1()? {
        b'e' => {
            reader.u4()?;
            values.push(Value::Other);
        }
        b'c' => values.push(Value::Class(class_name(pool.utf8(reader.u2()?)?))),
        b's' => values.push(Value::Text(text(pool.utf8(reader.u2()?)?))),
        b'@' => {
            annotation(reader, pool, said, depth + 1)?;
            values.push(Value::Other);
        }
        b'[' => {
            for _ in 0..reader.u2()? {
                read_value(reader, pool, values, said, depth + 1)?;
            }
        }
        _ => {
            reader.u2()?;
            values.push(Value::Other);
        }
    }
    Ok(())
}
