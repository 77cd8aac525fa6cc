//! The reference page.
pub(crate) fn markdown() -> String {
    String::new()
}
