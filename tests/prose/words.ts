// Words that a reader of this field does not expect, with those that they do. The glossary (docs/glossary.md) has the words of our own.

export interface Phrase {
  readonly pattern: RegExp;
  readonly instead: string;
}

const phrase = (words: string, instead: string): Phrase => ({
  pattern: new RegExp(`(?<![\\w-])(?:${words})(?![\\w-])`, 'gi'),
  instead,
});

export const PHRASES: readonly Phrase[] = [
  // Words that tell the reader how to feel.
  phrase('simply|obviously|of course|basically|easily|easy|needless to say', 'leave it out'),
  phrase('just', 'leave it out, or say "only"'),
  // Private words for what the field has a word for.
  phrase('go on|goes on|went on|going on', 'say "resume" or "continue"'),
  phrase('second try|second tries', 'say "retry"'),
  phrase('let go of|lets go of|let be|lets be', 'say "release" or "ignore"'),
  phrase('(?:is|are|be) left to', 'say "falls back to"'),
  phrase('told apart|tells? .{1,20} apart', 'say "distinguish"'),
  phrase('for any time', 'say "disables"'),
  phrase('at any time', 'say "always"'),
  phrase('all the same|as ever|of a kind', 'leave it out'),
  phrase('how often is looked|is looked at|are looked at', 'say who checks what'),
  phrase('out of use', 'say "disabled"'),
  phrase('whoever', 'name the person or the program'),
  phrase('stands? still', 'say "is blocked"'),
  phrase('turned away', 'say "refused"'),
  phrase('of no use', 'say "useless" or what happens to it'),
  phrase('so far as|as far as', 'say what the limit is'),
  phrase('the latter|the former', 'repeat the noun'),
  phrase('utilize|utilise|leverage', 'say "use"'),
];
