//! Numbers in the engine's memory.

use rquickjs::{Ctx, FromJs, TypedArray, Value, qjs};

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

/// Bytes and objects of the engine's heap.
#[allow(unsafe_code)]
pub fn heap(ctx: &Ctx<'_>) -> (i64, i64) {
    let mut usage = std::mem::MaybeUninit::uninit();
    // SAFETY: the runtime lives as long as its context, and the call fills all of the structure.
    let usage = unsafe {
        qjs::JS_ComputeMemoryUsage(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), usage.as_mut_ptr());
        usage.assume_init()
    };
    (usage.malloc_size, usage.obj_count)
}

/// Frees what the engine finds in cycles.
#[allow(unsafe_code)]
pub fn collect_garbage(ctx: &Ctx<'_>) {
    // SAFETY: as above.
    unsafe { qjs::JS_RunGC(qjs::JS_GetRuntime(ctx.as_raw().as_ptr())) };
}

/// A text of the app. What is no text in UTF-8, halves of a surrogate pair, is U+FFFD in it.
pub struct Text(pub String);

impl Text {
    #[allow(unsafe_code)]
    pub fn of(string: rquickjs::String<'_>) -> rquickjs::Result<Self> {
        let string = string.to_cstring()?;
        // SAFETY: the engine keeps these bytes until `string` is dropped.
        let bytes = unsafe { std::slice::from_raw_parts(string.as_ptr().cast::<u8>(), string.len()) };
        Ok(Self(lossy(bytes)))
    }
}

impl<'js> FromJs<'js> for Text {
    fn from_js(_: &Ctx<'js>, value: Value<'js>) -> rquickjs::Result<Self> {
        let kind = value.type_name();
        Self::of(value.into_string().ok_or_else(|| rquickjs::Error::new_from_js(kind, "string"))?)
    }
}

fn lossy(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // The engine writes half a pair as the three bytes that it would have if it were a character, each a chunk of its own.
        if chunk.invalid().first().is_some_and(|first| first & 0xc0 != 0x80) {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}
