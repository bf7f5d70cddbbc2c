//! `rarely algorithms`.

use std::fmt::Write as _;

use clap::Args;
use rarely_core::Algorithm;
use rarely_lab::environment::{EnvironmentError, REGISTRY};
use rarely_output::TextTable;

use crate::failure::Failure;
use crate::output::{print, width};

/// What to show.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The exact distribution of one world, or of all
    #[arg(long, value_name = "NAME|all")]
    world: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Some(name) = &arguments.world else { return print(&table()) };
    let chosen: Vec<_> = REGISTRY.iter().filter(|entry| name == "all" || name == entry.name).collect();
    if chosen.is_empty() {
        return Err(EnvironmentError::Unknown { name: name.clone() }.into());
    }
    let mut text = String::new();
    for entry in chosen {
        let lines = wrapped(entry.distribution, usize::from(width().unwrap_or(100)).saturating_sub(2));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {}\n{lines}", entry.name, entry.summary);
    }
    print(&format!("{}\n", text.trim_end()))
}

/// A paragraph in lines that are not too long.
fn wrapped(text: &str, width: usize) -> String {
    let (mut all, mut line) = (String::new(), String::new());
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            let _ = writeln!(all, "  {line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    all + &format!("  {line}\n")
}

/// The tables of algorithms, of their settings, and of environments.
fn table() -> String {
    let words = [1, 2, 3, 4];
    let mut algorithms = TextTable::new(&["algorithm", "plays", "acts when", "changes to", "source"], &words);
    for row in Algorithm::TABLE {
        algorithms.row([row.name, row.choice, row.trigger, row.update, row.source]);
    }
    let mut settings = TextTable::new(&["setting", "default", "range", "used by", "option"], &words);
    for row in SETTINGS {
        settings.row(row);
    }
    let mut environments = TextTable::new(&["environment", "its worlds"], &words);
    for entry in REGISTRY {
        environments.row([entry.name, entry.summary]);
    }
    format!("{}\n{}\n{}", algorithms.text(width()), settings.text(width()), environments.text(width()))
}

/// [`Algorithm::can_forget`].
const FORGETFUL: &str = "thompson, logistic-thompson, epsilon-greedy, linucb-alpha, squarecb";

const SETTINGS: [[&str; 5]; 19] = [
    ["noise σ", "the true one", "1e-12 – 1e12, unknown", "all that learn", "--noise, --declared-noise"],
    ["norm bound L", "the true one", "0 – 1e12", "all that learn", "--norm-bound"],
    ["error probability δ", "1/rounds", "1e-300 – below 1", "all that learn", "--error-probability"],
    ["penalty λ", "0.01", "1e-9 – 1e9", "all that learn", "--penalty"],
    ["prior mean θ₀", "0", "±1e12", "all that learn", "--prior-mean"],
    ["exploration", "rarely: posterior 0.5; others: none", "", "all that hold a policy", "--explore"],
    ["tolerance Δ", "0.01", "0 – 1", "rs-greedy, rs-conservative", "--tolerance"],
    ["growth C", "0.3", "1e-12 – 1e6", "rs-linucb", "sweep --vary growth"],
    ["excluded share τ", "0.01", "0 – 1", "population-*", "sweep --vary excluded-share"],
    ["minimum gain", "0", "0 – 1e12", "rarely, rarely-quick, certified", "sweep --vary minimum-gain"],
    ["deviations z", "√χ²⁻¹_d(0.95)", "0 – 1e3", "rarely-quick", "sweep --vary z"],
    ["renewal c", "0.25", "1e-12 – 1e6", "posterior-weighted equipoise", "sweep --vary renewal"],
    ["safety α", "0.1", "0 – 1", "clucb, clucb2", "sweep --vary safety"],
    [
        "posterior scale v",
        "σ; logistic: 1",
        "1e-12 – 1e12",
        "thompson, batched-, logistic-thompson",
        "sweep --vary posterior-scale",
    ],
    ["exploration ε", "0.05", "0 – 1", "epsilon-greedy", "sweep --vary epsilon"],
    ["width α", "1", "0 – 1e3", "linucb-alpha", "sweep --vary alpha"],
    ["gap scale c", "10", "1e-12 – 1e6", "squarecb", "sweep --vary gap-scale"],
    ["discount", "none", "0.001 – below 1", FORGETFUL, "sweep --vary discount"],
    ["window", "none", "1 – 1e7", FORGETFUL, "sweep --vary window"],
];
