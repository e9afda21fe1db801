//! Numbers in the engine's memory.

use rquickjs::TypedArray;

/// Copies the first `length` words of an array; `None` if it is detached or shorter.
#[allow(unsafe_code)]
pub fn copy(array: &TypedArray<'_, i32>, length: usize, into: &mut Vec<i32>) -> Option<()> {
    // SAFETY: no JavaScript runs while the slice lives: it is copied at once.
    let bytes = unsafe { array.as_bytes() }?;
    let words: &[[u8; 4]] = bytes.as_chunks().0;
    into.clear();
    into.extend(words.get(..length)?.iter().map(|word| i32::from_ne_bytes(*word)));
    Some(())
}

/// A copy of bytes; `None` if the array is detached.
#[allow(unsafe_code)]
pub fn bytes(array: &TypedArray<'_, u8>) -> Option<Vec<u8>> {
    // SAFETY: as above.
    unsafe { array.as_bytes() }.map(<[u8]>::to_vec)
}
