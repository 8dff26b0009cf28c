// The editor of a scenario: TOML with the core's errors at their places, and completion from the schema. A script of its
// own, which holds CodeMirror. It lives in a shadow root, where its styles need no exception from the page's policy.
import { autocompletion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Problem } from "../core/answers";
import { cursorOf, keysAt, wordsAt } from "../scenario/schema";

export interface Editor {
  text(): string;
  setText(text: string): void;
  setProblems(problems: readonly Problem[]): void;
}

export interface Editors {
  create(parent: HTMLElement, label: string, text: string, known: { schema: object; drives: string[] }, change: (text: string) => void): Editor;
}

const COLOURS = HighlightStyle.define([
  { tag: tags.comment, color: "var(--soft)" },
  { tag: tags.string, color: "var(--string)" },
  { tag: tags.number, color: "var(--number)" },
  { tag: tags.bool, color: "var(--number)" },
  { tag: tags.propertyName, color: "var(--accent-text)" },
]);

const LOOK = EditorView.theme({
  "&": { backgroundColor: "var(--field)", color: "var(--ink)", fontSize: "14px" },
  ".cm-content": { fontFamily: "ui-monospace, monospace", caretColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--field)", color: "var(--soft)", borderRight: "1px solid var(--line)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--ink)", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  "&.cm-focused": { outline: "2px solid var(--accent)" },
});

/** Text typed over a selection. A browser would keep its looks in a style of its own, which the page's policy forbids. */
const REPLACING = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== "insertText" || event.data === null || view.state.selection.main.empty) return false;
    event.preventDefault();
    view.dispatch({ ...view.state.replaceSelection(event.data), userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

function completing(schema: object, drives: string[]) {
  return (context: CompletionContext): CompletionResult | null => {
    const { path, word, isValue } = cursorOf(context.state.sliceDoc(0, context.pos));
    if (!context.explicit && word === "") return null;
    const from = context.pos - word.length;
    if (!isValue) {
      return { from, options: keysAt(schema, path).map(({ label, detail }) => ({ label, info: detail, type: "property" })) };
    }
    const isQuoted = context.state.sliceDoc(from - 1, from) === '"';
    const words = path.join(".") === "target.drive" ? drives : wordsAt(schema, path);
    return { from, options: words.map((label) => ({ label, apply: isQuoted ? label : `"${label}"`, type: "enum" })) };
  };
}

/** A problem of the core at its place in the text; one of another file at the first line. */
function diagnostic(state: EditorState, problem: Problem, origin: string): Diagnostic {
  const message = `${problem.message}${problem.remedy === null ? "" : `\nhelp: ${problem.remedy}`}`;
  if (problem.origin !== origin) return { from: 0, to: state.doc.line(1).to, severity: "error", message: `${problem.origin}:${problem.line}: ${message}` };
  const line = state.doc.line(Math.min(problem.line, state.doc.lines));
  const from = Math.min(line.from + codeUnits(line.text, problem.column - 1), line.to);
  const length = (problem.text.split("\n")[0] as string).length;
  return { from, to: Math.min(Math.max(from + length, from + 1), Math.max(line.to, from)), severity: "error", message };
}

/** The core counts characters, an editor UTF-16 units. */
function codeUnits(line: string, characters: number): number {
  return [...line].slice(0, characters).join("").length;
}

const editors: Editors = {
  create(parent, label, text, known, change) {
    const root = parent.shadowRoot ?? parent.attachShadow({ mode: "open" });
    let isOurs = false;
    const view = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          history(),
          // The tab key leaves the editor, for those who have no mouse.
          keymap.of([...defaultKeymap, ...historyKeymap]),
          StreamLanguage.define(toml),
          syntaxHighlighting(COLOURS),
          lintGutter(),
          autocompletion({ override: [completing(known.schema, known.drives)] }),
          LOOK,
          REPLACING,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": label }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !isOurs) change(update.state.doc.toString());
          }),
        ],
      }),
    });
    return {
      text: () => view.state.doc.toString(),
      setText(next) {
        if (next === view.state.doc.toString()) return;
        isOurs = true;
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
        isOurs = false;
      },
      setProblems(problems) {
        view.dispatch(setDiagnostics(view.state, problems.map((one) => diagnostic(view.state, one, "scenario.toml"))));
      },
    };
  },
};

(globalThis as { drivelabEditors?: Editors }).drivelabEditors = editors;
