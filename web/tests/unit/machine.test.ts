// What the page asks of the machine that serves it: the token of its address, terms, events, figures, the details of faults.
import { afterEach, describe, expect, it, vi } from "vitest";
import { Machine, MachineError, termsOf, tokenIn } from "../../src/machine/client";
import { EventReader } from "../../src/machine/events";
import { detailsOf, figuresOf } from "../../src/rooms/machine/sessions";

afterEach(() => vi.unstubAllGlobals());

describe("the token", () => {
  it("is taken out of the address", () => expect(tokenIn("#machine?token=abc&search=x")).toEqual({ token: "abc", rest: "#machine?search=x" }));
  it.each(["", "#records?token=abc", "#machine", "#machine?token="])("is not in %s", (fragment) => expect(tokenIn(fragment)).toBeUndefined());
});

describe("terms", () => {
  it.each([["", []], ["a  b=4k", ["a", "b=4k"]], ['"two words" three', ["two words", "three"]], ['""', []]])("of %s", (words, terms) => expect(termsOf(words)).toEqual(terms));
});

describe("events", () => {
  it("are whole, however their text comes", () => {
    const reader = new EventReader();
    const text = 'event: moment\ndata: {"a":1}\n\n: a remark\n\nevent: ended\r\ndata: 2\r\n\r\n';
    const found = [...text].flatMap((letter) => reader.take(letter));
    expect(found).toEqual([{ name: "moment", data: '{"a":1}' }, { name: "ended", data: "2" }]);
  });
  it("end", () => expect(() => new EventReader().take("x".repeat((1 << 20) + 1))).toThrow("has no end"));
});

describe("figures", () => {
  it("are shown in the units of the page", () => {
    const times = { mean: 5e6, p50: 4e6, p99: 12e6, max: 3e7 };
    const moment = { told: "", in_force: [], depth: 1_200, iops: 162.4, bytes_per_s: 662_000, commands: 3_806, errors: 0, latency_ns: times, lateness_ns: { ...times, mean: null } };
    const shown = Object.fromEntries(figuresOf(moment));
    expect(shown).toMatchObject({ Depth: "1,200", IOPS: "162", "MB/s": "0.662", "Latency, ms": "5.00", "p99 so far, ms": "12.0", "Late, mean ms": "–", "Late, most ms": "30.0" });
  });
  it("may be missing", () => expect(new Set(figuresOf({ told: "", in_force: [] }).map(([, value]) => value))).toEqual(new Set(["–"])));
});

describe("a fault", () => {
  it("has the details that its action takes", () => {
    const filled = { lba: "7", sectors: " 8 ", by: "20ms", for: "", share: "1%" };
    expect(detailsOf(["member", "lba", "sectors"], filled, true)).toEqual({ lba: 7, sectors: 8 });
    expect(detailsOf(["member", "by", "for", "share"], filled, false)).toEqual({ by: "20ms", share: "1%" });
    expect(detailsOf(["for", "during_write"], filled, true)).toEqual({ during_write: true });
  });
});

describe("the machine", () => {
  const answering = (response: Response | Error) => {
    const asked: [URL, RequestInit][] = [];
    vi.stubGlobal("document", { baseURI: "http://127.0.0.1:1/" });
    vi.stubGlobal("fetch", async (address: URL, how: RequestInit) => {
      asked.push([address, how]);
      if (response instanceof Error) throw response;
      return response;
    });
    return asked;
  };
  it("is asked with the token in a header alone", async () => {
    const asked = answering(Response.json({ library: "x", records: [] }));
    await new Machine("abc").list("bs=4k", "fio");
    const [address, how] = asked[0] as [URL, RequestInit];
    expect(String(address)).toBe("http://127.0.0.1:1/here/library?term=bs%3D4k&kind=fio");
    expect(how).toMatchObject({ method: "GET", credentials: "omit", headers: { "X-Drivelab-Token": "abc" } });
  });
  it("says what it refuses", async () => {
    answering(Response.json({ error: "there is no library" }, { status: 400 }));
    await expect(new Machine("abc").state()).rejects.toThrow(new MachineError("there is no library"));
  });
  it("may have ended", async () => {
    answering(new TypeError("Failed to fetch"));
    await expect(new Machine("abc").state()).rejects.toThrow("is it still running?");
  });
  it("tells what a session does until it ends", async () => {
    answering(new Response('event: moment\ndata: {"told":"a","in_force":[]}\n\nevent: ended\ndata: {"error":"gone"}\n\n'));
    const heard: string[] = [];
    expect(await new Machine("abc").watch("1", ({ told }) => heard.push(told), new AbortController().signal)).toBe("gone");
    expect(heard).toEqual(["a"]);
  });
});
