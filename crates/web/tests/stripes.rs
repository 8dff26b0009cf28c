//! The map of an array: each address is where the core has it, and every sector of a row is accounted for.
use drivelab_web::answer;
use serde_json::{Value, json};

fn asked(question: &Value) -> Value {
    serde_json::from_str(&answer(&question.to_string(), &|_| {})).expect("an answer is JSON")
}

fn text(level: &str, members: u32, more: &str) -> String {
    format!(
        "[target]\ndrive = \"wd-wd740gd-00fla0\"\n[target.array]\nlevel = \"{level}\"\nmembers = {members}\n{more}\n\
         [workload]\nrw = \"randread\"\n[run]\nios = 1\n"
    )
}

fn map(text: &str, addresses: &[u64]) -> Value {
    let question = json!({"ask": "stripes", "scenario": {"text": text}, "rows": 24, "addresses": addresses});
    let found = asked(&question);
    assert!(found["stripes"].is_object(), "{found}");
    found["stripes"].clone()
}

const LEVELS: [(&str, u32, &str); 18] = [
    ("jbod", 3, ""),
    ("raid0", 3, ""),
    ("raid1", 2, ""),
    ("raid01", 4, ""),
    ("raid10", 5, ""),
    ("raid10", 4, "layout = \"far\""),
    ("raid10", 5, "layout = \"offset\""),
    ("raid3", 4, ""),
    ("raid4", 4, ""),
    ("raid5", 4, ""),
    ("raid5", 4, "layout = \"right-asymmetric\"\nwrite_hole = \"bitmap\""),
    ("raid6", 5, ""),
    ("raid30", 6, ""),
    ("raid50", 6, ""),
    ("raid60", 8, ""),
    ("raidz1", 4, ""),
    ("raidz2", 6, ""),
    ("raidz3", 7, ""),
];

#[test]
fn each_cell_with_data_is_a_place_of_its_first_address() {
    for (level, members, more) in LEVELS {
        let text = text(level, members, more);
        let found = map(&text, &[]);
        let rows = found["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), 24, "{level}");
        let mut places = Vec::new();
        for row in rows {
            let cells = row["cells"].as_array().expect("cells");
            assert_eq!(cells.len(), members as usize);
            for (slot, cell) in cells.iter().enumerate().filter(|(_, cell)| cell["what"] == "data") {
                places.push((cell["first"].as_u64().expect("an address"), slot, row["at"].clone()));
            }
        }
        assert!(!places.is_empty(), "{level}");
        let addresses: Vec<u64> = places.iter().map(|place| place.0).collect();
        let found = map(&text, &addresses)["addresses"].clone();
        for ((address, slot, at), there) in places.iter().zip(found.as_array().expect("addresses")) {
            assert_eq!(there["address"], *address);
            let listed = there["places"].as_array().expect("places");
            let is_it = |place: &&Value| place["slot"] == *slot && place["at"] == *at;
            assert!(listed.iter().any(|place| is_it(&place)), "{level}: {address} at {slot}/{at}: {there}");
        }
    }
}

#[test]
fn an_address_names_its_copies_or_its_parities() {
    let expected = [
        ("raid0", 3, 1, 0),
        ("raid1", 3, 3, 0),
        ("raid10", 4, 2, 0),
        ("raid5", 4, 1, 1),
        ("raid6", 5, 1, 2),
        ("raid60", 8, 1, 2),
        ("raidz2", 6, 1, 2),
    ];
    for (level, members, copies, parities) in expected {
        let found = map(&text(level, members, ""), &[1000])["addresses"][0]["places"].clone();
        let places = found.as_array().expect("places");
        let count = |what: &str| places.iter().filter(|place| place["what"] == what).count();
        assert_eq!((count("data"), count("parity")), (copies, parities), "{level}: {found}");
    }
}

#[test]
fn raid_5_is_left_symmetric_as_in_md() {
    let found = map(&text("raid5", 3, ""), &[]);
    let shown = |row: usize| -> Vec<String> {
        let cells = found["rows"][row]["cells"].as_array().expect("cells").iter();
        let words =
            |cell: &Value| cell["first"].as_u64().map_or("P".to_owned(), |first| (first / 128).to_string());
        cells.map(words).collect()
    };
    assert_eq!([shown(0), shown(1), shown(2)], [["0", "1", "P"], ["3", "P", "2"], ["P", "4", "5"]]);
    assert_eq!((&found["row_sectors"], &found["redundancy"]), (&json!(128), &json!("parity")));
}

#[test]
fn what_has_no_map_is_refused() {
    let drive = "[target]\ndrive = \"wd-wd740gd-00fla0\"\n[workload]\nrw = \"randread\"\n[run]\nios = 1\n";
    let found = asked(&json!({"ask": "stripes", "scenario": {"text": drive}}));
    assert_eq!(found["error"], "the target of this scenario is no array");
    let found = asked(&json!({"ask": "stripes", "scenario": {"text": text("raid5", 2, "")}}));
    assert!(found["problems"]["list"].is_array(), "{found}");
    let found = asked(&json!({"ask": "stripes", "scenario": {"text": text("raid5", 3, "")}, "point": 7}));
    assert_eq!(found["error"], "the scenario has no such point");
}
