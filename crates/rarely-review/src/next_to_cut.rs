//! The outcome's jump at a cut from the rows next to it: regression discontinuity with honest intervals.
//!
//! Four answers, each from rows `(x, y)` that followed the rule, with a row at the cut counted above it:
//!
//! | question | answer |
//! |---|---|
//! | How large is the jump? | [`robust_jump`]: local lines with an MSE-optimal bandwidth and a bias-corrected interval |
//! | How bent may the outcome be before the sign is in doubt? | [`CurvatureBound`]: the worst-case interval, and the largest curvature that it survives |
//! | Were people sorted around the cut? | [`density_test`]: whether the density of x jumps there |
//! | Did the log follow the rule there? | [`CutRows`]: the rows of a log, and the share that got another option |
//!
//! The binned sums of [`crate::Jumps`] remain for saved statistics and live policies, which keep no rows.

mod bandwidth;
mod collected;
mod density;
mod from_rows;
mod half;
mod local_fit;
mod neighbours;
mod normal;
mod robust;
mod worst_case;

pub use self::collected::{CutRows, NearCut, ROWS_KEPT};
pub use self::density::{DensityTest, NoDensityTest, density_test};
pub use self::from_rows::FromRows;
pub use self::robust::{Bandwidths, RobustJump, robust_jump, robust_jump_within};
pub use self::worst_case::{CurvatureBound, critical_value};
