//! Scenarios from outside, in one program: a module for each kind of key or question.
mod arrays;
mod caches;
mod catalogue;
mod common;
mod disconnect;
mod docs;
mod drive_files;
mod fio_words;
mod flushes;
mod geometry;
mod grid;
mod memories;
mod named;
mod problems;
mod properties;
mod protocols;
mod reference_drives;
