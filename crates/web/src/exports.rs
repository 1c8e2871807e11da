//! What the module exports: room for what a page hands in, and the answers.
//!
//! A page calls `room` and writes that many bytes there. `file` keeps them as a file: a name, and
//! after it the content. `ask` reads them as a request, and returns the length of the answer, which
//! lies at `answer` until the next call.

#![expect(unsafe_code, reason = "a name is exported by an attribute that counts as unsafe")]

use std::cell::RefCell;

use crate::Laboratory;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<String> = const { RefCell::new(String::new()) };
    static LABORATORY: RefCell<Laboratory> = RefCell::default();
}

/// Makes room for so many bytes, and returns where they go.
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    // every call begins here, so each panic leaves its message
    std::panic::set_hook(Box::new(|found| {
        keep(found.to_string());
    }));
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.shrink_to(bytes);
        input.resize(bytes, 0);
        input.as_mut_ptr()
    })
}

/// Keeps the bytes handed in as a file: the first `name` of them are its name. Returns the length
/// of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn file(name: usize) -> usize {
    let mut input = INPUT.take();
    let content = input.split_off(name.min(input.len()));
    let name = String::from_utf8_lossy(&input).into_owned();
    keep(LABORATORY.with_borrow_mut(|laboratory| laboratory.file(name, content)))
}

/// Answers the request handed in, and returns the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    let input = INPUT.take();
    keep(LABORATORY.with_borrow_mut(|laboratory| laboratory.ask(&input)))
}

/// Where the answer lies. After a call that broke off: why it did.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}

/// The length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer_bytes() -> usize {
    ANSWER.with_borrow(String::len)
}

fn keep(answer: String) -> usize {
    let bytes = answer.len();
    ANSWER.set(answer);
    bytes
}
