// The page: its rooms, and the address that leads to each of them with its whole state.
import { Core } from "../core/client";
import { ROOM, connect, here, keepToken } from "../machine/client";
import { ArrayRoom } from "../rooms/array/room";
import { MachineRoom } from "../rooms/machine/room";
import { QueueRoom } from "../rooms/queue";
import { RecordsRoom } from "../rooms/records/room";
import { StudiesRoom } from "../rooms/studies/room";
import { TryRoom } from "../rooms/try";
import { WhichRoom } from "../rooms/which/room";
import { h } from "./dom";
import { fragmentOf, placeOf } from "./fragment";

const ROOMS = { queue: QueueRoom, try: TryRoom, array: ArrayRoom, which: WhichRoom, studies: StudiesRoom, records: RecordsRoom, [ROOM]: MachineRoom } as const;
type Name = keyof typeof ROOMS;

const isRoom = (name: string): name is Name => Object.hasOwn(ROOMS, name) && (name !== ROOM || here() !== undefined);

async function start(): Promise<void> {
  const place = document.getElementById("room") as HTMLElement;
  const refused = await connect();
  if (here() !== undefined) document.querySelector("nav")?.append(" ", h("a", { href: `#${ROOM}` }, "On this machine"));
  const core = new Core();
  const about = await core.about();
  const drives = await core.drives();
  performance.mark("core-ready");
  (document.getElementById("versions") as HTMLElement).textContent = `drivelab ${about.version}, model ${about.model_version}`;

  let room: InstanceType<(typeof ROOMS)[Name]> | undefined;
  let own = "";
  let rooms = 0;
  const open = () => {
    if (location.hash === own && room !== undefined) return;
    // An address with another token was opened in this window.
    if (keepToken()) return location.reload();
    const { room: asked, state } = placeOf(location.hash);
    const name = isRoom(asked) ? asked : "queue";
    room?.leave();
    const opened = ++rooms;
    const changed = (next: Record<string, string>) => {
      // A room that was left may still end its run.
      if (opened !== rooms) return;
      own = fragmentOf({ room: name, state: next });
      history.replaceState(null, "", own);
    };
    room = new ROOMS[name](core, drives, state, changed);
    place.replaceChildren(...(asked === ROOM && refused !== undefined ? [h("p", { class: "problem", role: "alert" }, `On this machine: ${refused}`)] : []), room.element);
    for (const link of document.querySelectorAll<HTMLAnchorElement>("nav a")) {
      if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  };
  window.addEventListener("hashchange", open);
  open();
}

start().catch((error: unknown) => {
  const words = error instanceof Error ? error.message : String(error);
  document.getElementById("room")?.replaceChildren(h("p", { class: "problem", role: "alert" }, `The core cannot be loaded: ${words}`));
});
