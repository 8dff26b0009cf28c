// The state of a room in the fragment of its address: `#room?key=value&...`, with the scenario as text. Nothing of it is
// sent anywhere.

export interface Place {
  room: string;
  state: Record<string, string>;
}

export function placeOf(fragment: string): Place {
  const text = fragment.replace(/^#/, "");
  const cut = text.indexOf("?");
  const room = cut < 0 ? text : text.slice(0, cut);
  const state = Object.fromEntries(new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1)));
  return { room, state };
}

export function fragmentOf({ room, state }: Place): string {
  const query = new URLSearchParams(state).toString();
  return `#${room}${query ? `?${query}` : ""}`;
}
