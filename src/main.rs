//! fabricsim
fn main() {}
