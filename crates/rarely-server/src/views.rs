//! Policies, versions and proposals as the API returns them.

use std::collections::BTreeMap;

use rarely_live::engine::PolicyHandle;
use rarely_live::{LivePolicy, ProposalRecord, ProposalStatus, Signer, Version, VersionOrigin};
use rarely_output::utc;
use rarely_review::Verdict;
use rarely_store::Hash;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;

/// A policy, in short.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct PolicyBrief {
    /// The name of the policy.
    pub(crate) name: String,
    /// The version in force.
    pub(crate) version: u64,
    /// The rule in force, in words.
    pub(crate) words: Vec<String>,
    /// Whether exploration and changes are stopped.
    pub(crate) stopped: bool,
    /// The number of decisions.
    pub(crate) decisions: u64,
    /// The number of outcomes, of decisions made here and elsewhere; `waiting` says which of them are not learned yet.
    pub(crate) outcomes: u64,
    /// Decisions without an outcome after the outcome window.
    unanswered: u64,
    /// The open proposal.
    #[serde(skip_serializing_if = "Option::is_none")]
    open_proposal: Option<u64>,
}

/// A policy as the owner of its chain tells the owners of other chains: what the list of policies shows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PolicySummary {
    pub(crate) brief: PolicyBrief,
    /// When the version in force came into force.
    pub(crate) since_ms: u64,
    /// Decisions without an outcome after the outcome window; `None` if there is no window.
    pub(crate) unanswered: Option<u64>,
    /// The open proposal.
    pub(crate) open: Option<ProposalRecord>,
    /// The signatures that it needs.
    pub(crate) needed: usize,
}

/// A policy.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PolicyView {
    #[serde(flatten)]
    brief: PolicyBrief,
    /// The number of the event that registered it.
    id: u64,
    /// When it was registered, in milliseconds since 1970 UTC.
    registered_ms: u64,
    /// Who registered it.
    author: String,
    /// When the version in force came into force.
    since_ms: u64,
    /// The rule in force, as in a policy document.
    #[schema(value_type = Object)]
    rule: Json,
    /// The features that every record must have.
    features: Vec<FeatureView>,
    /// The outcome.
    outcome: OutcomeView,
    /// Outcomes that a change must not make worse; every report must have them.
    guardrails: Vec<GuardrailView>,
    /// The signatures that a change needs: `automatic`, `one` or `two`.
    approval: String,
    /// What people sign with: `key` or `token`.
    signatures: &'static str,
    /// The hash that signatures of rollbacks, stops and resumes are about: that of the policy's last act.
    #[schema(value_type = String)]
    signing_subject: Hash,
    /// The plan: the `[control]` section of the policy document.
    #[schema(value_type = Object)]
    control: Json,
    /// Decisions and outcomes, by option.
    options: Vec<OptionCounts>,
    /// Outcomes that are not learned yet. Absent if outcomes are learned as they arrive.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<WaitingView>,
    /// The number of corrected outcomes.
    corrections: u64,
    /// The number of decisions made by exploration: by the pilot or at random.
    explored: u64,
    /// The number of decisions by a version that the request named.
    pinned: u64,
    /// Decisions from before the policy was run here; they are among the outcomes from elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<HistoryView>,
    /// The last review.
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<ReviewBrief>,
    /// The last event of the policy.
    last_event: u64,
}

/// A feature of a record.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FeatureView {
    column: String,
    /// The unit of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    /// The lowest and the highest possible number.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<[f64; 2]>,
    /// The possible levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    levels: Option<Vec<String>>,
}

/// The outcome of a policy.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OutcomeView {
    column: String,
    /// The lowest and the highest possible outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<[f64; 2]>,
    /// Which outcomes are better: `higher` or `lower`.
    better: &'static str,
}

/// An outcome that a change must not make worse.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GuardrailView {
    column: String,
    /// The lowest and the highest possible value.
    range: [f64; 2],
    /// Which values are better: `higher` or `lower`.
    better: &'static str,
    /// How much worse it may get per case.
    margin: f64,
    /// All this in words.
    words: String,
}

impl GuardrailView {
    fn new(guardrail: &rarely_policy::Guardrail) -> Self {
        Self {
            column: guardrail.column.clone(),
            range: guardrail.range.into(),
            better: if guardrail.sign() < 0.0 { "lower" } else { "higher" },
            margin: guardrail.margin,
            words: guardrail.to_string(),
        }
    }
}

/// Decisions and outcomes of an option.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OptionCounts {
    option: String,
    decisions: u64,
    /// Decisions with an outcome.
    answered: u64,
    /// Decisions without an outcome after the outcome window. Absent if the document has no outcome window.
    #[serde(skip_serializing_if = "Option::is_none")]
    unanswered: Option<u64>,
    /// `unanswered` as a share of the decisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    unanswered_share: Option<f64>,
    /// Outcomes of decisions made elsewhere.
    elsewhere: u64,
}

