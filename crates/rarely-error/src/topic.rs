//! What errors are about, and the pages of the book that explain it.

/// What an error is about, where a page of the book says more than the error can.
///
/// ```
/// use rarely_error::{Remedy, Topic};
/// let remedy = Remedy::new("sign with a passkey").see(Topic::PersonKeys);
/// assert_eq!(remedy.topic().map(Topic::page), Some("docs/signatures.md#keys"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Topic {
    // Documents and logs.
    /// The keys and values of a policy document.
    PolicyDocument,
    /// How a file is written: encoding, separator, format.
    Files,
    /// Numbers in a text file.
    Numbers,
    /// Columns that a document names.
    Columns,
    /// Times in a log.
    Times,
    /// Sheets of a workbook.
    Workbooks,
    /// Rows that cannot be used.
    BadRows,
    // Reviews and experiments.
    /// What an interval rests on.
    Assumptions,
    /// Looks that were planned.
    Looks,
    /// Choices that were made at random, and their probabilities.
    Exploration,
    /// Statistics that a review saved.
    SavedStatistics,
    /// What a document must say for a log in a warehouse.
    Warehouse,
    /// What goes wrong with a log in a warehouse.
    WarehouseTraps,
    /// Algorithms, their settings and worlds.
    Algorithms,
    /// Shards of an experiment.
    Shards,
    // The store.
    /// A store that lost events, or was damaged.
    Recovery,
    /// The backup of a store.
    Restore,
    /// The key that signs checkpoints.
    Checkpoints,
    /// Stores of another version.
    Upgrades,
    /// Which replica writes.
    Ownership,
    /// What a database must promise.
    Replication,
    /// A database that does not do what it should.
    Database,
    // The service.
    /// Roles of tokens.
    Roles,
    /// Names and ids of people.
    People,
    /// Keys of people.
    PersonKeys,
    /// What a signature is about.
    Signatures,
    /// Amendments of a document.
    Amendments,
    /// A candidate beside the rule in force.
    Candidates,
    /// Decisions by a named version.
    NamedVersions,
    /// Decisions that were made before.
    History,
    /// Outcomes that must not get worse.
    Guardrails,
    /// Decisions that a person overrides.
    Overrides,
    /// People who were erased.
    Erasures,
    /// Records that were moved out of the store.
    Archives,
    /// An identity provider.
    IdentityProvider,
    /// TLS, and what else protects a service.
    Hardening,
    /// Too much to do, or no space.
    Pressure,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Self; 37] = [
        Self::PolicyDocument,
        Self::Files,
        Self::Numbers,
        Self::Columns,
        Self::Times,
        Self::Workbooks,
        Self::BadRows,
        Self::Assumptions,
        Self::Looks,
        Self::Exploration,
        Self::SavedStatistics,
        Self::Warehouse,
        Self::WarehouseTraps,
        Self::Algorithms,
        Self::Shards,
        Self::Recovery,
        Self::Restore,
        Self::Checkpoints,
        Self::Upgrades,
        Self::Ownership,
        Self::Replication,
        Self::Database,
        Self::Roles,
        Self::People,
        Self::PersonKeys,
        Self::Signatures,
        Self::Amendments,
        Self::Candidates,
        Self::NamedVersions,
        Self::History,
        Self::Guardrails,
        Self::Overrides,
        Self::Erasures,
        Self::Archives,
        Self::IdentityProvider,
        Self::Hardening,
        Self::Pressure,
    ];

    /// A name for programs, which stays the same.
    pub fn name(self) -> &'static str {
        self.entry().0
    }

    /// The page of the book, with the section, from the root of the repository.
    pub fn page(self) -> &'static str {
        self.entry().1
    }

    /// Its name and its page.
    fn entry(self) -> (&'static str, &'static str) {
        match self {
            Self::PolicyDocument => ("policy-document", "docs/reference/policy-document.md"),
            Self::Files => ("files", "docs/reference/files.md"),
            Self::Numbers => ("numbers", "docs/reference/files.md#numbers"),
            Self::Columns => ("columns", "docs/reference/files.md#columns"),
            Self::Times => ("times", "docs/reference/files.md#times"),
            Self::Workbooks => ("workbooks", "docs/reference/files.md#workbooks"),
            Self::BadRows => ("bad-rows", "docs/reference/errors.md#bad-rows"),
            Self::Assumptions => ("assumptions", "docs/understand/certificates.md#the-assumptions-one-by-one"),
            Self::Looks => ("looks", "docs/understand/confirm-or-explore.md#confirm"),
            Self::Exploration => ("exploration", "docs/understand/confirm-or-explore.md#explore"),
            Self::SavedStatistics => ("saved-statistics", "docs/reference/formats.md#the-saved-state"),
            Self::Warehouse => ("warehouse", "docs/reference/engines.md#what-the-document-must-say"),
            Self::WarehouseTraps => ("warehouse-traps", "docs/reference/engines.md#traps"),
            Self::Algorithms => ("algorithms", "docs/reference/algorithms.md"),
            Self::Shards => ("shards", "docs/reference/shards.md#rules"),
            Self::Recovery => ("recovery", "docs/operate/backup.md#recover"),
            Self::Restore => ("restore", "docs/operate/backup.md#restore"),
            Self::Checkpoints => ("checkpoints", "docs/service.md#checkpoints-and-witnesses"),
            Self::Upgrades => ("upgrades", "docs/operate/upgrade.md"),
            Self::Ownership => ("ownership", "docs/cluster.md#who-writes"),
            Self::Replication => ("replication", "docs/cluster.md#acknowledged-means-replicated"),
            Self::Database => ("database", "docs/cluster.md#when-something-is-wrong"),
            Self::Roles => ("roles", "docs/service.md#roles"),
            Self::People => ("people", "docs/service.md#people"),
            Self::PersonKeys => ("person-keys", "docs/signatures.md#keys"),
            Self::Signatures => ("signatures", "docs/signatures.md#what-is-signed"),
            Self::Amendments => ("amendments", "docs/service.md#amending-a-document"),
            Self::Candidates => ("candidates", "docs/service.md#a-candidate-beside-the-rule-in-force"),
            Self::NamedVersions => ("named-versions", "docs/service.md#decisions-by-a-named-version"),
            Self::History => ("history", "docs/service.md#history"),
            Self::Guardrails => ("guardrails", "docs/service.md#several-outcomes-and-what-must-not-get-worse"),
            Self::Overrides => ("overrides", "docs/service.md#overrides"),
            Self::Erasures => ("erasures", "docs/service.md#erasing-a-person"),
            Self::Archives => ("archives", "docs/operate/archive.md"),
            Self::IdentityProvider => ("identity-provider", "docs/service.md#sign-in-with-an-identity-provider"),
            Self::Hardening => ("hardening", "docs/operate/harden.md"),
            Self::Pressure => ("pressure", "docs/service.md#what-happens-under-pressure"),
        }
    }
}
