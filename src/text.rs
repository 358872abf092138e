//! Texts in a configuration.

use std::fmt;
use std::str::FromStr;

/// A text on one line that is not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(pub String);

impl FromStr for Text {
    type Err = String;

    fn from_str(text: &str) -> Result<Text, String> {
        if text.trim().is_empty() {
            return Err("the value is empty".to_owned());
        }
        if text.chars().any(char::is_control) {
            return Err("the value holds a line end or another control character".to_owned());
        }
        Ok(Text(text.to_owned()))
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
