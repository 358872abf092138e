//! Ed25519 signatures of manifests.

use std::fmt;

use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use faster_hex::hex_string;

/// The result of a check of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signed {
    /// There is none, or no check was required.
    Not,
    /// It is from the configured key and for this content.
    Right,
    Wrong,
}

/// The text is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyError;

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a key of 64 hex digits; `tamis store key` makes a pair")
    }
}

impl std::error::Error for KeyError {}

/// The key of trusted runs.
pub struct SecretKey(SigningKey);

/// The key that everybody may know.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

/// 64 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature(ed25519_dalek::Signature);

impl SecretKey {
    pub fn from_bytes(bytes: [u8; 32]) -> SecretKey {
        SecretKey(SigningKey::from_bytes(&bytes))
    }

    /// # Errors
    /// It is not 64 hex digits.
    pub fn parse(text: &str) -> Result<SecretKey, KeyError> {
        Ok(SecretKey::from_bytes(from_hex(text.trim())?))
    }

    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    pub fn sign(&self, content: &[u8]) -> Signature {
        Signature(self.0.sign(content))
    }

    /// The key as text, for its owner.
    pub fn expose(&self) -> String {
        hex_string(self.0.as_bytes())
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(…)")
    }
}

impl PublicKey {
    /// # Errors
    /// It is not 64 hex digits of a point on the curve.
    pub fn parse(text: &str) -> Result<PublicKey, KeyError> {
        let bytes = from_hex(text.trim())?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| KeyError)?;
        // A weak key accepts signatures that nobody made.
        match key.is_weak() {
            true => Err(KeyError),
            false => Ok(PublicKey(key)),
        }
    }

    pub fn check(&self, content: &[u8], signature: &Signature) -> bool {
        self.0.verify_strict(content, &signature.0).is_ok()
    }
}

impl std::str::FromStr for PublicKey {
    type Err = String;

    fn from_str(text: &str) -> Result<PublicKey, String> {
        PublicKey::parse(text).map_err(|error| error.to_string())
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex_string(self.0.as_bytes()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Signature {
    /// # Errors
    /// It is not 128 hex digits.
    pub fn parse(text: &str) -> Result<Signature, KeyError> {
        let bytes: [u8; 64] = from_hex(text)?;
        Ok(Signature(ed25519_dalek::Signature::from_bytes(&bytes)))
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex_string(&self.0.to_bytes()))
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn from_hex<const N: usize>(text: &str) -> Result<[u8; N], KeyError> {
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return Err(KeyError);
    }
    let read = faster_hex::hex_decode(text.as_bytes(), &mut bytes);
    read.map(|()| bytes).map_err(|_| KeyError)
}
