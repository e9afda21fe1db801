/** Types of the keys that a route's text has. */

/** Keys that a handler is called for, by step and by name. */
export type Match<Text extends string> = string extends Text
  ? ReadonlyArray<unknown> & { readonly [name: string]: unknown }
  : Steps<Text> & Names<Text>;

interface Range {
  readonly from: number;
  readonly to: number;
}
type KindKeys<Kind extends string> = Kind extends 'integers'
  ? readonly number[]
  : Kind extends 'ranges'
    ? readonly Range[]
    : readonly (string | number)[];

type Trim<Text extends string> = Text extends ` ${infer Rest}`
  ? Trim<Rest>
  : Text extends `${infer Rest} `
    ? Trim<Rest>
    : Text;

/** Named steps. */
type Names<Text extends string> = Text extends `${string}{${infer Token}}${infer Rest}`
  ? Token extends `${infer Kind}:${infer Name}`
    ? { readonly [N in Trim<Name>]: KindKeys<Trim<Kind>> } & Names<Rest>
    : Names<Rest>
  : unknown;

/** Steps in their order. Texts with quoted brackets or dots get a list of unknown steps. */
export type Steps<Text extends string, Done extends readonly unknown[] = readonly []> = Text extends ''
  ? Done
  : Text extends `[${infer Inner}]${infer Rest}`
    ? Steps<Rest, readonly [...Done, Bracket<Trim<Inner>>]>
    : Text extends `.${infer Rest}`
      ? Steps<Rest, Done>
      : Text extends `${infer Name}.${infer Rest}`
        ? Name extends `${infer Before}[${infer Inner}`
          ? Steps<`[${Inner}.${Rest}`, readonly [...Done, Before]>
          : Steps<Rest, readonly [...Done, Name]>
        : Text extends `${infer Name}[${infer Rest}`
          ? Steps<`[${Rest}`, readonly [...Done, Name]>
          : readonly [...Done, Text];

type Bracket<Inner extends string> = Inner extends `{${infer Token}}`
  ? KindKeys<Trim<Token extends `${infer Kind}:${string}` ? Kind : Token>>
  : Inner extends `${string},${string}`
    ? readonly Listed<Inner>[]
    : Inner extends `${string}..${string}`
      ? readonly number[]
      : Listed<Inner>;

type Listed<Inner extends string> = Inner extends `${infer First},${infer Rest}`
  ? Literal<Trim<First>> | Listed<Rest>
  : Literal<Trim<Inner>>;

type Literal<Text extends string> = Text extends `"${infer Key}"` | `'${infer Key}'`
  ? Key
  : Text extends `${infer Key extends number}`
    ? Key
    : string | number;
