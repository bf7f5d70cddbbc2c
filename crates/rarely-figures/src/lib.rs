//! Turns a result table or a piece of evidence into a figure; never runs an experiment.
