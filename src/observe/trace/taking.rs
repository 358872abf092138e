//! Records of what a test process found in cells when it had collected all tests, and
//! which tests it left out for that.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use bstr::BString;
use serde_json::Value;

use super::parse::{fingerprint, number, optional_text, path_of, text, texts};
use crate::matrix::{CellValue, Fingerprint};
use crate::observe::observations::Lacked;

/// What one process told of values.
#[derive(Clone, Debug, Default)]
pub struct Taking {
    /// Import scopes that had ended and did nothing that outlives them but by the state
    /// that they left; `None` if the process did not say.
    pub imported: Option<Vec<u64>>,
    /// The greatest number that a scope had when that was told.
    pub last_scope: u64,
    /// In the order of the taking.
    pub holders: Vec<TakenHolder>,
    /// Tests that the process left out because their values were those of the record.
    pub confirmed: Vec<String>,
    /// Tests that it could have left out, with what was different.
    pub refuted: Vec<(String, String)>,
    /// Tests that it left out at their turn, as what earlier ones leave in a run of all tests is
    /// as recorded.
    pub settled: Vec<String>,
    /// Of tests that ran where others were left out: the cells that each leaves in a run of all of
    /// them, as far as that is known.
    pub exact: Vec<(String, Vec<LeftCell>)>,
    /// Tests that ran for what they leave, and did what they did in the record.
    pub same: Vec<String>,
    /// The run by the record of which tests were settled at their turns.
    pub settled_by: Option<String>,
    /// Of these, those that it could have left out because their values were those of the record,
    /// and those that it could have at their turn.
    pub same_confirmed: Vec<String>,
    pub same_settled: Vec<String>,
    /// Tests that ran and may have met something else than in a run of all of them, and what they
    /// lacked; `None` if nobody knows.
    pub inexact: Vec<(String, Option<Lacked>)>,
    /// Whether tests that met what others leave anew count as leaving all with other values.
    pub is_not_compared: bool,
    /// Tests that were to run beside others or once more, and did not: nobody meets what is left anew.
    pub unmet: Vec<String>,
    /// By the scope of a test: the cells that changed during its turn.
    pub left: Vec<(u64, Vec<LeftCell>)>,
    /// By the scope of a test: those among them of which nobody saw whether it changed them, or
    /// one of those before it that left something.
    pub unseen: Vec<(u64, Vec<(BString, String)>)>,
    /// Values of cells that are numbers: these, as the agent writes them.
    pub numbers: BTreeMap<Fingerprint, String>,
    /// Path as units have it, and name, of cells of which a record has no value.
    pub by_code: Vec<(String, String)>,
    /// A scope that stands for a test that was left out, as others met what it left in the record.
    pub stands: Vec<(u64, String)>,
    /// By the scope of a test: a digest of what ran in its turn that later tests do not run again;
    /// empty if nothing did.
    pub made: BTreeMap<u64, String>,
    /// All tests in order, if they are known; empty: those that ran.
    pub order: Option<Vec<String>>,
    /// Whether each that ran began in the state of a run of all of them.
    pub is_whole: bool,
    /// Why it stopped to take what tests left.
    pub gave_up: Option<String>,
    /// Why values were not taken, or not believed.
    pub forbidden: Option<String>,
    /// The run of pytest-xdist of which the process was one of several workers.
    pub worker_of: Option<String>,
    /// Whether the process only spread tests over such workers.
    pub is_controller: bool,
}

/// The cells of a module, a class, the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenHolder {
    pub name: String,
    /// The module's file, absolute; empty if there is none.
    pub path: BString,
    /// As told: in any order.
    pub cells: Vec<(String, CellValue)>,
}

/// A cell that a test changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftCell {
    /// The module's file, absolute.
    pub path: BString,
    pub name: String,
    /// `None`: nobody can tell.
    pub value: Option<Fingerprint>,
    /// Whether other tests changed it before any came that leave nothing.
    pub is_unknown: bool,
}

