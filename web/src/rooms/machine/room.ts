// The room "On this machine": the library of records and the sessions of the machine that serves the page.
import type { DriveEntry } from "../../core/answers";
import type { Core } from "../../core/client";
import { here } from "../../machine/client";
import { h } from "../../page/dom";
import { LibraryPanel } from "./library";
import { SessionsPanel } from "./sessions";

export class MachineRoom {
  readonly element = h("section", { "aria-labelledby": "machine-title" });
  private readonly sessions: SessionsPanel | undefined;

  constructor(_core: Core, _drives: readonly DriveEntry[], state: Record<string, string>, changed: (state: Record<string, string>) => void) {
    this.element.append(
      h("h2", { id: "machine-title" }, "On this machine"),
      h("p", {}, "The records of your library, and the devices that drivelab emulate serves here. The page asks the program that serves it, on this machine; nothing goes elsewhere."),
    );
    const machine = here();
    if (machine === undefined) return;
    const library = new LibraryPanel(machine, state, changed);
    this.sessions = new SessionsPanel(machine);
    this.element.append(library.element, this.sessions.element);
    void machine.state().then(
      ({ kinds, actions, sessions }) => {
        library.begin(kinds);
        this.sessions?.begin(actions, sessions);
      },
      (error: unknown) => this.element.append(h("p", { class: "problem", role: "alert" }, error instanceof Error ? error.message : String(error))),
    );
  }

  leave(): void {
    this.sessions?.leave();
  }
}
