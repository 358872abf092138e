//! [`ModuleUnits`] as bytes, for the cache: numbers as LEB128, sorted numbers
//! as differences, texts with their length.

use std::collections::BTreeMap;

use super::module::{ModuleUnits, Outline, Reach, Span};
use super::names::model::{Import, Lines, Names, Part, Uses};
use crate::matrix::Fingerprint;

pub(super) fn encode(units: &ModuleUnits) -> Vec<u8> {
    let mut out = Vec::new();
    put_reach(&mut out, units.skeleton, &units.skeleton_reach);
    put(&mut out, units.code.len() as u64);
    for (name, print) in &units.code {
        put_text(&mut out, name);
        put_reach(&mut out, *print, &units.code_reach[name]);
    }
    let outline = &units.outline;
    put(&mut out, outline.lines.into());
    put(&mut out, outline.spans.len() as u64);
    let names: Vec<&String> = units.code.keys().collect();
    for span in &outline.spans {
        put(&mut out, span.first.into());
        put(&mut out, span.body.into());
        put(&mut out, span.last.into());
        let at = names.partition_point(|name| **name < span.unit);
        put(&mut out, at as u64);
    }
    put(&mut out, outline.definitions.len() as u64);
    for (line, hash) in &outline.definitions {
        put(&mut out, (*line).into());
        put(&mut out, (*hash).into());
    }
    put_sorted(&mut out, &outline.evaluators);
    put_names(&mut out, &units.names);
    out
}

