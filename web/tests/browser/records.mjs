// The checks of the room "Your records", by their names. `pairs.json` in the folder names the files that Python compares too.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { download, tabTo } from "./doing.mjs";

const SETTLED = { timeout: 120_000 };

/** The room, with files read. */
export async function records(open, state = "", options = {}, files = []) {
  const page = await open(`#records${state}`, options);
  await page.locator("section[data-records]").waitFor(SETTLED);
  if (files.length > 0) await choose(page, files);
  return page;
}

async function choose(page, files) {
  await page.getByLabel("Choose records, or drop them here").setInputFiles(files);
  await page.locator("section[data-records]").waitFor(SETTLED);
}

const pairsIn = (folder) => JSON.parse(readFileSync(join(folder, "pairs.json"), "utf8"));
const button = (page, name) => page.getByRole("button", { name });

/** A record by itself, for the checks of all rooms. */
export function someRecords(folder) {
  return (open, state = "", options = {}) => records(open, state, options, Object.values(pairsIn(folder))[0]);
}

export const checks = {
  async "records are compared as the package compares them"({ open, folder, save }) {
    const page = await records(open, "?threshold=5");
    const found = {};
    for (const [name, files] of Object.entries(pairsIn(folder))) {
      await choose(page, files);
      const problems = await page.locator(".problems li, .problem").allInnerTexts();
      const isCompared = (await page.locator(".verdict").count()) > 0;
      found[name] = { problems, shown: isCompared ? await page.locator(".verdict li").allInnerTexts() : [], ...(isCompared ? { document: JSON.parse(await download(page, button(page, "Download comparison"))) } : {}) };
      await button(page, "Remove all").click();
      assert.equal(await page.locator(".files li").count(), 0);
    }
    save("compared.json", found);
  },

  async "records are dropped, and a threshold is judged"({ open, folder }) {
    const page = await records(open);
    const [first, second] = Object.values(pairsIn(folder))[0];
    const data = await page.evaluateHandle(([one, other]) => {
      const transfer = new DataTransfer();
      for (const [name, text] of [["a.json", one], ["b.json", other]]) transfer.items.add(new File([text], name, { type: "application/json" }));
      return transfer;
    }, [readFileSync(first, "utf8"), readFileSync(second, "utf8")]);
    await page.dispatchEvent(".drop", "drop", { dataTransfer: data });
    await page.locator(".verdict").waitFor(SETTLED);
    assert.deepEqual(await page.locator(".files strong").allInnerTexts(), ["A", "B"]);
    await page.locator("figure.chart svg").waitFor();
    await page.getByLabel("Threshold, %").fill("1");
    await page.getByLabel("Threshold, %").press("Enter");
    await page.getByText("The threshold is not kept.").waitFor();
    assert.match(page.url(), /#records\?threshold=1$/);
    const again = await records(open, "?threshold=1");
    assert.equal(await again.getByLabel("Threshold, %").inputValue(), "1");
    await button(page, "Remove b.json").click();
    await page.getByText("A second record makes a comparison.").waitFor();
  },

  async "records are used by keyboard alone"({ open, folder }) {
    const page = await records(open);
    // The browser is told to hand over the dialog as soon as somebody waits for it, and not in the same moment.
    const dialog = page.waitForEvent("filechooser", SETTLED);
    await page.getByRole("link", { name: "Your records" }).focus();
    await tabTo(page, "Choose records, or drop them here");
    await page.keyboard.press("Enter");
    await (await dialog).setFiles(Object.values(pairsIn(folder))[0]);
    await page.locator(".verdict").waitFor(SETTLED);
    await tabTo(page, "Threshold, %");
    await page.keyboard.type("400");
    await page.keyboard.press("Enter");
    await page.getByText("The threshold is kept.").waitFor();
    await tabTo(page, "Remove all");
    await page.keyboard.press("Enter");
    await page.getByText("No record yet.").waitFor();
  },

  async "what is no record is said with its remedy"({ open, folder, save }) {
    const page = await records(open);
    const whole = readFileSync(Object.values(pairsIn(folder))[0][0], "utf8");
    const texts = {
      "empty.json": "",
      "text.json": "Jobs: 4 (f=4)\nno result\n",
      "list.json": "[1, 2]",
      "cut.json": whole.slice(0, whole.length / 2),
      "edited.json": whole.replace('"iops":', '"iops" '),
      "newer.json": whole.replace(/"record_version": \d+/, '"record_version": 9999'),
      "keys.json": '{"a": 1, "b": 2}',
      "scan.json": '{"surface": []}',
      "negative.json": whole.replace(/"iops": [\d.]+/, '"iops": -5'),
      "none.json": '{"record_version": 1, "points": []}',
      "histogram.json": whole.replace(/"histogram": "HIST/, '"histogram": "HISX'),
    };
    await choose(page, Object.entries(texts).map(([name, text]) => ({ name, mimeType: "application/json", buffer: Buffer.from(text) })));
    const shown = await page.locator(".problems li").allInnerTexts();
    assert.equal(shown.length, Object.keys(texts).length);
    save("damaged.json", { texts, shown });
  },

  async "a file of more than 100 MB does not stop the page"({ open, folder }) {
    const record = JSON.parse(readFileSync(Object.values(pairsIn(folder))[0][0], "utf8"));
    record.points[0].commands = ["@"];
    const [before, after] = JSON.stringify(record).split('"@"');
    const command = JSON.stringify({ id: 1, access: "read", first_sector: 123456789, breakdown_ns: { seek: 4421281.163740123, rotation: 3031084.0035118526 }, text: "x".repeat(880) });
    const path = join(folder, "long.json");
    writeFileSync(path, `${before}${Array.from({ length: 105_000 }, () => command).join(",")}${after}`);
    assert.ok(readFileSync(path).length > 100e6);
    const page = await records(open);
    await page.evaluate(() => {
      const section = document.querySelector("section");
      window.frames_while_reading = 0;
      const count = () => {
        if (section.dataset.records === undefined) window.frames_while_reading++;
        requestAnimationFrame(count);
      };
      requestAnimationFrame(count);
    });
    await page.getByLabel("Choose records, or drop them here").setInputFiles([path]);
    await page.getByText(/^Reading long\.json/).waitFor();
    await page.getByLabel("Threshold, %").fill("7");
    await page.locator('section[data-records="1"]').waitFor(SETTLED);
    // The page drew while the file was read, and took what was typed.
    assert.ok((await page.evaluate(() => window.frames_while_reading)) > 2);
    assert.equal(await page.locator(".problems li").count(), 0);
    assert.equal(await page.locator("tbody tr").count(), record.points.length);
    writeFileSync(path, "");
  },
};
