//! The look of each algorithm and of each verdict, the same in every figure and on every page.

use rarely_plot::{Colour, Style, Tone};

use crate::reproduction::ClaimVerdict;

/// The tone of a verdict's badge.
pub(crate) fn tone_of(verdict: ClaimVerdict) -> Tone {
    match verdict {
        ClaimVerdict::Holds => Tone::Good,
        ClaimVerdict::NotSettled => Tone::Fair,
        ClaimVerdict::DoesNotHold => Tone::Bad,
    }
}

/// The look of an algorithm, by its name in the core's table: the same in every figure.
///
/// Families share a colour; their greedy member is dashed and their conservative one solid, as in the paper's
/// supplement. No two algorithms share both colour and dash. `rarely`, our default, is wider than the others. A
/// name that is not in the table is grey and solid.
///
/// ```
/// use rarely_lab::report::style_of;
/// use rarely_plot::Dash;
/// assert_eq!(style_of("rs-greedy").colour, style_of("rs-conservative").colour);
/// assert_eq!(style_of("rs-greedy").dash, Dash::Dashed);
/// ```
pub fn style_of(algorithm: &str) -> Style {
    match algorithm {
        "rarely" => Style::solid(Colour::VERMILION).wide(3.2),
        "rarely-quick" => Style::dashed(Colour::VERMILION).wide(2.2),
        "greedy" => Style::solid(Colour::BLACK),
        "scheduled" => Style::dashed(Colour::BLACK),
        "feasible-greedy" => Style::dashed(Colour::SKY),
        "feasible-conservative" => Style::solid(Colour::SKY),
        "rs-greedy" => Style::dashed(Colour::BLUE),
        "rs-conservative" => Style::solid(Colour::BLUE),
        "boundary-greedy" => Style::dashed(Colour::GREEN),
        "boundary-conservative" => Style::solid(Colour::GREEN),
        "population-greedy" => Style::dashed(Colour::PURPLE),
        "population-conservative" => Style::solid(Colour::PURPLE),
        "certified" => Style::dotted(Colour::WINE).wide(2.2),
        "linucb" => Style::solid(Colour::ORANGE),
        "rs-linucb" => Style::dashed(Colour::ORANGE),
        "clucb" => Style::dotted(Colour::BROWN).wide(2.2),
        "thompson" => Style::dotted(Colour::INDIGO).wide(2.2),
        "explore-then-commit" => Style::dotted(Colour::BLACK).wide(2.2),
        "clucb2" => Style::dashed(Colour::BROWN),
        "batched-thompson" => Style::dashed(Colour::INDIGO),
        "bootstrap" => Style::solid(Colour::INDIGO),
        "epsilon-greedy" => Style::solid(Colour::BROWN),
        "linucb-alpha" => Style::dotted(Colour::ORANGE).wide(2.2),
        "squarecb" => Style::dotted(Colour::GREEN).wide(2.2),
        "batched-elimination" => Style::dotted(Colour::PURPLE).wide(2.2),
        "logistic-thompson" => Style::dotted(Colour::SKY).wide(2.2),
        "rs-glincb" => Style::dotted(Colour::BLUE).wide(2.2),
        "local-threshold" => Style::solid(Colour::WINE),
        "random" => Style::dotted(Colour::GREY).wide(2.2),
        "fixed" => Style::dashed(Colour::GREY),
        _ => Style::solid(Colour::GREY),
    }
}
