// A screen of 40 posters with texts, written by hand on the stream: what the player's guide and its measurements play.
const PROPERTY = {
  flexDirection: 3,
  flexWrap: 4,
  width: 12,
  height: 13,
  rowGap: 19,
  columnGap: 20,
  paddingLeft: 25,
  paddingTop: 26,
  y: 42,
  scale: 43,
  clip: 45,
  background: 47,
  gradient: 48,
  borderRadius: 49,
  borderWidth: 50,
  borderColor: 51,
  image: 52,
  text: 60,
  color: 61,
  fontSize: 62,
  fontWeight: 63,
  maxLines: 67,
};
const float = new Float32Array(1);
const bits = new Int32Array(float.buffer);
const bitsOf = (value) => {
  float[0] = value;
  return bits[0];
};
let words = [];
let strings = [];
const create = (id, parent) => words.push(1, id, 2, parent, id, 0);
const head = (command, name) => command | (PROPERTY[name] << 8);
const number = (id, name, value) => words.push(head(4, name), id, bitsOf(value));
const integer = (id, name, value) => words.push(head(6, name), id, value | 0);
const string = (id, name, value) => words.push(head(7, name), id, strings.push(value) - 1);
const commit = (cause = 0) => {
  sluiceSurface.commit(Int32Array.from(words), words.length, strings, cause);
  words = [];
  strings = [];
};

const COLUMNS = 10;
const COUNT = 40;
create(1, 0);
number(1, 'width', sluiceSurface.width);
number(1, 'height', sluiceSurface.height);
string(1, 'gradient', '180 #14213dff 0, #000000ff 1');
integer(1, 'clip', 1);
create(2, 1);
integer(2, 'flexDirection', 1);
integer(2, 'flexWrap', 1);
number(2, 'rowGap', 20);
number(2, 'columnGap', 20);
number(2, 'paddingLeft', 40);
number(2, 'paddingTop', 40);
number(2, 'width', sluiceSurface.width);
words.push(13 | (PROPERTY.y << 8), 2, bitsOf(300), 0, 4);
// The style of the focused poster, and of what a poster has always: a transition of its scale.
words.push(
  11,
  1,
  6,
  head(4, 'scale'),
  bitsOf(1.1),
  head(4, 'borderWidth'),
  bitsOf(4),
  head(6, 'borderColor'),
  -1,
);
words.push(11, 2, 4, head(13, 'scale'), bitsOf(150), 0, 4);
for (let index = 0; index < COUNT; index += 1) {
  const id = 10 + 3 * index;
  create(id, 2);
  words.push(9, id, 2, 10, id, 1);
  number(id, 'width', 164);
  number(id, 'height', 230);
  create(id + 1, id);
  number(id + 1, 'width', 164);
  number(id + 1, 'height', 180);
  number(id + 1, 'borderRadius', 12);
  if (globalThis.scriptImage) string(id + 1, 'image', globalThis.scriptImage);
  else string(id + 1, 'gradient', `${index * 9} #e63946ff 0, #457b9dff 1`);
  create(id + 2, id);
  string(id + 2, 'text', `Poster ${index + 1} of a long row of films`);
  number(id + 2, 'fontSize', 18);
  integer(id + 2, 'maxLines', 2);
}
let focused = 0;
words.push(12, 10);
commit();

const STEPS = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: COLUMNS, ArrowUp: -COLUMNS };
sluiceSurface.listen((events, length, names) => {
  if (events[0] !== 1 || events[1] === 2) return;
  const step = STEPS[names[events[4]]];
  if (step === undefined) return;
  focused = Math.min(COUNT - 1, Math.max(0, focused + step));
  words.push(12, 10 + 3 * focused);
  number(2, 'y', -250 * Math.max(0, Math.floor(focused / COLUMNS) - 1));
  commit(events[2]);
});
