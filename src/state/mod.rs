//! What lives on the device: packing cases into buffers, growing what is full, reading the outcome.

pub mod buffers;
pub mod grow;
pub mod layout;
pub mod readout;
