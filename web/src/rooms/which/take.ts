// What can be taken away from the room "Which array": its link, the commands that ask the same, the figures.
import type { Core } from "../../core/client";
import { copy, download, h } from "../../page/dom";
import { type Answered, csvText, jsonText } from "./document";

/** The buttons; `answered` is what is known, undefined before all arrays are; `isRefused`: whether the question has a problem. */
export function takeBar(core: Core, answered: () => Answered | undefined, isRefused: () => boolean): HTMLElement {
  const status = h("span", { role: "status", class: "status" });
  const say = (text: string) => {
    status.textContent = text;
  };
  const bar = h("div", { class: "share", role: "group", "aria-label": "To take with you" });
  const button = (text: string, act: (found: Answered) => void | Promise<void>) =>
    h("button", { type: "button", click: () => {
      const found = answered();
      if (found === undefined) say(isRefused() ? "The question has a problem, see above." : "Not all arrays are known yet.");
      else void act(found);
    } }, text);
  const command = (verb: string) => button(`Copy as drivelab ${verb}`, ({ asked, commands }) => {
    const seedless = verb === "durability" && asked.seed !== 1 ? ` The command leaves the seed ${asked.seed} out.` : "";
    const found = commands.find((one) => one.startsWith(`drivelab ${verb} `));
    return found === undefined ? say("Nothing fails: say how often a drive does.") : copy(found, bar, (what) => say(what + seedless));
  });
  bar.append(
    h("button", { type: "button", click: () => void copy(location.href, bar, say) }, "Copy link"),
    command("plan"),
    command("compare-levels"),
    command("durability"),
    button("Download JSON", async (found) => {
      const { version, model_version } = await core.about();
      download("which-array.json", jsonText(found, { version, model_version }));
    }),
    button("Download CSV", (found) => download("which-array.csv", csvText(found))),
    status,
  );
  return bar;
}
