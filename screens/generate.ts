// Writes what is generated from stream.json: the codes for the packages, for the player, and the tables of the reference page.
//
//   npx tsx screens/generate.ts [--check]
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

interface Command {
  readonly code: number;
  readonly property?: boolean;
  readonly words: readonly string[];
  readonly text: string;
}

interface Property {
  readonly code: number;
  readonly type: 'length' | 'number' | 'integer' | 'color' | 'choice' | 'flag' | 'text';
  readonly group: 'layout' | 'paint' | 'behaviour';
  readonly values?: readonly string[];
  readonly default?: number | string | boolean;
  readonly animates?: boolean;
  readonly text: string;
}

interface Stream {
  readonly version: number;
  readonly commands: Readonly<Record<string, Command>>;
  readonly events: Readonly<Record<string, Command>>;
  readonly easings: readonly string[];
  readonly properties: Readonly<Record<string, Property>>;
}

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const stream = JSON.parse(fs.readFileSync(path.join(root, 'screens/stream.json'), 'utf8')) as Stream;
const GENERATED = 'Generated from screens/stream.json by screens/generate.ts.';

const constant = (name: string): string =>
  name.replaceAll(/[A-Z]/g, '_$&').replaceAll('-', '_').toUpperCase();
const pascal = (name: string): string =>
  name.replaceAll(/(^|-)([a-z])/g, (_, _dash: string, letter: string) => letter.toUpperCase());

const TYPES: Readonly<Record<Exclude<Property['type'], 'choice'>, string>> = {
  length: 'number | `${number}%`',
  number: 'number',
  integer: 'number',
  color: 'string',
  flag: 'boolean',
  text: 'string',
};

function typescript(): string {
  const codes = (commands: Readonly<Record<string, Command>>): string =>
    Object.entries(commands)
      .map(([name, { code, text }]) => `  /** ${text} */\n  ${constant(name)}: ${code},\n`)
      .join('');
  const properties = Object.entries(stream.properties);
  const type = ({ type: of, values }: Property): string =>
    of === 'choice' ? (values ?? []).map((value) => `'${value}'`).join(' | ') : TYPES[of];
  return `/** ${GENERATED} */

/** Version of the stream. */
export const VERSION = ${stream.version};

/** Commands: the low byte of a command's first word. */
export const COMMAND = {
${codes(stream.commands)}} as const;

/** Events: the low byte of an event's first word. */
export const EVENT = {
${codes(stream.events)}} as const;

export const EASINGS = [${stream.easings.map((easing) => `'${easing}'`).join(', ')}] as const;

export type PropertyType = 'length' | 'number' | 'integer' | 'color' | 'choice' | 'flag' | 'text';

export interface PropertyFacts {
  readonly code: number;
  readonly type: PropertyType;
  /** Values of a choice, in the order of their numbers. */
  readonly values?: readonly string[];
  readonly default: number | string | boolean;
  readonly group: 'layout' | 'paint' | 'behaviour';
  /** Whether it can change by steps. */
  readonly animates: boolean;
}

/** Properties by name. */
export const PROPERTIES = {
${properties
  .map(([name, { code, type: of, values, group, animates, default: byDefault }]) => {
    const facts = {
      code,
      type: of,
      ...(values && { values }),
      default: byDefault ?? values?.[0] ?? 0,
      group,
      animates: animates ?? false,
    };
    return `  ${name}: ${JSON.stringify(facts)},\n`;
  })
  .join('')}} as const satisfies Readonly<Record<string, PropertyFacts>>;

export type PropertyName = keyof typeof PROPERTIES;

/** Values of properties, as apps write them. */
export interface PropertyValues {
${properties.map(([name, property]) => `  /** ${property.text} */\n  readonly ${name}?: ${type(property)};\n`).join('')}}
`;
}

/** What the compiler knows of properties at build time. */
function compiler(): string {
  const lines = Object.entries(stream.properties)
    .filter(([name]) => name !== 'reports')
    .map(([name, { code, type }]) => `  ${name}: [${code}, ${type === 'number' || type === 'length'}],\n`);
  return `/** ${GENERATED} */

/** Properties of a widget: code, and whether a number is sent as it is. */
export const PROPERTIES: Readonly<Record<string, readonly [code: number, isNumber: boolean]>> = {
${lines.join('')}};
`;
}

