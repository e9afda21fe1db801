// Errors of the gateway are types: who gets one can tell what happened without reading a sentence.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { files, read } from './repository.ts';

const UNTYPED = /^(?:std::string::)?String$|\bdyn\s+(?:std::error::)?Error\b/;

/** The last of the types in each `Result<…>` of a source, where it is a sentence or any error at all. */
function untyped(source: string): string[] {
  const found: string[] = [];
  for (const { index } of source.matchAll(/\bResult</g)) {
    const start = index + 'Result<'.length;
    let [at, depth, last] = [start, 1, start];
    for (; depth > 0 && at < source.length; at += 1) {
      const sign = source[at];
      if (sign === '<' || sign === '(' || sign === '[') depth += 1;
      else if ((sign === '>' && source[at - 1] !== '-') || sign === ')' || sign === ']') depth -= 1;
      else if (sign === ',' && depth === 1 && !/^,\s*>/.test(source.slice(at))) last = at + 1;
    }
    const error = source
      .slice(last, at - 1)
      .replace(/,\s*$/, '')
      .trim();
    if (last > start && UNTYPED.test(error)) found.push(source.slice(index, at).replace(/\s+/g, ' '));
  }
  return [...found, ...(source.match(/\btype (?:Err|Error) = (?:String|Box<dyn [^;]*);/g) ?? [])];
}

const sources = files().filter((file) => /^gateway\/[^/]+\/src\/(?!main\.rs$).*\.rs$/.test(file));

void test('an error that is a sentence is seen, wherever it stands', () => {
  for (const type of [
    'Result<u32, String>',
    'Result<Vec<(u8, String)>, String>',
    'Result<(), Box<dyn Error>>',
    'Result<(), Arc<dyn std::error::Error + Send + Sync>>',
    'oneshot::Receiver<Result<Option<Page>, String>>',
    'Result<\n    impl Fn(u8) -> u8,\n    String,\n>',
  ]) {
    assert.equal(untyped(`fn f() -> ${type} {`).length, 1, type);
  }
  assert.equal(untyped('impl FromStr for Budget {\n    type Err = String;').length, 1);
  for (const type of [
    'Result<String, ScaleError>',
    'io::Result<String>',
    'Result<(), (StatusCode, String)>',
    'Result<Vec<String>, Failure>',
    'Result<HashMap<u8, String>>',
  ]) {
    assert.deepEqual(untyped(`fn f() -> ${type} {`), [], type);
  }
});

void test('the sources of the gateway are found', () => {
  assert.ok(sources.length > 200, String(sources.length));
  assert.ok(sources.includes('gateway/cli/src/start/upgrade.rs'));
});

void test('no function of the gateway fails with a sentence instead of a type', () => {
  const found = sources.flatMap((file) => untyped(read(file)).map((type) => `${file}: ${type}`));
  assert.deepEqual(found, []);
});
