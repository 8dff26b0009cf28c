// What `drivelab page` answers beside the files of the page: the library of records and the sessions of its machine. A page
// that was opened without a token asks for nothing.
import { fragmentOf, placeOf } from "../page/fragment";
import { EventReader } from "./events";

export const ROOM = "machine";
const KEPT = "drivelab-token";

export interface Entry {
  number: number;
  digest: string;
  kind: string;
  name: string;
  target: string;
  label: string;
  points: number;
  program: string;
  added: string;
  tags: string[];
}

export interface SessionRow {
  id: string;
  named: string;
  name?: string | null;
  clock?: string | null;
  size_bytes?: number | null;
  error?: string;
}

export interface Action {
  name: string;
  what: string;
  takes: string[];
}

interface Times {
  mean: number | null;
  p50: number | null;
  p99: number | null;
  max: number | null;
}

/** What a session does. The figures are missing where the device is of an older drivelab. */
export interface Moment {
  told: string;
  in_force: string[];
  depth?: number;
  seconds?: number;
  model_ns?: number;
  iops?: number | null;
  bytes_per_s?: number | null;
  errors?: number;
  commands?: number;
  latency_ns?: Times;
  lateness_ns?: Times;
}

export interface State {
  version: string;
  kinds: string[];
  actions: Action[];
  sessions: SessionRow[];
}

export interface Verdict {
  records: { letter: string; origin: string }[];
  verdict: { lines: string[]; holds: boolean };
}

/** What the machine refuses, in its words. */
export class MachineError extends Error {}

export class Machine {
  constructor(private readonly token: string) {}

  async state(): Promise<State> {
    return (await this.ask("state")).json();
  }

  async sessions(): Promise<SessionRow[]> {
    return ((await (await this.ask("sessions")).json()) as { sessions: SessionRow[] }).sessions;
  }

  async list(words: string, kind: string): Promise<{ library: string; records: Entry[] }> {
    const query = new URLSearchParams(termsOf(words).map((term) => ["term", term]));
    if (kind !== "") query.set("kind", kind);
    return (await this.ask(`library?${query}`)).json();
  }

  /** A record as a file, such as one that was chosen. */
  async file(entry: Entry): Promise<File> {
    const text = await (await this.ask(`library/${entry.number}`)).blob();
    return new File([text], `library-${entry.number}.json`, { type: "application/json" });
  }

  async tag(record: number, tags: string[], remove: boolean): Promise<Entry> {
    return (await this.ask("library/tag", { record, tags, remove })).json();
  }

  async compare(records: number[], threshold: number | null): Promise<Verdict> {
    return (await this.ask("library/compare", { records, threshold })).json();
  }

  async fault(session: string, action: string, member: number, details: object): Promise<string> {
    return ((await (await this.ask(`sessions/${session}/fault`, { action, member, details })).json()) as { told: string }).told;
  }

  /** Hears what a session does, until it ends or nobody wants to hear it; returns why it has ended. */
  async watch(session: string, heard: (moment: Moment) => void, stop: AbortSignal): Promise<string> {
    const response = await this.ask(`sessions/${session}/events`, undefined, stop);
    const body = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const reader = new EventReader();
    for (;;) {
      const { value, done } = (await body?.read()) ?? { done: true, value: undefined };
      if (done) return "drivelab page has ended";
      for (const event of reader.take(value)) {
        if (event.name === "ended") return (JSON.parse(event.data) as { error: string }).error;
        heard(JSON.parse(event.data) as Moment);
      }
    }
  }

  private async ask(path: string, body?: object, signal?: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { "X-Drivelab-Token": this.token };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const asked: RequestInit = { headers, method: body === undefined ? "GET" : "POST", cache: "no-store", credentials: "omit" };
    if (body !== undefined) asked.body = JSON.stringify(body);
    if (signal !== undefined) asked.signal = signal;
    const response = await fetch(new URL(`here/${path}`, document.baseURI), asked).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      throw new MachineError("drivelab page does not answer: is it still running?");
    });
    if (response.ok) return response;
    const said: unknown = await response.json().catch(() => undefined);
    const why = typeof said === "object" && said !== null && "error" in said ? String(said.error) : `${response.status} ${response.statusText}`;
    throw new MachineError(why);
  }
}

/** The terms of a search: words, or a text in quotes. */
export function termsOf(words: string): string[] {
  return [...words.matchAll(/"([^"]*)"|(\S+)/g)].map((found) => found[1] ?? found[2] ?? "").filter((term) => term !== "");
}

/** The token in an address, and the address without it. */
export function tokenIn(fragment: string): { token: string; rest: string } | undefined {
  const { room, state } = placeOf(fragment);
  const { token, ...others } = state;
  return room === ROOM && token ? { token, rest: fragmentOf({ room, state: others }) } : undefined;
}

/** Takes the token out of the address: a link that is copied does not have it. Returns whether there was one. */
export function keepToken(): boolean {
  const found = tokenIn(location.hash);
  if (found === undefined) return false;
  history.replaceState(null, "", found.rest);
  stored(found.token);
  return true;
}

/** The token of this window, set anew if one is given; a window that may keep nothing has it until it is loaded again. */
function stored(token?: string): string | null {
  if (token !== undefined) inMemory = token;
  try {
    if (token !== undefined) sessionStorage.setItem(KEPT, token);
    return inMemory ?? sessionStorage.getItem(KEPT);
  } catch {
    return inMemory ?? null;
  }
}

let inMemory: string | undefined;

let current: Machine | undefined;

/** The machine that serves the page; undefined where a host serves it, or nobody. */
export const here = (): Machine | undefined => current;

/** Asks for the machine if the page was opened with a token in this window. Returns why it does not answer. */
export async function connect(): Promise<string | undefined> {
  if (!location.protocol.startsWith("http")) return undefined;
  keepToken();
  const token = stored();
  if (token === null) return undefined;
  const machine = new Machine(token);
  try {
    await machine.state();
    current = machine;
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
