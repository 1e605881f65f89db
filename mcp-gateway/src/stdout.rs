//! Standard output, taken away from everybody else.
//!
//! A banner or a stray print on it breaks the protocol, most often where something fails. So what prints to file
//! descriptor 1 lands on standard error, and only the holder of [`Stdout`] reaches the client.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::thread;
use std::time::Duration;

/// How long is waited where a descriptor that is shared with the client does not block.
const PAUSE: Duration = Duration::from_millis(2);

/// The client's end of standard output.
#[derive(Debug)]
pub(crate) struct Stdout(Patient<File>);

impl Stdout {
    /// Takes it. Programs started later do not inherit it.
    pub(crate) fn take() -> io::Result<Self> {
        let mine = io::stdout().as_fd().try_clone_to_owned()?;
        #[expect(
            unsafe_code,
            reason = "descriptor 1 is named by number; it is replaced whole and never closed, so nobody loses it"
        )]
        let mut shared = ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(1) });
        match io::stderr().as_fd().try_clone_to_owned() {
            Ok(stderr) => rustix::io::dup2(stderr, &mut shared)?,
            Err(_) => rustix::io::dup2(OpenOptions::new().write(true).open("/dev/null")?, &mut shared)?,
        }
        Ok(Self(Patient(File::from(mine))))
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A descriptor that a client may have set not to block, read and written as if it did. The mode belongs to the open
/// file, which the client shares, so it is not ours to change.
#[derive(Debug)]
pub(crate) struct Patient<T>(pub(crate) T);

fn patiently<R>(mut act: impl FnMut() -> io::Result<R>) -> io::Result<R> {
    loop {
        match act() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(PAUSE),
            acted => return acted,
        }
    }
}

impl<T: Read> Read for Patient<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        patiently(|| self.0.read(bytes))
    }
}

impl<T: Write> Write for Patient<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        patiently(|| self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        patiently(|| self.0.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks every other time.
    struct Reluctant<T>(T, bool);

    impl<T: Read> Read for Reluctant<T> {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 { Err(io::ErrorKind::WouldBlock.into()) } else { self.0.read(&mut bytes[..1]) }
        }
    }

    #[test]
    fn what_does_not_block_is_waited_for() {
        let mut text = String::new();
        Patient(Reluctant(&b"whole"[..], false)).read_to_string(&mut text).unwrap();
        assert_eq!(text, "whole");
    }
}
