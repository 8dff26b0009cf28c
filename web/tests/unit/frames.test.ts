// Frames of a film of three commands, of which the third overtakes the second.
import { describe, expect, it } from "vitest";
import type { Command, Point } from "../../src/core/answers";
import { type Film, filmOf, frameAt, soFar, stepFrom } from "../../src/rooms/frames";

const command = (id: number, submitted: number, begun: number | null, cylinder: number): Command => ({
  id,
  access: "read",
  first_sector: id,
  sectors: 8,
  submitted_ns: submitted,
  accepted_ns: submitted,
  chosen_ns: begun,
  begun_ns: begun,
  ended_ns: begun === null ? null : begun + 10,
  completed_ns: begun === null ? 500 : begun + 12,
  from_cylinder: 0,
  first_cylinder: begun === null ? null : cylinder,
  to_cylinder: cylinder,
  breakdown_ns: { seek: 40, rotation: 20 },
});

const film = filmOf({
  platter: { rotation_ns: 100, cylinders: 1000 },
  commands: [command(0, 0, 150, 100), command(1, 0, 450, 900), command(2, 0, 260, 200), command(3, 0, null, 0)],
} as unknown as Point) as Film;

describe("a film", () => {
  it("has the commands that reached the platter, at the angle where they began", () => {
    expect(film.commands.map((one) => [one.id, one.angle, one.service])).toEqual([[0, 0.5, 0], [1, 0.5, 2], [2, 0.6, 1]]);
  });
  it("knows who overtook whom", () => {
    expect(film.commands.map((one) => [one.overtook, one.overtakenBy])).toEqual([[[], []], [[], [2]], [[1], []]]);
  });
  it("counts what the buffer answered, which has no place", () => {
    expect(film.buffered.map((one) => one.id)).toEqual([3]);
    expect(soFar(film, frameAt(film, 300), 300)).toMatchObject({ done: 2, waiting: 2 });
    expect(soFar(film, frameAt(film, 500), 500)).toMatchObject({ done: 4, waiting: 0 });
  });
  it("ends where the last logged command arrives, if the run had more", () => {
    const commands = [command(0, 0, 150, 100), command(1, 170, 450, 900)];
    const of = (n: number) => filmOf({ platter: { rotation_ns: 100, cylinders: 1000 }, commands, latency_ns: { n } } as unknown as Point);
    expect([of(2)?.end_ns, of(3)?.end_ns]).toEqual([462, 170]);
  });
  it("is none without platters", () => expect(filmOf({ platter: null } as unknown as Point)).toBeUndefined());
});

describe("a frame", () => {
  it.each([
    [80, "other", undefined, 0],
    [110, "seek", 0, 50],
    [140, "rotation", 0, 100],
    [155, "transfer", 0, 100],
  ] as const)("at %d", (at, doing, id, cylinder) => {
    const frame = frameAt(film, at);
    expect([frame.doing, frame.now?.id, frame.cylinder]).toEqual([doing, id, cylinder]);
  });
  it("has the head above a command as its transfer begins", () => expect(frameAt(film, 150).angle).toBe(film.commands[0]?.angle));
  it("tells waiting from done", () => {
    const frame = frameAt(film, 300);
    expect([frame.waiting.map((one) => one.id), frame.done.map((one) => one.id)]).toEqual([[1], [0, 2]]);
  });
  it("has figures of what is done, and no percentile that too few support", () => {
    const known = soFar(film, frameAt(film, 300), 300);
    expect(known).toMatchObject({ done: 2, iops: 2 / 300e-9, mean_ns: 217, p50_ns: undefined });
    expect(known.longest).toMatchObject({ age_ns: 300, command: { id: 1 } });
  });
});

describe("a step", () => {
  it("goes to the next end, or back", () => expect([stepFrom([film], 0), stepFrom([film], 160), stepFrom([film], 300, true), stepFrom([film], 100, true)]).toEqual([160, 270, 270, 0]));
  it("stays at the last", () => expect(stepFrom([film], 460)).toBe(460));
});
