/** Routers that answer the same page: a list of references to 60 titles, and six fields of each. Their titles come from one function. */
import { createRequire } from 'node:module';
import { Router, route } from '@sluice/graph/router';

export interface Contender {
  readonly name: string;
  /** Answers the page as text. */
  readonly answer: () => Promise<string>;
  /** Titles of an answer, in the order of the list. */
  readonly titlesOf: (answer: string) => readonly Title[];
}

const fields = ['name', 'year', 'rating', 'summary', 'image', 'minutes'] as const;
type Field = (typeof fields)[number];
type Title = Readonly<Record<Field, string | number>>;

const titles_count = 60;
const places = Array.from({ length: titles_count }, (_, place) => place);

/** Title that stands at a place of the list. */
const idAt = (place: number): number => place * 7;

function titleOf(id: number): Title {
  return {
    name: `Title ${id}`,
    year: 1950 + (id % 70),
    rating: id % 5,
    summary: `A story of ${id} people`,
    image: `/images/${id}.jpg`,
    minutes: 60 + (id % 60),
  };
}

const titles: readonly Title[] = Array.from({ length: 1_000 }, (_, id) => titleOf(id));

/** Titles as a database gives them: all in one answer. */
async function fetchTitles(ids: readonly number[]): Promise<Title[]> {
  return Promise.resolve(ids.map((id) => titles[id] as Title));
}

interface Graph {
  readonly jsonGraph: { readonly titlesById: Readonly<Record<number, Title>> };
}

const titlesOfGraph = (answer: string): Title[] => {
  const { titlesById } = (JSON.parse(answer) as Graph).jsonGraph;
  return places.map((place) => titlesById[idAt(place)] as Title);
};

interface ListMatch {
  readonly places: readonly number[];
}
interface TitleMatch {
  readonly ids: readonly number[];
  readonly 2: readonly Field[];
}

/** Handlers of both routers. */
async function getList({ places }: ListMatch): Promise<{ path: (string | number)[]; value: object }[]> {
  return Promise.resolve(
    places.map((place) => ({
      path: ['list', place],
      value: { $type: 'ref', value: ['titlesById', idAt(place)] },
    })),
  );
}

async function getTitles({ ids, 2: asked }: TitleMatch): Promise<{ jsonGraph: object }> {
  const found = await fetchTitles(ids);
  const titlesById: Record<number, Partial<Record<Field, string | number>>> = {};
  for (const [index, id] of ids.entries()) {
    const title: Partial<Record<Field, string | number>> = {};
    for (const field of asked) title[field] = (found[index] as Title)[field];
    titlesById[id] = title;
  }
  return { jsonGraph: { titlesById } };
}

const listRoute = 'list[{integers:places}]';
const titlesRoute = 'titlesById[{integers:ids}]["name","year","rating","summary","image","minutes"]';
const paths = [['list', { from: 0, to: titles_count - 1 }, [...fields]]];

function sluice(): Contender {
  const router = new Router([
    route(listRoute, { get: (match) => getList(match) }),
    route(titlesRoute, { get: (match) => getTitles(match) }),
  ]);
  return {
    name: '@sluice/graph',
    answer: async () => JSON.stringify(await router.get(paths)),
    titlesOf: titlesOfGraph,
  };
}

interface FalcorRouter {
  get(paths: unknown): {
    subscribe(next: (value: unknown) => void, error: (error: Error) => void): unknown;
  };
}

function falcorRouter(require: NodeJS.Require): Contender {
  const { createClass } = require('falcor-router') as {
    createClass(this: void, routes: readonly object[]): new () => FalcorRouter;
  };
  const FalcorPage = createClass([
    { route: listRoute, get: getList },
    { route: titlesRoute, get: getTitles },
  ]);
  return {
    name: 'falcor-router',
    answer: () =>
      new Promise((resolve, reject) => {
        // It changes the paths that it is given. A server makes them of JSON for each request.
        const own: unknown = JSON.parse(JSON.stringify(paths));
        new FalcorPage().get(own).subscribe((value) => resolve(JSON.stringify(value)), reject);
      }),
    titlesOf: titlesOfGraph,
  };
}

interface GraphQL {
  readonly GraphQLInt: unknown;
  readonly GraphQLString: unknown;
  readonly GraphQLList: new (type: unknown) => unknown;
  readonly GraphQLObjectType: new (config: object) => unknown;
  readonly GraphQLSchema: new (config: object) => unknown;
  parse(this: void, text: string): unknown;
  execute(this: void, args: object): Promise<unknown>;
}

interface Loader {
  load(id: number): Promise<Title>;
}

function graphql(require: NodeJS.Require): Contender {
  const { GraphQLInt, GraphQLString, GraphQLList, GraphQLObjectType, GraphQLSchema, parse, execute } =
    require('graphql') as GraphQL;
  const DataLoader = require('dataloader') as new (
    batch: (ids: readonly number[]) => Promise<Title[]>,
  ) => Loader;
  const typeOf = (field: Field): unknown =>
    typeof titles[0]?.[field] === 'number' ? GraphQLInt : GraphQLString;
  const Title = new GraphQLObjectType({
    name: 'Title',
    fields: Object.fromEntries(fields.map((field) => [field, { type: typeOf(field) }])),
  });
  const query = new GraphQLObjectType({
    name: 'Query',
    fields: {
      list: {
        type: new GraphQLList(Title),
        resolve: (_source: unknown, _args: unknown, { loader }: { readonly loader: Loader }) =>
          places.map((place) => loader.load(idAt(place))),
      },
    },
  });
  const schema = new GraphQLSchema({ query });
  // Parsed once, as servers keep the queries that they know.
  const document = parse(`{ list { ${fields.join(' ')} } }`);
  return {
    name: 'graphql-js + DataLoader',
    answer: async () =>
      JSON.stringify(
        await execute({ schema, document, contextValue: { loader: new DataLoader(fetchTitles) } }),
      ),
    titlesOf: (answer) => (JSON.parse(answer) as { data: { list: Title[] } }).data.list,
  };
}

/** All contenders; `peers` is the folder that has the others in `node_modules`. */
export function contendersOf(peers: string): Contender[] {
  const require = createRequire(`${peers}/package.json`);
  return [sluice(), falcorRouter(require), graphql(require)];
}
