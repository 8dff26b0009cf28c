// The room "On this machine" of a page that `drivelab page` serves. `node machine.mjs ADDRESS CHROMIUM SOCKET` with the address
// that it has printed and the session with a device of four members prints for each check what is wrong with it, null for
// nothing, as one JSON object.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [address, executablePath, socket] = process.argv.slice(2);
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const origin = new URL(address).origin;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const noise = [];
let current = "";

async function open(place = address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const asked = [];
  page.on("console", (message) => noise.push(`${current}: ${message.text()}`));
  page.on("pageerror", (error) => noise.push(`${current}: ${error.message}`));
  context.on("request", (request) => {
    const url = request.url();
    asked.push(url.replace(origin, ""));
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:") && !url.startsWith("blob:")) noise.push(`${current}: a request to ${url}`);
  });
  await page.goto(place);
  return { page, asked };
}

async function machine(options = {}) {
  const { page } = await open(address, options);
  await page.locator('[data-records="3"]').waitFor();
  return page;
}

/** What was said in this check beside what the browser itself reports of a refusal, which is taken away. */
function reported(status) {
  const own = noise.filter((text) => text.startsWith(`${current}: `));
  const others = own.filter((text) => !text.includes(`responded with a status of ${status} `));
  noise.splice(0, noise.length, ...noise.filter((text) => !own.includes(text)), ...others);
  return others;
}

const session = (page) => page.locator(".session", { hasText: socket });

const checks = {
  async "the token leaves the address, and the library is searched, tagged, compared and opened"() {
    const page = await machine();
    assert.equal(page.url(), `${origin}/#machine`);
    // A window that is loaded again has it still.
    await page.reload();
    await page.locator('[data-records="3"]').waitFor();
    assert.equal((await page.context().cookies()).length, 0);
    await page.getByLabel("Search").fill("7200");
    await page.getByLabel("Search").press("Enter");
    await page.locator('[data-records="1"]').waitFor();
    assert.match(page.url(), /#machine\?search=7200$/);
    await page.getByLabel("Search").fill("");
    await page.getByLabel("Search").press("Enter");
    await page.locator('[data-records="3"]').waitFor();
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByText("mark 2 records in the list first").waitFor();
    await page.getByLabel("Mark record 2").check();
    await page.getByLabel("Tags").fill("seen");
    await page.getByRole("button", { name: "Add tags" }).click();
    await page.getByText("1 record: seen added.").waitFor();
    await page.getByText("new, seen").waitFor();
    await page.getByRole("button", { name: "Remove tags" }).click();
    await page.getByText("1 record: seen removed.").waitFor();
    await page.getByLabel("Mark record 1").check();
    await page.getByLabel("Threshold, %").fill("1");
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByText("The threshold is not kept.").waitFor();
    const lines = await page.locator(".verdict li").allInnerTexts();
    await page.getByRole("button", { name: "Open in Your records" }).click();
    await page.locator('section[data-records="2"]').waitFor();
    await page.getByLabel("Threshold, %").fill("1");
    await page.getByLabel("Threshold, %").press("Enter");
    await page.getByText("The threshold is not kept.").waitFor();
    // Both judge by the same rules.
    assert.deepEqual(await page.locator(".verdict li").allInnerTexts(), lines);
  },

  async "a session is watched, and takes a fault"() {
    const page = await machine();
    const card = session(page);
    await card.locator("dt", { hasText: "IOPS" }).waitFor();
    await card.locator("summary").focus();
    await page.keyboard.press("Enter");
    await card.getByLabel("member", { exact: true }).fill("1");
    await card.getByLabel("by", { exact: true }).fill("30ms");
    await card.getByRole("button", { name: "slow" }).press("Enter");
    await card.getByText("slow: done").waitFor();
    await card.getByText("member 1 is slow by 30ms").waitFor();
    await card.getByLabel("by", { exact: true }).fill("0s");
    await card.getByRole("button", { name: "slow" }).press("Enter");
    await card.getByText("member 1 is slow by 30ms").waitFor({ state: "detached" });
    await card.getByRole("button", { name: "rebuild" }).press("Enter");
    await card.getByText(/^rebuild: the device refuses: /).waitFor();
    assert.deepEqual(reported(400), []);
  },

  async "without a token nothing is asked"() {
    const { page, asked } = await open(`${origin}/#queue`);
    await page.locator('section[data-digests]').waitFor();
    assert.equal(await page.getByRole("link", { name: "On this machine" }).count(), 0);
    assert.deepEqual(asked.filter((url) => url.startsWith("/here")), []);
  },

  async "a wrong token is said"() {
    const { page } = await open(`${origin}/#machine?token=wrong`);
    await page.getByText(/^On this machine: the token is missing/).waitFor();
    assert.deepEqual(reported(403), []);
  },

  async "axe finds nothing serious, and no width is too small"() {
    const page = await machine({ colorScheme: "light" });
    for (const box of [1, 2]) await page.getByLabel(`Mark record ${box}`).check();
    await page.getByRole("button", { name: "Compare" }).click();
    await page.locator(".verdict").waitFor();
    await session(page).locator("summary").click();
    await session(page).locator("dt").first().waitFor();
    await page.evaluate(AXE);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await page.evaluate(() => window.axe.run());
      const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      assert.deepEqual(serious.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes.map(({ html }) => html).join(" ")}`), []);
    }
    for (const width of [380, 768, 3840]) {
      await page.setViewportSize({ width, height: 900 });
      await page.waitForFunction(() => document.documentElement.scrollWidth <= window.innerWidth);
    }
  },
};

const outcome = {};
for (const [name, check] of Object.entries(checks)) {
  current = name;
  try {
    await check();
    outcome[name] = null;
  } catch (error) {
    outcome[name] = String(error?.stack ?? error);
  }
  for (const context of browser.contexts()) await context.close();
}
outcome["nothing is said on the console, and no request leaves the origin"] = noise.length > 0 ? noise.join("\n") : null;
await browser.close();
console.log(JSON.stringify(outcome));
