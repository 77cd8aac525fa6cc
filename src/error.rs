//! One error type for the whole crate: data first, text on demand, a stable exit code.

use std::fmt;
use std::path::PathBuf;

/// Everything that can go wrong, grouped by who can mend it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A scenario, option value or imported file is wrong. Exit code 65.
    Input(InputError),
    /// The command line makes no sense. Exit code 2.
    Usage(String),
    /// The adapter asked for does not exist or cannot hold the state. Exit code 69.
    Adapter(String),
    /// The state needs more memory than there is, or a capacity cannot grow further. Exit code 69.
    Capacity(String),
    /// An invariant of the simulator broke; the text says which. Exit code 70.
    Internal(String),
    /// A result cannot be created. Exit code 73.
    Create(PathBuf, std::io::Error),
    /// Reading or writing failed half-way. Exit code 74.
    Io(PathBuf, std::io::Error),
}

/// A mistake in input: where it is, what was found, what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InputError {
    /// File the mistake is in; empty for the command line.
    pub file: PathBuf,
    /// Line, counted from 1.
    pub line: Option<usize>,
    /// Dotted key or column.
    pub key: String,
    /// The value found, as written.
    pub found: String,
    /// What is allowed, or what is wrong.
    pub message: String,
}

impl Error {
    /// Exit code of the process, after sysexits where one fits.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Input(_) => 65,
            Self::Usage(_) => 2,
            Self::Adapter(_) | Self::Capacity(_) => 69,
            Self::Internal(_) => 70,
            Self::Create(..) => 73,
            Self::Io(..) => 74,
        }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.as_os_str().is_empty() {
            write!(f, "{}", self.file.display())?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
            }
            write!(f, ": ")?;
        }
        if !self.key.is_empty() {
            write!(f, "`{}`", self.key)?;
            if !self.found.is_empty() {
                write!(f, " is `{}`", self.found)?;
            }
            write!(f, ": ")?;
        } else if !self.found.is_empty() {
            write!(f, "found `{}`: ", self.found)?;
        }
        write!(f, "{}", self.message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(e) => e.fmt(f),
            Self::Usage(m) | Self::Adapter(m) | Self::Capacity(m) => f.write_str(m),
            Self::Internal(m) => write!(f, "internal error: {m}"),
            Self::Create(p, e) => write!(f, "cannot create `{}`: {e}", p.display()),
            Self::Io(p, e) => write!(f, "cannot read or write `{}`: {e}", p.display()),
        }
    }
}

impl std::error::Error for Error {}
impl std::error::Error for InputError {}

impl From<InputError> for Error {
    fn from(e: InputError) -> Self {
        Self::Input(e)
    }
}
