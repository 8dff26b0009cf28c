// What can be taken away from a room: its link, the command for a terminal, the TOML, the record.
import type { Core, Outcome } from "../core/client";
import { recordText } from "../record/record";
import { commandOf } from "../scenario/command";
import { copy, download, h } from "./dom";

export interface Shared {
  name: string;
  toml: string;
  log: number;
  outcome: Outcome | undefined;
}

/** Buttons over what the room has at the moment. */
export function shareBar(core: Core, label: string, shared: () => Shared): HTMLElement {
  const status = h("span", { role: "status", class: "status" });
  const say = (text: string) => {
    status.textContent = text;
  };
  const bar = h("div", { class: "share", role: "group", "aria-label": label });
  const button = (text: string, act: (shared: Shared) => void | Promise<void>) => h("button", { type: "button", click: () => void act(shared()) }, text);
  bar.append(
    button("Copy link", () => copy(location.href, bar, say)),
    button("Copy as command", async ({ outcome, log }) => {
      const command = outcome && commandOf(outcome.plan.scenario, outcome.plan.files, log);
      if (command === undefined) say(outcome ? "A drive file of your own is nowhere but here: download the record." : "There is no run yet.");
      else await copy(command, bar, say);
    }),
    button("Copy as TOML", ({ toml }) => copy(toml, bar, say)),
    button("Download record", async ({ name, outcome }) => {
      if (outcome === undefined) return say("There is no run yet.");
      download(`${name}.json`, recordText(await core.about(), outcome));
      say(`Open it in a terminal: drivelab simulate ${name}.json`);
    }),
    status,
  );
  return bar;
}
