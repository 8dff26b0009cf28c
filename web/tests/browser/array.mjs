// The checks of the room "An array", by their names.
import assert from "node:assert/strict";
import { clipboard, download, tabTo } from "./doing.mjs";

const SETTLED = { timeout: 120_000 };

/** The room, with all of its runs done. */
export async function array(open, state = "", options = {}) {
  const page = await open(`#array${state}`, options);
  await ranArray(page);
  return page;
}

/** The digest of the run, as soon as it is another one than this. */
export async function ranArray(page, before = "") {
  const handle = await page.waitForFunction(
    (old) => {
      const found = document.querySelector("section")?.dataset.digest ?? "";
      return /^\w{16}$/.test(found) && found !== old ? found : false;
    },
    before,
    SETTLED,
  );
  return handle.jsonValue();
}

/** What can be taken away of the run: its scenario, its command, its record. */
async function taken(page, name) {
  const bar = page.getByRole("group", { name });
  const copied = async (button) => {
    await page.evaluate(() => navigator.clipboard.writeText(""));
    await bar.getByRole("button", { name: button }).click();
    await page.waitForFunction(() => navigator.clipboard.readText().then((now) => now !== ""));
    return clipboard(page);
  };
  const [toml, command] = [await copied("Copy as TOML"), await copied("Copy as command")];
  return { toml, command, record: await download(page, bar.getByRole("button", { name: "Download record" })) };
}

const cell = (page, row, column) => page.locator(".stripes tbody tr").nth(row).locator("td, th").nth(column).innerText();

