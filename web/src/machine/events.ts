// Server-sent events from the text of a response: a browser's own reader of them can send no header.

export interface ServedEvent {
  name: string;
  data: string;
}

/** More than an event of ours has: what does not end is no stream of events. */
const PENDING_MAX = 1 << 20;

export class EventReader {
  private pending = "";

  /** The events that are whole with this text. Throws where one does not end. */
  take(text: string): ServedEvent[] {
    const blocks = (this.pending + text).replace(/\r\n/g, "\n").split("\n\n");
    this.pending = blocks.pop() ?? "";
    if (this.pending.length > PENDING_MAX) throw new Error("what the server sends has no end");
    return blocks.map(eventOf).filter((one) => one.data !== "");
  }
}

function eventOf(block: string): ServedEvent {
  const lines = block.split("\n").map((line) => /^(\w+): ?(.*)$/.exec(line));
  const values = (name: string) => lines.filter((line) => line?.[1] === name).map((line) => line?.[2] ?? "");
  return { name: values("event")[0] ?? "message", data: values("data").join("\n") };
}
