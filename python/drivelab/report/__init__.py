"""Results for people and for programs: tables, CSV, JSON, and what happened in words."""
