// The checks of the room "Which array", by their names.
import assert from "node:assert/strict";
import { clipboard, download, tabTo } from "./doing.mjs";

const SETTLED = { timeout: 120_000 };
/** One array, which is known soon. */
const QUICK = "?drive=wd-4tb-7200&levels=raid1&members=2&ask=depth&depth=1&capacity=3&most=0&ure=1e-15/bit";

/** The pick, as soon as everything is known; "none" where nothing holds. */
async function picked(page) {
  const handle = await page.waitForFunction(() => document.querySelector("section")?.dataset.pick ?? false, undefined, SETTLED);
  return handle.jsonValue();
}

/** The room, with all of its runs done. */
export async function which(open, state = "", options = {}) {
  const page = await open(`#which${state || QUICK}`, options);
  await picked(page);
  return page;
}

const lines = (page) => page.locator(".answer li").allInnerTexts();

/** What can be taken away: the commands, the figures. */
async function taken(page) {
  const bar = page.getByRole("group", { name: "To take with you" });
  const commands = [];
  for (const verb of ["plan", "compare-levels", "durability"]) {
    await page.evaluate(() => navigator.clipboard.writeText(""));
    await bar.getByRole("button", { name: `Copy as drivelab ${verb}` }).click();
    await page.waitForFunction(() => navigator.clipboard.readText().then((now) => now !== ""));
    commands.push(await clipboard(page));
  }
  return { commands, json: await download(page, bar.getByRole("button", { name: "Download JSON" })), csv: await download(page, bar.getByRole("button", { name: "Download CSV" })) };
}

export const checks = {
  async "levels are compared and an array is picked, by mouse"({ open, save }) {
    const page = await open("#which?drive=wd-4tb-7200&levels=raid6&members=4&capacity=4&rate=40&most=70&spares=1&loss=0.01");
    assert.equal(await picked(page), "raid6 of 4 x wd-4tb-7200");
    await page.locator(".chart svg").waitFor();
    save("which-rate.json", { lines: await lines(page), ...(await taken(page)) });
    await page.getByLabel("Chance of loss in a year, %").fill("0.0001");
    await page.getByLabel("Chance of loss in a year, %").press("Enter");
    await page.getByText("nothing holds, of 1 candidate").waitFor();
    assert.match((await lines(page))[1], /^the chance of loss binds: without it raid6 of 4 x wd-4tb-7200 holds/);
  },

  async "a load without a rate is compared by IOPS and their ranges"({ open, save }) {
    const page = await which(open, "?drive=wd-4tb-7200&levels=raid10,raid0,raid60&members=4&capacity=4&ask=depth&depth=8&rw=randread&most=0&iops=150&states=healthy,degraded&life=mttf&mttf=500000h&replacement=1d&detection=4h&ure=1e-14/bit&loss=3&seed=3");
    save("which-depth.json", { lines: await lines(page), ...(await taken(page)) });
    assert.match(await page.locator(".which tbody").innerText(), /raid60 of 4[\s\S]*needs 4 members or more in each of 2 groups/);
  },

  async "which array is asked by keyboard alone, and a link restores it"({ open }) {
    const page = await which(open);
    await page.getByRole("link", { name: "Which array" }).focus();
    await tabTo(page, "Numbers of drives");
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("4..99");
    await page.keyboard.press("Enter");
    await page.getByText("Numbers of drives, 4..99: they are from 1 to 32").waitFor();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("2");
    await page.keyboard.press("Enter");
    await picked(page);
    await tabTo(page, "Scrub every");
    await page.keyboard.type("often");
    await page.keyboard.press("Enter");
    await page.getByText("Scrub every, often: a time has its unit, s, min, h, d, w or y").waitFor();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("1w");
    await page.keyboard.press("Enter");
    await picked(page);
    const [found, address] = [await lines(page), page.url()];
    assert.match(address, /scrub=1w/);
    const again = await which(open, address.slice(address.indexOf("#") + "#which".length));
    assert.deepEqual(await lines(again), found);
    assert.equal(again.url(), address);
    assert.equal(await again.getByLabel("Scrub every").inputValue(), "1w");
  },

  async "a comparison stops, and goes on"({ open }) {
    const page = await open("#which?levels=raid5,raid6&members=5..7");
    await page.locator(".which tbody tr").first().waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped; what is known is below.").waitFor();
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByText(/^\d+ %: raid/).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
  },
};
