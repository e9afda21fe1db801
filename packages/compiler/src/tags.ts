/**
 * Host elements that react-dom writes by its general rule: start tag, attributes in the order of the props, children,
 * end tag, and nothing elsewhere. Only those become parts of templates; a test checks each with react-dom.
 */

/** Written as `<tag/>`; children are an error. */
const VOID_TAGS = new Set(['area', 'br', 'col', 'hr', 'img', 'param', 'source', 'track', 'wbr']);

const HTML_TAGS = `a abbr address article aside audio b bdi bdo blockquote button canvas caption cite code colgroup
  data dd del details dfn dialog div dl dt em fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup i
  iframe ins kbd label legend li listing main map mark menu meter nav noscript ol output p picture pre progress q rp rt
  ruby s samp search section small span strong sub summary sup table tbody td tfoot th thead time tr u ul var video`;

// Without title, style, script: they are hoisted or escaped by rules of their own.
const SVG_TAGS = `animate animateMotion animateTransform circle clipPath defs desc ellipse feBlend feColorMatrix
  feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow
  feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight
  feSpecularLighting feSpotLight feTile feTurbulence filter foreignObject g image line linearGradient marker mask
  metadata mpath path pattern polygon polyline radialGradient rect set stop svg switch symbol text textPath tspan use
  view`;

const MATH_TAGS = `math mfrac mi mn mo mover mpadded mphantom mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable
  mtd mtext mtr munder munderover semantics`;

const CONTAINER_TAGS = new Set(`${HTML_TAGS} ${SVG_TAGS} ${MATH_TAGS}`.split(/\s+/));

/** Attributes that change how the element is written, on any tag. Most of them also have no place in a template. */
const SPECIAL_ATTRIBUTES = new Set([
  'children',
  'ref',
  'dangerouslySetInnerHTML',
  // A custom element in React 18.
  'is',
  // Left to the build step that knows them: Emotion and styled-components, Babel's JSX transform, objects.
  'css',
  '__self',
  '__source',
  '__proto__',
]);

/** React 19 writes these last, or turns functions among them into a replay script. */
const ACTION_ATTRIBUTES: Readonly<Record<string, ReadonlySet<string>>> = {
  form: new Set(['action', 'encType', 'method', 'target']),
  button: new Set(['name', 'formAction', 'formEncType', 'formMethod', 'formTarget']),
};

export const isVoidTag = (tag: string): boolean => VOID_TAGS.has(tag);

export const isGeneralTag = (tag: string): boolean => CONTAINER_TAGS.has(tag) || VOID_TAGS.has(tag);

export const generalTags = (): string[] => [...CONTAINER_TAGS, ...VOID_TAGS];

export const isGeneralAttribute = (tag: string, name: string): boolean =>
  !SPECIAL_ATTRIBUTES.has(name) && ACTION_ATTRIBUTES[tag]?.has(name) !== true;

/** Whether React never writes the attribute's value. */
export const isEventHandler = (name: string): boolean => name.length > 2 && /^on/i.test(name);

/** `pre` gets a second line feed in front of a text that begins with one. */
export const isPreformatted = (tag: string): boolean => tag === 'pre' || tag === 'listing';
