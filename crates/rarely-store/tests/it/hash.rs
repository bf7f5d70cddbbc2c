//! `Hash`.

use rarely_store::Hash;

#[test]
fn hash_prints_and_parses_as_hexadecimal() {
    let hash = Hash::of(b"abc");
    // FIPS 180-4's own example.
    assert_eq!(hash.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(hash.to_string().parse(), Ok(hash));
    let json = serde_json::to_string(&hash).unwrap();
    assert_eq!(serde_json::from_str::<Hash>(&json).unwrap(), hash);
    for wrong in ["", "ba78", &"g".repeat(64), &"+1".repeat(32), &"é".repeat(32)] {
        assert!(wrong.parse::<Hash>().is_err(), "{wrong:?}");
    }
}
