// Draws one frame: the platter with the waiting commands at their angles and cylinders, and the arm.
import type { Film, Frame, Placed } from "./frames";

export interface Colours {
  disk: string;
  line: string;
  ink: string;
  soft: string;
  waiting: string;
  old: string;
  now: string;
}

export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return { disk: of("disk"), line: of("line"), ink: of("ink"), soft: of("soft"), waiting: of("waiting"), old: of("old"), now: of("now") };
}

const TURN = 2 * Math.PI;
/** The head is where an arm from the lower right ends: at the right. */
const HEAD = 0;

export function drawFrame(canvas: HTMLCanvasElement, film: Film, frame: Frame, at: number, colours: Colours): void {
  const size = canvas.clientWidth;
  const ratio = window.devicePixelRatio || 1;
  const pixels = Math.max(1, Math.round(size * ratio));
  if (canvas.width !== pixels || canvas.height !== pixels) [canvas.width, canvas.height] = [pixels, pixels];
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, size, size);
  const middle = size / 2;
  const outer = size * 0.46;
  const inner = size * 0.15;
  const radius = (cylinder: number) => outer - (cylinder / Math.max(film.cylinders, 1)) * (outer - inner);
  const place = (one: Placed): [number, number] => {
    const turn = HEAD + (one.angle - frame.angle) * TURN;
    const r = radius(one.first_cylinder);
    return [middle + r * Math.cos(turn), middle + r * Math.sin(turn)];
  };

  context.fillStyle = colours.disk;
  context.beginPath();
  context.arc(middle, middle, outer + size * 0.02, 0, TURN);
  context.arc(middle, middle, inner * 0.55, 0, TURN, true);
  context.fill("evenodd");
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  // A mark, so that the turning can be seen.
  const mark = HEAD - frame.angle * TURN;
  context.beginPath();
  context.moveTo(middle + inner * 0.55 * Math.cos(mark), middle + inner * 0.55 * Math.sin(mark));
  context.lineTo(middle + (outer + size * 0.02) * Math.cos(mark), middle + (outer + size * 0.02) * Math.sin(mark));
  context.stroke();

  const dot = Math.max(3, size * 0.012);
  const oldest = frame.waiting.reduce<Placed | undefined>((old, one) => (old === undefined || one.submitted_ns < old.submitted_ns ? one : old), undefined);
  for (const one of frame.waiting) {
    const [x, y] = place(one);
    // A command that has waited for ten turns is as old as one can be seen to be.
    context.globalAlpha = 0.45 + 0.55 * Math.min(1, (at - one.submitted_ns) / (10 * film.rotation_ns));
    context.fillStyle = one.overtakenBy.length > 0 && at - one.submitted_ns > 10 * film.rotation_ns ? colours.old : colours.waiting;
    context.beginPath();
    context.arc(x, y, dot, 0, TURN);
    context.fill();
    context.globalAlpha = 1;
    if (one === oldest) {
      context.strokeStyle = colours.old;
      context.lineWidth = 2;
      context.beginPath();
      context.arc(x, y, dot + 4, 0, TURN);
      context.stroke();
    }
  }
  if (frame.now !== undefined) {
    const [x, y] = place(frame.now);
    context.fillStyle = colours.now;
    context.beginPath();
    context.arc(x, y, dot * 1.5, 0, TURN);
    context.fill();
  }
  arm(context, size, middle + radius(frame.cylinder), middle, colours);
}

function arm(context: CanvasRenderingContext2D, size: number, x: number, y: number, colours: Colours): void {
  const pivot: [number, number] = [size * 0.95, size * 0.95];
  context.strokeStyle = colours.soft;
  context.lineCap = "round";
  context.lineWidth = size * 0.018;
  context.beginPath();
  context.moveTo(...pivot);
  context.lineTo(x, y);
  context.stroke();
  context.fillStyle = colours.ink;
  for (const [cx, cy, r] of [[...pivot, size * 0.025], [x, y, size * 0.014]] as const) {
    context.beginPath();
    context.arc(cx, cy, r, 0, TURN);
    context.fill();
  }
}
