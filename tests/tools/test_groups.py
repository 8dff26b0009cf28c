"""Tests of a group run in one process: what they share is set up once."""

from __future__ import annotations

import pytest


@pytest.mark.xdist_group("groups")
def test_the_group_of_a_test_is_in_its_id_where_tests_are_spread(request: pytest.FixtureRequest):
    is_spread = getattr(request.config.option, "loadgroup", False)
    assert request.node.nodeid.endswith("@groups") == is_spread