/// Outcomes that are not learned yet, because earlier decisions have none.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WaitingView {
    /// Outcomes that are in and wait.
    outcomes: u64,
    /// The first decision without an outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_open_decision: Option<u64>,
    /// Decisions that ran out of time before their outcome came.
    timed_out: u64,
    /// Outcomes that came after the outcome window: recorded, and not learned.
    too_late: u64,
    /// What waits and for what, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<String>,
}

/// Decisions from before the policy was run here.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HistoryView {
    decisions: u64,
    /// When the first was made.
    first: String,
    /// When the last was made.
    last: String,
    /// Those that are not learned, because the policy decided while they were imported.
    not_learned: u64,
}

/// The last review.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReviewBrief {
    /// The number of reviews.
    count: u64,
    time_ms: u64,
    /// The outcomes that it took into account.
    outcomes: u64,
    /// `keep`, `change` or `cannot tell`.
    verdict: String,
    /// The reasons for the verdict.
    reasons: Vec<String>,
    /// Why the plan did not allow the change that the evidence called for.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Vec<String>>,
}

/// A version.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VersionView {
    number: u64,
    /// The rule, in words.
    words: Vec<String>,
    /// The rule, as in a policy document.
    #[schema(value_type = Object)]
    rule: Json,
    /// The event that put it into force.
    event: u64,
    time_ms: u64,
    /// How it came about: by registration, proposal, rollback or stop.
    #[schema(value_type = Object)]
    origin: VersionOrigin,
    /// Who signed it.
    #[schema(value_type = Vec<Object>)]
    signers: Vec<Signer>,
    /// The policy document with this rule. Only present when a single version is requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<String>,
}

/// A proposal.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProposalView {
    number: u64,
    /// The event that created it.
    event: u64,
    /// That event's hash, which signatures made with a key are about.
    #[schema(value_type = String)]
    hash: Hash,
    time_ms: u64,
    /// When it expires; it cannot be signed afterwards.
    expires_ms: u64,
    /// The version that it would replace.
    version: u64,
    /// The proposed rule, in words.
    words: Vec<String>,
    /// The rule, as in a policy document.
    #[schema(value_type = Object)]
    rule: Json,
    /// For a rollback: the older version whose rule is proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    rollback: Option<u64>,
    /// Whether it would replace the policy document; `evidence.amendment` has the document and what it changes.
    amendment: bool,
    /// The outcomes that it is based on.
    outcomes: u64,
    /// Who signed it so far.
    #[schema(value_type = Vec<Object>)]
    signers: Vec<Signer>,
    /// The number of signatures that it needs.
    signatures_needed: usize,
    /// What people sign with: `key` or `token`.
    signatures: &'static str,
    /// Its status.
    #[schema(value_type = Object)]
    status: ProposalStatus,
    /// The evidence, as the event has it. Only present when a single proposal is requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    evidence: Option<Json>,
}

impl PolicyBrief {
    pub(crate) fn new(handle: &PolicyHandle, live: &LivePolicy, now_ms: u64) -> Self {
        let state = live.state();
        let unanswered = state.counts.unanswered.as_ref().map(|unanswered| unanswered.overdue(now_ms).iter().sum());
        Self {
            name: handle.name.clone(),
            version: live.version().number,
            words: live.document().rule().words(live.document()),
            stopped: state.stopped,
            decisions: state.counts.decided.iter().sum(),
            outcomes: state.counts.outcomes(),
            unanswered: unanswered.unwrap_or(0),
            open_proposal: live.open_proposal().map(|open| open.number),
        }
    }
}

impl PolicySummary {
    pub(crate) fn new(handle: &PolicyHandle, live: &LivePolicy, now_ms: u64) -> Self {
        let unanswered = live.state().counts.unanswered.as_ref();
        let open = live.open_proposal();
        Self {
            brief: PolicyBrief::new(handle, live, now_ms),
            since_ms: live.version().time_ms,
            unanswered: unanswered.map(|unanswered| unanswered.overdue(now_ms).iter().sum()),
            needed: open.map_or(0, |open| live.signatures_needed_for(open)),
            open: open.cloned(),
        }
    }
}

