//! JDK methods that read the state that a process has once. They get probes like the project's
//! own methods, since some are called all the time.

use crate::classfile::{ClassFile, Malformed, rewrite};
use crate::plan::mark;
use crate::state::cells::{LOCALE, LOGGING, ZONE};

/// For each class: methods, the beginning of their parameters, and the cell.
pub type Marks = [(&'static str, &'static str, u32)];

const MARKS: [(&str, &Marks); 3] = [
    ("java/util/Locale", &[("getDefault", "(", LOCALE)]),
    (
        "java/util/TimeZone",
        &[("getDefault", "(", ZONE), ("getDefaultRef", "(", ZONE)],
    ),
    (
        "java/util/logging/Logger",
        &[
            ("isLoggable", "(", LOGGING),
            ("getLevel", "(", LOGGING),
            ("getHandlers", "(", LOGGING),
            ("getParent", "(", LOGGING),
        ],
    ),
];

pub fn of(class: &str) -> Option<&'static Marks> {
    let found = MARKS.iter().find(|(name, _)| *name == class);
    found.map(|(_, marks)| *marks)
}

/// Adds these probes to the methods of a class.
///
/// # Errors
/// The class file is malformed, or there is no room.
pub fn marked(file: &ClassFile<'_>, marks: &Marks) -> Result<Vec<u8>, Malformed> {
    let mut missing = None;
    let bytes = rewrite(
        file,
        |_, method, pool| {
            let found = marks.iter().find(|(name, parameters, _)| {
                method.name == name.as_bytes()
                    && method.descriptor.starts_with(parameters.as_bytes())
            });
            let Some((_, _, cell)) = found else {
                return Ok(None);
            };
            let array = pool.field(crate::classfile::HELPER, "a", "[B")?;
            mark(array, *cell, pool).map(Some)
        },
        |_, why| missing = Some(why),
    )?;
    missing.map_or(Ok(bytes), Err)
}
