//! A matrix as bytes.

use std::borrow::Cow;

use anyhow::Context;
use rustc_hash::FxHashMap;

use super::decode::{HAS_INNER, NAMES_MADE, PAST, PAST_IS_NAMED};
use super::prefix::{Counts, SECTIONS, Section, assemble};
use super::wire::{put_ids, put_text, put_varint, zigzag};
use crate::matrix::what::TAGS;
use crate::matrix::{Matrix, Own, ReadBefore, Reads, SetId};

/// zstd's own default: four times faster than level 9 for 3 % more bytes.
const LEVEL: i32 = 3;

/// Encodes a matrix in format 4. The same matrix gives the same bytes.
///
/// # Errors
/// If the matrix breaks an invariant (a bug of whoever built it), or holds
/// more than the format's limits allow.
pub fn encode(matrix: &Matrix) -> anyhow::Result<Vec<u8>> {
    matrix
        .check()
        .map_err(anyhow::Error::msg)
        .context("the matrix is not sound; this is a bug in tamis, please report it")?;
    let mut counts = Counts::default();
    let raw: [Vec<u8>; SECTIONS] = {
        let (paths, units) = paths_and_units(matrix, &mut counts);
        let names = names(matrix, &mut counts);
        let prints = prints(matrix);
        let sets = sets(matrix, &mut counts);
        let tests = tests(matrix, &mut counts);
        let rows = rows(matrix, &mut counts);
        let values = values(matrix)?;
        [paths, units, names, prints, sets, tests, rows, values]
    };
    let mut sections = [const { (Vec::new(), 0) }; SECTIONS];
    for ((section, raw), slot) in Section::ALL.iter().zip(raw).zip(&mut sections) {
        let len = raw.len() as u64;
        *slot = match section.is_compressed() {
            true => {
                let stored = zstd::bulk::compress(&raw, LEVEL).context("compressing a matrix")?;
                (stored, len)
            }
            false => (raw, len),
        };
    }
    assemble(&matrix.header, counts, sections)
        .context("the matrix cannot be stored; every test will run next time")
}

/// The table of distinct paths; for each number of [`What`](crate::matrix::What) how
/// many units it has; and for each unit its path, counted from that of the unit before.
fn paths_and_units(matrix: &Matrix, counts: &mut Counts) -> (Vec<u8>, Vec<u8>) {
    let mut table: Vec<&[u8]> = matrix
        .units
        .iter()
        .map(|(unit, _)| &unit.path[..])
        .collect();
    table.sort_unstable();
    table.dedup();
    let mut paths = Vec::new();
    let mut before: &[u8] = b"";
    for path in &table {
        put_text(&mut paths, before, path);
        counts.path_bytes += path.len() as u64;
        before = path;
    }
    counts.paths = table.len() as u64;
    counts.units = matrix.units.len() as u64;

    let mut of_tags = [0u64; TAGS];
    for (unit, _) in &matrix.units {
        of_tags[usize::from(unit.what.tag())] += 1;
    }
    let mut units = Vec::new();
    put_varint(&mut units, TAGS as u64);
    for count in of_tags {
        put_varint(&mut units, count);
    }
    let number: FxHashMap<&[u8], usize> = table.iter().enumerate().map(|(i, p)| (*p, i)).collect();
    let mut last = (None, 0);
    for (unit, _) in &matrix.units {
        let (tag, path) = (Some(unit.what.tag()), number[&unit.path[..]]);
        let from = if last.0 == tag { last.1 } else { 0 };
        put_varint(&mut units, (path - from) as u64);
        last = (tag, path);
    }
    (paths, units)
}

/// Texts of units, front-coded as long as number and path stay the same.
fn names(matrix: &Matrix, counts: &mut Counts) -> Vec<u8> {
    let mut names = Vec::new();
    let mut last = None;
    for (unit, _) in &matrix.units {
        let (tag, text) = (unit.what.tag(), unit.what.text());
        let before = match &last {
            Some((known, path, text)) if *known == tag && *path == &unit.path => text,
            _ => &Cow::Borrowed(""),
        };
        put_text(&mut names, before.as_bytes(), text.as_bytes());
        counts.name_bytes += text.len() as u64;
        last = Some((tag, &unit.path, text));
    }
    names
}

