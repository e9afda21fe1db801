//! Pictures: read and decoded by a thread of their own, and cached in the sizes in which they are drawn.

use std::ops::Range;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};

use rustc_hash::{FxHashMap, FxHashSet};
use tiny_skia::Transform;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::canvas::{Canvas, premultiplied};
use super::shape;
use crate::geometry::{Pixels, Place};
use crate::net::Sources;

/// Most pixels of a picture.
pub const PIXELS_MAX: u64 = 1 << 25;
/// Most pixels a side of a picture: scaling costs a row of it for each row of the screen.
const SIDE_MAX: u32 = 16_384;
/// Most pixels of a scaled picture that is made whole: of larger ones, only what is visible.
pub const WHOLE_MAX: u64 = 1 << 23;

/// A picture of a file: premultiplied RGBA.
#[derive(Debug)]
struct Decoded {
    width: u32,
    height: u32,
    data: Vec<u8>,
}

/// Bytes of addresses that are kept in any case.
const ADDRESS_BYTES: usize = 1 << 20;

/// Whether there is a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not yet.
    Waiting,
    /// It is there.
    There,
    /// It cannot be had.
    Failed,
}

#[derive(Debug)]
struct Entry {
    state: State,
    /// Whether the thread has been asked and has not answered.
    asked: bool,
    decoded: Option<Decoded>,
    /// Bytes that it had when it was there.
    bytes: usize,
    /// Whether it was in use and went since there was no room: it is asked for again when there is.
    crowded: bool,
    used: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    address: Rc<str>,
    size: (u32, u32),
    fit: i32,
    radius: u32,
}

#[derive(Debug)]
struct Scaled {
    picture: Rc<Canvas>,
    used: u64,
}

type Loaded = (String, Result<Decoded, String>);

/// Pictures by their address.
#[derive(Debug)]
pub struct Images {
    entries: FxHashMap<Rc<str>, Entry>,
    scaled: FxHashMap<Key, Scaled>,
    asks: Sender<String>,
    answers: Receiver<Loaded>,
    pending: usize,
    bytes_max: usize,
    decoded_bytes: usize,
    scaled_bytes: usize,
    /// Bytes of addresses: those of `data:` are as long as their pictures.
    address_bytes: usize,
    /// More of them than this are looked through for those that no widget has.
    address_bytes_max: usize,
    frame: u64,
}

impl Images {
    /// None so far; a picture of more than `bytes_max` bytes is refused, and about as many are kept of all.
    pub fn new(sources: Sources, bytes_max: usize) -> Self {
        let (asks, asked) = channel::<String>();
        // One waits, and the thread has another: it decodes no more than are taken.
        let (answer, answers) = sync_channel(1);
        std::thread::spawn(move || {
            for address in asked {
                let decoded = sources.read(&address).and_then(|bytes| decode(&bytes, bytes_max));
                let decoded = decoded.map_err(|error| format!("image {}: {error}", shortened(&address)));
                if answer.send((address, decoded)).is_err() {
                    break;
                }
            }
        });
        Self {
            entries: FxHashMap::default(),
            scaled: FxHashMap::default(),
            asks,
            answers,
            pending: 0,
            bytes_max,
            decoded_bytes: 0,
            scaled_bytes: 0,
            address_bytes: 0,
            address_bytes_max: ADDRESS_BYTES,
            frame: 0,
        }
    }

    fn ask(&mut self, address: &Rc<str>) {
        let (frame, bytes) = (self.frame, &mut self.address_bytes);
        let entry = self.entries.entry(address.clone()).or_insert_with(|| {
            *bytes += cost(address);
            Entry { state: State::Waiting, asked: false, decoded: None, bytes: 0, crowded: false, used: frame }
        });
        if !entry.asked && entry.state != State::Failed && self.asks.send((**address).to_owned()).is_ok() {
            entry.asked = true;
            self.pending += 1;
        }
    }

    /// Whether there is a picture; it is asked for if nobody did.
    pub fn state(&mut self, address: &Rc<str>) -> State {
        if !self.entries.contains_key(address) {
            self.ask(address);
        }
        self.entries.get(address).map_or(State::Waiting, |entry| entry.state)
    }

    /// Pictures that have been asked for and are not there.
    pub fn pending(&self) -> usize {
        self.pending
    }

