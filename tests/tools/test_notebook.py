"""The example notebook runs, and holds what its cells print."""

from __future__ import annotations

import nbformat

import notebook


def test_the_notebook_prints_what_it_holds():
    held = nbformat.read(notebook.NOTEBOOK, as_version=4)
    assert notebook.texts(notebook.executed(notebook.NOTEBOOK)) == notebook.texts(held), "run make docs"


def test_it_has_figures_and_pictures():
    held = nbformat.read(notebook.NOTEBOOK, as_version=4)
    kinds = [
        kind for cell in held.cells for output in cell.get("outputs", ()) for kind in output.get("data", {})
    ]
    assert "text/html" in kinds
    assert "image/svg+xml" in kinds
