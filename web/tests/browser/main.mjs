// What the built page does in a browser. `node main.mjs PAGE CHROMIUM FOLDER [PART]` with FOLDER/cases.json (scenarios to
// be run by the core alone) and FOLDER/pairs.json (records to be compared) writes there what Python compares with native runs, and prints for each check, or for those
// with PART in their names, what is wrong with it, null for nothing, as one JSON object.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { checks } from "./checks.mjs";
import { BELOW, serve } from "./serve.mjs";

const [page, executablePath, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const host = await serve(page);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const outcome = {};
const noise = [];
let current = "";
const heard = (what) => noise.push(`${current}: ${what}`);

/** A page of its own, which is watched: what it says, and where it goes. */
async function open(place = "", options = {}) {
  const { files = false, ...more } = options;
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...more });
  await context.grantPermissions(files ? [] : ["clipboard-read", "clipboard-write"]);
  // A busy machine takes its time: what never comes is a fault, not what comes late.
  context.setDefaultTimeout(120_000);
  const opened = await context.newPage();
  const address = files ? `file://${join(page, "index.html")}` : host.address;
  opened.on("console", (message) => heard(`${message.type()}: ${message.text()}`));
  opened.on("pageerror", (error) => heard(`error: ${error.message}`));
  context.on("request", (request) => {
    const url = request.url();
    const isOwn = files ? url.startsWith(`file://${page}`) : url.startsWith(host.address.replace(BELOW, "/some/where"));
    if (!isOwn && !url.startsWith("data:") && !url.startsWith("blob:")) heard(`a request to ${url}`);
  });
  await opened.goto(address + place);
  return opened;
}

const tools = {
  open,
  cases: JSON.parse(readFileSync(join(folder, "cases.json"), "utf8")),
  save: (name, value) => writeFileSync(join(folder, name), typeof value === "string" ? value : JSON.stringify(value)),
  folder,
};
const only = process.argv[5];
for (const [name, check] of Object.entries(checks).filter(([name]) => only === undefined || name.includes(only))) {
  current = name;
  try {
    await check(tools);
    outcome[name] = null;
  } catch (error) {
    outcome[name] = String(error?.stack ?? error);
  }
  for (const context of browser.contexts()) await context.close();
}
outcome["nothing is said on the console, and no request leaves the origin"] = noise.length > 0 ? noise.join("\n") : null;
await browser.close();
await host.close();
console.log(JSON.stringify(outcome));
