//! `rarely algorithms`.

use rarely_core::Algorithm;
use rarely_lab::environment::REGISTRY;
use rarely_output::TextTable;

use crate::output::width;

/// The tables of algorithms, of their settings, and of environments.
pub(crate) fn table() -> String {
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

const SETTINGS: [[&str; 5]; 17] = [
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
    ["posterior scale v", "σ", "1e-12 – 1e12", "thompson, batched-thompson", "sweep --vary posterior-scale"],
    ["exploration ε", "0.05", "0 – 1", "epsilon-greedy", "sweep --vary epsilon"],
    ["width α", "1", "0 – 1e3", "linucb-alpha", "sweep --vary alpha"],
    ["gap scale c", "10", "1e-12 – 1e6", "squarecb", "sweep --vary gap-scale"],
];
