// What the chart of a question shows.
import { type StudyRow } from "../../charts/studies";
import type { Found } from "../../studies/found";
import type { Cell, Place } from "../../studies/model";
import { type Question, placesFor } from "../../studies/questions";

/** The rows of a question's chart: those of its table, or the cells that its claim reads. */
export function rowsOf(found: Found, question: Question): StudyRow[] {
  const row = (panel: string, name: string, place: Place): StudyRow => {
    const cell = found.experiment.cells[place[1]] as Cell;
    return { panel, row: name, unit: cell.unit, published: place[0] === null ? cell.published : null, simulated: found.figure(place)?.predicted ?? null, isCalibration: cell.role === "calibration" && place[0] === null };
  };
  if ("table" in question) return question.table.shown.flatMap((column) => question.table.places.flatMap(([place, cells]) => (cells[column] === undefined ? [] : [row(column, place.join(", "), [null, cells[column]])])));
  return placesFor(question).map((place) => row((found.experiment.cells[place[1]] as Cell).unit, `${(found.experiment.cells[place[1]] as Cell).id}${place[0] === null ? "" : ` (${place[0]})`}`, place));
}
