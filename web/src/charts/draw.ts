// Draws a Vega-Lite specification. A script of its own, loaded when the first chart is wanted: it holds Vega.
import embed from "vega-embed";
import { expressionInterpreter } from "vega-interpreter";
import type { Spec } from "./depth";

type Embedding = Parameters<typeof embed>[2];
/** What a dark page shows in place of the colours of a white one. */
const DARK: Record<string, string> = { "#222222": "#e8eaed", "#5f5f5f": "#b4bac4", "#8a8a8a": "#8b93a1", "#e6e6e6": "#323843", "#bdbdbd": "#4a5261", "#0072B2": "#56B4E9" };

export interface Charts {
  draw(element: HTMLElement, spec: Spec, isDark: boolean): Promise<void>;
}

function shown(spec: Spec, isDark: boolean): Spec {
  const text = JSON.stringify({ ...spec, datasets: undefined, background: "transparent", padding: 4 });
  const painted = isDark ? text.replace(/"#[0-9a-f]{6}"/gi, (colour) => JSON.stringify(DARK[colour.slice(1, -1)] ?? colour.slice(1, -1))) : text;
  return { ...(JSON.parse(painted) as Spec), datasets: spec["datasets"] };
}

const charts: Charts = {
  async draw(element, spec, isDark) {
    const options = { mode: "vega-lite", renderer: "svg", actions: false, defaultStyle: false, ast: true, expr: expressionInterpreter, tooltip: { disableDefaultStyle: true } };
    await embed(element, shown(spec, isDark) as never, options as unknown as NonNullable<Embedding>);
  },
};

(globalThis as { drivelabCharts?: Charts }).drivelabCharts = charts;
