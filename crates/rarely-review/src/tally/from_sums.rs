//! Statistics from sums that another engine has computed.

use rarely_core::Arm;

use super::Tally;
use crate::jump::Jumps;
use crate::log_rate::LogTimes;
use crate::moments::Moments;
use crate::row_set::Source;
use crate::running_variable::RunningVariable;
use crate::stretch_sums::PartSums;

impl Tally {
    /// Adds the sums of one option's rows in one part, between two moments, their counts and outcomes by band, and how many of them are outside the
    /// span of the running variable. Without times, the moments do not count.
    pub(crate) fn add_part(
        &mut self,
        arm: Arm,
        proposing: bool,
        (first, last): (i64, i64),
        part: PartSums,
        (bands, outcomes, outside): (&[u64], &[(i128, i128)], u64),
    ) {
        let rows = part.moments.rows();
        let moments = if self.is_timed { (first, last) } else { (0, 0) };
        if self.is_timed {
            self.times = [self.times, LogTimes::between(rows, first, last)].into_iter().sum();
        }
        let empty = self.options.iter().map(PartSums::like).collect();
        self.stretches.add_part(moments, proposing, arm.index(), part, empty);
        for (tried, rows) in self.tried[arm.index()].iter_mut().zip(bands) {
            *tried += rows;
        }
        if let Some(sums) = &mut self.outcomes {
            sums.add_sums(arm.index(), outcomes);
        }
        if let Some(jumps) = &mut self.jumps {
            jumps.add_outside(outside);
        }
    }

    /// Adds a person to the sample.
    pub(crate) fn add_person(&mut self, priority: u64, context: &[f64], arm: Arm, reward: f64) {
        self.sample.offer(priority, context);
        let z = self.along(context);
        if let (Some(rows), Some(z)) = (&mut self.rows, z) {
            rows.offer(priority, z, arm.index(), reward);
        }
    }

    /// Names the rows, so that the same ones are not added twice.
    pub(crate) fn name_source(&mut self) {
        let digest = self.digest().map_or([0; 32], |digest| digest.0);
        let digest = digest.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        self.sources = vec![Source { rows: self.rows(), digest, last: self.rows() }];
    }

    /// Each option's sums of rows that are not divided: of a log whose rows are, empty ones.
    pub(crate) fn options(&self) -> &[Moments] {
        &self.options
    }

    pub(crate) fn jumps_mut(&mut self) -> Option<&mut Jumps> {
        self.jumps.as_mut()
    }

    /// The running variable of the rule, if it has one.
    pub(crate) fn running_variable(&self) -> Option<&RunningVariable> {
        self.running.as_ref()
    }
}
