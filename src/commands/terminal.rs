//! Standard output and standard error, for a world in which their readers may go away.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::error::Error;

/// Writes data to standard output. A reader that has seen enough is no error.
///
/// # Errors
/// [`Error::Io`] if writing fails in any other way.
pub(super) fn print(text: &str) -> Result<(), Error> {
    print_to(&mut io::stdout().lock(), text)
}

/// The same to any stream.
pub(super) fn print_to(out: &mut dyn Write, text: &str) -> Result<(), Error> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Error::Io(PathBuf::from("standard output"), e)),
        _ => Ok(()),
    }
}

/// Writes a line to standard error. If that fails there is nobody left to tell.
pub(super) fn tell(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A stream on which everything fails in the same way.
    pub(crate) struct Failing(pub(crate) io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn a_reader_that_left_is_no_error() {
        print_to(&mut Failing(io::ErrorKind::BrokenPipe), "text").expect("no error");
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let error = print_to(&mut Failing(io::ErrorKind::StorageFull), "text").expect_err("told");
        assert_eq!(error.exit_code(), 74);
        assert!(error.to_string().contains("standard output"), "{error}");
    }
}
