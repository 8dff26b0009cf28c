//! The C interface: allocate, free, call. The one file of this room with `unsafe`.
//!
//! A page writes a question as UTF-8 into a buffer of [`drivelab_allocate`], passes it to [`drivelab_call`], which takes
//! it, and gets the address of the answer: four bytes with its length, the lowest first, and the text in UTF-8. It gives
//! that back with [`drivelab_free`] and the length of the whole, the four bytes included.
//!
//! The module imports two functions of the page, `env.drivelab_progress` (the share of a step that is done) and
//! `env.drivelab_defect` (the words of a panic, after which the module is not to be called again).
//!
//! # Soundness
//! An address that is passed in was returned by this module, with its length, and is passed in once. The page's functions call
//! none of the module's.
#![allow(unsafe_code, reason = "a C interface")]
use crate::answers::answer;
use std::sync::Once;

static HOOK: Once = Once::new();

/// A buffer of so many bytes, all of them zero.
#[unsafe(no_mangle)]
pub extern "C" fn drivelab_allocate(length: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; length].into_boxed_slice()).cast()
}

/// Frees a buffer.
///
/// # Safety
/// The buffer is of [`drivelab_allocate`] or [`drivelab_call`], is of this length, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_free(start: *mut u8, length: usize) {
    // SAFETY: as the caller promises, this is what `Box::into_raw` returned.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, length)) });
}

/// Answers a question, whose buffer it takes.
///
/// # Safety
/// The buffer is of [`drivelab_allocate`], is of this length, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_call(start: *mut u8, length: usize) -> *mut u8 {
    HOOK.call_once(|| std::panic::set_hook(Box::new(|panic| host::defect(&panic.to_string()))));
    // SAFETY: as the caller promises, this is what `Box::into_raw` returned.
    let question = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, length)) };
    let text = answer(&String::from_utf8_lossy(&question), &host::progress);
    // An answer is at most as long as the memory, whose addresses have 32 bits.
    let mut out = (text.len() as u32).to_le_bytes().to_vec();
    out.extend_from_slice(text.as_bytes());
    Box::into_raw(out.into_boxed_slice()).cast()
}

/// What the page does for the module.
#[cfg(target_family = "wasm")]
mod host {
    mod imported {
        #[link(wasm_import_module = "env")]
        unsafe extern "C" {
            pub fn drivelab_progress(share: f64);
            pub fn drivelab_defect(start: *const u8, length: usize);
        }
    }

    pub fn progress(share: f64) {
        // SAFETY: the page's function takes a number and touches no memory.
        unsafe { imported::drivelab_progress(share) }
    }

    pub fn defect(words: &str) {
        // SAFETY: the page's function reads the text while the call lasts.
        unsafe { imported::drivelab_defect(words.as_ptr(), words.len()) }
    }
}

/// Beside a test program there is no page.
#[cfg(not(target_family = "wasm"))]
mod host {
    pub fn progress(_share: f64) {}

    pub fn defect(_words: &str) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A question as a page asks it.
    fn asked(question: &str) -> String {
        let start = drivelab_allocate(question.len());
        // SAFETY: the buffer is as long as the question.
        unsafe { std::ptr::copy_nonoverlapping(question.as_ptr(), start, question.len()) };
        // SAFETY: it is passed once, with its length.
        text_at(unsafe { drivelab_call(start, question.len()) })
    }

    /// The text of an answer, which it frees.
    fn text_at(found: *mut u8) -> String {
        let mut length = [0; 4];
        // SAFETY: an answer begins with four bytes.
        unsafe { std::ptr::copy_nonoverlapping(found, length.as_mut_ptr(), 4) };
        let length = u32::from_le_bytes(length) as usize;
        // SAFETY: so many bytes follow them.
        let whole = unsafe { std::slice::from_raw_parts(found, length + 4) };
        let text = whole[4..].to_vec();
        // SAFETY: this is the whole buffer, which is not used again.
        unsafe { drivelab_free(found, length + 4) };
        String::from_utf8(text).expect("an answer is UTF-8")
    }

    #[test]
    fn a_question_passes_the_interface_and_its_answer_comes_back() {
        let found = asked(r#"{"ask": "about"}"#);
        assert!(found.contains(&format!(r#""model_version":{}"#, drivelab_core::MODEL_VERSION)), "{found}");
    }

    #[test]
    fn nothing_and_bytes_that_are_no_text_are_answered_with_an_error() {
        assert!(asked("").starts_with(r#"{"error":"#));
        let start = drivelab_allocate(3);
        // SAFETY: the buffer has three bytes.
        unsafe { start.write_bytes(0xff, 3) };
        // SAFETY: it is passed once, with its length.
        assert!(text_at(unsafe { drivelab_call(start, 3) }).starts_with(r#"{"error":"#));
    }
}
