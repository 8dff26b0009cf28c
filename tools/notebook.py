"""Run the example notebook: its cells again, in their order, with their output.

`python tools/notebook.py` writes docs/learn/first-steps.ipynb with its outputs (`make docs`). The cells are kept in the
notebook itself. Pictures are stored as SVG, which every viewer shows; a test compares only the texts, since the
letters of a picture depend on the fonts of a machine.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOK = ROOT / "docs" / "learn" / "first-steps.ipynb"
SECONDS_MAX = 300


def executed(path: Path) -> nbformat.NotebookNode:
    """The notebook with its current outputs; raises CellExecutionError if a cell fails."""
    notebook: nbformat.NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook,
        timeout=SECONDS_MAX,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    return notebook


def texts(notebook: nbformat.NotebookNode) -> list[list[str]]:
    """The text output of each code cell."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            outputs = (
                output.get("text") or output.get("data", {}).get("text/html", "") for output in cell.outputs
            )
            found.append([text for text in outputs if text])
    return found


def main() -> int:
    """Writes the notebook."""
    notebook = executed(NOTEBOOK)
    # The metadata on the interpreter would differ from machine to machine.
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    nbformat.write(notebook, NOTEBOOK)  # type: ignore[no-untyped-call]
    print(f"wrote {NOTEBOOK.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
