// Fields and methods of the structs of a crate of the gateway: those of every `impl`, in whichever file it is, and of every trait.
import fs from 'node:fs';
import path from 'node:path';
import { codeOf, filesOf } from './cycles.ts';
import { root } from './repository.ts';

/** A struct, by its crate and name. */
export interface Struct {
  readonly name: string;
  readonly fields: number;
  readonly methods: number;
}

/** Structs of a crate. Those of one name in a crate count as one for `impl` blocks in files that define neither. */
export function structsOf(crate: string): Struct[] {
  const src = path.join(root, 'gateway', crate, 'src');
  const texts = filesOf(crate).map((file) => ({
    file,
    text: codeOf(fs.readFileSync(path.join(src, file), 'utf8')),
  }));
  const found = texts.flatMap(({ file, text }) =>
    [...text.matchAll(/^(?:pub(?:\([a-z ]+\))? )?struct (\w+)(?:[^;{(]*\{([^}]*)^\}|[^;{]*;)/gm)].map(
      ([, name = '', body = '']) => ({
        name,
        file,
        fields: body.match(/^ {4}(?:pub(?:\([a-z ]+\))? )?\w+:/gm)?.length ?? 0,
      }),
    ),
  );
  const blocks = texts.flatMap(({ file, text }) =>
    [...text.matchAll(/^impl(?:<[^{]*?>)? (?:[^{]* for )?(?:\w+::)*(\w+)[^{]*\{\n([^]*?)^\}/gm)].map(
      ([, name = '', body = '']) => ({
        name,
        file,
        methods: body.match(/^ {4}(?:pub(?:\([a-z ]+\))? )?(?:(?:async|const|unsafe) )*fn /gm)?.length ?? 0,
      }),
    ),
  );
  return found.map(({ name, file, fields }) => {
    const isOwn = (block: { name: string; file: string }): boolean =>
      block.name === name &&
      (block.file === file || !found.some((other) => other.name === name && other.file === block.file));
    return { name, fields, methods: blocks.filter(isOwn).reduce((sum, { methods }) => sum + methods, 0) };
  });
}
