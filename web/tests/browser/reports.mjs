// What reports do in a browser, opened from their folder. `node reports.mjs CHROMIUM REPORT...` prints for each report
// what is wrong with it, as one JSON object of lists.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [380, 768, 1440, 3840];
const [executablePath, ...reports] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const outcome = {};

/** What is wrong at one width with one of the two schemes. */
async function wrongOf(page, at) {
  const found = [];
  const shown = await page.evaluate(() => ({
    isWider: document.documentElement.scrollWidth > innerWidth,
    charts: [...document.querySelectorAll("figure")].map((figure) => [...figure.querySelectorAll("svg[role=img]")].filter((one) => one.checkVisibility()).length),
    paper: getComputedStyle(document.body).backgroundColor,
  }));
  if (shown.isWider) found.push(`${at}: wider than the window`);
  if (shown.charts.some((count) => count !== 1)) found.push(`${at}: of a chart not one drawing is shown: ${shown.charts}`);
  if ((shown.paper === "rgb(255, 255, 255)") !== at.endsWith("light")) found.push(`${at}: the paper is ${shown.paper}`);
  const { violations } = await page.evaluate(() => window.axe.run());
  for (const { id, impact, nodes } of violations) {
    if (impact === "serious" || impact === "critical") found.push(`${at}: ${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  }
  return found;
}

for (const report of reports) {
  const address = pathToFileURL(report).href;
  const wrong = [];
  const context = await browser.newContext({ reducedMotion: "reduce" });
  const page = await context.newPage();
  page.on("console", (message) => wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => (wrong.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  context.on("request", (request) => request.url() !== address && !request.url().startsWith("data:") && wrong.push(`a request to ${request.url()}`));
  await page.goto(address);
  await page.evaluate(AXE);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      wrong.push(...(await wrongOf(page, `${width} ${colorScheme}`)));
    }
  }
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  if (paper !== "rgb(255, 255, 255)") wrong.push(`print: the paper is ${paper}`);
  outcome[report] = wrong;
  await context.close();
}
await browser.close();
console.log(JSON.stringify(outcome));
