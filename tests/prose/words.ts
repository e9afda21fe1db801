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
  phrase('outweighs?', 'say "overrides"'),
  phrase('believed?|believes', 'say "trusted"'),
  phrase('mend|mends|mended|mending', 'say "fix"'),
  phrase('endless loops?', 'say "infinite loop"'),
  phrase('what was accepted', 'say "accepted requests"'),
  phrase('lets? through', 'say "accepts", "allows" or "releases"'),
  phrase('counts? for nothing', 'say "is ignored"'),
  phrase('in vain', 'say what did not happen'),
  phrase("of one['’]s own", 'say whose, or "default"'),
];

/** Further words that texts for users must not have: log lines, refusals, output of commands, errors of packages. */
export const PRINTED: readonly Phrase[] = [
  phrase('(?:is|are|was|were) gone', 'say "stopped", "exited" or "missing"'),
  phrase(
    '(?:has|have|had) (?:ended|died) (?:a|its|the|another) \\w+',
    'say "crashed", "killed" or "stopped"',
  ),
  phrase('(?:is|are|was|were) told', 'say "reported", or who gets what'),
  phrase('(?:is|are|be|was|were) looked (?:at|into)', 'say "profiled", "read" or "checked"'),
  phrase('nobody|somebody', 'name the client, the program or the user'),
  phrase('left as asked', 'say "exited as requested"'),
  phrase('(?:has|have) to be done', 'say "no action is needed"'),
  phrase('(?:is|are|was) given up', 'say "abandoned" or "cancelled"'),
  phrase('take the signs? away', 'say "remove the #"'),
  phrase('nothing can be told', 'say what is unknown'),
  phrase('the dearest|dearer', 'say "most expensive", "more expensive"'),
  phrase('serves? on', 'say "keeps serving"'),
  phrase('takes? its place', 'say "replaces it"'),
  phrase('so seldom|seldom', 'say "rarely"'),
  phrase('at present', 'say "now" or "current"'),
];

/** First words that a doc comment must not have, with what to write instead. */
export interface Opening {
  readonly words: readonly string[];
  readonly instead: string;
}

const opening = (words: string, instead: string): Opening => ({ words: words.split(' '), instead });

/** "Whether" may stay: it names the type, a boolean. */
export const OPENINGS: readonly Opening[] = [
  opening('What Whatever Which', 'name the thing: "Cost of a class", "Bytes that wait"'),
  opening('Who Whoever Whom Whose', 'name the client, the worker or the program'),
  opening('How', 'name the figure: "Number of", "Time until", "Way in which"'),
  opening('Where Wherever', 'name the place: "Address of", "Directory of", or say "None where …" last'),
  opening('When Why Since Until Till Once', 'name it: "Time of", "Reason for", "Time since"'),
  opening(
    'For To With Without As By In Into On Onto At From Of Off Up Down Out Under Over Within Among Through About Against During Before After Between Below Above Beyond Behind Beside',
    'begin with the noun that this describes',
  ),
  opening(
    'If Unless While Because Although Though So Then Than Here There Now Also Too',
    'begin with the noun, and put the condition last',
  ),
  opening('And But Or Nor Yet', 'begin with the noun'),
  opening(
    'Is Are Was Were Be Been Being Has Have Had Does Do Did',
    'say what it returns or means: "True if", "Reports whether"',
  ),
  opening('Can Could May Might Must Should Will Would', 'name the thing or the effect'),
  opening('It They Them He She Its Their His Her This That These Those Such', 'name the thing'),
  opening('Somebody Something Nobody', 'name the client, the program or the thing'),
  opening('Told', 'say "Called with", or name the thing'),
  opening('Not Never Always Often Even Just', 'begin with the noun'),
  opening('We You I', 'name the program that acts'),
];
