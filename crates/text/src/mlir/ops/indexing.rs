//! Gathers and scatters have the generic form only.

use super::Pretty;

pub(super) fn pretty(_: &str) -> Option<Pretty> {
    None
}
