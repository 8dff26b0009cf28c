// The checks of the room "The studies", by their names.
import assert from "node:assert/strict";
import { clipboard, download, tabTo } from "./doing.mjs";

const SETTLED = { timeout: 120_000 };
const JUDGED = /^It (holds|does not hold) for the simulated figures: /;
/** A question of each published table whose runs take little time. */
const QUESTIONS = {
  "storagereview-2004": "single-q1-queueing-last",
  "storagereview-2004-desktop": "desktop-scsi",
  "storagereview-2004-raid": "raid1-drop",
  "mirpk-2005": "hdtach_unchanged",
  "mirpk-2005-desktop": "ncq_against_10k",
  "lkml-2007": "scsi_mixed_write_flat",
  "ich9r-2008": "revisions",
  "ich9r-2008-raid": "raid5_read_latency",
};

const button = (page, name) => page.getByRole("button", { name, exact: true });
const fragment = (study, question) => `?study=${study}&question=${question}`;
const CHEAP = fragment("lkml-2007", QUESTIONS["lkml-2007"]);

/** The room with a claim that was judged. */
export async function studies(open, state = CHEAP, options = {}) {
  const page = await open(`#studies${state}`, options);
  await page.getByText(JUDGED).waitFor(SETTLED);
  return page;
}

export const checks = {
  async "studies have the figures and the verdicts of reproduce"({ open, save }) {
    const page = await open("#studies");
    await page.getByRole("link", { name: "Direct I/O by 1, 2 and 4 threads on a SATA and a SCSI drive" }).waitFor(SETTLED);
    assert.equal(await page.locator(".studies li").count(), Object.keys(QUESTIONS).length);
    const found = {};
    for (const [study, question] of Object.entries(QUESTIONS)) {
      await page.evaluate((place) => (location.hash = place), `#studies${fragment(study, question)}`);
      await page.locator(`section[data-study="${study}"]`).waitFor(SETTLED);
      await page.getByText(JUDGED).waitFor(SETTLED);
      const cells = await page.locator('[aria-label="Cells of the claim"] tbody tr').evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
      await button(page, "Copy as command").click();
      found[study] = { question, cells, said: await page.getByText(JUDGED).innerText(), command: await clipboard(page), document: JSON.parse(await download(page, button(page, "Download figures"))) };
    }
    save("studies.json", found);
  },

  async "a study is run, stopped and left by keyboard alone"({ open }) {
    const page = await open("#studies");
    await page.getByRole("link", { name: "The studies" }).focus();
    await tabTo(page, "RAID 1, 10 and 5 of WD6400AAKS on an Intel ICH9R");
    await page.keyboard.press("Enter");
    await page.locator('section[data-study="ich9r-2008-raid"]').waitFor(SETTLED);
    await tabTo(page, "RAID 5 random read takes slightly longer than a single drive's");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash === "#studies?study=ich9r-2008-raid&question=raid5_read_latency");
    await tabTo(page, "Run the whole study");
    await page.keyboard.press("Enter");
    await tabTo(page, "Stop");
    await page.getByText(/^\d+ of 2\d\d runs/).waitFor(SETTLED);
    await page.keyboard.press("Enter");
    await page.getByText(/^Stopped; what has finished is shown\./).waitFor(SETTLED);
    await tabTo(page, "Run the question");
    await page.keyboard.press("Enter");
    await page.getByText(JUDGED).waitFor(SETTLED);
  },

  async "a cell of a study leads to its scenario, and a link to its question"({ open }) {
    const page = await studies(open, CHEAP, { files: true });
    assert.equal(await page.locator("[aria-current=true]").innerText(), "16 and 64 KiB: the mixed write rate does not depend on threads");
    const cell = page.getByRole("link", { name: /open the scenario of scsi-10k-74gb\/16\/2\/rndRW_write in the room Try/ });
    const figure = await cell.innerText();
    await cell.click();
    await page.getByText(/digest \w{16}/).waitFor(SETTLED);
    assert.match(page.url(), /#try\?toml=/);
    await page.goBack();
    await page.getByText(JUDGED).waitFor(SETTLED);
    assert.equal(await cell.innerText(), figure);
    await page.evaluate(() => (location.hash = "#studies?study=lkml-2008"));
    await page.getByText("There is no study lkml-2008: choose one of these.").waitFor(SETTLED);
    await page.evaluate(() => (location.hash = "#studies?study=mirpk-2005&question=none"));
    await page.getByText("mirpk-2005 has no question none: this is its first.").waitFor(SETTLED);
  },
};
