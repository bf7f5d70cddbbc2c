//! Passkeys: what counts as a signature, and what does not.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use rarely_live::event::{Event, PersonKey, Signature};
use rarely_live::{
    EngineState, EventHeader, KeySignature, Objection, Passkey, PasskeyError, PasskeyPublicKey, PasskeySignature,
    PersonPublicKey, RelyingParty, SignedAct, SignedStatement,
};
use rarely_store::Hash;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::json;

use crate::support::document;

const ORIGIN: &str = "https://rules.example.org";
const PRESENT: u8 = 1;
const VERIFIED: u8 = 4;

/// An authenticator in software.
struct Authenticator {
    pair: EcdsaKeyPair,
    credential: String,
}

/// What an authenticator says, in whatever way it lies.
#[derive(Clone, Copy)]
struct Said {
    kind: &'static str,
    origin: &'static str,
    rp_id: &'static str,
    flags: u8,
    counter: u32,
}

const TRUTH: Said =
    Said { kind: "webauthn.get", origin: ORIGIN, rp_id: "rules.example.org", flags: PRESENT | VERIFIED, counter: 8 };

impl Authenticator {
    fn new(credential: &[u8]) -> Self {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key.as_ref(), &random).expect("a key");
        Self { pair, credential: BASE64.encode(credential) }
    }

    fn passkey(&self, counter: u32) -> Passkey {
        let point = self.pair.public_key().as_ref();
        let coordinate = |bytes: &[u8]| BASE64.encode(bytes);
        let (x, y) = (coordinate(&point[1..33]), coordinate(&point[33..]));
        let RelyingParty { id: rp_id, origin } = RelyingParty::at(ORIGIN).expect("an address");
        let public_key = PasskeyPublicKey::P256 { crv: "P-256".to_owned(), x, y };
        Passkey { credential: self.credential.clone(), public_key, rp_id, origin, backup_eligible: false, counter }
    }

    fn sign(&self, digest: Hash, said: Said) -> PasskeySignature {
        let challenge = BASE64.encode(digest.0);
        let client_data =
            json!({ "type": said.kind, "challenge": challenge, "origin": said.origin, "crossOrigin": false });
        let client_data = client_data.to_string().into_bytes();
        let mut authenticator_data = Hash::of(said.rp_id.as_bytes()).0.to_vec();
        authenticator_data.push(said.flags);
        authenticator_data.extend(said.counter.to_be_bytes());
        let signed = [authenticator_data.as_slice(), &Hash::of(&client_data).0].concat();
        let signature = self.pair.sign(&SystemRandom::new(), &signed).expect("a signature");
        PasskeySignature {
            credential: self.credential.clone(),
            digest,
            client_data: BASE64.encode(client_data),
            authenticator_data: BASE64.encode(authenticator_data),
            signature: BASE64.encode(signature.as_ref()),
        }
    }
}

#[test]
fn a_passkey_signs_one_digest_on_its_own_pages_with_its_person_verified() {
    let (own, other) = (Authenticator::new(b"one"), Authenticator::new(b"one"));
    let (passkey, digest) = (own.passkey(7), Hash::of(b"a statement"));
    assert_eq!(passkey.check(&own.sign(digest, TRUTH), 7).expect("right"), 8);
    let lies = [
        Said { kind: "webauthn.create", ..TRUTH },
        Said { origin: "https://rules.example.com", ..TRUTH },
        Said { origin: "https://rules.example.org:8443", ..TRUTH },
        Said { rp_id: "example.org", ..TRUTH },
        Said { flags: PRESENT, ..TRUTH },
        Said { flags: VERIFIED, ..TRUTH },
        Said { flags: PRESENT | VERIFIED | 8, ..TRUTH },
    ];
    for (at, said) in lies.into_iter().enumerate() {
        assert!(matches!(passkey.check(&own.sign(digest, said), 7), Err(PasskeyError::Refused(_))), "lie {at}");
    }
    assert!(passkey.check(&other.sign(digest, TRUTH), 7).is_err(), "another key");
    let moved = PasskeySignature { digest: Hash::of(b"another"), ..own.sign(digest, TRUTH) };
    assert!(passkey.check(&moved, 7).is_err(), "another statement");
    for broken in ["", "%", "AAAA"] {
        let made = PasskeySignature { signature: broken.to_owned(), ..own.sign(digest, TRUTH) };
        assert!(passkey.check(&made, 7).is_err(), "{broken:?}");
        let made = PasskeySignature { client_data: broken.to_owned(), ..own.sign(digest, TRUTH) };
        assert!(passkey.check(&made, 7).is_err(), "{broken:?}");
        let made = PasskeySignature { authenticator_data: broken.to_owned(), ..own.sign(digest, TRUTH) };
        assert!(passkey.check(&made, 7).is_err(), "{broken:?}");
    }
}