impl PolicyView {
    pub(crate) fn new(handle: &PolicyHandle, live: &LivePolicy, now_ms: u64) -> Self {
        let (state, document) = (live.state(), live.document());
        let outcome = document.outcome();
        let reviews = &state.reviews;
        let review = (reviews.count > 0).then(|| ReviewBrief {
            count: reviews.count,
            time_ms: reviews.time_ms,
            outcomes: reviews.outcomes,
            verdict: reviews.verdict.map_or("", Verdict::name).to_owned(),
            reasons: reviews.reasons.clone(),
            refused: reviews.refused.clone(),
        });
        Self {
            brief: PolicyBrief::new(handle, live, now_ms),
            id: handle.id,
            registered_ms: state.registration.time_ms,
            author: state.registration.author.clone(),
            since_ms: live.version().time_ms,
            rule: json(document.rule()),
            features: document.feature_columns().iter().map(feature).collect(),
            outcome: OutcomeView {
                column: outcome.column.clone(),
                range: outcome.range.map(<[f64; 2]>::from),
                better: if document.outcome_sign() < 0.0 { "lower" } else { "higher" },
            },
            guardrails: document.guardrails().iter().map(GuardrailView::new).collect(),
            approval: document.control().approval.name().to_owned(),
            signatures: live.signed_with().name(),
            signing_subject: live.last_act(),
            control: json(document.control()),
            options: option_counts(live, now_ms),
            waiting: waiting(live),
            corrections: state.counts.corrections,
            explored: state.counts.explored,
            pinned: state.counts.pinned,
            history: state.history.map(|history| HistoryView {
                decisions: history.decisions,
                first: utc(history.first_ms),
                last: utc(history.last_ms),
                not_learned: history.not_learned,
            }),
            review,
            last_event: state.last_event,
        }
    }
}

impl VersionView {
    pub(crate) fn new(live: &LivePolicy, version: &Version) -> Self {
        Self {
            number: version.number,
            words: version.rule.words(&live.edition_of(version.number).document),
            rule: json(&version.rule),
            event: version.event,
            time_ms: version.time_ms,
            origin: version.origin,
            signers: version.signers.clone(),
            document: None,
        }
    }

    /// A version with its policy document.
    pub(crate) fn with_document(live: &LivePolicy, version: &Version) -> Self {
        Self { document: Some(Self::document_text(live, version)), ..Self::new(live, version) }
    }

    /// The document of a version, with its rule.
    pub(crate) fn document_text(live: &LivePolicy, version: &Version) -> String {
        let text = &live.edition_of(version.number).text;
        // The plan may forbid the rule of a rollback. The text is then that of the document as it was registered or amended.
        rarely_policy::apply(text, &version.rule).unwrap_or_else(|_| text.clone())
    }
}

impl ProposalView {
    pub(crate) fn new(live: &LivePolicy, proposal: &ProposalRecord, evidence: Option<Json>) -> Self {
        Self {
            number: proposal.number,
            event: proposal.event,
            hash: proposal.hash,
            time_ms: proposal.time_ms,
            expires_ms: proposal.expires_ms,
            version: proposal.version,
            words: proposal.rule.words(&live.edition_of(proposal.version).document),
            rule: json(&proposal.rule),
            rollback: proposal.rollback,
            outcomes: proposal.outcomes,
            signers: proposal.signers.clone(),
            amendment: proposal.amendment.is_some(),
            signatures_needed: live.signatures_needed_for(proposal),
            signatures: live.signed_with().name(),
            status: proposal.status.clone(),
            evidence,
        }
    }
}

/// What waits for the outcomes of earlier decisions, if outcomes are learned in the order of decisions.
fn waiting(live: &LivePolicy) -> Option<WaitingView> {
    let late = live.state().late.as_ref()?;
    let waiting = late.waiting();
    Some(WaitingView {
        outcomes: waiting.reported,
        first_open_decision: waiting.first_open,
        timed_out: waiting.timed_out,
        too_late: late.too_late(),
        explanation: late.sentence(live.document().control().outcome_window_ms),
    })
}

/// Decisions and outcomes, by option.
pub(crate) fn option_counts(live: &LivePolicy, now_ms: u64) -> Vec<OptionCounts> {
    let counts = &live.state().counts;
    let unanswered = counts.unanswered.as_ref().map(|unanswered| unanswered.overdue(now_ms));
    let options = live.document().options().iter().enumerate();
    options
        .map(|(at, option)| {
            let decisions = counts.decided[at];
            let unanswered = unanswered.as_ref().map(|unanswered| unanswered[at]);
            OptionCounts {
                option: option.clone(),
                decisions,
                answered: counts.answered[at],
                unanswered,
                unanswered_share: unanswered.map(|count| count as f64 / decisions.max(1) as f64),
                elsewhere: counts.elsewhere[at],
            }
        })
        .collect()
}

/// A record as an object with the names of its features.
pub(crate) fn record(live: &LivePolicy, version: u64, fields: &[rarely_live::RecordField]) -> BTreeMap<String, Json> {
    let columns = live.edition_of(version).reader.encoder().feature_columns().iter().cloned();
    columns.zip(fields.iter().map(rarely_live::RecordField::json)).collect()
}

pub(crate) fn json(value: &impl Serialize) -> Json {
    serde_json::to_value(value).unwrap_or_default()
}

fn feature(feature: &rarely_policy::Feature) -> FeatureView {
    FeatureView {
        column: feature.column.clone(),
        unit: feature.unit().map(ToOwned::to_owned),
        range: feature.range().map(<[f64; 2]>::from),
        levels: feature.levels().map(<[String]>::to_vec),
    }
}
