// The text of a scenario: keys read and set in place, the command for a terminal, completion, the link.
import { describe, expect, it } from "vitest";
import { fragmentOf, placeOf } from "../../src/page/fragment";
import { DEFAULT, scenarioOf, settingOf, stateOf } from "../../src/rooms/sides";
import { commandOf } from "../../src/scenario/command";
import { numbers, plain, valueOf, withValue } from "../../src/scenario/lines";
import { cursorOf, keysAt, wordsAt } from "../../src/scenario/schema";

const TEXT = `# mine
name = "a # b"
[target]
drive = "d"  # the old one
queue.depth = 4

[workload]
rw = 'randread'
iodepth = [1, 2]
`;

describe("a key", () => {
  it.each([
    ["name", '"a # b"'],
    ["target.drive", '"d"'],
    ["target.queue.depth", "4"],
    ["workload.rw", "'randread'"],
    ["workload.bs", undefined],
  ])("%s is read", (key, value) => expect(valueOf(TEXT, key)).toBe(value));
  it("is set in its line, and the comment stays", () => expect(withValue(TEXT, "target.drive", '"e"')).toContain('drive = "e"  # the old one\n'));
  it("is added at the end of its section", () => expect(withValue(TEXT, "target.write_cache", "true")).toContain("queue.depth = 4\nwrite_cache = true\n\n[workload]"));
  it("is added with its section", () => expect(withValue(TEXT, "run.ios", "5")).toBe(`${TEXT}\n[run]\nios = 5\n`));
  it.each([
    ["[\n  1, # one\n  2,\n]", [1, 2]],
    ["[ [1, 2],\n  [3] ]", [1, 2, 3]],
    ['"""\n[ 4\n"""', [4]],
  ])("over several lines is read and set as one: %s", (value, found) => {
    const text = `[workload]\niodepth = ${value}\nbs = "4KiB"\n[run]\nios = 5\n`;
    expect(numbers(valueOf(text, "workload.iodepth"))).toEqual(found);
    expect(withValue(text, "workload.iodepth", "64")).toBe('[workload]\niodepth = 64\nbs = "4KiB"\n[run]\nios = 5\n');
    expect(withValue(text, "workload.iodepth", undefined)).toBe('[workload]\nbs = "4KiB"\n[run]\nios = 5\n');
  });
  it("whose list never ends takes the text with it, which the checker reports", () => expect(valueOf("a = [1\nb = 2\n", "b")).toBeUndefined());
  it("goes with its line", () => expect(withValue(TEXT, "target.queue.depth", undefined)).not.toContain("depth = 4"));
  it("that is not there cannot go", () => expect(withValue(TEXT, "run.ios", undefined)).toBe(TEXT));
  it("has its words and numbers", () => expect([plain("'x'"), numbers("[1, 16]")]).toEqual(["x", [1, 16]]));
});

describe("a command", () => {
  it("has options where there are such, and quotes what a shell would change", () => {
    const scenario = 'name = "a try"\ntarget.drive = "d"\ntarget.queue.protocol = "ncq"\nworkload.iodepth = [1, 2]\nrun.ios = 5\n';
    expect(commandOf(scenario, { "catalogue/drives/d.toml": "" }, 9)).toBe(
      "drivelab simulate --name 'a try' --drive d --set 'target.queue.protocol=\"ncq\"' --iodepth 1,2 --number-ios 5 --log 9",
    );
  });
  it("is none where a file of one's own is needed", () => expect(commandOf("", { "own.toml": "" })).toBeUndefined());
});

describe("completion", () => {
  const schema = { properties: { target: { $ref: "#/$defs/T" } }, $defs: { T: { properties: { queue: { anyOf: [{ properties: { order: { description: "how", enum: ["fcfs", "sptf"] } } }, { type: "array" }] } } } } };
  it("knows keys by references and alternatives", () => expect(keysAt(schema, ["target", "queue"])).toEqual([{ label: "order", detail: "how" }]));
  it("knows the words of a key", () => expect(wordsAt(schema, ["target", "queue", "order"])).toEqual(["fcfs", "sptf"]));
  it.each([
    ["[target]\nqueue.or", { path: ["target", "queue"], word: "or", isValue: false }],
    ['[target]\nqueue.order = "sp', { path: ["target", "queue", "order"], word: "sp", isValue: true }],
    ["na", { path: [], word: "na", isValue: false }],
    ["[tar", { path: [], word: "tar", isValue: false }],
  ])("knows where it is in %j", (text, cursor) => expect(cursorOf(text)).toEqual(cursor));
});

describe("a link", () => {
  it("carries any text", () => {
    const place = { room: "try", state: { toml: 'a = "ä & b=c#d"\n\t+%' } };
    expect(placeOf(fragmentOf(place))).toEqual(place);
  });
  it("restores the setting of both drives", () => {
    const setting = { ...DEFAULT, depth: 32, sides: [{ drive: "x", queue: "sptf" }, { drive: "y", queue: "none" }] as typeof DEFAULT.sides };
    expect(settingOf(stateOf(setting))).toEqual(setting);
  });
  it("with nonsense is the room's beginning", () => expect(settingOf({ depth: "-3", seed: "x", left: ",nothing" })).toEqual(DEFAULT));
  it("means a scenario", () => expect(scenarioOf(DEFAULT, DEFAULT.sides[0])).toContain('queue.protocol = "none"\n'));
});