#[test]
fn a_counter_goes_up_or_stays_zero() {
    let own = Authenticator::new(b"one");
    let (passkey, digest) = (own.passkey(0), Hash::of(b"a statement"));
    for (last, counter, right) in
        [(0, 0, true), (0, 1, true), (7, 8, true), (7, 7, false), (7, 6, false), (7, 0, false)]
    {
        let made = own.sign(digest, Said { counter, ..TRUTH });
        match passkey.check(&made, last) {
            Ok(found) => assert!(right && found == counter, "{last}, {counter}"),
            Err(error) => assert!(!right && matches!(error, PasskeyError::Copied), "{last}, {counter}: {error}"),
        }
    }
}

#[test]
fn addresses_at_which_browsers_offer_passkeys() {
    for (url, id, origin) in [
        ("https://rules.example.org", "rules.example.org", "https://rules.example.org"),
        ("https://rules.example.org:8443/", "rules.example.org", "https://rules.example.org:8443"),
        ("http://localhost:8080", "localhost", "http://localhost:8080"),
    ] {
        let expected = RelyingParty { id: id.to_owned(), origin: origin.to_owned() };
        assert_eq!(RelyingParty::at(url), Ok(expected), "{url}");
    }
    for url in [
        "",
        "rules",
        "http://rules.example.org",
        "https://127.0.0.1",
        "https://[::1]:80",
        "https://a.org/b",
        "ftp://localhost",
    ] {
        assert!(RelyingParty::at(url).is_err(), "{url}");
    }
}

/// A log in which a copied passkey signs: the second event cannot have come from the one authenticator.
#[test]
fn the_fold_over_the_log_remembers_counters() {
    let own = Authenticator::new(b"one");
    let mut state = EngineState::default();
    let mut number = 0;
    let mut apply = |state: &mut EngineState, policy: u64, event: Event| {
        number += 1;
        let hash = Hash::of(&[number]);
        let header = EventHeader { number: number.into(), time_ms: 0, actor: "ann", hash };
        let applied = state.apply(header, policy, &event, None);
        number -= u8::from(applied.is_err());
        applied
    };
    let body = json!({ "document": document("", "none"), "seed": 7, "signatures": "key" }).to_string();
    apply(&mut state, 1, Event::parse("registered", &body).expect("an event")).expect("registered");
    let key = PersonPublicKey::Passkey(own.passkey(0));
    let registered = PersonKey { person: "ann".to_owned(), person_id: None, key, signature: None };
    apply(&mut state, 0, Event::PersonKeyRegistered(registered)).expect("registered");
    let signed = |state: &EngineState, act: SignedAct, counter: u32| {
        let subject = state.policy(1).expect("a policy").lock().last_act();
        let (meaning, reason) = ("as agreed", "a test");
        let statement =
            SignedStatement { act, policy: "screening", number: 0, subject, signer: "ann", meaning, reason };
        let made = own.sign(statement.digest(), Said { counter, ..TRUTH });
        Signature { by_key: Some(KeySignature::Passkey(made)), ..Signature::by_token(meaning, reason) }
    };
    apply(&mut state, 1, Event::Stopped(Signature::by_token("stop", "a token is enough"))).expect("stopped");
    let bare = apply(&mut state, 1, Event::Resumed(Signature::by_token("resume", "a token")));
    assert_eq!(bare, Err(Objection::KeyRequired { name: "ann".to_owned() }));
    let resume = signed(&state, SignedAct::Resume, 5);
    apply(&mut state, 1, Event::Resumed(resume.clone())).expect("resumed");
    let stop = signed(&state, SignedAct::Stop, 6);
    apply(&mut state, 1, Event::Stopped(stop)).expect("stopped with the passkey");
    let again = apply(&mut state, 1, Event::Resumed(resume));
    assert_eq!(again, Err(Objection::WrongSignature { name: "ann".to_owned() }), "a signature is good once");
    let copied = signed(&state, SignedAct::Resume, 6);
    let copied = apply(&mut state, 1, Event::Resumed(copied));
    assert!(matches!(copied, Err(Objection::CopiedKey { .. })), "{copied:?}");
    let kept = state.people().iter().next().expect("a key").counter;
    assert_eq!(kept, Some(6));
    // A snapshot remembers it too.
    let mut restored = EngineState::restore(state.snapshot()).expect("a state");
    let copied = signed(&restored, SignedAct::Resume, 4);
    assert!(matches!(apply(&mut restored, 1, Event::Resumed(copied)), Err(Objection::CopiedKey { .. })));
    let resume = signed(&restored, SignedAct::Resume, 7);
    apply(&mut restored, 1, Event::Resumed(resume)).expect("resumed");
}
