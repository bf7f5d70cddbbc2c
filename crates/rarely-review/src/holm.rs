//! Several tests that share an error probability (mathematics §18).

/// The level at which each of several tests was last made, and whether it showed what it tests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HolmStep {
    /// The level.
    pub level: f64,
    /// Whether the test showed it.
    pub shown: bool,
}

/// Tests `count` hypotheses so that any is rejected wrongly with probability `error_probability` at most [holm-1979]: all at `δ/count`; those
/// that are left at `δ` over their number, for as long as that rejects another. `test(at, level)` must reject at every higher level what it rejects
/// at one.
///
/// ```
/// use rarely_review::holm;
/// let p = [0.01, 0.04, 0.03, 0.005];
/// let steps = holm(4, 0.05, |at, level| Ok::<_, ()>(p[at] <= level)).unwrap();
/// assert_eq!(steps.iter().map(|step| step.shown).collect::<Vec<_>>(), [true, false, false, true]);
/// ```
///
/// # Errors
/// The first of `test`.
pub fn holm<E>(
    count: usize,
    error_probability: f64,
    mut test: impl FnMut(usize, f64) -> Result<bool, E>,
) -> Result<Vec<HolmStep>, E> {
    let mut steps = vec![HolmStep { level: error_probability / count.max(1) as f64, shown: false }; count];
    loop {
        let open: Vec<usize> = (0..count).filter(|&at| !steps[at].shown).collect();
        let level = error_probability / open.len().max(1) as f64;
        let mut any = false;
        for &at in &open {
            let shown = test(at, level)?;
            steps[at] = HolmStep { level, shown };
            any |= shown;
        }
        if !any {
            return Ok(steps);
        }
    }
}
