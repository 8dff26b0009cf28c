"""From what the caller has to a checked plan, and what is known without a scenario: the catalogue, keys, units."""
