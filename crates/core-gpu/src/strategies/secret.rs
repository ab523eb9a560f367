//! What the ranks of a group know and nobody else: it never crosses the network; each side shows
//! that it knows it.

use std::{fmt, io::Read as _};

use hmac_sha256::HMAC;

use super::error::MeetingError;

/// Bytes of a secret, of a challenge and of an answer.
pub const BYTES: usize = 32;

/// A group's secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; BYTES]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Secret {
    /// A new one, from the system's source of randomness.
    ///
    /// # Errors
    /// [`MeetingError::Address`] when the system has none.
    pub fn random() -> Result<Self, MeetingError> {
        random().map(Self)
    }

    /// The secret of a text that a person chose: all of it counts.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        Self(HMAC::mac(text.as_bytes(), b"core-gpu group secret"))
    }

    /// As text for a variable of a rank's environment.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// What [`Secret::to_text`] gave, or any other text as [`Secret::of_text`].
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        let mut bytes = [0; BYTES];
        let text = text.trim();
        if text.len() != 2 * BYTES {
            return Self::of_text(text);
        }
        for (index, byte) in bytes.iter_mut().enumerate() {
            let pair = text.get(2 * index..2 * index + 2);
            let Some(read) = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) else {
                return Self::of_text(text);
            };
            *byte = read;
        }
        Self(bytes)
    }

    /// The answer that shows that one knows the secret, over parts whose lengths are part of it.
    pub fn sign(&self, purpose: &str, parts: &[&[u8]]) -> [u8; BYTES] {
        self.over(purpose, parts).finalize()
    }

    /// Whether an answer is right. Takes as long whatever is wrong with it.
    pub fn verify(&self, purpose: &str, parts: &[&[u8]], answer: &[u8; BYTES]) -> bool {
        self.over(purpose, parts).finalize_verify(answer)
    }

    fn over(&self, purpose: &str, parts: &[&[u8]]) -> HMAC {
        let mut hmac = HMAC::new(self.0);
        for part in [purpose.as_bytes()].iter().chain(parts) {
            hmac.update((part.len() as u64).to_le_bytes());
            hmac.update(part);
        }
        hmac
    }
}

/// Bytes that nobody can foretell.
pub fn random() -> Result<[u8; BYTES], MeetingError> {
    let mut bytes = [0; BYTES];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    match read {
        Ok(()) => Ok(bytes),
        Err(error) => Err(MeetingError::Address {
            address: "the system's source of randomness".to_owned(),
            why: error.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_by_its_answers_and_shown_by_nothing() {
        let secret = Secret::random().unwrap();
        let answer = secret.sign("join", &[b"one", b"two"]);
        assert!(secret.verify("join", &[b"one", b"two"], &answer));
        assert!(!secret.verify("join", &[b"onet", b"wo"], &answer));
        assert!(!secret.verify("leave", &[b"one", b"two"], &answer));
        assert!(
            !Secret::random()
                .unwrap()
                .verify("join", &[b"one", b"two"], &answer)
        );
        assert_eq!(format!("{secret:?}"), "Secret(..)");
    }

    #[test]
    fn texts_become_secrets() {
        let secret = Secret::random().unwrap();
        assert_eq!(Secret::from_text(&secret.to_text()), secret);
        assert_eq!(Secret::from_text("swordfish"), Secret::of_text("swordfish"));
        let not_hex = "z".repeat(64);
        assert_eq!(Secret::from_text(&not_hex), Secret::of_text(&not_hex));
    }
}
