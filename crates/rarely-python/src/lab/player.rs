//! Policies of Python's: they decide and learn blocks of rows, so that the interpreter is entered twice for each block.

use std::fmt;

use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyUntypedArrayMethods as _};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rarely_core::{Arm, Contexts, Decision, Rng};
use rarely_lab::{CustomAlgorithm, CustomError, CustomPolicy, CustomRun};

use crate::array::matrix;

/// What makes a player for each run: a function of arms, context variables, rounds, seed and run.
pub(super) struct PythonAlgorithm {
    make: Py<PyAny>,
    block: usize,
}

impl PythonAlgorithm {
    pub(super) fn new(make: Py<PyAny>, block: usize) -> Self {
        Self { make, block }
    }
}

impl fmt::Debug for PythonAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonAlgorithm").field("block", &self.block).finish_non_exhaustive()
    }
}

impl CustomAlgorithm for PythonAlgorithm {
    fn build(&self, run: &CustomRun) -> Result<Box<dyn CustomPolicy>, CustomError> {
        let (arms, dimension) = (run.shape.arms(), run.shape.dimension());
        let player = Python::attach(|py| -> PyResult<PythonPlayer> {
            let player = self.make.call1(py, (arms, dimension, run.rounds, run.seed, run.run))?;
            Ok(PythonPlayer {
                decide: player.getattr(py, "decide")?,
                observe: player.getattr(py, "observe")?,
                arms,
                dimension,
            })
        });
        Ok(Box::new(player?))
    }

    fn block(&self) -> usize {
        self.block
    }
}

/// The methods of one player.
struct PythonPlayer {
    decide: Py<PyAny>,
    observe: Py<PyAny>,
    arms: usize,
    dimension: usize,
}

impl CustomPolicy for PythonPlayer {
    fn decide(&mut self, contexts: Contexts<'_>, rng: &mut Rng, decisions: &mut [Decision]) -> Result<(), CustomError> {
        Python::attach(|py| -> PyResult<()> {
            let rows = matrix(py, self.dimension, contexts.values().to_vec())?;
            let answer = self.decide.bind(py).call1((rows,))?;
            if let Ok(chosen) = answer.cast::<PyArray1<i64>>() {
                let chosen = chosen.try_readonly()?;
                for (decision, &arm) in decisions.iter_mut().zip(chosen.as_slice()?) {
                    // A negative arm is none; the lab says so.
                    *decision = Decision::recorded(Arm::new(usize::try_from(arm).unwrap_or(usize::MAX)));
                }
                return Ok(());
            }
            let Ok(chances) = answer.cast::<PyArray2<f64>>() else {
                return Err(PyTypeError::new_err("a player answers with int64 arms or float64 probabilities"));
            };
            let chances = chances.try_readonly()?;
            if chances.shape() != [decisions.len(), self.arms] {
                return Err(PyTypeError::new_err("a player answers with one row of probabilities for each context"));
            }
            for (decision, chances) in decisions.iter_mut().zip(chances.as_slice()?.chunks_exact(self.arms)) {
                *decision = drawn(chances, rng);
            }
            Ok(())
        })?;
        Ok(())
    }

    fn observe(&mut self, contexts: Contexts<'_>, decisions: &[Decision], rewards: &[f64]) -> Result<(), CustomError> {
        Python::attach(|py| -> PyResult<()> {
            let rows = matrix(py, self.dimension, contexts.values().to_vec())?;
            let arms = decisions.iter().map(|decision| i64::try_from(decision.arm.index()).unwrap_or(i64::MAX));
            let (arms, rewards) = (PyArray1::from_iter(py, arms), PyArray1::from_slice(py, rewards));
            self.observe.bind(py).call1((rows, arms, rewards)).map(drop)
        })?;
        Ok(())
    }
}

/// An arm drawn with these probabilities, from the run's own stream.
fn drawn(chances: &[f64], rng: &mut Rng) -> Decision {
    let mut left = rng.uniform() * chances.iter().sum::<f64>();
    let last = chances.iter().rposition(|&chance| chance > 0.0).unwrap_or(0);
    let arm = chances[..last].iter().position(|&chance| {
        left -= chance;
        left < 0.0
    });
    let arm = arm.unwrap_or(last);
    Decision { propensity: chances[arm], ..Decision::recorded(Arm::new(arm)) }
}