    /// Takes what the thread has; with `wait`, all that it has been asked for. What has no room waits for another frame, which scales
    /// and forgets those that are there. Returns addresses and errors.
    pub fn poll(&mut self, wait: bool) -> Vec<(Rc<str>, Option<String>)> {
        let mut arrived = Vec::new();
        while self.pending > 0 && (arrived.is_empty() || self.decoded_bytes < self.bytes_max) {
            let loaded = if wait { self.answers.recv().ok() } else { self.answers.try_recv().ok() };
            let Some((address, decoded)) = loaded else { break };
            self.pending -= 1;
            let address: Rc<str> = address.into();
            let frame = self.frame;
            let Some(entry) = self.entries.get_mut(&address) else { continue };
            entry.asked = false;
            entry.used = frame;
            let error = match decoded {
                Ok(decoded) => {
                    entry.state = State::There;
                    entry.bytes = decoded.data.len();
                    self.decoded_bytes += entry.bytes;
                    let before = entry.decoded.replace(decoded);
                    self.decoded_bytes -= before.map_or(0, |before| before.data.len());
                    None
                }
                Err(error) => {
                    entry.state = State::Failed;
                    Some(error)
                }
            };
            arrived.push((address, error));
        }
        arrived
    }

    /// The picture as a widget of this size shows it; `None` if it is not there, or if it is too large to be made whole. `fit`: 0 cover,
    /// 1 contain, 2 fill.
    pub fn scaled(&mut self, address: &Rc<str>, size: (u32, u32), fit: i32, radius: f32) -> Option<Rc<Canvas>> {
        let count = u64::from(size.0) * u64::from(size.1);
        if count > WHOLE_MAX || count == 0 {
            return None;
        }
        let key = Key { address: address.clone(), size, fit, radius: radius.to_bits() };
        if let Some(scaled) = self.scaled.get_mut(&key) {
            scaled.used = self.frame;
            return Some(scaled.picture.clone());
        }
        let whole = Pixels::new(0, 0, size.0 as i32, size.1 as i32);
        let picture = Rc::new(self.part(address, size, fit, radius, whole)?);
        let bytes = picture.data().len();
        if self.scaled_bytes + bytes <= self.bytes_max {
            self.scaled_bytes += bytes;
            self.scaled.insert(key, Scaled { picture: picture.clone(), used: self.frame });
        }
        Some(picture)
    }

    /// A part of the same, which is not kept.
    pub fn part(&mut self, address: &Rc<str>, size: (u32, u32), fit: i32, radius: f32, part: Pixels) -> Option<Canvas> {
        let entry = self.entries.get_mut(address)?;
        entry.used = self.frame;
        let Some(decoded) = &entry.decoded else {
            let (crowded, bytes) = (entry.crowded, entry.bytes);
            if !crowded || self.bytes_in_use() + bytes <= self.bytes_max {
                self.ask(address);
            }
            return None;
        };
        Some(fitted(decoded, size, fit, radius, part))
    }

    /// Bytes of pictures and of their addresses.
    pub fn bytes(&self) -> usize {
        self.decoded_bytes + self.scaled_bytes + self.address_bytes
    }

    /// Whether so many addresses have come that some may be forgotten.
    pub fn is_crowded(&self) -> bool {
        self.address_bytes > self.address_bytes_max
    }

    /// Forgets pictures of other addresses than these.
    pub fn keep(&mut self, addresses: &FxHashSet<&str>) {
        let is_kept = |address: &str| addresses.contains(address);
        self.entries.retain(|address, entry| entry.asked || is_kept(address));
        self.scaled.retain(|key, _| is_kept(&key.address));
        let decoded = self.entries.values().filter_map(|entry| entry.decoded.as_ref());
        self.decoded_bytes = decoded.map(|decoded| decoded.data.len()).sum();
        self.scaled_bytes = self.scaled.values().map(|scaled| scaled.picture.data().len()).sum();
        self.address_bytes = self.entries.keys().map(|address| cost(address)).sum();
        self.address_bytes_max = (2 * self.address_bytes).max(ADDRESS_BYTES);
    }

    /// Frame from which on pictures count as in use. A few frames: a picture that is covered for a moment is not read again.
    fn old(&self) -> u64 {
        self.frame.saturating_sub(60)
    }

    fn bytes_in_use(&self) -> usize {
        let old = self.old();
        let decoded = self.entries.values().filter(|entry| entry.used >= old);
        let decoded = decoded.filter_map(|entry| entry.decoded.as_ref()).map(|decoded| decoded.data.len());
        let scaled = self.scaled.values().filter(|scaled| scaled.used >= old).map(|scaled| scaled.picture.data().len());
        decoded.sum::<usize>() + scaled.sum::<usize>()
    }

