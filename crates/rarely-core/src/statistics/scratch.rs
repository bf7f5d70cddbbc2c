//! Room for intermediate results.

use std::fmt;

/// A buffer whose contents mean nothing between two calls: buffers of one length are equal.
#[derive(Clone)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "Vec<f64>", into = "Vec<f64>")
)]
pub(crate) struct Scratch(pub(crate) Vec<f64>);

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scratch({})", self.0.len())
    }
}

impl PartialEq for Scratch {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
    }
}

impl From<Vec<f64>> for Scratch {
    fn from(room: Vec<f64>) -> Self {
        Self(room)
    }
}

impl From<Scratch> for Vec<f64> {
    fn from(scratch: Scratch) -> Self {
        vec![0.0; scratch.0.len()]
    }
}
