//! The functions of programs, as places where a thread can be stopped.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The instruction that stops a thread (x86-64).
const BREAKPOINT: u8 = 0xCC;

/// Programs whose functions are known.
pub(crate) trait Programs: Sync {
    /// Those of one; `None` if it is another program.
    fn entries(&self, program: ProgramId) -> Option<Arc<Entries>>;
}

/// The functions of a program that are watched. Addresses are those in its file.
#[derive(Debug)]
pub(crate) struct Entries {
    /// Where the program begins.
    pub(super) start: u64,
    /// Where they begin, sorted, and what stands there.
    places: Vec<u64>,
    first_bytes: Vec<u8>,
    /// Parts of the code, with breakpoints.
    pub(super) pages: Vec<(u64, Vec<u8>)>,
}

/// A program, by device and number of its file.
pub(crate) type ProgramId = (u64, u64);

/// What was seen of functions.
#[derive(Debug, Default)]
pub(crate) struct Entered {
    /// The addresses that were reached, by program. One that was started is there, even if none
    /// was.
    pub of: BTreeMap<ProgramId, BTreeSet<u64>>,
    /// Why some may be missing, if so.
    pub doubt: Option<String>,
}

impl Entered {
    pub(super) fn doubt(&mut self, why: &str) {
        self.doubt.get_or_insert_with(|| why.to_owned());
    }
}

impl Entries {
    /// What stands at a place without a breakpoint; `None` if there is none.
    pub(super) fn first_byte(&self, place: u64) -> Option<u8> {
        let at = self.places.binary_search(&place).ok()?;
        Some(self.first_bytes[at])
    }

    /// What has a breakpoint at each of the places, given the sections of code: address and
    /// content. Places outside of them are left away.
    pub(crate) fn new(start: u64, mut places: Vec<u64>, code: &[(u64, &[u8])]) -> Entries {
        const PAGE: u64 = 4096;
        places.sort_unstable();
        places.dedup();
        let mut kept = Vec::new();
        let mut first_bytes = Vec::new();
        let mut pages: Vec<(u64, Vec<u8>)> = Vec::new();
        for place in places {
            let holds = |(at, bytes): &&(u64, &[u8])| {
                place
                    .checked_sub(*at)
                    .is_some_and(|from| from < bytes.len() as u64)
            };
            let Some((section, bytes)) = code.iter().find(holds) else {
                continue;
            };
            kept.push(place);
            first_bytes.push(bytes[(place - section) as usize]);
            let is_in_last = pages
                .last()
                .is_some_and(|(at, page)| place < at + page.len() as u64);
            if !is_in_last {
                // Of the section only: what lies beside it belongs to others.
                let begin = (place & !(PAGE - 1)).max(*section);
                let end = ((place | (PAGE - 1)) + 1).min(section + bytes.len() as u64);
                let page = &bytes[(begin - section) as usize..(end - section) as usize];
                match pages.last_mut() {
                    Some((at, last)) if *at + last.len() as u64 == begin => {
                        last.extend_from_slice(page);
                    }
                    _ => pages.push((begin, page.to_vec())),
                }
            }
            if let Some((at, page)) = pages.last_mut() {
                page[(place - *at) as usize] = BREAKPOINT;
            }
        }
        Entries {
            start,
            places: kept,
            first_bytes,
            pages,
        }
    }
}
