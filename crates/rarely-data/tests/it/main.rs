//! The behaviour of the data sets, in one binary.

mod agreement;
mod archives;
mod cases;
mod counterfactuals;
mod damage;
mod laws;
mod logs;
mod people;
mod published;
mod realisations;
mod sketches;
mod support;
mod synthetic;
mod tables;
