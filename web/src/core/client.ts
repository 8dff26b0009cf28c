// The core as the page sees it: questions go to a worker, which is replaced when a run is stopped or breaks.
import type { LevelEntry, StripeMap } from "./arrays";
import type { About, Answer, DriveEntry, Plan, Point, Problem, Scenario, Step } from "./answers";
import type { FromWorker, ToWorker } from "./worker";
import { load, type Loaded } from "./loading";
import { type Losses, Refused, type TargetEntry, type Tolerance } from "./losses";

/** Everything that is wrong with a scenario. */
export class Problems extends Error {
  constructor(
    readonly list: Problem[],
    text: string,
  ) {
    super(text);
  }
}

/** Someone asked for something else before the answer was there. */
export class Stopped extends Error {}

interface Waiting {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

export interface Outcome {
  plan: Plan;
  /** The entries of the record, in the order of the sweep, and the same read. */
  entries: string[];
  points: Point[];
  /** The places of these points in the plan. */
  places: number[];
  failures: string[];
}

export interface Watching {
  progress?(done: number, of: number): void;
  step?(outcome: Outcome): void;
}

export class Core {
  private worker: Worker | undefined;
  private started: Promise<Worker> | undefined;
  private abandon: (why: Error) => void = () => {};
  private readonly waiting = new Map<number, Waiting>();
  private next = 0;
  private loaded: Promise<Loaded> | undefined;
  private onProgress: (share: number) => void = () => {};

  /** The versions of the core; the first call loads it. */
  async about(): Promise<About> {
    return (await this.ask({ ask: "about" })).ok as About;
  }

  async drives(): Promise<DriveEntry[]> {
    return (await this.ask({ ask: "drives" })).drives ?? [];
  }

  async levels(): Promise<LevelEntry[]> {
    return (await this.ask({ ask: "levels" })).levels ?? [];
  }

  /** Where the addresses of a scenario's array lie. Throws Problems. */
  async stripes(scenario: Scenario, part: { first_row?: number; rows?: number; addresses?: readonly number[] }): Promise<StripeMap> {
    const answer = await this.ask({ ask: "stripes", scenario, ...part });
    if (answer.problems !== undefined) throw new Problems(answer.problems.list, answer.problems.text);
    return answer.stripes as StripeMap;
  }

  /** What histograms of a record count: values in ns, and how often each came. */
  async histograms(texts: readonly string[]): Promise<[number, number][][]> {
    return (await this.ask({ ask: "histograms", texts })).histograms ?? [];
  }

  /** What the file of a record's drive says, with the files that it is based on. */
  async facts(drive: string, files: Record<string, string>): Promise<{ key: string; value: unknown }[]> {
    return (await this.ask({ ask: "facts", drive, files })).facts ?? [];
  }

  /** What the target of a scenario is. Throws Problems. */
  async target(scenario: Scenario): Promise<TargetEntry> {
    const answer = await this.ask({ ask: "target", ...scenario });
    if (answer.problems !== undefined) throw new Problems(answer.problems.list, answer.problems.text);
    return answer.ok as TargetEntry;
  }

  /** How likely an array loses data, by the keys of `drivelab durability`; one for each level. Throws Refused. */
  async losses(keys: Record<string, unknown>, progress: (share: number) => void = () => {}): Promise<Losses[]> {
    this.onProgress = progress;
    const answer = await this.ask({ ask: "losses", keys });
    if (answer.wrong !== undefined) throw new Refused(answer.wrong);
    return answer.losses ?? [];
  }

  /** How many members of a level may fail, or what they lack. */
  async tolerance(level: string, members: number, copies: number, groups: number): Promise<Tolerance> {
    return (await this.ask({ ask: "tolerance", level, members, copies, groups })).tolerance as Tolerance;
  }

  async schema(): Promise<object> {
    return (await this.ask({ ask: "schema" })).ok as object;
  }

  /** What a scenario would run. Throws Problems. */
  async check(scenario: Scenario): Promise<Plan> {
    return checked(await this.ask({ ask: "check", ...scenario }));
  }

  /** Runs a scenario point by point. Throws Problems, and Stopped after `stop`. */
  async run(scenario: Scenario, watching: Watching = {}): Promise<Outcome> {
    const plan = checked(await this.ask({ ask: "begin", ...scenario }));
    const of = plan.axes.length;
    const outcome: Outcome = { plan, entries: [], points: [], places: [], failures: [] };
    for (let step: Step | undefined; step === undefined || !step.is_last; ) {
      const done = step === undefined ? 0 : step.at + 1;
      this.onProgress = (share) => watching.progress?.(done + share, of);
      step = (await this.ask({ ask: "step", run: plan.run })).point as Step;
      if (step.entry !== undefined) {
        outcome.entries.push(step.entry);
        outcome.points.push(JSON.parse(step.entry) as Point);
        outcome.places.push(step.at);
      } else if (step.failure !== undefined) {
        outcome.failures.push(step.failure);
      }
      watching.progress?.(step.at + 1, of);
      watching.step?.(outcome);
    }
    await this.ask({ ask: "end", run: plan.run });
    return outcome;
  }

  /** Ends whatever runs: a call of the core cannot be interrupted, so its worker is. */
  stop(): void {
    this.replace(new Stopped("stopped"));
  }

  private replace(why: Error): void {
    this.worker?.terminate();
    this.worker = undefined;
    this.started = undefined;
    this.abandon(why);
    for (const one of this.waiting.values()) one.reject(why);
    this.waiting.clear();
  }

  private async ask(question: object): Promise<Answer> {
    const started = (this.started ??= this.start());
    let worker: Worker;
    try {
      worker = await started;
    } catch (error) {
      // The next question tries again.
      if (this.started === started) this.started = this.loaded = undefined;
      throw error;
    }
    const id = this.next++;
    const answer = await new Promise<Answer>((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      worker.postMessage({ id, question: JSON.stringify(question) } satisfies ToWorker);
    });
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer;
  }

  private async start(): Promise<Worker> {
    this.loaded ??= load();
    let why: Error | undefined;
    this.abandon = (error) => (why = error);
    const { module, worker: make } = await this.loaded;
    if (why !== undefined) throw why;
    const worker = make();
    this.worker = worker;
    await new Promise<void>((resolve, reject) => {
      this.abandon = reject;
      worker.onerror = () => reject(new Error("the worker of the core does not start"));
      worker.onmessage = (event: MessageEvent<FromWorker>) => {
        const message = event.data;
        if ("ready" in message) resolve();
        else if ("failed" in message) reject(new Error(message.failed));
        else if ("progress" in message) this.onProgress(message.progress);
        else if ("read" in message) return;
        else if ("answer" in message) this.settle(message.id, (one) => one.resolve(JSON.parse(message.answer) as Answer));
        else {
          const words = `the model broke one of its own rules: this is a defect of drivelab, not of the scenario (${message.defect})`;
          this.replace(new Error(words));
        }
      };
      worker.postMessage({ module } satisfies ToWorker);
    });
    return worker;
  }

  private settle(id: number, how: (one: Waiting) => void): void {
    const one = this.waiting.get(id);
    this.waiting.delete(id);
    if (one !== undefined) how(one);
  }
}

function checked(answer: Answer): Plan {
  if (answer.problems !== undefined) throw new Problems(answer.problems.list, answer.problems.text);
  return answer.checked as Plan;
}
