//! Messages: a JSON object and bytes after it, in one piece.

use gatewood::{Error, Result};
use serde_json::Value;

/// A JSON object and bytes in one piece: the length of the object in four bytes, the object, the bytes.
pub fn join(json: &Value, bytes: &[u8]) -> Vec<u8> {
    let text = json.to_string();
    let mut message = Vec::with_capacity(4 + text.len() + bytes.len());
    message.extend_from_slice(&(text.len() as u32).to_le_bytes());
    message.extend_from_slice(text.as_bytes());
    message.extend_from_slice(bytes);
    message
}

/// The JSON object and the bytes of a message.
///
/// # Errors
/// When it is none.
pub fn split(message: &[u8]) -> Result<(Value, &[u8])> {
    let none = || Error::data("not a message");
    let (length, rest) = message.split_first_chunk::<4>().ok_or_else(none)?;
    let (text, bytes) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(none)?;
    Ok((serde_json::from_slice(text).map_err(|_| none())?, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_come_apart_again() {
        let message = join(&json!({"ask": "learn"}), b"rows");
        assert_eq!(split(&message).unwrap(), (json!({"ask": "learn"}), &b"rows"[..]));
        for wrong in [&message[..3], &message[..9], b"\x01\0\0\0{", b""] {
            assert!(split(wrong).is_err());
        }
    }
}
