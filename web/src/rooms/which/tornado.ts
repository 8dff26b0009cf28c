// The picture of what a chance of loss depends on; the table below it has the same figures.
import type { Assumption } from "../../arrays/sensitivity";
import type { Charts } from "../../charts/draw";
import { tornadoSpec } from "../../charts/tornado";
import { addScript } from "../../core/loading";
import { h } from "../../page/dom";

export class Tornado {
  readonly element = h("figure", { class: "chart" });
  private readonly picture = h("div", {});
  private readonly caption = h("figcaption", { class: "soft" });
  private readonly dark = matchMedia("(prefers-color-scheme: dark)");
  private drawn = "";
  private shown: [readonly Assumption[], number, number | undefined, string] | undefined;

  constructor() {
    this.element.append(this.caption, this.picture);
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.dark.addEventListener("change", () => this.draw());
  }

  clear(): void {
    this.shown = undefined;
    this.drawn = "";
    this.picture.replaceChildren();
    this.caption.textContent = "";
  }

  show(assumptions: readonly Assumption[], now: number, limit: number | undefined, name: string): void {
    this.shown = [assumptions, now, limit, name];
    this.draw();
  }

  private draw(): void {
    if (this.shown === undefined || this.element.clientWidth === 0) return;
    const [assumptions, now, limit, name] = this.shown;
    const width = Math.max(150, Math.min(620, Math.floor(this.element.clientWidth * 0.55)));
    const key = JSON.stringify([this.shown, width, this.dark.matches]);
    if (key === this.drawn) return;
    this.drawn = key;
    const spec = tornadoSpec(assumptions, now, limit, width);
    this.caption.textContent = spec === undefined ? `No assumption changes the chance of loss of ${name} by more than the intervals show.` : `${name}: solid line as assumed, thin lines intervals of 95 %${limit === undefined ? "" : ", dashed line the most that is allowed"}.`;
    if (spec === undefined) return this.picture.replaceChildren();
    void addScript("charts.js").then(() => {
      const host = h("div", { role: "img", "aria-label": `What the chance of loss of ${name} depends on; the table below has the figures` });
      this.picture.replaceChildren(host);
      return (globalThis as { drivelabCharts?: Charts }).drivelabCharts?.draw(host, spec, this.dark.matches);
    });
  }
}
