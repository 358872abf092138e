//! Keeps hostile nesting from the parser, whose memory grows with depth.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

/// Deeper sources are not analysed. The interpreter itself gives up at 200
/// brackets, 100 indentations, or some thousand operators in a row.
const MAX_DEPTH: usize = 10_000;

/// Below this length, the length itself bounds the depth well enough.
const SMALL: usize = 128 << 10;

/// An upper bound of the depth of `text`'s syntax tree, or `None` when that
/// is more than is analysed.
pub(super) fn bound(text: &str) -> Option<usize> {
    if text.len() <= SMALL {
        return Some(text.len());
    }
    let mut lexer = lexer::lex(text, Mode::Module);
    let mut indents = 0usize;
    // For each open bracket and for the statement: tokens since the last
    // separator that may have opened a level of the tree.
    let mut open = vec![0usize];
    let mut total = 0usize;
    loop {
        let kind = lexer.next_token();
        match kind {
            TokenKind::EndOfFile => return Some(MAX_DEPTH),
            TokenKind::Indent => indents += 1,
            TokenKind::Dedent => indents = indents.saturating_sub(1),
            TokenKind::Newline => {
                open.clear();
                open.push(0);
                total = 0;
            }
            TokenKind::Comma | TokenKind::Semi => {
                if let Some(level) = open.last_mut() {
                    total -= *level;
                    *level = 0;
                }
            }
            TokenKind::Rpar
            | TokenKind::Rsqb
            | TokenKind::Rbrace
            | TokenKind::FStringEnd
            | TokenKind::TStringEnd
                if open.len() > 1 =>
            {
                total -= open.pop().unwrap_or(0);
            }
            TokenKind::Lpar
            | TokenKind::Lsqb
            | TokenKind::Lbrace
            | TokenKind::FStringStart
            | TokenKind::TStringStart => {
                count(&mut open, &mut total);
                open.push(0);
            }
            // These neither nest by themselves nor in a row.
            TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Complex
            | TokenKind::String
            | TokenKind::FStringMiddle
            | TokenKind::TStringMiddle
            | TokenKind::Comment
            | TokenKind::NonLogicalNewline => {}
            _ => count(&mut open, &mut total),
        }
        if total + open.len() + indents > MAX_DEPTH {
            return None;
        }
    }
}

fn count(open: &mut [usize], total: &mut usize) {
    if let Some(level) = open.last_mut() {
        *level += 1;
        *total += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_depth_counts_not_length() {
        let flat = format!("x = [{}]\n", "f(1 + 2)[3].a, ".repeat(20_000));
        assert!(bound(&flat).is_some());
        assert!(bound(&"x = 1\n".repeat(20_000)).is_some());
        for (head, deeper, tail) in [
            ("x = ", "(", "1"),
            ("x = ", "a + ", "b"),
            ("x = ", "-", "b"),
            ("x = ", "not ", "b"),
            ("x = ", "lambda: ", "b"),
            ("x = ", "b if c else ", "b"),
            ("x", ".a", ""),
            ("x", "()", ""),
            ("x = ", "[1, ", ""),
            ("x = ", "{1: ", ""),
        ] {
            let deep = format!("{head}{}{tail}\n", deeper.repeat(150_000));
            assert_eq!(bound(&deep), None, "{deeper}");
        }
    }
}
