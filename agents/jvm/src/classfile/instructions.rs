//! Walks over bytecode.

use super::{Malformed, Result};

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// Where it starts.
    pub at: usize,
    pub opcode: u8,
    /// All bytes after the opcode, padding included.
    pub operands: &'a [u8],
}

impl Instruction<'_> {
    /// The constant that it names, if any.
    pub fn constant(&self) -> Option<u16> {
        match self.opcode {
            LDC => Some(u16::from(self.operands[0])),
            // ldc_w, ldc2_w, field access, calls, new, anewarray, checkcast,
            // instanceof, multianewarray
            0x13 | 0x14 | 0xb2..=0xbb | 0xbd | 0xc0 | 0xc1 | 0xc5 => {
                Some(u16::from_be_bytes([self.operands[0], self.operands[1]]))
            }
            _ => None,
        }
    }
}

pub const LDC: u8 = 0x12;

/// The instructions of a method's code, in order.
#[derive(Clone, Debug)]
pub struct Instructions<'a> {
    code: &'a [u8],
    at: usize,
}

impl<'a> Instructions<'a> {
    pub fn new(code: &'a [u8]) -> Instructions<'a> {
        Instructions { code, at: 0 }
    }

    fn operands_of(&self, opcode: u8) -> Result<usize> {
        let start = self.at + 1;
        let int = |at: usize| -> Result<i64> {
            let bytes = self.code.get(at..at + 4).ok_or(Malformed("switch"))?;
            Ok(i64::from(i32::from_be_bytes([
                bytes[0], bytes[1], bytes[2], bytes[3],
            ])))
        };
        // A switch is padded to a multiple of 4.
        let padding = (4 - start % 4) % 4;
        let entries = match opcode {
            0xaa => 12 + 4 * (int(start + padding + 8)? - int(start + padding + 4)? + 1),
            0xab => 8 + 8 * int(start + padding + 4)?,
            _ => 0,
        };
        Ok(match opcode {
            0xaa | 0xab => {
                padding
                    + usize::try_from(entries).map_err(|_| Malformed("switch of less than 0"))?
            }
            0x00..=0x0f | 0x1a..=0x35 | 0x3b..=0x83 | 0x85..=0x98 => 0,
            0x10 | 0x12 | 0x15..=0x19 | 0x36..=0x3a | 0xa9 | 0xbc => 1,
            0x11 | 0x13 | 0x14 | 0x84 | 0x99..=0xa8 => 2,
            0xac..=0xb1 | 0xbe | 0xbf | 0xc2 | 0xc3 => 0,
            0xb2..=0xb8 | 0xbb | 0xbd | 0xc0 | 0xc1 | 0xc6 | 0xc7 => 2,
            0xb9 | 0xba | 0xc8 | 0xc9 => 4,
            0xc5 => 3,
            // `wide` doubles the operands of the next instruction.
            0xc4 => match self.code.get(start).ok_or(Malformed("wide"))? {
                0x84 => 5,
                _ => 3,
            },
            _ => return Err(Malformed("unknown instruction")),
        })
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Result<Instruction<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let opcode = *self.code.get(self.at)?;
        let at = self.at;
        let operands = self.operands_of(opcode).and_then(|len| {
            let end = (at + 1).checked_add(len).ok_or(Malformed("length"))?;
            let operands = self.code.get(at + 1..end);
            operands.ok_or(Malformed("an instruction beyond the end"))
        });
        match operands {
            Ok(operands) => {
                self.at += 1 + operands.len();
                Some(Ok(Instruction {
                    at,
                    opcode,
                    operands,
                }))
            }
            Err(error) => {
                self.at = self.code.len();
                Some(Err(error))
            }
        }
    }
}