function rust(): string {
  const enumeration = (
    name: string,
    text: string,
    codes: readonly (readonly [string, number, string])[],
  ): string =>
    `/// ${text}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ${name} {
${codes.map(([variant, code, doc]) => `    /// ${doc}\n    ${variant} = ${code},\n`).join('')}}

impl ${name} {
    /// The one with this code.
    pub const fn of(code: u8) -> Option<Self> {
        Some(match code {
${codes.map(([variant, code]) => `            ${code} => Self::${variant},\n`).join('')}            _ => return None,
        })
    }
}
`;
  const codes = (commands: Readonly<Record<string, Command>>): [string, number, string][] =>
    Object.entries(commands).map(([name, { code, text }]) => [pascal(name), code, text]);
  const properties = Object.entries(stream.properties);
  const choices = properties.filter(([, { type }]) => type === 'choice');
  const literal = ({ type, values, default: byDefault }: Property): string => {
    if (type === 'choice') return `Default::Integer(${values?.indexOf(String(byDefault ?? values[0])) ?? 0})`;
    if (byDefault === 'auto') return 'Default::Auto';
    if (type === 'text') return `Default::Text(${JSON.stringify(byDefault)})`;
    if (type === 'flag') return `Default::Integer(${byDefault === true ? 1 : 0})`;
    if (type === 'integer') return `Default::Integer(${Number(byDefault)})`;
    if (type === 'color') return `Default::Integer(0x${String(byDefault).slice(1)}_u32.cast_signed())`;
    return `Default::Number(${Number(byDefault).toFixed(Number.isInteger(byDefault) ? 1 : 2)})`;
  };
  const arms = (of: (property: Property) => string): string =>
    properties.map(([name, property]) => `            Self::${pascal(name)} => ${of(property)},\n`).join('');
  const matching = (is: (property: Property) => boolean): string =>
    properties
      .filter(([, property]) => is(property))
      .map(([name]) => `Self::${pascal(name)}`)
      .join(' | ');
  return `//! ${GENERATED}
#![cfg_attr(rustfmt, rustfmt_skip)]

/// Version of the stream.
pub const VERSION: u32 = ${stream.version};

/// Easings, in the order of their numbers.
pub const EASINGS: [&str; ${stream.easings.length}] = [${stream.easings.map((easing) => `"${easing}"`).join(', ')}];

${enumeration('Command', "Commands: the low byte of a command's first word.", codes(stream.commands))}
${enumeration('Event', "Events: the low byte of an event's first word.", codes(stream.events))}
${enumeration(
  'Property',
  'Properties of widgets.',
  properties.map(([name, { code, text }]) => [pascal(name), code, text]),
)}
/// Value of a property that no style sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// Pixels or a plain number.
    Number(f32),
    /// Choice, flag, colour or whole number.
    Integer(i32),
    /// Text.
    Text(&'static str),
    /// By layout.
    Auto,
}

impl Property {
    /// Name in styles.
    pub const fn name(self) -> &'static str {
        match self {
${properties.map(([name]) => `            Self::${pascal(name)} => "${name}",\n`).join('')}        }
    }

    /// Value where no style sets one.
    pub const fn default(self) -> Default {
        match self {
${arms(literal)}        }
    }

    /// Values of a choice, in the order of their numbers.
    pub const fn values(self) -> &'static [&'static str] {
        match self {
${choices
  .map(
    ([name, { values }]) =>
      `            Self::${pascal(name)} => &[${(values ?? []).map((value) => `"${value}"`).join(', ')}],\n`,
  )
  .join('')}            _ => &[],
        }
    }

    /// Whether a change needs layout.
    pub const fn is_layout(self) -> bool {
        matches!(self, ${matching(({ group }) => group === 'layout')})
    }

    /// Whether it can change by steps.
    pub const fn animates(self) -> bool {
        matches!(self, ${matching(({ animates }) => animates === true)})
    }

    /// Whether its values are colours.
    pub const fn is_color(self) -> bool {
        matches!(self, ${matching(({ type }) => type === 'color')})
    }
}
`;
}

function tables(): string {
  const commands = (of: Readonly<Record<string, Command>>): string =>
    Object.entries(of)
      .map(([name, { code, property, words, text }]) => {
        const fields = words.map(
          (word) => `\`${word.replace(':float', '')}\`${word.endsWith(':float') ? ' (float)' : ''}`,
        );
        return `| ${code} | \`${name}\`${property === true ? ' (property)' : ''} | ${fields.join(', ')} | ${text} |\n`;
      })
      .join('');
  const properties = Object.entries(stream.properties)
    .map(([name, { code, type, values, default: byDefault, animates, text }]) => {
      const kind = type === 'choice' ? (values ?? []).map((value) => `\`${value}\``).join(', ') : type;
      const initial = byDefault === undefined || byDefault === '' ? '' : `\`${String(byDefault)}\``;
      return `| ${code} | \`${name}\` | ${kind} | ${type === 'choice' ? '' : initial} | ${animates === true ? 'yes' : ''} | ${text} |\n`;
    })
    .join('');
  return `### Commands

| code | command | words after the first | meaning |
| ---: | --- | --- | --- |
${commands(stream.commands)}
### Events

| code | event | words after the first | meaning |
| ---: | --- | --- | --- |
${commands(stream.events)}
### Properties

The first value of a list is the default. Easings, from 0: ${stream.easings.map((easing) => `\`${easing}\``).join(', ')}.

| code | property | values | default | animates | meaning |
| ---: | --- | --- | --- | --- | --- |
${properties}`;
}

const PAGE = 'docs/reference/screens-stream.md';
const BEGIN = '<!-- generated: screens/generate.ts -->\n';
const page = fs.readFileSync(path.join(root, PAGE), 'utf8');
const files: Readonly<Record<string, string>> = {
  'packages/screens/src/stream/codes.ts': typescript(),
  'packages/compiler/src/screens/properties.ts': compiler(),
  'screens/player/src/stream/codes.rs': rust(),
  [PAGE]: page.slice(0, page.indexOf(BEGIN) + BEGIN.length) + '\n' + tables(),
};
const isCheck = process.argv.includes('--check');
for (const [file, text] of Object.entries(files)) {
  const to = path.join(root, file);
  const present = fs.existsSync(to) ? fs.readFileSync(to, 'utf8') : '';
  if (present === text) continue;
  if (isCheck) {
    console.error(`${file} is not what screens/stream.json says: run \`npx tsx screens/generate.ts\``);
    process.exitCode = 1;
  } else {
    fs.mkdirSync(path.dirname(to), { recursive: true });
    fs.writeFileSync(to, text);
  }
}