fn prints(matrix: &Matrix) -> Vec<u8> {
    matrix.units.iter().flat_map(|(_, print)| print.0).collect()
}

fn sets(matrix: &Matrix, counts: &mut Counts) -> Vec<u8> {
    let mut sets = Vec::new();
    for set in &matrix.sets {
        put_ids(&mut sets, set);
        counts.pairs += set.len() as u64;
    }
    counts.sets = matrix.sets.len() as u64;
    sets
}

fn tests(matrix: &Matrix, counts: &mut Counts) -> Vec<u8> {
    let mut tests = Vec::new();
    let mut before: &[u8] = b"";
    for row in &matrix.rows {
        let test = row.test.by_ref().stored();
        put_text(&mut tests, before, test.as_bytes());
        counts.test_bytes += test.len() as u64;
        before = test.as_bytes();
    }
    counts.rows = matrix.rows.len() as u64;
    tests
}

/// As JSON; nothing if there are none.
fn values(matrix: &Matrix) -> anyhow::Result<Vec<u8>> {
    let values = matrix.values.as_ref();
    let json = values.map(serde_json::to_vec).transpose();
    Ok(json.context("writing values")?.unwrap_or_default())
}

/// The distinct lists of sets, the distinct reasons, the distinct own parts, then the
/// rows by column.
fn rows(matrix: &Matrix, counts: &mut Counts) -> Vec<u8> {
    let mut lists: FxHashMap<&[SetId], u64> = FxHashMap::default();
    let mut reasons: FxHashMap<&str, u64> = FxHashMap::default();
    let mut list_table = Vec::new();
    let mut reason_table = Vec::new();
    let mut owns: FxHashMap<&Own<SetId>, u64> = FxHashMap::default();
    let mut own_table = Vec::new();
    // Columns: list, flags, duration, position, reason, run, own part.
    let mut columns = [const { Vec::new() }; 7];
    let mut position = 0;
    for row in &matrix.rows {
        counts.refs += row.sets.len() as u64;
        let next = lists.len() as u64;
        let list = *lists.entry(&row.sets).or_insert_with(|| {
            put_ids(&mut list_table, &row.sets);
            next
        });
        // 0 is a list not seen before, n the n-th last of those seen.
        put_varint(&mut columns[0], next - list);
        columns[1].push(row.outcome as u8 | u8::from(row.selected) << 3);
        put_varint(&mut columns[2], u64::from(row.duration_ms));
        put_varint(&mut columns[3], zigzag(i64::from(row.position) - position));
        position = i64::from(row.position);
        let reason = row.incomplete.as_deref().map_or(0, |reason| {
            counts.reason_bytes += reason.len() as u64;
            let next = reasons.len() as u64 + 1;
            *reasons.entry(reason).or_insert_with(|| {
                put_text(&mut reason_table, b"", reason.as_bytes());
                next
            })
        });
        put_varint(&mut columns[4], reason);
        put_varint(&mut columns[5], u64::from(row.run));
        let own = row.own.as_ref().map_or(0, |own| {
            counts.own_refs += own.all_sets().count() as u64;
            let next = owns.len() as u64 + 1;
            *owns.entry(own).or_insert_with(|| {
                let mark = own.inner.as_ref().map_or(0, |_| HAS_INNER);
                own_table.push(flags(own.reads) | mark);
                put_ids(&mut own_table, &own.sets);
                if let Some(inner) = &own.inner {
                    own_table.push(flags(inner.reads) | NAMES_MADE);
                    put_ids(&mut own_table, &inner.sets);
                    put_ids(&mut own_table, &inner.others);
                }
                next
            })
        });
        put_varint(&mut columns[6], own);
    }
    counts.lists = lists.len() as u64;
    counts.reasons = reasons.len() as u64;
    counts.owns = owns.len() as u64;
    let mut rows = list_table;
    rows.append(&mut reason_table);
    rows.append(&mut own_table);
    for mut column in columns {
        rows.append(&mut column);
    }
    rows
}

fn flags(reads: Reads) -> u8 {
    let past = match reads.past {
        ReadBefore::No => 0,
        ReadBefore::Named => PAST | PAST_IS_NAMED,
        ReadBefore::Unnamed => PAST,
    };
    let texts = u8::from(reads.annotations) << 1 | u8::from(reads.docstrings) << 2;
    u8::from(reads.anything) | texts | past
}
