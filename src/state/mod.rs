//! What lives on the device: packing cases into buffers, growing what is full, reading the outcome.

pub mod buffers;
pub mod change;
pub mod grow;
mod lanes;
pub mod layout;
pub mod readout;
