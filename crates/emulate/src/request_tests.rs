//! Requests that are no action, each with its remedy, and that an action is written as it was asked for.
use super::*;
use drivelab_units::InFile;

/// The request of an action with these fields, in JSON.
fn line(action: &str, fields: &str) -> String {
    format!("{{\"action\":\"{action}\",{fields}\"member\":0}}")
}

#[test]
fn fields_that_do_not_fit_the_action_are_refused_with_a_remedy() {
    let range = "media and corrupt take lba and sectors: the sectors of the member";
    let of_slow = "by_ns, factor, over_ns and share_ppm are for slow alone: leave them out";
    let share = "share_ppm is of commands: more than 0 and at most 100%";
    let bursts = "every_ns: bursts of slow last a time (for_ns) that is shorter than every_ns";
    let of_all = "member: power-cut, scrub, rebuild, start and status are of the whole device: leave it out";
    for (request, why) in [
        (line("media", ""), range),
        (line("media", "\"lba\":0,\"sectors\":0,"), range),
        (
            line("fail", "\"lba\":0,\"sectors\":1,"),
            "lba and sectors are for media and corrupt alone: leave them out",
        ),
        (
            line("reset", "\"for_ns\":1,"),
            "for_ns is for lie, fail, power-cut, slow and hang alone: nothing else ends by itself",
        ),
        (
            line("slow", ""),
            "slow takes by_ns, how much later each command is taken up (0 ends it), or factor, how many times as long \
             everything takes (1 ends it)",
        ),
        (
            line("slow", "\"by_ns\":1,\"factor\":10,"),
            "factor: it is of the whole time; leave by_ns, over_ns and share_ppm out",
        ),
        (line("slow", "\"factor\":1001,"), "factor: how many times as long, up to 1000; 1 ends it"),
        (line("hang", "\"factor\":2,"), of_slow),
        (line("hang", "\"by_ns\":1,"), of_slow),
        (
            line("slow", "\"by_ns\":1,\"over_ns\":1,\"share_ppm\":1,"),
            "over_ns and share_ppm: slow takes one of the two; leave the other out",
        ),
        (line("slow", "\"by_ns\":1,\"share_ppm\":0,"), share),
        (line("slow", "\"by_ns\":1,\"share_ppm\":1000001,"), share),
        (line("slow", "\"by_ns\":1,\"every_ns\":5,"), bursts),
        (line("slow", "\"by_ns\":1,\"every_ns\":5,\"for_ns\":5,"), bursts),
        (
            line("hang", "\"for_ns\":1,\"every_ns\":5,"),
            "every_ns is for slow alone, which comes in bursts: leave it out",
        ),
        (line("reset", "\"during_write\":true,"), "during_write is for power-cut alone: leave it out"),
        ("{\"action\":\"scrub\",\"member\":1}".into(), of_all),
        ("{\"action\":\"power-cut\",\"member\":3}".into(), of_all),
    ] {
        let told = Action::parse(request.as_bytes()).map_err(|why| InFile(&why).to_string());
        assert_eq!(told, Err(why.to_owned()), "{request}");
    }
}

#[test]
fn a_request_with_a_name_or_a_value_that_is_none_is_refused_with_what_there_is() {
    let object = "a request is a JSON object that names an action, such as {\"action\": \"status\"}";
    for (request, why) in [
        (
            line("fial", ""),
            "fial: there is no such action; there are media, corrupt, slow, hang, reset, lie, honest, fail, replace, \
             power-cut, scrub, rebuild, start, status",
        ),
        (
            line("fail", "\"mebmer\":1,"),
            "mebmer: an action has no such field; there are action, member, lba, sectors, for_ns, by_ns, over_ns, \
             share_ppm, every_ns, factor, during_write",
        ),
        (
            line("media", "\"lba\":0,\"sectors\":1000000000000000000000,"),
            "sectors: 1e+21 is not a whole number from 0 to 18446744073709551615",
        ),
        (
            line("fail", "\"lba\":\"one\","),
            "lba: \"one\" is not a whole number from 0 to 18446744073709551615",
        ),
        (
            "{\"action\":\"fail\",\"member\":65536}".into(),
            "member: 65536 is not a whole number from 0 to 65535",
        ),
        (line("power-cut", "\"during_write\":1,"), "during_write: 1 is neither true nor false"),
        ("{\"member\":1}".into(), object),
        ("{\"action\":7}".into(), object),
        ("[]".into(), object),
        ("fail".into(), object),
    ] {
        assert_eq!(Action::parse(request.as_bytes()), Err(why.to_owned()), "{request}");
    }
}

#[test]
fn an_action_is_written_as_it_was_asked_for() {
    let nulls = ["lba", "sectors", "for_ns", "by_ns", "over_ns", "share_ppm", "every_ns"];
    for (name, fields) in [
        ("media", "\"member\":2,\"lba\":7,\"sectors\":9"),
        ("corrupt", "\"member\":2,\"lba\":7,\"sectors\":9"),
        ("slow", "\"member\":2,\"by_ns\":0"),
        ("slow", "\"member\":2,\"for_ns\":3,\"by_ns\":4"),
        ("slow", "\"member\":2,\"by_ns\":4,\"over_ns\":5"),
        ("slow", "\"member\":2,\"for_ns\":3,\"by_ns\":4,\"share_ppm\":333333,\"every_ns\":8"),
        ("slow", "\"member\":2,\"factor\":10"),
        ("hang", "\"member\":2"),
        ("hang", "\"member\":2,\"for_ns\":3"),
        ("reset", "\"member\":2"),
        ("lie", "\"member\":2,\"for_ns\":3"),
        ("honest", "\"member\":2"),
        ("fail", "\"member\":2,\"for_ns\":3"),
        ("replace", "\"member\":2"),
        ("power-cut", "\"member\":0,\"for_ns\":3"),
        ("power-cut", "\"member\":0,\"for_ns\":3,\"during_write\":true"),
        ("scrub", "\"member\":0"),
        ("rebuild", "\"member\":0"),
        ("start", "\"member\":0"),
        ("status", "\"member\":0"),
    ] {
        let request = format!("{{\"action\":\"{name}\",{fields}}}");
        let action = Action::parse(request.as_bytes()).expect(&request);
        let written = serde_json::to_string(&action).expect("it can be written");
        let without_nulls =
            nulls.iter().fold(written, |text, name| text.replace(&format!(",\"{name}\":null"), ""));
        assert_eq!(without_nulls, request);
        assert_eq!(action.name(), name);
    }
}