    /// Ends a frame: while there is more than the bound, forgets scaled pictures out of use, then whole ones, which have been scaled, then
    /// whole ones that are drawn as they are; of each kind those that have not been used for longest. What goes although it is in use is
    /// asked for again only when it has room: pictures that push each other out by turns would never come to rest. Returns what to tell.
    pub fn trim(&mut self) -> Vec<String> {
        self.frame += 1;
        let mut problems = Vec::new();
        if self.decoded_bytes + self.scaled_bytes <= self.bytes_max {
            return problems;
        }
        let old = self.old();
        let out_of_use = self.scaled.iter().filter(|(_, scaled)| scaled.used < old);
        let mut scaled: Vec<(u64, Key)> = out_of_use.map(|(key, scaled)| (scaled.used, key.clone())).collect();
        scaled.sort_by_key(|(used, _)| *used);
        for (_, key) in scaled {
            if self.decoded_bytes + self.scaled_bytes <= self.bytes_max {
                return problems;
            }
            self.scaled_bytes -= self.scaled.remove(&key).map_or(0, |scaled| scaled.picture.data().len());
        }
        let has_scaled: FxHashSet<&str> = self.scaled.keys().map(|key| &*key.address).collect();
        let mut whole: Vec<(bool, &Rc<str>, &mut Entry)> = self
            .entries
            .iter_mut()
            .filter(|(_, entry)| entry.decoded.is_some())
            .map(|(address, entry)| (entry.used >= old && !has_scaled.contains(&**address), address, entry))
            .collect();
        whole.sort_by_key(|(is_needed, _, entry)| (*is_needed, entry.used));
        for (is_needed, address, entry) in whole {
            if self.decoded_bytes + self.scaled_bytes <= self.bytes_max {
                break;
            }
            if is_needed && !std::mem::replace(&mut entry.crowded, true) {
                let address = shortened(address);
                problems.push(format!(
                    "image {address}: beside those in use it has no room; --image-memory MB sets the bound"
                ));
            }
            self.decoded_bytes -= entry.decoded.take().map_or(0, |decoded| decoded.data.len());
        }
        problems
    }
}

/// What an address costs, about.
fn cost(address: &str) -> usize {
    address.len() + 128
}

/// An address for people.
fn shortened(address: &str) -> String {
    match address.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &address[..end]),
        None => address.to_owned(),
    }
}

fn decode(bytes: &[u8], bytes_max: usize) -> Result<Decoded, String> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => decode_png(bytes, bytes_max),
        [0xff, 0xd8, ..] => decode_jpeg(bytes, bytes_max),
        _ => Err("it is neither PNG nor JPEG".to_owned()),
    }
}

/// Judges a picture before it is decoded.
fn bounded(width: u32, height: u32, bytes_max: usize) -> Result<(), String> {
    let count = u64::from(width) * u64::from(height);
    if count > PIXELS_MAX || width.max(height) > SIDE_MAX || count == 0 {
        return Err(format!("{width} × {height} pixels are too many"));
    }
    if count * 4 > bytes_max as u64 {
        return Err(format!("{width} × {height} pixels are more than --image-memory allows"));
    }
    Ok(())
}

fn decode_png(bytes: &[u8], bytes_max: usize) -> Result<Decoded, String> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let (width, height) = (reader.info().width, reader.info().height);
    bounded(width, height, bytes_max)?;
    let mut data = vec![0; reader.output_buffer_size().ok_or("it is too large")?];
    let info = reader.next_frame(&mut data).map_err(|error| error.to_string())?;
    data.truncate(info.buffer_size());
    let data = match info.color_type {
        png::ColorType::Rgba => {
            for pixel in data.as_chunks_mut().0 {
                *pixel = premultiplied(u32::from_be_bytes(*pixel));
            }
            data
        }
        png::ColorType::GrayscaleAlpha => {
            let pixels: &[[u8; 2]] = data.as_chunks().0;
            let pixel = |&[gray, alpha]: &[u8; 2]| premultiplied(u32::from_be_bytes([gray, gray, gray, alpha]));
            pixels.iter().flat_map(pixel).collect()
        }
        other => return Err(format!("{other:?} is not supported")),
    };
    Ok(Decoded { width, height, data })
}

fn decode_jpeg(bytes: &[u8], bytes_max: usize) -> Result<Decoded, String> {
    let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGBA);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|error| error.to_string())?;
    let (width, height) = decoder.dimensions().ok_or("it has no size")?;
    let (width, height) = (width as u32, height as u32);
    bounded(width, height, bytes_max)?;
    let data = decoder.decode().map_err(|error| error.to_string())?;
    if data.len() as u64 != u64::from(width) * u64::from(height) * 4 {
        return Err("it has a colour space that is not supported".to_owned());
    }
    Ok(Decoded { width, height, data })
}

