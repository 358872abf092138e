//! What the coverage counters of a test binary tell, in the files that its runtime writes
//! (`internal/coverage` of Go's library, since Go 1.20).

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

/// A function with counters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Counted {
    /// The import path of its package, and the name of its file behind it.
    pub file: String,
    /// The first line that has a counter.
    pub line: u32,
}

/// The functions of a binary, by package and number in it.
#[derive(Debug, Default)]
pub(super) struct Meta {
    /// What files of counters call it.
    hash: [u8; 16],
    packages: Vec<Vec<Counted>>,
}

const META: [u8; 4] = *b"\0cvm";
const COUNTERS: [u8; 4] = *b"\0cwm";

/// The only version that there is of both files.
const VERSION: u32 = 1;

/// The bytes before the offsets of packages, and before those of functions.
const META_HEADER: usize = 4 + 4 + 8 + 8 + 16 + 4 + 4 + 1 + 1 + 6;
const PACKAGE_HEADER: usize = 4 + 4 + 4 + 4 + 16 + 4 + 4 + 4;

/// What was counted in a folder.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Functions that ran: package, function.
    pub ran: BTreeSet<(u32, u32)>,
    /// How many processes told, and which binaries they were of.
    pub processes: usize,
    of: BTreeSet<[u8; 16]>,
}

/// The numbers in a file, from a place on.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(length).context("a length is wrong")?;
        let taken = self.bytes.get(self.at..end).context("it ends too early")?;
        self.at = end;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.take(4)?.try_into()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take(8)?.try_into()?))
    }

    /// As it takes as many bytes as it needs.
    fn short(&mut self) -> Result<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        bail!("a number is too long")
    }

    fn strings(&mut self) -> Result<Vec<&'a str>> {
        let count = self.short()?;
        let mut strings = Vec::new();
        for _ in 0..count {
            let length = usize::try_from(self.short()?)?;
            strings.push(std::str::from_utf8(self.take(length)?)?);
        }
        Ok(strings)
    }

    fn skip_to(&mut self, at: usize) -> Result<()> {
        ensure!(at <= self.bytes.len(), "it ends too early");
        self.at = at;
        Ok(())
    }
}

impl Meta {
    /// Reads the `covmeta` file of a folder; `None` if there is none.
    pub(super) fn read(folder: &Path) -> Result<Option<Meta>> {
        let mut found = None;
        for file in files(folder, "covmeta.")? {
            ensure!(found.is_none(), "several programs told of their functions");
            found = Some(Meta::parse(&crate::disk::read(&file)?)?);
        }
        Ok(found)
    }

    fn parse(bytes: &[u8]) -> Result<Meta> {
        let mut reader = Reader { bytes, at: 0 };
        ensure!(reader.take(4)? == META, "it is no file of functions");
        let version = reader.u32()?;
        ensure!(version == VERSION, "version {version} is not known");
        reader.u64()?;
        let packages = usize::try_from(reader.u64()?)?;
        let hash = reader.take(16)?.try_into()?;
        reader.skip_to(META_HEADER)?;
        let mut offsets = Vec::new();
        for _ in 0..packages {
            offsets.push(usize::try_from(reader.u64()?)?);
        }
        let mut lengths = Vec::new();
        for _ in 0..packages {
            lengths.push(usize::try_from(reader.u64()?)?);
        }
        let mut meta = Meta {
            hash,
            packages: Vec::new(),
        };
        for (offset, length) in offsets.into_iter().zip(lengths) {
            reader.skip_to(offset)?;
            meta.packages.push(functions(reader.take(length)?)?);
        }
        Ok(meta)
    }

    pub(super) fn function(&self, (package, function): (u32, u32)) -> Option<&Counted> {
        self.packages.get(package as usize)?.get(function as usize)
    }

    /// All of them.
    pub(super) fn functions(&self) -> impl Iterator<Item = &Counted> {
        self.packages.iter().flatten()
    }
}

/// The functions of one package. One without counters has the line 0.
fn functions(bytes: &[u8]) -> Result<Vec<Counted>> {
    let mut reader = Reader {
        bytes,
        at: PACKAGE_HEADER - 4,
    };
    let count = reader.u32()?;
    let mut offsets = Vec::new();
    for _ in 0..count {
        offsets.push(reader.u32()? as usize);
    }
    let strings = reader.strings()?;
    let mut functions = Vec::new();
    for offset in offsets {
        reader.skip_to(offset)?;
        let units = reader.short()?;
        reader.short()?;
        let file = usize::try_from(reader.short()?)?;
        let file = strings.get(file).context("a name is missing")?;
        let mut line = 0;
        if units > 0 {
            line = u32::try_from(reader.short()?)?;
        }
        functions.push(Counted {
            file: (*file).to_owned(),
            line,
        });
    }
    Ok(functions)
}

impl Counts {
    /// Whether all are of that binary.
    pub(super) fn are_of(&self, meta: &Meta) -> bool {
        self.of.iter().all(|hash| *hash == meta.hash)
    }

    /// Reads all `covcounters` files of a folder, and removes them: the next test writes there.
    pub(super) fn take(folder: &Path) -> Result<Counts> {
        let mut counts = Counts::default();
        let mut read = Ok(());
        for file in files(folder, "covcounters.")? {
            let content = crate::disk::read(&file).map_err(anyhow::Error::from);
            let added = content.and_then(|content| counts.add(&content));
            fs_err::remove_file(&file)?;
            read = read.and(added);
            counts.processes += 1;
        }
        read.map(|()| counts)
    }

