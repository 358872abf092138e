//! Why a test ends otherwise after others: three runs under a trace function
//! (`agents/python/boot/_tamis/order/causes.py`).

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::Error;
use crate::runners::orders::{Cause, Place, Ran, Write};

/// Runs an order, the last test of which looks for something; what it saw.
type Ask<'a> = &'a mut dyn FnMut(&[String], Value) -> Result<Option<(Ran, Value)>, Error>;

/// Where the ways of the test alone and after others part.
#[derive(Debug, Default, Deserialize)]
struct Parting {
    read: Option<Place>,
    /// What that line names.
    cells: Vec<String>,
    /// What the code of the test names.
    wider: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Seen {
    writes: Vec<SeenWrite>,
}

#[derive(Debug, Deserialize)]
struct SeenWrite {
    cell: String,
    /// Its place in the order.
    test: usize,
    before: String,
    after: String,
    stack: Vec<Place>,
}

/// Why the last test of `order` ends otherwise than alone; `None`: interrupted. `shared` are
/// cells that it may read and the others write, `root` is the folder that names begin at.
///
/// # Errors
/// Those of `ask`.
pub(super) fn explain(
    order: &[String],
    shared: &[String],
    root: &Path,
    ask: Ask<'_>,
) -> Result<Option<Cause>, Error> {
    let last = order.len().saturating_sub(1);
    if ask(&order[last..], json!({ "step": "way" }))?.is_none() {
        return Ok(None);
    }
    let Some((_, seen)) = ask(order, json!({ "step": "parting", "root": root }))? else {
        return Ok(None);
    };
    let parting: Parting = read(seen)?;
    let mut cause = Cause {
        read: parting.read,
        writes: Vec::new(),
    };
    let mut named = parting.cells;
    named.extend(
        shared
            .iter()
            .filter(|cell| !named.contains(cell))
            .cloned()
            .collect::<Vec<_>>(),
    );
    for cells in [named, parting.wider] {
        if cells.is_empty() || !cause.writes.is_empty() {
            continue;
        }
        let wish = json!({ "step": "writes", "cells": cells, "root": root });
        let Some((_, seen)) = ask(order, wish)? else {
            return Ok(None);
        };
        let seen: Seen = read(seen)?;
        let writes = seen.writes.into_iter().map(|write| Write {
            cell: write.cell,
            test: order.get(write.test).cloned().unwrap_or_default(),
            before: write.before,
            after: write.after,
            stack: write.stack,
        });
        cause.writes = writes.collect();
    }
    Ok(Some(cause))
}

/// A process that was lost has seen nothing.
fn read<T: Default + for<'d> Deserialize<'d>>(seen: Value) -> Result<T, Error> {
    match seen {
        Value::Null => Ok(T::default()),
        seen => Ok(serde_json::from_value(seen).map_err(anyhow::Error::from)?),
    }
}