/// A part of a picture as a widget of this size shows it.
fn fitted(decoded: &Decoded, size: (u32, u32), fit: i32, radius: f32, part: Pixels) -> Canvas {
    let (width, height) = (decoded.width as f32, decoded.height as f32);
    let (wide, high) = (size.0 as f32, size.1 as f32);
    let mut crop = Place { x: 0.0, y: 0.0, width, height };
    let bounds = Pixels::new(0, 0, size.0 as i32, size.1 as i32);
    let mut target = bounds;
    if fit == 0 {
        let scale = (wide / width).max(high / height);
        crop.width = (wide / scale).min(width);
        crop.height = (high / scale).min(height);
        crop.x = (width - crop.width) / 2.0;
        crop.y = (height - crop.height) / 2.0;
    } else if fit == 1 {
        let scale = (wide / width).min(high / height);
        let (inner, tall) = ((width * scale).round().max(1.0) as i32, (height * scale).round().max(1.0) as i32);
        target.left = (bounds.right - inner) / 2;
        target.top = (bounds.bottom - tall) / 2;
        target.right = target.left + inner;
        target.bottom = target.top + tall;
    }
    let mut canvas = Canvas::new(part);
    let visible = target.intersect(part);
    if !visible.is_empty() {
        canvas.blend(&resampled(decoded, crop, target, visible), visible, part, 255);
    }
    if radius > 0.0
        && let Some(path) = shape::rounded(Place { x: 0.0, y: 0.0, width: wide, height: high }, radius)
    {
        canvas.mask(&path, Transform::identity(), bounds);
    }
    canvas
}

/// For each pixel of `range` of `count`, the first pixel of the source that it is made of, and the weights of that one and the next ones.
fn weights(start: f32, length: f32, source: u32, count: u32, range: Range<i32>) -> Vec<(usize, Vec<f32>)> {
    let ratio = length / count as f32;
    let reach = ratio.max(1.0);
    let last = source as i32 - 1;
    range
        .map(|index| {
            let middle = start + (index as f32 + 0.5) * ratio;
            let first = ((middle - reach).floor() as i32).clamp(0, last);
            let end = ((middle + reach).ceil() as i32).clamp(first, last);
            let weight = |pixel: i32| (1.0 - (pixel as f32 + 0.5 - middle).abs() / reach).max(0.0);
            let mut weights: Vec<f32> = (first..=end).map(weight).collect();
            let sum: f32 = weights.iter().sum();
            if sum > 0.0 {
                for weight in &mut weights {
                    *weight /= sum;
                }
            } else {
                weights[0] = 1.0;
            }
            (first as usize, weights)
        })
        .collect()
}

/// What is visible of a part of a picture that fills `target`, by a triangle filter.
fn resampled(decoded: &Decoded, crop: Place, target: Pixels, visible: Pixels) -> Vec<u8> {
    let columns = visible.left - target.left..visible.right - target.left;
    let columns = weights(crop.x, crop.width, decoded.width, target.width(), columns);
    let rows = visible.top - target.top..visible.bottom - target.top;
    let rows = weights(crop.y, crop.height, decoded.height, target.height(), rows);
    // Columns of the source that count.
    let left = columns.first().map_or(0, |(first, _)| *first);
    let right = columns.last().map_or(0, |(first, weights)| first + weights.len());
    let stride = decoded.width as usize;
    let pixels: &[[u8; 4]] = decoded.data.as_chunks().0;
    let mut across: Vec<[f32; 4]> = vec![[0.0; 4]; right - left];
    let mut result = Vec::with_capacity(visible.count() as usize * 4);
    for (first, weights) in &rows {
        // Down first, one row of the source's width at a time: it needs no picture between.
        across.fill([0.0; 4]);
        for (offset, weight) in weights.iter().enumerate() {
            let row = &pixels[(first + offset) * stride..][left..right];
            for (sum, pixel) in across.iter_mut().zip(row) {
                for (sum, channel) in sum.iter_mut().zip(pixel) {
                    *sum += weight * f32::from(*channel);
                }
            }
        }
        for (first, weights) in &columns {
            let mut sum = [0.5_f32; 4];
            for (weight, pixel) in weights.iter().zip(&across[first - left..]) {
                for (sum, channel) in sum.iter_mut().zip(pixel) {
                    *sum += weight * channel;
                }
            }
            result.extend(sum.map(|channel| channel.clamp(0.0, 255.0) as u8));
        }
    }
    result
}