/// `None` if `bytes` are not an encoding.
pub(super) fn decode(bytes: &[u8]) -> Option<ModuleUnits> {
    let mut input = Input(bytes);
    let (skeleton, skeleton_reach) = input.reach()?;
    let mut code = BTreeMap::new();
    let mut code_reach = BTreeMap::new();
    for _ in 0..input.count()? {
        let name = input.text()?;
        let (print, reach) = input.reach()?;
        code.insert(name.clone(), print);
        code_reach.insert(name, reach);
    }
    let names: Vec<&String> = code.keys().collect();
    let mut outline = Outline {
        lines: input.number()?,
        ..Outline::default()
    };
    for _ in 0..input.count()? {
        outline.spans.push(Span {
            first: input.number()?,
            body: input.number()?,
            last: input.number()?,
            unit: names.get(input.number()? as usize)?.to_string(),
        });
    }
    for _ in 0..input.count()? {
        outline.definitions.push((input.number()?, input.number()?));
    }
    outline.evaluators = input.sorted()?;
    let names = input.names()?;
    input.0.is_empty().then_some(ModuleUnits {
        skeleton,
        code,
        skeleton_reach,
        code_reach,
        outline,
        names,
    })
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn put_sorted(out: &mut Vec<u8>, numbers: &[u32]) {
    put(out, numbers.len() as u64);
    let mut before = 0;
    for number in numbers {
        put(out, (number - before).into());
        before = *number;
    }
}

fn put_reach(out: &mut Vec<u8>, print: Fingerprint, reach: &Reach) {
    out.extend_from_slice(&print.0);
    out.push(u8::from(reach.dynamic));
    put_sorted(out, &reach.mentions);
}

fn put_names(out: &mut Vec<u8>, names: &Names) {
    put(out, names.bindings.len() as u64);
    for (name, part) in &names.bindings {
        put_text(out, name);
        put_part(out, part);
    }
    put_part(out, &names.effects);
    put_texts(out, &names.effect_names);
    out.push(u8::from(names.has_star));
    put(out, names.code.len() as u64);
    for (name, uses) in &names.code {
        put_text(out, name);
        put_uses(out, uses);
    }
    put_imports(out, &names.imports);
    put_lines(out, &names.lines);
    put_lines(out, &names.methods);
    put(out, names.classes.len() as u64);
    for (name, imports) in &names.classes {
        put_text(out, name);
        put_imports(out, imports);
    }
    put_texts(out, &names.asked);
}

fn put_lines(out: &mut Vec<u8>, all: &[Lines]) {
    put(out, all.len() as u64);
    for lines in all {
        put(out, lines.first.into());
        put(out, lines.last.into());
        put_texts(out, &lines.binding);
    }
}

fn put_imports(out: &mut Vec<u8>, imports: &[Import]) {
    put(out, imports.len() as u64);
    for import in imports {
        put_text(out, &import.bound);
        put(out, import.level.into());
        put_text(out, &import.module);
        out.push(u8::from(import.at_import) | u8::from(import.item.is_some()) << 1);
        if let Some(item) = &import.item {
            put_text(out, item);
        }
    }
}

fn put_part(out: &mut Vec<u8>, part: &Part) {
    out.extend_from_slice(&part.value.0);
    put_uses(out, &part.uses);
    put(out, part.effects_before.into());
    out.push(
        u8::from(part.is_import)
            | u8::from(part.is_plain) << 1
            | u8::from(part.is_single) << 2
            | u8::from(part.is_in_place) << 3,
    );
}

fn put_uses(out: &mut Vec<u8>, uses: &Uses) {
    put_sorted(out, &uses.asks);
    put_texts(out, &uses.loads);
    put_texts(out, &uses.unbound);
    put_sorted(out, &uses.values);
    put(out, uses.parts.len() as u64);
    for path in &uses.parts {
        put(out, path.len() as u64);
        for name in path {
            put(out, (*name).into());
        }
    }
    put_sorted(out, &uses.lent);
    put(out, uses.members.len() as u64);
    for (base, name) in &uses.members {
        put(out, (*base).into());
        put_text(out, name);
    }
    out.push(
        u8::from(uses.is_wide)
            | u8::from(uses.holds_own) << 1
            | u8::from(uses.looks_up) << 2
            | u8::from(uses.reads) << 3
            | u8::from(uses.reads_docs) << 4
            | u8::from(uses.is_watched) << 5
            | u8::from(uses.asks_by_name) << 6
            | u8::from(uses.lists_members) << 7,
    );
}

fn put_texts<'a, T>(out: &mut Vec<u8>, texts: T)
where
    T: IntoIterator<Item = &'a String>,
    T::IntoIter: Clone,
{
    let texts = texts.into_iter();
    put(out, texts.clone().count() as u64);
    for text in texts {
        put_text(out, text);
    }
}

/// What is left to decode.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|head| head[0])
    }

    fn number(&mut self) -> Option<u32> {
        let mut number = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number.try_into().ok();
            }
        }
        None
    }

    /// The number of items that follow, each of at least one byte.
    fn count(&mut self) -> Option<usize> {
        let count = self.number()? as usize;
        (count <= self.0.len()).then_some(count)
    }

    fn text(&mut self) -> Option<String> {
        let length = self.count()?;
        String::from_utf8(self.take(length)?.to_vec()).ok()
    }

    fn sorted(&mut self) -> Option<Vec<u32>> {
        let count = self.count()?;
        let mut numbers = Vec::with_capacity(count);
        let mut last = 0u32;
        for _ in 0..count {
            last = last.checked_add(self.number()?)?;
            numbers.push(last);
        }
        Some(numbers)
    }

    fn reach(&mut self) -> Option<(Fingerprint, Reach)> {
        let print = Fingerprint(self.take(16)?.try_into().ok()?);
        let dynamic = match self.byte()? {
            0 => false,
            1 => true,
            _ => return None,
        };
        let mentions = self.sorted()?;
        Some((print, Reach { mentions, dynamic }))
    }
    fn flags(&mut self, known: u8) -> Option<u8> {
        self.byte().filter(|flags| flags & !known == 0)
    }

    fn flag(&mut self) -> Option<bool> {
        self.flags(1).map(|flags| flags == 1)
    }

    fn texts(&mut self) -> Option<Vec<String>> {
        let count = self.count()?;
        (0..count).map(|_| self.text()).collect()
    }

    fn uses(&mut self) -> Option<Uses> {
        let asks = self.sorted()?;
        let loads = self.texts()?;
        let unbound = self.texts()?;
        let values = self.sorted()?;
        let count = self.count()?;
        let part = |input: &mut Self| {
            let steps = input.count()?;
            (0..steps).map(|_| input.number()).collect::<Option<_>>()
        };
        let parts = (0..count).map(|_| part(self)).collect::<Option<_>>()?;
        let lent = self.sorted()?;
        let count = self.count()?;
        let member = |input: &mut Self| Some((input.number()?, input.text()?));
        let members = (0..count).map(|_| member(self)).collect::<Option<_>>()?;
        let flags = self.flags(255)?;
        Some(Uses {
            asks,
            loads,
            unbound,
            values,
            parts,
            lent,
            members,
            holds_own: flags & 2 == 2,
            is_wide: flags & 1 == 1,
            looks_up: flags & 4 == 4,
            reads: flags & 8 == 8,
            reads_docs: flags & 16 == 16,
            is_watched: flags & 32 == 32,
            asks_by_name: flags & 64 == 64,
            lists_members: flags & 128 == 128,
        })
    }

    fn part(&mut self) -> Option<Part> {
        let value = Fingerprint(self.take(16)?.try_into().ok()?);
        let uses = self.uses()?;
        let effects_before = self.number()?;
        let flags = self.flags(15)?;
        Some(Part {
            value,
            uses,
            effects_before,
            is_import: flags & 1 == 1,
            is_plain: flags & 2 == 2,
            is_single: flags & 4 == 4,
            is_in_place: flags & 8 == 8,
        })
    }

    fn import(&mut self) -> Option<Import> {
        let bound = self.text()?;
        let level = self.number()?;
        let module = self.text()?;
        let flags = self.flags(3)?;
        Some(Import {
            bound,
            level,
            module,
            item: match flags & 2 {
                0 => None,
                _ => Some(self.text()?),
            },
            at_import: flags & 1 == 1,
        })
    }

    fn imports(&mut self) -> Option<Vec<Import>> {
        let count = self.count()?;
        (0..count).map(|_| self.import()).collect()
    }

    fn lines(&mut self) -> Option<Lines> {
        let (first, last) = (self.number()?, self.number()?);
        let mut binding = self.texts()?;
        let binding = match binding.len() {
            0 | 1 => binding.pop(),
            _ => return None,
        };
        Some(Lines {
            first,
            last,
            binding,
        })
    }

    fn all_lines(&mut self) -> Option<Vec<Lines>> {
        let count = self.count()?;
        (0..count).map(|_| self.lines()).collect()
    }

    fn names(&mut self) -> Option<Names> {
        let mut bindings = BTreeMap::new();
        for _ in 0..self.count()? {
            bindings.insert(self.text()?, self.part()?);
        }
        let effects = self.part()?;
        let effect_names = self.texts()?.into_iter().collect();
        let has_star = self.flag()?;
        let mut code = BTreeMap::new();
        for _ in 0..self.count()? {
            code.insert(self.text()?, self.uses()?);
        }
        let imports = self.imports()?;
        let lines = self.all_lines()?;
        let methods = self.all_lines()?;
        let mut classes = BTreeMap::new();
        for _ in 0..self.count()? {
            classes.insert(self.text()?, self.imports()?);
        }
        let asked = self.texts()?.into_iter().collect();
        Some(Names {
            bindings,
            effects,
            effect_names,
            has_star,
            code,
            imports,
            lines,
            methods,
            classes,
            asked,
        })
    }
}
