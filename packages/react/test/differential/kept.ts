/** What the component cache may keep. Stock react-dom renders the same elements, and takes no notice of the keys. */

import type { ReactNode } from 'react';
import type { Kept, KeptAs, Node } from './description.ts';
import { useHooks } from './hooks.ts';
import { once, type World } from './world.ts';

type Build = (nodes: readonly Node[], world: World) => ReactNode;
type Shows = { readonly shows: string };

export function keptOf({ at, as, shows }: Node & { k: 'kept' }, world: World, build: Build): ReactNode {
  const kept = world.library[at];
  if (kept === undefined) throw new Error(`the library has no ${at}`);
  const { React } = world;
  if (as !== 'cacheKey' && as !== 'key')
    return React.createElement(typesOf(kept, at, world, build)[as] as never, { shows });
  const { Cached } = world;
  if (Cached === undefined) throw new Error('there is no <Cached>');
  const { tags, ttl_ms } = lifeOf(kept, at);
  const props = { [as]: `${at} ${shows}`, tags, ...(ttl_ms === undefined ? {} : { ttl_ms }) };
  return React.createElement(Cached, props, shows, contentOf(kept, at, world, build));
}

function contentOf(kept: Kept, at: number, world: World, build: Build): ReactNode {
  const { lasts, of } = kept;
  const { createElement: h, Fragment } = world.React;
  // Text, so that it shows whether what stands before it is text, too. Asked for when it is rendered, since a promise may hand on the
  // elements of an earlier page.
  const Since = once(world, of, () => (): ReactNode => {
    const texts = { 'for good': '', over: `page ${world.page}`, tagged: `revision ${world.revisions[at]}` };
    return texts[lasts];
  });
  return h(Fragment, null, h(Since), build(of, world));
}

function lifeOf({ lasts }: Kept, at: number): { tags: readonly string[]; ttl_ms: number | undefined } {
  return { tags: lasts === 'tagged' ? [tagOf(at)] : [], ttl_ms: lasts === 'over' ? 0 : undefined };
}

export function tagOf(at: number): string {
  return `tag-${at}`;
}

type Types = Readonly<Record<Exclude<KeptAs, 'cacheKey' | 'key'>, unknown>>;

/** All of them use the same keys: each component has a set of its own. */
function typesOf(kept: Kept, at: number, world: World, build: Build): Types {
  const { React } = world;
  const { tags, ttl_ms } = lifeOf(kept, at);
  const cached = <T extends object>(type: T): T =>
    Object.assign(type, {
      cacheKey: ({ shows }: Shows) => shows,
      cacheTags: () => tags,
      cacheTtl_ms: ttl_ms,
    });
  return once(world, kept, () => {
    const render = ({ shows }: Shows): ReactNode => {
      world.activity += 1;
      return [shows, ...useHooks(kept.hooks, world), contentOf(kept, at, world, build)];
    };
    class Made extends React.Component<Shows> {
      override render(): ReactNode {
        world.activity += 1;
        return [this.props.shows, contentOf(kept, at, world, build)];
      }
    }
    return {
      function: cached((props: Shows) => render(props)),
      memo: cached(React.memo((props: Shows) => render(props))),
      'forward-ref': cached(React.forwardRef((props: Shows, _ref) => render(props))),
      class: cached(Made),
    };
  });
}