export const checks = {
  async "an array fails and is rebuilt, by mouse"({ open, save }) {
    const page = await array(open, "?length=30&at=5&spare=2");
    assert.deepEqual(await page.locator(".events li").allInnerTexts(), ["5.00 s drive 1 failed", "7.00 s drive 4 takes the place of member 1", "7.00 s rebuild began"]);
    const states = page.locator(".members li");
    assert.match(await states.nth(1).innerText(), /all there/);
    await page.getByRole("button", { name: "Next event" }).click();
    assert.match(await states.nth(1).innerText(), /missing/);
    assert.match(await page.locator(".stripes thead").innerText(), /Member 1, missing/);
    const time = await page.getByRole("slider", { name: "Time" }).boundingBox();
    await page.mouse.click(time.x + 0.9 * time.width, time.y + time.height / 2);
    assert.match(await states.nth(1).innerText(), /drive 4\s+being rebuilt: \d\.\d+ %/);
    await page.locator("figure.chart svg").waitFor();
    const rows = await page.locator('[aria-label="Before, during and after"] tbody th').allInnerTexts();
    assert.deepEqual(rows.map((text) => text.split(":")[0]), ["before", "without", "during", "after"]);
    const said = await page.locator(".notes").last().innerText();
    assert.match(said, /The rebuild takes [\d.]+ (min|h) under this load, ± [\d.]+ %/);
    const rebuild = await taken(page, "The runs of the rebuild");
    save("rebuild.json", { digest: JSON.parse(rebuild.record).digest, said, ...rebuild });
    save("array.json", { digest: await ranArray(page), ...(await taken(page, "This run")) });
  },

  async "the map of an array names member and sector, by mouse"({ open }) {
    const page = await array(open, "?level=raid0&members=3&length=1&at=0");
    assert.equal(await page.getByText("Before, during and after").isVisible(), false);
    const before = await ranArray(page);
    await page.getByLabel("Level").selectOption("raid5");
    await ranArray(page, before);
    assert.deepEqual([await cell(page, 0, 2), await cell(page, 0, 4), await cell(page, 1, 3)], ["0–127", "P", "P"]);
    await page.getByLabel("Sector of the array").fill("100000");
    await page.getByRole("button", { name: "Find" }).click();
    const said = page.getByText("Sector 100000 of the array is in row 390: data on member 1, sector 49952; parity P on member 2, sector 49952.");
    await said.waitFor();
    assert.equal(await page.locator(".stripes td.sought").count(), 2);
    assert.match(page.url(), /row=384&sector=100000/);
    await page.getByRole("button", { name: "Rows after" }).click();
    await page.waitForFunction(() => document.querySelector(".stripes tbody th")?.textContent === "392");
    await page.locator(".stripes td.data").first().click();
    await page.waitForFunction(() => document.querySelectorAll(".stripes td.sought").length === 2);
  },

  async "a power cut is told for each policy"({ open, save }) {
    const page = await array(open, "?what=cut&at=2&depth=16&rw=randwrite&cache=true&drive=wd-4tb-7200&member=-1");
    const rows = page.locator('[aria-label="After the power cut"] tbody tr');
    assert.deepEqual((await rows.locator("th").allInnerTexts()).map((text) => text.split(":")[0]), ["open", "bitmap", "journal on one more drive", "partial parity log"]);
    const shown = await rows.evaluateAll((all) => all.map((row) => [...row.querySelectorAll("td")].map((one) => one.textContent)));
    await page.getByRole("button", { name: /^Show sector/ }).first().click();
    await page.locator(".stripes td.lost.sought").waitFor();
    assert.match(await page.locator(".kinds").innerText(), /has lost sectors/);
    save("cut.json", { digest: await ranArray(page), shown, ...(await taken(page, "This run")) });
    await page.getByLabel("Sectors lost with").selectOption("journal");
    assert.match(page.url(), /policy=journal/);
  },

  async "an array is used by keyboard alone"({ open }) {
    const page = await array(open, "?length=2&at=1&spare=-1");
    const before = await ranArray(page);
    await page.getByRole("link", { name: "An array" }).focus();
    await tabTo(page, "Members");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    const next = await ranArray(page, before);
    assert.equal(await page.locator(".members li").count(), 5);
    await tabTo(page, "Event");
    await page.keyboard.press("ArrowDown");
    assert.notEqual(await ranArray(page, next), next);
    await tabTo(page, "Next event");
    await page.keyboard.press("Enter");
    assert.match(await page.locator(".now").innerText(), /A scrub runs/);
    await tabTo(page, "Rows after");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector(".stripes tbody th")?.textContent === "8");
  },

  async "what an array cannot be is said, and the room goes on"({ open, save }) {
    const page = await array(open, "?length=1&at=0&level=raid1&members=2&spare=-1");
    const before = await ranArray(page);
    await page.getByLabel("Level").selectOption("raid6");
    await ranArray(page, before);
    assert.equal(await page.getByLabel("Members", { exact: true }).inputValue(), "4");
    await page.getByLabel("Members", { exact: true }).fill("3");
    await page.getByLabel("Members", { exact: true }).press("Enter");
    await page.locator(".problems li").first().waitFor();
    save("array-problems.json", { text: await page.locator(".toml").innerText(), shown: await page.locator(".problems li").allInnerTexts() });
    await page.getByLabel("Members", { exact: true }).fill("5");
    await page.getByLabel("Members", { exact: true }).press("Enter");
    await ranArray(page);
    assert.equal(await page.locator(".problems li").count(), 0);
    await page.getByLabel("Queue depth").selectOption("128");
    await page.getByLabel("Length of the run, s").fill("3600");
    await page.getByLabel("Length of the run, s").press("Enter");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped; what has finished is below.").waitFor();
    await page.getByLabel("Length of the run, s").fill("1");
    await page.getByLabel("Length of the run, s").press("Enter");
    await ranArray(page);
  },

  async "a link restores an array"({ open }) {
    const page = await array(open, "?level=raid10&members=4&layout=far&rw=randread&bs=16KiB&depth=8&what=fail&member=2&at=3&length=6&spare=-1&t=3500000000&row=16&sector=4000&seed=7");
    const [digest, address] = [await ranArray(page), page.url()];
    const again = await array(open, address.slice(address.indexOf("#") + "#array".length));
    assert.equal(await ranArray(again), digest);
    assert.equal(again.url(), address);
    for (const one of [page, again]) {
      assert.equal(await one.getByLabel("Layout").inputValue(), "far");
      assert.match(await one.locator(".clock").innerText(), /^3\.5 s of/);
      assert.match(await one.locator(".members li").nth(2).innerText(), /missing/);
      assert.match(await one.locator(".map .status").innerText(), /copy a on member \d+, sector \d+; copy b on member \d+/);
    }
  },
};
