// The checks, by their names. Each opens pages of its own.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { array, checks as ofArray } from "./array.mjs";
import { clipboard, download, tabTo } from "./doing.mjs";
import { checks as ofRecords, someRecords } from "./records.mjs";
import { checks as ofStudies, studies } from "./studies.mjs";
import { checks as ofWhich, which } from "./which.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SETTLED = { timeout: 60_000 };

/** The room "A queue at work", with both drives run. */
async function queue(open, state = "", options = {}) {
  const page = await open(`#queue${state}`, options);
  await digestsOf(page);
  return page;
}

/** The digests of both drives, as soon as they are others than these. */
async function digestsOf(page, before = "") {
  const handle = await page.waitForFunction(
    (old) => {
      const found = document.querySelector("section")?.dataset.digests ?? "";
      return /^\w{16},\w{16}$/.test(found) && found !== old ? found : false;
    },
    before,
    SETTLED,
  );
  return handle.jsonValue();
}

async function attempt(open, state = "", options = {}) {
  const page = await open(`#try${state}`, options);
  await digestOf(page);
  return page;
}

async function digestOf(page, before = "") {
  const handle = await page.waitForFunction(
    (old) => {
      const found = /digest (\w{16})/.exec(document.querySelector("section > .status")?.textContent ?? "")?.[1];
      return found !== undefined && found !== old ? found : false;
    },
    before,
    SETTLED,
  );
  return handle.jsonValue();
}

const clock = (page) => page.locator(".clock").textContent();
const toml = (page) => page.evaluate(() => new URLSearchParams(location.hash.split("?")[1]).get("toml"));

/** The editor's text becomes another, typed. */
async function write(page, text) {
  await page.locator(".cm-content").click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(text);
}

const BROKEN = 'name = "a try"\n\n[target]\ndrive = "wd-4tb-7200"\n\n[workload]\nrw = "randreed"\niodepth = 0\n\n[run]\nios = 10\n';

const roomsOf = (folder) => [queue, attempt, array, which, studies, someRecords(folder)];

