//! Traces through the room's own interface: what each format means, round trips, damage, messages, figures.
mod damage;
mod described;
mod formats;
mod messages;
mod pairs;
mod reference;
mod round_trip;
mod shapes;
mod surveyed;
mod tools;
mod tracers;
