//! Where options were never or hardly ever tried.

use serde::{Deserialize, Serialize};

use crate::bands::Bands;
use crate::evidence_base::EvidenceBase;
use crate::impact::TRIED;
use crate::tally::Tally;

/// Bands with a smaller share of the log's rows are left out …
const BAND_SHARE: f64 = 0.01;
/// … and an option is hardly ever tried in a band where it has a smaller share of the rows.
const HARDLY: f64 = 0.001;

/// An option that was never or hardly ever tried in a band.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThinSupport {
    /// The option.
    pub option: String,
    /// The band, in words.
    pub band: String,
    /// The band's feature.
    pub feature: String,
    /// Rows of the log in the band.
    pub rows: u64,
    /// Those with the option.
    pub tried: u64,
}

/// Every option and band with thin support.
pub(crate) fn thin(base: &EvidenceBase<'_>, tally: &Tally) -> Vec<ThinSupport> {
    let document = base.document;
    let bands = Bands::of(document);
    let options = 0..document.options().len();
    let effect = base.known_design_effect();
    let mut found = Vec::new();
    for (at, band) in bands.all().iter().enumerate() {
        let rows: u64 = options.clone().map(|option| tally.tried(option, at)).sum();
        if (rows as f64) < BAND_SHARE * tally.rows() as f64 {
            continue;
        }
        for option in options.clone() {
            let tried = tally.tried(option, at);
            if effect.effective(tried) < TRIED || (tried as f64) < HARDLY * rows as f64 {
                found.push(ThinSupport {
                    option: document.options()[option].clone(),
                    band: band.words(document),
                    feature: document.features()[band.feature].column.clone(),
                    rows,
                    tried,
                });
            }
        }
    }
    found
}