export const checks = {
  ...ofArray,
  ...ofWhich,
  ...ofRecords,
  ...ofStudies,

  async "the core runs random scenarios"({ open, cases, save }) {
    const page = await open();
    const found = await page.evaluate(async (all) => {
      const worker = new Worker("worker.js");
      const answer = async (message) => {
        const reply = new Promise((resolve) => {
          const on = ({ data }) => {
            if ("progress" in data) return;
            worker.removeEventListener("message", on);
            resolve(data);
          };
          worker.addEventListener("message", on);
        });
        worker.postMessage(message);
        return reply;
      };
      const module = await WebAssembly.compile(await (await fetch("core.wasm")).arrayBuffer());
      await answer({ module });
      const ask = async (question) => {
        const reply = await answer({ id: 0, question: JSON.stringify(question) });
        if (reply.defect !== undefined) throw new Error(reply.defect);
        return JSON.parse(reply.answer);
      };
      const runs = [];
      for (const scenario of all) {
        const begun = await ask({ ask: "begin", ...scenario });
        const entries = [];
        for (let step; step === undefined || !step.is_last; ) {
          step = (await ask({ ask: "step", run: begun.checked.run })).point;
          entries.push(step.entry ?? step.failure);
        }
        await ask({ ask: "end", run: begun.checked.run });
        runs.push({ hash: begun.checked.scenario_hash, entries });
      }
      return runs;
    }, cases);
    save("runs.json", found);
  },

  async "a queue at work answers while its depth is dragged"({ open, save }) {
    const page = await queue(open);
    const before = await digestsOf(page);
    const slider = page.getByLabel("Queue depth");
    const box = await slider.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    for (let share = 0.5; share <= 0.625; share += 0.025) await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
    await page.mouse.up();
    await page.waitForFunction(() => document.querySelector(".depth-text")?.textContent === "32");
    assert.notEqual(await digestsOf(page, before), before);
    // While the pointer moves, runs of the depths that it passes are shown; the address is that of the last wish.
    await page.waitForFunction(() => location.hash.includes("depth=32"), undefined, SETTLED);
    const sides = [];
    for (const side of ["left", "right"]) {
      const bar = page.getByRole("group", { name: `The ${side} drive's run` });
      await bar.getByRole("button", { name: "Copy as TOML" }).click();
      await bar.getByText("Copied.").waitFor();
      const text = await clipboard(page);
      await bar.getByRole("button", { name: "Copy as command" }).click();
      await page.waitForFunction((old) => navigator.clipboard.readText().then((now) => now !== old), text);
      const command = await clipboard(page);
      const record = await download(page, bar.getByRole("button", { name: "Download record" }));
      sides.push({ toml: text, command, record });
    }
    save("queue.json", { digests: (await digestsOf(page)).split(","), sides });
  },

  async "a queue at work plays, steps and scrubs with the mouse"({ open }) {
    const page = await queue(open);
    const start = await clock(page);
    await page.getByRole("button", { name: "Step", exact: true }).click();
    const stepped = await clock(page);
    assert.notEqual(stepped, start);
    await page.getByRole("button", { name: "Step back" }).click();
    assert.equal(await clock(page), start);
    await page.getByRole("button", { name: "Play" }).click();
    await page.waitForFunction((old) => document.querySelector(".clock")?.textContent !== old, start);
    await page.getByRole("button", { name: "Pause" }).click();
    const slider = page.getByLabel("Time");
    const box = await slider.boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    const rows = page.locator(".overtaken tbody tr");
    assert.equal(await rows.count(), 16);
    assert.match(await page.locator(".overtaken").textContent(), /Overtaken by/);
    // In order of arrival nobody overtakes; a queue lets some pass.
    const overtook = (at) => page.locator(".overtaken > div").nth(at).locator("tbody td:nth-child(3)").allTextContents();
    assert.deepEqual(new Set(await overtook(0)), new Set(["none"]));
    assert.ok((await overtook(1)).some((text) => text.includes("#")));
  },

  async "a queue at work is used by keyboard alone"({ open }) {
    const page = await queue(open);
    const before = await digestsOf(page);
    await page.getByRole("link", { name: "Try" }).focus();
    await tabTo(page, "Queue depth");
    await page.keyboard.press("ArrowRight");
    assert.notEqual(await digestsOf(page, before), before);
    assert.equal(await page.locator(".depth-text").textContent(), "16");
    await tabTo(page, "Step");
    const start = await clock(page);
    await page.keyboard.press("Enter");
    assert.notEqual(await clock(page), start);
    await tabTo(page, "Left drive");
  },

  async "the same commands go to both drives"({ open, save }) {
    const page = await queue(open);
    const record = async (side) => JSON.parse(await download(page, page.getByRole("group", { name: `The ${side} drive's run` }).getByRole("button", { name: "Download record" })));
    const [left, right] = [await record("left"), await record("right")];
    const sectors = (one) => new Map(one.points[0].commands.map((command) => [command.id, command.first_sector]));
    const [mine, other] = [sectors(left), sectors(right)];
    const both = [...mine].filter(([id]) => other.has(id));
    assert.ok(both.length > 300, `${both.length} in common`);
    for (const [id, sector] of both) assert.equal(sector, other.get(id));
    save("platter.json", left);
  },

  async "try runs what its forms say, by mouse"({ open, save }) {
    const page = await attempt(open);
    const before = await digestOf(page);
    await page.getByLabel("Drive", { exact: true }).selectOption("hgst-c15k600");
    const second = await digestOf(page, before);
    await page.getByLabel("Queue order").selectOption("sptf");
    const third = await digestOf(page, second);
    await page.getByLabel("64", { exact: true }).check();
    await digestOf(page, third);
    assert.match(await page.locator(".cm-content").innerText(), /drive = "hgst-c15k600"/);
    assert.equal(await page.locator("section table tbody tr").count(), 7);
    await page.locator(".chart svg").waitFor();
    const bar = page.getByRole("group", { name: "This run" });
    await bar.getByRole("button", { name: "Copy as command" }).click();
    await bar.getByText("Copied.").waitFor();
    const command = await clipboard(page);
    save("try.json", { digest: await digestOf(page), toml: await toml(page), command, record: await download(page, bar.getByRole("button", { name: "Download record" })) });
  },

  async "try is used by keyboard alone"({ open }) {
    const page = await attempt(open);
    const before = await digestOf(page);
    await page.getByLabel("Workload").focus();
    await page.keyboard.press("ArrowDown");
    assert.match(await toml(page), /rw = "randwrite"/);
    await digestOf(page, before);
    await page.locator(".cm-content").focus();
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.type("# written");
    await page.waitForFunction(() => location.hash.includes("written"));
    await page.keyboard.press("Tab");
    assert.ok(await page.evaluate(() => !document.activeElement.classList.contains("host")), "the tab key leaves the editor");
  },

  async "errors are shown in their lines, as the command line has them"({ open, save }) {
    const page = await attempt(open);
    await write(page, BROKEN);
    await page.locator(".problems li").nth(1).waitFor();
    const shown = await page.locator(".problems li").allInnerTexts();
    assert.ok(await page.getByRole("button", { name: "Run", exact: true }).isDisabled());
    const marked = await page.evaluate(() => {
      const root = document.querySelector(".host").shadowRoot;
      return [...root.querySelectorAll(".cm-line")].flatMap((line, at) => (line.querySelector(".cm-lintRange-error") ? [at + 1] : []));
    });
    save("problems.json", { text: BROKEN, shown, marked });
    await write(page, BROKEN.replace("randreed", "randread").replace("iodepth = 0", "iodepth = 2"));
    await page.waitForFunction(() => document.querySelectorAll(".problems li").length === 0);
    const before = await digestOf(page);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await digestOf(page, before);
  },

  async "the editor completes keys and words of the schema"({ open }) {
    const page = await attempt(open);
    await write(page, "[target]\nque");
    await page.keyboard.press("Control+Space");
    const options = page.locator(".cm-tooltip-autocomplete li");
    await options.first().waitFor();
    assert.ok((await options.allInnerTexts()).includes("queue"));
    await write(page, '[workload]\nrw = "randr');
    await page.keyboard.press("Control+Space");
    await page.locator(".cm-tooltip-autocomplete li", { hasText: "randread" }).waitFor();
  },

  async "links restore the state of a room"({ open }) {
    const page = await queue(open, "?left=seagate-st3250620as,fcfs&right=seagate-st3250620as,sptf&rw=randrw&depth=16&seed=5&t=250000000");
    const [digests, time, address] = [await digestsOf(page), await clock(page), page.url()];
    assert.match(time, /^250\.0 ms/);
    const again = await queue(open, address.slice(address.indexOf("#") + "#queue".length));
    assert.equal(await digestsOf(again), digests);
    assert.equal(await clock(again), time);
    assert.equal(await again.getByLabel("Right queue").inputValue(), "sptf");
    const own = await attempt(open);
    await own.getByLabel("Block size").selectOption("64KiB");
    const digest = await digestOf(own, await digestOf(own));
    const link = own.url();
    const other = await attempt(open, link.slice(link.indexOf("#") + "#try".length));
    assert.equal(await digestOf(other), digest);
    assert.equal(await other.getByLabel("Block size").inputValue(), "64KiB");
    await other.getByRole("link", { name: "A queue at work" }).click();
    await digestsOf(other);
  },

  async "a long run stops, and the room goes on"({ open }) {
    const page = await attempt(open);
    const before = await digestOf(page);
    await page.getByLabel("I/Os of each point").fill("1000000");
    await page.getByLabel("I/Os of each point").press("Enter");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped; the points that finished are below.").waitFor();
    await page.getByLabel("I/Os of each point").fill("100");
    await page.getByLabel("I/Os of each point").press("Enter");
    assert.notEqual(await digestOf(page), before);
  },

  async "a folder without a server will do"({ open }) {
    const served = await queue(open);
    const page = await queue(open, "", { files: true });
    assert.equal(await digestsOf(page), await digestsOf(served));
    await page.getByRole("link", { name: "Try" }).click();
    await digestOf(page);
    await page.locator(".chart svg").waitFor();
    await page.locator(".cm-content").waitFor();
  },

  async "who wants no motion sees none"({ open }) {
    const page = await queue(open, "", { reducedMotion: "reduce" });
    const ends = new Set();
    await page.getByRole("button", { name: "Play" }).click();
    const start = await clock(page);
    await page.waitForFunction((old) => document.querySelector(".clock")?.textContent !== old, start);
    await page.getByRole("button", { name: "Pause" }).click();
    ends.add(await clock(page));
    await page.getByRole("button", { name: "Step back" }).click();
    await page.getByRole("button", { name: "Step", exact: true }).click();
    ends.add(await clock(page));
    assert.equal(ends.size, 1, "it stands where a command has ended");
  },

  async "without JavaScript the page says what it is"({ open }) {
    const page = await open("", { javaScriptEnabled: false });
    assert.match(await page.locator("main").innerText(), /simulates disk drives/);
    assert.ok(await page.locator("noscript img, main img").first().evaluate((image) => image.naturalWidth > 0).catch(() => true));
  },

  async "no room is wider than its window"({ open, folder }) {
    for (const room of roomsOf(folder)) {
      const page = await room(open);
      if (room !== queue) await page.locator(".chart svg").waitFor();
      for (const width of [380, 768, 1440, 3840]) {
        await page.setViewportSize({ width, height: 900 });
        // A chart is drawn anew behind the window's change.
        const isNoWider = () => document.documentElement.scrollWidth <= window.innerWidth;
        await page.waitForFunction(isNoWider, undefined, SETTLED).catch(() => assert.fail(`${page.url().slice(0, 80)} at ${width}`));
      }
      await page.context().close();
    }
  },

  async "axe finds nothing serious"({ open, folder }) {
    for (const room of roomsOf(folder)) {
      const page = await room(open, undefined, { colorScheme: "light" });
      if (room !== queue) await page.locator(".chart svg").waitFor();
      if (room === attempt) await page.locator(".cm-content").waitFor();
      if (room === queue) await page.getByRole("button", { name: "Step", exact: true }).click();
      await page.evaluate(AXE);
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        const { violations } = await page.evaluate(() => window.axe.run());
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        assert.deepEqual(serious.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes.map(({ html }) => html).join(" ")}`), []);
      }
      await page.context().close();
    }
  },
};