impl Taking {
    /// Takes in a record; false if it is about something else.
    pub(super) fn read(&mut self, tag: &str, record: &[Value]) -> Result<bool> {
        let field = |at: usize| record.get(at).context("the record is too short");
        match tag {
            "imported" => {
                let scopes = list(field(1)?)?.iter().map(number);
                self.imported
                    .get_or_insert_default()
                    .extend(scopes.collect::<Result<Vec<u64>>>()?);
            }
            "cells" => {
                let cells = list(field(3)?)?.iter().map(cell);
                self.holders.push(TakenHolder {
                    name: text(field(1)?)?,
                    path: path_of(field(2)?)?,
                    cells: cells.collect::<Result<_>>()?,
                });
            }
            "confirmed" => self.confirmed.extend(texts(field(1)?)?),
            "not-whole" => {
                self.is_whole = false;
                self.gave_up = Some(text(field(1)?)?);
            }
            "inexact" => {
                let lacked = lacked(field(2)?)?;
                self.inexact.push((text(field(1)?)?, lacked));
            }
            "same" => {
                self.same.extend(texts(field(1)?)?);
                self.same_confirmed.extend(texts(field(2)?)?);
                self.same_settled.extend(texts(field(3)?)?);
            }
            "exact" => {
                let cells = list(field(2)?)?.iter().map(left_cell);
                self.exact
                    .push((text(field(1)?)?, cells.collect::<Result<_>>()?));
            }
            "settled-by" => self.settled_by = Some(text(field(1)?)?),
            "not-compared" => self.is_not_compared = true,
            "unmet" => self.unmet.extend(texts(field(1)?)?),
            "settled" => self.settled.extend(texts(field(1)?)?),
            "left" => {
                let cells = list(field(2)?)?.iter().map(left_cell);
                self.left
                    .push((number(field(1)?)?, cells.collect::<Result<_>>()?));
            }
            "unseen" => {
                let cells = list(field(2)?)?.iter().map(|cell| match &list(cell)?[..] {
                    [path, name] => Ok((path_of(path)?, text(name)?)),
                    _ => bail!("a cell is a path and a name"),
                });
                self.unseen
                    .push((number(field(1)?)?, cells.collect::<Result<_>>()?));
            }
            "number" => {
                let value = fingerprint(field(1)?)?.context("it has no value")?;
                self.numbers.insert(value, text(field(2)?)?);
            }
            "by-code" => {
                let cells = list(field(1)?)?.iter().map(named);
                self.by_code.extend(cells.collect::<Result<Vec<_>>>()?);
            }
            "stands" => self.stands.push((number(field(1)?)?, text(field(2)?)?)),
            "made" => {
                self.made.insert(number(field(1)?)?, text(field(2)?)?);
            }
            "order" => {
                self.order = Some(texts(field(1)?)?);
                self.is_whole = field(2)?.as_bool().context("not true or false")?;
            }
            "refuted" => {
                for refuted in list(field(1)?)? {
                    let [test, why] = &list(refuted)?[..] else {
                        bail!("a refuted test is an id and a text");
                    };
                    self.refuted.push((text(test)?, text(why)?));
                }
            }
            "worker" => self.worker_of = Some(text(field(1)?)?),
            "controller" => self.is_controller = true,
            "no-values" => {
                let why = text(field(1)?)?;
                self.forbidden.get_or_insert(why);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// `[path, name]`, with the path as units have it.
fn named(value: &Value) -> Result<(String, String)> {
    let [path, name] = &list(value)?[..] else {
        bail!("a cell is a path and a name");
    };
    Ok((text(path)?, text(name)?))
}

/// `[cells, hashes]`; `null` if nobody knows.
fn lacked(value: &Value) -> Result<Option<Lacked>> {
    if value.is_null() {
        return Ok(None);
    }
    let [cells, made] = &list(value)?[..] else {
        bail!("what a test lacked are cells and hashes");
    };
    Ok(Some(Lacked {
        cells: list(cells)?.iter().map(named).collect::<Result<_>>()?,
        made: list(made)?.iter().map(number).collect::<Result<_>>()?,
    }))
}

/// `[path, name, value]`.
fn left_cell(value: &Value) -> Result<LeftCell> {
    let [path, name, value] = &list(value)?[..] else {
        bail!("what a test left is a path, a name and a value");
    };
    let is_unknown = value == "?";
    Ok(LeftCell {
        path: path_of(path)?,
        name: text(name)?,
        value: match is_unknown {
            true => None,
            false => fingerprint(value)?,
        },
        is_unknown,
    })
}

/// `[key, value, why]`. What has a reason is equal to nothing, whatever its value.
fn cell(value: &Value) -> Result<(String, CellValue)> {
    let (key, value, why) = match &list(value)?[..] {
        [key, value] => (key, value, None),
        [key, value, why] => (key, value, optional_text(Some(why))?),
        _ => bail!("a cell is a key, a value and a reason"),
    };
    if !value.is_null() && !value.is_string() {
        bail!("{value} is no value of a cell");
    }
    let value = match (why, fingerprint(value)?) {
        (Some(why), _) => CellValue::Opaque(why),
        (None, Some(value)) => CellValue::Is(value),
        (None, None) => bail!("a cell has neither a value nor a reason"),
    };
    Ok((text(key)?, value))
}

fn list(value: &Value) -> Result<&Vec<Value>> {
    value.as_array().context("not a list")
}
