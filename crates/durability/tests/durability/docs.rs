//! The reference of the keys against the reader.
use drivelab_durability::asked::reference;

const BEGIN: &str =
    "<!-- keys: written by the tests of crates/durability; UPDATE_DOCS=1 writes them anew -->\n";

#[test]
fn the_reference_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/keys-durability.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (head, _) = text.split_once(BEGIN).expect("the begin of the keys");
    let current = format!("{head}{BEGIN}{}", reference());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &current).unwrap();
    }
    assert!(
        std::env::var_os("UPDATE_DOCS").is_some() || current == text,
        "docs/reference/keys-durability.md is not current: run `UPDATE_DOCS=1 cargo test -p drivelab-durability`"
    );
}
