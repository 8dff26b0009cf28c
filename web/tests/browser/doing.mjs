// What the checks of several rooms do: copy, download, go on by the tab key.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

export const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());

export async function download(page, button) {
  const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return readFileSync(await file.path(), "utf8");
}

/** The tab key, until it reaches what has this label or text. */
export async function tabTo(page, name, most = 60) {
  for (let count = 0; count < most; count++) {
    await page.keyboard.press("Tab");
    const found = await page.evaluate(() => {
      const { activeElement: focused } = document;
      return (focused?.id && document.querySelector(`label[for="${focused.id}"]`)?.textContent) || focused?.textContent;
    });
    if (found === name) return;
  }
  assert.fail(`the tab key does not reach ${name}`);
}