    fn add(&mut self, bytes: &[u8]) -> Result<()> {
        const HEADER: usize = 4 + 4 + 16 + 1 + 1 + 6;
        const FOOTER: usize = 16;
        const RAW: u8 = 1;
        const SHORT: u8 = 2;
        let mut reader = Reader { bytes, at: 0 };
        ensure!(reader.take(4)? == COUNTERS, "it is no file of counters");
        let version = reader.u32()?;
        ensure!(version == VERSION, "version {version} is not known");
        self.of.insert(reader.take(16)?.try_into()?);
        let flavour = reader.take(2)?;
        let (flavour, is_big) = (flavour[0], flavour[1] != 0);
        ensure!(bytes.len() >= HEADER + FOOTER, "it ends too early");
        let mut footer = Reader {
            bytes,
            at: bytes.len() - FOOTER,
        };
        ensure!(footer.take(4)? == COUNTERS, "it was not finished");
        footer.take(4)?;
        ensure!(footer.u32()? == 1, "it has several parts");
        reader.skip_to(HEADER)?;
        let functions = reader.u64()?;
        let strings = reader.u32()? as usize;
        let arguments = reader.u32()? as usize;
        reader.take(strings)?;
        reader.take(arguments)?;
        reader.skip_to(reader.at.next_multiple_of(4))?;
        let number = |reader: &mut Reader<'_>| -> Result<u32> {
            match (flavour, is_big) {
                (RAW, true) => Ok(u32::from_be_bytes(reader.take(4)?.try_into()?)),
                (RAW, false) => reader.u32(),
                (SHORT, _) => Ok(reader.short()? as u32),
                _ => bail!("its counters are of an unknown kind"),
            }
        };
        for _ in 0..functions {
            let counters = number(&mut reader)?;
            let package = number(&mut reader)?;
            let function = number(&mut reader)?;
            let mut has_run = false;
            for _ in 0..counters {
                has_run |= number(&mut reader)? != 0;
            }
            if has_run {
                self.ran.insert((package, function));
            }
        }
        Ok(())
    }
}

fn files(folder: &Path, start: &str) -> Result<Vec<std::path::PathBuf>> {
    let mut files = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(start) {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Vec<u8> {
        [&[text.len() as u8], text.as_bytes()].concat()
    }

    /// One package with two functions, as the runtime writes it.
    fn meta() -> Vec<u8> {
        let strings = [vec![3], text("p/a.go"), text("F"), text("G")].concat();
        let table = PACKAGE_HEADER + 8;
        // Units, name, file; lines and columns of the unit; whether it has no name.
        let first = [1, 1, 0, 7, 1, 9, 2, 1, 0];
        let second = [0, 2, 0, 0];
        let mut package = vec![0; PACKAGE_HEADER - 4];
        package.extend(2_u32.to_le_bytes());
        let at = (table + strings.len()) as u32;
        package.extend(at.to_le_bytes());
        package.extend((at + first.len() as u32).to_le_bytes());
        package.extend(strings);
        package.extend(first);
        package.extend(second);
        let mut file = META.to_vec();
        file.extend(VERSION.to_le_bytes());
        file.extend(0_u64.to_le_bytes());
        file.extend(1_u64.to_le_bytes());
        file.resize(META_HEADER, 0);
        file.extend((META_HEADER as u64 + 16).to_le_bytes());
        file.extend((package.len() as u64).to_le_bytes());
        file.extend(package);
        file
    }

    fn counters() -> Vec<u8> {
        let mut file = COUNTERS.to_vec();
        file.extend(VERSION.to_le_bytes());
        file.extend([0; 16]);
        file.extend([2, 0]);
        file.extend([0; 6]);
        file.extend(2_u64.to_le_bytes());
        file.extend(1_u32.to_le_bytes());
        file.extend(1_u32.to_le_bytes());
        file.extend([0; 4]);
        file.extend([2, 0, 1, 0, 1]);
        file.extend([1, 0, 0, 0]);
        file.extend(COUNTERS);
        file.extend([0; 4]);
        file.extend(1_u32.to_le_bytes());
        file.extend([0; 4]);
        file
    }

    #[test]
    fn what_ran_is_read() {
        let meta = Meta::parse(&meta()).unwrap();
        let lines: Vec<u32> = meta.functions().map(|function| function.line).collect();
        assert_eq!(lines, [7, 0]);
        assert_eq!(meta.function((0, 0)).unwrap().file, "p/a.go");
        assert_eq!(meta.function((1, 0)), None);
        let mut counts = Counts::default();
        counts.add(&counters()).unwrap();
        assert_eq!(counts.ran, BTreeSet::from([(0, 1)]));
        assert!(counts.are_of(&meta));
        let mut other = counters();
        other[8] = 1;
        counts.add(&other).unwrap();
        assert!(!counts.are_of(&meta));
    }

    #[test]
    fn damaged_files_are_errors_or_read() {
        let (meta, counters) = (meta(), counters());
        for at in 0..meta.len() {
            assert!(Meta::parse(&meta[..at]).is_err(), "{at}");
            let mut other = meta.clone();
            other[at] ^= 0xff;
            let _ = Meta::parse(&other);
        }
        for at in 0..counters.len() {
            assert!(Counts::default().add(&counters[..at]).is_err(), "{at}");
            let mut other = counters.clone();
            other[at] ^= 0xff;
            let _ = Counts::default().add(&other);
        }
    }
}
