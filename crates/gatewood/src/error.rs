//! The one error type of the library.

use std::borrow::Cow;
use std::fmt;

use crate::text::printable;

/// Why an operation of this library failed.
///
/// The message is a full sentence without a final stop, fit to be shown to a user; it names the place
/// (setting, row, column, byte) where there is one, and control characters in it are escaped. The kind is asked for with the
/// `is_…` methods.
///
/// ```
/// use gatewood::bits::BitMatrix;
/// let error = BitMatrix::zeros(usize::MAX, 1024).unwrap_err();
/// assert!(error.is_too_large());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Setting,
    Data,
    File,
    TooLarge,
    Cancelled,
    Io,
    Closed,
}

impl Error {
    /// A setting is out of range or does not go with another.
    pub fn setting(message: impl Into<String>) -> Self {
        Self { kind: Kind::Setting, message: safe(message) }
    }

    /// The data cannot be learned from or run on: wrong shape, one class, no rows.
    pub fn data(message: impl Into<String>) -> Self {
        Self { kind: Kind::Data, message: safe(message) }
    }

    /// A file's content is not what it should be: damaged, truncated, foreign, newer.
    pub fn file(message: impl Into<String>) -> Self {
        Self { kind: Kind::File, message: safe(message) }
    }

    /// The work would take more memory than there is, or more than a type can count.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self { kind: Kind::TooLarge, message: safe(message) }
    }

    /// An observer asked for the work to stop.
    pub fn cancelled() -> Self {
        Self { kind: Kind::Cancelled, message: "stopped before the end".into() }
    }

    /// Reading or writing failed.
    pub fn io(message: impl Into<String>) -> Self {
        Self { kind: Kind::Io, message: safe(message) }
    }

    /// Writing failed: with [`Error::is_closed`] where the reader closed the other end of a pipe.
    pub(crate) fn writing(message: impl Into<String>, error: &std::io::Error) -> Self {
        let kind = if error.kind() == std::io::ErrorKind::BrokenPipe { Kind::Closed } else { Kind::Io };
        Self { kind, message: format!("{}: {error}", message.into()) }
    }

    /// Whether a setting was at fault.
    pub fn is_setting(&self) -> bool {
        self.kind == Kind::Setting
    }

    /// Whether the data was at fault.
    pub fn is_data(&self) -> bool {
        self.kind == Kind::Data
    }

    /// Whether a file's content was at fault.
    pub fn is_file(&self) -> bool {
        self.kind == Kind::File
    }

    /// Whether the work was too large.
    pub fn is_too_large(&self) -> bool {
        self.kind == Kind::TooLarge
    }

    /// Whether the work was stopped by its observer.
    pub fn is_cancelled(&self) -> bool {
        self.kind == Kind::Cancelled
    }

    /// Whether reading or writing failed.
    pub fn is_io(&self) -> bool {
        matches!(self.kind, Kind::Io | Kind::Closed)
    }

    /// Whether writing failed because the reader closed the other end of a pipe: it has had enough.
    pub fn is_closed(&self) -> bool {
        self.kind == Kind::Closed
    }

    /// The same error with the place it happened in put before the message.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.message = format!("{}: {}", printable(&place.to_string()), self.message);
        self
    }
}

/// A message that is safe to show: names in it may come from any file.
fn safe(message: impl Into<String>) -> String {
    let message = message.into();
    match printable(&message) {
        Cow::Borrowed(_) => message,
        Cow::Owned(escaped) => escaped,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// A result of this library.
pub type Result<T> = std::result::Result<T, Error>;
