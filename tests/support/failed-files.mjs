// A reporter of `node --test` that writes the path of each file with a failed test, one a line. It must not know why.
export default async function* failedFiles(source) {
  const seen = new Set();
  for await (const { type, data } of source) {
    if (type !== 'test:fail' || data.todo || data.file === undefined || seen.has(data.file)) continue;
    seen.add(data.file);
    yield `${data.file}\n`;
  }
}
